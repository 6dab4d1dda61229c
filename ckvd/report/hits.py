"""Search results to paste or to read by a program: values → text, Markdown, JSON. No control character leaves
raw but in JSON, which escapes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from ckvd.hit import WARNINGS, Hit, Results, place, title, whole_lines
from ckvd.report.plain import kept_tabs, number, plain, source_lines

MARK = "┆ "
"""In front of context, which is not the unit's own text."""


def as_json(results: Results) -> dict[str, Any]:
    """The document of `search --json`; `score` compares within one search only."""
    return {
        "revision": results.revision,
        "mode": results.mode,
        "total": results.total,
        "note": results.note,
        "tokens": results.tokens,
        "results": [asdict(hit) | {"matches": list(hit.matches)} for hit in results.hits],
    }


def text(results: Results) -> str:
    """All hits whole: a line of its own above each, its context marked, then its text as it stands."""
    blocks = ["\n".join(_text(hit)) for hit in results.hits]
    if note := _note(results):
        blocks.insert(0, note)
    if not results.hits:
        blocks.append("Nothing was found." if not results.total else "Nothing is shown.")
    if results.tokens is None and (rest := more(results)):
        blocks.append(rest)
    return "\n\n".join(blocks) + "\n"


def _note(results: Results) -> str:
    return f"Note: {results.mode} search; {plain(results.note)}" if results.note else ""


def more(results: Results) -> str:
    """How many hits there are in all, where more than are shown."""
    shown = len(results.hits)
    return f"{number(results.total)} in all" if results.total > shown > 0 else ""


def _text(hit: Hit) -> Iterator[str]:
    yield plain(title(hit))
    yield from (MARK + kept_tabs(line) for line in source_lines(hit.header))
    if hit.header_of is not None:
        yield f"{MARK}that of {plain(hit.header_of)} above"
    yield from map(kept_tabs, source_lines(whole_lines(hit)))


# -- Markdown -------------------------------------------------------------------------------------


def markdown(results: Results) -> str:
    """All hits whole: a heading each, the context in a block of its own, then the code."""
    parts = [_markdown(rank, hit) for rank, hit in enumerate(results.hits, 1)]
    if note := _note(results):
        parts.insert(0, f"> {note}\n")
    if not results.hits:
        parts.append("Nothing was found.\n" if not results.total else "Nothing is shown.\n")
    return "\n".join(parts)


def _markdown(rank: int, hit: Hit) -> str:
    part = f", part {hit.part} of {hit.parts}" if hit.parts > 1 else ""
    outline = ", outline" if hit.rendering == "outline" else ""
    name = hit.symbol or f"<{hit.unit}>"
    lines = [
        f"## {rank}. {_quoted(place(hit))} {_quoted(name)} ({plain(hit.kind)}{part}{outline})"
        + WARNINGS[hit.on_disk],
        "",
    ]
    if hit.header.strip():
        lines += ["Context:", "", *_block(hit.header, hit.language), "", "Code:", ""]
    elif hit.header_of is not None:
        lines += [f"Context: that of {_quoted(hit.header_of)} above.", "", "Code:", ""]
    return "\n".join([*lines, *_block(whole_lines(hit), hit.language), ""])


def _quoted(text: str) -> str:
    """Inline code, in as many backticks as it needs."""
    words = plain(text)
    ticks = "`" * (_longest_run(words) + 1)
    pad = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{ticks}{pad}{words}{pad}{ticks}"


def _block(text: str, language: str | None) -> Iterable[str]:
    lines = [kept_tabs(line) for line in source_lines(text)]
    fence = "`" * max(3, _longest_run("\n".join(lines)) + 1)
    return [f"{fence}{plain(language or '')}", *lines, fence]


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
