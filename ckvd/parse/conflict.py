"""Merge conflicts that are left in a file: one side is read in its place, and the marks are the damage."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ckvd.languages import Language
from ckvd.model import Parsed, Range, Symbol
from ckvd.parse import islands
from ckvd.parse.blanks import blanked
from ckvd.parse.damage import FAILED_SHARE, merged, said

_BEGIN = b"<<<<<<< "
_MARK = re.compile(rb"^(?:<{7} |\|{7}(?=[ \r\n])|={7}(?=\r?$)|>{7} )[^\n]*\n?", re.MULTILINE)
_FOLLOWS = {b"<": b"", b"|": b"<", b"=": b"<|", b">": b"="}
"""Of each mark, by its first character, those that it may come behind."""
_FENCE = re.compile(rb"^ {0,3}(?:```|~~~)", re.MULTILINE)
_STRICT = (None, "data", "notebook", "php", "yaml")
"""Parsers to which a mark outside of strings and comments is an error."""

Conflict = list[Range]
"""The lines of its marks: before the one side, before what both come from if that is told, before the other
side, and behind it."""


def around(
    path: str, source: bytes, language: Language, parser: Callable[[str, bytes, Language], Parsed]
) -> Parsed:
    """A parse, or where a merge conflict stands in the text, that of the side which is less damaged.

    What the other side declares by itself is there too. Conflicts in strings and comments are none.
    """
    parsed = parser(path, source, language)
    conflicts = list(_conflicts(source, language)) if _BEGIN in source else []
    strict = language.parser in _STRICT
    if not conflicts or (parsed.status == "ok" and strict):
        return parsed
    ours = parser(path, _without(source, conflicts, last=True), language)
    theirs = parser(path, _without(source, conflicts, last=False), language)
    best, other = (ours, theirs) if ours.error_bytes <= theirs.error_bytes else (theirs, ours)
    if strict and best.error_bytes >= parsed.error_bytes:
        return parsed
    sides = [(c[-2][1], c[-1][0]) if best is ours else (c[0][1], c[1][0]) for c in conflicts]
    marks = [mark for conflict in conflicts for mark in conflict]
    more = [replace(s, scope=None) for s in other.symbols if _within(sides, s.start, s.end)]
    damage = merged([*marks, *best.damage, *(r for r in other.damage if _within(sides, *r))])
    error_bytes = sum(end - start for start, end in damage)
    at = marks[0][0]
    return replace(
        best,
        status="failed" if error_bytes > FAILED_SHARE * len(source) else "partial",
        reason="syntax-errors",
        detail=said(source, at, "a merge conflict is not resolved"),
        symbols=islands.together([[_marked(s, marks) for s in best.symbols], more]),
        damage=tuple(damage),
        fault=at if damage[0][0] < at else None,
        error_bytes=error_bytes,
    )


def _conflicts(source: bytes, language: Language) -> Iterator[Conflict]:
    marks: Conflict = []
    behind = b""
    for line in _MARK.finditer(source):
        mark = line[0][:1]
        if mark == b"<":
            marks, behind = [], b""
        if not (behind in _FOLLOWS[mark] if behind else mark == b"<"):
            continue
        marks.append(line.span())
        behind = mark
        if mark == b">":
            fences = len(_FENCE.findall(source, 0, marks[0][0])) if language.sections else 0
            if fences % 2 == 0:
                yield marks
            marks, behind = [], b""


def _without(source: bytes, conflicts: Sequence[Conflict], *, last: bool) -> bytes:
    """A text of the same length with blanks for the marks and for all but one side."""
    text = bytearray(source)
    for marks in conflicts:
        first, *_, split, end = marks
        gone = [first, (marks[1][0], end[1])] if last else [(first[0], split[1]), end]
        for a, b in gone:
            text[a:b] = blanked(source[a:b])
    return bytes(text)


def _within(sides: Sequence[Range], start: int, end: int) -> bool:
    return any(a <= start and end <= b for a, b in sides)


def _marked(symbol: Symbol, marks: Sequence[Range]) -> Symbol:
    """A symbol, damaged where a mark stands in it."""
    torn = any(symbol.start < a and a < symbol.end for a, _ in marks)
    return replace(symbol, clean=False) if torn and symbol.clean else symbol
