"""`ckvd report sizes`: how big the chunks are, what the limit did to them, and what their storage costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, ConsoleRenderable, Group, RenderResult
from rich.table import Table
from rich.text import Text

from ckvd.errors import ConfigError, ModelError
from ckvd.place import Place
from ckvd.report import sizes, terminal
from ckvd.report.sizes import Bin, SizeRow, Sizes, Spread, Storage
from ckvd.report.snapshot import opened
from ckvd.report.table import Fitting, Flow
from ckvd.report.terminal import bar, cells, counted, number, percent
from ckvd.settings import Settings
from ckvd.store.reader import Reader

LARGEST = 10
"""Wholes named as the largest, in the text and in the JSON."""
_BAR = 40
NO_LANGUAGE = "other"

_SIZES = """
SELECT f.language, c.unit, length(b.body), c.tokens, c.part, c.parts, c.rendering, c.truncated
FROM chunk AS c JOIN file AS f ON f.id = c.file_id JOIN body AS b ON b.id = c.id
"""
_BODIES = """
SELECT coalesce(sum(length(b.body)), 0),
    coalesce(sum(length(b.body)) FILTER (WHERE c.unit = 'symbol' AND c.grain = 'fine'), 0),
    coalesce(sum(length(b.body)) FILTER (WHERE c.unit = 'symbol' AND c.grain = 'coarse'), 0)
FROM chunk AS c JOIN body AS b ON b.id = c.id
"""
_HEADERS = """
SELECT coalesce(sum(size), 0), coalesce(sum(size * uses), 0) FROM (
    SELECT length(text) AS size, (SELECT count(*) FROM chunk WHERE header_id = header.id) AS uses FROM header
)
"""
_LARGEST = """
SELECT path, symbol, unit, start_line, parts, tokens FROM chunks WHERE part = 1
ORDER BY parts DESC, tokens DESC, id LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class Large:
    """One of the wholes that gave most parts; `tokens` are those of the first part."""

    path: str
    symbol: str | None
    unit: str
    start_line: int
    parts: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Report:
    """Sizes and storage of one revision."""

    revision: int
    sizes: Sizes
    storage: Storage
    largest: Sequence[Large]


def collect(where: Place) -> Report:
    """Raises StoreError where the database cannot be read or is not there.

    The limit is that of the configuration as it is on disk, None where that is wrong; status says why.
    """
    try:
        limit = Settings.load(where.tree.path).options.limit
    except (ConfigError, ModelError):
        limit = None
    with opened(where.db) as reader:
        rows = (SizeRow(*row) for row in reader.query(_SIZES))
        largest = [Large(*row) for row in reader.query(_LARGEST, (LARGEST,))]
        return Report(reader.revision, sizes.measure(rows, limit), _storage(reader), largest)


def _storage(reader: Reader) -> Storage:
    (bodies, fine, coarse), (once, each) = reader.query(_BODIES)[0], reader.query(_HEADERS)[0]
    return Storage(bodies, fine, coarse, headers_each=each, headers_once=once)


def as_json(report: Report) -> dict[str, Any]:
    """`chars` are those of bodies, `tokens` those of embedded texts; ratios are null of nothing."""
    found, storage = report.sizes, report.storage
    return {
        "revision": report.revision,
        "limit": found.limit,
        "total": asdict(found.total),
        "languages": {name or NO_LANGUAGE: asdict(group) for name, group in found.by_language.items()},
        "units": {name: asdict(group) for name, group in found.by_unit.items()},
        "largest": [asdict(chunk) for chunk in report.largest],
        "storage": {
            "body_chars": storage.bodies,
            "fine_chars": storage.fine,
            "coarse_chars": storage.coarse,
            "ratio_to_fine": storage.ratio,
            "header_chars_each": storage.headers_each,
            "header_chars_once": storage.headers_once,
            "growth_each": storage.growth_each,
            "growth_once": storage.growth_once,
        },
    }


def show(report: Report) -> None:
    terminal.show(screen(report))


