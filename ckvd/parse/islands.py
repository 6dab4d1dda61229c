"""Code inside other text: scripts in HTML, Vue and Svelte, Ruby in ERB, JavaScript in EJS.

Each language's islands are parsed together, in a copy of the file that is blank everywhere else: offsets
are the file's own, and an island that makes sense only with the next one (`<% end %>`) is no error.
The host itself is never in error, as HTML never is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ckvd.languages import Language, get, names
from ckvd.model import Parsed, Range, Symbol
from ckvd.parse import css, templates, tree
from ckvd.parse.damage import merged, said, unread, visible
from ckvd.parse.outcome import outcome
from ckvd.parse.table import usable

Island = tuple[str, bytes]
"""A language, and a text as long as the file that holds nothing but that language's islands."""

_TAG = re.compile(
    rb"<!--|<(?P<element>script|style)\b(?P<attributes>(?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+)>", re.IGNORECASE
)
_CLOSE = {
    b"script": re.compile(rb"</script\b", re.IGNORECASE),
    b"style": re.compile(rb"</style\b", re.IGNORECASE),
}
_ATTRIBUTE = re.compile(rb"\b(lang|type)\s*=\s*[\"']?([^\s\"'>]+)", re.IGNORECASE)
_SCRIPT = re.compile(
    rb"(?:module|(?:text|application)/(?:javascript|ecmascript|babel|jsx)|js|javascript|jsx)"
)
_TYPESCRIPT = re.compile(rb"ts|typescript|(?:text|application)/(?:typescript|x-typescript)")
_REMARK = re.compile(rb"\s*#[^\n]*")
_ELEMENT = re.compile(rb"<(?:script|style)\b", re.IGNORECASE)
_PHP = re.compile(
    rb"<\?(?P<prints>=|(?:php)?\s*+(?:echo|print)\b)?(?:[^?'\"/#<]++|'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
    rb"|/\*(?:[^*]|\*(?!/))*+|(?://|#)(?:[^\n?]|\?(?!>))*+"
    rb"|<<<[ \t]*+([\"']?)(?P<name>\w++)\2\r?\n(?:(?![ \t]*+(?P=name)\b)[^\n]*+\n)*+|(?!\?>).)*+(?:\?>|\Z)",
    re.DOTALL,
)
_TEMPLATE = re.compile(rb"<%(?P<mark>==|[%#=_-]?)(?P<code>.*?)(?P<end>[-_]?%>)", re.DOTALL)


def html(path: str, source: bytes, language: Language) -> Parsed:
    """HTML, Vue and Svelte: the scripts and styles in it, and what template tags define."""
    parsed = templates.around(path, source, language, _page)
    defined = templates.definitions(source)
    return replace(parsed, symbols=together([parsed.symbols, defined])) if defined else parsed


def _page(path: str, source: bytes, language: Language) -> Parsed:
    return _combined(path, source, language, _elements(source))


def erb(path: str, source: bytes, language: Language) -> Parsed:
    """Ruby's templates: the Ruby in the tags, and the scripts and styles around them."""
    return _combined(path, source, language, _templated(source, "ruby", b"=="))


def ejs(path: str, source: bytes, language: Language) -> Parsed:
    """JavaScript's templates: the code in the tags, and the scripts and styles around them."""
    return _combined(path, source, language, _templated(source, "javascript", b"=-"))


def php(path: str, source: bytes, language: Language) -> Parsed:
    """PHP, and the scripts and styles of the page that it stands in."""
    own = templates.around(path, source, language, tree.parse, own_braces=True)
    if not _ELEMENT.search(source):
        return own
    page = _PHP.sub(lambda code: re.sub(rb"[^\n]", b"x" if code["prints"] else b" ", code[0]), source)
    if next(_elements(page), None) is None:
        return own
    return _joined(source, language, [own, templates.around(path, page, language, _page)])


def _templated(source: bytes, language: str, output: bytes) -> Iterator[Island]:
    """The code in the tags, and what the page holds; tags that begin with one of `output` print a value."""
    tags = list(_TEMPLATE.finditer(source, 0, source.rfind(b"%>") + 2))  # each that is opened is closed
    code = [tag for tag in tags if tag["mark"] not in (b"#", b"%") and not _REMARK.fullmatch(tag["code"])]
    yield language, _only(source, [tag.span("code") for tag in code])
    host = bytearray(source)
    for tag in tags:
        prints = tag["mark"] and tag["mark"] in output
        host[tag.start() : tag.end()] = re.sub(rb"[^\n]", b"x" if prints else b" ", tag[0])
    yield from _elements(bytes(host))


