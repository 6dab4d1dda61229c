"""Tables and rows of facts that are never wider than the terminal and never cut in silence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, ConsoleRenderable, JustifyMethod, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ckvd.report.terminal import cells, grid, show

Cell = Text | str
LEAST, NARROWEST = 9, 20
"""Cells that a column of words has at least, and those that it keeps; what is longer folds."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """Rows under their heads, no two of which are the same; one of two lines says first what it is of.

    The column `words` (the first, if not named) folds and stands to the left, as do those in `left`; the
    others are figures. Where they have no room they stand closer; then the columns in `spare` go, in that
    order, and a line below names them.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    spare: Sequence[str] = ()
    words: str | None = None
    left: Collection[str] = ()
    gap: int = 2

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        gone: list[str] = []
        gap = self.gap if self._width(gone, self.gap) <= options.max_width else 1
        for head in self.spare:
            if self._width(gone, gap) <= options.max_width:
                break
            gone.append(head)
        fits = self._width(gone, gap) <= options.max_width
        yield self._table(gone, gap, LEAST if fits else None)
        if named := [" ".join(head.split()) for head in self.heads if head and head in gone]:
            yield Text(f"a wider terminal shows more: {', '.join(named)}", "dim")

    def _kept(self, gone: Collection[str]) -> list[tuple[int, str]]:
        return [(i, head) for i, head in enumerate(self.heads) if head not in gone]

    def _is_words(self, head: str) -> bool:
        return head == (self.heads[0] if self.words is None else self.words)

    def _width(self, gone: Collection[str], gap: int) -> int:
        """Cells that the columns but those `gone` take at least."""
        kept = self._kept(gone)
        total = gap * (len(kept) - 1)
        for i, head in kept:
            widest = max(_widest(cell) for cell in (head, *(row[i] for row in self.rows)))
            total += max(LEAST, min(widest, NARROWEST)) if self._is_words(head) else widest
        return total

    def _table(self, gone: Collection[str], gap: int, least: int | None) -> Table:
        table, kept = grid(gap=gap), self._kept(gone)
        for _, head in kept:
            if self._is_words(head):
                table.add_column(overflow="fold", min_width=least)
            else:
                side: JustifyMethod = "left" if head in self.left else "right"
                table.add_column(justify=side, no_wrap=True, overflow="ellipsis")
        lines = max(head.count("\n") for _, head in kept)
        table.add_row(*(Text("\n" * (lines - head.count("\n")) + head, "dim") for _, head in kept))
        for row in self.rows:
            table.add_row(*(row[i] for i, _ in kept))
        return table


@dataclass(frozen=True, slots=True)
class Flow:
    """Facts with ` · ` between them. A line breaks there; within a fact only if that alone is wider."""

    text: Text
    between: str = " · "

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        line: Text | None = None
        for fact in self.text.split(self.between):
            longer = fact if line is None else line + Text(self.between) + fact
            if line is not None and longer.cell_len > options.max_width:
                yield line
                longer = fact
            line = longer
        yield line or Text()

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self.text)


def pairs(
    rows: Iterable[tuple[str, ConsoleRenderable]], width: int, *, gap: int = 2, style: str = "dim"
) -> Table:
    """Labels, `width` cells at least, each with what it is of beside it, which folds."""
    table = grid(gap=gap)
    table.add_column(style=style, min_width=width, no_wrap=True)
    table.add_column(overflow="fold")
    for label, what in rows:
        table.add_row(label, what)
    return table


def show_pairs(rows: Iterable[tuple[str, str]], width: int) -> None:
    """Prints `rows` as `pairs` sets them."""
    show(pairs(((label, cells(what)) for label, what in rows), width, gap=1, style=""))


def _widest(cell: Cell) -> int:
    return max(map(cell_len, str(cell).split("\n")))
