"""Markdown → its sections by heading, as CommonMark has them; front matter is no part of it.

A `---` or `===` below a table of GitHub's underlines no heading. Fenced code declares nothing, and
its own grammar says where it is cut.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ckvd.languages import Language
from ckvd.languages.detect import detect
from ckvd.model import Parsed, Pieces, Range
from ckvd.parse import tree
from ckvd.parse.sections import Blocks, Heading, parsed
from ckvd.parse.table import usable

_FRONT_MATTER = re.compile(rb"\A(---|\+\+\+)[ \t]*\r?\n(?:.*\n)*?(?:\1|\.\.\.)[ \t]*\r?(?:\n|\Z)")
_MARKER = re.compile(rb"#{0,6}[ \t]*")
_LEAVES = frozenset({"fence", "code_block", "html_block", "hr"})


def parse(_path: str, source: bytes, language: Language) -> Parsed:
    """The headings that open a section: those of the document itself, not of a quote, a list or a fence."""
    headings: list[Heading] = []
    blocks: list[Range] = []
    fences: list[_Fence] = []
    starts = _line_starts(source)
    tokens = _reader().parse(_readable(source))
    for at, token in enumerate(tokens):
        if token.map is None or (token.nesting != 1 and token.type not in _LEAVES):
            continue
        start, end = starts[token.map[0]], starts[token.map[1]]
        blocks.append((start, end))
        if token.type == "fence" and token.level == 0:
            fences += _code(source, token, starts)
        if token.type == "heading_open" and token.level == 0:
            end -= len(source[start:end]) - len(source[start:end].rstrip())
            start += len(source[start:end]) - len(source[start:end].lstrip())
            marker = _MARKER.match(source, start, end) if token.markup.startswith("#") else None
            title_start = marker.end() if marker else start
            headings.append(Heading(int(token.tag[1]), tokens[at + 1].content, start, end, title_start))
    return parsed(source, language, headings, _Pieces(Blocks(blocks), source, fences))


@dataclass(frozen=True, slots=True)
class _Fence:
    """A fenced block with its marks, the code between them, and the code's language."""

    whole: Range
    code: Range
    language: Language


def _code(source: bytes, token: Token, starts: Sequence[int]) -> list[_Fence]:
    """The fence that a token stands for, if its language has a grammar."""
    assert token.map is not None
    language = detect("", b"", token.info.split()[0]) if token.info.strip() else None
    first, last = token.map
    closed = source[starts[last - 1] : starts[last]].strip().startswith(token.markup.encode())
    code = (starts[first + 1], starts[last - 1] if closed else starts[last])
    if language is None or language.grammar is None or not usable(language) or code[0] >= code[1]:
        return []
    return [_Fence((starts[first], starts[last]), code, language)]


@dataclass(slots=True)
class _Pieces:
    """A text's blocks, and within fenced code its statements."""

    blocks: Blocks
    source: bytes
    fences: Sequence[_Fence]
    read: dict[Range, Pieces] = field(default_factory=dict)

    def __call__(self, start: int, end: int) -> Sequence[Range]:
        at = bisect_right(self.fences, start, key=lambda fence: fence.whole[0]) - 1
        if at < 0 or self.source[self.fences[at].whole[1] : end].strip():
            return self.blocks(start, end)
        first, last = self.fences[at].code
        if self.fences[at].code not in self.read:
            text = self.source[first:last]
            self.read[first, last] = tree.parse("", text, self.fences[at].language).pieces
        begin, stop = max(start, first), min(end, last)
        inside = self.read[first, last](begin - first, stop - first) if begin < stop else ()
        marks = [each for each in ((start, min(first, end)), (max(last, start), end)) if each[0] < each[1]]
        return sorted([*marks, *((first + a, first + b) for a, b in inside)])


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
