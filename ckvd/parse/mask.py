"""Blanking of what a grammar cannot read, offset for offset, so that it can read the rest.

A mask replaces bytes by spaces and never changes a text's length or its lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Mask = Callable[[bytes], bytes]

_MACRO_LINE = re.compile(
    rb"^[A-Z_][A-Z0-9_]*[ \t]*(?:\([^(){};\n]*\))[ \t]*(?=\r?\n(?!\s*[{(]))", re.MULTILINE
)
_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define\b(?:[^\n\\]|\\[^\n]|\\\n)*", re.MULTILINE)
_COMMENT = re.compile(rb"/\*.*?\*/", re.DOTALL)


def blank(found: re.Match[bytes]) -> bytes:
    """Spaces in place of everything but line ends."""
    return re.sub(rb"[^\r\n]", b" ", found[0])


def c_macros(source: bytes) -> bytes:
    """Macro calls that stand on a line of their own without `;`, and comments inside a `#define`."""
    without = _DEFINE.sub(lambda d: _COMMENT.sub(blank, d[0]), source)
    return _MACRO_LINE.sub(blank, without)


MASKS: dict[str, Mask] = {"c_macros": c_macros}
