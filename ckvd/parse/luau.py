"""What Luau's grammar cannot read, in a form that it reads, byte for byte."""

from __future__ import annotations

import re

from ckvd.parse.blanks import blanked


def _blank(found: re.Match[bytes]) -> bytes:
    return blanked(found[0])


_LUAU = (
    re.compile(rb"^[ \t]*@(?:\w+|\[[^\]\n]*\])[ \t]*(?=\r?$|(?:local[ \t]+)?function\b)", re.MULTILINE),
    re.compile(rb"(?<=\w)\.\.\."),
    re.compile(rb"(?<=[:=>|(] )<[\w, \t.]+>(?=\()"),
)
_LUAU_TYPE = re.compile(rb"^[ \t]*(?:export[ \t]+)?type[ \t]+\w+[ \t]*<[^<>\n]*>", re.MULTILINE)
_LUAU_DEFAULT = re.compile(rb"[ \t]*=[ \t]*[\w.]+(?=[ \t]*[,>])")


def luau_types(source: bytes) -> bytes:
    """Attributes of functions (`@native`), type packs (`T...`), generic function types, defaults of types."""
    for pattern in _LUAU:
        source = pattern.sub(_blank, source)
    return _LUAU_TYPE.sub(lambda found: _LUAU_DEFAULT.sub(_blank, found[0]), source)


_ALIAS = re.compile(rb"^[ \t]*(?:export[ \t]+)?type[ \t]+\w+[^=\n]*=[ \t]*", re.MULTILINE)
_PIECE = re.compile(
    rb"--\[(?P<level>=*)\[.*?\](?P=level)\]|--[^\n]*|\"[^\"\n]*\"|'[^'\n]*'|->|[()\[\]{}<>|&,]|\n\s*",
    re.DOTALL,
)


_NEXT = re.compile(rb"(?:export[ \t]+)?type[ \t]+\w|(?:local|function|return|end)\b")


def luau_aliases(source: bytes) -> bytes:
    """Besides `luau_types`, what names are given to by `type`, as one type in parentheses."""
    out = bytearray(luau_types(source))
    for alias in _ALIAS.finditer(bytes(out)):
        start = alias.end()
        end = _end_of_type(source, start)
        if end - start >= 3:
            out[start:end] = b"(x" + blanked(source[start + 2 : end - 1]) + b")"
    return bytes(out)


def _end_of_type(source: bytes, start: int) -> int:
    """Where a type ends: at the line's end, unless a bracket is open or an operator goes on with it."""
    depth, goes_on, end = 0, True, start
    at = start
    while (piece := _PIECE.search(source, at)) is not None:
        between, token = source[at : piece.start()].strip(), piece[0]
        if between:
            goes_on, end = False, at + len(source[at : piece.start()].rstrip())
        at = piece.end()
        if token.startswith(b"--"):
            continue
        if token.startswith(b"\n"):
            if token.endswith(b"\n") and _NEXT.match(source, at):
                return end
            if (
                depth <= 0
                and not goes_on
                and source[at : at + 1] not in (b"|", b"&")
                and source[at : at + 2] != b"->"
            ):
                return end
            continue
        end = at
        goes_on = token in (b"|", b"&", b",", b"->")
        depth += (token in (b"(", b"[", b"{", b"<")) - (token in (b")", b"]", b"}", b">"))
        if depth < 0:
            return end
    return len(source.rstrip()) if depth <= 0 and source[at:].strip() else end
