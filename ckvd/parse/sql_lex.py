"""The first pass over an SQL script: what may hide or end a statement, with comments blanked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from ckvd.model import Range

_AT_MARGIN = re.compile(rb"\n(?=(?:CREATE|ALTER|DROP|COMMENT|GRANT|REVOKE|DO)\b)", re.IGNORECASE)
LOOKS_ESCAPED = re.compile(
    rb"`|\bAUTO_INCREMENT\b|\bENGINE\s*=|^DELIMITER\b|/\*!\d", re.IGNORECASE | re.MULTILINE
)
_BODY_BREAK = re.compile(rb";(?=[ \t\r]*(?:--[^\n]*)?\n)")
_VERSION = re.compile(rb"/\*!\d*")
_COMMENT_MARK = re.compile(rb"/\*|\*/")
_RECOVERY = re.compile(rb";[ \t\r]*\n|\n\s*\n|\n(?=CREATE\b)", re.IGNORECASE)
_COPY_END = re.compile(rb"^\\\.[ \t\r]*$", re.MULTILINE)


@dataclass(slots=True)
class Lexed:
    """`tokens` are `(kind, start, end)`: a `semicolon` may end a statement, a `stop` does, a `cut` ends it
    before itself."""

    code: bytearray
    escaped: bool
    batches: bool = False
    tokens: list[tuple[str, int, int]] = field(default_factory=list)
    comments: list[Range] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    damage: list[Range] = field(default_factory=list)

    def blank(self, start: int, end: int) -> None:
        self.code[start:end] = re.sub(rb"[^\n]", b" ", self.code[start:end])


def _quoted(mark: bytes, escapes: bool, guarded: bool) -> bytes:
    """A quoted text; guarded, it neither holds a semicolon at a line's end nor a blank line."""
    across = rb";(?![ \t\r]*\n)|\n(?!\s*\n|(?:CREATE|ALTER|INSERT|DROP)\b)" if guarded else rb"[;\n]"
    plain = rb"[^;\n\\" + mark + rb"]++" if escapes else rb"[^;\n" + mark + rb"]++"
    escape = rb"|\\." if escapes else rb""
    return mark + rb"(?:" + plain + rb"|" + across + escape + rb"|" + mark * 2 + rb")*+" + mark


_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL
_DOLLAR = rb"\$(?:[A-Za-z_\x80-\xff][\w\x80-\xff]*+)?\$"
PARENS = re.compile(
    rb"[()]|" + _quoted(b"'", False, False) + rb"|" + _quoted(b'"', False, False) + rb"|" + _DOLLAR, _FLAGS
)


@lru_cache(maxsize=64)
def _pattern(delimiter: bytes, escaped: bool, guarded: bool) -> re.Pattern[bytes]:
    """Text that neither hides nor ends anything, then one token."""
    stop = rb"\b" + delimiter + rb"\b" if delimiter.isalnum() else re.escape(delimiter)
    word = rb"[\w\x80-\xff#@]" if b"$" in delimiter else rb"[\w\x80-\xff$#@]"
    keyword = rb"(?:BEGIN|END|CASE|(?:RE)?CREATE|AS|IS)(?!" + word + rb")"
    plain = [
        rb"\n",
        rb"[^\w\x80-\xff\n;'\"`\[$/*\\#@.-]++",
        rb"E" + _quoted(b"'", True, guarded),
        rb"(?!" + keyword + rb"|N?Q')[\w\x80-\xff]" + word + rb"*+",
        rb"[.#@]" + word + rb"*+",
        _quoted(b"'", escaped, guarded),
        _quoted(b'"', escaped, guarded),
        rb"`[^`\n]*+`",
        rb"\[(?:[A-Za-z_#@][\w .$#@'-]*+\])?",
        rb"-(?!-)|/(?!\*)|\*(?!/)|\\(?!(?:g\w*|watch|crosstabview)\b)|\$(?!" + _DOLLAR[2:] + rb")",
    ]
    line = rb"^[ \t]*(?:GO\b|/[ \t\r]*$|DELIMITER\b|\\|#|COPY\b)"
    tokens = [
        rb"(?P<stop>" + stop + rb")" if delimiter != b";" else rb"(?P<semicolon>;)",
        rb"(?P<inner>;)",
        rb"(?P<comment>--[^\n]*|^[ \t]*#" + (rb"[^\n]*" if escaped else rb"(?:[ !#-][^\n]*)?$") + rb")",
        rb"(?P<block>/\*)|(?P<unblock>\*/)",
        rb"(?P<oracle>N?Q'(?P<mark>[^\s\w]))",
        rb"(?P<unclosed>['\"`])",
        rb"(?P<dollar>" + _DOLLAR + rb")",
        rb"(?P<directive>^[ \t]*DELIMITER[ \t]+(?P<new>\S+)[^\n]*)",
        rb"(?P<separator>^[ \t]*(?:GO(?:[ \t]+\d+)?[ \t]*;?|/)[ \t\r]*(?:--[^\n]*)?$)",
        rb"(?P<meta>^[ \t]*\\[^\n]*|\\(?:g\w*|watch|crosstabview)\b[^\n]*)",
        rb"(?P<copy>^[ \t]*COPY\b[^;']{0,2000}?\bFROM\s+STDIN\b[^;]{0,2000};[^\n]*(?:\n|\Z))",
        rb"(?P<word>" + keyword + rb")",
        rb"(?P<other>[\w\x80-\xff]" + word + rb"*+|.)",
    ]
    guard = rb"(?!" + line + (rb"" if delimiter == b";" else rb"|" + stop) + rb")"
    skipped = rb"(?:" + guard + rb"(?:" + rb"|".join(plain) + rb"))*+"
    return re.compile(skipped + rb"(?:" + rb"|".join(tokens) + rb")", _FLAGS)


