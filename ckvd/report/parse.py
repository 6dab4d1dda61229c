"""`ckvd report parse`: how many files parse without an error, by language, by folder and by reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import ConsoleRenderable, Group
from rich.text import Text

from ckvd.place import Place
from ckvd.report import document, terminal
from ckvd.report.screen import tallies
from ckvd.report.snapshot import directories, opened
from ckvd.report.terminal import cells, counted, number, percent
from ckvd.report.values import Tally, by_language, by_reason, total, worst_first
from ckvd.store.reader import Outcome

FOLDERS = 40
"""Folders that the text names, of those with files that are not clean; the JSON names all."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Parse outcomes of one revision. `directories` hold the files that lie directly in them."""

    revision: int
    outcomes: Sequence[Outcome]
    directories: Mapping[str, Tally]

    @property
    def languages(self) -> dict[str, Tally]:
        return by_language(self.outcomes)

    @property
    def reasons(self) -> dict[str, int]:
        """Files by why they are not `ok` or not indexed in full, most first."""
        return by_reason(self.outcomes)

    @property
    def total(self) -> Tally:
        return total(self.directories.values())


def collect(where: Place) -> Rates:
    """Raises StoreError where the database cannot be read or is not there."""
    with opened(where.places.db) as reader:
        return Rates(reader.revision, tuple(reader.outcomes()), directories(reader))


def as_json(rates: Rates) -> dict[str, Any]:
    """`success` is the share of parsed files without any error (0 to 1), null where none was parsed."""
    return {
        "revision": rates.revision,
        "total": _rated(rates.total),
        "languages": {name: _rated(t) for name, t in worst_first(rates.languages)},
        "directories": [{"path": path, **_rated(t)} for path, t in worst_first(rates.directories)],
        "reasons": rates.reasons,
    }


def _rated(t: Tally) -> dict[str, Any]:
    return {**document.tally(t), "success": t.success}


def show(rates: Rates) -> None:
    terminal.show(screen(rates))


def screen(rates: Rates) -> ConsoleRenderable:
    """Languages, folders and reasons, the worst first."""
    if not rates.outcomes:
        return cells("There is no file in the index.")
    t = rates.total
    first = f"{counted(t.files, 'file')}, {number(t.parsed)} parsed"
    if t.success is not None:
        first += f", {percent(t.success)} of these without an error"
    parts: list[ConsoleRenderable] = [cells((first, "bold"))]
    if rates.languages:
        parts += [Text(), tallies("language", worst_first(rates.languages))]
    unclean = [(name, t) for name, t in worst_first(rates.directories) if t.unclean]
    if unclean:
        more = len(unclean) - FOLDERS
        parts += [Text(), tallies("worst folders", unclean[:FOLDERS], more)]
    if rates.reasons:
        table = terminal.grid()
        table.add_column(min_width=9)
        table.add_column(justify="right")
        table.add_row(Text("reason", "dim"), Text("files", "dim"))
        for reason, n in rates.reasons.items():
            table.add_row(cells(reason), number(n))
        parts += [Text(), table]
    return Group(*parts)
