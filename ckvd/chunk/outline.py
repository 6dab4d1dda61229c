"""What an outline leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ckvd.chunk.source import Source
from ckvd.chunk.text import MARK
from ckvd.chunk.view import Elision
from ckvd.model import Range, Symbol


def elisions(
    source: Source, symbols: Sequence[Symbol], ranges: Sequence[Range], members: Iterable[int]
) -> tuple[Elision, ...]:
    """The bodies of members, their docstrings and the braces around them kept; in file order, disjoint.

    `ranges` are those of the symbols' chunks.
    """
    found: list[Elision] = []
    for index in members:
        elision = _body(source, symbols[index], ranges[index])
        if elision is not None and (not found or elision.start >= found[-1].end):
            found.append(elision)
    return tuple(found)


def _body(source: Source, symbol: Symbol, chunk: Range) -> Elision | None:
    if symbol.body is None:
        return None
    data = source.data
    start, end = symbol.body
    mark = MARK
    if data[start : start + 1] == b"{" and data[end - 1 : end] == b"}":
        start, end, mark = start + 1, end - 1, f" {MARK} "
    docs = [
        item.end for item in symbol.head if item.kind == "doc" and start <= item.start and item.end <= end
    ]
    if docs:
        after = max(docs)
        # The rest of the body begins at its own indentation, which stays.
        while after < end and data[after] in b" \t\r\n;":
            after += 1
        start = after
    return Elision(start, end, mark, chunk) if end - start > len(mark) else None
