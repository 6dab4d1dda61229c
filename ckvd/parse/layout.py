"""What the indentation of a text says about which of its lines belong together."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

CONTINUES = re.compile(
    rb"\s*(?:[)\]}>{]|\*/|(?:end|else|elsif|elif|elseif|except|finally|catch|rescue|ensure|when|then|do|done|fi|esac"
    rb"|where|extends|implements|while)\b|(?:public|protected|private)[ \t]*:)"
)
"""How lines begin that belong to the block before them, though they are indented alike."""
_LEADS = re.compile(
    rb"\s*(?:@|\[[^\n]*\]\s*$|//|/\*|\*|--|#[\[!\s#]|#(?:define|undef|include|pragma|region)\b|template\s*<[^{;\n]*$)",
    re.MULTILINE,
)
_ASIDE = re.compile(rb"<\?|\?>|#!|#[ \t]*(?:if|el|endif)")
"""Lines that belong to no block: without them the rest would be read otherwise."""
_REMARK = re.compile(rb"//|/\*|\*|--|#(?!\[)")
_NO_CODE = re.compile(rb"""//[^\n]*|/\*(?:.*?\*/|.*+)|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'""")
_BLANK = re.compile(rb"[ \t]*")
_TAB_AND_BLANKS = re.compile(rb"^\t+ {2}", re.MULTILINE)

DEEPER_THAN_ANY = 1 << 30


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together: `start`..`end` in bytes, and their indentation in columns."""

    start: int
    end: int
    indent: int


class _Line(NamedTuple):
    """A line that is not blank: where it begins, where what it says begins and where it ends, in bytes, and
    its indentation; `remark` is whether it is a comment or for a preprocessor."""

    start: int
    said: int
    end: int
    indent: int
    remark: bool


class Layout:
    """The indentation of a text; of parts of it, other versions of the same length may be asked about.

    The lines that begin at one of `literal` are of a token that the line before goes on with, whatever their
    indentation.
    """

    def __init__(self, source: bytes, literal: Collection[int] = ()) -> None:
        self._literal = literal
        self._tab = 8 if _TAB_AND_BLANKS.search(source) else 4

    def indent(self, text: bytes, at: int) -> int:
        """The column at which the line that holds an offset begins to say something."""
        blank = _BLANK.match(text, text.rfind(b"\n", 0, at) + 1)
        return self._columns(blank[0] if blank is not None else b"")

    def blocks(self, text: bytes, start: int, end: int, floor: int = -1) -> list[Block]:
        """The blocks of a range at its least indentation above `floor`.

        Lines up to `floor` belong to none, and neither do those of a container whose content is indented no
        deeper (`namespace x {`, `extern "C" {`), nor conditions of a preprocessor.
        """
        lines = self._lines(text, start, end)
        least = min((line.indent for line in lines if floor < line.indent < DEEPER_THAN_ANY), default=0)
        found: list[list[int]] = []  # where the blocks begin and end
        hollows: list[list[int]] = []  # what may be such a container, until its closing brace is met
        open_ = False  # whether a block is open that further lines belong to
        leading = False  # whether it has only leading lines yet
        hollow = False  # whether its last line opened a brace
        core = 0  # where the first of its lines begins that is no leading one
        depth = 0  # the braces that its least indented lines have opened
        before, behind = 0, 0  # the indentation of the last line, and where it ends
        for line in lines:
            # What a deeper line opened (`: a(b) {`, the last of many parameters) closes directly behind one.
            deep = before > least and behind == line.start
            before, behind = line.indent, line.end
            if line.indent <= floor:
                open_ = leading = hollow = False
                continue
            if line.indent == DEEPER_THAN_ANY and not open_:
                continue  # the text began on a line that belongs to no block
            continues = bool(CONTINUES.match(text, line.said, line.end))
            if line.indent == least:
                if hollow and not continues and not leading:
                    begin, end_ = found.pop()
                    if begin < core:
                        found.append([begin, core])
                    hollows.append([core, end_])
                    open_ = False
                elif hollows and depth <= 0 and not deep and text.startswith(b"}", line.said):
                    hollows.pop()
                    open_ = leading = False
                    continue
            begins = not open_ or (line.indent == least and not leading and not continues)
            if begins:
                found.append([line.start, line.end])
                depth, open_ = 0, True
            else:
                found[-1][1] = line.end
            if begins or leading:
                core = line.start
            opened = 0 if line.indent > least or line.remark else _balance(text[line.said : line.end])
            inside = leading and not begins and (line.indent > least or continues)
            leads = line.remark or bool(_LEADS.match(text, line.said, line.end))
            leading = opened == 0 and (begins or leading) and (inside or leads)
            depth += opened
            hollow = opened > 0
        return [Block(a, b, least) for a, b in sorted([*found, *hollows])]

    def _lines(self, text: bytes, start: int, end: int) -> list[_Line]:
        """The lines that are not blank: a block comment's all as its first, those of a literal text deeper
        than any, and remarks no less deep than the code behind them."""
        found: list[_Line] = []
        at = start
        while at < end:
            stop = text.find(b"\n", at, end) + 1 or end
            said = text[at:stop].lstrip(b" \t")
            first = stop - len(said)
            if _ASIDE.match(said):
                pass
            elif at in self._literal:
                found.append(_Line(at, first, stop, DEEPER_THAN_ANY, False))
            elif said.strip():
                remark = bool(_REMARK.match(said))
                blank = text[at:first]
                columns = self._columns(blank) if b"\t" in blank else len(blank)
                columns = max(0, columns - said.startswith(b"*"))
                found.append(_Line(at, first, stop, columns, remark))
            at = stop
        after = 0
        for i in range(len(found) - 1, -1, -1):
            if found[i].remark and found[i].indent < after < DEEPER_THAN_ANY:
                found[i] = found[i]._replace(indent=after)
            after = found[i].indent
        return found

    def _columns(self, line: bytes) -> int:
        blank = line[: len(line) - len(line.lstrip(b" \t"))]
        return len(blank.expandtabs(self._tab)) if b"\t" in blank else len(blank)


def _balance(line: bytes) -> int:
    code = _NO_CODE.sub(b"", line) if b"{" in line or b"}" in line else b""
    return code.count(b"{") - code.count(b"}")
