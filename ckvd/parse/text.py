"""What is read off the text itself: doc comments and where they begin, signatures, names."""

from __future__ import annotations

import re
import textwrap
from bisect import bisect_left
from collections.abc import Iterable, Sequence

import tree_sitter as ts

from ckvd.parse.found import Found

Mark = tuple[int, int, bool, bool]
"""A comment or an attribute that the walk has passed: start, end, whether it is an attribute, and whether a
blank line may follow it."""

SIGNATURE_BYTES = 400
DOC_CHARACTERS = 1000

_SPACE = b" \t\r\n\f\v"
_OPENERS = " \t:={;,"
_MARKER = re.compile(
    r"^\s*(?:/\*+!?|//[/!]?|\*+/|\*(?!\*)|<?#+'?|--+[ \t]+[|^](?=\s)|--+(?:\[=*\[?)?|;+|%+|<!--|\(\*+"
    r"|\{-\s?\|?|=begin|=end)?[ \t]?"
)
_LONG_BRACKET = re.compile(r"\A(\s*--\[(=*)\[.*?)\s*\]\2\]\Z", re.DOTALL)
_CLOSER = re.compile(r"\s*(?:\*+/|-->|\*+\)|-\}|#>)\s*$")
_DIRECTIVE = re.compile(
    r"^(?://[a-z]+:\S|//export \w+$|//\s*\+build\s|///\s*<(?:reference|amd)|#!"
    r"|/[/*]\*?\s*(?:eslint|tslint|jshint|jslint|@ts-|prettier-ignore|biome-ignore|istanbul ignore|c8 ignore"
    r"|v8 ignore|nolint|NOLINT|clang-format |swiftlint:|ktlint-|noinspection |phpcs:|SPDX-)"
    r"|#\s*(?:noqa|type:|pylint:|fmt:|mypy:|ruff:|pragma:|rubocop:|shellcheck |typed:|frozen_string_literal:"
    r"|-\*-|(?:en)?coding: ?[\w-]+$))"
)
_VALUE = re.compile(rb"^//go:embed\s", re.MULTILINE)
"""A directive that says what a value is."""
_BRIEF = re.compile(
    r"^(?:[@\\](?:brief|notice|dev|summary|description|desc|title)\s+|\.(?i:SYNOPSIS|DESCRIPTION)$|=[a-z]+\d?(?:\s.*)?$)"
)
_TAG = re.compile(r"^(?:[@\\][A-Za-z]|\.[A-Z]+(?:\s|$)|=[a-z]+\d?(?:\s|$))")
_XML = re.compile(r"</?(?:summary|para|remarks)\s*/?>")
_DOC_STRING = re.compile(
    r"""(?:\A\s*|@(?:module|type)?doc\s+(?:~[sS])?)(\"{3}|'{3}|")(.*?)(?<!\\)\1""", re.DOTALL
)
_STRING_LAST = re.compile(rb"""^[ \t]*((\"{3}|"(?!"")).*?\2)\Z""", re.DOTALL | re.MULTILINE)
_USAGE = re.compile(r"\A\n?(?: {4}[^\n]*\n)+\s*\n(?=\S)")
"""How a documentation of Julia begins: with the calls that it is of."""
_QUOTES = re.compile(r"""^[a-zA-Z]{0,2}(\"{3}|'{3}|"|')(.*)\1$""", re.DOTALL)


def trimmed(source: bytes, start: int, end: int) -> int:
    """The end without the white space before it; some grammars count a line's end into a node."""
    while end > start and source[end - 1] in _SPACE:
        end -= 1
    return end


_ATTRIBUTES = (b"@", b"#", b"[", b"(")
_ANNOTATIONS = (b"@", b"context")
"""How what is blanked on lines before a declaration begins if it belongs to that."""


def before_blanks(source: bytes, parsed: bytes, start: int) -> int:
    """The start of a declaration with what was blanked before it on its line, and annotations above it."""
    line = _line(source, start)
    if parsed[line:start].strip(_SPACE):
        return start + source[start : start + 1].isspace()
    start -= len(source[line:start].lstrip(_SPACE))
    while line and not parsed[(above := _line(source, line - 1)) : line].strip(_SPACE):
        line = above
    annotations = source[line:start].lstrip(_SPACE)
    start -= len(annotations) if annotations.startswith(_ANNOTATIONS) else 0
    return start + source[start : start + 1].isspace()  # what stands for its first word may begin earlier


def follows(source: bytes, node: ts.Node) -> bool:
    """Whether a node stands directly behind its sibling, with nothing blanked between them."""
    before = node.prev_sibling
    return before is None or not source[before.end_byte : node.start_byte].strip(_SPACE)


_REMARK = re.compile(rb"#|//|--|\*/\Z")


def end_of_code(node: ts.Node, source: bytes, comments: frozenset[int]) -> int:
    """The end of a declaration without the comments that a grammar hangs at the end of its last block."""
    end = trimmed(source, node.start_byte, node.end_byte)
    last_line = source[source.rfind(b"\n", node.start_byte, end) + 1 : end]
    if not _REMARK.search(last_line):
        return node.end_byte
    while True:
        inside = [c for c in node.children if c.kind_id not in comments]
        if not inside:
            return end
        if inside[-1] != node.children[-1]:
            end = inside[-1].end_byte
        node = inside[-1]


def behind_attributes(
    node: ts.Node, source: bytes, attributes: frozenset[int], modifiers: frozenset[int]
) -> int:
    """Where a declaration goes on after the decorators or annotations that it begins with."""
    at = node.start_byte
    if source[at : at + 1] not in (b"@", b"[", b"#"):
        return at
    while True:
        inside = None
        for child in node.children:
            if child.kind_id in attributes:
                at = child.end_byte
            elif child.kind_id in modifiers:
                inside = child
                break
            else:
                return at
        if inside is None:
            return at
        node = inside


