"""What a node gives to headers that is no symbol: an import, a package, a member of a type."""

from __future__ import annotations

from collections.abc import Sequence

import tree_sitter as ts

from ckvd.model import Frame, HeaderItem, Range
from ckvd.parse import text
from ckvd.parse.found import text_of
from ckvd.parse.table import CompiledHeader, Table


def item(
    table: Table,
    compiled: CompiledHeader,
    source: bytes,
    node: ts.Node,
    outer: ts.Node,
    frames: tuple[Frame, ...],
    holds: Range | None,
    marks: Sequence[text.Mark],
) -> HeaderItem:
    """The item of a node; `outer` is the widest node that is all of it, `marks` are the comments and
    attributes before it, `frames` what it lies in."""
    start, end = outer.start_byte, min(outer.end_byte, len(source))
    if table.attributes:
        start = text.lead(source, start, marks)[0]
    # Some grammars let a declaration swallow the comment behind it.
    for child in reversed(outer.children):
        if child.kind_id not in table.comments:
            break
        end = child.start_byte
    for path in compiled.body:
        end = min([end, *(hit.start_byte for hit in path.find(node, None))])
    names: set[str] = set()
    if compiled.open is None or not compiled.open.find(node, None):
        if compiled.hook is not None:
            names.update(compiled.hook(node, source))
        for path in compiled.names:
            names.update(text_of(n, source) for n in path.find(node, None))
    if compiled.frame is not None and node.parent is not None:
        opened = node.parent.start_byte + 1
        groups = compiled.frame.find(node, None)
        frames += tuple(Frame(g.start_byte, opened, g.end_byte, closes=True) for g in groups)
    end, rule = text.trimmed(source, start, end), compiled.rule
    lead = None
    if rule.kind in ("constant", "member"):
        lead = text.remark(source, text.lead(source, start, marks)[1], start)
    return HeaderItem(rule.kind, start, end, frozenset(names), frames, lead, holds, rule.acts)
