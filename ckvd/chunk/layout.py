"""Which ranges of a file become chunks: symbols with one of their own, and what lies between them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ckvd.chunk.source import Source, has_word
from ckvd.model import Range, Symbol

TYPES = frozenset({"struct", "union", "enum", "class"})
"""Kinds that one declaration may declare together with variables."""

MAX_NESTING = 12
"""Chunks around a chunk; what is nested deeper lies in the one around it: each level stores its text."""


_CLOSING = re.compile(
    rb"(?:\s*(?:[)\]};, \t]*[)\]};,]|#[ \t]*end(?:if|region)\b[^\n]*|(?:end|endif|fi|esac|done)\b)"
    rb"[^\S\n]*(?:\n|\Z))+"
)
"""Lines that do no more than close what stands before them."""

_OPENING = re.compile(rb"(?:\n[ \t]*#[ \t]*if[^\n]*)+\Z")
"""Lines at the end that open what stands behind them."""


@dataclass(slots=True)
class Nesting:
    """Which symbols have a chunk of their own, which of these lie directly in which, which are coarse, and
    the ranges of their chunks."""

    own: list[bool]
    children: list[list[int]]
    coarse: list[bool]
    ranges: list[Range]


def nest(symbols: Sequence[Symbol], clean_only: bool) -> Nesting:
    """`clean_only` leaves out symbols with an error inside.

    A top-level constant that holds functions (an object, a module in a closure) has a chunk of its own, as a
    class has: without it, what stands around its functions would be scraps.
    """
    wanted = [s.chunked and (s.clean or not clean_only) for s in symbols]
    outermost: list[int] = []
    alone: list[bool] = []  # no chunk around
    holding: set[int] = set()
    for index, symbol in enumerate(symbols):
        scope = symbol.scope
        outermost.append(index if scope is None else outermost[scope])
        alone.append(scope is None or (alone[scope] and not wanted[scope]))
        if wanted[index] and alone[index] and scope is not None:
            holding.add(outermost[index])
    own: list[bool] = []
    depths: list[int] = []
    nearest: list[int | None] = []
    children: list[list[int]] = [[] for _ in symbols]
    for index, symbol in enumerate(symbols):
        scope = symbol.scope
        holder = None if scope is None else scope if own[scope] else nearest[scope]
        depth = 0 if holder is None else depths[holder] + 1
        has = depth < MAX_NESTING and (
            wanted[index] or (index in holding and (symbol.clean or not clean_only))
        )
        own.append(has)
        depths.append(depth)
        nearest.append(holder)
        if has and holder is not None:
            children[holder].append(index)
    return Nesting(
        own, children, [s.coarse or i in holding for i, s in enumerate(symbols)], _ranges(symbols, own)
    )


def _ranges(symbols: Sequence[Symbol], own: Sequence[bool]) -> list[Range]:
    """The range of each symbol's chunk: with its doc comment and the comment that ends its last line, and
    whole where a type is declared with more.

    In `static struct st { … } table[] = { … };` the struct has a chunk; what is torn from it says nothing. Of
    several such symbols in one declaration the first has all of it.
    """
    ranges = [(s.lead, max(s.end, s.tail)) for s in symbols]
    around: dict[int | None, Symbol] = {}  # by scope: the last declaration without a chunk of its own
    taken: dict[int | None, int] = {}  # by scope: where the last chunk ends
    for index, symbol in enumerate(symbols):
        scope = symbol.scope
        if own[index]:
            whole = around.pop(scope, None)
            if whole is not None and symbol.end <= whole.end and symbol.kind in TYPES:
                ranges[index] = min(symbol.lead, whole.lead), whole.end
            taken[scope] = max(taken.get(scope, 0), ranges[index][1])
        elif symbol.clean and symbol.start >= max(
            taken.get(scope, 0), around[scope].end if scope in around else 0
        ):
            around[scope] = symbol
    return ranges


@dataclass(slots=True)
class Cover:
    """A range that is taken: by a symbol's chunk (its index) or by a damaged region (None)."""

    start: int
    end: int
    symbol: int | None


def covers(nesting: Nesting, regions: Iterable[Range]) -> list[Cover]:
    """The taken ranges in file order, the longer first."""
    taken = [Cover(*held, i) for i, held in enumerate(nesting.ranges) if nesting.own[i]]
    taken += [Cover(start, end, None) for start, end in regions]
    taken.sort(key=lambda c: (c.start, -c.end, -1 if c.symbol is None else c.symbol))
    return taken


