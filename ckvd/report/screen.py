"""The one screen of `ckvd status`: values → renderables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from ckvd.model import Strategy, display_path
from ckvd.report.pace import Pace
from ckvd.report.state import Status
from ckvd.report.table import Fitting, Flow, pairs
from ckvd.report.terminal import bar, brief, cells, counted, duration, file_sizes, number, percent
from ckvd.report.values import STRATEGIES, Tally, largest_first, worst_first

LANGUAGES = 12
FOLDERS = 5
_BAR = 12
_FAIR = 0.8
"""The share of clean files below which a bar is red."""

_CUT: Mapping[Strategy, str] = {
    "symbol": "by symbol",
    "section": "by section",
    "window": "in windows",
    "names": "names only",
    "skipped": "skipped",
}

_LABEL = "dim"
_GOOD, _WARN, _BAD = "green", "yellow", "red"


def screen(status: Status) -> ConsoleRenderable:
    """State, outcomes, what is wrong; each line stands by itself when piped."""
    parts: list[ConsoleRenderable] = [_state(status)]
    if not status.built:
        parts.append(_facts([("index", _nothing(status))]))
        parts += _remarks(status)
        return Group(*parts)
    parts.append(_facts(_outcome(status)))
    if status.data.languages:
        parts += [Text(), _languages(status)]
    if folders := [(n, t) for n, t in worst_first(status.data.directories)[:FOLDERS] if t.unclean]:
        parts += [Text(), tallies("worst folders", folders)]
    parts += [Text(), _facts(_sizes(status))]
    parts += _remarks(status)
    return Group(*parts)


def _mark(status: Status) -> tuple[str, str]:
    if status.stalled:
        return "✖", _BAD
    return {"watching": ("●", _GOOD), "indexing": ("●", _WARN), "stopped": ("○", _LABEL)}[status.state]


def _state(status: Status) -> ConsoleRenderable:
    mark, style = _mark(status)
    state = "stalled" if status.stalled else status.state
    line = cells((f"{mark} {state}", f"bold {style}"), _since(status))
    if status.daemon and status.daemon.pid:
        line.append_text(cells(f" · pid {status.daemon.pid}"))
    head = _head(*status.head)
    if status.behind and status.behind.head not in (None, status.head):
        head += f"{', now ' if head else ''}{_head(*status.behind.head)}"
    return Group(
        Flow(line),
        Flow(cells((display_path(status.root), "bold"), *([(f"  {head}", "cyan")] if head else [])), "  "),
        Text(),
    )


def _since(status: Status) -> str:
    if status.since is None:
        return ""
    moment = datetime.fromtimestamp(status.since).astimezone()
    today = datetime.fromtimestamp(status.now).astimezone().date() == moment.date()
    at = moment.strftime("%H:%M" if today else "%Y-%m-%d %H:%M")
    word = "last sync" if status.state == "stopped" else "since"
    ago = duration(status.now - status.since) + (" ago" if status.state == "stopped" else "")
    return f" · {word} {at} ({ago})"


def _head(ref: str | None, commit: str | None) -> str:
    name = ref.removeprefix("refs/heads/") if ref else "detached" if commit else ""
    return " @ ".join(part for part in (name, (commit or "")[:10]) if part)


def _nothing(status: Status) -> Text:
    if status.daemon:
        return cells("being built; the first rows come soon")
    return cells(f"none yet at {display_path(status.db)}; 'ckvd index' builds it, 'ckvd run' keeps it true")


def _facts(rows: Iterable[tuple[str, Text]]) -> Table:
    return pairs(((label, Flow(text)) for label, text in rows), 9)


def _counts(counts: Mapping[str, int], styles: Mapping[str, str] | None = None) -> Text:
    styles = styles or {}
    shown = [cells((f"{number(n)} {name}", styles.get(name, ""))) for name, n in counts.items() if n]
    return Text(" · ").join(shown) if shown else Text("none")


def _sum(total: int, counts: Mapping[str, int]) -> Text:
    text = cells((number(total), "bold"))
    return text.append(" · ").append_text(_counts(counts)) if total else text


def _outcome(status: Status) -> Iterator[tuple[str, Text]]:
    data = status.data
    by_status = {name if name != "none" else "not parsed": n for name, n in data.by_parse_status.items()}
    order = ("ok", "partial", "failed", "not parsed")
    styles = {"ok": _GOOD, "partial": _WARN, "failed": f"bold {_BAD}"}
    yield "revision", cells((number(status.revision), "bold"), *_pending(status))
    by_strategy = {_CUT[name]: data.by_strategy.get(name, 0) for name in STRATEGIES}
    yield "files", _sum(data.files, by_strategy)
    yield "parsed", _counts({name: by_status.get(name, 0) for name in order}, styles)
    if data.skipped:
        yield "skipped", _counts(data.skipped)


def _pending(status: Status) -> Iterator[str | tuple[str, str]]:
    files, vectors = status.pending_files, status.data.pending_vectors
    comparing = not files and status.state == "indexing" and status.behind is None
    if comparing:
        yield " · being compared with the tree", _WARN
    elif not files and not vectors:
        yield (
            (" · up to date", _GOOD)
            if status.known
            else (" · whether it is up to date cannot be told", _WARN)
        )
        return
    if files:
        yield f" · {counted(files, 'file')} behind", _WARN
        if behind := status.behind:
            counts = (("new", behind.new), ("changed", behind.changed), ("gone", behind.gone))
            yield f" ({', '.join(f'{number(len(paths))} {word}' for word, paths in counts if paths)})"
    if vectors:
        yield f" · {number(vectors)} of {number(status.data.chunks.total)} vectors pending", _WARN
    if (left := status.pending_s) is not None:
        yield f" · about {duration(max(left, 1.0))}"


def _languages(status: Status) -> ConsoleRenderable:
    groups = largest_first(status.data.languages)
    # One with damage is never among those left out for want of room.
    chosen = dict(sorted(groups, key=lambda group: not group[1].unclean)[:LANGUAGES])
    shown = [(name, tally) for name, tally in groups if name in chosen]
    return tallies("language", shown, len(groups) - len(shown))


def tallies(what: str, groups: Sequence[tuple[str, Tally]], more: int = 0) -> ConsoleRenderable:
    """A row a group: files, ok, partial, failed, and the share of those that parsed without an error.

    `more` is the number of groups left out below. A narrow terminal gets no bar, and then fewer figures.
    """
    heads = (what, "files", "ok", "partial", "failed", "", "clean")
    rows = [(cells(name), *_tally(tally)) for name, tally in groups]
    table = Fitting(heads, rows, spare=("", "ok"))
    return Group(table, Text(f"and {number(more)} more", _LABEL)) if more > 0 else table


def _tally(t: Tally) -> Iterator[Text]:
    yield Text(number(t.files))
    for n, style in ((t.ok, _GOOD), (t.partial, _WARN), (t.failed, f"bold {_BAD}")):
        yield Text(number(n), style if n else _LABEL)
    share = t.success or 0.0
    filled, empty = bar(share, _BAR) if t.parsed else ("", "")
    style = _GOOD if share == 1 else _WARN if share >= _FAIR else _BAD
    yield cells((filled, style), (empty, _LABEL))
    yield Text("-", _LABEL) if t.success is None else Text(percent(t.success))


def _sizes(status: Status) -> Iterator[tuple[str, Text]]:
    data, limit = status.data, status.limit
    chunks = data.chunks
    yield "chunks", _sum(chunks.total, chunks.by_unit)
    median, p90, largest = (number(chunks.quantile(share)) for share in (0.5, 0.9, 1))
    sizes = cells(f"median {median} · p90 {p90} · max {largest}")
    if limit is not None:
        over = chunks.over(limit)
        sizes.append_text(cells(f" of {limit} · ", (f"{number(over)} over", _BAD if over else "")))
    cut = chunks.truncated
    split = f"{number(chunks.split_symbols)} split"
    sizes.append_text(cells(f" · {split} · ", (f"{number(cut)} truncated", _WARN if cut else "")))
    yield "tokens", sizes
    model = f"{data.model} ({data.dimensions} dimensions)" if data.model else "none: search by words alone"
    if following := data.meta.get("model_next"):
        model += f", being replaced by {following}"
    yield "model", cells(model)
    path = display_path(status.db.removeprefix(status.root.rstrip(b"/") + b"/"))
    yield "file", cells(" · ".join((path, *file_sizes(data))))
    if status.daemon and status.daemon.watch:
        yield "watch", _watch(status.daemon.watch)
    if latency := list(_latency(status.pace)):
        yield "latency", cells(" · ".join(latency))


def _latency(pace: Pace) -> Iterator[str]:
    """From an event to its row, and from there to its vector: the last, and the latest hour's quantiles."""
    kinds = (
        ("row", pace.row_ms, pace.row_p50_ms, pace.row_p99_ms),
        ("vector", pace.vector_ms, pace.vector_p50_ms, pace.vector_p99_ms),
    )
    for kind, last, p50, p99 in kinds:
        facts = [brief(last)] if last is not None else []
        if p50 is not None and p99 is not None:
            facts.append(f"(median {brief(p50)}, p99 {brief(p99)})")
        if facts:
            yield " ".join((kind, *facts))


