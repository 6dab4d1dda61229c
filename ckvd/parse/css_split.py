"""A style sheet → its statements, by what all of CSS, SCSS and CSS nesting share: `;`, and blocks in braces.

Brackets, strings, comments, `url( … )` and SCSS's `#{ … }` are known; what a declaration says is not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ckvd.model import Range
from ckvd.parse.blanks import blanked

# Bounded, since it may have no end.
_INTERPOLATION = rb"#\{(?:[^}\"'\n]|\"[^\"\n]{0,99}+\"|'[^'\n]{0,99}+'){0,99}+\}"
_STRING = (
    rb'"(?:[^"\\\n#]|\\.|' + _INTERPOLATION + rb'|#)*+(?:"|(?P<open>))'
    rb"|'(?:[^'\\\n#]|\\.|" + _INTERPOLATION + rb"|#)*+(?:'|(?P<open_too>))"
)
_URL = rb"(?i:\burl\()\s*+(?![\"'\s)])(?:\\.|" + _INTERPOLATION + rb"|[^)\\\n#]|#)*+(?:\)|(?P<open_url>))"
_REMARK = rb"(?P<comment>/\*(?:[^*]|\*(?!/))*+(?:\*/|(?P<endless>\Z)))"
_LINE_REMARK = rb"|(?P<line>//[^\n]*+)"
_LEX = re.compile(_STRING + b"|" + _URL + b"|" + _REMARK + rb"|<!--|-->", re.DOTALL)
_LEX_LINES = re.compile(_STRING + b"|" + _URL + b"|" + _REMARK + _LINE_REMARK + rb"|<!--|-->", re.DOTALL)
_TOKEN = re.compile(_STRING + b"|" + _URL + rb"|\\.|(?P<mark>#\{|[{}()\[\];,])", re.DOTALL)
_SPACES = re.compile(rb"\s*")
_CLOSES = {b")": b"(", b"]": b"[", b"}": b"#{"}
_NO_DECLARATION = "this is neither a declaration nor a rule"


@dataclass(slots=True)
class Statement:
    """`start`..`end`, a closing `;` or `}` included; `head_end` is where its `{` stands, or its end.

    `parent` is the index of the statement in whose block it lies.
    """

    start: int
    head_end: int
    end: int
    parent: int | None
    block: bool


@dataclass(frozen=True, slots=True)
class Sheet:
    """`code` is the text with comments blanked; `damage` are ranges and what is wrong with each."""

    code: bytes
    statements: list[Statement]
    comments: list[Range]
    damage: list[tuple[Range, str]]


def split(source: bytes, line_comments: bool) -> Sheet:
    """The statements in file order. `line_comments`: whether `//` begins a comment, as in SCSS.

    Where a block has no end, a rule that begins a line no further in than the one around it ends that one.
    """
    comments: list[Range] = []
    faults: list[tuple[Range, str]] = []

    def plain(found: re.Match[bytes]) -> bytes:
        kind = found.lastgroup
        if kind in ("comment", "line", "endless"):
            comments.append(found.span())
            if found["endless"] is not None:
                faults.append((found.span(), "this comment has no end"))
            return blanked(found[0])
        if kind in ("open", "open_too", "open_url"):
            faults.append((found.span(), "what is quoted here has no end"))
        return blanked(found[0]) if kind is None and found[0] in (b"<!--", b"-->") else found[0]

    code = (_LEX_LINES if line_comments else _LEX).sub(plain, source)
    statements, damage = _Splitter(code, by_indentation=False).run()
    if any(what == _NO_END for _, what in damage):
        others, fewer = _Splitter(code, by_indentation=True).run()
        if len(fewer) <= len(damage):
            statements, damage = others, fewer
    return Sheet(code, statements, comments, sorted([*faults, *damage]))


def parts(code: bytes, start: int, end: int) -> list[Range]:
    """What the commas of a range separate, those in brackets and strings left out; blanks trimmed."""
    cuts = [start]
    depth = 0
    for token in _TOKEN.finditer(code, start, end):
        mark = token["mark"]
        if mark in (b"(", b"[", b"#{"):
            depth += 1
        elif mark in (b")", b"]", b"}"):
            depth -= 1
        elif mark == b"," and depth == 0:
            cuts += [token.start(), token.end()]
    cuts.append(end)
    ranges = (_trim(code, a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=True))
    return [(a, b) for a, b in ranges if a < b]


_NO_END = "this { has no }"


class _Splitter:
    def __init__(self, code: bytes, *, by_indentation: bool) -> None:
        self._code = code
        self._by_indentation = by_indentation
        self._statements: list[Statement] = []
        self._damage: list[tuple[Range, str]] = []
        self._open: list[int] = []  # statements whose block is open
        self._brackets: list[tuple[bytes, int]] = []  # open ones of the statement under way
        self._begin = 0  # behind the last statement or brace

    def run(self) -> tuple[list[Statement], list[tuple[Range, str]]]:
        for token in _TOKEN.finditer(self._code):
            mark, at = token["mark"], token.start()
            if mark in (b"(", b"[", b"#{"):
                self._brackets.append((mark, at))
            elif mark == b"{":
                self._opens(at)
            elif mark in _CLOSES and self._brackets and self._brackets[-1][0] == _CLOSES[mark]:
                self._brackets.pop()
            elif mark in (b")", b"]"):
                self._damage.append(((at, at + 1), f"this {mark.decode()} closes nothing"))
            elif mark == b"}":
                self._ends(at)
            elif mark == b";" and not self._brackets:
                self._plain(at + 1)
        self._plain(len(self._code))
        end = len(self._code.rstrip())
        while self._open:
            self._unclosed(end)
        return self._statements, self._damage

    def _opens(self, at: int) -> None:
        self._drop_brackets()
        start = self._start(at)
        while self._by_indentation and self._open and self._is_behind(start):
            self._unclosed(len(self._code[:start].rstrip()))
        if start == at:
            self._damage.append(((at, at + 1), "this block belongs to no rule"))
        self._open.append(len(self._statements))
        self._statements.append(
            Statement(start, at, at + 1, self._open[-2] if len(self._open) > 1 else None, True)
        )
        self._begin = at + 1

    def _is_behind(self, start: int) -> bool:
        """Whether a statement that begins its line stands no further in than the rule that holds it."""
        holder = self._statements[self._open[-1]].start
        line, own = self._code.rfind(b"\n", 0, start) + 1, self._code.rfind(b"\n", 0, holder) + 1
        return (
            holder < line
            and self._code[holder : holder + 1] != b"@"
            and not self._code[line:start].strip()
            and not self._code[own:holder].strip()
            and start - line <= holder - own
        )

    def _ends(self, at: int) -> None:
        self._drop_brackets()
        self._plain(at)
        if self._open:
            self._statements[self._open.pop()].end = at + 1
        else:
            self._damage.append(((at, at + 1), "this } closes nothing"))
        self._begin = at + 1

    def _unclosed(self, end: int) -> None:
        statement = self._statements[self._open.pop()]
        statement.end = max(end, statement.head_end + 1)
        self._damage.append(((statement.head_end, statement.head_end + 1), _NO_END))

    def _plain(self, end: int) -> None:
        """The statement without a block that ends here, if there is one."""
        self._drop_brackets()
        start, stop = self._start(end), len(self._code[self._begin : end].rstrip()) + self._begin
        if start < stop and self._code[start:stop] != b";":
            parent = self._open[-1] if self._open else None
            self._statements.append(Statement(start, stop, stop, parent, False))
            if not self._means_something(start, stop, parent):
                self._damage.append(((start, stop), _NO_DECLARATION))
        self._begin = end

    def _means_something(self, start: int, end: int, parent: int | None) -> bool:
        if self._code[start : start + 1] == b"@":
            return True
        if parent is None:
            return _TOP.match(self._code, start, end) is not None
        return self._code.find(b":", start, end) > start

    def _drop_brackets(self) -> None:
        for mark, at in self._brackets:
            self._damage.append(((at, at + 1), f"this {mark.decode()} is not closed"))
        self._brackets.clear()

    def _start(self, end: int) -> int:
        found = _SPACES.match(self._code, self._begin, end)
        return found.end() if found else self._begin


_TOP = re.compile(rb"(?:[\w-]+\.)?\$[\w-]|--[\w-]|;\Z")


def _trim(code: bytes, start: int, end: int) -> Range:
    text = code[start:end]
    return start + len(text) - len(text.lstrip()), start + len(text.rstrip())
