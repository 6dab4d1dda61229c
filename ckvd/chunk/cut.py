"""From a file's symbols to its chunks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property

from ckvd.chunk import layout
from ckvd.chunk.draft import Draft, Finisher, Part
from ckvd.chunk.header import Headers
from ckvd.chunk.ids import assign_ids
from ckvd.chunk.outline import elisions
from ckvd.chunk.sections import Section, blocks, sections
from ckvd.chunk.source import Source
from ckvd.chunk.split import MAX_DEPTH
from ckvd.chunk.text import TextBuilder
from ckvd.chunk.windows import windows
from ckvd.model import Chunk, CutOptions, Parsed, Range, Segment, Strategy, Symbol, Unit


def cut(
    path: str,
    source: bytes,
    parsed: Parsed | None,
    strategy: Strategy,
    options: CutOptions,
    count: Callable[[str], int],
    *,
    language: str | None = None,
) -> tuple[Chunk, ...]:
    """The chunks of one file, in file order, what contains before what it contains, parts in a row.

    `path` is the display path, `source` the UTF-8 text that all offsets count in, `count` the tokens of
    a text by the model's tokenizer. `language` names the language where there is no `parsed`.
    Every byte of the source that is not white space lies in a chunk, unless the strategy is `names`.
    """
    parsed = parsed or Parsed(language or "", "none")
    cutter = _Cutter(path, source, parsed, options, count)
    plans: dict[Strategy, Callable[[], list[Draft]]] = {
        "symbol": cutter.by_symbol,
        "section": cutter.by_section,
        "window": cutter.by_window,
        "names": cutter.by_name,
        "skipped": list,
    }
    drafts = plans[strategy]()
    drafts.sort(key=lambda d: (d.start, -d.end))
    if options.include_file_full and strategy in ("symbol", "window"):
        drafts += cutter.whole_file()
    finisher = Finisher(cutter.source, cutter.builder, parsed, options.limit)
    finished = _finished(finisher, drafts)
    ids = assign_ids(
        (f"{path}::{d.symbol if d.symbol is not None else f'<{d.unit}>'}", len(parts))
        for d, parts in zip(drafts, finished, strict=True)
    )
    return tuple(
        finisher.chunk(draft, part, chunk_id, number, len(parts))
        for draft, parts, names in zip(drafts, finished, ids, strict=True)
        for number, (part, chunk_id) in enumerate(zip(parts, names, strict=True), 1)
    )


def _finished(finisher: Finisher, drafts: Sequence[Draft]) -> list[list[Part]]:
    """The parts of each draft, from the innermost out: what contains others is cut around them."""
    order = sorted(range(len(drafts)), key=lambda i: (-drafts[i].start, drafts[i].end, -i))
    finished: list[list[Part]] = [[] for _ in drafts]
    behind: list[Range] = []  # the ranges of what begins further behind, the first last
    for index in order:
        draft = drafts[index]
        inside: list[Range] = []
        while behind and behind[-1][0] < draft.end:
            inside.append(behind.pop())
        finished[index] = finisher.finish(draft, inside)
        inside += [(part.start, part.end) for part in finished[index]]
        if max(end for _, end in inside) > draft.end:  # windows that overlap
            inside = [(draft.start, max(end for _, end in inside))]
        behind += sorted(inside, reverse=True)
    return finished


class _Cutter:
    """The drafts of one file by each strategy."""

    def __init__(
        self, path: str, data: bytes, parsed: Parsed, options: CutOptions, count: Callable[[str], int]
    ) -> None:
        self.source = Source(data, parsed.comment)
        self.builder = TextBuilder(parsed.language or None, path, parsed.comment, options, count)
        self._parsed, self._options, self._count = parsed, options, count
        self._headers = Headers(self.source, parsed)

    @cached_property
    def _top(self) -> Sequence[Range]:
        """The top-level pieces of the file."""
        return self._parsed.pieces(0, len(self.source.data))

    def by_symbol(self) -> list[Draft]:
        nesting = layout.nest(self._parsed.symbols, clean_only=False)
        own = [held for i, held in enumerate(nesting.ranges) if nesting.own[i]]
        regions = layout.damage_regions(self.source, self._parsed.damage, own)
        taken = layout.covers(nesting, regions)
        drafts: list[Draft] = []
        for at, gap in enumerate(layout.gaps(self.source, taken, self._parsed.symbols)):
            head = None
            if at == 0 and self._options.include_file_header and (not taken or gap[0] < taken[0].start):
                head = self._file_header(gap)
                if head is not None:
                    drafts.append(self._plain("file_header", *head, ()))
                    gap = self.source.trim(head[1], gap[1])
            if gap[0] < gap[1]:
                drafts.append(self._plain("module", *gap, self._headers.of(*gap)))
        return drafts + self._covered(taken, nesting)

    def _file_header(self, gap: Range) -> Range | None:
        top, symbols = self._top_within(*gap), self._parsed.symbols
        heads = [h for s in symbols for h in s.around]
        frames = {(f.start, f.end) for item in (*heads, *self._parsed.header) for f in item.frames}
        # What encloses all that the file says, comments aside, is no reason to have no file header.
        frames = {f for f in frames if f[0] < gap[1] and self.source.has_code(top, f[0])}
        whole = layout.merged([*frames, *((s.lead, s.end) for s in symbols if s.end <= gap[1])])
        pieces = sorted({*top, *frames})
        return layout.file_header(self.source, gap, pieces, whole, self._options.file_header_lines)

    def by_window(self) -> list[Draft]:
        """Windows over all but the symbols without an error."""
        nesting = layout.nest(self._parsed.symbols, clean_only=True)
        taken = layout.covers(nesting, ())
        drafts = [w for gap in layout.gaps(self.source, taken) for w in self._windows(*gap)]
        return drafts + self._covered(taken, nesting)

    def by_section(self) -> list[Draft]:
        symbols = self._parsed.symbols
        end = len(self.source.data)
        groups = sections(symbols, end, self._few_tokens, self._options.limit // 2)
        drafts = [self._section(group, symbols[group.first]) for group in groups]
        start, stop = self.source.trim(0, groups[0].start if groups else end)
        if start < stop:
            drafts.append(self._prose(Draft("module", "module", "fine", None, (), start, stop)))
        return drafts

    def _section(self, group: Section, first: Symbol) -> Draft:
        start, stop = self.source.trim(group.start, group.end)
        draft = Draft("section", "section", "fine", first.symbol, first.parents, start, stop)
        draft.header = self._headers.path(first.scope)
        draft.part_header = lambda: draft.header + self._headers.heading(group.first)
        return self._prose(draft)

    def _prose(self, draft: Draft) -> Draft:
        draft.first_cuts = lambda: blocks(self.source, draft.start, draft.end)
        return draft

    def by_name(self) -> list[Draft]:
        """The names of all symbols, one a line, each once; the range is the whole file."""
        names = dict[str, int]()
        for symbol in self._parsed.symbols:
            names.setdefault(" ".join(symbol.symbol.split()), symbol.lead)
        if not names:
            return []
        return [Draft("names", "names", "fine", None, (), 0, len(self.source.data), names=names)]

    def whole_file(self) -> list[Draft]:
        start, end = self.source.trim(0, len(self.source.data))
        if start == end:
            return []
        symbols = self._parsed.symbols
        nesting = layout.nest(symbols, clean_only=False)
        top = [i for i, s in enumerate(symbols) if nesting.own[i] and s.scope is None]
        draft = self._plain("file", start, end, ())
        draft.grain = "coarse"
        fine = [i for i, s in enumerate(symbols) if nesting.own[i] and not nesting.coarse[i]]
        draft.elisions = elisions(self.source, symbols, nesting.ranges, fine)
        draft.nested = layout.merged(nesting.ranges[i] for i in top)
        return [draft]

    def _few_tokens(self, start: int, end: int) -> int:
        return (
            self._count(self.source.text(start, end))
            if end - start <= 32 * self._options.limit
            else end - start
        )

    def _covered(self, taken: Sequence[layout.Cover], nesting: layout.Nesting) -> list[Draft]:
        drafts: list[Draft] = []
        for cover in taken:
            if cover.symbol is None:
                drafts += self._windows(cover.start, cover.end)
            else:
                drafts.append(self._symbol(cover.symbol, cover.start, cover.end, nesting))
        return drafts

    def _symbol(self, index: int, start: int, end: int, nesting: layout.Nesting) -> Draft:
        symbols = self._parsed.symbols
        symbol = symbols[index]
        children, coarse = nesting.children[index], nesting.coarse[index]
        return Draft(
            "symbol", symbol.kind, "coarse" if coarse else "fine", symbol.symbol, symbol.parents,
            start, end,
            header=self._headers.of_symbol(index, start, end),
            part_header=lambda: self._headers.of_symbol(index, start, end, part=True),
            nested=layout.merged(nesting.ranges[c] for c in children),
            elisions=elisions(self.source, symbols, nesting.ranges, children) if coarse else (),
            first_cuts=lambda: _members(symbol, [nesting.ranges[c] for c in children] if coarse else []),
        )  # fmt: skip

    def _plain(self, unit: Unit, start: int, end: int, header: tuple[Segment, ...]) -> Draft:
        kind = "module" if unit in ("module", "file_header") else unit
        return Draft(
            unit, kind, "fine", None, (), start, end,
            header=header,
            first_cuts=lambda: self._top_within(start, end),
        )  # fmt: skip

    def _top_within(self, start: int, end: int) -> Sequence[Range]:
        """The top-level pieces that begin in a range; of one that reaches beyond (`#ifndef`), its own."""
        pieces: list[Range] = []
        inner = self._top
        for _ in range(MAX_DEPTH):
            first = bisect_left(inner, start, key=lambda p: p[0])
            pieces += inner[first : bisect_left(inner, end, lo=first, key=lambda p: p[0])]
            if not pieces or pieces[-1][1] <= end:
                break
            around = pieces.pop()
            inner = [p for p in self._parsed.pieces(*around) if p != around]
        return pieces

    def _windows(self, start: int, end: int) -> list[Draft]:
        ready = {}

        def fits(first: int, last: int) -> bool:
            text = self.builder.build("window", None, "window", (), self.source.text(first, last))
            ready[first, last] = text
            return text.reserved <= self._options.limit

        spans = windows(
            self.source, start, end,
            chars=self._options.window_chars, overlap=self._options.window_overlap, fits=fits,
        )  # fmt: skip
        return [
            Draft("window", "window", "fine", None, (), *span, syntax=False, ready=ready.get(span))
            for span in spans
        ]


def _members(symbol: Symbol, children: Sequence[Range]) -> list[Range]:
    """Where a symbol is cut first: behind its doc comment, and before each member with a chunk of its own."""
    return list(children) or [(symbol.start, symbol.end)]
