"""What a person typed, as FTS5 and the ranking understand it. Pure; no input raises."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice, pairwise
from typing import NamedTuple

from ckvd import words

MAX_TERMS = 64
"""Words, phrases and names that a query is cut down to, each: a whole ticket may be pasted in."""
MAX_TEXT = 20_000
"""Characters that are looked at: a ticket with its stack trace, not a log."""
_MAX_PHRASE = 12  # words of one compound: a path, a qualified name

# Words of questions and descriptions that code has everywhere or nowhere; kept where nothing else is left.
_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been but by can could did do does for from had has have how i if in into is it"
        " its may me might my no not of on or our shall should that the their them there these they this"
        " those to us use used uses using was we were what when where which while who whose why will with"
        " would you your",
    )
)
_QUOTED = re.compile(r'"([^"]+)"')
_RUN = re.compile(r"\w+")
_EDGES = re.compile(r"^[^\w~]+|\W+$")
_MARKED = re.compile(r"`([^`\s]+)`|(?<![\w.:])[.:]*(\w[\w.:]*+)\(")
_JOINT = re.compile(r"::|->|[.#\\/$]")
_SUFFIXES = (
    *("ations", "ation", "ingly", "ings", "ing", "ies", "ied", "ions", "ion"),
    *("ers", "er", "ed", "es", "ly", "s", "e", "y"),
)


class Query(NamedTuple):
    """A parsed query.

    `terms` are phrases and words in FTS5's syntax, none where the text has no word. `words` are the distinct
    ones that matter, by the term that each is; by some of these `beginnings` has what also matches their
    other forms. `stems` are the same words, stemmed. `spelled` is all words in order, as `words.split` gives
    them for a name. `names` are the parts that look like a symbol's name, `.`-joined where qualified;
    `whole` says that the query is one such name and nothing else.
    """

    text: str
    terms: tuple[str, ...]
    words: Mapping[str, str]
    beginnings: Mapping[str, str]
    stems: frozenset[str]
    spelled: tuple[str, ...]
    names: tuple[str, ...]
    whole: bool

    def match(self, alone: Collection[str] = ()) -> str:
        """The FTS5 expression, '' without terms; of the terms in `alone` the other forms are left out."""
        return " OR ".join(dict.fromkeys((*self.terms, *self.forms(alone))))

    def match_without(self, left_out: Collection[str]) -> str:
        """The FTS5 expression of the other terms and, of those, the other forms; '' where there are none."""
        parts = dict.fromkeys((*self.terms, *self.forms(left_out)))
        return " OR ".join(part for part in parts if part not in left_out)

    def forms(self, alone: Collection[str] = ()) -> tuple[str, ...]:
        """What matches the words in their other forms as well, but for those in `alone`."""
        words = (term for term in self.terms if term in self.beginnings and term not in alone)
        return tuple(dict.fromkeys(self.beginnings[term] for term in words))


def parse(text: str) -> Query:
    """Reads a query: plain words, identifiers in any style, qualified names, paths, `"phrases"`."""
    text = text[:MAX_TEXT].encode("utf-8", "replace").decode()  # what a command line could not decode
    text = text.replace("\0", " ")
    pieces = [_EDGES.sub("", piece) for piece in text.split()]
    pieces = [piece for piece in pieces if _RUN.search(piece)]
    whole = len(pieces) == 1
    phrases: dict[str, None] = {}
    for phrase in _QUOTED.findall(text):
        if runs := _RUN.findall(phrase):
            phrases[_phrase(runs)] = None
    plain: dict[str, None] = {}
    for piece in pieces:
        runs = _RUN.findall(piece)
        if len(runs) > 1 and any(_matters(run.lower()) for run in runs):
            phrases[_phrase(runs)] = None
        for run in runs:
            parts = words.split(run)
            if len(parts) > 1:
                phrases[_phrase([run])] = None
                phrases[_phrase(parts)] = None
            plain.update(dict.fromkeys(parts or (run.lower(),)))
    kept = _that_matter(plain)[:MAX_TERMS]
    terms = dict.fromkeys(list(phrases)[:MAX_TERMS])
    beginnings = {}
    for word in kept:
        term = _phrase([word])
        terms[term] = None
        root = stem(word)
        if root and root.isascii():
            beginnings[term] = f'"{root}"*'
    return Query(
        text=text,
        terms=tuple(terms),
        words={_phrase([word]): word for word in kept},
        beginnings=beginnings,
        stems=frozenset(map(fold, kept)),
        spelled=words.split(text),
        names=tuple(dict.fromkeys(_names(text, pieces, whole)))[:MAX_TERMS],
        whole=whole,
    )


def stem(word: str) -> str:
    """A beginning that the forms of an English word share (`caching`, `cached`, `caches`: `cach`), or ''.

    Suffixes are cut without a dictionary: the result is for prefix search beside the word itself, where
    a stem that is too short costs a little precision and one that is too long costs nothing.
    """
    if len(word) < 4 or not word.isalpha():
        return ""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            root = word[: -len(suffix)]
            doubled = root[-1] == root[-2] and root[-1] not in "aeiouls"
            return root[:-1] if len(root) > 3 and (doubled or root[-1] == "y") else root
    return word


def means(name: str, symbol: str, path: str = "") -> bool:
    """Whether a name, as `Query.names` has it, is a symbol's: the end of its qualified name, or all of that
    after where it is, its file or folder: `models/query.py::QuerySet`, `django.db.models.query.QuerySet`."""
    if f".{symbol}".endswith(f".{name}"):
        return True
    where = name.removesuffix(f".{symbol}")
    if where == name:
        return False
    folder, _, file = f"/{path}".rpartition("/")
    places = (folder, f"{folder}/{file}", f"{folder}/{file.rpartition('.')[0]}")
    return any(_JOINT.sub(".", place).endswith(f".{where}") for place in places)


def fold(word: str) -> str:
    """A word as two spellings of it are compared: without diacritics, stemmed."""
    if not word.isascii():
        word = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    return stem(word) or word


def _phrase(runs: Iterable[str]) -> str:
    """Adjacent words for `MATCH`; runs hold no quote, so nothing in them is syntax."""
    return '"' + " ".join(islice(runs, _MAX_PHRASE)) + '"'


def _that_matter(found: Iterable[str]) -> list[str]:
    """Without stop words and single letters, unless nothing else is there."""
    listed = list(found)
    strong = [w for w in listed if _matters(w)]
    return strong or [w for w in listed if w not in _STOP] or listed


def _matters(word: str) -> bool:
    return word not in _STOP and (len(word) > 1 or not word.isascii())


def _names(text: str, pieces: list[str], whole: bool) -> Iterator[str]:
    marked = [quoted or called for quoted, called in _MARKED.findall(text)]
    plain = [piece for piece in pieces if whole or _looks_like_a_name(piece)]
    for piece in (*marked, *plain):
        name = ".".join(part for part in _JOINT.split(_EDGES.sub("", piece)) if _RUN.search(part))
        if name:
            yield name


def _looks_like_a_name(piece: str) -> bool:
    """`snake_case`, `camelCase`, `a.b`, `A::b`, `a->b`; not `e.g`, `and/or`, `well-known` or `NASA`."""
    piece = piece.replace("->", ".")
    if not all(c.isalnum() or c in "_.:#$" for c in piece):
        return False
    runs = _RUN.findall(piece)
    compound = any("_" in run or _has_case_border(run) for run in runs)
    return compound or (len(runs) > 1 and all(len(run) > 1 for run in runs))


def _has_case_border(run: str) -> bool:
    return any(a.islower() and b.isupper() for a, b in pairwise(run))
