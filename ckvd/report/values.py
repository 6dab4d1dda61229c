"""The values that status and the parse report are made of: frozen, and nothing here touches the outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ckvd.model import ParseStatus, Range, Strategy
from ckvd.store.metrics import Metric
from ckvd.store.reader import ChunkTotals, Outcome

STRATEGIES: tuple[Strategy, ...] = ("symbol", "section", "window", "names", "skipped")
PARSE_STATUSES: tuple[ParseStatus, ...] = ("ok", "partial", "failed", "none")
NO_CHUNKS = ChunkTotals({}, 0, 0, Counter())


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of files by parse outcome; those that were not parsed count in `files` alone."""

    files: int = 0
    ok: int = 0
    partial: int = 0
    failed: int = 0

    @property
    def parsed(self) -> int:
        return self.ok + self.partial + self.failed

    @property
    def unclean(self) -> int:
        return self.partial + self.failed

    @property
    def success(self) -> float | None:
        """The share of parsed files without any error, 0 to 1; None where none was parsed."""
        return self.ok / self.parsed if self.parsed else None


def tallies(rows: Iterable[tuple[str, str, int]]) -> dict[str, Tally]:
    """(group, parse status, number of files) rows by group."""
    counts: dict[str, dict[str, int]] = {}
    for group, parse_status, number in rows:
        of = counts.setdefault(group, {})
        of[parse_status] = of.get(parse_status, 0) + number
    return {
        group: Tally(sum(of.values()), of.get("ok", 0), of.get("partial", 0), of.get("failed", 0))
        for group, of in counts.items()
    }


def worst_first(groups: Mapping[str, Tally]) -> list[tuple[str, Tally]]:
    """The smallest share of clean files first, then most files with damage, most failed, the larger, by name.

    Groups in which nothing was parsed come last.
    """

    def rank(group: tuple[str, Tally]) -> tuple[float, int, int, int, str]:
        name, t = group
        share = 2.0 if t.success is None else t.success
        return share, -t.unclean, -t.failed, -t.files, name

    return sorted(groups.items(), key=rank)


def largest_first(groups: Mapping[str, Tally]) -> list[tuple[str, Tally]]:
    return sorted(groups.items(), key=lambda g: (-g[1].files, g[0]))


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that did not parse cleanly or could not be read.

    `line` is that of the first damage; `damage` are the broken ranges and `bytes` their sum, offsets in the
    raw file; `symbols` counts those that were kept all the same.
    """

    path: str
    path_bytes: bytes
    language: str | None
    strategy: str
    parse_status: str
    reason: str | None
    detail: str | None
    line: int | None
    bytes: int
    size: int
    blob_oid: str | None
    symbols: int
    damage: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one database said at one moment; the default is that of one that has no rows yet."""

    meta: Mapping[str, str | int | float | None] = field(default_factory=dict)
    outcomes: Sequence[Outcome] = ()
    directories: Mapping[str, Tally] = field(default_factory=dict)
    failures: Sequence[Failure] = ()
    chunks: ChunkTotals = NO_CHUNKS
    pending_vectors: int = 0
    model: str | None = None
    """The model that serves, None where there is none."""
    dimensions: int = 0
    db_bytes: int = 0
    wal_bytes: int = 0
    collectable_bytes: int = 0
    metrics: Sequence[Metric] = ()
    """The latest hours in which something was done, oldest first."""

    @property
    def files(self) -> int:
        return sum(o.files for o in self.outcomes)

    @property
    def by_strategy(self) -> dict[str, int]:
        return _counted((o.strategy, o.files) for o in self.outcomes)

    @property
    def by_parse_status(self) -> dict[str, int]:
        return _counted((o.parse_status, o.files) for o in self.outcomes)

    @property
    def skipped(self) -> dict[str, int]:
        """Files that are listed and not indexed, by reason, most first."""
        return by_reason(o for o in self.outcomes if o.strategy == "skipped")

    @property
    def languages(self) -> dict[str, Tally]:
        return by_language(self.outcomes)


def by_language(outcomes: Iterable[Outcome]) -> dict[str, Tally]:
    """Files without a language are in none."""
    return tallies((o.language, o.parse_status, o.files) for o in outcomes if o.language is not None)


def by_reason(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Files by why they are not `ok` or not indexed in full, most first."""
    found = _counted((o.reason, o.files) for o in outcomes if o.reason is not None)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def total(groups: Iterable[Tally]) -> Tally:
    sums = [(t.files, t.ok, t.partial, t.failed) for t in groups]
    return Tally(*map(sum, zip(*sums, strict=True))) if sums else Tally()


def _counted(rows: Iterable[tuple[str, int]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name, number in rows:
        counts[name] = counts.get(name, 0) + number
    return counts
