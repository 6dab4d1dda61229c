"""JSON, TOML and YAML: keys and tables as symbols, so that a file is found by what it sets.

Keys are rows alone: the text around them is cut where keys and tables begin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import yaml as pyyaml

from ckvd.languages import Language
from ckvd.model import Parsed, Range, Symbol
from ckvd.parse import templates, text, tree
from ckvd.parse.damage import said

_TRAILING_COMMA = re.compile(
    rb'"(?:[^"\\\n]++|\\.)*+"|//[^\n]*|/\*(?:.*?\*/|.*+)'
    rb"|(?P<comma>,)(?=(?:\s|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+[}\]])",
    re.DOTALL,
)
_KEY = re.compile(
    rb"(?:[&!]\S*[ \t]+)*+"
    rb"(?:\"(?P<double>(?:[^\"\\\n]|\\.)*+)\"|'(?P<single>(?:[^'\n]|'')*+)'"
    rb"|(?P<plain>(?:[^\s#&*!|>'\"%@`{}\[\],?:-]|[-?:](?=\S))(?:[^\n:#]|:(?=\S)|(?<=\S)#)*?))[ \t]*:(?=\s|\Z)"
)
_LOADER = getattr(pyyaml, "CSafeLoader", pyyaml.SafeLoader)
_TOO_DEEP = "exceeded maximum nesting depth"
_ENDLESS = {
    "while scanning a quoted scalar": "this quote has no end",
    "while parsing a flow sequence": "this bracket has no end",
    "while parsing a flow mapping": "this bracket has no end",
}


def keys(path: str, source: bytes, language: Language) -> Parsed:
    """JSON's keys and TOML's tables, by grammar; comments and trailing commas are no errors in JSON."""
    parsed = tree.parse(path, source, language)
    if parsed.status != "ok" and language.name == "json":
        relaxed = _TRAILING_COMMA.sub(lambda m: b" " if m["comma"] else m[0], source)
        other = tree.parse(path, relaxed, language)
        parsed = min(parsed, other, key=lambda p: (p.error_bytes, p.status != "ok"))
    return replace(parsed, header=(), symbols=tuple(_trimmed(source, parsed, s) for s in parsed.symbols))


def _trimmed(source: bytes, parsed: Parsed, symbol: Symbol) -> Symbol:
    """A table without the comments behind its last value, which document the next one."""
    if symbol.kind != "table" or not symbol.clean:
        return symbol
    line = min(symbol.end, _line_end(source, symbol.start))
    parts = parsed.pieces(symbol.start, symbol.end)
    ends = [end for start, end in parts if start > line and not source.startswith(b"#", start)]
    lead = _comment_above(source, symbol.start)
    doc = text.comment_text(source, lead, symbol.start) if lead < symbol.start else ""
    end = text.trimmed(source, symbol.start, max(ends, default=line))
    return replace(symbol, end=end, lead=lead, doc=doc, head=())


def _comment_above(source: bytes, start: int) -> int:
    """Where the comment lines begin that sit directly on a line."""
    lead = start
    while lead > 0:
        line = source.rfind(b"\n", 0, lead - 1) + 1
        if source[line : line + 1] != b"#":
            break
        lead = line
    return lead


def yaml(_path: str, source: bytes, language: Language) -> Parsed:
    """The top-level keys of each document; template tags (Helm's, Jinja's) count as blanks and words."""
    error = _error(source)
    plain = templates.blanked(source) if error else source
    damage: tuple[Range, ...] = ()
    reason, detail, fault = None, None, None
    if plain is not source:
        reason, detail = "template", "template tags are left out of the syntax"
    elif error is not None and (damage := _damaged(source, error[0])):
        fault = min(error[0], damage[0][1] - 1)
        reason, detail = "syntax-errors", said(source, fault, error[1])
    return Parsed(
        language=language.name,
        status="partial" if reason == "syntax-errors" else "ok",
        reason=reason,
        detail=detail,
        symbols=tuple(_yaml_symbols(source, plain, _lines(plain), damage)),
        damage=damage,
        fault=fault,
        error_bytes=sum(b - a for a, b in damage),
        comment=language.comment,
        pieces=Indented(plain),
    )


def _damaged(source: bytes, at: int) -> tuple[Range, ...]:
    """The line that holds an error, or the last one before it that is not blank."""
    end = text.trimmed(source, 0, _line_end(source, at))
    start = source.rfind(b"\n", 0, end) + 1
    return ((start, end),) if start < end else ()


def _line_end(source: bytes, at: int) -> int:
    end = source.find(b"\n", at)
    return end if end >= 0 else len(source)


def _lines(source: bytes) -> list[Range]:
    """The ranges of the lines, each with its end."""
    edges = [0, *(m.end() for m in re.finditer(rb"\n", source))]
    return [*pairwise(edges), (edges[-1], len(source))]


def _yaml_symbols(
    source: bytes, plain: bytes, lines: Sequence[Range], damage: Sequence[Range]
) -> Iterator[Symbol]:
    open_: tuple[re.Match[bytes], int] | None = None
    flow = first = True
    last = 0
    for start, end in [*lines, (len(plain), len(plain))]:
        line = plain[start:end]
        content = line.strip()
        marker = content in (b"---", b"...") or line.startswith((b"--- ", b"%"))
        at_margin = start == len(plain) or (content and line[:1] not in b" \t\r\n#")
        if not at_margin:
            last = end if content and line[:1] != b"#" else last
            continue
        if content == b"-" or line.startswith((b"- ", b"-\t")):  # a list may stand at its key's own margin
            last = end
            continue
        if open_ is not None:
            yield _property(source, *open_, text.trimmed(source, open_[1], last), damage)
        open_, last = None, end
        if marker:
            first = True
            continue
        flow = line[:1] in b"{[" if first else flow
        first = False
        key = None if flow else _KEY.match(plain, start, end)
        open_ = (key, start) if key else None


def _property(source: bytes, key: re.Match[bytes], start: int, end: int, damage: Sequence[Range]) -> Symbol:
    group = next(name for name in ("double", "single", "plain") if key[name] is not None)
    lead = _comment_above(source, start)
    return Symbol(
        name=source[key.start(group) : key.end(group)].decode("utf-8", "replace"),
        parents=(),
        kind="property",
        start=start,
        end=end,
        name_start=key.start(group),
        lead=lead,
        body=(key.end(), end) if key.end() < end else None,
        signature=text.signature(source, start, key.end()),
        doc=text.comment_text(source, lead, start) if lead < start else "",
        clean=all(b <= start or end <= a for a, b in damage),
        chunked=False,
    )


def _error(source: bytes) -> tuple[int, str] | None:
    """Where the text stops to be YAML and why; None where it is, or nests deeper than the reader goes."""
    characters = source.decode("utf-8", "replace")
    try:
        for _ in pyyaml.parse(characters, Loader=_LOADER):
            pass
    except pyyaml.MarkedYAMLError as error:
        mark = error.problem_mark
        if error.problem == _TOO_DEEP or mark is None:
            return None
        problem, opened = error.problem or "not YAML", error.context_mark
        if "cannot start any token" in problem and characters[mark.index : mark.index + 1] == "\t":
            problem = "found a tab where spaces are needed"
        if opened is not None and not characters[mark.index :].strip() and "block" not in str(error.context):
            mark, problem = opened, _ENDLESS.get(str(error.context), problem)
        return len(characters[: mark.index].encode()), problem
    except pyyaml.reader.ReaderError as error:
        return len(characters[: error.position].encode()), "a character that YAML does not allow"
    return None


class Indented:
    """The parts of a text whose nesting is its indentation: the lines of least indentation begin one each."""

    def __init__(self, source: bytes) -> None:
        self._source = source

    def __call__(self, start: int, end: int) -> Sequence[Range]:
        lines = [(m.start("text"), len(m["indent"])) for m in _INDENTED.finditer(self._source, start, end)]
        rest = lines[1:] if lines and lines[0][0] - lines[0][1] == start else lines
        least = min((indent for _, indent in rest), default=0)
        cuts = [at - indent for at, indent in rest if indent == least]
        edges = [start, *(cut for cut in cuts if cut > start), end]
        return [(a, b) for a, b in pairwise(edges) if a < b] if len(edges) > 2 else []


_INDENTED = re.compile(rb"^(?P<indent>[ \t]*)(?P<text>[^\s])", re.MULTILINE)
