"""PowerShell without its statements: what the grammar cannot read is blanked, the declarations stay.

The grammar knows the declarations, but few of the ways in which commands are called. So a scanner that
knows quotes, comments and brackets keeps functions, classes, enums, parameter blocks and the blocks of
test suites. Of all else it keeps the brackets that have no counterpart: those are errors still.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ckvd.model import Range
from ckvd.parse.blanks import blanked
from ckvd.parse.powershell_strings import string_end

_TOKEN = re.compile(
    rb"""
    (?P<comment> <\#.*?\#> | (?<![^\s;,(){}|&=])\#[^\n]* )
  | (?P<string> @'[ \t]*\r?\n.*?\n'@ | @"[ \t]*\r?\n.*?\n"@ )
  | (?P<quote> ["'] )
  | (?P<escape> `\r?. | \$\{[^}\n]*\} | \$[$?^] )
  | (?P<open> [$@]?\( | @?\{ )
  | (?P<close> [)}] )
  | (?P<end> [;\n] )
  | (?P<word> [\w$:.\-]+ )
  | (?P<other> [^\s] )
    """,
    re.VERBOSE | re.DOTALL,
)
_DECLARATION = re.compile(
    rb"(?:function|filter|workflow)[ \t]+[^\s(){};|&]+(?=\s*[({])|(?:class|enum)[ \t]+\w+(?=[^{};()|&=]*\{)",
    re.IGNORECASE,
)
_PARAMETERS = re.compile(rb"param(?=\s*\()", re.IGNORECASE)
_IMPORT = re.compile(
    rb"(?:using[ \t]+\w+[ \t]+[\w.]+|Import-Module[ \t]+(?:'[^'\n]*'|\"[^\"`$\n]*\"|[\w.-]+)(?:[ \t]+-\w+)*)"
    rb"(?=\s*?$)",
    re.IGNORECASE | re.MULTILINE,
)
_VARIABLE = re.compile(
    rb"\$[\w:]+[ \t]*=[ \t]*"
    rb"(?:'[^'\n]*'|\"[^\"`$\n]*\"|-?[\d.]+\w*|\$\w+|@\(\)|@\{\}|\[[\w.]+\]::\w+)(?=[ \t]*(?:[;#]|\r?$))",
    re.MULTILINE,
)
_BASE = re.compile(rb"\s*:\s*base(?=\s*\()", re.IGNORECASE)
_TEST = re.compile(rb"(?:describe|context|it)[ \t]+(?:-name[ \t]+)?(?=[\"'])", re.IGNORECASE)
_ATTRIBUTE_LINES = re.compile(rb"(?:^[ \t]*\[[^\n]*\][ \t]*\r?\n)+[ \t]*\Z", re.MULTILINE)
_ATTRIBUTE = re.compile(rb"^[ \t]*(\[[\w.]+)[^\n]*(\])[ \t]*\r?$", re.MULTILINE)
_FILLS = re.compile(rb"\$\w+|(?!(?:do|if|for|in|try|exit|data|param)-)[a-z]+-[a-z]+", re.IGNORECASE)


@dataclass(slots=True)
class _Open:
    """A bracket that is open; `role` says what it belongs to: `body`, `class`, `test`, `list` or `other`."""

    at: Range
    role: str
    fresh: bool = True
    """Whether a parameter block may still begin it."""
    squares: int = 0
    since: int = 0
    attribute: bool = False
    """Whether the square brackets began a statement, which a declaration may follow; of a class, whether a
    member has an attribute. `since` is the place in `keeps` of the last one."""
    value: int = 0
    """Of a class: where the value of the property at the cursor begins."""
    title: Range = (0, 0)
    filler: Range | None = None
    filled: bool = False


class _Scan:
    def __init__(self, source: bytes) -> None:
        self.keeps: list[Range] = []
        self.torn: list[int] = []
        """Where strings without their end begin: two of them would be one for the grammar."""
        self._source = source
        self._stack = [_Open((0, 0), "other")]
        self._starts = True  # whether a statement may begin here
        self._next = ""  # the role of the next `{`
        self._skip = False  # whether the next `(` belongs to a call of the base class
        self._title: Range = (0, 0)  # of the test suite whose block comes next, and how deep that lies
        self._depth = 0
        self._open = {b"(": 0, b"{": 0}
        self._endless = (
            False  # whether a string was found to have no end: from then on they end on their line
        )

    def run(self) -> list[Range]:
        at, source = 0, self._source
        while (found := _TOKEN.search(source, at)) is not None:
            at = found.end()
            kind, top = found.lastgroup, self._stack[-1]
            if kind == "comment":
                self.keeps.append(found.span())
            elif found[0] == b"<" and source[at : at + 1] == b"#":
                self.keeps.append((found.start(), at + 1))  # without its end, which is an error
            elif kind == "open":
                self._opened(found.span())
            elif kind == "close":
                at = self._closed(found.start())
            elif kind == "end":
                self._starts = True
                if top.role == "class":
                    self._valued(top, found.start())
                    self.keeps.append(found.span())
                if len(self._stack) <= self._depth:
                    self._title = (0, 0)
            else:
                at = self._token(found, top)
        self._left(self._stack[1:])
        return self.keeps

    def _left(self, unmatched: Sequence[_Open]) -> None:
        """Keeps brackets that have no counterpart, and what makes them the brackets of a test suite."""
        for open_ in unmatched:
            self.keeps += [open_.title, open_.at]

    def _token(self, found: re.Match[bytes], top: _Open) -> int:
        start, at = found.span()
        source = self._source
        if found.lastgroup == "quote":
            end = self._string_end(start)
            if end is None:
                self.torn.append(start)
                end = source.find(b"\n", at)
                return end if end >= 0 else len(source)
            at = end
        elif found.lastgroup == "word":
            named = self._word(start, top)
            if named is not None:
                return named
        if top.role == "class":
            self._member(found, top)
        elif found[0] == b"[":
            top.attribute = self._starts if top.squares == 0 else top.attribute
            top.squares += 1
        elif found[0] == b"]":
            top.squares -= 1
            self._starts = top.squares == 0 and top.attribute
            return at
        elif top.squares == 0:
            top.fresh = False
        if top.role == "test" and top.filler is None and _FILLS.fullmatch(source, start, at):
            top.filler = (start, at)
        self._starts = False
        return at

    def _string_end(self, start: int) -> int | None:
        line_end = self._source.find(b"\n", start) if self._endless else -1
        end = string_end(self._source, start, line_end if line_end >= 0 else len(self._source))
        self._endless = self._endless or end is None
        return end

    def _member(self, found: re.Match[bytes], top: _Open) -> None:
        """Keeps what a class declares: of the attributes of a member the first, for the grammar knows one."""
        if found[0] == b"=":
            top.value = found.start()
        if top.value:
            return
        if found[0] == b"[":
            top.since = top.since if top.squares else len(self.keeps)
            top.squares += 1
        self.keeps.append(found.span())
        if found[0] == b"]":
            top.squares -= 1
            if top.squares == 0 and b"(" in self._source[self.keeps[top.since][0] : found.end()]:
                if top.attribute:
                    del self.keeps[top.since :]
                top.attribute = True
        elif found.lastgroup == "word" and top.squares == 0:
            top.attribute = False

    def _word(self, start: int, top: _Open) -> int | None:
        """Takes note of a declaration that begins here; returns where it goes on."""
        source = self._source
        if top.role == "class" or not self._starts:
            return None
        declared = _DECLARATION.match(source, start)
        if declared is not None:
            self._next = "class" if declared[0][:1] in b"cCeE" else "body"
            self._attributes(start)
        elif (declared := self._line(start)) is not None:
            pass
        elif top.fresh and top.role == "body" and (declared := _PARAMETERS.match(source, start)) is not None:
            self._next = "parameters"
        elif (declared := _TEST.match(source, start)) is not None:
            end = self._string_end(declared.end())
            if end is not None:
                self._title, self._depth = (start, end), len(self._stack)
                self._starts = False
                return end
            return None
        else:
            return None
        top.filled = True
        self._starts = top.fresh = False
        self.keeps.append(declared.span())
        return declared.end()

    def _line(self, start: int) -> re.Match[bytes] | None:
        """An import, or at top level a variable with a plain value."""
        found = _IMPORT.match(self._source, start)
        return found if found or len(self._stack) > 1 else _VARIABLE.match(self._source, start)

    def _valued(self, top: _Open, at: int) -> None:
        """Keeps the value of a class's property, which the grammar reads as a rule."""
        if top.value:
            self.keeps.append((top.value, at))
            top.value = 0

    def _attributes(self, start: int) -> None:
        """Keeps the types of the attributes before a class: the grammar reads no more of them."""
        line = self._source.rfind(b"\n", 0, start) + 1
        floor = max((self.keeps[-1][1] if self.keeps else 0), line - 4096)
        lines = _ATTRIBUTE_LINES.search(self._source, floor, start) if line > floor else None
        if lines is not None:
            for found in _ATTRIBUTE.finditer(self._source, lines.start(), lines.end()):
                self.keeps += [found.span(1), found.span(2)]

    def _opened(self, at: Range) -> None:
        top, role = self._stack[-1], "other"
        if self._source[at[1] - 1] == 0x28:  # (
            if self._skip:
                self._skip = False
            elif top.role == "list":
                pass
            elif (self._next and at[1] - at[0] == 1) or (top.role == "class" and not top.value):
                role = "list"
                self._next = self._next.replace("parameters", "")
            elif self._names_test() and at[1] - at[0] == 2 and self._source[at[0]] == 0x40:
                role = "list"  # `-ForEach @( … )`, which may go over several lines
        elif self._next:
            role, self._next = self._next, ""
        elif top.role == "class" and not top.value:
            role = "body"
        elif self._names_test():
            role = "test" if at[1] - at[0] == 1 else "list"
        self._open[self._source[at[1] - 1 : at[1]]] += 1
        self._stack.append(_Open(at, role, title=self._title if role == "test" else (0, 0)))
        if role == "test":
            self._title = (0, 0)
        self._starts = True

    def _names_test(self) -> bool:
        """Whether the cursor stands behind the title of a test suite, before its block."""
        return bool(self._title[1]) and len(self._stack) == self._depth

    def _closed(self, at: int) -> int:
        """Handles a closing bracket; returns where the scan goes on."""
        source, stack = self._source, self._stack
        opener = b"(" if source[at] == 0x29 else b"{"
        match = len(stack) - 1 if self._open[opener] else 0
        while match and not source.startswith(opener, stack[match].at[1] - 1):
            match -= 1
        if not match:
            self.keeps.append((at, at + 1))
            return at + 1
        self._left(self._stack[match + 1 :])
        open_ = self._stack[match]
        for gone in self._stack[match:]:
            self._open[source[gone.at[1] - 1 : gone.at[1]]] -= 1
        self._valued(open_, at)
        del self._stack[match:]
        if open_.role == "test":
            self._tested(open_, at)
        elif open_.role != "other":
            self.keeps += [open_.at, (at, at + 1)]
        self._starts = opener == b"{"
        based = _BASE.match(self._source, at + 1) if open_.role == "list" else None
        if based is not None and self._stack[-1].role == "class":
            self._skip = True
            return based.end()
        return at + 1

    def _tested(self, open_: _Open, at: int) -> None:
        """Keeps the block of a test suite, unless it holds nothing that the grammar takes for a body."""
        if open_.filled or open_.filler:
            self.keeps += [open_.title, open_.at, (at, at + 1)]
            if not open_.filled and open_.filler:
                self.keeps.append(open_.filler)
            self._stack[-1].filled = True


def powershell_statements(source: bytes) -> bytes:
    """Blanks all but declarations, comments, and brackets without a counterpart."""
    out = bytearray(blanked(source))
    scan = _Scan(source)
    for start, end in scan.run():
        out[start:end] = source[start:end]
    for at in scan.torn:
        line = source[at : at + 2].split(b"\n")[0]
        out[at : at + len(line)] = b")" * len(line)  # more than the one that an open bracket may lack
    return bytes(out)
