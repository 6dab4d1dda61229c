"""How big the chunks are, in characters and tokens, and what the limit did to them: rows → values. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TypeVar

from ckvd.model import Rendering, Unit

_K = TypeVar("_K")


@dataclass(frozen=True, slots=True)
class SizeRow:
    """A row of `chunks`. `chars` are those of the body; `tokens` are of the whole text that is embedded."""

    language: str | None
    unit: Unit
    chars: int
    tokens: int
    part: int
    parts: int
    rendering: Rendering
    truncated: bool


@dataclass(frozen=True, slots=True)
class Spread:
    """Quantiles by nearest rank; all 0 of no values."""

    median: int = 0
    p90: int = 0
    max: int = 0


@dataclass(frozen=True, slots=True)
class Bin:
    """`count` values from `low` to `high`, both included."""

    low: int
    high: int
    count: int


@dataclass(frozen=True, slots=True)
class Group:
    """The chunks of one language, one unit, or all.

    `over_limit` chunks have more tokens than the model takes and are cut short when embedded (`truncated`
    says which). Wholes that would be over it are instead `split` into parts or shown as `outlined`.
    """

    chunks: int
    chars: Spread
    tokens: Spread
    chars_histogram: Sequence[Bin]
    tokens_histogram: Sequence[Bin]
    over_limit: int
    split: int
    outlined: int
    truncated: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """`limit` is the model's, None without a model. Groups are the largest first."""

    limit: int | None
    total: Group
    by_language: Mapping[str | None, Group]
    by_unit: Mapping[str, Group]


@dataclass(frozen=True, slots=True)
class Storage:
    """Characters stored. `fine` and `coarse` are bodies of symbols, `bodies` those of every chunk.

    `headers_each` is what headers would take with each chunk's its own, `headers_once` with each distinct
    text stored once.
    """

    bodies: int = 0
    fine: int = 0
    coarse: int = 0
    headers_each: int = 0
    headers_once: int = 0

    @property
    def ratio(self) -> float | None:
        """What both grains take to what the fine one takes alone; None without a fine one."""
        return (self.fine + self.coarse) / self.fine if self.fine else None

    @property
    def growth_each(self) -> float | None:
        """The share of characters that headers add to bodies if none is shared; None of nothing."""
        return self.headers_each / self.bodies if self.bodies else None

    @property
    def growth_once(self) -> float | None:
        """The share of characters that headers add to bodies as they are stored; None of nothing."""
        return self.headers_once / self.bodies if self.bodies else None


@dataclass(slots=True)
class _Counts:
    chars: Counter[int] = field(default_factory=Counter)
    tokens: Counter[int] = field(default_factory=Counter)
    split: int = 0
    outlined: int = 0
    truncated: int = 0

    def add(self, row: SizeRow) -> None:
        self.chars[row.chars] += 1
        self.tokens[row.tokens] += 1
        if row.part == 1:
            self.split += row.parts > 1
            self.outlined += row.rendering == "outline" and row.unit != "names"
        self.truncated += row.truncated

    def group(self, limit: int | None) -> Group:
        return Group(
            chunks=self.tokens.total(),
            chars=spread(self.chars),
            tokens=spread(self.tokens),
            chars_histogram=histogram(self.chars),
            tokens_histogram=histogram(self.tokens),
            over_limit=0 if limit is None else sum(n for size, n in self.tokens.items() if size > limit),
            split=self.split,
            outlined=self.outlined,
            truncated=self.truncated,
        )


def measure(rows: Iterable[SizeRow], limit: int | None) -> Sizes:
    """The sizes of all chunks, by language and by unit, against the model's limit in tokens."""
    total = _Counts()
    languages: dict[str | None, _Counts] = {}
    units: dict[str, _Counts] = {}
    for row in rows:
        total.add(row)
        languages.setdefault(row.language, _Counts()).add(row)
        units.setdefault(row.unit, _Counts()).add(row)
    return Sizes(
        limit,
        total.group(limit),
        dict(sorted(_groups(languages, limit), key=lambda g: (-g[1].chunks, g[0] or ""))),
        dict(sorted(_groups(units, limit), key=lambda g: (-g[1].chunks, g[0]))),
    )


def _groups(counts: Mapping[_K, _Counts], limit: int | None) -> list[tuple[_K, Group]]:
    return [(key, of.group(limit)) for key, of in counts.items()]


def spread(values: Counter[int]) -> Spread:
    """Quantiles of values given as how often each occurs."""
    total = values.total()
    if not total:
        return Spread()
    ordered = sorted(values)
    seen = list(accumulate(values[value] for value in ordered))
    median, p90 = (ordered[bisect_left(seen, rank)] for rank in (-(-total // 2), -(-total * 9 // 10)))
    return Spread(median, p90, ordered[-1])


def histogram(values: Counter[int]) -> list[Bin]:
    """Bins that end at powers of two, as limits do (0, 1, 2, 3 to 4, 5 to 8 …), first to last."""
    counts: dict[int, int] = {}
    for value, number in values.items():
        at = (value - 1).bit_length() if value else -1
        counts[at] = counts.get(at, 0) + number
    if not counts:
        return []
    return [
        Bin((1 << at >> 1) + 1 if at > 0 else at + 1, 1 << at if at >= 0 else 0, counts.get(at, 0))
        for at in range(min(counts), max(counts) + 1)
    ]
