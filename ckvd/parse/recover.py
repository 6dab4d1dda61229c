"""Damage kept where it is: the blocks that cause it are read apart from the rest, or mended.

Where one character is missing and putting it back leaves a text without errors, all of it is read as if it
were there, but for the symbols around that place, which count as damaged.
"""

from __future__ import annotations

import re
from dataclasses import replace

import tree_sitter as ts

from ckvd.parse import quarantine, repair, rescue
from ckvd.parse.layout import Layout
from ckvd.parse.moved import move, moved
from ckvd.parse.paths import ERROR_KIND
from ckvd.parse.reading import Parse, Reading, is_clean, premasked, total, tree, walked
from ckvd.parse.table import Table
from ckvd.parse.text import trimmed

FEW_ERRORS = 4
"""As many errors as one missing character may cause, where the parser does not lose its way."""
MOST_CULPRITS = 4
MOST_THIRD_QUOTES = 8
MENDING_TIMES = 2
LEAST_MENDING_BYTES = 30_000
MENDING_BYTES = 1_000_000
"""How many bytes the tries to mend a file may parse: so many times its own, or these."""

_TEXT = re.compile(rb'"""(?:[^"\\]|\\.|"(?!""))*+"""|\'\'\'(?:[^\'\\]|\\.|\'(?!\'\'))*+\'\'\'', re.DOTALL)
_LINE_END = re.compile(rb"\n")


def isolated(rules: Table, source: bytes, best: Parse, masked: Parse) -> Reading:
    """The reading of a text with errors, with the damage confined to the blocks that cause it, where more
    stays intact so.

    The last mask takes out the most: what it still cannot read is what is broken.
    """
    reading: Reading | None = None
    astray = quarantine.astray(source, best.errors)
    if not astray:
        reading = walked(rules, source, *best)
        astray = quarantine.crooked(source, best.errors, [(d.start, d.end) for d in reading.drafts])
        if not astray and len(best.errors) > FEW_ERRORS:
            return reading
    others: list[Reading] = []
    mended = _with_third_quote(rules, source, masked)
    literal = _literal_lines(masked.root, masked.text, rules.comments)
    for lines in (literal, frozenset[int]()) if literal else (literal,):
        if mended is None:
            least = min((total(other.errors) for other in others if other.whole), default=len(source) + 1)
            mended, other = _without_culprits(rules, source, masked, lines, least)
            others += [other] if other is not None else []
    if mended is not None:
        return mended
    reading = reading or walked(rules, source, *best)
    for other in sorted(others if astray else [], key=lambda r: (r.whole, r.intact), reverse=True):
        # What stays in part unread must gain and lose nothing: an error in a body leaves its symbol whole.
        more = other.intact > reading.intact
        gains = more and len(other.drafts) >= len(reading.drafts)
        if gains or (other.whole and (more or other.failed <= reading.failed)):
            return other
    return reading


def _without_culprits(
    rules: Table, source: bytes, masked: Parse, literal: frozenset[int], most: int
) -> tuple[Reading | None, Reading | None]:
    """The reading with what is missing put in, or else the one without the blocks that cannot be read.

    Neither where those have `most` bytes or more.
    """
    base, root, left = masked
    layout = Layout(base, literal)
    search = quarantine.Search(base, layout, lambda t: is_clean(rules, t), rules.language.filler.encode())
    text, culprits = base, list[quarantine.Culprit]()
    while left and len(culprits) < min(MOST_CULPRITS, len(masked.errors)):
        culprit = search.next(text, left)
        if culprit is None:
            break
        most -= culprit.block.end - culprit.block.start
        if most <= 0:
            return None, None
        if not culprits:
            mended = _mended(rules, layout, source, base, culprit)
            if mended is not None:
                return mended, None
        culprits.append(culprit)
        text = search.blanked(text, culprit.block)
        root, left = tree(rules, text)
    if not culprits:
        return None, None
    blocks = [(c.block.start, trimmed(source, c.block.start, c.block.end)) for c in culprits]
    other = replace(walked(rules, source, text, root, sorted([*left, *blocks])), whole=not left)
    for draft in other.drafts:
        for start, end in blocks:
            if draft.start <= start < draft.end < end:  # it ended with what stood for its last block
                draft.join(end, clean=False)
    for culprit, block in sorted(zip(culprits, blocks, strict=True), key=lambda each: each[1]):
        alone = replace(culprit, behind=()).alone(source)
        plain = premasked(rules, alone)
        inside = walked(rules, alone, plain, *tree(rules, plain)).drafts
        place = culprit.place()
        for draft in inside:
            move(draft, place)
        other.drafts.extend(rescue.rescued(inside, other.drafts, block))
    return None, other


def _mended(
    rules: Table, layout: Layout, source: bytes, base: bytes, culprit: quarantine.Culprit
) -> Reading | None:
    """The reading with one character put in, if one makes a text without errors."""
    budget = min(MENDING_BYTES, max(LEAST_MENDING_BYTES, MENDING_TIMES * len(base)))
    block = culprit.block
    inner = repair.behind_head(layout, base, block)
    if inner and is_clean(rules, culprit.around(repair.cut(base, block, inner))):
        inner = []  # what is missing is missing inside
    for at, mark in repair.insertions(layout, base, (block.start, block.end), block.indent):
        alone = culprit.around(repair.cut(base, block, inner, at, mark))
        budget -= len(alone)
        if budget < 0:
            return None
        if is_clean(rules, alone):
            mended = _with(rules, source, base, at, mark)
            if mended is not None:
                return mended
            budget -= len(base)
    return None


def _with_third_quote(rules: Table, source: bytes, masked: Parse) -> Reading | None:
    """The reading with a third quote beside two, where those of three are odd in number."""
    base = masked.text
    tries = (
        _with(rules, source, base, at, mark) for at, mark in repair.third_quotes(base)[:MOST_THIRD_QUOTES]
    )
    return next((mended for mended in tries if mended is not None), None)


def _with(rules: Table, source: bytes, base: bytes, at: int, mark: bytes) -> Reading | None:
    """The reading of a text with a character put in, if that has no errors."""
    text = base[:at] + mark + base[at:]
    root, errors = tree(rules, text)
    if errors:
        return None
    longer = source[:at] + mark + source[at:]
    found = walked(rules, longer, text, root, [(at, at + 1)])

    def back(offset: int) -> int:
        return offset - (offset > at)

    for draft in found.drafts:
        move(draft, back)
    place = min(at, max(0, len(source) - 1))
    header = [moved(item, back) for item in found.header]
    return Reading(text, root, [(place, place + 1)], found.drafts, header, whole=True, inserted=(at, mark))


def _literal_lines(root: ts.Node, text: bytes, comments: frozenset[int]) -> frozenset[int]:
    """The lines that begin within one token: their indentation says nothing."""
    found: set[int] = set()
    for quoted in _TEXT.finditer(text):  # a parser that has lost its way may not have seen them
        found.update(m.end() for m in _LINE_END.finditer(text, *quoted.span()))
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
