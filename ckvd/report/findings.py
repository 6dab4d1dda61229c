"""What `ckvd doctor` found: values → text that can be pasted, or JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rich.console import ConsoleRenderable, Group
from rich.text import Text

from ckvd.report import terminal
from ckvd.report.table import Flow
from ckvd.report.terminal import cells

Level = Literal["ok", "warn", "bad"]
_STYLES: Mapping[Level, str] = {"ok": "green", "warn": "yellow", "bad": "bold red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: what was looked at, how it stands, and where it is not `ok` what to do."""

    name: str
    level: Level
    what: str
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """`versions` are of ckvd and all that it stands on."""

    lines: Sequence[Finding]
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def broken(self) -> bool:
        return any(line.level == "bad" for line in self.lines)


def as_json(found: Findings) -> dict[str, Any]:
    """`ok` is whether nothing is broken; a warning alone breaks nothing. The home folder shows as `~`."""
    return {
        "ok": not found.broken,
        "findings": [
            {"name": f.name, "level": f.level, "what": _home(f.what), "remedy": f.remedy and _home(f.remedy)}
            for f in found.lines
        ],
        "versions": dict(found.versions),
    }


def show(found: Findings) -> None:
    terminal.show(screen(found))


def screen(found: Findings) -> ConsoleRenderable:
    """The versions, then a line for each finding with its remedy below."""
    table = terminal.grid()
    table.add_column(no_wrap=True, min_width=4)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for f in found.lines:
        table.add_row(Text(f.level, _STYLES[f.level]), cells(f.name), cells(_home(f.what)))
        if f.remedy:
            table.add_row("", "", cells((f"→ {_home(f.remedy)}", _STYLES[f.level])))
    versions = " · ".join(f"{name} {version}" for name, version in found.versions.items())
    return Group(Flow(cells((versions, "dim"))), Text(), table)


def _home(text: str) -> str:
    """Nobody's name is for a bug report."""
    home = os.path.expanduser("~").rstrip("/")
    return text.replace(home, "~") if home else text
