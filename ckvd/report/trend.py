"""`ckvd report trend`: what each hour of work was like: rows of `metrics` → values → text or JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rich.console import ConsoleRenderable, Group
from rich.text import Text

from ckvd.place import Place
from ckvd.report import document, terminal
from ckvd.report.snapshot import opened
from ckvd.report.table import Fitting
from ckvd.report.terminal import brief, cells, number, percent
from ckvd.report.values import Tally
from ckvd.store.metrics import HOURS_KEPT, Metric

SHOWN = 24
"""Hours that the text shows, the latest; the JSON has all that are kept."""
_HEADS = (
    *("hour", "revision", "files", "clean", "chunks", "tokens\np90", "edits"),
    *("row\np50", "row\np99", "vector\np50", "vector\np99"),
)
_SPARE = ("revision", "tokens\np90", "vector\np99", "row\np99", "chunks", "files", "vector\np50")


@dataclass(frozen=True, slots=True)
class Trend:
    """Hours in which something was done, oldest first."""

    revision: int
    hours: Sequence[Metric]


def collect(where: Place) -> Trend:
    """Raises StoreError where the database cannot be read or is not there."""
    with opened(where.db) as reader:
        return Trend(reader.revision, tuple(reader.metrics(HOURS_KEPT)))


def groups(stored: str) -> dict[str, Tally]:
    """`languages` or `directories` of a row."""
    return {name: Tally(*counts) for name, counts in json.loads(stored).items()}


def moment(hour: int) -> datetime:
    """When an hour began, in the local time zone."""
    return datetime.fromtimestamp(hour, UTC).astimezone()


def as_json(trend: Trend) -> dict[str, Any]:
    """`hour` is in ISO 8601, UTC; the rest as the view `metrics` has it, JSON columns as values."""
    return {"revision": trend.revision, "hours": [_hour(h) for h in trend.hours]}


def _hour(h: Metric) -> dict[str, Any]:
    return {
        **h._asdict(),
        "hour": datetime.fromtimestamp(h.hour, UTC).isoformat(),
        "languages": _tallies(groups(h.languages)),
        "directories": _tallies(groups(h.directories)),
        "row_histogram": json.loads(h.row_histogram),
        "vector_histogram": json.loads(h.vector_histogram),
    }


def _tallies(found: Mapping[str, Tally]) -> dict[str, Any]:
    return {name: document.tally(t) for name, t in found.items()}


def show(trend: Trend) -> None:
    terminal.show(screen(trend))


def screen(trend: Trend) -> ConsoleRenderable:
    """A row an hour, the latest last."""
    if not trend.hours:
        return cells("Nothing is noted yet; each hour of work of 'ckvd run' or 'ckvd index' leaves a row.")
    table = Fitting(_HEADS, [_cells(h) for h in trend.hours[-SHOWN:]], spare=_SPARE, gap=1)
    what = "tokens are those of a chunk; row and vector are latencies of an edit, median and p99"
    parts: list[ConsoleRenderable] = [table, Text(), cells((what, "dim"))]
    if (more := len(trend.hours) - SHOWN) > 0:
        parts.append(cells((f"and {number(more)} earlier hours, in --json", "dim")))
    return Group(*parts)


def _cells(h: Metric) -> Sequence[str]:
    success = Tally(h.files, h.ok, h.partial, h.failed).success
    latencies = (h.row_p50_ms, h.row_p99_ms, h.vector_p50_ms, h.vector_p99_ms)
    return (
        moment(h.hour).strftime("%m-%d %H:%M"),
        *(number(h.revision), number(h.files), "-" if success is None else percent(success)),
        *(number(h.chunks), number(h.tokens_p90), number(h.edits)),
        *("-" if ms is None else brief(ms) for ms in latencies),
    )
