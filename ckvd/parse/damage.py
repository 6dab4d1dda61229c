"""What of a tree is broken: the ranges of ERROR and MISSING nodes that no intact symbol covers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import tree_sitter as ts

from ckvd.model import ParseStatus, Range
from ckvd.parse import comments
from ckvd.parse.paths import ERROR_KIND

_INNER = range(0x80, 0xC0)
"""The bytes of a character of UTF-8 but its first."""

FAILED_SHARE = 0.2
"""A file with a larger share of damaged bytes counts as failed."""


def errors(root: ts.Node, size: int) -> list[Range]:
    """The ranges of ERROR and MISSING nodes, nested ones too, sorted; a MISSING one takes the byte at it."""
    if not root.has_error:
        return []
    ranges: list[Range] = []
    cursor = root.walk()
    while True:
        node = cursor.node
        assert node is not None
        if node.kind_id == ERROR_KIND or node.is_missing:
            start = max(0, min(node.start_byte, size - 1))
            ranges.append((start, min(max(node.end_byte, start + 1), max(size, 1))))
        if node.has_error and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return sorted(ranges)


def nothing(root: ts.Node, text: bytes, kinds: frozenset[int]) -> bool:
    """Whether a text is of comments alone, which some grammars take for an error."""
    if root.kind_id != ERROR_KIND:
        return False
    at, pending = 0, list(reversed(root.children))
    while pending:
        node = pending.pop()
        if node.kind_id == ERROR_KIND and node.child_count:
            pending.extend(reversed(node.children))
        elif node.kind_id in kinds:
            if text[at : node.start_byte].strip():
                return False
            at = node.end_byte
        elif node.kind_id != ERROR_KIND:
            return False
    return not text[at:].strip()


def any_within(errors: Sequence[Range], start: int, end: int) -> bool:
    """Whether one of the errors, which are sorted, lies inside a range."""
    i = bisect_left(errors, (start, 0))
    while i < len(errors) and errors[i][0] < end:
        if errors[i][1] <= end:
            return True
        i += 1
    return False


def merged(ranges: Sequence[Range]) -> list[Range]:
    """The same bytes as ranges that neither touch nor overlap, in order."""
    out: list[Range] = []
    for start, end in sorted(ranges):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def in_characters(source: bytes, ranges: Sequence[Range]) -> list[Range]:
    """The ranges, merged and widened to all of the characters of UTF-8 that they begin and end in."""
    widened = []
    for start, end in ranges:
        while 0 < start < len(source) and source[start] in _INNER:
            start -= 1
        while end < len(source) and source[end] in _INNER:
            end += 1
        widened.append((start, end))
    return merged(widened)


def without(ranges: Sequence[Range], intact: Sequence[Range]) -> list[Range]:
    """The parts of `ranges` that lie in none of the intact ranges."""
    holes = merged(intact)
    starts = [h[0] for h in holes]
    out: list[Range] = []
    for start, end in ranges:
        i = max(0, bisect_right(starts, start) - 1)
        while start < end and i < len(holes) and holes[i][0] < end:
            if holes[i][1] > start:
                if start < holes[i][0]:
                    out.append((start, holes[i][0]))
                start = holes[i][1]
            i += 1
        if start < end:
            out.append((start, end))
    return out


def status(root: ts.Node, damage: Sequence[Range], size: int) -> ParseStatus:
    """Of a tree with errors: `failed` where the root is one or more than a fifth of the bytes is damaged."""
    if root.kind_id == ERROR_KIND or sum(b - a for a, b in damage) > FAILED_SHARE * size:
        return "failed"
    return "partial"


def said(source: bytes, at: int, what: str) -> str:
    """What is wrong at a byte, behind its line and column, both from 1."""
    line = source.count(b"\n", 0, at) + 1
    column = at - source.rfind(b"\n", 0, at)
    return f"line {line}, column {column}: {what}"


def unread(source: bytes, at: int) -> str:
    """What stands where the parse went wrong."""
    shown = " ".join(source[at : at + 80].split(b"\n")[0].decode("utf-8", "replace").split())[:60]
    if not shown and not source[at:].strip():
        return "the file ends where more is expected"
    return f"cannot be parsed from {shown!r}" if shown else "cannot be parsed"


def visible(source: bytes, at: int) -> int:
    """The first byte from `at` on that is no white space, where a reader sees the damage begin."""
    rest = source[at:]
    blanks = len(rest) - len(rest.lstrip())
    return at + blanks if blanks < len(rest) else at


def fault(root: ts.Node, source: bytes, damage: Sequence[Range]) -> int | None:
    """Where the parse of all of the source went wrong, if not where the damage begins.

    That may be with a block that was set apart, in which the first error is later. A condition of the
    preprocessor in which something cannot be parsed may be broken from its `#ifdef` on, which may be the
    first line of a file; what it fell over is the first error inside. Other damage may begin with the white
    space before it.
    """
    start = damage[0][0]
    outer: ts.Node | None = None
    node = root.descendant_for_byte_range(start, start + 1)
    while node is not None:
        outer = node if node.kind_id == ERROR_KIND else outer
        node = node.parent
    begun = outer.children if outer is not None and outer.start_byte == start else ()
    if outer is not None and begun and begun[0].type.startswith("#"):
        inner = [at for at, _ in errors(outer, root.end_byte) if at > start]
        return next((at for at in inner if any(a <= at < b for a, b in damage)), None)
    first = next((at for at, _ in errors(root, len(source)) if start <= at < damage[0][1]), start)
    shown = first if _missing_at(root, first) is not None else visible(source, first)
    return shown if shown != start else None


def detail(source: bytes, ranges: Sequence[Range], root: ts.Node, start: int) -> str:
    """One line: where the parse went wrong, what stands there, and how much is damaged in all."""
    missing = _missing_at(root, start)
    what = f"{missing!r} is missing" if missing else unread(source, start)
    if comments.endless(source, start):
        what = "this comment has no end"
    more = f"; {len(ranges)} damaged places in all" if len(ranges) > 1 else ""
    return said(source, start, what + more)


def _missing_at(root: ts.Node, start: int) -> str | None:
    """What the grammar put in at a byte, where there is nothing."""
    pending = [root]
    while pending:
        node = pending.pop()
        if node.is_missing and node.start_byte == start:
            return node.type
        if node.has_error and node.start_byte <= start <= node.end_byte:
            pending.extend(reversed(node.children))
    return None
