"""From what was found by words, by vectors and by name to one ordered list without overlaps. Pure.

The score of a candidate is a weighted sum, each part between 0 and 1:

    WORDS * bm25 / best bm25  +  VECTORS * cosine / best cosine
    + NAME * share of the name's words that are asked for  +  ASKED * share of the query's words in the name
    + CLOSE * closeness of the name in meaning / best

times the weights of its unit and its place. Scores of the two searches are used, not ranks: reciprocal-rank
fusion forgets by how much the first hit is better, which is what tells a lucky match from a sure one. Of a
class and its methods `_settle` decides. All weights were chosen on development packages;
`tests/bench/retrieval_bench.py` measures them.
"""

from __future__ import annotations

import re
from bisect import bisect, insort
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from ckvd import words
from ckvd.query import Query, fold

Mode = Literal["hybrid", "keyword", "vector"]

BM25_COLUMNS: Mapping[str, float] = {"names": 10.0, "words": 1.0, "header": 0.5, "body": 1.0, "path": 3.0}
"""Weights of the columns of `chunks_fts` for FTS5's `bm25()`, in the order of its columns."""

WORDS = 0.45
VECTORS = 0.75
NAME = 0.20
ASKED = 0.15
WHOLLY = 0.30
"""Added where the name has all words of the query (`sharded lru` is the class before its methods)."""
CLOSE = 0.20
"""Of a name's closeness in meaning, in proportion to the closest."""
MENTION = 0.20
"""Added where a longer query mentions the symbol's name in so many words (`where does _evict run`)."""

UNIT_WEIGHTS: Mapping[str, float] = {
    "symbol": 1.0,
    "module": 0.8,
    "section": 0.65,
    "window": 0.70,
    "names": 0.75,
    "file_header": 0.70,
    "file": 0.75,
}
"""A section has its full weight where the query speaks of documents."""
TEST = 0.55
"""For tests, where the query does not speak of tests."""
FOREIGN = 0.70
"""For copies of other projects' code, and for what a build made."""

MARGIN = 1.25
"""A class goes before its best method where its score, and what follows, is so many times the method's."""
SPREAD = 0.2
"""Of the mean score of the three next methods: what many of them share is the class's."""
SPREAD_KEPT = 0.1
"""As much of that mean as a class that is chosen adds to its score."""
CALLED = 0.3
"""Times the share of the query's words that the class's name has beyond the method's."""
THING = 0.3
"""Where the query begins as the description of a thing does (`a cache that …`)."""

_TEST_PATH = re.compile(
    r"(^|/)(tests?|testing|__tests__|specs?|e2e|testdata|fixtures)/|(^|/)(test_|conftest\.)[^/]*$"
    r"|[._](test|tests|spec)\.[^/.]+$|(Test|Tests|IT|Spec)\.(java|kt|cs|scala|groovy|swift)$"
)
_FOREIGN_PATH = re.compile(
    r"(^|/)(_?vendor(ed)?|third[_-]?party|externals?|node_modules|bower_components|dist|build)/|[.-]min\.\w+$"
)
_TEST_WORDS = frozenset(map(fold, ("test", "tests", "testing", "spec", "fixture")))
_PROSE_WORDS = frozenset(
    map(fold, ("docs", "documentation", "documented", "readme", "changelog", "guide", "tutorial", "manual"))
)
_THING = re.compile(r"\W*an?\s", re.IGNORECASE)
_PART = re.compile(r"\[\d+\]$")


class Candidate(NamedTuple):
    """What ranking must know of a chunk."""

    id: int
    chunk_id: str
    path: str
    unit: str
    kind: str
    grain: str
    symbol: str | None
    start: int
    end: int
    parts: int


class Ranked(NamedTuple):
    """A candidate in its place. `exact`: 2 its name is the query, 1 but for case or style, else 0."""

    candidate: Candidate
    score: float
    exact: int


def order(
    query: Query,
    candidates: Iterable[Candidate],
    bm25: Mapping[int, float],
    cosine: Mapping[int, float],
    named: Mapping[int, int],
    mode: Mode = "hybrid",
    close: Mapping[int, float] | None = None,
) -> list[Ranked]:
    """Candidates, the best first, none overlapping one above it.

    `bm25` (higher is better) and `cosine` are by chunk id and may lack any; `named` has the grade, as in
    `Ranked.exact`, of the chunks that an exact look-up of the query's names found. `close` is how near in
    meaning the chunks' names are, where that is known. In mode `vector` the cosine alone decides. Equal
    input gives equal output: ties go by path and place.
    """
    if mode == "vector":
        ranked = [Ranked(c, cosine.get(c.id, 0.0), 0) for c in candidates]
    else:
        word_scale = WORDS / (max(bm25.values(), default=0.0) or 1.0)
        best_cosine = max(cosine.values(), default=0.0)
        vector_scale = VECTORS / best_cosine if best_cosine > 0 else 0.0
        close = close or {}
        closest = max(close.values(), default=0.0)
        close_scale = CLOSE / closest if closest > 0 else 0.0
        of_tests = not _TEST_WORDS.isdisjoint(query.stems)
        of_prose = not _PROSE_WORDS.isdisjoint(query.stems)
        unit_weights = {**UNIT_WEIGHTS, "section": 1.0} if of_prose else UNIT_WEIGHTS
        ranked, shares = [], {}
        for c in candidates:
            id_, grade = c.id, named.get(c.id, 0)
            named_words, share = name_match(query, c.symbol)
            shares[id_] = share
            score = word_scale * bm25.get(id_, 0.0) + vector_scale * max(cosine.get(id_, 0.0), 0.0)
            score += NAME * named_words + ASKED * share + close_scale * close.get(id_, 0.0)
            if share == 1:
                score += WHOLLY
            if grade and not query.whole:
                score += MENTION * grade / 2
            score *= unit_weights.get(c.unit, 1.0) * _path_weight(c.path, of_tests)
            ranked.append(Ranked(c, score, _exact(query, c, grade)))
        ranked = _settle(query, ranked, shares)
    ranked = [r for r in ranked if r.exact or r.score > 0]
    ranked.sort(key=lambda r: (-r.exact, -r.score, r.candidate.path, r.candidate.start, r.candidate.id))
    return without_overlaps(ranked)


