"""Markdown → its sections by heading, as CommonMark has them; front matter is no part of it.

A `---` or `===` below a table of GitHub's underlines no heading.
"""

from __future__ import annotations

import re
from functools import cache

from markdown_it import MarkdownIt

from ckvd.languages import Language
from ckvd.model import Parsed
from ckvd.parse.sections import Blocks, Heading, parsed

_FRONT_MATTER = re.compile(rb"\A(---|\+\+\+)[ \t]*\r?\n(?:.*\n)*?(?:\1|\.\.\.)[ \t]*\r?(?:\n|\Z)")
_MARKER = re.compile(rb"#{0,6}[ \t]*")
_LEAVES = frozenset({"fence", "code_block", "html_block", "hr"})


def parse(_path: str, source: bytes, language: Language) -> Parsed:
    """The headings that open a section: those of the document itself, not of a quote, a list or a fence."""
    headings: list[Heading] = []
    blocks: list[tuple[int, int]] = []
    starts = _line_starts(source)
    tokens = _reader().parse(_readable(source))
    for at, token in enumerate(tokens):
        if token.map is None or (token.nesting != 1 and token.type not in _LEAVES):
            continue
        start, end = starts[token.map[0]], starts[token.map[1]]
        blocks.append((start, end))
        if token.type == "heading_open" and token.level == 0:
            end -= len(source[start:end]) - len(source[start:end].rstrip())
            start += len(source[start:end]) - len(source[start:end].lstrip())
            marker = _MARKER.match(source, start, end) if token.markup.startswith("#") else None
            title_start = marker.end() if marker else start
            headings.append(Heading(int(token.tag[1]), tokens[at + 1].content, start, end, title_start))
    return parsed(source, language, headings, Blocks(blocks))


@cache
def _reader() -> MarkdownIt:
    """CommonMark's blocks and tables alone; its depth is bounded, so that no nesting is too deep."""
    reader = MarkdownIt("commonmark").enable("table")
    reader.core.ruler.enableOnly(["normalize", "block"])
    return reader


def _readable(source: bytes) -> str:
    """The text with as many lines as the source has: a lone CR ends none, and front matter is blank."""
    front = _FRONT_MATTER.match(source)
    if front:
        source = b"\n" * front[0].count(b"\n") + source[front.end() :]
    return re.sub(rb"\r(?!\n)", b" ", source).decode("utf-8", "replace")


def _line_starts(source: bytes) -> list[int]:
    starts = [0]
    starts.extend(m.end() for m in re.finditer(rb"\n", source))
    if starts[-1] != len(source):
        starts.append(len(source))
    return starts
