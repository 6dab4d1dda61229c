"""Finding the blocks of a text that break the parse of all the rest.

A missing bracket makes a parser misread what follows it to the end of the file, while the indentation
still shows where each block ends. So blocks are told apart by indentation, and each is read with nothing but
what it lies in, those about the first error first: the innermost one that cannot be read so is left out, and
whatever lies outside it is then parsed as if it were intact. Blank space takes as long to read as code, so
what is left out is not even blank there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ckvd.model import Range
from ckvd.parse.blanks import blanked
from ckvd.parse.layout import CONTINUES, Block, Layout

SCATTERED = 3
LEAST_BUDGET_BYTES = 30_000
BUDGET_BYTES = 3_000_000
BUDGET_TIMES = 4
"""How many bytes the search may parse for one file: so many times its own, or these."""

LEAST_RUN_BYTES = 1000

Part = tuple[int, bytes]
"""Where in a text something stands, and what is read for it."""


_NEEDLESS = re.compile(
    rb"^[ \t]*(?:#[ \t]*(?:if|el|endif)[^\n]*|//[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/[ \t]*)\r?(?:\n|\Z)",
    re.MULTILINE,
)
"""Conditions and comments, which what they are around can be read without."""


@dataclass(frozen=True, slots=True)
class Culprit:
    """A block that breaks a text; `before` and `behind` are the parts that it lies in."""

    block: Block
    before: tuple[Part, ...]
    behind: tuple[Part, ...]

    def alone(self, text: bytes) -> bytes:
        """The block of a text, with nothing but what it lies in."""
        return self.around(text[self.block.start : self.block.end])

    def around(self, own: bytes) -> bytes:
        """What the block lies in, with something else in its place."""
        said = b"".join([*(said for _, said in self.before), own, *(said for _, said in self.behind)])
        return said if said.endswith(b"\n") else said + b"\n"

    def place(self) -> Callable[[int], int]:
        """Offsets of what `alone` gives → offsets of the text, as far as the block's end."""
        parts = [*self.before, (self.block.start, b"")]
        begins = [0, *accumulate(len(said) for _, said in self.before)]

        def placed(at: int) -> int:
            i = bisect_right(begins, at) - 1
            return parts[i][0] + at - begins[i]

        return placed


class Search:
    """Looks for the culprits of a text; `clean` tells whether a text has no syntax errors."""

    def __init__(self, source: bytes, layout: Layout, clean: Callable[[bytes], bool], filler: bytes) -> None:
        self._layout = layout
        self._clean = clean
        self._filler = filler
        self._top = layout.blocks(source, 0, len(source))
        self._budget = min(BUDGET_BYTES, max(LEAST_BUDGET_BYTES, BUDGET_TIMES * len(source)))

    def next(self, text: bytes, errors: Sequence[Range]) -> Culprit | None:
        """The innermost block that cannot be read by itself, found level by level.

        Those about the first error that is not most of the text come first. The text is the source with
        blocks blanked. A block that is most of it is as slow to read as all of it, so that those inside are
        tried before.
        """
        at = next((start for start, end in errors if 2 * (end - start) < len(text)), 0)
        top = level = _Level(text, Block(0, len(text), -1), self._top, (), (), self._filler)
        while self._budget > 0:
            large = (i for i, b in enumerate(level.blocks) if 2 * (b.end - b.start) > len(text))
            inner = next((self._inside(text, level.run(i, i)) for i in large), None)
            if inner is None or not inner.blocks or not self._is_clean(inner.bare):
                break
            level = inner
        found = self._innermost(text, level, at, top=False) if level is not top else None
        found = found or self._innermost(text, top, at, top=True)
        return found if self._budget > 0 else None

    def _innermost(self, text: bytes, level: _Level, at: int, *, top: bool) -> Culprit | None:
        found: Culprit | None = None
        while self._budget > 0 and level.blocks and (found is None or self._is_clean(level.bare)):
            dirty = self._dirty(text, level, at, top and found is None)
            if dirty is None:
                break
            found, level = dirty, self._inside(text, dirty)
        return found

    def _inside(self, text: bytes, culprit: Culprit) -> _Level:
        block = culprit.block
        first_line = text.find(b"\n", block.start, block.end) + 1 or block.end
        inner = self._layout.blocks(text, first_line, block.end, block.indent)
        return _Level(text, block, inner, culprit.before, culprit.behind, self._filler)

    def _dirty(self, text: bytes, level: _Level, at: int, top: bool) -> Culprit | None:
        """The block of a level that cannot be read by itself.

        Below the top that may be for want of those beside it, so that one of them has to be sound, or else
        the rest without it.
        """
        for first, last in level.runs(at):
            if self._budget <= 0 or self._is_clean(level.run(first, last).alone(text)):
                continue
            for i in range(last, first - 1, -1):
                if first < last and self._is_clean(level.run(i, i).alone(text)):
                    continue
                if (
                    top
                    or any(self._is_clean(level.run(j, j).alone(text)) for j in level.beside(i))
                    or self._is_clean(level.without(level.blocks[i]))
                ):
                    return level.run(i, i)
        return None

    def blanked(self, text: bytes, block: Block) -> bytes:
        """The text without a block, but for a filler where the language wants a statement."""
        blank = blanked(text[block.start : block.end])
        fill = _indent(text, block) + self._filler
        if len(fill) < len(blank.split(b"\n")[0]):
            blank = fill + blank[len(fill) :]
        return text[: block.start] + blank + text[block.end :]

    def _is_clean(self, text: bytes) -> bool:
        self._budget -= len(text)
        return self._clean(text)