def lex(text: bytes, *, escaped: bool, guarded: bool) -> Lexed:
    """The tokens of a script. `escaped`: a backslash escapes in any quote; `guarded`: see `_quoted`."""
    out = Lexed(bytearray(text), escaped)
    delimiter, nested, executable, at = b";", True, 0, 0
    oracle_ends: dict[bytes, int] = {}
    while found := _pattern(delimiter, escaped, guarded).match(text, at):
        kind = found.lastgroup or ""
        start, at = found.span(kind)
        if kind == "comment":
            out.comments.append((at - len(found[kind].lstrip()), at))
            out.blank(start, at)
        elif kind == "block" and (version := _VERSION.match(text, start)):
            executable, at = executable + 1, version.end()
            out.blank(start, at)
        elif kind == "block":
            end, nested = _comment_end(text, start, nested)
            at = end or (_line_end(text, start) if guarded else len(text))
            (out.comments if end else out.damage).append((start, at))
            out.blank(start, at)
        elif kind == "unblock" and executable:
            executable -= 1
            out.blank(start, at)
        elif kind == "oracle":
            end = _oracle_end(text, found, oracle_ends)
            at = at - 2 if end is None else end
        elif kind == "unclosed":
            at = _recovered(out, text, start) if guarded else len(text)
            out.damage.append((start, at))
        elif kind == "dollar":
            at = _dollar_end(out, text, found, guarded)
        elif kind in ("directive", "separator", "meta"):
            delimiter = found["new"] or delimiter
            out.batches |= kind == "separator"
            out.blank(start, at)
            out.tokens.append(("cut", start, at))
        elif kind == "copy":
            data, data_end = at, _COPY_END.search(text, at)
            at = data_end.end() if data_end else at
            out.blank(data, at)
            out.tokens.append(("stop", start, data))
        elif kind in ("semicolon", "stop"):
            out.tokens.append((kind, start, at))
        elif kind == "inner":
            out.breaks.append(at)
        elif kind == "word":
            out.tokens.append((found[kind].upper().decode(), start, at))
    return out


def _oracle_end(text: bytes, opening: re.Match[bytes], ends: dict[bytes, int]) -> int | None:
    """The end of a text like `q'[…]'`; `ends` knows the closing marks that do not occur any more."""
    mark = opening["mark"]
    close = {b"[": b"]", b"{": b"}", b"(": b")", b"<": b">"}.get(mark, mark) + b"'"
    if ends.get(close, 0) >= 0:
        ends[close] = text.find(close, opening.end())
    return ends[close] + 2 if ends[close] >= 0 else None


def _comment_end(text: bytes, start: int, nested: bool) -> tuple[int | None, bool]:
    """The end of a block comment, and whether comments nest: as the standard has it, until one does not."""
    if nested:
        depth = 0
        for mark in _COMMENT_MARK.finditer(text, start):
            depth += 1 if mark[0] == b"/*" else -1
            if depth == 0:
                return mark.end(), True
    flat = text.find(b"*/", start + 2)
    return (flat + 2 if flat >= 0 else None), False


def _dollar_end(out: Lexed, text: bytes, opening: re.Match[bytes], guarded: bool) -> int:
    (start, inside), tag = opening.span("dollar"), opening["dollar"]
    close = text.find(tag, inside)
    limit = close if close >= 0 else len(text)
    margin = _AT_MARGIN.search(text, inside, limit) if guarded else None
    if close < 0 or margin:
        end = margin.end() if margin else len(text)
        out.damage.append((start, end))
        out.tokens.append(("stop", start, end))
        return end
    out.breaks.extend(m.end() for m in _BODY_BREAK.finditer(text, inside, close))
    return close + len(tag)


def _recovered(out: Lexed, text: bytes, start: int) -> int:
    """Where the script goes on after a quote without its end."""
    if text[start : start + 1] == b"`":
        return start + 1  # a name does not go over its line
    recovery = _RECOVERY.search(text, start)
    at = recovery.end() if recovery else len(text)
    out.tokens.append(("stop", start, at))
    return at


def _line_end(text: bytes, start: int) -> int:
    end = text.find(b"\n", start)
    return end if end >= 0 else len(text)
