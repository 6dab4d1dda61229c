"""How many functions a cutting strategy severs: rows → values. Pure.

`fixed:N` are windows of N characters, `fixed:N+M` the same with M characters of overlap, `lines:N` windows
that end at blank lines and low indentation, `symbol` one chunk a function whatever its size, `index` the
chunks as they stand.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from ckvd.chunk.source import Source
from ckvd.chunk.windows import soft_end
from ckvd.model import Range, Rendering, Unit

FUNCTION_KINDS = frozenset({"function", "method", "constructor"})
SYMBOL, INDEX = "symbol", "index"


@dataclass(frozen=True, slots=True)
class FunctionRow:
    """A row of `symbols` whose kind is one of FUNCTION_KINDS."""

    symbol: str
    start: int
    end: int
    start_line: int
    end_line: int
    name_line: int


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A row of `chunks`."""

    unit: Unit
    symbol: str | None
    start: int
    end: int
    part: int
    parts: int
    rendering: Rendering


@dataclass(frozen=True, slots=True)
class FileRows:
    """One file: its bytes as they were indexed, its functions, the ranges of all its symbols, its chunks."""

    path: str
    language: str
    text: bytes
    functions: Sequence[FunctionRow]
    symbols: Sequence[Range]
    chunks: Sequence[ChunkRow]


@dataclass(frozen=True, slots=True)
class Tally:
    """Functions of one strategy by what became of them.

    `intact` lie whole in one chunk (other than a window, for the index); `parts` are cut by the size cap,
    each part with its header; `names` stand in generated files of which names alone are indexed; the rest
    is `split`. `separated` of the split have no chunk with both the line of their name and their last byte.
    """

    functions: int = 0
    intact: int = 0
    parts: int = 0
    names: int = 0
    split: int = 0
    separated: int = 0

    @property
    def share(self) -> float | None:
        """The share that is split, 0 to 1; None of no functions."""
        return self.split / self.functions if self.functions else None

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.functions + other.functions,
            self.intact + other.intact,
            self.parts + other.parts,
            self.names + other.names,
            self.split + other.split,
            self.separated + other.separated,
        )


@dataclass(frozen=True, slots=True)
class Severed:
    """A function that some strategy splits. `touches` are the recent commits that changed its file."""

    path: str
    language: str
    symbol: str
    start_line: int
    lines: int
    touches: int
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Boundaries:
    """`tallies` by strategy and language. `severed` has the longest in the most changed files first."""

    tallies: Mapping[str, Mapping[str, Tally]]
    severed: Sequence[Severed]
    file_headers: int
    torn_file_headers: int
    """File headers that end inside a symbol."""

    def total(self, strategy: str) -> Tally:
        return sum(self.tallies[strategy].values(), Tally())


@dataclass(frozen=True, slots=True)
class Fate:
    """What a strategy made of one function: a field of Tally, and whether its ends are apart."""

    field: str
    separated: bool = False


def fixed(text: bytes, chars: int, overlap: int = 0) -> list[Range]:
    """Windows of `chars` characters, each beginning `overlap` characters before the end of the last."""
    decoded = text.decode("utf-8", "surrogateescape")
    starts = range(0, max(len(decoded) - overlap, 1), chars - overlap)
    return _spans(decoded, [(s, min(s + chars, len(decoded))) for s in starts])


def lines(text: bytes, chars: int) -> list[Range]:
    """Windows of at most `chars` characters that end at blank lines and low indentation."""
    decoded = text.decode("utf-8", "surrogateescape")
    ends = [0]
    while ends[-1] < len(decoded):
        ends.append(soft_end(decoded, ends[-1], chars))
    return _spans(decoded, list(pairwise(ends)))


WINDOWS: Mapping[str, Callable[[bytes], list[Range]]] = {
    "fixed:1200": lambda text: fixed(text, 1200),
    "fixed:1200+200": lambda text: fixed(text, 1200, 200),
    "lines:1200": lambda text: lines(text, 1200),
}
STRATEGIES = (*WINDOWS, SYMBOL, INDEX)


