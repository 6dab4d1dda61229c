"""Template tags (Jinja's, Helm's) in a file of another language: found, and blanked byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterator

_OPEN = re.compile(rb"\{[{%#]")
_CLOSE = {b"{{": b"}}", b"{%": b"%}", b"{#": b"#}"}


def tags(source: bytes) -> Iterator[tuple[int, int]]:
    """The ranges of `{{ … }}`, `{% … %}` and `{# … #}`; one without its end is none. Linear in time."""
    at = 0
    unclosed: set[bytes] = set()
    while opening := _OPEN.search(source, at):
        start, at = opening.span()
        close = _CLOSE[opening[0]]
        end = -1 if close in unclosed else source.find(close, at)
        if end < 0:
            unclosed.add(close)
            if len(unclosed) == len(_CLOSE):
                return
            continue
        at = end + len(close)
        yield start, at


def blanked(source: bytes, word: bytes = b"x") -> bytes:
    """The source with tags as blanks and expressions as a word of that letter, lines kept.

    The source itself, the same object, where it has no tag.
    """
    if not _OPEN.search(source):
        return source
    out = bytearray(source)
    for start, end in tags(source):
        filler = word if source.startswith(b"{{", start) else b" "
        out[start:end] = re.sub(rb"[^\n]", filler, source[start:end])
    return bytes(out)
