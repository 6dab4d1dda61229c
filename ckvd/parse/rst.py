"""reStructuredText → its sections, by the lines under (and over) their titles."""

from __future__ import annotations

import re
from unicodedata import east_asian_width

from ckvd.languages import Language
from ckvd.model import Parsed
from ckvd.parse.sections import Heading, parsed

_RULE = re.compile(rb"([!-/:-@\[-`{-~])\1*[ \t]*\r?$")
_NO_TITLE = re.compile(rb"\s|[-*+][ \t]|\.\.[ \t\r\n]|\.\.$|\|[ \t]|>>>|__[ \t]|:[^:]+:[ \t]")
"""How list items, directives, line blocks and the like begin, which are no titles."""
_APART = re.compile(rb"\s|[-*+][ \t]|\.\.[ \t\r\n]|\.\.$|\|[ \t]|\+[-=]|__[ \t]|:[^:]+:(?:\s|$)")
"""How lines begin that are of no paragraph: one that is indented no deeper does not go on with them."""
SHORT_RULE = 4
"""A line under a title that is shorter than the title counts from this length on (docutils warns)."""


def parse(_path: str, source: bytes, language: Language) -> Parsed:
    """Titles as docutils finds them; the first style met is the outermost level, and so on."""
    headings: list[Heading] = []
    styles: list[tuple[bytes, bool]] = []
    lines = source.split(b"\n")
    at, offset = 0, 0
    while at < len(lines):
        found = _title(lines, at)
        if found is None:
            offset += len(lines[at]) + 1
            at += 1
            continue
        mark, overlined = found
        if found not in styles:
            styles.append(found)
        rows = lines[at : at + 2 + overlined]
        end = offset + sum(len(row) + 1 for row in rows)
        title = rows[overlined]
        title_start = offset + (len(rows[0]) + 1 if overlined else 0) + len(title) - len(title.lstrip())
        headings.append(
            Heading(
                styles.index((mark, overlined)),
                title.decode("utf-8", "replace").strip(),
                offset,
                end - 1 - (len(rows[-1]) - len(rows[-1].rstrip())),
                title_start,
            )
        )
        at += len(rows)
        offset = end
    return parsed(source, language, headings)


def _title(lines: list[bytes], at: int) -> tuple[bytes, bool] | None:
    """The style of the title that begins at a line: its mark, and whether the line is one over it."""
    line = lines[at]
    below = lines[at + 1] if at + 1 < len(lines) else b""
    over = _RULE.match(line)
    if over:
        under = _RULE.match(lines[at + 2]) if at + 2 < len(lines) else None
        if under and under[1] == over[1] and below.strip() and not _RULE.match(below):
            if _in_paragraph(lines, at):
                return None
            room, rule = len(line.rstrip()), len(lines[at + 2].rstrip())
            return (over[1], True) if room == rule and _width(below) <= max(room, SHORT_RULE) else None
        return None
    under = _RULE.match(below)
    if under is None or not line.strip() or _NO_TITLE.match(line) or _in_paragraph(lines, at):
        return None
    rule = len(below.rstrip())
    return (under[1], False) if rule >= min(_width(line), SHORT_RULE) else None


def _in_paragraph(lines: list[bytes], at: int) -> bool:
    """Whether a line goes on with a paragraph, and not with a list, a directive or what is indented."""
    while at and lines[at - 1].strip() and not _RULE.match(lines[at - 1]):
        at -= 1
        if not _APART.match(lines[at]):
            return True
        if lines[at][:1].isspace():
            return False
    return False


def _width(line: bytes) -> int:
    """The columns that a line takes on a terminal."""
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in line.decode("utf-8", "replace").rstrip())
