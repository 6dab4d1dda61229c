"""Makefiles → a symbol for each target, `define` and variable, line by line as make reads them.

A rule goes on to its last recipe line; conditions between rules are no part of one, which tree-sitter's
grammar takes them for.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ckvd.languages import Language
from ckvd.model import HeaderItem, Parsed, Range, Symbol
from ckvd.parse import templates, text
from ckvd.parse.damage import any_within, merged, said
from ckvd.parse.outcome import outcome

_LINE = re.compile(rb"(?:[^\\\n]|\\(?:\r?\n|[^\n]|\Z))*+\n?")
_CONDITION = re.compile(rb"[ \t]*(?P<word>ifeq|ifneq|ifdef|ifndef|else|endif)\b")
_INCLUDE = re.compile(rb"[ \t]*(?:-|s)?include\b[ \t]+\S|\.[ ]*(?:-|s)?include\b")
_DEFINE = re.compile(rb"\s*(?:(?:override|export)\s+)*define\s+(?P<name>[^\s:?+!=#]+)")
_ANY_DEFINE = re.compile(rb"\s*(?:(?:override|export)\s+)*define\b")
_ENDEF = re.compile(rb"\s*endef\b")
_REFERENCE = rb"\$(?:\((?:[^()\n]|\([^()\n]*\))*\)|\{[^{}\n]*\}|[^({])"
_VARIABLE = re.compile(
    rb"\s*(?:(?:export|override|private)\s+)*(?P<name>(?:"
    + _REFERENCE
    + rb"|[^\s:#=?+!$])++)[ \t]*(?P<how>=|:{1,3}=|\?=|\+=|!=)"
)
_TARGET = re.compile(rb"(?:" + _REFERENCE + rb"|\\.|[^\s:;#=$&\\]|&(?!:))++", re.DOTALL)
_COLON = re.compile(rb"[ \t]*&?::?(?![:=])")
_ASSIGNED = re.compile(rb"[^;#\n]*?(?<![<>!=])(?::{0,3}|[?+!])=")
_HELP = re.compile(rb"##[ \t]*([^\n]*)")
_OTHER = re.compile(
    rb"\s*(?:$|#|\$|@|(?:export|unexport|override|private|vpath|undefine|load|-load|if|for|define|endef)\b"
    rb"|\.[ ]*(?:if|el|end|for|undef|info|warning|error|export|poison|message|unexport|dinclude|MAKE|PHONY))"
)
_SPECIAL = frozenset(
    """
    .PHONY .SUFFIXES .DEFAULT .PRECIOUS .INTERMEDIATE .NOTINTERMEDIATE .SECONDARY .SECONDEXPANSION
    .DELETE_ON_ERROR .IGNORE .LOW_RESOLUTION_TIME .SILENT .EXPORT_ALL_VARIABLES .NOTPARALLEL .ONESHELL .POSIX
    .WAIT .MAKE .ORDER .MAIN .PATH .OBJDIR .NOPATH .BEGIN .END
    """.split()  # noqa: SIM905 -- a list of names reads best as one
)


_KINDS = frozenset({"target", "macro", "variable"})


@dataclass(slots=True)
class _Statement:
    """`body` is where the recipe or the text of a `define` begins, `names` are names and where they stand.

    Besides the kinds of symbols there are `import`, `addition` (`+=` defines nothing) and `setting` (of a
    variable for one target).
    """

    kind: str
    start: int
    end: int
    names: list[tuple[str, int]] = field(default_factory=list)
    body: int | None = None
    help: str = ""


@dataclass(slots=True)
class _Makefile:
    statements: list[_Statement] = field(default_factory=list)
    lines: list[Range] = field(default_factory=list)
    comments: list[Range] = field(default_factory=list)
    damage: list[tuple[Range, str]] = field(default_factory=list)


def parse(_path: str, source: bytes, language: Language) -> Parsed:
    """The symbols of a makefile; damage is a line without a separator, and a block without its end."""
    found = _read(source)
    if found.damage and (plain := templates.blanked(source)) != source:
        other = _read(plain)
        found = other if len(other.damage) < len(found.damage) else found
    ranges = merged([where for where, _ in found.damage])
    return outcome(
        source,
        language,
        ranges,
        said(source, found.damage[0][0][0], found.damage[0][1]) if found.damage else None,
        symbols=(
            s
            for each in found.statements
            if each.kind in _KINDS
            for s in _symbols(source, found, each, ranges)
        ),
        header=_header(source, found),
        pieces=_Pieces(found),
    )


def _read(source: bytes) -> _Makefile:
    made = _Makefile()
    rule: _Statement | None = None
    defines: list[_Statement] = []
    conditions: list[Range] = []
    for start, end in _lines(source):
        stop = text.trimmed(source, start, end)
        if start == stop:
            continue
        made.lines.append((start, stop))
        first = start + len(source[start:stop]) - len(source[start:stop].lstrip())
        if defines:
            defines[0].end = stop
            if _ENDEF.match(source, start, stop):
                defines.pop()
            elif _ANY_DEFINE.match(source, start, stop):
                defines.append(defines[0])
            elif defines[0].body is None:
                defines[0].body = first
        elif rule is not None and source.startswith(b"\t", start):
            rule.body = first if rule.body is None else rule.body
            rule.end = stop
        elif source.startswith(b"#", first):
            made.comments.append((first, stop))
        elif condition := _CONDITION.match(source, start, stop):
            _condition(condition, conditions, (first, stop), made)
        else:
            statement = _statement(source, first, stop)
            if statement is None and not _OTHER.match(source, start, stop):
                made.damage.append(((first, stop), "this line has no separator"))
            rule = statement if statement is not None and statement.kind == "target" else None
            if statement is not None:
                made.statements.append(statement)
            if statement is not None and statement.kind == "macro":
                defines.append(statement)
    for torn in defines[:1]:
        line = text.trimmed(source, torn.start, torn.body or torn.end)
        made.damage.append(((torn.start, line), "this define has no endef"))
    made.damage += [(where, "this condition has no endif") for where in conditions]
    made.damage.sort()
    return made


def _lines(source: bytes) -> Iterator[Range]:
    """The lines, each with those that a backslash joins to it."""
    at = 0
    while at < len(source):
        found = _LINE.match(source, at)
        end = found.end() if found is not None and found.end() > at else len(source)
        yield at, end
        at = end


def _condition(found: re.Match[bytes], open_: list[Range], line: Range, made: _Makefile) -> None:
    word = found["word"]
    if word.startswith(b"if"):
        open_.append(line)
    elif not open_:
        made.damage.append((line, f"this {word.decode()} belongs to no condition"))
    elif word == b"endif":
        open_.pop()


def _statement(source: bytes, start: int, end: int) -> _Statement | None:
    if define := _DEFINE.match(source, start, end):
        return _Statement("macro", start, end, [_named(define["name"], define.start("name"))])
    if variable := _VARIABLE.match(source, start, end):
        kind = "addition" if variable["how"] == b"+=" else "variable"
        return _Statement(kind, start, end, [_named(variable["name"], variable.start("name"))])
    if _INCLUDE.match(source, start, end):
        return _Statement("import", start, end)
    names, at = [], start
    while target := _TARGET.match(source, at, end):
        names.append(_named(target[0], target.start()))
        at = end - len(source[target.end() : end].lstrip(b" \t"))
        while source[at : at + 1] == b"\\" and not source[at + 1 : end].lstrip(b"\r").startswith(b" "):
            at = end - len(source[at + 1 : end].lstrip())
    colon = _COLON.match(source, at, end)
    if not names or colon is None:
        return None
    if _ASSIGNED.match(source, colon.end(), end):
        return _Statement("setting", start, end)
    rule = _Statement("target", start, end, [each for each in names if each[0] not in _SPECIAL])
    inline = source.find(b";", colon.end(), end)
    rule.body = inline if inline >= 0 else None
    help_ = _HELP.search(source, colon.end(), end)
    rule.help = help_[1].decode("utf-8", "replace").strip() if help_ else ""
    return rule


def _named(name: bytes, at: int) -> tuple[str, int]:
    return name.decode("utf-8", "replace"), at


def _symbols(
    source: bytes, found: _Makefile, statement: _Statement, damage: Sequence[Range]
) -> Iterator[Symbol]:
    start, end = statement.start, statement.end
    lead, doc = text.remarks(source, start, found.comments)
    body = statement.body if statement.body is not None else end
    long = statement.kind == "macro" or source.find(b"\n", lead, end) >= 0
    for order, (name, at) in enumerate(statement.names):
        yield Symbol(
            name=name,
            parents=(),
            kind=statement.kind,
            start=start,
            end=end,
            name_start=at,
            lead=lead,
            body=(body, end) if body < end else None,
            signature=text.signature(source, start, end if statement.kind == "variable" else body),
            doc=doc or statement.help,
            clean=not any_within(damage, start, end),
            chunked=order == 0 and long and statement.kind != "variable",
        )


def _header(source: bytes, found: _Makefile) -> Iterator[HeaderItem]:
    for statement in found.statements:
        if statement.kind in ("variable", "addition"):
            names = frozenset(name for name, _ in statement.names)
            lead, doc = text.remarks(source, statement.start, found.comments)
            yield HeaderItem("constant", statement.start, statement.end, names, lead=lead if doc else None)
        elif statement.kind == "import":
            yield HeaderItem("import", statement.start, statement.end)


class _Pieces:
    """The statements in a range, and the lines that belong to none; within one statement its lines."""

    def __init__(self, made: _Makefile) -> None:
        whole = [(s.start, s.end) for s in made.statements]
        starts = [start for start, _ in whole]

        def apart(line: Range) -> bool:
            at = bisect_right(starts, line[0]) - 1
            return at < 0 or whole[at][1] <= line[0]

        self._lines = made.lines
        self._parts = sorted([*whole, *(line for line in made.lines if apart(line))])

    def __call__(self, start: int, end: int) -> Sequence[Range]:
        parts = _within(self._parts, start, end)
        return parts if len(parts) > 1 else _within(self._lines, start, end)


def _within(ranges: Sequence[Range], start: int, end: int) -> list[Range]:
    first = max(0, bisect_right(ranges, (start, start)) - 1)
    inside = ranges[first : bisect_left(ranges, (end, 0))]
    return [(max(start, a), min(end, b)) for a, b in inside if b > start]
