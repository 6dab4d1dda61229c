"""Names for chunks, and the chunk that holds each symbol."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ckvd.model import Chunk, Symbol


def assign_ids(wanted: Iterable[tuple[str, int]]) -> list[tuple[str, ...]]:
    """Unique ids for chunks in file order, each given as its plain id and its number of parts.

    What would repeat an id gets `#2`, `#3` …, rising until it is free; the parts of a split chunk
    get `[1]`, `[2]` … after that. An id depends on what stands before it in the file alone.
    """
    used: set[str] = set()
    ordinals: dict[str, int] = {}
    result = []
    for plain, parts in wanted:
        ordinal = ordinals.get(plain, 0) + 1
        while True:
            base = plain if ordinal == 1 else f"{plain}#{ordinal}"
            ids = (base,) if parts == 1 else tuple(f"{base}[{n}]" for n in range(1, parts + 1))
            if base not in used and used.isdisjoint(ids):
                break
            ordinal += 1
        ordinals[plain] = ordinal
        used.add(base)
        used.update(ids)
        result.append(ids)
    return result


@dataclass(slots=True)
class _Whole:
    """A chunk with its parts put together."""

    start: int
    end: int
    order: int
    parts: list[Chunk] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)


def locate(symbols: Sequence[Symbol], chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """For each symbol the id of the finest chunk that holds it; the first part where that is its own.

    Where none holds the whole symbol (one that reaches over several windows), the finest that
    holds its first byte. `chunks` are those of one file as `cut` gives them, in the same offsets.

    Raises ValueError where a symbol lies outside every chunk.
    """
    wholes = sorted(_wholes(chunks), key=lambda w: (w.start, -w.end, w.order))
    found: list[str] = [""] * len(symbols)
    open_: list[_Whole] = []
    upcoming = 0
    for i in sorted(range(len(symbols)), key=lambda i: symbols[i].start):
        symbol = symbols[i]
        while upcoming < len(wholes) and wholes[upcoming].start <= symbol.start:
            open_ = [w for w in open_ if w.end > wholes[upcoming].start]
            open_.append(wholes[upcoming])
            upcoming += 1
        around = [w for w in open_ if w.end > symbol.start]
        if not around:
            raise ValueError(f"no chunk holds {symbol.symbol} at {symbol.start}")
        found[i] = _pick(symbol, around)
    return tuple(found)


def _wholes(chunks: Sequence[Chunk]) -> list[_Whole]:
    wholes: list[_Whole] = []
    for chunk in chunks:
        if chunk.part == 1:
            wholes.append(_Whole(chunk.start, chunk.end, len(wholes)))
        wholes[-1].end = max(wholes[-1].end, chunk.end)
        wholes[-1].parts.append(chunk)
        wholes[-1].starts.append(chunk.start)
    return wholes


def _pick(symbol: Symbol, around: list[_Whole]) -> str:
    holding = [w for w in around if w.end >= symbol.end] or around
    own = [w for w in holding if w.parts[0].unit == "symbol" and w.parts[0].symbol == symbol.symbol]
    if own:
        return min(own, key=lambda w: (w.end - w.start, -w.order)).parts[0].chunk_id
    found: list[tuple[int, int, str]] = []
    for whole in holding:
        part = whole.parts[bisect_right(whole.starts, symbol.start) - 1]
        start, end = (part.start, part.end) if symbol.end <= part.end else (whole.start, whole.end)
        found.append((end - start, -whole.order, part.chunk_id))
    return min(found)[2]
