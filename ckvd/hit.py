"""What a search gives: the values that readers of it share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ckvd.rank import Mode

Expand = Literal["class", "file"]
OnDisk = Literal["same", "changed", "gone"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked chunk, the columns as in the view `chunks`, but that a chunk of several small symbols (a
    module's constants) has as `symbol` the one that the query names, if any.

    `score` compares within one search only; `exact` says that the symbol's name is the query. `header_of`
    names the earlier hit of the same answer whose header is this one's too: `header` is then empty.
    `matches` are the chunk ids of the hits that this one was widened from, or stands for, best first.
    `on_disk` tells the file as it is now from the one that was indexed: where it has changed, lines may have
    moved. `indent` is what stands before the body in its first line, blanks, where the file is the same.
    """

    id: int
    chunk_id: str
    path: str
    language: str | None
    unit: str
    kind: str
    grain: str
    symbol: str | None
    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    part: int
    parts: int
    rendering: str
    tokens: int
    header: str
    body: str
    score: float
    exact: bool
    header_of: str | None = None
    matches: tuple[str, ...] = ()
    on_disk: OnDisk = "same"
    indent: str = ""


CHUNK_COLUMNS = (
    *("id", "chunk_id", "path", "language", "unit", "kind", "grain", "symbol", "start_line", "end_line"),
    *("start_byte", "end_byte", "part", "parts", "rendering", "tokens", "header", "body"),
)
"""The fields of a Hit that the view `chunks` has."""


@dataclass(frozen=True, slots=True)
class Results:
    """`hits` is the page asked for, `total` how many there are to page through, the best few hundred.

    `mode` is how they were found: hybrid becomes keyword where there are no vectors, and `note` then says
    why in a plain sentence. `tokens` is what the hits take of a budget, None where there was none.
    """

    hits: tuple[Hit, ...]
    total: int
    revision: int
    mode: Mode
    note: str = ""
    tokens: int | None = None


WARNINGS: Mapping[OnDisk, str] = {
    "same": "",
    "changed": "  (the file has changed since it was indexed)",
    "gone": "  (the file is gone)",
}
"""What a reader of a hit must know of its file, in brackets."""


def lines_of(start: int, end: int) -> str:
    return str(start) if start == end else f"{start}-{end}"


def place(hit: Hit) -> str:
    return f"{hit.path}:{lines_of(hit.start_line, hit.end_line)}"


def title(hit: Hit) -> str:
    """Where a hit lies and what it is, in one line."""
    part = f" part {hit.part} of {hit.parts}" if hit.parts > 1 else ""
    outline = " outline" if hit.rendering == "outline" else ""
    return f"{place(hit)}  {hit.symbol or f'<{hit.unit}>'}  {hit.kind}{part}{outline}{WARNINGS[hit.on_disk]}"


def whole_lines(hit: Hit) -> str:
    """The body as it stands in its file: with what is before it in its first line."""
    return hit.indent + hit.body
