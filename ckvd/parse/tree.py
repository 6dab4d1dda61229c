"""The tree-sitter engine: one parse, one walk, one value."""

from __future__ import annotations

from collections.abc import Sequence

import tree_sitter as ts

from ckvd.languages import Language, get
from ckvd.model import Parsed, Range
from ckvd.parse import build, damage
from ckvd.parse.table import Table, table
from ckvd.parse.walk import Walk


def parse(path: str, source: bytes, language: Language) -> Parsed:
    """Symbols with exact ranges, the header's items and the damage of one file.

    Of a language and its rival for the path's suffix (C and C++ for `.h`) the less damaged parse is taken.
    """
    parsed = _parse(source, language)
    rival = language.rivals.get(path.rpartition(".")[2].lower())
    if parsed.status == "ok" or rival is None:
        return parsed
    other = _parse(source, get(rival))
    return other if other.error_bytes < parsed.error_bytes else parsed


def _parse(source: bytes, language: Language) -> Parsed:
    rules = table(language)
    root, errors = _root(rules, source)
    walk = Walk(rules, source, root, errors).run()
    symbols = build.symbols(rules, source, walk.drafts)
    broken = damage.merged(errors)
    left = damage.without(broken, [(s.start, s.end) for s in symbols if s.clean])
    status = damage.status(root, left, len(source)) if errors else "ok"
    return Parsed(
        language=language.name,
        status=status,
        reason=None if status == "ok" else "syntax-errors",
        detail=damage.detail(source, broken, root) if broken else None,
        symbols=symbols,
        header=build.header(source, walk.drafts, walk.header),
        damage=tuple(left),
        error_bytes=sum(b - a for a, b in left),
        comment=language.comment,
        pieces=_Pieces(root),
    )


def _root(rules: Table, source: bytes) -> tuple[ts.Node, list[Range]]:
    """The tree's root and errors; where there are errors, those of the masked text if it has fewer."""
    parser = ts.Parser(rules.grammar)
    root = parser.parse(source).root_node
    errors = damage.errors(root, len(source))
    if errors and rules.mask is not None:
        masked = rules.mask(source)
        if masked != source:
            other = parser.parse(masked).root_node
            fewer = damage.errors(other, len(source))
            if _total(fewer) < _total(errors):
                return other, fewer
    return root, errors


def _total(ranges: Sequence[Range]) -> int:
    return sum(b - a for a, b in damage.merged(ranges))


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
