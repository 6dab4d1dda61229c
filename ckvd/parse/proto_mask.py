"""Groups of protobuf, which the grammar does not know."""

from __future__ import annotations

import re

from ckvd.parse.blanks import blanked

_COMMENT = rb"//[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/"
_STRING = rb"\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'"
_TOKEN = re.compile(
    _COMMENT + rb"|" + _STRING + rb"|[{}]|\b(?P<oneof>oneof\s+\w+\s*)(?=\{)"
    rb"|(?P<label>(?:\b(?:optional|repeated|required)\s)?\s*)(?<=\s)group(?P<name>\s+\w+)"
    rb"(?P<number>\s*=\s*\w+\s*(?:\[[^\]{}]*\]\s*)?)(?=\{)"
)


def proto_groups(source: bytes) -> bytes:
    """Groups as `extend` blocks, which may hold what a message may, and those that have a `oneof` around them
    without that."""
    text = bytearray(source)
    depth = 0
    opened: list[tuple[int, int, bool]] = []
    """The oneofs around: offset, depth, and whether they hold a group, with which they are blanked."""
    for token in _TOKEN.finditer(source):
        start, end = token.span()
        if token["oneof"] is not None:
            opened.append((start, depth, False))
        elif token["name"] is not None:
            begin, _ = token.span("name")
            text[start:begin] = blanked(source[start : begin - 6]) + b"extend"
            text[slice(*token.span("number"))] = blanked(token["number"])
            if opened:
                opened[-1] = (*opened[-1][:2], True)
        elif token[0] == b"{":
            depth += 1
        elif token[0] == b"}":
            depth -= 1
            if opened and opened[-1][1] == depth:
                begin, _, holds = opened.pop()
                if holds:
                    brace = source.index(b"{", begin) + 1
                    text[begin:brace] = blanked(source[begin:brace])
                    text[start:end] = b" "
    return bytes(text)
