"""`ckvd report --html FILE`: all reports as one self-contained page."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from importlib import resources
from string import Template

from ckvd.errors import CkvdError, ConfigError, ExtraError, ModelError
from ckvd.model import display_path
from ckvd.place import Place
from ckvd.report import boundaries_view, snapshot
from ckvd.report.boundaries import INDEX, Boundaries
from ckvd.report.failures import Excerpt, source
from ckvd.report.remedy import done, remedy
from ckvd.report.terminal import counted, file_sizes, number, percent, plain, source_line
from ckvd.report.values import Failure, Snapshot, total
from ckvd.settings import Settings
from ckvd.store.metrics import HOURS_KEPT, Metric

FAILURES = 100
"""Failures that the page tells of; `status --failures` has all."""

SEVERED = 15
_WIDEST = 160  # characters of a source line


@dataclass(frozen=True, slots=True)
class Page:
    """What the page shows. `sizes` are numbers of chunks by unit and tokens; `limit` is in tokens."""

    root: bytes
    now: datetime
    data: Snapshot
    sizes: Mapping[str, Mapping[int, int]]
    limit: int | None
    boundaries: Boundaries
    hours: Sequence[Metric]
    failures: Sequence[tuple[Failure, Excerpt | str | None]]


def write(where: Place, file: str) -> None:
    """Writes the page to `file`, which is replaced whole, or to what it links to.

    Raises ExtraError where plotly is not installed, StoreError where there is no index or it cannot be
    read, CkvdError where the file cannot be written, is no regular file, or belongs to the index.
    """
    path = os.path.realpath(file)
    if os.path.exists(path) and not os.path.isfile(path):
        raise CkvdError(f"{file} is not a regular file; name another")
    if path in where.files:
        raise CkvdError(f"{file} belongs to the index; name another")
    text = render(collect(where))
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=os.path.dirname(path), prefix=".ckvd-", suffix=".html", delete=False
        ) as out:
            try:
                out.write(text)
                os.fchmod(out.fileno(), 0o600)  # it holds lines of source
                os.replace(out.name, path)
            except BaseException:  # whatever ended it passes on, and leaves no half page
                os.unlink(out.name)
                raise
    except OSError as e:
        raise CkvdError(f"cannot write {file}: {e.strerror}; name another file") from e


def collect(where: Place) -> Page:
    """Raises StoreError where the database cannot be read or is not there."""
    root = where.tree.path
    data = snapshot.read(where.db)
    sizes: dict[str, Counter[int]] = {}
    with snapshot.opened(where.db) as reader:
        hours = reader.metrics(HOURS_KEPT)
        for unit, tokens, n in reader.query("SELECT unit, tokens, count(*) FROM chunks GROUP BY 1, 2"):
            sizes.setdefault(unit, Counter())[tokens] = n
    try:
        limit = Settings.load(root).options.limit
    except (ConfigError, ModelError):
        limit = None  # status says why
    return Page(
        root=root,
        now=datetime.now().astimezone(),
        data=data,
        sizes=sizes,
        limit=limit,
        boundaries=boundaries_view.collect(where).found,
        hours=hours,
        failures=[(f, source(root, f)) for f in data.failures[:FAILURES]],
    )


def render(page: Page) -> str:
    """The whole document. Raises ExtraError where plotly is not installed."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as e:
        raise ExtraError("the page is drawn by plotly; install it with: pip install 'ckvd[report]'") from e
    template = Template(resources.files("ckvd.report").joinpath("page.html").read_text("utf-8"))
    root = display_path(page.root)
    return template.substitute(
        title=_text(f"ckvd: {os.path.basename(root) or root}"),
        root=_text(root),
        at=_text(_at(page)),
        now=_text(page.now.strftime("%Y-%m-%d %H:%M %Z")),
        tiles="".join(_tiles(page)),
        sections="\n".join(_sections(page)),
        plotly=get_plotlyjs(),
    )


def _text(text: str) -> str:
    return escape(plain(text))


def _several(count: int, what: str) -> str:
    return f"{number(count)} {what}{'' if count == 1 else 's'}"


def _at(page: Page) -> str:
    meta = page.data.meta
    commit = str(meta.get("head_commit") or "")[:10]
    ref = str(meta.get("head_ref") or "").removeprefix("refs/heads/")
    head = " @ ".join(part for part in (ref, commit) if part)
    revision = f"revision {number(int(meta.get('revision') or 0))}"
    return " · ".join(fact for fact in (revision, head) if fact)


def _tiles(page: Page) -> Iterator[str]:
    data, files = page.data, total(page.data.directories.values())
    chunks = data.chunks
    clean = "–" if files.success is None else percent(files.success)
    limit = "no limit" if page.limit is None else f"of {number(page.limit)}"
    over = 0 if page.limit is None else chunks.over(page.limit)
    on_disk, *rest = file_sizes(data)
    beside = "".join(f"{fact}, " for fact in rest)
    facts = (
        (number(files.files), f"files, {number(files.parsed)} parsed"),
        (clean, f"clean, {number(files.partial)} partial, {number(files.failed)} failed"),
        (number(chunks.total), f"chunks; symbols split: {number(chunks.split_symbols)}"),
        (number(chunks.quantile(0.5)), f"tokens, p90 {number(chunks.quantile(0.9))}"),
        (number(chunks.quantile(1)), f"tokens at most, {limit}, {number(over)} over"),
        (on_disk, f"{beside}{counted(chunks.total - data.pending_vectors, 'chunk')} with vectors"),
    )
    for value, words in facts:
        yield f'<div class="tile"><b>{_text(value)}</b><span>{_text(words)}</span></div>'


