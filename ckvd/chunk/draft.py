"""From a range and its header to the chunk or the parts that fit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ckvd.chunk.source import Source
from ckvd.chunk.split import Splitter
from ckvd.chunk.text import Embedded, TextBuilder, embed_hash
from ckvd.chunk.view import Elision, View
from ckvd.model import Chunk, Grain, Parsed, Pieces, Range, Rendering, Segment, Unit, digest, no_pieces

BYTES_PER_TOKEN = 32
"""A body has at most this times the limit in bytes: a megabyte without a blank may be one unknown token."""

MIN_ROOM = 8
"""Tokens that a part's body may always have; a limit too small for prefix line and this truncates."""


@dataclass(slots=True)
class Draft:
    """A chunk before it is known to fit. `first_cuts` are the pieces that it is cut into first."""

    unit: Unit
    kind: str
    grain: Grain
    symbol: str | None
    parents: tuple[str, ...]
    start: int
    end: int
    header: tuple[Segment, ...] = ()
    part_header: Callable[[], tuple[Segment, ...]] | None = None
    """The header that parts have instead: it names the symbol itself as well."""
    nested: Sequence[Range] = ()
    """The ranges of the chunks directly inside, disjoint and in order."""
    elisions: tuple[Elision, ...] = ()
    first_cuts: Callable[[], Sequence[Range]] = tuple
    syntax: bool = True
    """Whether further cuts follow the syntax tree."""
    ready: Embedded | None = None
    names: Mapping[str, int] = field(default_factory=dict)
    """For the unit `names`: what it lists, and where each stands."""


@dataclass(frozen=True, slots=True)
class Part:
    start: int
    end: int
    header: tuple[Segment, ...]
    body: str
    rendering: Rendering
    embedded: Embedded


class Finisher:
    """Fits the drafts of one file to the limit."""

    def __init__(self, source: Source, builder: TextBuilder, parsed: Parsed, limit: int) -> None:
        self._source, self._builder, self._parsed, self._limit = source, builder, parsed, limit

    def _fit(self, draft: Draft, view: View, header: tuple[Segment, ...]) -> _Fit:
        return _Fit(draft, view, header, self._builder, self._limit, self._parsed.comment)

    def finish(self, draft: Draft, inside: Sequence[Range] = ()) -> list[Part]:
        """The chunk whole where it fits, else its outline, else parts (of the outline, if it has one).

        `inside` are the ranges of the chunks in it, parts too. From one that is too big for a part even in
        the outline, or that others are cut across, nothing is left out, so that it can be cut where they are.
        """
        if draft.names:
            return self._names(draft)
        start, end = draft.start, draft.end
        if draft.ready is not None:
            return [Part(start, end, draft.header, self._source.text(start, end), "source", draft.ready)]
        views: list[tuple[View, Rendering]] = [(View(self._source), "source")]
        if draft.elisions:
            views.append((View(self._source, draft.elisions), "outline"))
        size = 0
        for view, rendering in views:
            fit = self._fit(draft, view, draft.header)
            size = fit.measure(start, end)
            if size <= self._limit:
                return [fit.part(start, end, rendering)]
        header = draft.part_header() if draft.part_header else draft.header
        fit = self._fit(draft, view, header)
        ahead = View(self._source, (), inside)
        kept = [e for e in view.elisions if fit.fits(*e.chunk) and not ahead.is_torn(*e.chunk)]
        fit = self._fit(draft, View(self._source, kept, inside), header)
        pieces = self._parsed.pieces if draft.syntax else no_pieces
        spans = fit.split(start, end, draft.first_cuts(), pieces, size)
        return [fit.part(*span, rendering) for span in spans]

    def _names(self, draft: Draft) -> list[Part]:
        """The list of names in one chunk or parts; a part's range reaches to where the next one's begins."""
        names = list(draft.names)
        listing = Source("\n".join(names).encode())
        end = len(listing.data)
        fit = self._fit(draft, View(listing), draft.header)
        size = fit.measure(0, end)
        spans = [(0, end)]
        if size > self._limit:
            spans = fit.split(0, end, (), no_pieces, size)
        places = list(draft.names.values())
        starts = [0, *(places[listing.line(span[0]) - 1] for span in spans[1:]), draft.end]
        parts = []
        for k, (first, last) in enumerate(spans):
            part = fit.part(first, last, "outline")
            parts.append(
                Part(starts[k], max(starts[k : k + 2]), part.header, part.body, "outline", part.embedded)
            )
        return parts

    def chunk(self, draft: Draft, part: Part, chunk_id: str, number: int, parts: int) -> Chunk:
        header = "\n".join(s.text for s in part.header)
        return Chunk(
            chunk_id=chunk_id,
            unit=draft.unit,
            kind=draft.kind,
            grain=draft.grain,
            symbol=draft.symbol,
            parents=draft.parents,
            start=part.start,
            end=part.end,
            start_line=self._source.line(part.start),
            end_line=self._source.line(max(part.start, part.end - 1)),
            part=number,
            parts=parts,
            header=part.header,
            body=part.body,
            rendering=part.rendering,
            tokens=part.embedded.tokens,
            header_trimmed=part.embedded.header_trimmed,
            truncated=part.embedded.reserved > self._limit,
            content_hash=digest(header.encode(), part.body.encode()),
            own_hash=digest(header.encode(), self._own_text(draft, part)),
            embed_hash=embed_hash(part.embedded.text),
        )

    def _own_text(self, draft: Draft, part: Part) -> bytes:
        """What the chunk holds beside the chunks inside it."""
        if draft.names:
            return part.body.encode()
        out, at = [], part.start
        first = bisect_left(draft.nested, part.start, key=lambda r: r[1])
        for start, end in draft.nested[first:]:
            if start >= part.end:
                break
            out.append(self._source.data[at : max(at, start)])
            at = max(at, end)
        out.append(self._source.data[at : max(at, part.end)])
        return b"\0".join(out)


