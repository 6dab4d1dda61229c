"""Queries and right answers out of source and history: bytes and git's output → values. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ckvd import parse, words
from ckvd.languages import Language
from ckvd.model import Range, Symbol
from ckvd.report.boundaries import FUNCTION_KINDS

MIN_WORDS, MAX_WORDS = 4, 30
"""Words that a query has: fewer name a thing rather than describe it."""
MIN_LINES = 4
"""A function of fewer lines than this has nothing to be found by but its name."""
MAX_FILES = 3
MAX_ANSWERS = 4
"""A commit that changes more files, or a sentence that fits more functions, points nowhere."""

_SENTENCE = re.compile(r"(?<=[.!?])\s")
_MARKUP = re.compile(r":\w+:`~?\.?([^`]*)`|\{@\w+\s+([^}]*)\}|</?[A-Za-z][^>]*>|`+")
_NO_SENTENCE = re.compile(r"(?i)(todo|fixme|copyright|see |noqa|type:|deprecated|@|:|eslint)")
_PREFIX = re.compile(
    r"(?i)^(?:(?:fix|feat|perf|bug|refactor)(?:\([^)]*\))?!?:|[\w./-]{1,20}:)\s*|\s*\(?#\d+\)?"
)
_HOUSEKEEPING = re.compile(
    r"(?i)^(merge|bump|release|prepare|version|revert|v?\d+\.\d|updat|chore|docs?\b|ci\b|style|test|lint|format"
    r"|clean|refactor|typo|changelog|wip|review|rename)|\b(typos?|mypy|ruff|flake8|docstrings?|pre-commit|copyright)\b"
)
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Described:
    """A function and the first sentence of its documentation."""

    sentence: str
    path: str
    symbol: str


def cut_docs(path: str, source: bytes, language: Language) -> tuple[bytes, list[Described]]:
    """The source with the documentation of its symbols cut out, and the sentences of its functions.

    `source` is UTF-8. A sentence loses the function's own name, which would give the answer away; what
    is then too short or long, or no description, is left out.
    """
    parsed = parse.parse(path, source, language)
    described = [
        Described(sentence, path, s.symbol)
        for s in parsed.symbols
        if s.kind in FUNCTION_KINDS and source.count(b"\n", s.start, s.end) >= MIN_LINES
        if (sentence := _query(s)) is not None
    ]
    return without(source, documentation(source, parsed.symbols, language)), described


def documentation(source: bytes, symbols: Iterable[Symbol], language: Language) -> list[Range]:
    """Where the documentation of symbols stands in the source (UTF-8), as `cut_docs` cuts it out."""
    cuts = [(s.lead, s.start) for s in symbols if s.doc and s.lead < s.start]
    return sorted([*cuts, *_docstrings(source)] if language.name == "python" else cuts)


def few_answers(found: Iterable[Described]) -> dict[str, list[Described]]:
    """By sentence, those that describe few enough functions to tell which is meant."""
    by: dict[str, list[Described]] = {}
    for d in found:
        by.setdefault(d.sentence, []).append(d)
    return {sentence: some for sentence, some in by.items() if len(some) <= MAX_ANSWERS}


def subject_query(subject: str) -> str | None:
    """A commit's subject as a query, without tags and numbers; None where it tells nothing of the code."""
    query = " ".join(_PREFIX.sub("", subject).split())
    if _HOUSEKEEPING.search(subject) or _HOUSEKEEPING.search(query):
        return None
    return query if MIN_WORDS <= len(_real_words(query)) <= MAX_WORDS else None


def changed_lines(diff: bytes) -> dict[bytes, list[Range]]:
    """Old lines (first, last) that `git diff -U0 --no-renames` touches, by path; files that are new or gone
    are left out. Where lines were only added, the two around them."""
    found: dict[bytes, list[Range]] = {}
    for part in re.split(rb"(?m)^diff --git ", diff)[1:]:
        head, mark, hunks = part.partition(b"\n@@ ")
        old = re.search(rb"^--- a/(.*?)\t?$", head, re.MULTILINE)
        if not mark or old is None or b"\n+++ /dev/null" in head:
            continue
        ranges = [(int(a), int(b or 1)) for a, b in _HUNK.findall(mark[1:] + hunks)]
        found[old[1]] = [(a, a + n - 1) if n else (a, a + 1) for a, n in ranges]
    return found


def innermost(functions: Sequence[tuple[str, int, int]], changed: Iterable[Range]) -> list[str]:
    """Of functions (symbol, first line, last line), the innermost that changed lines touch."""
    names: dict[str, None] = {}
    for first, last in changed:
        hit = [f for f in functions if f[1] <= last and first <= f[2]]
        for f in hit:
            if not any(g is not f and f[1] <= g[1] and g[2] <= f[2] for g in hit):
                names[f[0]] = None
    return list(names)


def _query(symbol: Symbol) -> str | None:
    text = _MARKUP.sub(lambda m: m[1] or m[2] or " ", symbol.doc)
    sentence = _SENTENCE.split(" ".join(text.split()))[0]
    name = symbol.name
    if len(words.split(name)) > 1 or sentence.lower().startswith(name.lower() + " "):
        sentence = re.sub(rf"(?<!\w){re.escape(name)}(\(\))?(?!\w)", " ", sentence)
    sentence = " ".join(sentence.split())
    if _NO_SENTENCE.match(sentence):
        return None
    return sentence if MIN_WORDS <= len(_real_words(sentence)) <= MAX_WORDS else None


def _real_words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]{2,}", text)


def _docstrings(source: bytes) -> Iterator[Range]:
    """Whole lines of the docstrings of functions and classes that have more than that in them."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    starts = [0, *(m.end() for m in re.finditer(rb"\n", source)), len(source)]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and len(node.body) > 1:
            first = node.body[0]
            if ast.get_docstring(node, clean=False) is not None and first.lineno > node.lineno:
                yield starts[first.lineno - 1], starts[min(first.end_lineno or first.lineno, len(starts) - 1)]


def without(source: bytes, cuts: Iterable[Range]) -> bytes:
    """The source with ranges of it cut out."""
    kept, at = [], 0
    for start, end in sorted(cuts):
        if start >= at:
            kept.append(source[at:start])
            at = end
    return b"".join((*kept, source[at:]))
