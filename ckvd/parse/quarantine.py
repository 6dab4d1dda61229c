"""Finding the one block of a text that breaks the parse of all the rest.

A missing bracket makes a parser misread what follows it to the end of the file, while the indentation
still shows where each block ends. So blocks are told apart by indentation, and the smallest one is
sought whose blanking leaves a text without errors: whatever lies outside it is then parsed as if
it were intact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ckvd.model import Range
from ckvd.parse.blanks import blanked

MOST_CULPRITS = 4
SCATTERED = 3
BUDGET_BYTES = 3_000_000
BUDGET_TIMES = 16
"""How many bytes the search may parse for one file, blank ones left out: so many times its own at most."""

_CONTINUES = re.compile(
    rb"\s*(?:[)\]}>{]|\*/|(?:end|else|elsif|elif|elseif|except|finally|catch|rescue|ensure|when|then|do|done|fi|esac"
    rb"|where|extends|implements|while)\b|(?:public|protected|private)[ \t]*:)"
)
_LEADS = re.compile(
    rb"\s*(?:@|\[[^\n]*\]\s*$|//|/\*|\*|--|#[\[!\s#]|#(?:define|undef|include|pragma|region)\b|template\s*<[^{;\n]*$)",
    re.MULTILINE,
)
_ASIDE = re.compile(rb"<\?|\?>|#!|#[ \t]*(?:if|el|endif)")
"""Lines that belong to no block: without them the rest would be read otherwise."""

_INDENT = re.compile(rb"[ \t]*")


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together: `start`..`end` in bytes, and their indentation."""

    start: int
    end: int
    indent: int


def blocks(source: bytes, start: int, end: int, floor: int = -1) -> list[Block]:
    """The blocks of a range at its least indentation above `floor`.

    Lines up to `floor` belong to none, and neither do those of a container whose content is indented no
    deeper (`namespace x {`, `extern "C" {`), nor conditions of a preprocessor.
    """
    lines = _lines(source, start, end)
    least = min((indent for _, indent, _ in lines if indent > floor), default=0)
    found: list[Block] = []
    hollows: list[Block] = []  # what may be such a container, until its closing brace is met
    open_ = False  # whether a block is open that further lines belong to
    leading = hollow = False  # whether it has only leading lines yet; whether its last line opened a brace
    depth = 0  # the braces that its least indented lines have opened
    for at, indent, stop in lines:
        if indent <= floor:
            open_ = leading = hollow = False
            continue
        continues = bool(_CONTINUES.match(source, at, stop))
        if indent == least and not leading:
            if hollow and not continues:
                hollows.append(found.pop())
                open_ = False
            elif hollows and depth <= 0 and source.startswith(b"}", at + indent):
                hollows.pop()
                open_ = False
                continue
        begins = not open_ or (indent == least and not leading and not continues)
        if begins:
            found.append(Block(at, stop, least))
            depth, open_ = 0, True
        else:
            found[-1] = Block(found[-1].start, stop, least)
        opened = 0 if indent > least else _balance(source[at:stop])
        inside = leading and not begins and (indent > least or continues)
        leading = opened == 0 and (begins or leading) and (inside or bool(_LEADS.match(source, at, stop)))
        depth += opened
        hollow = opened > 0
    return sorted([*found, *hollows], key=lambda block: block.start)


def _lines(source: bytes, start: int, end: int) -> list[tuple[int, int, int]]:
    """The lines that are not blank: start, indentation, end; a block comment's all as its first."""
    found = []
    at = start
    while at < end:
        stop = source.find(b"\n", at, end) + 1 or end
        line = source[at:stop].lstrip(b" \t")
        if line.strip() and not _ASIDE.match(line):
            found.append((at, max(0, stop - at - len(line) - line.startswith(b"*")), stop))
        at = stop
    return found


def _balance(line: bytes) -> int:
    return line.count(b"{") - line.count(b"}")


class Search:
    """Looks for the culprits of a text.

    `errors` gives the sorted ranges of a text's syntax errors; `clean` tells, for less, whether there are
    none.
    """

    def __init__(
        self,
        source: bytes,
        errors: Callable[[bytes], Sequence[Range]],
        clean: Callable[[bytes], bool],
        filler: bytes,
    ) -> None:
        self._source = source
        self._errors = errors
        self._clean = clean
        self._filler = filler
        self._budget = min(BUDGET_BYTES, BUDGET_TIMES * len(source))

    def run(self, errors: Sequence[Range]) -> tuple[bytes, list[Range]]:
        """The text with its culprits blanked, and their ranges; those unchanged and none where it fails."""
        text = self._source
        culprits: list[Range] = []
        while errors and len(culprits) < MOST_CULPRITS:
            culprit = self._last(text, errors)
            if culprit is None:
                break
            culprits.append((culprit.start, culprit.end))
            text = self.without(text, [culprit])
            errors = self._errors(text)
            self._budget -= len(text)
        return text, sorted(culprits)

    def without(self, text: bytes, left_out: Sequence[Block]) -> bytes:
        """The text with blocks blanked, but for a filler where the language wants a statement."""
        out, filler = bytearray(text), self._filler
        for block in left_out:
            out[block.start : block.end] = blanked(text[block.start : block.end])
            first = block.start + block.indent
            if filler and not out[first : first + len(filler) + 1].strip(b" "):
                out[first : first + len(filler)] = filler
        return bytes(out)

    def _last(self, text: bytes, errors: Sequence[Range]) -> Block | None:
        """The innermost block that holds the last fault, found level by level."""
        found: Block | None = None
        inner = blocks(text, 0, len(text))
        while inner:
            k = self._last_of(text, inner, errors)
            if k is None:
                break
            text = self.without(text, inner[:k])
            found = inner[k]
            first_line = text.find(b"\n", found.start, found.end) + 1 or found.end
            inner = blocks(text, first_line, found.end, found.indent)
        return found

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
    for start, stop in errors:
        if stop >= end or _crosses(source, start, stop) or _closes(source, start, stop):
            return True
    return any(
        any(a <= start and stop <= b for start, stop in errors)
        and source.find(b"\n", a, b) >= 0
        and _indent(source, a) != _indent(source, max(a, b - 1))
        for a, b in declared
    )


def _closes(source: bytes, start: int, end: int) -> bool:
    line = source.rfind(b"\n", 0, start) + 1
    return not source[line:start].strip() and not source[start:end].strip(b" \t\r\n;)]}")


def _crosses(source: bytes, start: int, end: int) -> bool:
    own = _indent(source, start)
    at = source.find(b"\n", start, end) + 1
    while at:
        stop = source.find(b"\n", at, end)
        line = source[at : stop if stop >= 0 else end]
        if line.strip() and not _CONTINUES.match(line) and _indent(source, at) <= own:
            return True
        at = stop + 1
    return False


def _indent(source: bytes, at: int) -> int:
    line = source.rfind(b"\n", 0, at) + 1
    found = _INDENT.match(source, line)
    return found.end() - line if found else 0
