"""Objective-C without what its grammar cannot read: macros, conditions, and the bodies that hold them."""

from __future__ import annotations

import re

from ckvd.model import Range
from ckvd.parse.blanks import blanked

_MACRO = rb"\b(?:[A-Z][A-Z0-9]*_[A-Z0-9_]*|__attribute__|__deprecated\w*|__unused)\b"
_ARGUMENTS = rb"(?:[ \t]*\((?:[^(){};]|\((?:[^(){};]|\([^(){};]*+\))*+\))*+\))?"
_LINE = re.compile(rb"^[ \t]*" + _MACRO + _ARGUMENTS + rb"[ \t]*;?(?=[ \t]*(?://[^\n]*)?\r?$)", re.MULTILINE)
_ENUM = re.compile(
    rb"(?:\btypedef\s+)?\b(?:NS|CF)_(?:CLOSED_|ERROR_)?(?:ENUM|OPTIONS)\s*\((?:[^(),;{}]*,)?\s*(\w+)\s*\)(?=\s*\{)"
)
_TRAILING = re.compile(_MACRO + _ARGUMENTS + rb"(?=\s*(?:[;{@=]|,\s*$|[A-Z][A-Z0-9]*_|__))", re.MULTILINE)
_LEADING = re.compile(
    rb"(?:\b(?:[A-Z][A-Z0-9]*_[A-Z0-9_]*)"
    + _ARGUMENTS
    + rb"|\b__unused\b)(?=[ \t]+(?:[A-Za-z_]|::)|[ \t]*\r?\n[ \t]*[a-z_])"
)
_CONDITION = re.compile(
    rb"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|endif)\b(?:[^\n\\]|\\[^\n]|\\\n)*", re.MULTILINE
)
_OTHER_SIGNATURE = re.compile(
    rb"(^[-+][^{};#]{0,999}\n)([ \t]*#[ \t]*(?:else|elif)\b[^{}#]*#[ \t]*endif[^\n]*)(?=\s*\{)", re.MULTILINE
)
_BRANCHES = re.compile(rb"^[ \t]*#[ \t]*(?:else|elif)\b", re.MULTILINE)
_TOKEN = re.compile(
    rb"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|^[ \t]*#(?:[^\n\\]|\\.)*|[{}]",
    re.DOTALL | re.MULTILINE,
)
_OUTSIDE = re.compile(rb"^(?:[-+][ \t]*\(|@(?:end|implementation|interface|protocol)\b)", re.MULTILINE)
_CALLABLE = re.compile(rb"^[-+][ \t]*\(|\)\s*\Z", re.MULTILINE)
_CONTAINER = re.compile(rb"@(?:interface|implementation)\s+\w+\s*(?:<[^>{]*>\s*)?(?:\([^)]*\))?")
_CLOSED = re.compile(rb"^\}", re.MULTILINE)


_PRAGMA = re.compile(
    rb"\b_Pragma[ \t]*\(\"(?:[^\"\\\n]|\\.)*\"\)|(?<=\))[ \t]*\\(?=\r?\n(?:_Pragma|typedef)\b)"
)
_BASE = re.compile(rb"(?<=\benum)\s*(?:\w+\s*)?:\s*(?:(?:unsigned|signed|long|short|int|char)\s*)+(?=\{)")
_CALL = re.compile(
    rb"^[A-Za-z_]\w*[ \t]*\([^(){};\n]*\)[ \t]*(?=\r?\n(?!\s*\{))"
    rb"|^[A-Za-z_]\w*[ \t]*(?=\r?\n[ \t]*(?:\r?\n|@|//|/\*|#|\Z)|\Z)",
    re.MULTILINE,
)


def _blank(found: re.Match[bytes]) -> bytes:
    return blanked(found[0])


def _base(found: re.Match[bytes]) -> bytes:
    colon = found[0].find(b":")
    return found[0][:colon] + blanked(found[0][colon:])


def _enum(found: re.Match[bytes]) -> bytes:
    name = found.start(1) - found.start()
    return b"enum" + blanked(found[0][4:name]) + found[1] + blanked(found[0][name + len(found[1]) :])


def objc_macros(source: bytes) -> bytes:
    """Blanks macros that mark regions or follow declarations; `NS_ENUM(T, Name)` becomes `enum Name`."""
    text = _CALL.sub(_blank, _PRAGMA.sub(_blank, _LINE.sub(_blank, source)))
    return _TRAILING.sub(_blank, _ENUM.sub(_enum, _BASE.sub(_base, text)))


def objc_bodies(source: bytes) -> bytes:
    """Blanks the bodies of functions and methods too, conditions, and macros before declarations."""
    out = bytearray(objc_macros(source))
    for start, end in _bodies(bytes(out)):
        out[start:end] = blanked(bytes(out[start:end]))
    one = _OTHER_SIGNATURE.sub(lambda found: found[1] + blanked(found[2]), bytes(out))
    return _LEADING.sub(_blank, _CONDITION.sub(_blank, one))


def _bodies(source: bytes) -> list[Range]:
    """What lies between the braces of functions and methods."""
    found: list[Range] = []
    at = last = 0
    while (token := _TOKEN.search(source, at)) is not None:
        at = token.end()
        if token[0] == b"{":
            head = source[max(last, token.start() - 2000) : token.start()]
            head = _CONTAINER.sub(b"", head[max(head.rfind(b";"), head.rfind(b"}")) + 1 :])
            if _CALLABLE.search(head):
                outside = _OUTSIDE.search(source, at)
                limit = outside.start() if outside else len(source)
                end = _end(source, at, limit)
                if end is not None:
                    found.append((at, end))
                at = limit if end is None else end
        elif token[0] == b"}":
            last = at
    return found


def _end(source: bytes, start: int, limit: int) -> int | None:
    """The end of a body, before the limit; None where its braces do not match.

    Braces that do not match may stand in branches of which one is compiled; the next brace that begins
    its line is then the end.
    """
    at, depth = start, 1
    while (token := _TOKEN.search(source, at, limit)) is not None:
        at = token.end()
        depth += (token[0] == b"{") - (token[0] == b"}")
        if depth == 0:
            return token.start()
    closed = _CLOSED.search(source, start, limit)
    return closed.start() if closed and _BRANCHES.search(source, start, closed.start()) else None