def measure(files: Iterable[FileRows], touches: Mapping[str, int]) -> Boundaries:
    """What each strategy does to the functions of these files; `touches` are commits by path."""
    tallies: dict[str, dict[str, Tally]] = {name: {} for name in STRATEGIES}
    severed: list[Severed] = []
    headers = torn = 0
    for file in files:
        ends = [c.end for c in file.chunks if c.unit == "file_header" and c.part == c.parts]
        headers += len(ends)
        torn += sum(any(start < end < stop for start, stop in file.symbols) for end in ends)
        if not file.functions:
            continue
        fates = {name: _fates(file, _Spans(cut(file.text))) for name, cut in WINDOWS.items()}
        fates[SYMBOL] = [Fate("intact") for _ in file.functions]
        fates[INDEX] = index_fates(file)
        for name, of in fates.items():
            by_language = tallies[name]
            by_language[file.language] = by_language.get(file.language, Tally()) + _tally(of)
        for at, function in enumerate(file.functions):
            by = tuple(name for name in STRATEGIES if fates[name][at].field == "split")
            if by:
                severed.append(_severed(file, function, touches.get(file.path, 0), by))
    severed.sort(key=lambda s: (-s.lines * (1 + s.touches), s.path, s.start_line))
    return Boundaries(tallies, severed, headers, torn)


def index_fates(file: FileRows) -> list[Fate]:
    """What the index made of each function of a file."""
    source = [c for c in file.chunks if c.rendering == "source"]
    whole = _Spans((c.start, c.end) for c in source if c.unit != "window")
    parts: dict[str, list[Range]] = {}
    for chunk in file.chunks:
        if chunk.unit == "symbol" and chunk.parts > 1 and chunk.symbol is not None:
            spans = parts.setdefault(chunk.symbol, [])
            if chunk.part == 1:
                spans.append((chunk.start, chunk.end))
            else:
                spans[-1] = (spans[-1][0], chunk.end)
    names = any(c.unit == "names" for c in file.chunks)
    fates = _fates(file, _Spans((c.start, c.end) for c in source))
    for at, f in enumerate(file.functions):
        if whole.holds(f.start, f.end):
            fates[at] = Fate("intact")
        elif any(start <= f.start and f.end <= end for start, end in parts.get(f.symbol, ())):
            fates[at] = Fate("parts")
        elif names:
            fates[at] = Fate("names")
        elif fates[at].field == "intact":  # whole, but in a window
            fates[at] = Fate("split")
    return fates


class _Spans:
    """Ranges in any order, nested or overlapping, asked for one that holds another."""

    def __init__(self, ranges: Iterable[Range]) -> None:
        ordered = sorted(ranges)
        self._starts = [start for start, _ in ordered]
        self._furthest = list(accumulate((end for _, end in ordered), max))

    def holds(self, start: int, end: int) -> bool:
        at = bisect_right(self._starts, start)
        return at > 0 and self._furthest[at - 1] >= end


def _fates(file: FileRows, spans: _Spans) -> list[Fate]:
    source = Source(file.text)
    fates = []
    for f in file.functions:
        if spans.holds(f.start, f.end):
            fates.append(Fate("intact"))
        else:
            name_line_end = source.offset_after_line(f.name_line) - 1
            named = min(max(name_line_end, f.start + 1), f.end) - 1
            fates.append(Fate("split", separated=not spans.holds(named, f.end)))
    return fates


def _tally(fates: Sequence[Fate]) -> Tally:
    counts = {"intact": 0, "parts": 0, "names": 0, "split": 0}
    for fate in fates:
        counts[fate.field] += 1
    return Tally(len(fates), **counts, separated=sum(f.separated for f in fates))


def _severed(file: FileRows, function: FunctionRow, touches: int, by: tuple[str, ...]) -> Severed:
    length = function.end_line - function.start_line + 1
    return Severed(file.path, file.language, function.symbol, function.start_line, length, touches, by)


def _spans(text: str, chars: Sequence[Range]) -> list[Range]:
    """Ranges of characters as ranges of bytes; both ends rise from each to the next."""
    if text.isascii():
        return list(chars)
    edges = sorted({edge for span in chars for edge in span})
    sizes = (
        len(text[a:b].encode("utf-8", "surrogateescape")) for a, b in zip([0, *edges], edges, strict=False)
    )
    offsets = dict(zip(edges, accumulate(sizes), strict=True))
    return [(offsets[start], offsets[end]) for start, end in chars]
