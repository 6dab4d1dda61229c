"""Search results and single chunks: values → text, Markdown or JSON. Control characters never leave raw."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, Literal

from rich.console import ConsoleRenderable, Group
from rich.text import Text

from ckvd.report import terminal
from ckvd.report.terminal import cells, number, plain, source_line
from ckvd.search import Hit, Results

Format = Literal["text", "markdown"]

HEADER_LINES = 4
BODY_LINES = 8
"""Lines of each hit that the text form shows; Markdown and JSON have all."""

_MARK = "┆ "  # in front of context, which is not the unit's own text


def as_json(results: Results) -> dict[str, Any]:
    """The document of `search --json`; `score` compares within one search only."""
    return {
        "revision": results.revision,
        "mode": results.mode,
        "total": results.total,
        "note": results.note,
        "results": [asdict(hit) for hit in results.hits],
    }


def show(results: Results, *, format: Format = "text") -> None:  # noqa: A002 - the option's name
    """On stdout: excerpts to look at, or Markdown to paste."""
    if format == "markdown":
        terminal.write(markdown(results))
    else:
        terminal.show(screen(results))


def screen(results: Results) -> ConsoleRenderable:
    """Rank, place, name, kind and score of each hit, then its context marked apart, then its first lines."""
    parts: list[ConsoleRenderable] = []
    if results.note:
        parts.append(cells((f"{results.mode} only: {results.note}", "yellow")))
    if not results.hits:
        parts.append(cells("Nothing was found."))
    width = len(str(len(results.hits)))
    for rank, hit in enumerate(results.hits, 1):
        if parts:
            parts.append(Text())
        parts += _hit(rank, width, hit)
    if results.total > len(results.hits) > 0:
        parts += [Text(), cells((f"{number(results.total)} in all", "dim"))]
    return Group(*parts)


def place(hit: Hit) -> str:
    return f"{hit.path}:{_lines(hit.start_line, hit.end_line)}"


def _lines(start: int, end: int) -> str:
    return str(start) if start == end else f"{start}-{end}"


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
    )
    indent = " " * (width + 2)
    for line in _excerpt(hit.header, HEADER_LINES):
        yield _code(indent, (_MARK + line, "dim"))
    for line in _excerpt(hit.body, BODY_LINES):
        yield _code(indent, line)


def _excerpt(text: str, most: int) -> Iterator[str]:
    lines = _split(text)
    for line in lines[:most]:
        yield source_line(line)
    if (more := len(lines) - most) > 0:
        yield "…" if more == 1 else f"… {number(more)} more lines"


def _split(text: str) -> list[str]:
    """Lines end at LF alone; blank ones at either end are left out."""
    return text.strip("\n").split("\n") if text.strip() else []


def _code(*parts: str | tuple[str, str]) -> Text:
    text = cells(*parts)
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


# -- Markdown -------------------------------------------------------------------------------------


def markdown(results: Results) -> str:
    """All hits whole: a heading each, the context in a block of its own, then the code."""
    parts = [_markdown(rank, hit) for rank, hit in enumerate(results.hits, 1)]
    if results.note:
        parts.insert(0, f"> {plain(results.mode)} only: {plain(results.note)}\n")
    return "\n".join(parts) if parts else "Nothing was found.\n"


def _markdown(rank: int, hit: Hit) -> str:
    part = f", part {hit.part} of {hit.parts}" if hit.parts > 1 else ""
    lines = [f"## {rank}. {_quoted(place(hit))} {_quoted(_named(hit))} ({plain(hit.kind)}{part})", ""]
    if hit.header.strip():
        lines += ["Context:", "", *_block(hit.header, hit.language), "", "Code:", ""]
    return "\n".join([*lines, *_block(hit.body, hit.language), ""])


def _quoted(text: str) -> str:
    """Inline code, in as many backticks as it needs."""
    words = plain(text)
    ticks = "`" * (_longest_run(words) + 1)
    pad = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{ticks}{pad}{words}{pad}{ticks}"


def _block(text: str, language: str | None) -> Iterable[str]:
    lines = [_kept_tabs(line) for line in _split(text)]
    fence = "`" * max(3, _longest_run("\n".join(lines)) + 1)
    return [f"{fence}{plain(language or '')}", *lines, fence]


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _kept_tabs(line: str) -> str:
    return "\t".join(plain(piece) for piece in line.removesuffix("\r").split("\t"))


# -- one chunk ------------------------------------------------------------------------------------


def show_chunk(chunk: Mapping[str, Any]) -> None:
    """On stdout: the chunk under its context; or the whole file, where `file` has its text, with the
    chunk's lines marked. `chunk` has the columns of `chunks`."""
    terminal.show(chunk_screen(chunk, numbered=sys.stdout.isatty()))


def chunk_screen(chunk: Mapping[str, Any], *, numbered: bool) -> ConsoleRenderable:
    """`numbered` puts line numbers in front, for people; an outline has none, since it leaves lines out."""
    start, end = chunk["start_line"], chunk["end_line"]
    parts: list[ConsoleRenderable] = [
        cells(
            (f"{chunk['path']}:{_lines(start, end)}", "cyan"),
            "  ",
            (chunk["symbol"] or f"<{chunk['unit']}>", "bold"),
            f"  {chunk['kind']}",
            (f"  {number(chunk['tokens'])} tokens", "dim"),
        ),
        Text(),
    ]
    if (whole := chunk.get("file")) is not None:
        lines = str(whole).removesuffix("\n").split("\n")
        parts += [_numbered(n, line, start <= n <= end, len(lines)) for n, line in enumerate(lines, 1)]
        return Group(*parts)
    parts += [cells((_MARK + source_line(line), "dim")) for line in _split(chunk["header"])]
    if len(parts) > 2:
        parts.append(Text())
    body = str(chunk["body"]).removesuffix("\n").split("\n")
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