def _watch(watch: Mapping[str, Any]) -> Text:
    facts = [str(watch.get("mode", ""))]
    polled = f"polled every {watch['poll_s']:g} s" if "poll_s" in watch else "polled"
    counts = (("watches", "folders watched"), ("polled", polled), ("overflows", "overflows made good"))
    facts += [f"{number(watch[key])} {word}" for key, word in counts if watch.get(key)]
    return cells((" · ".join(facts), _WARN if watch.get("reason") else ""))


def _remarks(status: Status) -> list[ConsoleRenderable]:
    rows = [("error", cells((line, _BAD))) for line in status.problems]
    rows += [("note", cells((line, _WARN))) for line in status.notes]
    if number_of := len(status.data.failures):
        what = counted(number_of, "file")
        rows.append(("see", cells(("ckvd status --failures", "bold"), f"  why {what} came out unclean")))
    return [Text(), _facts(rows)] if rows else []


def short(status: Status) -> str:
    """One line without colour: state, files, what is not clean, what is behind, how many errors."""
    state = "stalled" if status.stalled else status.state
    parts = [f"ckvd {state}", counted(status.data.files, "file")]
    if not status.built:
        parts[1:] = ["no index"]
    if unclean := len(status.data.failures):
        parts.append(f"{number(unclean)} unclean")
    if status.pending_files:
        parts.append(f"{number(status.pending_files)} behind")
    if status.data.pending_vectors:
        parts.append(f"{counted(status.data.pending_vectors, 'vector')} pending")
    if errors := len(status.errors):
        parts.append(counted(errors, "error"))
    return " · ".join(parts)
