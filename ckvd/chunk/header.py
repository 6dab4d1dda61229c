"""What must be known to read a body: the smallest set of declarations that enclose it or that it uses."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from ckvd.chunk.source import Source, has_word, identifiers
from ckvd.chunk.text import MARK
from ckvd.model import HeaderItem, Parsed, Range, Segment

VALUE_BYTES = 2048
"""A longer constant gives only its first lines."""

MEMBER_BYTES = 512
"""A scope with more in its members gives only those that the body uses, unless the language tells all."""

MOST_MEMBER_BYTES = 8192
"""A scope with more in its members gives only those that the body uses in any language."""

REST_BYTES = 200
"""What may stand behind a declaration on its last line for the line to be shown whole."""

MAX_TWINS = 8
"""A name that more constants and imports of a file bind than this says nothing (a macro read as a type)."""

MAX_SCOPES = 64
"""Enclosing scopes that a header names, counted from the innermost."""

EXTENDING = frozenset({"impl", "extension"})
"""Kinds that have the name of the type that they add to."""

NO_OWNERS = EXTENDING | {"namespace", "module", "package"}
"""Kinds of which no single declaration says what they are."""


class Headers:
    """The headers of one file's chunks."""

    def __init__(self, source: Source, parsed: Parsed) -> None:
        self._source = source
        self._symbols = parsed.symbols
        self._comment = parsed.comment
        self._most = MOST_MEMBER_BYTES if parsed.whole_members else MEMBER_BYTES
        self._always = [item for item in parsed.header if not item.names]
        bound: dict[tuple[bytes, ...], list[HeaderItem]] = {}
        for item in parsed.header:
            for name in item.names:
                bound.setdefault(_words(name), []).append(item)
        self._bound: dict[bytes, list[tuple[tuple[bytes, ...], list[HeaderItem]]]] = {}
        for words, items in bound.items():
            if len(items) <= MAX_TWINS:
                self._bound.setdefault(words[-1], []).append((words, items))
        self._names = frozenset(
            word for names in self._bound.values() for words, _ in names for word in words
        )
        self._leads = sorted(s.lead for s in parsed.symbols if s.chunked)
        self._inner = sorted(s.lead for s in parsed.symbols if s.chunked and s.scope is not None)
        self._holding = {s.scope for s in parsed.symbols}
        self._owning: dict[str, int] = {}
        for index, symbol in enumerate(parsed.symbols):
            if symbol.chunked and symbol.kind not in NO_OWNERS:
                self._owning.setdefault(symbol.symbol, index)
        self._segments: dict[Range, tuple[Segment | None, int]] = {}
        self._scopes: dict[int, tuple[list[HeaderItem], list[HeaderItem], frozenset[bytes]]] = {}

    def of(self, start: int, end: int) -> tuple[Segment, ...]:
        """The header of a range outside all symbols: what it uses of the file's imports and constants."""
        return self._of(start, end, start, (), ())

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
        return self._of(start, end, symbol.start, around, self._own(index) if part else ())

    def _of(
        self, start: int, end: int, code: int, scopes: Iterable[int], own: Iterable[HeaderItem]
    ) -> tuple[Segment, ...]:
        needs_words = bool(self._names)
        words = self._source.identifiers(code, end) if needs_words else set[bytes]()
        items: list[HeaderItem] = []
        used: set[bytes] = words & self._names
        for index in scopes:
            fixed, optional, scope_words = self._scope(index)
            items += fixed
            if optional:
                body = words if needs_words else self._source.identifiers(code, end)
                items += [
                    m for m in optional if not m.names or any(body.issuperset(_words(n)) for n in m.names)
                ]
            used |= scope_words
        items += self._always
        for word in used:
            for name, bound in self._bound.get(word, ()):
                if used.issuperset(name):
                    items += bound
        items += [self._remark(i, i.lead) for i in items if i.lead is not None]
        # What the body holds it need not be told, nor what the body is a part of.
        return self._render([*(i for i in items if i.end <= start or end <= i.start), *own])

    def _remark(self, item: HeaderItem, lead: int) -> HeaderItem:
        start, end = self._source.trim(lead, item.start)
        return HeaderItem("remark", start, end, item.names, item.frame)

    def _owner(self, index: int) -> int | None:
        """The type that a symbol adds to and does not lie in: that of a Go method, of a Rust `impl`."""
        symbol = self._symbols[index]
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
            own = [HeaderItem("signature", *self._source.trim(symbol.start, min(end, symbol.start + 1024)))]
            if symbol.lead < symbol.start:
                own.append(HeaderItem("doc", *self._source.trim(symbol.lead, symbol.start)))
        return own

    def _alone(self, index: int) -> list[HeaderItem]:
        """The pieces of a type that no symbol lies in: its fields are told where they are few."""
        symbol, own = self._symbols[index], self._own(index)
        if symbol.coarse and symbol.body is not None and symbol.end - symbol.body[0] <= MEMBER_BYTES:
            own.append(HeaderItem("member", *self._source.trim(symbol.body[0] + 1, symbol.end)))
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

    def _scope(self, index: int) -> tuple[list[HeaderItem], list[HeaderItem], frozenset[bytes]]:
        """A scope's pieces for every body, those for bodies that use them, and the words of the former."""
        found = self._scopes.get(index)
        if found is None:
            head = self._symbols[index].head if index in self._holding else self._alone(index)
            members = [item for item in head if item.kind == "member"]
            size = sum(m.end - (m.start if m.lead is None else m.lead) for m in members)
            optional = members if size > self._most else []
            fixed = [item for item in head if item.kind != "member"] if optional else list(head)
            words: set[bytes] = set()
            if self._names:
                words.update(*(self._source.identifiers(i.start, i.end) for i in fixed if i.kind != "doc"))
            found = self._scopes[index] = (fixed, optional, frozenset(words & self._names))
        return found

    def _render(self, items: Iterable[HeaderItem]) -> tuple[Segment, ...]:
        """The segments of items in file order, without those that lie in another; groups with their frame."""
        segments: list[Segment] = []
        reached = -1
        frame: Range | None = None
        for item in sorted(items, key=lambda i: (i.start, -i.end)):
            if max(item.start, reached) >= item.end:
                continue
            if frame is not None and item.frame != frame:
                segments += self._edge(frame, opening=False)
            if item.frame is not None and item.frame != frame:
                segments += self._edge(item.frame, opening=True)
            frame = item.frame
            segment, reached = self._segment(item)
            if segment is not None:
                segments.append(segment)
        if frame is not None:
            segments += self._edge(frame, opening=False)
        return tuple(segments)

    def _edge(self, frame: Range, opening: bool) -> list[Segment]:
        """The first or the last line of a group that has several, as `import (` and `)` are."""
        start, end = frame
        data = self._source.data
        if opening:
            start, end = self._source.back_to_indent(start), data.find(b"\n", start, end)
        else:
            start = data.rfind(b"\n", start, end) + 1
        text = self._source.text(start, end).rstrip() if frame[0] - start < end - start else ""
        return [Segment("import", text)] if text else []

    def _segment(self, item: HeaderItem) -> tuple[Segment | None, int]:
        """An item's segment, and where the text ends that it shows."""
        key = (item.start, item.end)
        if key not in self._segments:
            self._segments[key] = self._text(item)
        return self._segments[key]

    def _text(self, item: HeaderItem) -> tuple[Segment | None, int]:
        """Whole lines where nothing else to be told stands on them, else the item's own text.

        Of a constant that holds functions, as an object does, what stands before the first of them.
        """
        data = self._source.data
        start = self._source.back_to_indent(item.start)
        end = self._end_of_line(item)
        if item.kind in ("constant", "member", "remark"):
            inner = bisect_left(self._inner, item.start)
            stop = self._inner[inner] if inner < len(self._inner) else end
            if end - start > VALUE_BYTES:
                stop = min(stop, start + VALUE_BYTES // 4)
            cut = data.rfind(b"\n", start, stop)
            if stop < end and (cut >= 0 or end - start > VALUE_BYTES // 4):
                head = Segment(item.kind, f"{self._source.text(start, cut)}\n{MARK}") if cut >= 0 else None
                return head, item.end
        text = self._source.text(start, end).rstrip()
        while item.kind == "signature" and "\n" in text and self._is_remark(text.rpartition("\n")[2]):
            # What a body begins with, where the grammar leaves it out.
            text = text.rpartition("\n")[0].rstrip()
            end = start + len(text.encode())
        return (Segment(item.kind, text) if text else None), end

    def _end_of_line(self, item: HeaderItem) -> int:
        """The end of an item, with what stands behind it on its last line where that is no other's chunk."""
        data = self._source.data
        line_end = data.find(b"\n", item.end)
        line_end = line_end if line_end >= 0 else len(data)
        rest = data[item.end : line_end].rstrip()
        if not has_word(rest) or self._source.is_closed_by_remark(rest):
            return item.end + len(rest)
        following = bisect_left(self._leads, item.end)
        shared = following < len(self._leads) and self._leads[following] < line_end
        return item.end if shared or len(rest) > REST_BYTES else item.end + len(rest)

    def _is_remark(self, line: str) -> bool:
        return bool(self._comment) and line.lstrip().startswith(self._comment)


def _words(name: str) -> tuple[bytes, ...]:
    """The identifiers by which a bound name is recognised: one for `$config` and `a.b`, two for `--a-b`."""
    return tuple(identifiers(name.rpartition(".")[2].encode())) or (name.encode(),)