MOST_REMARKS = 256
"""Line comments that may make up one doc comment."""


_DOC = re.compile(rb"/\*[*!](?![*/<])")


def lead(source: bytes, start: int, marks: Sequence[Mark]) -> tuple[int, int]:
    """Where a declaration begins with the attributes before it, and where with its doc comment.

    A comment belongs to it if it begins its line, no blank line comes between, and it is indented alike;
    behind other code, if it is made for documentation and on the declaration's own line.
    """
    at = first = start
    column = start - _line(source, start)
    for begin, end, attribute, blank in reversed(marks):
        if begin >= at:
            continue
        end = trimmed(source, begin, end)
        gap = source[end:at]
        if gap.strip(_SPACE):
            break
        if attribute:
            before = source[_line(source, begin) : begin].strip(_SPACE)
            if before and b"\n" in gap and not before.startswith(_ATTRIBUTES):
                break  # it is of what it stands behind
            start = begin
            column = begin - _line(source, begin)
        else:
            line = _line(source, begin)
            newlines = gap.count(b"\n")
            if begin == 0 and source.startswith(b"#!"):
                break
            if source[line:begin].strip(_SPACE):
                at = begin  # it may hang behind an attribute
                if not newlines and _DOC.match(source, begin):
                    first = begin
                continue
            if newlines > 1 + blank or (newlines and begin - line != column):
                break
        at = first = begin
    return start, first


def before_marks(source: bytes, start: int, end: int, marks: Sequence[Mark]) -> int:
    """The end of a range without the comments and attributes that end it and begin a line of their own.

    `marks` are sorted.
    """
    reached = end
    for at in range(bisect_left(marks, (end,)) - 1, -1, -1):
        begin, last = marks[at][:2]
        if begin < start or source[last:reached].strip(_SPACE):
            break
        reached = begin
        if begins_line(source, begin):
            end = begin
    return trimmed(source, start, end)


def remarks(source: bytes, start: int, comments: Sequence[tuple[int, int]]) -> tuple[int, str]:
    """Where the doc comment of a declaration begins, and its text; `comments` are the file's, sorted."""
    at = bisect_left(comments, (start, start))
    marks: list[Mark] = [(a, b, False, False) for a, b in comments[max(0, at - MOST_REMARKS) : at]]
    first = lead(source, start, marks)[1]
    return first, comment_text(source, first, start) if first < start else ""


def remark(source: bytes, lead: int, start: int) -> int | None:
    """Where the comment that begins at `lead` begins, None where there is none or it says nothing."""
    said = lead < start and (_VALUE.search(source, lead, start) or comment_text(source, lead, start))
    return lead if said else None


def begins_line(source: bytes, at: int) -> bool:
    """Whether only white space stands before an offset on its line."""
    return not source[_line(source, at) : at].strip(_SPACE)


def _line(source: bytes, at: int) -> int:
    return source.rfind(b"\n", 0, at) + 1


def named(source: bytes, start: int, end: int, split: Sequence[str]) -> Found:
    """A name without quotes, and without what qualifies it before one of the separators."""
    raw = source[start:end]
    if len(raw) > 1 and raw[:1] == raw[-1:] and raw[:1] in (b'"', b"'", b"`"):
        start, end = start + 1, end - 1
    elif raw.startswith(b"r#"):
        start += 2
    parents: list[str] = []
    for separator in split:
        parts = source[start:end].split(separator.encode())
        parents += [" ".join(p.decode("utf-8", "replace").split()) for p in parts[:-1]]
        start = end - len(parts[-1])
    raw = source[start:end]
    start += len(raw) - len(raw.lstrip(_SPACE))
    return Found(" ".join(raw.decode("utf-8", "replace").split()), start, tuple(p for p in parents if p))


def signature(source: bytes, start: int, end: int) -> str:
    """A declaration's text up to its body as one line."""
    line = " ".join(source[start : min(end, start + SIGNATURE_BYTES)].decode("utf-8", "ignore").split())
    return line + " …" if end - start > SIGNATURE_BYTES else line.rstrip(_OPENERS) or line


def comment_text(source: bytes, start: int, end: int) -> str:
    """The first paragraph of a doc comment, or of a string in its place, without comment markers."""
    raw = source[start:end].rstrip(_SPACE)
    string = _STRING_LAST.search(raw) if raw.endswith(b'"') else None
    if string is not None:
        return string_text(raw, *string.span(1), _USAGE)
    said = _LONG_BRACKET.sub(r"\1", _DOC_STRING.sub(r"\2", raw.decode("utf-8", "replace")))
    lines = said.split("\n")
    plain = (_MARKER.sub("", _CLOSER.sub("", s), count=1) for s in lines if not _DIRECTIVE.match(s.strip()))
    return _paragraph(_XML.sub("", s) for s in plain)


def string_text(source: bytes, start: int, end: int, without: re.Pattern[str] | None = None) -> str:
    """The first paragraph of a docstring, without its quotes, and without what it may begin with."""
    raw = source[start:end].decode("utf-8", "replace")
    quoted = _QUOTES.match(raw)
    said = quoted[2] if quoted else raw
    if without is not None:
        said = without.sub("", textwrap.dedent(said), count=1)
    return _paragraph(said.split("\n"))


def _paragraph(lines: Iterable[str]) -> str:
    paragraph: list[str] = []
    for line in lines:
        words = line.strip() if paragraph else _BRIEF.sub("", line.strip())
        if paragraph and (not words or _TAG.match(words)):
            break
        if words:
            paragraph.append(words)
    return " ".join(" ".join(paragraph).split())[:DOC_CHARACTERS]