class _Level:
    """The blocks directly inside a range, and each with nothing but what lies around all of them."""

    def __init__(
        self,
        text: bytes,
        whole: Block,
        blocks: Sequence[Block],
        before: tuple[Part, ...],
        behind: tuple[Part, ...],
        filler: bytes,
    ) -> None:
        self.blocks = blocks
        self._text, self._whole, self._filler = text, whole, filler
        self._before, self._behind = before, behind
        self._parts: list[Part] = []
        self._places: list[int] = []
        last = whole.start
        for block in blocks:
            new = self._add(last, block.start) or last == whole.start
            self._places.append(len(self._parts))
            if filler and new:
                self._parts.append((block.start, self._fill(block)))
            last = block.end
        self._add(last, whole.end)

    def _add(self, start: int, end: int) -> bool:
        """Takes in what lies between two blocks, unless it says nothing."""
        had = len(self._parts)
        needless = ((m.start() + start, m.end() + start) for m in _NEEDLESS.finditer(self._text[start:end]))
        for first, last in [*needless, (end, end)]:
            if self._text[start:first].strip():
                self._parts.append((start, self._text[start:first]))
            start = last
        return len(self._parts) > had

    @property
    def bare(self) -> bytes:
        """What lies around the blocks."""
        return b"".join(said for _, said in (*self._before, *self._parts, *self._behind))

    def runs(self, at: int) -> Iterator[tuple[int, int]]:
        """The blocks in runs, long enough for what lies around to be little beside them: from the one at an
        offset on to the first, then the others."""
        long = max(LEAST_RUN_BYTES, 4 * len(self.bare))
        near = next((i for i, b in enumerate(self.blocks) if b.end > at), 0)
        last = near
        while last >= 0:
            end, first = self.blocks[last].end, last
            while first > 0 and end - self.blocks[first - 1].start <= long:
                first -= 1
            yield first, last
            last = first - 1
        first = near + 1
        while first < len(self.blocks):
            start, last = self.blocks[first].start, first
            while last + 1 < len(self.blocks) and self.blocks[last + 1].end - start <= long:
                last += 1
            yield first, last
            first = last + 1

    def run(self, first: int, last: int) -> Culprit:
        """Blocks that follow on another, as one."""
        start, end = self._places[first], self._places[last]
        block = Block(self.blocks[first].start, self.blocks[last].end, self.blocks[first].indent)
        before, behind = self._parts[:start], self._parts[end:]
        return Culprit(block, (*self._before, *before), (*behind, *self._behind))

    def beside(self, i: int) -> list[int]:
        """The one or two next to a block, the shorter first."""
        near = [j for j in (i - 1, i + 1) if 0 <= j < len(self.blocks)]
        return sorted(near, key=lambda j: self.blocks[j].end - self.blocks[j].start)

    def without(self, block: Block) -> bytes:
        """All but one of the blocks, and what lies around them."""
        own = self._text[self._whole.start : block.start], self._text[block.end : self._whole.end]
        around = [b"".join(said for _, said in parts) for parts in (self._before, self._behind)]
        return around[0] + own[0] + self._fill(block) + own[1] + around[1]

    def _fill(self, block: Block) -> bytes:
        return _indent(self._text, block) + self._filler + b"\n" if self._filler else b""


def _indent(text: bytes, block: Block) -> bytes:
    line = text[block.start : block.end]
    return line[: len(line) - len(line.lstrip(b" \t"))]


def astray(source: bytes, errors: Sequence[Range]) -> bool:
    """Whether errors have made the parser lose its way, rather than stumble inside one statement.

    It has where errors stand on several lines (an odd quote sets them far apart), or where one goes on to
    a line indented no deeper than its first, stands at the text's end or is a closing bracket that
    begins a line.
    """
    lines: set[int] = set()
    for start, _ in errors:
        lines.add(source.rfind(b"\n", 0, start))
        if len(lines) == SCATTERED:
            return True
    end = len(source.rstrip())
    layout = Layout(source)
    return any(
        stop >= end or _crosses(layout, source, start, stop) or _closes(source, start, stop)
        for start, stop in errors
    )


def crooked(source: bytes, errors: Sequence[Range], declared: Sequence[Range]) -> bool:
    """Whether a declaration around an error ends on a line that is indented otherwise than the one it begins
    on: the parser has lost its way there, too."""
    layout = Layout(source)
    return any(
        any(a <= start and stop <= b for start, stop in errors)
        and source.find(b"\n", a, b) >= 0
        and layout.indent(source, a) != layout.indent(source, max(a, b - 1))
        for a, b in declared
    )


def _closes(source: bytes, start: int, end: int) -> bool:
    line = source.rfind(b"\n", 0, start) + 1
    return not source[line:start].strip() and not source[start:end].strip(b" \t\r\n;)]}")


def _crosses(layout: Layout, source: bytes, start: int, end: int) -> bool:
    own = layout.indent(source, start)
    at = source.find(b"\n", start, end) + 1
    while at:
        stop = source.find(b"\n", at, end)
        line = source[at : stop if stop >= 0 else end]
        if line.strip() and not CONTINUES.match(line) and layout.indent(source, at) <= own:
            return True
        at = stop + 1
    return False
