"""What is to be cut: a file's text, what an outline leaves out of it, and the chunks that lie in it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ckvd.chunk.source import Source
from ckvd.model import Range


class Elision(NamedTuple):
    """A range that an outline leaves out, what it says instead, and the range of the chunk it is from."""

    start: int
    end: int
    mark: str
    chunk: Range


class View:
    """A file's text with some ranges left out; positions stay those of the file.

    `chunks` are the ranges of the chunks in what is looked at, parts too; any two are disjoint, or one lies
    in the other.
    """

    def __init__(
        self, source: Source, elisions: Sequence[Elision] = (), chunks: Iterable[Range] = ()
    ) -> None:
        self.source = source
        self.elisions = elisions
        self._starts = [e.start for e in elisions]
        self._chunks = sorted((start, -end) for start, end in chunks)
        self._ends = sorted((-end, start) for start, end in self._chunks)
        self._whole = set(self._chunks)

    def is_chunk(self, start: int, end: int) -> bool:
        return (start, -end) in self._whole

    def chunks_in(self, start: int, end: int) -> list[Range]:
        """The outermost of the chunks that lie in a range and are not all of it, in file order."""
        found: list[Range] = []
        at = bisect_left(self._chunks, (start,))
        while at < len(self._chunks) and self._chunks[at][0] < end:
            first, last = self._chunks[at][0], -self._chunks[at][1]
            if last <= end and (first, last) != (start, end):
                found.append((first, last))
                at = bisect_left(self._chunks, (last,), lo=at + 1)
            else:
                at += 1
        return found

    def is_torn(self, start: int, end: int) -> bool:
        """Whether a chunk lies partly in a range and partly before or behind it."""
        begun = self._chunks[bisect_left(self._chunks, (start + 1,)) : bisect_left(self._chunks, (end,))]
        ended = self._ends[bisect_left(self._ends, (start + 1,)) : bisect_left(self._ends, (end,))]
        return any(-last > end for _, last in begun) or any(first < start for _, first in ended)

    def render(self, start: int, end: int) -> str:
        text, at, out = self.source.text, start, []
        for elision in self._within(start, end):
            out += [text(at, elision.start), elision.mark]
            at = elision.end
        out.append(text(at, end))
        return "".join(out)

    def weight(self, start: int, end: int) -> int:
        """An additive estimate of the size, at least 1: words count most, blanks a little."""
        words = self.source.weight(start, end)
        for elision in self._within(start, end):
            words -= self.source.weight(elision.start, elision.end) - 1
        return max(1, 16 * words + self.size(start, end))

    def size(self, start: int, end: int) -> int:
        """Bytes, the marks not counted."""
        return end - start - sum(e.end - e.start for e in self._within(start, end))

    def cuttable(self, offset: int, whole: Sequence[Range] = ()) -> bool:
        """Whether a cut tears neither an elision nor one of some sorted, disjoint ranges."""
        at = bisect_right(self._starts, offset) - 1
        if at >= 0 and self.elisions[at].start < offset < self.elisions[at].end:
            return False
        at = bisect_left(whole, offset, key=lambda r: r[0]) - 1
        return at < 0 or offset >= whole[at][1]

    def _within(self, start: int, end: int) -> Sequence[Elision]:
        if not self.elisions:
            return ()
        return self.elisions[bisect_left(self._starts, start) : bisect_left(self._starts, end)]
