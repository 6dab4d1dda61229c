"""Finding the one block of a text that breaks the parse of all the rest.

A missing bracket makes a parser misread what follows it to the end of the file, while the indentation
still shows where each block ends. So blocks are told apart by indentation, and the smallest one is
sought whose blanking leaves a text without errors: whatever lies outside it is then parsed as if
it were intact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ckvd.model import Range
from ckvd.parse.blanks import blanked
from ckvd.parse.layout import CONTINUES, Block, Layout

MOST_CULPRITS = 4
SCATTERED = 3
LEAST_BUDGET_BYTES = 300_000
BUDGET_BYTES = 3_000_000
BUDGET_TIMES = 16
"""How many bytes the search may parse for one file, blank ones left out: so many times its own, or these."""


@dataclass(frozen=True, slots=True)
class Culprit:
    """A block that breaks a text; `alone` is the text with nothing but it and what it lies in."""

    start: int
    end: int
    indent: int
    alone: bytes


class Search:
    """Looks for the culprits of a text.

    `errors` gives the sorted ranges of a text's syntax errors; `clean` tells, for less, whether there are
    none.
    """

    def __init__(
        self,
        source: bytes,
        layout: Layout,
        errors: Callable[[bytes], Sequence[Range]],
        clean: Callable[[bytes], bool],
        filler: bytes,
    ) -> None:
        self._source = source
        self._layout = layout
        self._errors = errors
        self._clean = clean
        self._filler = filler
        self._budget = min(BUDGET_BYTES, max(LEAST_BUDGET_BYTES, BUDGET_TIMES * len(source)))

    def run(self, errors: Sequence[Range]) -> tuple[bytes, list[Culprit]]:
        """The text with its culprits blanked, and those; where it fails there are none."""
        text = self._source
        culprits: list[Culprit] = []
        while errors and len(culprits) < MOST_CULPRITS:
            culprit = self._last(text, errors)
            if culprit is None:
                break
            culprits.append(culprit)
            text = self.without(text, [Block(culprit.start, culprit.end, culprit.indent)])
            errors = self._errors(text)
            self._budget -= len(text)
        return text, culprits

    def without(self, text: bytes, left_out: Sequence[Block]) -> bytes:
        """The text with blocks blanked, but for a filler where the language wants a statement."""
        out, filler = bytearray(text), self._filler
        for block in left_out:
            out[block.start : block.end] = blanked(text[block.start : block.end])
            line = self._source[block.start : block.end]
            first = block.start + len(line) - len(line.lstrip(b" \t"))
            if filler and not out[first : first + len(filler) + 1].strip(b" "):
                out[first : first + len(filler)] = filler
        return bytes(out)

    def _last(self, text: bytes, errors: Sequence[Range]) -> Culprit | None:
        """The innermost block that holds the last fault, found level by level."""
        found: Block | None = None
        alone = text
        inner = self._layout.blocks(text, 0, len(text))
        while inner:
            k = self._last_of(text, inner, errors)
            if k is None:
                break
            text = self.without(text, inner[:k])
            alone = self.without(alone, [*inner[:k], *inner[k + 1 :]])
            found = inner[k]
            first_line = text.find(b"\n", found.start, found.end) + 1 or found.end
            inner = self._layout.blocks(text, first_line, found.end, found.indent)
        return Culprit(found.start, found.end, found.indent, alone) if found is not None else None

    def _last_of(self, text: bytes, inner: Sequence[Block], errors: Sequence[Range]) -> int | None:
        """The least k such that without the blocks up to k there is no error left."""
        low, high = 0, len(inner) - 1
        if not self._clean_without(text, inner, high):
            return None
        guess = next((i for i, b in enumerate(inner) if errors and b.end > errors[0][0]), None)
        if guess is not None and guess < high:
            if self._clean_without(text, inner, guess):
                high = guess
                if guess and not self._clean_without(text, inner, guess - 1):
                    return guess
                high = max(0, guess - 1)
            else:
                low = guess + 1
        while low < high:
            middle = (low + high) // 2
            if self._clean_without(text, inner, middle):
                high = middle
            else:
                low = middle + 1
        return low if self._budget > 0 else None

    def _clean_without(self, text: bytes, inner: Sequence[Block], last: int) -> bool:
        if self._budget <= 0:
            return False
        left_out = inner[: last + 1]
        self._budget -= len(text) - sum(b.end - b.start for b in left_out)
        return self._clean(self.without(text, left_out))


def astray(source: bytes, errors: Sequence[Range], declared: Sequence[Range]) -> bool:
    """Whether errors have made the parser lose its way, rather than stumble inside one statement.

    It has where errors stand on several lines (an odd quote sets them far apart), where one goes on to
    a line indented no deeper than its first, stands at the text's end or is a closing bracket that
    begins a line, or where a declaration around an error ends on a line that is indented otherwise
    than the one it begins on.
    """
    if len({source.count(b"\n", 0, start) for start, _ in errors}) >= SCATTERED:
        return True
    end = len(source.rstrip())
    layout = Layout(source)
    for start, stop in errors:
        if stop >= end or _crosses(layout, source, start, stop) or _closes(source, start, stop):
            return True
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
