"""What must be known to read a body: the smallest set of declarations that enclose it or that it uses."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence

from ckvd.chunk.bound import Bound
from ckvd.chunk.members import (
    MEMBER_BYTES,
    MOST_MEMBER_BYTES,
    Members,
    by_word,
    fields,
    used_of,
)
from ckvd.chunk.source import Source
from ckvd.chunk.text import DROP_ORDER, MARK
from ckvd.model import HeaderItem, Parsed, Range, Segment, SegmentKind

MOST_BYTES: dict[SegmentKind, int] = {"constant": 65536, "member": 65536, "remark": 2048}
"""What is longer gives only its first lines (a remark: a comment on a constant or a member)."""

FIRST_BYTES = 512
"""How much these first lines have at most."""

BESIDE_BYTES = 1000
"""What may stand before or behind a declaration on its line for the line to be shown whole."""

MOST_HEAD_BYTES = 8192
"""What the parts of a symbol are told of it at most, beside its doc."""

MAX_SCOPES = 64
"""Enclosing scopes that a header names, counted from the innermost."""

EXTENDING = frozenset({"impl", "extension"})
"""Kinds that have the name of the type that they add to."""

NO_OWNERS = EXTENDING | {"namespace", "module", "package"}
"""Kinds of which no single declaration says what they are."""


_Told = tuple[list[HeaderItem], Members, frozenset[bytes]]
"""Pieces for every body in a scope, those for bodies that use them, and the words of the former."""


class Headers:
    """The headers of one file's chunks."""

    def __init__(self, source: Source, parsed: Parsed) -> None:
        self._source = source
        self._symbols = parsed.symbols
        self._most = MOST_MEMBER_BYTES if parsed.whole_members else MEMBER_BYTES
        self._packages = [item for item in parsed.header if item.kind == "package" and item.holds is not None]
        self._members: dict[Range, list[HeaderItem]] = {}  # of types without a name, by their ranges
        for item in (*parsed.header, *(i for s in parsed.symbols for i in s.head)):
            if item.holds is not None and item.kind != "package":
                self._members.setdefault(item.holds, []).append(item)
        header = [item for item in parsed.header if item.holds is None]
        self._bound = Bound(source, header)
        self._names = self._bound.names
        inner = {s.lead for s in parsed.symbols if s.chunked and s.scope is not None}
        # Nor are the members of a type without a name for others; those of an object, a bare bracket, may be.
        around = {i for s in parsed.symbols for i in s.around}
        heads = (i for i in around if i.holds is not None and not self._is_object(i.holds))
        self._inner = sorted(inner | {source.lines_of(i.start, i.end)[1] + 1 for i in heads})
        self._holding = {s.scope for s in parsed.symbols}
        self._owning: dict[str, int] = {}
        for index, symbol in enumerate(parsed.symbols):
            if symbol.chunked and symbol.kind not in NO_OWNERS:
                self._owning.setdefault(symbol.symbol, index)
        self._spans: dict[Range, tuple[int, int, bool]] = {}
        self._scopes: dict[int | Range, _Told] = {}

    def of(self, start: int, end: int) -> tuple[Segment, ...]:
        """The header of a range outside all symbols: what it uses of the file's imports and constants."""
        return self._of(start, end, start, (), (), (), said=self._bound.by)

    def of_symbol(self, index: int, start: int, end: int, part: bool = False) -> tuple[Segment, ...]:
        """The header of a symbol's chunk: what it uses, its scopes, and the types that it or they add to.

        One for its parts names the symbol itself as well.
        """
        symbol = self._symbols[index]
        scopes = self._chain(symbol.scope)
        around = dict.fromkeys(scopes)
        for owner in map(self._owner, (*scopes, index)):
            if owner is not None:
                around |= dict.fromkeys((*self._chain(self._symbols[owner].scope), owner))
        # Its doc comment, which stands before it, mentions names and uses none.
        return self._of(start, end, symbol.start, around, symbol.around, self._own(index) if part else ())

    def _of(
        self,
        start: int,
        end: int,
        code: int,
        scopes: Collection[int],
        around: Collection[HeaderItem],
        own: Iterable[HeaderItem],
        said: Iterable[bytes] = (),
    ) -> tuple[Segment, ...]:
        needs_words = bool(self._names)
        words = self._source.identifiers(code, end) if needs_words else set[bytes]()
        items: list[HeaderItem] = []
        used: set[bytes] = (words & self._names).union(said)
        used.update(*(self._source.identifiers(i.start, i.end) & self._names for i in around))
        told = [self._scope(index) for index in scopes]
        heads = (*(i for index in scopes for i in self._symbols[index].around), *around)
        told += [self._inside(i.holds) for i in heads if i.holds in self._members]
        for fixed, optional, fixed_words in told:
            items += fixed
            if optional:
                body = words if needs_words else self._source.identifiers(code, end)
                items += used_of(optional, body)
            used |= fixed_words
        items += self._bound.always
        items += self._package(start)
        items += self._bound.used(used)
        items += around
        items += [self._remark(i, i.lead) for i in items if i.lead is not None]
        framed = [item for item in items if item.kind != "signature"]
        items += [edge for item in framed for edge in self._edges(item, end)]
        ends = (f.end for item in around for f in item.frames if f.closes)
        last = max((item.start for item in framed), default=0)
        # What is told of the lines behind what encloses the body is not in that.
        items += [HeaderItem("signature", self._source.lines_of(e - 1, e)[0], e) for e in ends if e <= last]
        # What the body holds it need not be told, nor what the body is a part of.
        return self._render([*(i for i in items if i.end <= start or end <= i.start), *own])

    def _package(self, start: int) -> list[HeaderItem]:
        """What was said last of the package that an offset is in."""
        before = self._packages[: bisect_left(self._packages, start, key=lambda item: item.start)]
        return next(([item] for item in reversed(before) if item.holds and start < item.holds[1]), [])

    def _remark(self, item: HeaderItem, lead: int) -> HeaderItem:
        start, end = self._source.trim(lead, item.start)
        return HeaderItem("remark", start, end)

    def _edges(self, item: HeaderItem, end: int) -> list[HeaderItem]:
        """The heads of what an item lies in (`import (`), and the last lines if a body's end is not in it."""
        edges: list[HeaderItem] = []
        for frame in item.frames:
            if self._source.data.find(b"\n", frame.start, frame.end) < 0:
                continue
            edges.append(HeaderItem(item.kind, frame.start, frame.head))
            if frame.closes and not frame.start < end <= frame.end:
                last = self._source.lines_of(frame.end - 1, frame.end)[0]
                edges.append(HeaderItem(item.kind, last, frame.end))
        return edges

    def _owner(self, index: int) -> int | None:
        """The type that a symbol adds to and does not lie in: of a Go method, a Rust `impl`, an extension."""
        symbol = self._symbols[index]
        if symbol.owner:
            spaces = (symbol.parents[:n] for n in range(len(symbol.parents), -1, -1))
            names = (".".join((*space, symbol.owner)) for space in spaces)
            return next((self._owning[name] for name in names if name in self._owning), None)
        if symbol.kind in EXTENDING:
            return self._owning.get(symbol.symbol)
        name = ".".join(symbol.parents)
        if not name or (symbol.scope is not None and self._symbols[symbol.scope].symbol == name):
            return None
        return self._owning.get(name)

    def _own(self, index: int) -> list[HeaderItem]:
        symbol = self._symbols[index]
        own = [item for item in symbol.head if item.kind in ("signature", "doc")]
        if not own:
            end = symbol.body[0] if symbol.body else self._source.data.find(b"\n", symbol.start)
            end = end if symbol.start < end <= symbol.end else symbol.end
            own = [
                HeaderItem(
                    "signature", *self._source.trim(symbol.start, min(end, symbol.start + MOST_HEAD_BYTES))
                )
            ]
            if symbol.lead < symbol.start:
                own.append(HeaderItem("doc", *self._source.trim(symbol.lead, symbol.start)))
        return own

    def _alone(self, index: int) -> list[HeaderItem]:
        """The pieces of a type that no symbol lies in, as fields are none in Go and Rust."""
        symbol, own = self._symbols[index], self._own(index)
        if symbol.coarse and symbol.body is not None:
            start, end = symbol.body[0] + 1, symbol.end
            few = end - start < MEMBER_BYTES
            own += (
                [HeaderItem("member", *self._source.trim(start, end))]
                if few
                else fields(self._source, start, end)
            )
        return own

    def path(self, scope: int | None) -> tuple[Segment, ...]:
        """The lines of the headings around a section, outermost first."""
        return tuple(segment for index in self._chain(scope) for segment in self.heading(index))

    def heading(self, index: int) -> tuple[Segment, ...]:
        """A section's own heading."""
        symbol = self._symbols[index]
        return self._render([HeaderItem("signature", symbol.start, symbol.end)])

    def _chain(self, scope: int | None) -> list[int]:
        chain: list[int] = []
        while scope is not None and len(chain) < MAX_SCOPES:
            chain.append(scope)
            scope = self._symbols[scope].scope
        return chain[::-1]

    def _scope(self, index: int) -> _Told:
        """The pieces of a scope."""
        if index not in self._scopes:
            symbol = self._symbols[index]
            head = symbol.head if index in self._holding else self._alone(index)
            own = (item for item in head if item.holds is None)
            self._scopes[index] = self._told([*symbol.around, *own], self._most)
        return self._scopes[index]

    def _inside(self, unnamed: Range) -> _Told:
        """The members of a type without a name."""
        if unnamed not in self._scopes:
            most = 0 if self._is_object(unnamed) else self._most
            self._scopes[unnamed] = self._told(self._members[unnamed], most)
        return self._scopes[unnamed]

    def _is_object(self, unnamed: Range) -> bool:
        """Whether something is a value with functions in it: it has no more than a bracket for a head."""
        return self._source.data.startswith(b"{", unnamed[0])

    def _told(self, head: Sequence[HeaderItem], most: int) -> _Told:
        members = [item for item in head if item.kind == "member"]
        size = sum(m.end - (m.start if m.lead is None else m.lead) for m in members)
        optional = [m for m in members if m.names] if size > most else []
        fixed = (
            [item for item in head if not (item.kind == "member" and item.names)] if optional else list(head)
        )
        words: set[bytes] = set()
        if self._names:
            words.update(*(self._source.identifiers(i.start, i.end) for i in fixed if i.kind != "doc"))
        return fixed, by_word(optional), frozenset(words & self._names)

    def _render(self, items: Iterable[HeaderItem]) -> tuple[Segment, ...]:
        """The lines of items in file order, each once. A line that two share is of the weightier kind."""
        shown: list[tuple[SegmentKind, int, int, bool]] = []
        told = reached = -1
        for item in sorted(items, key=lambda i: (i.start, -i.end)):
            start, end, cut = self._lines(item)
            if item.end <= told:
                continue
            if item.start >= told and start < reached and DROP_ORDER[item.kind] > DROP_ORDER[shown[-1][0]]:
                kind, first, last, _ = shown.pop()
                shared = max(first, self._source.data.rfind(b"\n", 0, last) + 1)
                shown += [(kind, first, shared - 1, False)] if first < shared else []
                shown.append((item.kind, shared, last, False))
            if max(start, reached) < end:
                shown.append((item.kind, max(start, reached), end, cut))
            told = max(told, item.end if cut else min(item.end, end))
            reached = max(reached, item.end if cut else end + 1)
        return tuple(Segment(kind, self._text(start, end, cut)) for kind, start, end, cut in shown)

    def _text(self, start: int, end: int, cut: bool) -> str:
        text = self._source.text(start, end).replace("\r\n", "\n").removesuffix("\r")
        return f"{text}\n{MARK}" if cut else text

    def _lines(self, item: HeaderItem) -> tuple[int, int, bool]:
        """The lines of an item, and whether they are the first of it alone.

        Those of a constant that holds functions, as an object does, end before the first of them. Of a line
        that says much beside the item the item alone is told.
        """
        key = (item.start, item.end)
        if key not in self._spans:
            self._spans[key] = self._span(item)
        return self._spans[key]

    def _span(self, item: HeaderItem) -> tuple[int, int, bool]:
        data = self._source.data
        start, end = self._source.lines_of(item.start, item.end)
        start = start if item.start - start <= BESIDE_BYTES else item.start
        end = end if end - item.end <= BESIDE_BYTES else item.end
        most = MOST_BYTES.get(item.kind)
        if most is not None:
            inner = bisect_left(self._inner, item.start + 1)
            stop = self._inner[inner] if inner < len(self._inner) else end
            stop = min(stop, start + FIRST_BYTES) if end - start > most else stop
            cut = data.rfind(b"\n", start, min(stop, end))
            if stop < end and (cut >= 0 or end - start > FIRST_BYTES):
                return start, max(start, cut), True
        while item.kind == "signature" and (last := data.rfind(b"\n", start, end) + 1) > start:
            if not self._source.is_remark(last, end):
                break
            end = last - 1  # what a body begins with, where the grammar leaves it out
        return start, end, False
