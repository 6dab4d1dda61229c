"""SQL of any dialect → a symbol for each thing that is created, found by statement and not by grammar."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise, takewhile

from ckvd.languages import Language
from ckvd.model import HeaderItem, Parsed, Range, Symbol
from ckvd.parse import templates, text
from ckvd.parse.damage import merged, said
from ckvd.parse.outcome import outcome
from ckvd.parse.sql_split import NEW_STATEMENT, Script, split, unclosed

_KINDS = {
    "proc": "procedure",
    "package body": "package",
    "type body": "type",
    "domain": "type",
    "aggregate": "function",
    "event trigger": "trigger",
    "operator class": "operator",
    "operator family": "operator",
    "data wrapper": "wrapper",
    "access method": "access_method",
    "text search configuration": "configuration",
    "text search dictionary": "dictionary",
    "text search parser": "parser",
    "text search template": "template",
}
_BODIES = frozenset({"function", "procedure", "trigger", "event", "package", "view", "type", "macro", "rule"})

_QUOTED = rb'"(?:[^"]|"")+"|`(?:[^`]|``)+`|\[[^\]\n]+\]|\'(?:[^\'\n]|\'\')+\''
_PLAIN = (
    rb"(?:[\w\x80-\xff$#@]|\$\{[^}\n]*\}|\$\(\w+\)|\{[^{}\n]*\})+"  # with Flyway's, sqlcmd's placeholders
    rb"|:[\"']?\w+[\"']?|[-+*/<>=~!%^&|?@#]+(?=\s*\()"  # psql's variables; operators
)
_NAME = re.compile(
    rb"(?:\s+(?:CONCURRENTLY|IF\s+NOT\s+EXISTS|AUTHORIZATION|ONLINE)\b)*+\s*"
    rb"(?P<name>(?:(?:"
    + _QUOTED
    + rb"|"
    + _PLAIN
    + rb")\s*\.\s*){0,3}(?P<last>"
    + _QUOTED
    + rb"|"
    + _PLAIN
    + rb"))",
    re.IGNORECASE,
)
_PART = re.compile(_QUOTED + rb"|" + _PLAIN)
_NO_NAME = re.compile(rb"\s+(?:ON|FOR|USING|MAPPING\s+FOR)\b|\s*\(", re.IGNORECASE)
_ALTERED = re.compile(rb"ALTER\s+(?P<kind>FUNCTION|PROCEDURE|PROC|TRIGGER|VIEW)\b", re.IGNORECASE)
_BODY = re.compile(rb"\b(?:AS|IS|BEGIN|DO)\b|\$\w*\$", re.IGNORECASE)
_SETTING = re.compile(
    rb"(?:USE\s+[\w\[`\"]|SET\s+(?:LOCAL\s+|SESSION\s+)?(?:search_path|schema|CURRENT_SCHEMA)\b"
    rb"|ALTER\s+SESSION\s+SET\s+CURRENT_SCHEMA\b)",
    re.IGNORECASE,
)
_LINE = re.compile(rb",[ \t]*(?:--[^\n]*)?\n|\n[ \t\r]*\n")


def parse(_path: str, source: bytes, language: Language) -> Parsed:
    """The symbols of a script: `schema.table` and its like, each from its CREATE to its semicolon.

    Never `failed` for a dialect: only a quote, comment or parenthesis without its end is damage, the last
    not in a template, whose branches may each open what is closed once.
    """
    plain = templates.blanked(source)
    script = split(plain)
    shown = script.code if plain is source else source
    damage = merged(script.damage or (unclosed(script) if plain is source else ()))
    symbols = [
        symbol
        for statement in script.statements
        if (symbol := _created(source, shown, script, statement, damage)) is not None
    ]
    macros = [m for m in templates.definitions(source) if m.kind == "macro" and m.scope is None]
    return outcome(
        source,
        language,
        damage,
        _detail(source, damage[0][0]) if damage else None,
        symbols=_nested(symbols, macros),
        header=(
            HeaderItem("package", start, end)
            for start, end in script.statements
            if _SETTING.match(script.code, start)
        ),
        pieces=_Pieces(script),
    )


def _created(
    source: bytes, shown: bytes, script: Script, statement: Range, damage: Sequence[Range]
) -> Symbol | None:
    start, end = statement
    code = script.code
    created = NEW_STATEMENT.match(code, start, end) or _ALTERED.match(code, start, end)
    if created is None or _NO_NAME.match(code, created.end(), end):
        return None
    named = _NAME.match(code, created.end(), end)
    if named is None:
        return None
    if code[start : start + 1] in b"aA" and not re.compile(rb"\bAS\b", re.IGNORECASE).search(
        code, named.end(), end
    ):
        return None
    word = b" ".join(created["kind"].split()).lower().decode()
    kind = _KINDS.get(word, word)
    if kind == "event" and re.match(
        rb"\s+TRIGGER\b", code[created.end() : named.start("name")], re.IGNORECASE
    ):
        kind = "trigger"
    spans = takewhile(lambda m: m.start() < named.end("name"), _PART.finditer(code, named.start("name"), end))
    parts = [_unquoted(source[m.start() : m.end()]) for m in spans]
    head_end = _head_end(code, kind, named.end(), end)
    lead = _lead(source, script.comments, start)
    first = bisect_right(damage, (end, end)) - 1
    return Symbol(
        name=parts[-1],
        parents=tuple(parts[:-1]),
        kind=kind,
        start=start,
        end=end,
        name_start=named.start("last") + (source[named.start("last")] in b"\"`['"),
        lead=lead,
        body=(head_end, end) if head_end < end else None,
        signature=text.signature(shown, start, head_end).rstrip("; "),
        doc=text.comment_text(source, lead, start) if lead < start else "",
        clean=first < 0 or damage[first][1] <= start,
        head=(HeaderItem("signature", start, text.trimmed(source, start, head_end)),),
    )


def _unquoted(part: bytes) -> str:
    name = part.decode("utf-8", "replace")
    if len(name) > 1 and name[0] in "\"`'[":
        return name[1:-1].replace(name[-1] * 2, name[-1])
    return name


def _head_end(code: bytes, kind: str, named: int, end: int) -> int:
    """Where a statement's signature ends: before the columns of a table, the body of a routine or view."""
    if kind == "table":
        columns = code.find(b"(", named, end)
        return columns if columns >= 0 else end
    body = _BODY.search(code, named, end) if kind in _BODIES else None
    return body.start() if body else end


