"""A symbol in the making, and how far the declaration that it stands for reaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import tree_sitter as ts

from ckvd.languages.schema import Rule
from ckvd.model import Frame, HeaderItem, Range
from ckvd.parse import text
from ckvd.parse.found import Found
from ckvd.parse.paths import first
from ckvd.parse.table import CompiledRule, Table


@dataclass(slots=True, eq=False)
class Draft:
    """A symbol in the making. `whole` is where the expression around it begins (`private def`), `declared`
    where its own text does (behind attributes that are siblings), `group` the declaration that it shares with
    others (`var ( … )`), `above` where the comment on that begins, `first` whether its name is the first of
    those that its node declares. `around` are the heads of what is around it within its scope and no symbol,
    `holds` is the range of the innermost type among them; `owner` is the type that it adds to from outside.
    `head` is where its head ends, known when the walk is over; `tail` as in `Symbol`."""

    found: Found
    parents: tuple[str, ...]
    kind: str
    rule: Rule
    start: int
    end: int
    lead: int
    whole: int
    declared: int
    body: Range | None
    doc: Range | None
    scope: Draft | None
    group: Range
    above: int
    where: str
    clean: bool
    first: bool = True
    imports: list[HeaderItem] = field(default_factory=list)
    around: tuple[HeaderItem, ...] = ()
    holds: Range | None = None
    owner: str = ""
    head: int = 0
    tail: int = 0

    @property
    def frames(self) -> tuple[Frame, ...]:
        return tuple(frame for item in self.around for frame in item.frames)

    def settle(self, source: bytes, marks: Sequence[text.Mark]) -> None:
        """Finds where the heads end: before the comments that the grammar puts between head and body, which
        are on what the body begins with. `marks` are those of the whole text, sorted."""
        head = min(at[0] for at in (self.doc, self.body, (self.end, self.end)) if at)
        opened = source[head : head + 1] == b"{"
        self.head = head if opened else text.before_marks(source, self.declared, head, marks)
        self.around = tuple(
            replace(item, end=text.before_marks(source, item.start, item.end, marks)) for item in self.around
        )

    def join(self, end: int, clean: bool) -> None:
        """Goes on to `end`. A signature alone has no body: what follows it is one."""
        self.body = self.body[0] if self.body else self.end, end
        self.end, self.group = end, (self.group[0], end)
        self.clean, self.tail = self.clean and clean, 0


@dataclass(frozen=True, slots=True)
class Extent:
    """Where a declaration lies: the fields of `Draft`, and `until`, the end of siblings that it takes in."""

    start: int
    end: int
    lead: int
    whole: int
    declared: int
    body: Range | None
    doc: Range | None
    until: int | None
    tail: int


def measure(
    table: Table,
    compiled: CompiledRule,
    source: bytes,
    blanked: bytes | None,
    node: ts.Node,
    outer: ts.Node,
    damaged: bool,
    marks: list[text.Mark],
) -> Extent:
    """The extent of a declaration: `node` names it, `outer` is the widest node that is all of it.

    `blanked` is the text that was parsed, where it is not the source; `marks` are the comments and
    attributes before it, to which those at its beginning are added.
    """
    rule = compiled.rule
    end = min(outer.end_byte, len(source))
    begin = start = _begin(table, outer, compiled.leading, marks)
    if blanked is not None:
        start = text.before_blanks(source, blanked, start)
    if rule.semicolon and source[end : end + 1] == b";":
        end += 1
    behind, until = None, None
    if rule.trailing:
        behind, until = _trailing(table, outer, compiled.trailing, len(source))
        end = until or end
    tail = 0
    if not damaged and (code := text.end_of_code(node, source, table.comments)) < node.end_byte:
        line = source.find(b"\n", code, end)
        end, tail = min(end, code), text.trimmed(source, start, line if line >= 0 else end)
    end = text.trimmed(source, start, end)
    declared = text.behind_attributes(outer, source, table.attributes, table.modifiers)
    declared = begin if declared == outer.start_byte else declared
    start, lead = text.lead(source, start, marks)
    whole = start
    for around in first(compiled.whole, node):
        whole, lead = text.lead(source, around.start_byte, marks)
    body, doc = _body(table, compiled, node, end)
    if body is None and behind is not None:
        body = behind, end
    return Extent(start, end, lead, whole, declared, body, doc, until, tail)


def _begin(table: Table, node: ts.Node, leading: frozenset[int], marks: list[text.Mark]) -> int:
    """Where a declaration begins: with the siblings that lead to it, behind comments in it."""
    start = node.start_byte
    if leading:
        at = node.prev_sibling
        while at is not None and at.kind_id in leading:
            start, at = at.start_byte, at.prev_sibling
    at = node.child(0) if node.child_count else None
    while start == node.start_byte and at is not None and at.kind_id in table.comments:
        marks.append((at.start_byte, at.end_byte, False, False))
        at = at.next_sibling
        if at is None or at.kind_id not in table.comments:
            return at.start_byte if at is not None else start
    return start


def _trailing(table: Table, node: ts.Node, kinds: frozenset[int], size: int) -> tuple[int | None, int | None]:
    """Where the siblings that belong to a declaration begin, from the first with code (`private set` has
    none), and end; None where there are none."""
    start = end = None
    no_code = table.modifiers | table.comments
    at = node.next_named_sibling
    while at is not None and (at.kind_id in kinds or at.kind_id in table.comments):
        if at.kind_id in kinds:
            if start is None and any(c.kind_id not in no_code for c in at.named_children):
                start = at.start_byte
            end = min(at.end_byte, size)
        at = at.next_named_sibling
    return start, end


def _body(table: Table, compiled: CompiledRule, node: ts.Node, end: int) -> tuple[Range | None, Range | None]:
    """What an outline leaves out, and the docstring that begins it."""
    hits: list[ts.Node] = []
    for path in compiled.body:
        hits = path.find(node, None)
        if hits:
            break
    if not hits:
        return None, None
    start, last = hits[0].start_byte, min(end, hits[-1].end_byte) if hits[0].is_named else end
    doc = None
    if hits[0].kind_id in table.blocks:
        inside = [c for c in hits[0].named_children if c.kind_id not in table.comments]
        if inside and inside[0].kind_id in table.docstrings:
            doc = (inside[0].start_byte, inside[0].end_byte)
            start = inside[1].start_byte if len(inside) > 1 else last
    return ((start, last) if start < last else None), doc
