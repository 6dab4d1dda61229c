"""From renderables to stdout: width and colour as the terminal has them, plain text when piped."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from rich.console import Console, ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from ckvd.report.plain import TAB as TAB
from ckvd.report.plain import counted as counted
from ckvd.report.plain import number as number
from ckvd.report.plain import plain as plain
from ckvd.report.plain import source_line as source_line
from ckvd.report.plain import write as write

if TYPE_CHECKING:
    from ckvd.report.values import Snapshot  # it brings SQLite, which `ckvd doctor` may find broken

PIPED_WIDTH = 10_000
"""Where there is no terminal nothing folds: a row is a line."""


def cells(*parts: str | tuple[str, str]) -> Text:
    """One `Text` from words and (words, style) pairs, each made `plain`; never read as markup."""
    text = Text()
    for part in parts:
        words, style = (part, "") if isinstance(part, str) else part
        text.append(plain(words), style)
    return text


def console(file: TextIO) -> Console:
    """A console for `file`, judged as rich does; under `NO_COLOR` it prints no escape codes at all."""
    quiet = bool(os.environ.get("NO_COLOR"))
    # A size of 0 is how some programs say that they do not know it.
    env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES") or v.strip("0")}
    made = Console(
        _environ=env,
        file=file,
        color_system=None if quiet else "auto",
        highlight=False,
        markup=False,
        emoji=False,
    )
    if not made.is_terminal and "COLUMNS" not in env:
        made.width = PIPED_WIDTH
    return made


def show(*renderables: ConsoleRenderable, as_is: bool = False) -> None:
    """Prints to stdout as `write` does. With `as_is` long lines are the terminal's to wrap, as `cat` leaves
    them: what is copied from there has no other line ends than the file."""
    write(rendered(console(sys.stdout), renderables, as_is=as_is))


def rendered(like: Console, renderables: Iterable[ConsoleRenderable], *, as_is: bool = False) -> str:
    """What `like` would print, no line wider than it, without trailing blanks."""
    with like.capture() as captured:
        like.print(Group(*renderables), soft_wrap=as_is, overflow=None if as_is else "fold")
    lines = captured.get().split("\n")
    return "\n".join(line if "\x1b" in line else line.rstrip() for line in lines)


def bar(share: float, width: int) -> tuple[str, str]:
    """The filled and the empty part of a bar for `share` (0 to 1); full only where `share` is 1, and empty
    only where it is 0."""
    least, most = (share > 0), width - (share < 1)
    filled = min(max(round(share * width), least), most)
    return "█" * filled, "░" * (width - filled)


def percent(share: float) -> str:
    """One decimal, and 100 % only where it is all."""
    return f"{min(share * 100, 99.9) if share < 1 else 100:.1f} %"


def size(n: int) -> str:
    """Bytes in binary units."""
    if n < 1024:
        return f"{n} B"
    value, units = n / 1024, ["KiB", "MiB", "GiB", "TiB"]
    while value >= 1000 and len(units) > 1:
        value /= 1024
        units.pop(0)
    return f"{value:.1f} {units[0]}"


def file_sizes(data: Snapshot) -> list[str]:
    """Of the database, then, if there are any, of its pages that are free and of its write-ahead log."""
    found = [size(data.db_bytes)]
    if data.collectable_bytes:
        found.append(f"{size(data.collectable_bytes)} free")
    if data.wal_bytes:
        found.append(f"log {size(data.wal_bytes)}")
    return found


def duration(seconds: float) -> str:
    """The two largest units: `3 d 4 h`, `2 h 5 min`, `12 s`."""
    left = max(0, int(seconds))
    if left < 60:
        return f"{left} s"
    minutes, hours, days = left // 60 % 60, left // 3600 % 24, left // 86400
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def brief(ms: float) -> str:
    """A latency in two or three digits: `12 ms`, `1.4 s`."""
    if ms < 1000:
        return f"{ms:.0f} ms"
    return f"{ms / 1000:.1f} s" if ms < 60_000 else duration(ms / 1000)


def grid(*, gap: int = 2) -> Table:
    """A table without lines, cells `gap` apart, whose columns are yet to be added."""
    return Table.grid(padding=(0, gap, 0, 0), pad_edge=False)
