"""Sections of a text with headings: their extents, which of them stand together, where they may be cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ckvd.chunk.source import Source
from ckvd.model import Range, Symbol

SMALL_TOKENS = 16
"""A section with fewer tokens than this joins the one before it."""

_FENCE = re.compile(rb"[ \t>]*(`{3,}|~{3,})")


@dataclass(slots=True)
class Section:
    """Consecutive sections that make one chunk; `first` names it, `members` are indexes of symbols."""

    first: int
    start: int
    end: int
    members: set[int] = field(default_factory=set)
    tokens: int = 0


def sections(
    symbols: Sequence[Symbol], end: int, tokens: Callable[[int, int], int], target: int
) -> list[Section]:
    """The sections of a file, from each heading to the next.

    A section of under SMALL_TOKENS joins the chunk before it when it is a child of a section there, or
    has the same parent as its first, as long as that chunk stays within `target` tokens. Top-level sections
    stand alone.
    """
    headings = [i for i, s in enumerate(symbols) if s.kind == "section" and s.chunked]
    result: list[Section] = []
    for at, index in enumerate(headings):
        start = symbols[index].lead
        stop = symbols[headings[at + 1]].lead if at + 1 < len(headings) else end
        size = tokens(start, stop)
        previous = result[-1] if result else None
        if (
            previous is not None
            and size < SMALL_TOKENS
            and previous.tokens + size <= target
            and symbols[index].scope is not None
            and symbols[index].scope in {symbols[previous.first].scope, *previous.members}
        ):
            previous.end = stop
            previous.tokens += size
            previous.members.add(index)
        else:
            result.append(Section(index, start, stop, {index}, size))
    return result


def blocks(source: Source, start: int, end: int) -> list[Range]:
    """The paragraphs and fenced blocks of a range, each with the blank lines behind it."""
    data = source.data
    edges = [start, *source.line_starts(start, end), end]
    starts = [start]
    fence: bytes | None = None
    blank = False
    for at, stop in pairwise(edges):
        line = data[at:stop]
        match = _FENCE.match(line)
        if match and match[1][:1] == b"`" and b"`" in line[match.end() :]:
            match = None  # a code span, not a fence
        if fence is not None:
            if match and match[1].startswith(fence) and not line[match.end() :].strip():
                fence, blank = None, True
            continue
        if match:
            fence = match[1]
        empty = not line.strip()
        if (blank or match) and not empty and at > starts[-1]:
            starts.append(at)
        blank = empty
    return list(zip(starts, [*starts[1:], end], strict=True))
