"""Masks of what Python allows and its grammar does not know."""

from __future__ import annotations

import re

from ckvd.parse.blanks import blanked

_PARAMETERS = re.compile(rb"^[ \t]*(?:class|(?:async[ \t]+)?def|type)[ \t]+\w+[ \t]*\[", re.MULTILINE)
_MARK = re.compile(rb"""[\[\](){},]|=|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|#[^\n]*""")
_REMARKS = re.compile(
    rb"^(?:#[^\n]*\n)+(?=(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]+(?:@|(?:async[ \t]+)?def\b|class\b))", re.MULTILINE
)


def python_newer(source: bytes) -> bytes:
    """Defaults of type parameters (`class A[T = int]`), and comments at the margin before a declaration that
    is not, which end the block for the grammar if a decorator stands before them."""
    text = bytearray(_REMARKS.sub(lambda found: blanked(found[0]), source))
    for found in _PARAMETERS.finditer(source):
        depth, begun = 1, -1
        for mark in _MARK.finditer(source, found.end()):
            opens, closes = mark[0] in (b"[", b"(", b"{"), mark[0] in (b"]", b")", b"}")
            depth += opens - closes
            if begun >= 0 and (depth == 0 or (depth == 1 and mark[0] == b",")):
                text[begun : mark.start()] = blanked(source[begun : mark.start()])
                begun = -1
            elif mark[0] == b"=" and depth == 1 and begun < 0:
                begun = mark.start()
            if depth == 0:
                break
    return bytes(text)
