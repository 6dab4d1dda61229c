"""Headings → section symbols: what Markdown, reStructuredText and their like have in common."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ckvd.languages import Language
from ckvd.model import HeaderItem, Parsed, Pieces, Range, Symbol, no_pieces
from ckvd.parse import text

TITLE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Heading:
    """`start`..`end` are its line or lines; smaller levels enclose larger ones."""

    level: int
    title: str
    start: int
    end: int
    title_start: int


def parsed(
    source: bytes, language: Language, headings: Sequence[Heading], pieces: Pieces = no_pieces
) -> Parsed:
    """A text's sections: each symbol is its heading, its `body` the text from there to the next heading.

    `scope` and `parents` are the headings above it; headings without a title make no section.
    """
    headings = [h for h in headings if h.title.strip()]
    symbols: list[Symbol] = []
    above: list[tuple[int, int]] = []
    for heading, following in zip(headings, [*headings[1:], None], strict=False):
        while above and above[-1][0] >= heading.level:
            above.pop()
        stop = following.start if following else len(source)
        symbols.append(
            Symbol(
                name=" ".join(heading.title.split())[:TITLE_CHARACTERS],
                parents=tuple(symbols[index].name for _, index in above),
                kind="section",
                start=heading.start,
                end=heading.end,
                name_start=heading.title_start,
                lead=heading.start,
                body=(heading.end, stop),
                scope=above[-1][1] if above else None,
                signature=text.signature(source, heading.start, heading.end),
                head=(HeaderItem("signature", heading.start, heading.end),),
            )
        )
        above.append((heading.level, len(symbols) - 1))
    return Parsed(language.name, "ok", symbols=tuple(symbols), comment=language.comment, pieces=pieces)


class Blocks:
    """A text's nested blocks, for `Parsed.pieces`: those that make up the smallest one around a range."""

    def __init__(self, blocks: Sequence[Range]) -> None:
        """`blocks` are in file order, an enclosing one before those in it."""
        self._inside: dict[int, list[Range]] = {-1: []}
        self._index: dict[Range, int] = {}
        open_: list[tuple[int, Range]] = []
        for index, block in enumerate(blocks):
            while open_ and open_[-1][1][1] < block[1]:
                open_.pop()
            self._inside.setdefault(open_[-1][0] if open_ else -1, []).append(block)
            self._index[block] = index
            open_.append((index, block))

    def __call__(self, start: int, end: int) -> Sequence[Range]:
        inside = self._inside[-1]
        while True:
            first = bisect_right(inside, (start, 1 << 62)) - 1
            if first < 0 or inside[first][1] <= start:
                first += 1
            last = bisect_left(inside, (end, 0))
            if last - first != 1:
                return [(max(start, a), min(end, b)) for a, b in inside[first:last]]
            inside = self._inside.get(self._index[inside[first]], [])