def _elements(source: bytes) -> Iterator[Island]:
    """The scripts and styles of a page, those of one language together."""
    found: dict[str, list[Range]] = {}
    at, comments = 0, True
    while tag := _TAG.search(source, at):
        at = tag.end()
        if tag["element"] is None:
            end = source.find(b"-->", at) if comments else -1
            comments = end >= 0
            at = end if end >= 0 else at
            continue
        element = tag["element"].lower()
        close = _CLOSE[element].search(source, at)
        end = close.start() if close else len(source)
        name = _language(element, tag["attributes"])
        if name is not None:
            found.setdefault(name, []).append((at, end))
        at = end
    for name, ranges in found.items():
        yield name, _only(source, ranges)


def _language(element: bytes, attributes: bytes) -> str | None:
    given = {key.lower(): value.lower() for key, value in _ATTRIBUTE.findall(attributes)}
    label = given.get(b"lang") or given.get(b"type") or b""
    if element == b"style":
        name = label.rpartition(b"/")[2].decode("utf-8", "replace") or "css"
        name = "css" if name in get("css").aliases else name
    elif label == b"tsx":
        name = "tsx"
    elif _TYPESCRIPT.fullmatch(label):
        name = "typescript"
    elif not label or _SCRIPT.fullmatch(label):
        name = "javascript"
    else:
        return None
    return name if name in names() and _readable(get(name)) else None


def _readable(language: Language) -> bool:
    return language.parser == "css" or usable(language)


def _only(source: bytes, ranges: Sequence[Range]) -> bytes:
    """The source blank but for some ranges; a line's end keeps each apart from the next."""
    island = bytearray(re.sub(rb"[^\r\n]", b" ", source))
    for start, end in ranges:
        island[start:end] = source[start:end]
        if end < len(source):
            island[end] = ord("\n")
    return bytes(island)


def _combined(path: str, source: bytes, language: Language, islands: Iterable[Island]) -> Parsed:
    parts = [_parsed(path, text, get(name)) for name, text in islands if _readable(get(name))]
    return _joined(source, language, parts)


def _joined(source: bytes, language: Language, parts: Sequence[Parsed]) -> Parsed:
    damage = merged([r for part in parts for r in part.damage])
    fault: int | None = None
    detail: str | None = None
    if damage:
        broken = [part for part in parts if part.damage]
        own = broken[0] if len(broken) == 1 else None
        fault = visible(source, damage[0][0]) if own is None else own.fault or damage[0][0]
        what = unread(source, fault) if own is None else str(own.detail).partition(": ")[2]
        detail = said(source, fault, what)
    return outcome(
        source,
        language,
        damage,
        detail,
        fault,
        symbols=together([part.symbols for part in parts]),
        header=sorted((item for part in parts for item in part.header), key=lambda item: item.start),
        pieces=_Pieces(parts),
    )


def _parsed(path: str, island: bytes, language: Language) -> Parsed:
    return (css.parse if language.parser == "css" else tree.parse)(path, island, language)


def together(groups: Sequence[Sequence[Symbol]]) -> tuple[Symbol, ...]:
    """The symbols of several parses in file order; one that would cross another is left out.

    A symbol without a scope gets as scope the symbol of another group that it lies in.
    """
    order = sorted(
        (
            (group, index, symbol)
            for group, symbols in enumerate(groups)
            for index, symbol in enumerate(symbols)
        ),
        key=lambda entry: (entry[2].start, -entry[2].end),
    )
    kept: list[Symbol] = []
    places: dict[tuple[int, int], int] = {}
    open_: list[int] = []
    for group, index, symbol in order:
        while open_ and kept[open_[-1]].end <= symbol.start:
            open_.pop()
        if open_ and kept[open_[-1]].end < symbol.end:
            continue
        scope = places.get((group, symbol.scope)) if symbol.scope is not None else None
        if scope is None and open_:
            holder = kept[open_[-1]]
            twins = (holder.start, holder.end) == (symbol.start, symbol.end)  # selectors of one rule
            scope = holder.scope if twins else open_[-1]
        places[group, index] = len(kept)
        open_.append(len(kept))
        kept.append(replace(symbol, scope=scope))
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class _Pieces:
    """The pieces of all islands in a range, in order, each once."""

    parts: Sequence[Parsed]

    def __call__(self, start: int, end: int) -> Sequence[Range]:
        result: list[Range] = []
        for piece in sorted(piece for part in self.parts for piece in part.pieces(start, end)):
            if piece[0] < piece[1] and (not result or result[-1][1] <= piece[0]):
                result.append(piece)
        return result