def gaps(source: Source, taken: Sequence[Cover], symbols: Sequence[Symbol] = ()) -> list[Range]:
    """What no cover holds, trimmed of blanks.

    The head of what encloses symbols and is none (`type (`, `#else`) joins the first with a cover, lines
    that close (`}`, `#endif`) the cover before them.
    A gap without a word joins the cover before it, or the next. So does one that is a single line comment:
    one that ends a line the cover before it, a heading the next, the last line of a file the last.
    """
    result: list[Range] = []
    heads_at: dict[int, int] = {}
    for head in {h for s in symbols for h in s.around}:
        line = source.trim(*source.lines_of(head.start, head.end))[1]
        for at in (head.end, line) if head.holds is None else (head.end,):  # an object may end on its line
            heads_at[at] = head.start if head.lead is None else head.lead
    holder: Cover | None = None
    for cover in [*taken, None]:
        at = holder.end if holder else 0
        stop = cover.start if cover else len(source.data)
        start, end = source.trim(at, stop) if at < stop else (stop, stop)
        while cover is not None and cover.symbol is not None and start <= heads_at.get(end, -1) < end:
            cover.start = max(start, source.back_to_code(heads_at[end]))
            start, end = source.trim(start, cover.start)
        if holder is not None and (closing := _CLOSING.match(source.data, start, end)) is not None:
            holder.end = source.trim(start, closing.end())[1]
            start, end = source.trim(closing.end(), end)
        if start < end:
            wordless = not has_word(source.data[start:end])
            heads = not wordless and b"\n" in source.data[at:start]
            if not (holder and (wordless or source.is_remark(start, end))) and not (cover and wordless):
                result.append((start, end))
            elif cover is not None and (holder is None or heads):
                cover.start = start
            elif holder is not None:
                holder.end = end
        if cover is not None and (holder is None or cover.end > holder.end):
            holder = cover
    return result


def file_header(
    source: Source, gap: Range, top: Sequence[Range], whole: Sequence[Range], lines: int
) -> Range | None:
    """The beginning of a gap, at most that many lines of the file, ending between two top-level pieces.

    `top` are the pieces within the gap; where there are none, it ends at a line. `whole` are the ranges of
    the symbols in it and of what encloses some, sorted and disjoint. None where the first piece alone is
    longer: what belongs together is not torn for it. A comment stays with what it heads.
    """
    start, end = gap
    stop = min(end, source.offset_after_line(lines))
    if top and (top[-1][1] > stop if stop < end else _torn(whole, end)):
        cuts = [(source.back_to_indent(p[0]), not source.heads(before, p[0])) for before, p in pairwise(top)]
        ends = [(free, at) for at, free in cuts if at <= stop and source.begins_line(at)]
        ends = [end for end in ends if not _torn(whole, end[1])]
        if not ends:
            return None
        stop = max(ends)[1]
    elif stop < end and _torn(whole, stop):
        return None
    head = source.trim(start, max(start, stop))
    if (opening := _OPENING.search(source.data, *head)) is not None:
        head = source.trim(start, opening.start())
    if not has_word(source.data[head[1] : end]):
        head = gap
    return None if head[0] == head[1] or source.is_remark(*head) else head


def _torn(whole: Sequence[Range], at: int) -> bool:
    """Whether a cut falls inside one of sorted, disjoint ranges."""
    index = bisect_left(whole, at, key=lambda r: r[0]) - 1
    return index >= 0 and at < whole[index][1]


def damage_regions(source: Source, damage: Iterable[Range], taken: Sequence[Range]) -> list[Range]:
    """Damaged ranges in whole lines, joined where they meet, without the chunks of symbols in or across them.

    So every region lies within such a chunk or beside it. What is left without a word is no region.
    `taken` are the symbols' chunks, which may nest.
    """
    data = source.data
    lines: list[Range] = []
    for start, end in sorted(damage):
        first = data.rfind(b"\n", 0, start) + 1
        line_end = data.find(b"\n", max(start, end - 1))
        last = line_end + 1 if line_end >= 0 else len(data)
        if lines and first <= lines[-1][1]:
            lines[-1] = (lines[-1][0], max(last, lines[-1][1]))
        else:
            lines.append((first, last))
    by_start = sorted(taken)
    by_end = sorted(taken, key=lambda r: r[1])
    result: list[Range] = []
    for line_range in lines:
        start, end = source.trim(*line_range)
        begin_within = by_start[_first(by_start, 0, start) : _first(by_start, 0, end)]
        end_within = by_end[_first(by_end, 1, start + 1) : _first(by_end, 1, end)]
        inside = merged(r for r in (*begin_within, *end_within) if r[0] > start or r[1] < end)
        at = start
        for hole_start, hole_end in (*inside, (end, end)):
            piece = source.trim(at, max(at, min(hole_start, end)))
            if has_word(data[piece[0] : piece[1]]):
                result.append(piece)
            at = max(at, hole_end)
    return result


def _first(ranges: Sequence[Range], side: int, offset: int) -> int:
    """The first of ranges, sorted by that side, whose side is at or behind an offset."""
    return bisect_left(ranges, offset, key=lambda r: r[side])


def merged(ranges: Iterable[Range]) -> list[Range]:
    """Sorted ranges joined where they overlap."""
    result: list[Range] = []
    for start, end in sorted(ranges):
        if result and start < result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result
