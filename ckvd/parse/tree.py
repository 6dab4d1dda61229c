"""The tree-sitter engine: one parse, one walk, one value."""

from __future__ import annotations

from collections.abc import Sequence

import tree_sitter as ts

from ckvd.languages import Language, get
from ckvd.model import Parsed, Range
from ckvd.parse import build, damage, recover
from ckvd.parse.reading import Reading, read, walked
from ckvd.parse.table import table, usable


def parse(path: str, source: bytes, language: Language) -> Parsed:
    """Symbols with exact ranges, the header's items and the damage of one file.

    Of a language and its rivals for the path's suffix (C and C++ for `.h`) the least damaged parse is taken,
    of two as good the one of the language that the text has signs of.
    """
    best = _parse(source, language)
    suffix = path.rpartition(".")[2].lower()
    for rival in map(get, language.rivals.get(suffix, ())):
        signed = rival.signs_in(suffix, source)
        if (best.status == "ok" and not signed) or not usable(rival) or not rival.claims(suffix, source):
            continue
        other = _parse(source, rival)
        if other.error_bytes < best.error_bytes + signed:
            best = other
    return best


def _parse(source: bytes, language: Language) -> Parsed:
    rules = table(language)
    best, masked = read(rules, source)
    reading = recover.isolated(rules, source, best, masked) if best.errors else walked(rules, source, *best)
    symbols = build.symbols(rules, source, reading.drafts)
    broken, left = damage.merged(reading.errors), reading.left
    status = damage.status(reading.root, left, len(source)) if broken else "ok"
    fault = None if reading.inserted or not left else damage.fault(best.root, source, left)
    return Parsed(
        language=language.name,
        status=status,
        reason=None if status == "ok" else "syntax-errors",
        detail=_detail(source, left or broken, best.root, reading, fault) if broken else None,
        symbols=symbols,
        header=build.header(source, reading.drafts, reading.header, language.nameless),
        damage=tuple(left),
        fault=fault,
        error_bytes=sum(b - a for a, b in left),
        comment=language.comment,
        whole_members=language.whole_members,
        pieces=_Pieces(reading),
    )


def _detail(
    source: bytes, broken: Sequence[Range], root: ts.Node, reading: Reading, fault: int | None
) -> str:
    if reading.inserted is None:
        return damage.detail(source, broken, root, broken[0][0] if fault is None else fault)
    at, mark = reading.inserted
    return damage.said(source, at, f"{mark.decode()!r} seems to be missing")


class _Pieces:
    """The parts of the smallest node with more than one part that spans a range."""

    def __init__(self, reading: Reading) -> None:
        self._root = reading.root
        self._from = reading.inserted[0] if reading.inserted is not None else len(reading.text)

    def __call__(self, start: int, end: int) -> Sequence[Range]:
        first, last = start + (start >= self._from), end + (end > self._from)
        node = self._root.named_descendant_for_byte_range(first, last) or self._root
        while True:
            parts = [c for c in node.named_children if c.start_byte < last and c.end_byte > first]
            if len(parts) != 1 or parts[0].child_count == 0:
                ranges = (self._of_source(c.start_byte, c.end_byte) for c in parts)
                return [(max(start, a), min(end, b)) for a, b in ranges if a < b]
            node = parts[0]

    def _of_source(self, start: int, end: int) -> Range:
        return start - (start > self._from), end - (end > self._from)
