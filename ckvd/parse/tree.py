"""The tree-sitter engine: one parse, one walk, one value."""

from __future__ import annotations

from collections.abc import Sequence

import tree_sitter as ts

from ckvd.languages import Language
from ckvd.model import Parsed, Range
from ckvd.parse import build, damage
from ckvd.parse.table import table
from ckvd.parse.walk import Walk


def parse(_path: str, source: bytes, language: Language) -> Parsed:
    """Symbols with exact ranges, the header's items and the damage of one file."""
    rules = table(language)
    root = ts.Parser(rules.grammar).parse(source).root_node
    walk = Walk(rules, source, root).run()
    symbols = build.symbols(rules, source, walk.drafts)
    broken = damage.broken(root, len(source))
    left = damage.without(broken, [(s.start, s.end) for s in symbols if s.clean])
    status = damage.status(root, left, len(source))
    return Parsed(
        language=language.name,
        status=status,
        reason=None if status == "ok" else "syntax-errors",
        detail=damage.detail(source, broken, root) if broken else None,
        symbols=symbols,
        header=build.header(walk.drafts, walk.header),
        damage=tuple(left),
        error_bytes=sum(b - a for a, b in left),
        comment=language.comment,
        pieces=_Pieces(root),
    )


class _Pieces:
    """The parts of the smallest node with more than one part that spans a range."""

    def __init__(self, root: ts.Node) -> None:
        self._root = root

    def __call__(self, start: int, end: int) -> Sequence[Range]:
        node = self._root.named_descendant_for_byte_range(start, end) or self._root
        while True:
            parts = [c for c in node.named_children if c.start_byte < end and c.end_byte > start]
            if len(parts) != 1 or parts[0].child_count == 0:
                return [(max(start, c.start_byte), min(end, c.end_byte)) for c in parts]
            node = parts[0]


