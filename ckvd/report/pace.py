"""How fast the work goes, and how long what is pending will take. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ckvd.store.metrics import Metric


@dataclass(frozen=True, slots=True)
class Pace:
    """Latencies in ms, rates a second; None for what is not known.

    `row_ms` and `vector_ms` are those of the last edit, from its first event to the commit of its rows and
    from there to its last vector; the quantiles are of the latest hour with edits.
    """

    row_ms: float | None = None
    row_p50_ms: float | None = None
    row_p99_ms: float | None = None
    vector_ms: float | None = None
    vector_p50_ms: float | None = None
    vector_p99_ms: float | None = None
    files_per_s: float | None = None
    vectors_per_s: float | None = None

    def seconds(self, files: int, vectors: int) -> float | None:
        """How long so many files and vectors will take; None where a rate that it needs is not known."""
        work = [(n, rate) for n, rate in ((files, self.files_per_s), (vectors, self.vectors_per_s)) if n]
        if not all(rate for _, rate in work):
            return None
        return sum(n / rate for n, rate in work if rate)

    def as_json(self) -> dict[str, float | None]:
        return asdict(self)


def pace(hours: Sequence[Metric], live: Mapping[str, Any]) -> Pace:
    """From the rows of `metrics`, oldest first, and what a daemon says, whose rates are fresher."""
    edited = next((h for h in reversed(hours) if h.edits), None)
    embedded = next((h for h in reversed(hours) if h.vector_p50_ms is not None), None)
    return Pace(
        row_ms=live.get("row_ms"),
        row_p50_ms=edited.row_p50_ms if edited else None,
        row_p99_ms=edited.row_p99_ms if edited else None,
        vector_ms=live.get("vector_ms"),
        vector_p50_ms=embedded.vector_p50_ms if embedded else None,
        vector_p99_ms=embedded.vector_p99_ms if embedded else None,
        files_per_s=live.get("files_per_s") or _last(h.files_per_s for h in reversed(hours)),
        vectors_per_s=live.get("vectors_per_s") or _last(h.vectors_per_s for h in reversed(hours)),
    )


def _last(rates: Iterable[float | None]) -> float | None:
    return next((rate for rate in rates if rate), None)
