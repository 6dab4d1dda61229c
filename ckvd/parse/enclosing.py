"""What may enclose the walk's cursor: scopes, wrappers around one declaration, and what is no symbol."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import tree_sitter as ts

from ckvd.languages.schema import TYPES
from ckvd.model import Frame, HeaderItem, Range
from ckvd.parse import text
from ckvd.parse.draft import Draft
from ckvd.parse.paths import Path
from ckvd.parse.table import Table


@dataclass(slots=True)
class Scope:
    """What encloses the cursor: `where` is `module`, `type` or `local`."""

    depth: int
    names: tuple[str, ...]
    where: str
    draft: Draft | None
    rest: bool = False
    until: int | None = None  # where it ends, if it goes on behind its node
    last: Draft | None = None


@dataclass(slots=True)
class Wrapper:
    depth: int
    node: ts.Node
    marks: int
    """How many marks stood before it."""
    _alone: bool | None = None
    _lead: int | None = None

    def is_alone(self, declarations: frozenset[int]) -> bool:
        """Whether it is around one declaration alone."""
        if self._alone is None:
            self._alone = sum(c.kind_id in declarations for c in self.node.children) == 1
        return self._alone

    def above(self, source: bytes, marks: Sequence[text.Mark]) -> int:
        """Where the comment on a group begins."""
        if self._lead is None:
            before = marks[max(0, self.marks - text.MOST_REMARKS) : self.marks]
            self._lead = text.lead(source, self.node.start_byte, before)[1]
        return self._lead


@dataclass(slots=True, eq=False)
class Around:
    """A node that encloses declarations and is no symbol; `draft` is the symbol that it lies in.

    One that is a type or an object without a name is `unnamed`; what lies in it is told its `members`, made
    for it.
    """

    depth: int
    draft: Draft | None
    range: Range
    head: HeaderItem
    unnamed: bool
    members: list[Callable[[], HeaderItem]] = field(default_factory=list)

    @property
    def is_object(self) -> bool:
        """Whether it has no more than a bracket for a head."""
        return self.head.start == self.range[0] and self.head.end == self.range[0] + 1


_LINE = re.compile(rb"(?:[^\\\n]|\\\r?\n|\\)*+")


def around(
    table: Table,
    source: bytes,
    node: ts.Node,
    behind: Path,
    depth: int,
    draft: Draft | None,
    marks: Sequence[text.Mark],
    *,
    unnamed: bool,
) -> Around | None:
    """A node as what encloses, if it has something behind its head (`extern "C"` alone has not), and is
    not the body of a type with a name, nor a guard.

    `marks` are the comments and attributes before it.
    """
    hits = behind.find(node, None)
    if not hits or (table.guard is not None and table.guard.match(source, node.start_byte)):
        return None
    if draft is not None and draft.kind in TYPES and draft.body and draft.body[0] == hits[0].start_byte:
        return None
    start, end = node.start_byte, _end_of_head(table, source, node, hits[0])
    line = source.rfind(b"\n", 0, start) + 1
    begun = start - len(source[line:start].lstrip())  # what it is the value of
    lead = text.remark(source, text.lead(source, begun, marks[-text.MOST_REMARKS :])[1], begun)
    reach = start, text.trimmed(source, start, min(node.end_byte, len(source)))
    holds = reach if unnamed else None
    end = text.trimmed(source, start, end)
    inner = hits[0].parent if hits[0] != node else None  # the end of what a branch lies in is not its own
    ends = (n.child(n.child_count - 1) for n in (node, hits[0], inner) if n is not None and n.child_count)
    closes = any(last is not None and not last.is_named for last in ends)
    frames = () if unnamed else (Frame(start, end, reach[1], closes),)
    head = HeaderItem("signature", start, end, frames=frames, lead=lead, holds=holds)
    return Around(depth, draft, reach, head, unnamed)


def _end_of_head(table: Table, source: bytes, node: ts.Node, behind: ts.Node) -> int:
    if source[behind.start_byte : behind.start_byte + 1] in (b"{", b"("):
        return behind.start_byte + 1
    if behind == node:
        line = _LINE.match(source, node.start_byte, node.end_byte)
        return line.end() if line is not None else node.start_byte
    if not behind.is_named:
        return behind.end_byte
    before = behind.prev_sibling
    while before is not None and before.kind_id in table.comments:
        before = before.prev_sibling
    return before.end_byte if before is not None else behind.start_byte
