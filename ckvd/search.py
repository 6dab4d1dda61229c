"""Runs a query against the index: looks it up by name, by words and by vector, and `rank` orders the finds.

Neither numpy nor onnxruntime is imported unless a vector is asked for: a keyword search starts as fast as
Python does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, get_args

from ckvd import rank
from ckvd.errors import ModelError, UsageError
from ckvd.hit import Hit, Results
from ckvd.lookup import FREQUENT, Filters, Lookup
from ckvd.query import Query, parse
from ckvd.rank import Candidate, Mode, Ranked
from ckvd.serving import Serving, serving
from ckvd.tell import Telling, Told, chunk_columns, tell

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from ckvd.lookup import Vector
    from ckvd.store.reader import Reader

POOL = 300
"""Candidates that the searches by words and by vectors each give. Not more for pages further back: hits would
move between pages, and the total change."""
POOL_FACTOR = 6
"""At least as many candidates for each hit of a page."""

Look = Callable[["Reader", Sequence[Hit]], tuple[Hit, ...]]

Pieces = Callable[[Serving, Sequence[str]], "tuple[Sequence[Sequence[int]], NDArray[float32]] | None"]
"""Gives the tokens of texts by the model given, as rows of a table of their vectors; None if it has none."""

EmbedQuery = Callable[[Serving, str], "Vector"]
"""Gives the unit vector of a query by the model given; raises ModelError where that is not at hand."""


def search(
    reader: Reader,
    text: str,
    k: int = 10,
    mode: Mode = "hybrid",
    filters: Filters | None = None,
    embed_query: EmbedQuery | None = None,
    *,
    offset: int = 0,
    telling: Telling | None = None,
    look: Look | None = None,
    pieces: Pieces | None = None,
) -> Results:
    """The hits `offset`..`offset + k` for a query, none overlapping another, all of one revision; `telling`
    may widen them or leave out what has no room, `look` adds what is on disk, `pieces` helps to rank.

    No text raises, but UsageError for an empty one, a language or a kind that there is not. ModelError in
    mode `vector` where no vectors can be searched; in mode `hybrid` that is a note. StoreError where the
    index cannot be read.
    """
    if not text.strip():
        raise UsageError("the query is empty; say what to search for")
    filters = filters or Filters()
    if filters.language is not None:
        _check_language(reader, filters.language)
    if filters.kind is not None:
        _check_kind(reader, filters.kind)
    query = parse(text)
    model, vector, note = None, None, ""
    if mode != "keyword":
        model, vector, note = _embed(reader, query.text, embed_query)
        if vector is None:
            if mode == "vector":
                raise ModelError(f"no vectors can be searched: {note}; use --mode keyword")
            mode = "keyword"
    with reader.snapshot():
        found = Lookup(reader, filters, max(POOL, POOL_FACTOR * k))
        named = found.by_name(query) if mode != "vector" else {}
        counts = found.counts(query) if mode != "vector" else {}
        bm25 = found.by_words(query, counts) if mode != "vector" else {}
        cosine: Mapping[int, float] = {}
        if model is not None and vector is not None:
            cosine = found.by_vector(model, vector, [*{**bm25, **named}])
        candidates = found.candidates({*named, *bm25, *cosine})
        close = {}
        if model is not None and mode == "hybrid" and pieces is not None:
            close = _close(query, counts, candidates, lambda texts: pieces(model, texts))
        ranked = rank.order(query, candidates, bm25, cosine, named, mode, close)
        hits = _hits(reader, found, query, ranked[offset : offset + k])
        told = tell(reader, hits, telling) if telling is not None else Told(hits)
        notes = "; ".join(filter(None, (note, told.note)))
        shown = look(reader, told.hits) if look is not None else told.hits
        return Results(shown, len(ranked), reader.revision, mode, notes, told.tokens)


def _check_language(reader: Reader, name: str) -> None:
    """Raises UsageError where neither the index nor ckvd has a language of that name."""
    if reader.query("SELECT EXISTS (SELECT 1 FROM files WHERE language = ?)", (name,))[0][0]:
        return
    from difflib import get_close_matches

    from ckvd import languages  # reads them all: only where the index has none of it

    known = languages.names()
    if name not in known:
        low = name.casefold()
        close = [n for n in known if low in languages.get(n).suffixes] or get_close_matches(low, known, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise UsageError(f"there is no language '{name}'; {hint}'ckvd languages' lists those there are")


def _check_kind(reader: Reader, name: str) -> None:
    """Raises UsageError where neither the index nor ckvd has a kind of that name."""
    if reader.query("SELECT EXISTS (SELECT 1 FROM chunks WHERE kind = ?)", (name,))[0][0]:
        return
    from ckvd.model import Unit  # which brings all that an index is made of

    there = [kind for (kind,) in reader.query("SELECT DISTINCT kind FROM chunks ORDER BY kind")]
    known = {*there, *get_args(Unit), *(kind for (kind,) in reader.query("SELECT kind FROM lsp_kind"))}
    if name not in known:
        from difflib import get_close_matches

        close = get_close_matches(name.casefold(), sorted(known), n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise UsageError(
            f"there is no kind '{name}'; {hint}this index has: {', '.join(there) or 'nothing yet'}"
        )


def _embed(
    reader: Reader, text: str, embed_query: EmbedQuery | None
) -> tuple[Serving | None, Vector | None, str]:
    """The query's vector by the model that answers now, or why there is none.

    Outside the snapshot: loading a model takes a while, and a reader that lingers holds the WAL up.
    """
    model = serving(reader)
    if model is None:
        ((named,),) = reader.query("SELECT value FROM meta WHERE key = 'model'") or ((None,),)
        none = named == "none"
        return None, None, "embedding.model is none" if none else "the index has no vectors yet"
    if embed_query is None:
        return None, None, "no embedding model is at hand"
    try:
        return model, embed_query(model, text), ""
    except ModelError as error:
        return None, None, str(error)


def _close(
    query: Query,
    counts: Mapping[str, int],
    candidates: Sequence[Candidate],
    pieces: Callable[[Sequence[str]], tuple[Sequence[Sequence[int]], NDArray[float32]] | None],
) -> dict[int, float]:
    """How near the candidates' names are to the query, by chunk id; a rare word of the query weighs more."""
    from ckvd.closeness import closeness

    asked = list(query.words.values())
    names = list(dict.fromkeys(name for c in candidates if (name := _name(c))))
    table = pieces([*asked, *names])
    if table is None:
        return {}
    rows, vectors = table
    weights = [math.log1p(4 * FREQUENT / max(counts[term], 1)) for term in query.words]
    known = dict(zip(names, closeness(rows[: len(asked)], weights, rows[len(asked) :], vectors), strict=True))
    return {c.id: known[name] for c in candidates if (name := _name(c))}


def _name(c: Candidate) -> str:
    return (c.symbol or "").rpartition(".")[2]


def _hits(reader: Reader, found: Lookup, query: Query, page: Sequence[Ranked]) -> tuple[Hit, ...]:
    within = found.symbols_in([r.candidate.chunk_id for r in page if r.candidate.symbol is None])
    columns = chunk_columns(reader, [r.candidate.id for r in page])
    return tuple(
        Hit(
            **columns[r.candidate.id]
            | {"symbol": r.candidate.symbol or rank.best_name(query, within.get(r.candidate.chunk_id, ()))},
            score=round(r.score, 4),
            exact=r.exact > 0,
        )
        for r in page
    )