def _lead(source: bytes, comments: Sequence[Range], start: int) -> int:
    """Where the comment begins that sits directly on a statement, without a blank line between."""
    lead = start
    at = bisect_left(comments, (start, start)) - 1
    while at >= 0:
        begin, end = comments[at]
        gap = source[end:lead]
        line = source.rfind(b"\n", 0, begin) + 1
        if gap.strip() or gap.count(b"\n") > 1 or source[line:begin].strip():
            break
        lead = begin
        at -= 1
    return lead


def _nested(symbols: Sequence[Symbol], macros: Sequence[Symbol]) -> tuple[Symbol, ...]:
    """All in file order, without what a macro creates when it is called."""
    ends = [m.end for m in macros]

    def outside(symbol: Symbol) -> bool:
        at = bisect_right(ends, symbol.start)
        return at == len(macros) or symbol.end <= macros[at].start

    return tuple(sorted([*filter(outside, symbols), *macros], key=lambda s: s.start))


def _detail(source: bytes, at: int) -> str:
    what = {b"/*": "comment", b"$": "dollar quote", b"(": "bracket"}
    word = next((name for mark, name in what.items() if source.startswith(mark, at)), "quote")
    return said(source, at, f"this {word} has no end")


class _Pieces:
    """The statements in a range; within one statement its inner ones, else its lines that end a list item."""

    def __init__(self, script: Script) -> None:
        self._script = script

    def __call__(self, start: int, end: int) -> Sequence[Range]:
        statements = self._script.statements
        first = bisect_right(statements, (start, start))
        first -= first > 0 and statements[first - 1][1] > start
        last = bisect_left(statements, (end, 0))
        inside = [(max(start, a), min(end, b)) for a, b in statements[first:last]]
        if len(inside) > 1:
            return inside
        breaks = self._script.breaks
        cuts = list(breaks[bisect_right(breaks, start) : bisect_left(breaks, end)])
        if not cuts:
            cuts = [m.end() for m in _LINE.finditer(self._script.code, start, end) if m.end() < end]
        edges = [start, *cuts, end]
        return [(a, b) for a, b in pairwise(edges) if a < b] if cuts else []
