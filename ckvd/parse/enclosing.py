"""What may enclose the walk's cursor: scopes, wrappers around one declaration, and what is no symbol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import tree_sitter as ts

from ckvd.model import HeaderItem, Range
from ckvd.parse import text
from ckvd.parse.draft import Draft
from ckvd.parse.paths import Path


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
    alone: bool | None = None
    lead: int | None = None


@dataclass(frozen=True, slots=True)
class Around:
    """A node that encloses declarations and is no symbol; `draft` is the symbol that it lies in."""

    depth: int
    draft: Draft | None
    range: Range
    head: HeaderItem


def around(
    source: bytes, node: ts.Node, behind: Path, depth: int, draft: Draft | None, marks: Sequence[text.Mark]
) -> Around | None:
    """A node as what encloses, if it has something behind its head (`extern "C"` alone has not).

    `marks` are the comments and attributes before it.
    """
    hits = behind.find(node, None)
    if not hits:
        return None
    start, end = node.start_byte, hits[0].start_byte
    if source[end : end + 1] in (b"{", b"("):
        end += 1
    lead = text.remark(source, text.lead(source, start, marks[-text.MOST_REMARKS :])[1], start)
    head = HeaderItem("signature", start, text.trimmed(source, start, end), lead=lead)
    return Around(depth, draft, (start, text.trimmed(source, start, min(node.end_byte, len(source)))), head)
