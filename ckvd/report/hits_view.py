"""Search results and single chunks on a terminal: excerpts to look at. Control characters never leave raw."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import ConsoleRenderable, Group
from rich.text import Text

from ckvd.hit import WARNINGS, Hit, Results, lines_of, place, whole_lines
from ckvd.report import terminal
from ckvd.report.hits import MARK, more
from ckvd.report.plain import source_lines
from ckvd.report.terminal import cells, counted, number, source_line

HEADER_LINES = 4
BODY_LINES = 8
"""Lines of each hit that are shown; the forms to paste have all."""


def show(results: Results) -> None:
    """On stdout."""
    terminal.show(screen(results))


def screen(results: Results) -> ConsoleRenderable:
    """Rank, place, name, kind and score of each hit, then its context marked apart, then its first lines."""
    parts: list[ConsoleRenderable] = []
    if results.note:
        parts.append(cells((f"{results.mode} search: {results.note}", "yellow")))
    if not results.hits:
        parts.append(cells("Nothing was found." if not results.total else "Nothing is shown."))
    width = len(str(len(results.hits)))
    for rank, hit in enumerate(results.hits, 1):
        if parts:
            parts.append(Text())
        parts += _hit(rank, width, hit)
    if rest := more(results):
        parts += [Text(), cells((rest, "dim"))]
    return Group(*parts)


def _named(hit: Hit) -> str:
    return hit.symbol or f"<{hit.unit}>"


def _hit(rank: int, width: int, hit: Hit) -> Iterator[ConsoleRenderable]:
    part = f" part {hit.part} of {hit.parts}" if hit.parts > 1 else ""
    yield cells(
        (f"{rank:>{width}}  ", "dim"),
        (place(hit), "cyan"),
        "  ",
        (_named(hit), "bold"),
        f"  {hit.kind}{part}",
        (f"  {hit.score:.3f}{' exact' if hit.exact else ''}", "dim"),
        (WARNINGS[hit.on_disk], "yellow"),
    )
    indent = " " * (width + 2)
    for line in _excerpt(hit.header, HEADER_LINES):
        yield _code(indent, (MARK + line, "dim"))
    for line in _excerpt(whole_lines(hit), BODY_LINES):
        yield _code(indent, line)


def _excerpt(text: str, most: int) -> Iterator[str]:
    lines = source_lines(text)
    for line in lines[:most]:
        yield source_line(line)
    if (more := len(lines) - most) > 0:
        yield "…" if more == 1 else f"… {number(more)} more lines"


def _code(*parts: str | tuple[str, str]) -> Text:
    text = cells(*parts)
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


# -- one chunk ------------------------------------------------------------------------------------


def show_chunk(chunk: Mapping[str, Any]) -> None:
    """On stdout: the chunk under its context; or the whole file, where `file` has its text, with the
    chunk's lines marked. `chunk` has the columns of `chunks`."""
    terminal.show(chunk_screen(chunk, numbered=sys.stdout.isatty()), as_is=True)


def chunk_screen(chunk: Mapping[str, Any], *, numbered: bool) -> ConsoleRenderable:
    """`numbered` puts line numbers in front, for people; an outline has none, since it leaves lines out."""
    start, end = chunk["start_line"], chunk["end_line"]
    parts: list[ConsoleRenderable] = [
        cells(
            (f"{chunk['path']}:{lines_of(start, end)}", "cyan"),
            "  ",
            (chunk["symbol"] or f"<{chunk['unit']}>", "bold"),
            f"  {chunk['kind']}",
            (f"  {counted(chunk['tokens'], 'token')}", "dim"),
            (WARNINGS[chunk.get("on_disk", "same")], "yellow"),
        ),
        Text(),
    ]
    if (whole := chunk.get("file")) is not None:
        lines = str(whole).removesuffix("\n").split("\n")
        parts += [_numbered(n, line, start <= n <= end, len(lines)) for n, line in enumerate(lines, 1)]
        return Group(*parts)
    parts += [cells((MARK + source_line(line), "dim")) for line in source_lines(chunk["header"])]
    if len(parts) > 2:
        parts.append(Text())
    body = (chunk.get("indent", "") + str(chunk["body"])).removesuffix("\n").split("\n")
    if numbered and chunk["rendering"] == "source":
        parts += [_numbered(n, line, None, end) for n, line in enumerate(body, start)]
    else:
        parts += [cells(source_line(line)) for line in body]
    return Group(*parts)


def _numbered(n: int, line: str, inside: bool | None, last: int) -> Text:
    """`inside` None: all of what is shown is the chunk, and nothing needs a mark."""
    mark = "" if inside is None else "▌ " if inside else "  "
    style = "dim" if inside is False else ""
    return cells((f"{n:>{len(str(last))}} ", "dim"), (mark, "cyan"), (source_line(line), style))
