"""The texts made of a chunk: the one that is embedded, and the one that a model reads.

Both are functions of a chunk's row alone, so that they can be built again at any time and are not stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from ckvd.model import CutOptions, Segment, Unit

Count = Callable[[str], int]

MARK = "..."
"""What stands for a body that an outline leaves out, and for lines left out of a long header piece."""

_CLOSERS = {"<!--": "-->", "/*": "*/", "(*": "*)", "{-": "-}", "<%#": "%>", "{#": "#}", "{{/*": "*/}}"}
_UNIT_WORDS: dict[Unit, str] = {
    "file_header": "file header",
    "module": "module code",
    "window": "window",
    "names": "names",
    "file": "whole file",
}
DROP_ORDER = {"import": 0, "remark": 1, "constant": 2, "member": 2, "package": 3, "doc": 4, "signature": 5}
"""The order in which embedded text leaves header pieces out; a signature is never left out."""


def comment_line(comment: str, text: str) -> str:
    """A text of one line as a comment in the language whose comments begin with `comment`."""
    closer = _CLOSERS.get(comment)
    return f"{comment} {text} {closer}" if closer else f"{comment} {text}"


def marker_line(comment: str) -> str:
    """The line between header and body."""
    return comment_line(comment, "---- chunk body ----")


def display_text(path: str, header: str, body: str, comment: str) -> str:
    """A chunk for a model to read: path as a comment, header, marker, body."""
    parts = [comment_line(comment, _one_line(path)), header, marker_line(comment), body]
    return "\n".join(part for part in parts if part)


def prefix_line(language: str | None, path: str, unit: Unit, symbol: str | None, kind: str) -> str:
    """The line of plain words above embedded text.

    Parts of a split chunk have the line of the whole: a statement more must not change its sisters' vectors.
    """
    words = [f"language: {language}."] if language else []
    words.append(f"file: {_one_line(path)}.")
    if unit == "symbol":
        words.append(f"symbol: {_one_line(symbol or '')} ({kind.capitalize()}).")
    elif unit == "section":
        words.append(f"section: {_one_line(symbol or '')}.")
    else:
        words.append(f"{_UNIT_WORDS[unit]}.")
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class Embedded:
    """A text to embed. `reserved` are its tokens with the prefix line, whether it has one or not."""

    text: str
    tokens: int
    reserved: int
    header_trimmed: bool


class TextBuilder:
    """Builds the embedded texts of one file's chunks; counts each distinct header once."""

    def __init__(
        self, language: str | None, path: str, comment: str, options: CutOptions, count: Count
    ) -> None:
        self._language, self._path, self._options, self._count = language, path, options, count
        self._marker = marker_line(comment)
        self._headers: dict[tuple[Segment, ...], tuple[str, bool]] = {}

    def build(
        self, unit: Unit, symbol: str | None, kind: str, header: tuple[Segment, ...], body: str
    ) -> Embedded:
        """The text that is embedded, counted."""
        text, trimmed = self._text(header, body)
        full = f"{self._prefix(unit, symbol, kind)}\n\n{text}"
        reserved = self._count(full)
        if self._options.prefix == "raw":
            return Embedded(text, self._count(text), reserved, trimmed)
        return Embedded(full, reserved, reserved, trimmed)

    def text(self, unit: Unit, symbol: str | None, kind: str, header: tuple[Segment, ...], body: str) -> str:
        """The text that is embedded: prefix line, empty line, then header, marker and body."""
        text, _ = self._text(header, body)
        if self._options.prefix == "raw":
            return text
        return f"{self._prefix(unit, symbol, kind)}\n\n{text}"

    def _text(self, header: tuple[Segment, ...], body: str) -> tuple[str, bool]:
        """Header, marker and body, and whether the header lacks a piece; no marker without a header."""
        if not (self._options.embed_header and header):
            return body, False
        head, trimmed = self._head(header)
        return f"{head}\n{self._marker}\n{body}", trimmed

    def _prefix(self, unit: Unit, symbol: str | None, kind: str) -> str:
        """The prefix line, with the tails of path and symbol alone where it would crowd out the text."""
        line = prefix_line(self._language, self._path, unit, symbol, kind)
        room = max(48, self._options.limit // 4)
        width = 160
        # A token has at least one byte: a short line needs no counting.
        while len(line.encode()) > room and width >= 10 and self._count(line) > room:
            path, name = self._path[-width:], symbol and symbol[-width:]
            line = prefix_line(self._language, path, unit, name, kind)
            width //= 2
        return line

    def _head(self, header: tuple[Segment, ...]) -> tuple[str, bool]:
        found = self._headers.get(header)
        if found is None:
            whole = _join(header)
            kept = fit_header(header, self._options.limit // 2, self._count)
            found = self._headers[header] = (kept, kept != whole)
        return found


def embed_text(
    *,
    language: str | None,
    path: str,
    unit: Unit,
    symbol: str | None,
    kind: str,
    header: Sequence[Segment],
    body: str,
    comment: str,
    options: CutOptions,
    count: Count,
) -> str:
    """The text that is embedded for a stored chunk; the same that `cut` has counted and hashed."""
    builder = TextBuilder(language, path, comment, options, count)
    return builder.text(unit, symbol, kind, tuple(header), body)


def embed_hash(text: str) -> bytes:
    """What a vector is kept under: BLAKE2b of 16 bytes over the embedded text."""
    return blake2b(text.encode(), digest_size=16).digest()


def fit_header(header: Sequence[Segment], share: int, count: Count) -> str:
    """The header, pieces left out until it has at most `share` tokens.

    Imports go first (the longest of them before the others: all are used, or one cannot tell), then comments
    on assignments, assignments, the package, and docs from the outermost in. A doc that fits in part keeps
    its first lines. Signatures stay; where they alone are too long, the text is clipped at the end.
    """
    whole = _join(header)
    if count(whole) <= share:
        return whole
    kept: list[Segment | None] = list(header)
    costs = [count(s.text) for s in header]
    total = sum(costs)
    order = sorted(
        (i for i, s in enumerate(header) if s.kind != "signature"),
        key=lambda i: (DROP_ORDER[header[i].kind], 0 if header[i].kind == "doc" else -costs[i], i),
    )
    for i in order:
        if total <= share:
            break
        piece = header[i]
        rest = ""
        if piece.kind == "doc":
            rest = clip(piece.text, share - (total - costs[i]), count)
        kept[i] = Segment(piece.kind, rest) if rest else None
        total -= costs[i] - (count(rest) if rest else 0)
    return clip(_join([s for s in kept if s is not None]), share, count)


def clip(text: str, room: int, count: Count) -> str:
    """The longest beginning of a text, in whole lines if one fits, that has at most `room` tokens."""
    if room <= 0:
        return ""
    if count(text) <= room:
        return text
    lines = text.split("\n")
    kept = "\n".join(lines[: _most(len(lines) - 1, lambda n: count("\n".join(lines[:n])) <= room)])
    if kept.strip():
        return kept
    first = lines[0][: 32 * room]
    return first[: _most(len(first), lambda n: count(first[:n]) <= room)]


def _most(high: int, holds: Callable[[int], bool]) -> int:
    """The largest n in 0..high for which a falling predicate holds (0 if none)."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _join(header: Sequence[Segment]) -> str:
    return "\n".join(s.text for s in header)


def _one_line(text: str) -> str:
    return " ".join(text.split())