def _sections(page: Page) -> Iterator[str]:
    from ckvd.report import figures

    data = page.data
    if not data.files:
        yield _section("Nothing yet", "There is no file in the index.")
        return
    yield _section(
        "Chunk sizes",
        "Tokens of the whole text that is embedded; the dotted line is the model's limit.",
        _plot("Histogram of tokens a chunk, by unit", figures.sizes(page.sizes, page.limit)),
    )
    yield _section(
        "Success by language",
        "Parsed files by outcome: ok is without any error, partial kept the symbols around it.",
        _plot("Parse outcomes by language", figures.languages(data.languages)),
    )
    name = os.path.basename(display_path(page.root))
    yield _section(
        "Success by directory",
        "Area is parsed files, colour the share of them without an error. A click goes into a folder.",
        _plot("Treemap of folders by parse success", figures.folders(data.directories, name)),
    )
    yield _boundaries(page.boundaries)
    yield _failures(page)
    yield _trend(page.hours)


def _section(title: str, words: str, *content: str) -> str:
    return f"<section><h2>{_text(title)}</h2><p>{_text(words)}</p>{''.join(content)}</section>"


def _plot(label: str, figure: str) -> str:
    data = f'<script type="application/json">{figure}</script>'
    return f'<div class="plot" role="img" aria-label="{_text(label)}">{data}</div>'


def _boundaries(found: Boundaries) -> str:
    from ckvd.report import figures

    title, index = "Severed functions", found.total(INDEX)
    if not index.functions:
        return _section(title, "There is no function to compare strategies on.")
    words = (
        f"Of {counted(index.functions, 'function')}, how many each way of cutting would tear apart: "
        f"this index severs {number(index.split)}."
    )
    worst = [s for s in found.severed if any(name != "symbol" for name in s.by)][:SEVERED]
    rows = [
        f"<tr><td>{_text(s.symbol)}</td><td>{_text(s.path)}:{s.start_line}</td>"
        f"{_unit(s.lines, 'line')}{_unit(s.touches, 'commit')}<td>{_text(', '.join(s.by))}</td></tr>"
        for s in worst
    ]
    head = '<tr><th>function</th><th>where</th><th class="n">lines</th><th class="n">commits</th>'
    head += "<th>severed by</th></tr>"
    table = f'<div class="scroll"><table>{head}{"".join(rows)}</table></div>' if rows else ""
    return _section(title, words, _plot("Functions severed, by strategy", figures.boundaries(found)), table)


def _unit(n: int, what: str) -> str:
    """A number in a cell; what it counts is said beside it where there is no head."""
    return f'<td class="n" data-unit=" {what}{"" if n == 1 else "s"}">{number(n)}</td>'


def _failures(page: Page) -> str:
    count = len(page.data.failures)
    if not count:
        return _section("Failures", "Every file that could be parsed came out clean.")
    more = f", the first {number(FAILURES)} of them here" if count > FAILURES else ""
    words = f"{_several(count, 'file')} did not come out clean{more}."
    return _section("Failures", words, *(_failure(f, found) for f, found in page.failures))


def _failure(f: Failure, found: Excerpt | str | None) -> str:
    shown = found if isinstance(found, Excerpt) else None
    place = f.path if f.line is None else f"{f.path}:{f.line}"
    status = f.parse_status if f.parse_status in ("partial", "failed") else ""
    facts = " · ".join(fact for fact in (f.reason, f.language, f.detail) if fact)
    parts = [
        f'<h3>{_text(place)} <span class="{status}">{status}</span></h3>',
        f"<p>{_text(facts)}</p>",
        f"<pre>{_pointed(shown)}</pre>" if shown else "",
        f"<p>{_text(found)}</p>" if isinstance(found, str) else "",
        f"<p>{_text(done(f))} → {_text(remedy(f, shown.text if shown else None))}</p>",
    ]
    return f"<article>{''.join(parts)}</article>"


def _pointed(e: Excerpt) -> str:
    """The line under its number, with carets under the damage; a long line is cut around them."""
    gutter, column = f"{e.line} │ ", e.column or 0
    indent = len(e.text) - len(e.text.lstrip())  # room for what matters on a narrow screen
    first = max(min(indent, column), column - _WIDEST // 2)
    before, after = source_line(e.text[first:column]), source_line(e.text[column : first + _WIDEST])
    cut = "…" if first > indent else ""
    line = f"{gutter}{escape(cut + before + after)}"
    if e.column is None:
        return line
    carets = "^" * max(1, min(e.length, len(after)))
    blank = " " * (len(gutter) + len(before) + len(cut))
    return f'{line}\n{blank}<span class="caret">{carets}</span>'


def _trend(hours: Sequence[Metric]) -> str:
    from ckvd.report import figures

    if not hours:
        return _section("Trend", "Nothing is noted yet; each hour of work leaves a row.")
    plots = [_plot("Share of clean files by hour", figures.outcomes(hours))]
    if any(h.edits for h in hours):
        plots.append(_plot("Latencies of edits by hour", figures.latencies(hours)))
    words = (
        f"{_several(len(hours), 'hour')} in which something was done. Latencies are of edits: from the first "
        "event to the row, and from there to the last vector."
    )
    return _section("Trend", words, *plots)
