"""Template tags (Jinja's, Go's, Helm's): found in a file of another language, and for what they define."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ckvd.languages import Language
from ckvd.model import HeaderItem, Parsed, Range, Symbol, no_pieces
from ckvd.parse import text
from ckvd.parse.damage import merged, said
from ckvd.parse.outcome import outcome

_OPEN = re.compile(rb"\{[{%#]")
_CLOSE = {b"{{": b"}}", b"{%": b"%}", b"{#": b"#}"}
_SILENT = re.compile(rb"\{\{-?\s*/\*")
_REMARK = re.compile(rb"\{(?:#[-+~]?|\{-?\s*/\*)(?P<said>.*?)(?:[-+~]?#|\*/\s*-?\})\}", re.DOTALL)
_TAG = re.compile(
    rb"(?:\{\{[-+~]?\s*(?P<go>(?:define|block)(?=\s*\")|(?:if|range|with)\b|end(?=\s*[-+~]?\}\}))"
    rb"|\{%[-+~]?\s*(?P<word>define|block|if|range|with|end|macro|snapshot|test|materialization|raw|verbatim|comment|end\w+)\b)"
    rb"(?:\s*\"(?P<quoted>[^\"\n]+)\"|\s+(?P<name>\w+))?"
)
_APART = re.compile(rb"\{[{%#][-+~]?\s.*\s[-+~]?[}%#]\}|\{\{\s*[\w.$]+\s*\}\}", re.DOTALL)
_BLANK, _LF = b" \t\r\f\v", 0x0A
_BLANK_TO_END = re.compile(rb"[ \t\r\f\v]*+(?:\n|\Z)")
_KINDS = {b"block": "block"}
_LITERAL = (b"raw", b"verbatim", b"comment")
"""Tags that have no tags between them and their ends."""


def tags(source: bytes) -> Iterator[Range]:
    """The ranges of `{{ … }}`, `{% … %}` and `{# … #}`; one without its end is none. Linear in time.

    A `{{/* … */}}` may hold `}}`.
    """
    at = 0
    unclosed: set[bytes] = set()
    while opening := _OPEN.search(source, at):
        start, at = opening.span()
        close = _CLOSE[opening[0]]
        silent = _SILENT.match(source, start)
        if silent and b"*/" not in unclosed:
            said = source.find(b"*/", silent.end())
            at = max(at, said)
            unclosed |= {b"*/"} if said < 0 else set()
        end = -1 if close in unclosed else source.find(close, at)
        if end < 0:
            unclosed.add(close)
            if unclosed.issuperset(_CLOSE.values()):
                return
            continue
        at = end + len(close)
        yield start, at


def blanked(source: bytes, word: bytes = b"x", *, own_braces: bool = False) -> bytes:
    """The source with tags as blanks and expressions as a word of that letter, lines kept.

    A `{{ … }}` alone on its lines is a tag too, as Go has them. The source itself, the same object,
    where it has no tag. With `own_braces` the language itself may have `{{` and `{%`, and a tag is only
    what stands apart from its braces, or is one name (`{{name}}`).
    """
    if not _OPEN.search(source):
        return source
    out = bytearray(source)
    for start, end in tags(source):
        if own_braces and not _APART.fullmatch(source, start, end):
            continue
        expression = source.startswith(b"{{", start) and not _alone(source, start, end)
        out[start:end] = re.sub(rb"[^\n]", word if expression else b" ", source[start:end])
    return bytes(out)


def _alone(source: bytes, start: int, end: int) -> bool:
    while start and source[start - 1] in _BLANK:
        start -= 1
    return (not start or source[start - 1] == _LF) and _BLANK_TO_END.match(source, end) is not None


def parse(_path: str, source: bytes, language: Language) -> Parsed:
    """A template by itself: the macros and blocks that it defines. A tag without any end is damage."""
    damage = merged([(at, _line_end(source, at)) for at in _endless(source)])
    detail = said(source, damage[0][0], "this tag has no end") if damage else None
    symbols = definitions(source)
    return outcome(source, language, damage, detail, symbols=symbols, header=(), pieces=no_pieces)


def _endless(source: bytes) -> Iterator[int]:
    """Where a `{{` or `{%` stands that nothing behind it closes; a `{#` may be of the text itself."""
    at = 0
    for start, end in (*tags(source), (len(source), len(source))):
        yield from (m.start() for m in _OPEN.finditer(source, at, start) if m[0] != b"{#")
        at = end


def _line_end(source: bytes, at: int) -> int:
    end = source.find(b"\n", at)
    return text.trimmed(source, at, end if end >= 0 else len(source))


def definitions(source: bytes) -> tuple[Symbol, ...]:
    """What tags define: Go's `define` and `block`, Jinja's `macro` and `block`, dbt's kinds of macro.

    A definition without its end is its opening tag alone. A comment right above it is on it. What is quoted
    (`{% raw %} … {% endraw %}`) defines nothing.
    """
    open_: list[tuple[bytes, int | None]] = []
    found: list[Symbol] = []
    above: re.Match[bytes] | None = None
    literal = b""
    for start, end in tags(source):
        remark, above = above, _REMARK.fullmatch(source, start, end)
        tag = _TAG.match(source, start, end)
        if tag is None:
            continue
        word, go = tag["go"] or tag["word"], tag["go"] is not None
        if literal:
            literal = b"" if word == literal else literal
        elif word in _LITERAL:
            literal = b"end" + word if source.find(b"end" + word, end) >= 0 else b""
        elif word.startswith(b"end"):
            # `{{ end }}` closes whatever is open, `{% endmacro %}` the last macro.
            at = next((i for i in range(len(open_) - 1, -1, -1) if go or open_[i][0] == word[3:]), None)
            if at is not None and (index := open_[at][1]) is not None:
                symbol = found[index]
                found[index] = replace(symbol, end=end, body=(symbol.end, start))
            del open_[len(open_) if at is None else at :]
        elif go or word not in (b"if", b"range", b"with"):
            name = tag["quoted"] or (None if go else tag["name"])
            scope = next((i for _, i in reversed(open_) if i is not None), None)
            open_.append((word, len(found) if name else None))
            if name:
                name_start = tag.start("quoted" if tag["quoted"] else "name")
                found.append(_symbol(source, (start, end), word, name, name_start, scope))
                if remark is not None and _is_on(source, remark, start):
                    found[-1] = _documented(source, found[-1], remark)
    return tuple(found)


def _is_on(source: bytes, remark: re.Match[bytes], following: int) -> bool:
    between = source[remark.end() : following]
    return not between.strip() and between.count(b"\n") <= 1 and text.begins_line(source, remark.start())


def _documented(source: bytes, symbol: Symbol, remark: re.Match[bytes]) -> Symbol:
    head = HeaderItem("doc", *remark.span()), *symbol.head
    doc = text.comment_text(source, *remark.span("said"))
    return replace(symbol, lead=remark.start(), doc=doc, head=head)


def _symbol(
    source: bytes, tag: Range, word: bytes, name: bytes, name_start: int, scope: int | None
) -> Symbol:
    return Symbol(
        name=name.decode("utf-8", "replace"),
        parents=(),
        kind=_KINDS.get(word, "macro"),
        start=tag[0],
        end=tag[1],
        name_start=name_start,
        lead=tag[0],
        scope=scope,
        signature=text.signature(source, *tag),
        head=(HeaderItem("signature", *tag),),
    )


def around(
    path: str,
    source: bytes,
    language: Language,
    parser: Callable[[str, bytes, Language], Parsed],
    *,
    own_braces: bool = False,
) -> Parsed:
    """A parse, or where it has errors and the file template tags, one without them if it is better.

    `own_braces` is as in `blanked`. The reason of such a file is `template`. Names that a tag makes up
    read as in the file.
    """
    parsed = parser(path, source, language)
    plain = source if parsed.status == "ok" else blanked(source, own_braces=own_braces)
    if not any(_differ(source, plain, *damage) for damage in parsed.damage):
        return parsed
    other = parser(path, plain, language)
    if other.error_bytes >= parsed.error_bytes:
        return parsed
    if other.status == "ok":
        other = replace(other, reason="template", detail="template tags are left out of the syntax")
    return replace(other, symbols=_as_written(source, other.symbols))


def _differ(source: bytes, plain: bytes, start: int, end: int) -> bool:
    """Whether two texts differ in a range, on its lines or on those beside them."""
    first = source.rfind(b"\n", 0, max(0, source.rfind(b"\n", 0, start)))
    last = source.find(b"\n", end)
    last = source.find(b"\n", last + 1) if last >= 0 else last
    start, end = first + 1, last if last >= 0 else len(source)
    return source[start:end] != plain[start:end]


def _as_written(source: bytes, symbols: Sequence[Symbol]) -> tuple[Symbol, ...]:
    """The symbols with their names and signatures as the file has them, template tags included."""
    written: dict[str, str] = {}
    result: list[Symbol] = []
    for symbol in symbols:
        raw = source[symbol.name_start : symbol.name_start + len(symbol.name.encode())]
        name = raw.decode("utf-8", "replace") if b"{{" in raw else symbol.name
        written[symbol.name] = name
        head_end = symbol.body[0] if symbol.body else symbol.end
        tagged = b"{{" in source[symbol.start : head_end]
        signature = text.signature(source, symbol.start, head_end) if tagged else symbol.signature
        parents = tuple(written.get(parent, parent) for parent in symbol.parents)
        result.append(replace(symbol, name=name, parents=parents, signature=signature))
    return tuple(result)