def screen(report: Report) -> ConsoleRenderable:
    """The histogram of tokens, sizes by unit and by language, the largest chunks, what storage costs."""
    found = report.sizes
    total = found.total
    if not total.chunks:
        return cells("There is no chunk in the index.")
    over = (f"{number(total.over_limit)} over it", "bold red" if total.over_limit else "")
    limit = ("no limit known",) if found.limit is None else (f"limit {number(found.limit)} tokens · ", over)
    cut = (f"{number(total.truncated)} truncated", "bold red" if total.truncated else "")
    fitted = f" · {number(total.split)} wholes in parts · {number(total.outlined)} outlined · "
    return Group(
        Flow(cells((counted(total.chunks, "chunk"), "bold"), " · ", *limit, fitted, cut)),
        Text(),
        _Histogram(total.tokens_histogram, found.limit),
        Text(),
        _groups("unit", found.by_unit),
        Text(),
        _groups("language", {name or NO_LANGUAGE: group for name, group in found.by_language.items()}),
        Text(),
        _largest(report.largest),
        Text(),
        *_stored(report.storage),
    )


@dataclass(frozen=True, slots=True)
class _Histogram:
    """Chunks by tokens; bins that lie over the limit are red."""

    bins: Sequence[Bin]
    limit: int | None

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        spans = [number(b.low) if b.low == b.high else f"{number(b.low)}–{number(b.high)}" for b in self.bins]
        most = max(b.count for b in self.bins)
        beside = max(9, *map(len, spans)) + max(len("chunks"), len(number(most)))
        width = max(1, min(_BAR, options.max_width - beside - 4))
        table = terminal.grid()
        table.add_column(justify="right", no_wrap=True, min_width=9)
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_row(*(Text(head, "dim") for head in ("tokens", "", "chunks")))
        for b, span in zip(self.bins, spans, strict=True):
            filled, _ = bar(b.count / most, width)
            over = self.limit is not None and b.low > self.limit
            table.add_row(span, cells((filled, "red" if over else "green")), number(b.count))
        yield table


_SIZE_HEADS = (
    *("chunks", "tokens\np50", "tokens\np90", "tokens\nmax"),
    *("chars\np50", "chars\np90", "chars\nmax", "split", "over"),
)
_SPARE = ("chars\np90", "chars\np50", "chars\nmax", "tokens\np90", "split", "tokens\np50")


def _groups(what: str, groups: Mapping[str, sizes.Group]) -> ConsoleRenderable:
    rows = []
    for name, group in groups.items():
        over = Text(number(group.over_limit), "bold red" if group.over_limit else "dim")
        spreads = (*_spread(group.tokens), *_spread(group.chars))
        rows.append((cells(name), number(group.chunks), *spreads, number(group.split), over))
    return Fitting((what, *_SIZE_HEADS), rows, spare=_SPARE, gap=1)


def _spread(s: Spread) -> tuple[str, str, str]:
    return number(s.median), number(s.p90), number(s.max)


def _largest(chunks: Sequence[Large]) -> Table:
    table = terminal.grid()
    table.add_column(justify="right", no_wrap=True, min_width=9)
    table.add_column(overflow="fold")
    table.add_row(Text("parts", "dim"), Text("largest", "dim"))
    for chunk in chunks:
        what = (chunk.symbol or chunk.unit.replace("_", " "), "bold")
        table.add_row(number(chunk.parts), cells(f"{chunk.path}:{chunk.start_line} ", what))
    return table


def _stored(storage: Storage) -> list[ConsoleRenderable]:
    lines = []
    if storage.ratio is not None:
        kinds = f"{number(storage.fine)} characters in functions, {number(storage.coarse)} in classes"
        lines.append(f"both grains  {storage.ratio:.2f} times the fine one alone: {kinds}")
    if storage.growth_each is not None and storage.growth_once is not None:
        saved = storage.headers_each - storage.headers_once
        lines.append(
            f"headers      {percent(storage.growth_once)} more characters, each text stored once; "
            f"{percent(storage.growth_each)} if each chunk had its own ({number(saved)} saved)"
        )
    return [cells(line) for line in lines]
