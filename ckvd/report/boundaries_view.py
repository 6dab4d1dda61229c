"""`ckvd report boundaries`: how many functions each cutting strategy severs, and which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import ConsoleRenderable, Group
from rich.text import Text

from ckvd.model import display_path
from ckvd.place import Place
from ckvd.report import boundaries, terminal
from ckvd.report.boundaries import INDEX, STRATEGIES, SYMBOL, Boundaries, Severed, Tally
from ckvd.report.file_rows import file_rows
from ckvd.report.table import Cell, Fitting, Flow
from ckvd.report.terminal import cells, counted, number, percent
from ckvd.worktree.git import Repo
from ckvd.worktree.git.history import RECENT, touches

SHOWN = 25
"""Severed functions that the text names; the JSON names all."""
_HEADS = ("functions", "intact", "in parts", "names", "split", "sig|tail", "share")


@dataclass(frozen=True, slots=True)
class Report:
    """`stale` are the files left out because they are not on disk as they were indexed.

    `changed` has the recent commits that changed each file, empty where there is no history.
    """

    found: Boundaries
    stale: Sequence[str]
    changed: Mapping[str, int]


def collect(where: Place) -> Report:
    """Raises StoreError where the database cannot be read; one that is not there yet has no functions."""
    changed = {}
    if where.tree.git_dir is not None:
        changed = {display_path(path): n for path, n in touches(Repo(where.tree)).items()}
    stale: list[str] = []
    return Report(boundaries.measure(file_rows(where, stale), changed), stale, changed)


def as_json(report: Report) -> dict[str, Any]:
    """`share` is the share of functions that are split (0 to 1), null of none; lines count from 1.

    `commits` of a severed function are those of the latest 500 that changed its file, null outside git.
    """
    found = report.found
    return {
        "strategies": {
            name: {
                **_tally(found.total(name)),
                "languages": {language: _tally(t) for language, t in _largest(found.tallies[name])},
            }
            for name in STRATEGIES
        },
        "severed": [
            {
                "path": s.path,
                "language": s.language,
                "symbol": s.symbol,
                "start_line": s.start_line,
                "lines": s.lines,
                "commits": s.touches if report.changed else None,
                "by": list(s.by),
            }
            for s in found.severed
        ],
        "file_headers": {"total": found.file_headers, "torn": found.torn_file_headers},
        "stale": list(report.stale),
    }


def _tally(t: Tally) -> dict[str, Any]:
    return {
        "functions": t.functions,
        "intact": t.intact,
        "parts": t.parts,
        "names": t.names,
        "split": t.split,
        "signature_separated_from_tail": t.separated,
        "share": t.share,
    }


def _largest(tallies: Mapping[str, Tally]) -> list[tuple[str, Tally]]:
    return sorted(tallies.items(), key=lambda item: (-item[1].functions, item[0]))


def show(report: Report) -> None:
    terminal.show(screen(report))


def screen(report: Report) -> ConsoleRenderable:
    """A row a strategy, shares by language, then the severed functions, long and often changed first."""
    found = report.found
    total = found.total(INDEX)
    parts: list[ConsoleRenderable] = []
    if not total.functions:
        parts.append(cells("There is no function in the index."))
    else:
        headers = (
            f"{number(found.file_headers)} file headers, {number(found.torn_file_headers)} end in a symbol"
        )
        parts += [
            Flow(cells((counted(total.functions, "function"), "bold"), f" · {headers}")),
            Text(),
            _strategies(found),
            Text(),
            _languages(found),
        ]
        parts += _severed(report)
    if report.stale:
        n = len(report.stale)
        files = "1 file differs" if n == 1 else f"{number(n)} files differ"
        count = "counts" if n == 1 else "count"
        parts += [
            Text(),
            cells((f"{files} from the index and {count} for nothing; run 'ckvd index'", "yellow")),
        ]
    return Group(*parts)


def _strategies(found: Boundaries) -> ConsoleRenderable:
    rows: list[Sequence[Cell]] = []
    for name in STRATEGIES:
        t = found.total(name)
        counts = (t.functions, t.intact, t.parts, t.names, t.split, t.separated)
        style = "bold" if name == INDEX else ""
        rows.append((cells((name, style)), *map(number, counts), _share(t)))
    spare = ("names", "sig|tail", "in parts", "intact", "functions")
    return Fitting(("strategy", *_HEADS), rows, spare=spare)


def _languages(found: Boundaries) -> ConsoleRenderable:
    """The share that each strategy splits (`symbol` by definition none); what the index keeps in parts."""
    strategies = [name for name in STRATEGIES if name != SYMBOL]
    rows: list[Sequence[Cell]] = []
    for language, t in _largest(found.tallies[INDEX]):
        shares = (_share(found.tallies[name][language]) for name in strategies)
        rows.append((cells(language), number(t.functions), *shares, number(t.parts)))
    spare = ("fixed:1200+200", "in parts", "lines:1200", "functions")
    return Fitting(("share", "functions", *strategies, "in parts"), rows, spare=spare)


def _share(t: Tally) -> Text:
    if t.share is None:
        return Text("-", "dim")
    return Text(percent(t.share), "green" if t.share == 0 else "")


def _severed(report: Report) -> list[ConsoleRenderable]:
    """Those that the index severs before those that windows would."""
    severed = sorted(report.found.severed, key=lambda s: INDEX not in s.by)
    if not severed:
        return []
    rows: list[Sequence[Cell]] = []
    for s in severed[:SHOWN]:
        place = cells(f"{s.path}:{s.start_line} ", (s.symbol, "bold"))
        rows.append((number(s.lines), *([number(s.touches)] if report.changed else []), _by(s), place))
    heads = ("lines", *(("commits",) if report.changed else ()), "severed by", "where")
    table = Fitting(heads, rows, spare=("commits", "severed by"), words="where", left=("severed by",))
    more = f", the first {SHOWN} of them here; --json has all" if len(severed) > SHOWN else ""
    what = f"commits: those of the latest {RECENT} that changed the file" if report.changed else ""
    verb = "is" if len(severed) == 1 else "are"
    title = f"{counted(len(severed), 'function')} {verb} severed by a strategy{more}"
    return [Text(), cells((title, "bold")), *([cells((what, "dim"))] if what else []), table]


def _by(s: Severed) -> Text:
    if s.by[: len(boundaries.WINDOWS)] == tuple(boundaries.WINDOWS):
        return cells("all windows", *([(" and the index", "red")] if INDEX in s.by else []))
    return cells(", ".join(s.by))
