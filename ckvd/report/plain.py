"""Text that is safe to show, and its way to stdout. Light: what needs no layout or colour needs no more."""

from __future__ import annotations

import io
import sys
import unicodedata
from typing import TextIO

TAB = 4

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_ESCAPED = frozenset(("Cc", "Cs", "Zl", "Zp"))


def plain(text: str) -> str:
    r"""`text` with all that a terminal would obey (control and bidirectional characters) as `\xNN`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(c) if c in _BIDI or unicodedata.category(c) in _ESCAPED else c for c in text)


def _escaped(c: str) -> str:
    return f"\\x{ord(c):02x}" if ord(c) < 0x100 else f"\\u{ord(c):04x}"


def source_line(text: str) -> str:
    """A line of a file for the screen: no line end, tabs as spaces, the rest as `plain`."""
    return plain(text.rstrip("\r\n").expandtabs(TAB))


def kept_tabs(line: str) -> str:
    """A line of a file to paste: no CR at its end, its tabs as they are, the rest as `plain`."""
    return "\t".join(plain(piece) for piece in line.removesuffix("\r").split("\t"))


def source_lines(text: str) -> list[str]:
    """Lines end at LF alone; blank ones at either end are left out."""
    return text.strip("\n").split("\n") if text.strip() else []


def number(n: int) -> str:
    return f"{n:,}"


def counted(n: int, noun: str) -> str:
    return f"{number(n)} {noun}" if n == 1 else f"{number(n)} {noun}s"


def write(text: str) -> None:
    """Writes `text` to stdout; what its encoding cannot say is replaced or escaped."""
    if not _is_unicode(sys.stdout):
        text = text.translate(_ASCII)
        encoding = sys.stdout.encoding or "ascii"
        text = text.encode(encoding, "backslashreplace").decode(encoding)
    sys.stdout.write(text)
    sys.stdout.flush()


def _is_unicode(file: TextIO) -> bool:
    return not isinstance(file, io.TextIOWrapper) or file.encoding.lower().replace("-", "").startswith("utf")


_ASCII = str.maketrans(
    {
        "█": "#",
        "░": ".",
        "●": "*",
        "○": "o",
        "✖": "!",
        "·": "-",
        "–": "-",
        "…": "~",
        "┆": "|",
        "│": "|",
        "▌": ">",
    }
)
