"""Values → Plotly figures, as the JSON that plotly.js draws. Colours of text and grids are the page's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import plotly.graph_objects as go

from ckvd.report.boundaries import STRATEGIES, Boundaries
from ckvd.report.trend import moment
from ckvd.report.values import Tally, largest_first
from ckvd.store.metrics import Metric

# Told apart with any colour vision, and readable on white and on black.
GOOD, WARN, BAD, PLAIN = "#2a9d8f", "#e9a23b", "#d1495b", "#7c83a8"
_ON_COLOUR = "#10151c"
_UNITS = {
    "symbol": "#4c78a8",
    "section": "#72b7b2",
    "file_header": "#b279a2",
    "module": "#e9a23b",
    "window": "#d1495b",
    "names": "#9d755d",
    "file": "#79706e",
}
_SCALE = ((0.0, BAD), (0.8, WARN), (1.0, GOOD))
_STRATEGY = {
    "fixed:1200": "windows of 1,200 characters",
    "fixed:1200+200": "the same, 200 overlapping",
    "lines:1200": "windows at blank lines",
    "symbol": "one chunk a function",
    "index": "this index",
}
HALF_AN_HOUR = timedelta(minutes=30)
BINS = 32
FOLDERS = 1500
"""Folders that the treemap draws; smaller ones count in the folder above them."""


def sizes(by_unit: Mapping[str, Mapping[int, int]], limit: int | None) -> str:
    """The histogram of tokens a chunk, stacked by unit; `by_unit` says how often each number occurs."""
    largest = max((tokens for of in by_unit.values() for tokens in of), default=1)
    width = -(-max(largest, limit or 1) // BINS)
    figure = _figure(barmode="stack", bargap=0.04)
    for unit, counts in sorted(by_unit.items(), key=lambda item: -sum(item[1].values())):
        bins = [0] * -(-largest // width)
        for tokens, n in counts.items():  # what is as long as the limit stands before its line
            bins[max(0, tokens - 1) // width] += n
        figure.add_bar(
            x=[(i + 0.5) * width for i in range(len(bins))],
            y=bins,
            width=width * 0.94,
            name=unit,
            marker_color=_UNITS.get(unit, PLAIN),
            customdata=[f"{i * width + 1} to {(i + 1) * width} tokens" for i in range(len(bins))],
            hovertemplate="%{customdata}: %{y:,}<extra>" + unit + "</extra>",
        )
    if limit is not None:
        figure.add_vline(x=limit, line_dash="dot", line_color=BAD)
    figure.update_xaxes(title_text="tokens")
    figure.update_yaxes(title_text="chunks")
    return _json(figure)


def languages(groups: Mapping[str, Tally]) -> str:
    """The share of parsed files by outcome, a bar a language, those with most files on top."""
    shown = [(name, t) for name, t in largest_first(groups) if t.parsed][::-1]
    figure = _figure(barmode="stack", bargap=0.25, height=90 + 26 * len(shown))
    for outcome, colour in (("ok", GOOD), ("partial", WARN), ("failed", BAD)):
        counts = [getattr(t, outcome) for _, t in shown]
        figure.add_bar(
            x=[n / t.parsed for n, (_, t) in zip(counts, shown, strict=True)],
            y=[f"{name} ({t.parsed:,})" for name, t in shown],
            orientation="h",
            name=outcome,
            marker_color=colour,
            customdata=counts,
            hovertemplate="%{y}: %{customdata:,} " + outcome + " (%{x:.1%})<extra></extra>",
        )
    figure.update_xaxes(tickformat=".0%", range=[0, 1.001])  # else the last tick has no label
    return _json(figure)


def folders(groups: Mapping[str, Tally], root: str) -> str:
    """A treemap of the folders: area by parsed files, colour by the share of them without an error."""
    totals = _folded({name: t for name, t in groups.items() if t.parsed})
    ids = list(totals)
    figure = _figure(height=460)
    figure.add_treemap(
        ids=[name or "." for name in ids],
        labels=[name.rpartition("/")[2] or root for name in ids],
        parents=["" if not name else name.rpartition("/")[0] or "." for name in ids],
        values=[totals[name].parsed for name in ids],
        branchvalues="total",
        maxdepth=3,
        tiling_pad=2,
        marker={
            "colors": [totals[name].success for name in ids],
            "colorscale": [list(stop) for stop in _SCALE],
            "cmin": 0,
            "cmax": 1,
            "line": {"width": 1, "color": "rgba(255,255,255,0.7)"},
        },
        textfont_color=_ON_COLOUR,
        pathbar_textfont_color=_ON_COLOUR,
        customdata=[
            f"{t.ok:,} ok, {t.partial:,} partial, {t.failed:,} failed" for t in map(totals.__getitem__, ids)
        ],
        hovertemplate="%{id}<br>%{customdata}<extra></extra>",
    )
    # No name is written too small to be read.
    figure.update_layout(margin={"l": 4, "r": 4, "t": 4, "b": 4}, uniformtext={"minsize": 9, "mode": "hide"})
    return _json(figure)


def _folded(groups: Mapping[str, Tally]) -> dict[str, Tally]:
    """Each folder with all below it, the root ("") first; beyond FOLDERS, the smallest are left out."""
    totals: dict[str, Tally] = {"": Tally()}
    for name, tally in groups.items():
        path = "" if name == "." else name
        while True:
            totals[path] = _sum(totals.get(path, Tally()), tally)
            if not path:
                break
            path = path.rpartition("/")[0]
    # A folder holds all that is in those below it, so that none is kept without those above it.
    largest = sorted(totals, key=lambda name: (-totals[name].files, name.count("/") if name else -1, name))
    return {name: totals[name] for name in largest[:FOLDERS]}


def _sum(a: Tally, b: Tally) -> Tally:
    return Tally(a.files + b.files, a.ok + b.ok, a.partial + b.partial, a.failed + b.failed)


def boundaries(found: Boundaries) -> str:
    """The share of functions that each cutting strategy severs, and of those that the size cap divides."""
    totals = [(name, found.total(name)) for name in STRATEGIES][::-1]
    figure = _figure(barmode="stack", bargap=0.3, height=300)
    for field, words, colour in (
        ("split", "severed", BAD),
        ("parts", "in parts, each with its header", PLAIN),
        ("names", "names alone", "#9d755d"),
    ):
        counts = [getattr(t, field) for _, t in totals]
        figure.add_bar(
            x=[n / t.functions if t.functions else 0 for n, (_, t) in zip(counts, totals, strict=True)],
            y=[_STRATEGY.get(name, name) for name, _ in totals],
            orientation="h",
            name=words,
            marker_color=colour,
            customdata=counts,
            hovertemplate="%{y}: %{customdata:,} (%{x:.1%})<extra>" + words + "</extra>",
        )
    figure.update_xaxes(tickformat=".0%", rangemode="tozero", title_text="functions")
    return _json(figure)


def outcomes(hours: Sequence[Metric]) -> str:
    """The share of parsed files without an error, hour by hour, all and by language."""
    figure = _figure(height=280)
    when = [moment(h.hour) for h in hours]
    success = [Tally(h.files, h.ok, h.partial, h.failed).success for h in hours]
    _line(figure, when, success, "all languages", GOOD)
    _hours(figure, when)
    known = [share for share in success if share is not None]
    # One share alone has no range: then all that a share can be.
    span = (min(known), 1.0) if known and min(known) < 1 and len(known) > 1 else (0.0, 1.0)
    room = (span[1] - span[0]) * 0.03
    figure.update_yaxes(tickformat=".1%", title_text="clean", range=[max(0, span[0] - room), span[1] + room])
    return _json(figure)


def latencies(hours: Sequence[Metric]) -> str:
    """Medians and 99th percentiles of an edit's latencies, hour by hour."""
    edited = [h for h in hours if h.edits]
    when = [moment(h.hour) for h in edited]
    figure = _figure(height=300)
    for name, values, colour, dash in (
        ("row, median", [h.row_p50_ms for h in edited], "#4c78a8", "solid"),
        ("row, p99", [h.row_p99_ms for h in edited], "#4c78a8", "dot"),
        ("vector, median", [h.vector_p50_ms for h in edited], WARN, "solid"),
        ("vector, p99", [h.vector_p99_ms for h in edited], WARN, "dot"),
    ):
        _line(figure, when, values, name, colour, dash)
    _hours(figure, when)
    figure.update_yaxes(type="log", title_text="ms", dtick=1)
    return _json(figure)


def _hours(figure: go.Figure, when: Sequence[datetime]) -> None:
    """The axis of time, half an hour wider than what is on it: one hour alone would be an instant."""
    if when:
        figure.update_xaxes(type="date", range=[min(when) - HALF_AN_HOUR, max(when) + HALF_AN_HOUR])


def _line(
    figure: go.Figure,
    when: Sequence[object],
    values: Sequence[float | None],
    name: str,
    colour: str,
    dash: str = "solid",
) -> None:
    figure.add_scatter(
        x=list(when),
        y=list(values),
        name=name,
        mode="lines+markers",
        line={"color": colour, "dash": dash, "width": 2},
        marker={"size": 5},
        connectgaps=True,
    )


def _figure(height: int = 340, **layout: object) -> go.Figure:
    figure = go.Figure()
    figure.update_layout(
        template="none",
        height=height,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "traceorder": "normal"},
        dragmode=False,
        **layout,
    )
    figure.update_xaxes(automargin=True, fixedrange=True, zeroline=False)
    figure.update_yaxes(automargin=True, fixedrange=True, zeroline=False, title_standoff=12)
    return figure


def _json(figure: go.Figure) -> str:
    # Inside a script element nothing may look like its end.
    text: str = figure.to_json()
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
