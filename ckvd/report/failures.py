"""`status --failures`: each file with its line, a caret, what was done instead and what would mend it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, ConsoleRenderable, Group, RenderResult
from rich.text import Text

from ckvd.model import Range
from ckvd.report import document
from ckvd.report.remedy import done, remedy
from ckvd.report.table import pairs
from ckvd.report.terminal import TAB, cells, number, plain
from ckvd.report.values import Failure
from ckvd.worktree.read import Content, Unreadable, read

READ_BYTES = 64 << 20
_WIDEST = 96  # characters of a source line that are shown
_RANGES = 6

_STYLES = {"failed": "bold red", "partial": "yellow"}
CHANGED = "the file has changed since it was indexed; its line is not shown"
GONE = "the file is gone since it was indexed"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The source line of the first damage. `column` and `length` are in characters of `text`, `offset` is the
    same column in bytes of the line; no caret where they are None. `lines` are the damaged ranges as lines,
    both ends included."""

    line: int
    text: str
    column: int | None = None
    length: int = 1
    lines: tuple[tuple[int, int], ...] = ()
    offset: int | None = None


def excerpt(data: bytes, f: Failure) -> Excerpt | None:
    """What to show of the file's bytes, None where nothing points at a line or it is no text."""
    if f.damage:
        start, end = _first(data, f)
        line = data.count(b"\n", 0, start) + 1
        begin = data.rfind(b"\n", 0, start) + 1
    elif f.line is not None:
        line, begin = f.line, _line_start(data, f.line)
        start = end = -1
    else:
        return None
    stop = data.find(b"\n", begin)
    stop = len(data) if stop < 0 else stop
    if b"\0" in data[begin:stop]:  # UTF-16 and its like
        return None
    lines = tuple((data.count(b"\n", 0, a) + 1, data.count(b"\n", 0, max(a, b - 1)) + 1) for a, b in f.damage)
    text = _decoded(data[begin:stop].removesuffix(b"\r"))
    if start < 0:
        return Excerpt(line, text, lines=lines)
    column = len(_decoded(data[begin:start]))
    length = len(_decoded(data[start : max(start + 1, min(end, stop))]))
    return Excerpt(line, text, column, max(1, length), lines, start - begin)


def _first(data: bytes, f: Failure) -> Range:
    """The damage from the place on that the failure names, which need not be where it begins."""
    named = re.match(r"line (\d+), column (\d+): ", f.detail or "")
    if named and int(named[1]) == f.line:
        place = _line_start(data, f.line) + int(named[2]) - 1
        for start, end in f.damage:
            if start <= place < end:
                return place, end
    return f.damage[0]


def _decoded(data: bytes) -> str:
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "backslashreplace")


def _line_start(data: bytes, line: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = data.find(b"\n", at) + 1
        if at == 0:
            return len(data)
    return at


def source(root: bytes, f: Failure) -> Excerpt | str | None:
    """Reads the damaged line from disk, following no link. The bytes must be those that were indexed, else a
    sentence says why there is none. Of a file whose content is not indexed nothing is read."""
    if f.strategy == "skipped" or f.blob_oid is None:
        return None
    algorithm = "sha1" if len(f.blob_oid) == 40 else "sha256"
    got = read(root, f.path_bytes, READ_BYTES, algorithm)
    if isinstance(got, Unreadable) and got.reason == "vanished":
        return GONE
    if not isinstance(got, Content) or got.blob_oid != f.blob_oid or got.data is None:
        return CHANGED
    return excerpt(got.data, f)


def explained(root: bytes, f: Failure) -> dict[str, Any]:
    """A failure for `--json`, with the source line if it still is as indexed; `column` is in bytes of it."""
    found = source(root, f)
    shown = found if isinstance(found, Excerpt) else None
    return {
        **document.failure(f),
        "source": shown.text if shown else None,
        "column": shown.offset if shown else None,
        "lines": [list(r) for r in shown.lines] if shown else None,
        "symbols": f.symbols,
        "done": done(f),
        "mend": remedy(f, shown.text if shown else None),
    }


def screen(root: bytes, failures: Sequence[Failure]) -> ConsoleRenderable:
    """Every failure, by path."""
    if not failures:
        return cells(("Every file that could be parsed came out clean.", "green"))
    parts: list[ConsoleRenderable] = []
    for f in failures:
        parts += [*_failure(f, source(root, f)), Text()]
    return Group(*parts[:-1])


def _failure(f: Failure, found: Excerpt | str | None) -> Iterable[ConsoleRenderable]:
    shown = found if isinstance(found, Excerpt) else None
    place = f.path if f.line is None else f"{f.path}:{f.line}"
    style = _STYLES.get(f.parse_status, "")
    outcome = (f"  {f.parse_status}", style) if style else ""
    language = (f"  {f.language}", "dim") if f.language else ""
    yield cells((place, "bold"), outcome, f"  {f.reason}", language)
    if shown:
        yield _Pointed(shown, "  ")
    facts = [("why", f.detail), ("damage", _ranges(f, shown) if f.damage else None), ("done", done(f))]
    facts.append(("mend", remedy(f, shown.text if shown else None)))
    facts.append(("source", found if isinstance(found, str) else None))
    yield pairs(((f"  {label}", cells(what)) for label, what in facts if what), 8)


def _ranges(f: Failure, shown: Excerpt | None) -> str:
    places = shown.lines if shown and shown.lines else f.damage
    unit = "line" if shown and shown.lines else "byte"
    places = tuple(dict.fromkeys(places))  # several places in one line are one to a reader
    each = [f"{a}" if a == b else f"{a}–{b}" for a, b in places[:_RANGES]]
    more = f" and {number(len(places) - _RANGES)} more" if len(places) > _RANGES else ""
    plural = "s" if len(places) > 1 or places[0][0] != places[0][1] else ""
    share = f" of {number(f.size)}" if f.size else ""
    total = "1 byte" if f.bytes == 1 else f"{number(f.bytes)} bytes"
    return f"{total}{share}, {unit}{plural} {', '.join(each)}{more}"


@dataclass(frozen=True, slots=True)
class _Pointed:
    """The line under its number, with carets under the damage; a long line is cut around them."""

    excerpt: Excerpt
    indent: str = ""

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        e = self.excerpt
        gutter = f"{self.indent}{e.line} │ "
        room = max(4, min(_WIDEST, options.max_width - len(gutter)))
        column = e.column or 0
        near = max(0, column - _WIDEST)  # no more of a long line than could be shown is laid out
        before = plain(e.text[near:column].expandtabs(TAB))
        after = e.text[column : column + _WIDEST + e.length]
        damaged = plain(after[: e.length].expandtabs(TAB)).rstrip()
        rest = plain(after[:_WIDEST].expandtabs(TAB))
        front = _shortened(before, max(room * 6 // 10, room - cell_len(rest)), near > 0)
        left = room - cell_len(front)
        if cell_len(rest) > left or len(e.text) > column + _WIDEST:
            rest = set_cell_size(rest, min(left - 1, cell_len(rest))) + "…"
        yield cells((gutter, "dim"), front, rest)
        if e.column is not None:
            carets = "^" * min(max(1, cell_len(damaged)), left)
            blank = " " * (len(gutter) - 2)
            yield cells((f"{blank}│ ", "dim"), " " * cell_len(front), (carets, "red"))


def _shortened(text: str, room: int, cut: bool) -> str:
    """The end of `text` in at most `room` cells, marked where it is not all, or where it is `cut` already."""
    while cell_len(text) + cut > room:
        text, cut = text[1:], True
    return "…" + text if cut else text