class _Fit:
    """Measures and makes the parts of one draft; texts that fit are built once."""

    def __init__(
        self,
        draft: Draft,
        view: View,
        header: tuple[Segment, ...],
        builder: TextBuilder,
        limit: int,
        comment: str,
    ) -> None:
        self._draft, self._view, self._header = draft, view, header
        self._builder, self._limit, self._comment = builder, limit, comment
        self._fitting: dict[Range, tuple[str, Embedded]] = {}

    def _build(self, start: int, end: int) -> tuple[str, Embedded]:
        built = self._fitting.get((start, end))
        if built is None:
            body = self._view.render(start, end)
            built = body, self._embedded(body)
            if built[1].reserved <= self._limit:
                self._fitting[start, end] = built
        return built

    def _embedded(self, body: str) -> Embedded:
        draft = self._draft
        return self._builder.build(draft.unit, draft.symbol, draft.kind, self._header, body)

    def measure(self, start: int, end: int) -> int:
        """Tokens with the prefix line; for a text over the byte cap a figure over the limit, uncounted."""
        size, cap = self._view.size(start, end), BYTES_PER_TOKEN * self._limit
        return self._limit * size // cap + 1 if size > cap else self._build(start, end)[1].reserved

    @cached_property
    def _overhead(self) -> int:
        """Tokens of a part without a body."""
        return self._embedded("").reserved

    @property
    def _most(self) -> int:
        return max(self._limit, self._overhead + MIN_ROOM)

    def fits(self, start: int, end: int) -> bool:
        """Whether a range fits in a part; a token has at least one byte."""
        return (
            self._view.size(start, end) + self._overhead <= self._limit
            or self.measure(start, end) <= self._most
        )

    def split(self, start: int, end: int, first: Sequence[Range], pieces: Pieces, size: int) -> list[Range]:
        overhead, limit = self._overhead, self._most
        splitter = Splitter(self._view, pieces, self._comment, self.measure, overhead, limit)
        return splitter.split(start, end, first, size)

    def part(self, start: int, end: int, rendering: Rendering) -> Part:
        body, embedded = self._build(start, end)
        return Part(start, end, self._header, body, rendering, embedded)
