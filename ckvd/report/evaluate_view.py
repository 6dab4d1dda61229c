"""What `ckvd eval` prints for people."""

from __future__ import annotations

from rich.console import ConsoleRenderable, Group

from ckvd.report import terminal
from ckvd.report.evaluate import METRICS, Evaluation
from ckvd.report.table import Fitting
from ckvd.report.terminal import cells

_SPARE = ("ndcg@10", "recall@5", "recall@1", "severed", "queries", "recall@10")


def show(found: Evaluation) -> None:
    terminal.show(screen(found))


def screen(found: Evaluation) -> ConsoleRenderable:
    """A line a mode and unit, each figure as mean and half its interval."""
    rows = []
    for g in found.groups:
        figures = [f"{f.mean:.3f} ±{(f.high - f.low) / 2:.3f}" for f in g.figures.values()]
        rows.append((g.mode, g.unit, str(g.queries), str(g.severed), *figures))
    heads = ("mode", "unit", "queries", "severed", *METRICS)
    parts: list[ConsoleRenderable] = [cells("There was nothing to ask: no query has an answer in the index.")]
    if any(g.queries for g in found.groups):
        parts = [Fitting(heads, rows, spare=_SPARE, left=("unit",))]
    for g in found.groups:
        if g.unit == "all" and g.above:
            shares = ", ".join(f"{kind} {share:.3f}" for kind, share in g.above.items())
            parts.append(cells(f"{g.mode}: share of queries with one above the answer: {shares}"))
    if found.missing:
        parts.append(cells(f"{len(found.missing)} queries left out: no answer of theirs is in the index"))
    return Group(*parts)
