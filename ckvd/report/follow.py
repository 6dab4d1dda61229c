"""`status` again and again: in place on a terminal, a line for each change elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.text import Text

from ckvd.place import Place
from ckvd.report import terminal
from ckvd.report.screen import screen, short
from ckvd.report.status import collect

EVERY_S = 1.0


def follow(where: Place, wait: Callable[[float], None] = time.sleep) -> None:
    """Shows the status of `where` until `wait`, called between two looks, raises KeyboardInterrupt.

    Raises StoreError where the database can no longer be read.
    """
    try:
        if sys.stdout.isatty():
            _in_place(where, wait)
        else:
            _by_lines(where, wait)
    except KeyboardInterrupt:
        return


class Fitted:
    """What is within the window's height; the last line says how much is not."""

    def __init__(self, whole: ConsoleRenderable) -> None:
        self._whole = whole

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = options.height or console.height
        lines = console.render_lines(self._whole, options.update(height=None), pad=False)
        more = len(lines) - height + 1
        for line in lines[: height - 1] if more > 1 else lines:
            yield from line
            yield Segment.line()
        if more > 1:
            yield Text(
                f"… {more} more lines; a taller window shows them", "dim", overflow="ellipsis", no_wrap=True
            )


def _in_place(where: Place, wait: Callable[[float], None]) -> None:
    first = Fitted(screen(collect(where)))
    with Live(first, console=terminal.console(sys.stdout), auto_refresh=False, screen=True) as live:
        while True:
            wait(EVERY_S)
            live.update(Fitted(screen(collect(where))), refresh=True)


def _by_lines(where: Place, wait: Callable[[float], None]) -> None:
    said = ""
    while True:
        line = short(collect(where))
        if line != said:
            terminal.write(line + "\n")
            said = line
        wait(EVERY_S)
