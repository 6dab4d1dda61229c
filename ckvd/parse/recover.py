"""Damage kept where it is: the blocks that cause it are read apart from the rest, or mended.

Where one character is missing and putting it back leaves a text without errors, all of it is read as if it
were there, but for the symbols around that place, which count as damaged.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import tree_sitter as ts

from ckvd.model import HeaderItem, Range
from ckvd.parse import quarantine, repair, rescue
from ckvd.parse.blanks import blanked
from ckvd.parse.draft import Draft
from ckvd.parse.layout import Layout
from ckvd.parse.paths import ERROR_KIND
from ckvd.parse.reading import Reading, is_clean, premasked, tree, walked
from ckvd.parse.table import Table
from ckvd.parse.text import trimmed

FEW_ERRORS = 4
"""As many errors as one missing character may cause, where the parser does not lose its way."""
MOST_THIRD_QUOTES = 8
BYTES_FOR_THIRD_QUOTES = 3_000_000
MENDING_TIMES = 6
LEAST_MENDING_BYTES = 100_000
MENDING_BYTES = 1_000_000
"""How many bytes the tries to mend a file may parse: so many times its own, or these."""


def isolated(rules: Table, source: bytes, reading: Reading) -> Reading:
    """The reading with the damage confined to the blocks that cause it, where more stays intact so."""
    astray = quarantine.astray(source, reading.errors, [(d.start, d.end) for d in reading.drafts])
    if not astray and len(reading.errors) > FEW_ERRORS:
        return reading
    # The last mask takes out the most: what it still cannot read is what is broken.
    base = premasked(rules, source)
    base = rules.masks[-1](base) if rules.masks else base
    root, errors = (reading.root, reading.errors) if base == reading.text else tree(rules, base)
    torn = _with_third_quote(rules, source, base)
    if torn is not None:
        return torn
    others: list[Reading] = []
    literal = _literal_lines(root, base, rules.comments)
    for lines in (literal, frozenset[int]()) if literal else (literal,):
        other = _without_culprits(rules, source, base, errors, lines)
        if other is not None:
            others.append(other)
            if other.inserted is not None:
                break
    for other in sorted(others, key=lambda r: (r.whole, r.intact), reverse=True):
        no_worse = other.failed <= reading.failed and (other.whole or other.intact >= reading.intact)
        if (no_worse or other.intact > reading.intact) and (astray or other.inserted is not None):
            return other
    return reading


def _without_culprits(
    rules: Table, source: bytes, base: bytes, errors: Sequence[Range], literal: frozenset[int]
) -> Reading | None:
    layout = Layout(base, literal)
    search = quarantine.Search(
        base,
        layout,
        lambda text: tree(rules, text)[1],
        lambda text: is_clean(rules, text),
        rules.language.filler.encode(),
    )
    text, culprits = search.run(errors)
    if not culprits or len(culprits) > len(errors):  # more than there can be
        return None
    root, left = tree(rules, text)
    if len(culprits) == 1 and not left:
        mended = _mended(rules, layout, source, base, culprits[0])
        if mended is not None:
            return mended
    blocks = [(c.start, trimmed(source, c.start, c.end)) for c in sorted(culprits, key=lambda c: c.start)]
    other = replace(walked(rules, source, text, root, sorted([*left, *blocks])), whole=not left)
    for start, end in blocks:
        alone = text[:start] + source[start:end] + blanked(text[end:])
        inside = walked(rules, source, alone, *tree(rules, alone)).drafts
        other.drafts.extend(rescue.rescued(inside, other.drafts, (start, end)))
    return other


def _mended(
    rules: Table, layout: Layout, source: bytes, base: bytes, culprit: quarantine.Culprit
) -> Reading | None:
    """The reading with one character put in, if one makes a text without errors."""
    budget = min(MENDING_BYTES, max(LEAST_MENDING_BYTES, MENDING_TIMES * len(base)))
    block = culprit.start, culprit.end
    for at, mark in repair.insertions(layout, base, block, culprit.indent):
        budget -= culprit.end - culprit.start
        if budget < 0:
            return None
        if is_clean(rules, culprit.alone[:at] + mark + culprit.alone[at:]):
            mended = _with(rules, source, base, at, mark)
            if mended is not None:
                return mended
            budget -= len(base)
    return None


def _with_third_quote(rules: Table, source: bytes, base: bytes) -> Reading | None:
    """The reading with a third quote beside two, where those of three are odd in number."""
    most = min(MOST_THIRD_QUOTES, BYTES_FOR_THIRD_QUOTES // (len(base) + 1))
    tries = itertools.islice(repair.third_quotes(base), most)
    return next((m for at, mark in tries if (m := _with(rules, source, base, at, mark)) is not None), None)


def _with(rules: Table, source: bytes, base: bytes, at: int, mark: bytes) -> Reading | None:
    """The reading of a text with a character put in, if that has no errors."""
    text = base[:at] + mark + base[at:]
    root, errors = tree(rules, text)
    if errors:
        return None
    longer = source[:at] + mark + source[at:]
    found = walked(rules, longer, text, root, [(at, at + 1)])
    for draft in found.drafts:
        _move(draft, at)
    place = min(at, max(0, len(source) - 1))
    return Reading(
        text,
        root,
        [(place, place + 1)],
        found.drafts,
        [_moved(item, at) for item in found.header],
        whole=True,
        inserted=(at, mark),
    )


def _move(draft: Draft, at: int) -> None:
    """Counts the inserted character out of all offsets of a draft."""
    draft.found = replace(draft.found, start=_back(draft.found.start, at))
    draft.start, draft.end, draft.lead = (_back(x, at) for x in (draft.start, draft.end, draft.lead))
    draft.declared, draft.above = _back(draft.declared, at), _back(draft.above, at)
    draft.group = _back(draft.group[0], at), _back(draft.group[1], at)
    draft.body = (_back(draft.body[0], at), _back(draft.body[1], at)) if draft.body else None
    draft.doc = (_back(draft.doc[0], at), _back(draft.doc[1], at)) if draft.doc else None
    draft.imports = [_moved(item, at) for item in draft.imports]
    draft.around = tuple(_moved(item, at) for item in draft.around)
    draft.frame = (_back(draft.frame[0], at), _back(draft.frame[1], at)) if draft.frame else None


def _moved(item: HeaderItem, at: int) -> HeaderItem:
    frame = (_back(item.frame[0], at), _back(item.frame[1], at)) if item.frame else None
    lead = _back(item.lead, at) if item.lead is not None else None
    return replace(item, start=_back(item.start, at), end=_back(item.end, at), frame=frame, lead=lead)


def _back(offset: int, at: int) -> int:
    return offset - (offset > at)


def _literal_lines(root: ts.Node, text: bytes, comments: frozenset[int]) -> frozenset[int]:
    """The lines that begin within one token: their indentation says nothing."""
    found: set[int] = set()
    cursor = root.walk()
    while True:
        node = cursor.node
        assert node is not None
        long = node.start_point.row != node.end_point.row
        if long and node.child_count == 0 and node.kind_id != ERROR_KIND:
            # A comment may have its line's end inside.
            end = node.end_byte - _in_comment(node, comments)
            at = text.find(b"\n", node.start_byte) + 1
            while node.start_byte + 1 < at <= end:
                found.add(at)
                at = text.find(b"\n", at) + 1
        if long and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return frozenset(found)


def _in_comment(node: ts.Node, comments: frozenset[int]) -> bool:
    return node.kind_id in comments or (node.parent is not None and node.parent.kind_id in comments)
