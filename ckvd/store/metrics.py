"""What each hour of work was like, a row an hour: outcomes, sizes, latencies, rates. Makes no revision."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, cast

import apsw

HOURS_KEPT = 720
"""Rows that are kept, the latest: as many hours in which something was done."""

FOLDERS = 20
"""Folders that a row names, those with the most damage."""

_OCTAVE = 8  # buckets to each doubling: a latency is known within 9 percent


def bucket(seconds: float) -> int:
    """The bucket of a latency: bucket b holds those of at most 2^(b/8) ms, and 0 all below 1 ms."""
    return max(0, math.ceil(_OCTAVE * math.log2(max(seconds * 1000, 1.0))))


def bound_ms(of: int) -> float:
    """The longest latency that a bucket holds, in ms."""
    return float(2 ** (of / _OCTAVE))


def quantile(counts: Mapping[int, int], share: float) -> int:
    """The least value that `share` of all do not exceed (nearest rank), of values given as how often each
    occurs; 0 of none."""
    left = share * sum(counts.values())
    for value, n in sorted(counts.items()):
        left -= n
        if left <= 0:
            return value
    return 0


def quantile_ms(buckets: Mapping[int, int], share: float) -> float | None:
    """The bound of the bucket in which the quantile lies; None of no latencies."""
    return round(bound_ms(quantile(buckets, share)), 1) if buckets else None


@dataclass(slots=True)
class Sample:
    """What is to be added to an hour. Latencies are histograms by `bucket`, one entry a batch of edits:
    `rows` from its first event to the commit, `vectors` from there to its last vector."""

    rows: Counter[int] = field(default_factory=Counter)
    vectors: Counter[int] = field(default_factory=Counter)
    files: int = 0
    files_s: float = 0.0
    embedded: int = 0
    embedded_s: float = 0.0
    changed: bool = False
    """Whether rows changed, so that outcomes and sizes are others."""

    @property
    def worked(self) -> bool:
        """Whether there is anything to add."""
        return bool(self.files or self.embedded or self.rows or self.vectors)


class Metric(NamedTuple):
    """A row of `metrics`; `languages`, `directories` and the histograms are JSON."""

    hour: int
    revision: int
    files: int
    ok: int
    partial: int
    failed: int
    languages: str
    directories: str
    chunks: int
    tokens_median: int
    tokens_p90: int
    tokens_max: int
    edits: int
    row_p50_ms: float | None
    row_p99_ms: float | None
    vector_p50_ms: float | None
    vector_p99_ms: float | None
    files_indexed: int
    files_per_s: float | None
    vectors: int
    vectors_per_s: float | None
    row_histogram: str
    vector_histogram: str


def record(db: apsw.Connection, hour: int, sample: Sample, state: bool) -> None:
    """Adds `sample` to the row of `hour` (Unix seconds of its start), within the caller's transaction.

    Outcomes and sizes are looked at anew with `state`, which reads the narrow part of all chunks, and where
    there is no row of that hour yet.
    """
    worked = db.execute(
        "SELECT row_histogram, vector_histogram, indexed, indexed_s, vectors, vectors_s FROM metric"
        " WHERE hour = ?",
        (hour,),
    ).fetchone()
    if worked is None:
        db.execute("INSERT INTO metric(hour) VALUES(?)", (hour,))
        worked = ("{}", "{}", 0, 0.0, 0, 0.0)
        state = True
    rows, vectors = _added(worked[0], sample.rows), _added(worked[1], sample.vectors)
    db.execute(
        "UPDATE metric SET revision = (SELECT value FROM meta_kv WHERE key = 'revision'),"
        " edits = ?, row_p50_ms = ?, row_p99_ms = ?, vector_p50_ms = ?, vector_p99_ms = ?, indexed = ?,"
        " indexed_s = ?, vectors = ?, vectors_s = ?, row_histogram = ?, vector_histogram = ? WHERE hour = ?",
        (
            *(rows.total(), quantile_ms(rows, 0.5), quantile_ms(rows, 0.99)),
            *(quantile_ms(vectors, 0.5), quantile_ms(vectors, 0.99)),
            *(worked[2] + sample.files, worked[3] + sample.files_s),
            *(worked[4] + sample.embedded, worked[5] + sample.embedded_s),
            *(json.dumps(rows), json.dumps(vectors), hour),
        ),
    )
    if state:
        _note_state(db, hour)
    db.execute(
        "DELETE FROM metric WHERE hour <= (SELECT hour FROM metric ORDER BY hour DESC LIMIT 1 OFFSET ?)",
        (HOURS_KEPT,),
    )


def histogram(stored: str) -> Counter[int]:
    """A histogram as it is stored: JSON, from bucket to number."""
    return Counter({int(of): n for of, n in json.loads(stored).items()})


def _added(stored: object, new: Counter[int]) -> Counter[int]:
    return histogram(str(stored)) + new


_OUTCOMES = "count(*), sum(parse_status = 'ok'), sum(parse_status = 'partial'), sum(parse_status = 'failed')"


def _note_state(db: apsw.Connection, hour: int) -> None:
    (totals,) = db.execute(f"SELECT {_OUTCOMES} FROM file").fetchall()
    languages = db.execute(
        f"SELECT language, {_OUTCOMES} FROM file WHERE language IS NOT NULL GROUP BY 1 ORDER BY 1"
    ).fetchall()
    directories = db.execute(
        "SELECT coalesce(nullif(rtrim(rtrim(path, replace(path, '/', '')), '/'), ''), '.') AS folder,"
        f" {_OUTCOMES} FROM file GROUP BY 1 HAVING sum(parse_status IN ('partial', 'failed'))"
        " ORDER BY sum(parse_status IN ('partial', 'failed')) DESC, folder LIMIT ?",
        (FOLDERS,),
    ).fetchall()
    sizes = db.execute("SELECT tokens, count(*) FROM chunk GROUP BY tokens").fetchall()
    tokens = {cast(int, size): cast(int, n) for size, n in sizes}
    db.execute(
        "UPDATE metric SET files = ?, ok = ?, partial = ?, failed = ?, languages = ?, directories = ?,"
        " chunks = ?, tokens_median = ?, tokens_p90 = ?, tokens_max = ? WHERE hour = ?",
        (
            *(n or 0 for n in totals),
            *(_json(languages), _json(directories), sum(tokens.values())),
            *(quantile(tokens, share) for share in (0.5, 0.9, 1.0)),
            hour,
        ),
    )


def _json(groups: list[tuple[object, ...]]) -> str:
    return json.dumps({str(name): counts for name, *counts in groups}, ensure_ascii=False)
