"""Cutting a range that is too big into parts that fit and whose concatenation is the range.

Greedy over the syntax: whole children while they fit, into a child that is too big alone, then lines,
then words. A chunk that lies in the range is cut only where it fits in no part; then a part begins and one
ends with it, so that any two chunks are disjoint or one lies in the other. Sizes are estimated by additive
weights and every part is verified by counting, so that the number of counts is about the number of parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from ckvd.chunk.source import has_word
from ckvd.chunk.view import View
from ckvd.model import Pieces, Range

MAX_DEPTH = 60
"""Levels of syntax that are entered before lines are cut."""

_LINES, _WORDS = MAX_DEPTH, MAX_DEPTH + 1
_SLACK = 0.8
"""A part that fills less than this share of its room is tried again with the next pieces."""


class Atom(NamedTuple):
    """A piece of a tiling, and the syntax node that it is to be cut by (the tile has its punctuation too)."""

    start: int
    end: int
    node: Range
    depth: int


_BORDER = Atom(-1, -1, (-1, -1), 0)
"""Where a part has to end: no piece, but among pieces."""


def tile(
    view: View, start: int, end: int, children: Sequence[Range], depth: int, comment: bytes
) -> list[Atom]:
    """A range cut before each child, and before its indentation where it begins a line.

    A comment stays with what follows on the next line.
    """
    whole = view.chunks_in(start, end)
    cuts: list[tuple[int, Range]] = [(start, (start, end))]
    remark = -1  # where a comment ended that the next child may belong to
    for child in children:
        if not start <= child[0] < child[1] <= end:
            continue
        at = view.source.back_to_indent(child[0], start)
        data = view.source.data
        belongs = 0 <= remark <= child[0] and data.count(b"\n", remark, child[0]) <= 1
        remark = child[1] if data.startswith(comment, child[0]) else -1
        if (at == start and len(cuts) == 1) or belongs:
            cuts[-1] = (cuts[-1][0], child)
        elif at > cuts[-1][0] and view.cuttable(at, whole):
            cuts.append((at, child))
    if len(cuts) > 1 and cuts[0][1] == (start, end):
        cuts[0] = (start, (start, cuts[1][0]))
    ends = [at for at, _ in cuts[1:]] + [end]
    return [Atom(at, stop, node, depth) for (at, node), stop in zip(cuts, ends, strict=True)]


def expand(view: View, atom: Atom, pieces: Pieces, comment: bytes) -> list[Atom]:
    """The next smaller pieces of one that is too big; itself alone where it is a single character."""
    start, end, node, depth = atom
    if depth < _LINES:
        children = [c for c in pieces(*node) if node[0] <= c[0] and c[1] <= node[1] and c != node]
        atoms = tile(view, start, end, children, depth + 1, comment) if children else []
        if len(atoms) > 1 or (atoms and atoms[0].node != node):
            return atoms
    if whole := view.chunks_in(start, end):
        # Before each of the chunks, with its indentation; where that is no cut, around the first, or behind
        # what an outline leaves out, in which there may be several.
        indents = [view.source.back_to_indent(chunk[0], start) for chunk in whole]
        for edges in (indents, whole[0], [chunk[1] for chunk in whole]):
            cuts = [at for at in edges if start < at < end and view.cuttable(at, whole)]
            if cuts:
                return _at_offsets(start, end, cuts, 0)
        return [atom]
    if depth <= _LINES:
        lines = [at for at in view.source.line_starts(start, end) if view.cuttable(at)]
        if lines:
            return _at_offsets(start, end, lines, _WORDS)
    return _at_offsets(start, end, _word_cuts(view, start, end), _WORDS)


def _at_offsets(start: int, end: int, offsets: Sequence[int], depth: int) -> list[Atom]:
    edges = [start, *offsets, end]
    return [Atom(a, b, (a, b), depth) for a, b in pairwise(edges)]


def _word_cuts(view: View, start: int, end: int) -> list[int]:
    """Offsets about 256 bytes apart, or in halves below that, at the borders of words where there are any."""
    data, source = view.source.data, view.source
    step = max(1, min(256, (end - start) // 2))
    cuts: list[int] = []
    last, at = start, start + step
    while at < end:
        cut = at
        while cut > last + step // 2 and _in_word(data[cut - 1]) and _in_word(data[cut]):
            cut -= 1
        if cut == last + step // 2:
            cut = source.char_start(at)
        cut = source.char_start(cut)
        if cut > last and view.cuttable(cut):
            cuts.append(cut)
            last = cut
            at = cut + step
        else:
            at += 1
    return cuts


def _in_word(byte: int) -> bool:
    return byte >= 0x80 or chr(byte).isalnum() or byte == 0x5F


class Splitter:
    """Splits ranges of one view. `measure` gives the size of the text that a part will be embedded as."""

    def __init__(
        self,
        view: View,
        pieces: Pieces,
        comment: str,
        measure: Callable[[int, int], int],
        overhead: int,
        limit: int,
    ) -> None:
        self._view, self._pieces, self._comment = view, pieces, comment.encode()
        self._measure = measure
        self._overhead, self._limit = overhead, limit
        self._room = max(1, limit - overhead)

    def split(self, start: int, end: int, first: Sequence[Range], size: int) -> list[Range]:
        """Ranges that tile a range, each of at most the limit by `measure` unless it is one character.

        `first` are the pieces that it is cut into first, `size` is what the whole measures.
        """
        room = self._room
        # How much one unit of weight measures.
        ratio = max(size - self._overhead, 1) / self._view.weight(start, end)
        pending = tile(self._view, start, end, first, 0, self._comment)[::-1]
        part: list[Atom] = []
        before: list[Atom] = []  # the pieces of the last part, where no border follows it
        weights: list[int] = []
        total = 0
        capped = False  # this part was once too big: no more optimism about it
        result: list[Range] = []
        while pending or part:
            if pending and pending[-1] == _BORDER and not part:
                pending.pop()
                before = []
                continue
            goes_on = bool(pending) and pending[-1] != _BORDER
            if goes_on:
                weight = self._view.weight(pending[-1].start, pending[-1].end)
                if (total + weight) * ratio <= room:
                    part.append(pending.pop())
                    weights.append(weight)
                    total += weight
                    continue
                if weight * ratio > room and not self._is_whole(pending[-1]) and self._expand(pending):
                    continue
                if not part:
                    part, weights, total = [pending.pop()], [weight], weight
            size = self._measure(part[0].start, part[-1].end)
            measured = (size - self._overhead) / total if size > self._overhead else ratio
            if size > self._limit:
                capped, ratio = True, max(ratio, measured)
                if len(part) > 1:
                    while len(part) > 1:
                        pending.append(part.pop())
                        total -= weights.pop()
                        if total * ratio <= room:
                            break
                    continue
                if self._expand(part):
                    pending += part
                    part, weights, total = [], [], 0
                    continue
            elif goes_on and not capped and size < _SLACK * self._limit and measured < ratio:
                ratio = measured
                if (total + self._view.weight(pending[-1].start, pending[-1].end)) * ratio <= room:
                    continue
            else:
                ratio = measured
            if not self._says_something(part):
                if goes_on and self._measure(part[0].start, pending[-1].end) <= self._limit:
                    part.append(pending.pop())
                    weights.append(weight)
                    total += weight
                    continue
                if goes_on and not self._view.is_chunk(*pending[-1][:2]) and self._expand(pending):
                    continue
                if before:
                    before, part = self._shared(before, part)
                    result[-1:] = [(before[0].start, before[-1].end)] if before else []
            result.append((part[0].start, part[-1].end))
            before = part
            part, weights, total, capped = [], [], 0, False
        return result

    def _is_whole(self, piece: Atom) -> bool:
        """Whether a piece is a chunk that fits: cut, it would part what stands before and behind it."""
        return self._view.is_chunk(*piece[:2]) and self._measure(*piece[:2]) <= self._limit

    def _shared(self, before: list[Atom], part: list[Atom]) -> tuple[list[Atom], list[Atom]]:
        """A part without a word, with pieces of the one before it so that it has one, and what that keeps."""
        at = len(before) - 1
        while at > 0 and not self._says_something(before[at:]):
            at -= 1
        for cut in (0, at):
            kept, moved = before[:cut], before[cut:]
            fits = bool(moved) and self._measure(moved[0].start, part[-1].end) <= self._limit
            if fits and (not kept or self._says_something(kept)):
                return kept, moved + part
        return before, part

    def _says_something(self, part: Sequence[Atom]) -> bool:
        return bool(part) and has_word(self._view.source.data[part[0].start : part[-1].end])

    def _expand(self, stack: list[Atom]) -> bool:
        """Replaces the top of a stack by its smaller pieces, the first on top; False where it has none."""
        smaller = expand(self._view, stack[-1], self._pieces, self._comment)
        if smaller == [stack[-1]]:
            return False
        border = [_BORDER] if self._view.is_chunk(*stack.pop()[:2]) else []
        stack += [*border, *reversed(smaller), *border]
        return True