def _settle(query: Query, ranked: Sequence[Ranked], shares: Mapping[int, float]) -> list[Ranked]:
    """Moves each class before or behind the best of its methods. `shares` is, by chunk id, how much of the
    query the name has.

    A class holds the words of all its methods, so that it comes close to the best of them in any search:
    where one method carries the score, that one is meant; where many do, or its name is asked for, the class.
    """
    out = list(ranked)
    thing = THING if _THING.match(query.text) else 0.0
    for class_, methods in _families([r.candidate for r in ranked]).items():
        best, *next_ = sorted(methods, key=lambda i: -ranked[i].score)[:4]
        top = ranked[best].score
        if top <= 0:
            continue
        own, spread = ranked[class_], sum(ranked[i].score for i in next_) / 3
        called = shares[own.candidate.id] - shares[ranked[best].candidate.id]
        if (own.score + SPREAD * spread) / top + CALLED * called + thing >= MARGIN:
            out[class_] = own._replace(score=max(own.score + SPREAD_KEPT * spread, top))
        else:
            out[class_] = own._replace(score=min(own.score, top * 0.999))
    return out


def _families(candidates: Sequence[Candidate]) -> dict[int, list[int]]:
    """By the index of each class, those of the chunks that lie in it and in none within it, if any."""
    found: dict[int, list[int]] = {}
    files: dict[str, list[int]] = {}
    with_classes = set()
    for i, c in enumerate(candidates):
        files.setdefault(c.path, []).append(i)
        if _is_class(c):
            with_classes.add(c.path)
    for path in with_classes:
        around: list[int] = []
        for i in sorted(files[path], key=lambda i: _place(candidates[i])):
            c = candidates[i]
            while around and candidates[around[-1]].end < c.end:
                around.pop()
            if _is_class(c):
                around.append(i)
            elif around:
                found.setdefault(around[-1], []).append(i)
    return found


def _is_class(c: Candidate) -> bool:
    return c.grain == "coarse" and c.unit == "symbol"


def _place(c: Candidate) -> tuple[int, int, int]:
    """In file order, what is around another before it."""
    return c.start, -c.end, c.id


def best_name(query: Query, symbols: Iterable[str]) -> str | None:
    """Of the symbols that one chunk holds, the first that the query names best; None where it names none."""
    found = list(symbols)
    shares = [2.0 if s.rpartition(".")[2] in query.names else name_match(query, s)[0] for s in found]
    return found[shares.index(max(shares))] if any(shares) else None


def name_match(query: Query, symbol: str | None) -> tuple[float, float]:
    """Of a symbol's own name and a query: the share of the name's words that the query has, and the share of
    the query's words that the name has; each 0 to 1."""
    stems = _name_stems(symbol) if symbol else ()
    if query.stems.isdisjoint(stems):
        return 0.0, 0.0
    common = query.stems.intersection(stems)
    return sum(stem in common for stem in stems) / len(stems), len(common) / len(query.stems)


@lru_cache(maxsize=1 << 16)
def _name_words(symbol: str) -> tuple[str, ...]:
    return words.split(symbol.rpartition(".")[2])


@lru_cache(maxsize=1 << 16)
def _name_stems(symbol: str) -> tuple[str, ...]:
    return tuple(map(fold, _name_words(symbol)))


def without_overlaps(ranked: Iterable[Ranked]) -> list[Ranked]:
    """In order, leaving out what overlaps one already kept, the further parts of a split one, and its twins:
    overloads and repeated titles, which have the same name in the same file."""
    kept: list[Ranked] = []
    spans: dict[str, list[tuple[int, int]]] = {}
    families: set[tuple[str, str]] = set()
    for r in ranked:
        c = r.candidate
        family = c.path, (c.symbol if c.unit == "symbol" and c.symbol else _PART.sub("", c.chunk_id))
        taken = spans.setdefault(c.path, [])
        # None overlaps another: only the last that begins before this one's end may reach into it.
        before = bisect(taken, (c.end, -1))
        if family in families or (before and taken[before - 1][1] > c.start):
            continue
        families.add(family)
        insort(taken, (c.start, c.end))
        kept.append(r)
    return kept


@lru_cache(maxsize=1 << 16)
def is_test(path: str) -> bool:
    """Whether a path is that of a test or of what only tests use, by the customs of the languages."""
    return _TEST_PATH.search(path) is not None


@lru_cache(maxsize=1 << 16)
def _path_weight(path: str, of_tests: bool) -> float:
    """Of what lies there; `of_tests` where the query speaks of tests."""
    weight = 1.0 if of_tests or not is_test(path) else TEST
    return weight * FOREIGN if _FOREIGN_PATH.search(path) else weight


def _exact(query: Query, c: Candidate, grade: int) -> int:
    if query.whole and grade:
        return grade
    if c.symbol is None or c.unit != "symbol" or len(query.spelled) < 2:
        return 0
    return 1 if _name_words(c.symbol) == query.spelled else 0
