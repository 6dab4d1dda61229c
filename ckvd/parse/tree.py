"""The tree-sitter engine: one parse, one walk, one value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import tree_sitter as ts

from ckvd.languages import Language, get
from ckvd.model import HeaderItem, Parsed, Range
from ckvd.parse import build, comments, damage, quarantine, rescue
from ckvd.parse.blanks import blanked
from ckvd.parse.draft import Draft
from ckvd.parse.paths import ERROR_KIND
from ckvd.parse.table import Table, table, usable
from ckvd.parse.text import trimmed
from ckvd.parse.walk import Walk


def parse(path: str, source: bytes, language: Language) -> Parsed:
    """Symbols with exact ranges, the header's items and the damage of one file.

    Of a language and its rivals for the path's suffix (C and C++ for `.h`) the least damaged parse is taken.
    """
    best = _parse(source, language)
    suffix = path.rpartition(".")[2].lower()
    for rival in map(get, language.rivals.get(suffix, ())):
        if best.status == "ok":
            break
        if usable(rival) and rival.claims(suffix, source):
            other = _parse(source, rival)
            best = other if other.error_bytes < best.error_bytes else best
    return best


def _parse(source: bytes, language: Language) -> Parsed:
    rules = table(language)
    reading = _read(rules, source)
    if reading.errors:
        reading = _isolated(rules, source, reading)
    symbols = build.symbols(rules, source, reading.drafts)
    broken, left = damage.merged(reading.errors), reading.left
    status = damage.status(reading.root, left, len(source)) if broken else "ok"
    return Parsed(
        language=language.name,
        status=status,
        reason=None if status == "ok" else "syntax-errors",
        detail=damage.detail(source, broken, reading.root) if broken else None,
        symbols=symbols,
        header=build.header(source, reading.drafts, reading.header),
        damage=tuple(left),
        error_bytes=sum(b - a for a, b in left),
        comment=language.comment,
        whole_members=language.whole_members,
        pieces=_Pieces(reading.root),
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """One way to read a source: the text that was parsed for it, the tree, its errors, and what was found."""

    text: bytes
    root: ts.Node
    errors: list[Range]
    drafts: list[Draft]
    header: list[HeaderItem]

    @property
    def intact(self) -> int:
        return sum(d.clean for d in self.drafts)

    @property
    def left(self) -> list[Range]:
        """The damage: what is broken and lies in no intact symbol."""
        intact = [(d.start, d.end) for d in self.drafts if d.clean]
        return damage.without(damage.merged(self.errors), intact)

    @property
    def failed(self) -> bool:
        return damage.status(self.root, self.left, len(self.text)) == "failed"


def _tree(rules: Table, text: bytes) -> tuple[ts.Node, list[Range]]:
    root, errors = _parsed(rules, text, len(text))
    if errors and not text.endswith(b"\n") and errors[-1][1] > text.rfind(b"\n"):
        ended = _parsed(rules, text + b"\n", len(text))  # some grammars want an end of the last line
        return ended if _total(ended[1]) < _total(errors) else (root, errors)
    return root, errors


def _parsed(rules: Table, text: bytes, size: int) -> tuple[ts.Node, list[Range]]:
    root = _root(rules, text)
    if damage.nothing(root, text, rules.comments):
        return root, []
    return root, damage.errors(root, size) or _unclosed(rules, root, text)


def _root(rules: Table, text: bytes) -> ts.Node:
    return ts.Parser(rules.grammar).parse(text).root_node


def _unclosed(rules: Table, root: ts.Node, text: bytes) -> list[Range]:
    return comments.unclosed(
        root, text, rules.comments, rules.language.comment, lambda more: _root(rules, more)
    )


def _is_clean(rules: Table, text: bytes) -> bool:
    """Whether `_tree` finds no error, mostly without asking where they are."""
    root = _root(rules, text)
    if not root.has_error:
        return not _unclosed(rules, root, text)
    if text.endswith(b"\n") and root.kind_id != ERROR_KIND:
        return False
    return not _tree(rules, text)[1]


def _walked(rules: Table, source: bytes, text: bytes, root: ts.Node, errors: list[Range]) -> _Reading:
    walk = Walk(rules, source, text, root, errors).run()
    return _Reading(text, root, errors, walk.drafts, walk.header)


def _premasked(rules: Table, source: bytes) -> bytes:
    for mask in rules.premasks:
        source = mask(source)
    return source


def _read(rules: Table, source: bytes) -> _Reading:
    """The text as it is, or masked where that has fewer errors."""
    text = plain = _premasked(rules, source)
    root, errors = _tree(rules, plain)
    for mask in rules.masks:
        if not errors:
            break
        masked = mask(plain)
        if masked != plain:
            other, fewer = _tree(rules, masked)
            if _total(fewer) < _total(errors):
                text, root, errors = masked, other, fewer
    return _walked(rules, source, text, root, errors)


def _isolated(rules: Table, source: bytes, reading: _Reading) -> _Reading:
    """The reading with the damage confined to the blocks that cause it, where more stays intact so."""
    if not quarantine.astray(source, reading.errors, [(d.start, d.end) for d in reading.drafts]):
        return reading
    # The last mask takes out the most: what it still cannot read is what is broken.
    base = _premasked(rules, source)
    base = rules.masks[-1](base) if rules.masks else base
    search = quarantine.Search(
        base,
        lambda text: _tree(rules, text)[1],
        lambda text: _is_clean(rules, text),
        rules.language.filler.encode(),
    )
    text, culprits = search.run(reading.errors if base == reading.text else _tree(rules, base)[1])
    if not culprits:
        return reading
    root, errors = _tree(rules, text)
    blocks = [(start, trimmed(source, start, end)) for start, end in culprits]
    other = _walked(rules, source, text, root, sorted([*errors, *blocks]))
    for start, end in blocks:
        alone = text[:start] + source[start:end] + blanked(text[end:])
        inside = _walked(rules, source, alone, *_tree(rules, alone)).drafts
        other.drafts.extend(rescue.rescued(inside, other.drafts, (start, end)))
    spared = other.failed <= reading.failed and not errors
    return other if spared or other.intact >= reading.intact else reading


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
