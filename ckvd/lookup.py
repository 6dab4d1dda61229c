"""The three ways to find chunks in an index: by name, by words (FTS5) and by vector (two steps)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from posixpath import normpath
from typing import TYPE_CHECKING, Any, NamedTuple

from ckvd import rank
from ckvd.query import Query, means
from ckvd.rank import Candidate
from ckvd.serving import Serving

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from ckvd.store.reader import Reader

    Vector = NDArray[float32]

_NAMED = 200
"""Symbols of one name that are looked at: there may be thousands of `__init__`."""
FREQUENT = 2000
"""A word in so many chunks is looked up without its other forms: they tell little more, and take most of the
time of a search."""
_LONGEST_PART = 200  # characters: each is a trigram to look up

_STANDING_IN = "coalesce((SELECT hash FROM stand_in WHERE chunk = c.id), c.embed_hash)"
"""SQL: the hash of the vector that answers for the chunk `c`, where some stand in for others."""


class Filters(NamedTuple):
    """What a hit must be; None for whatever. `path` is a glob in SQLite's sense, whose `*` also crosses
    `/`; one without a wildcard means that file, or all beneath that folder."""

    language: str | None = None
    kind: str | None = None
    path: str | None = None
    tests: bool | None = None


class Lookup:
    """Look-ups under one filter; `limit` bounds what each gives. Use within one snapshot of the reader.

    `CROSS JOIN` fixes the order of the loops: there are no statistics, and SQLite may guess a full scan.
    """

    def __init__(self, reader: Reader, filters: Filters, limit: int) -> None:
        self._query = reader.query
        self._each = reader.each
        self._limit = limit
        self._stand_ins = bool(reader.query("SELECT EXISTS (SELECT 1 FROM stand_in)")[0][0])
        self._answers = _STANDING_IN if self._stand_ins else "c.embed_hash"
        self._filtered = filters != Filters()
        self._where, self._values = self._condition(filters)

    def by_name(self, query: Query) -> dict[int, int]:
        """Chunks of the symbols that the query names: 2 as written, 1 but for case.

        A query that is a name and nothing else may begin with where the symbol is.
        """
        found: dict[int, int] = {}
        for name in query.names:
            rows = self._query(
                "SELECT c.id, s.symbol, f.path FROM symbol AS s CROSS JOIN chunk AS c"
                " ON c.chunk_id = s.chunk_id CROSS JOIN file AS f ON f.id = c.file_id"
                f" WHERE s.name = :name COLLATE NOCASE AND {self._where} LIMIT {_NAMED}",
                {"name": name.rpartition(".")[2], **self._values},
            )
            for id_, symbol, path in rows:
                where = path if query.whole else ""
                if means(name, symbol, where):
                    found[id_] = 2
                elif means(name.casefold(), symbol.casefold(), where.casefold()):
                    found.setdefault(id_, 1)
        return found

    def counts(self, query: Query) -> dict[str, int]:
        """Chunks with each word of the query, by its term: FREQUENT stands for that many and more."""
        return {term: self._count(term) for term in query.words}

    def _count(self, match: str) -> int:
        sql = "SELECT count(*) FROM (SELECT 1 FROM chunks_fts WHERE chunks_fts MATCH ? LIMIT ?)"
        return int(self._query(sql, (match, FREQUENT))[0][0])

    def by_words(self, query: Query, counts: Mapping[str, int]) -> dict[int, float]:
        """BM25 scores, higher is better; 0 for what only has the query within a symbol's name.

        A chunk that has none but FREQUENT words, or forms of words, counts where those with others are fewer
        than the limit: such chunks are most of what matches, and scoring them all took most of the time of a
        search.
        """
        if not query.terms:
            return {}
        frequent = {term for term, count in counts.items() if count >= FREQUENT}
        match = query.match(frequent)
        frequent.update(form for form in query.forms(frequent) if self._count(form) >= FREQUENT)
        rarer = query.match_without(frequent)
        rows = self._scored(match, rarer) if frequent and rarer else []
        if len(rows) < self._limit:
            rows = self._scored(match)
        found = {id_: -score for id_, score in rows}
        if query.whole:
            for id_ in self._by_substring(query.names[0].rpartition(".")[2]):
                found.setdefault(id_, 0.0)
        return found

    def _scored(self, match: str, within: str = "") -> list[tuple[int, float]]:
        """(chunk, score), lower is better and first, of those that `within`, if any, matches as well."""
        weights = ", ".join(map(str, rank.BM25_COLUMNS.values()))
        joined = " CROSS JOIN chunk AS c ON c.id = chunks_fts.rowid" if self._filtered else ""
        # The `+` keeps FTS5 from seeking each id by itself.
        also = "+chunks_fts.rowid IN (SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH :within)"
        return self._query(
            f"SELECT chunks_fts.rowid, bm25(chunks_fts, {weights}) AS score FROM chunks_fts{joined}"
            f" WHERE chunks_fts MATCH :match AND {also if within else '1'} AND {self._where}"
            " ORDER BY score LIMIT :limit",
            {"match": match, "within": within, "limit": self._limit, **self._values},
        )

    def _by_substring(self, part: str) -> list[int]:
        """Chunks of symbols with `part` within their name; the index knows three characters and more."""
        if not 3 <= len(part) <= _LONGEST_PART:
            return []
        rows = self._query(
            "SELECT c.id FROM names_fts CROSS JOIN symbol AS s ON s.name = names_fts.name"
            " CROSS JOIN chunk AS c ON c.chunk_id = s.chunk_id"
            f" WHERE names_fts MATCH :match AND {self._where} LIMIT {_NAMED}",
            {"match": '"' + part.replace('"', '""') + '"', **self._values},
        )
        return [id_ for (id_,) in rows]

    def by_vector(self, model: Serving, vector: Vector, also: Sequence[int] = ()) -> dict[int, float]:
        """Cosines to a unit vector [dimensions], by chunk id: of the nearest chunks and of those in `also`.

        Two steps: Hamming distance over the bits of all, then the cosine of the best by their int8.
        """
        from ckvd.embed.quantise import quantise

        near = self._nearest(model, quantise(vector[None]).bits[0].tobytes())
        near_chunks = self._chunks_of(near)
        nearness = _cosines([row[1:] for row in near_chunks], vector)
        best = set(sorted(nearness, key=lambda id_: (-nearness[id_], id_))[: self._limit])
        found = {chunk: nearness[id_] for chunk, id_, *_ in near_chunks if id_ in best}
        rows = self._query(
            "SELECT c.id, v.int8, v.scale FROM json_each(:ids) AS i CROSS JOIN chunk AS c ON c.id = i.value"
            f" CROSS JOIN vector AS v ON v.hash = {self._answers} AND v.model_id = :model",
            {"ids": json.dumps([id_ for id_ in also if id_ not in found]), "model": model.id},
        )
        return found | _cosines(rows, vector)

    def _nearest(self, model: Serving, bits: bytes) -> list[int]:
        """Ids of the vectors with the fewest differing bits."""
        from ckvd.nearest import enough, nearest
        from ckvd.store.codes import SLOTS

        among = None
        if self._filtered:
            rows = self._query(
                "SELECT v.id FROM chunk AS c CROSS JOIN vector AS v"
                f" ON v.hash = {self._answers} AND v.model_id = :model WHERE {self._where}",
                {"model": model.id, **self._values},
            )
            among = [id_ for (id_,) in rows]
        blocks = self._each("SELECT block, used, bits FROM code WHERE model_id = ?", (model.id,))
        codes = SLOTS * self._query("SELECT count(*) FROM code WHERE model_id = ?", (model.id,))[0][0]
        return nearest(blocks, bits, max(self._limit, enough(codes)), among)

    def _chunks_of(self, vectors: Iterable[int]) -> list[tuple[int, int, bytes, float]]:
        """(chunk, vector, int8, scale) of the chunks that vectors, by their id, answer for."""
        joined = "c.embed_hash = v.hash"
        if self._stand_ins:
            joined = f"({joined} OR c.id IN (SELECT chunk FROM stand_in WHERE hash = v.hash))"
        return self._query(
            "SELECT c.id, v.id, v.int8, v.scale FROM json_each(:ids) AS i CROSS JOIN vector AS v"
            f" ON v.id = i.value CROSS JOIN chunk AS c ON {joined} WHERE v.hash = {self._answers}"
            f" AND {self._where}",
            {"ids": json.dumps(sorted(vectors)), **self._values},
        )

    def candidates(self, ids: Iterable[int]) -> list[Candidate]:
        """What ranking must know of chunks, in the order of their ids."""
        rows = self._query(
            "SELECT c.id, c.chunk_id, f.path, c.unit, c.kind, c.grain, c.symbol, c.start_byte, c.end_byte,"
            " c.parts FROM json_each(?) AS i CROSS JOIN chunk AS c ON c.id = i.value"
            " CROSS JOIN file AS f ON f.id = c.file_id",
            (json.dumps(sorted(ids)),),
        )
        return list(map(Candidate._make, rows))

    def symbols_in(self, chunk_ids: Sequence[str]) -> dict[str, list[str]]:
        """The qualified names of the symbols whose finest chunk is one of these, in file order."""
        rows = self._query(
            "SELECT s.chunk_id, s.symbol FROM json_each(?) AS i"
            " CROSS JOIN symbol AS s ON s.chunk_id = i.value ORDER BY s.start_byte",
            (json.dumps(list(chunk_ids)),),
        )
        found: dict[str, list[str]] = {}
        for chunk_id, symbol in rows:
            found.setdefault(chunk_id, []).append(symbol)
        return found

    def _condition(self, filters: Filters) -> tuple[str, dict[str, object]]:
        """SQL over `c` (chunk), and what it binds."""
        clauses: list[str] = []
        values: dict[str, object] = {}
        if filters.kind is not None:
            clauses.append("c.kind = :kind")
            values["kind"] = filters.kind
        if (filters.language, filters.path, filters.tests) != (None, None, None):
            clauses.append("c.file_id IN (SELECT value FROM json_each(:files))")
            values["files"] = json.dumps(self._files(filters))
        return " AND ".join(clauses) or "1", values

    def _files(self, filters: Filters) -> list[int]:
        clauses: list[str] = []
        values: list[object] = []
        if filters.language is not None:
            clauses.append("language = ?")
            values.append(filters.language)
        if filters.path is not None:
            clause, bound = _path_clause(normpath(filters.path))
            clauses.append(clause)
            values += bound
        rows = self._query(f"SELECT id, path FROM file WHERE {' AND '.join(clauses) or '1'}", values)
        return [id_ for id_, path in rows if filters.tests is None or rank.is_test(path) == filters.tests]


def _path_clause(path: str) -> tuple[str, list[object]]:
    """What a name has that a glob would read otherwise (`app/[id]`) counts as it stands too."""
    if path == ".":
        return "1", []
    folder = path + "/"
    return "(path = ? OR substr(path, 1, ?) = ? OR path GLOB ?)", [path, len(folder), folder, path]


def _cosines(rows: Sequence[tuple[Any, ...]], vector: Vector) -> dict[int, float]:
    """Of rows (id, int8, scale) to a unit vector, by id."""
    import numpy as np

    if not rows:
        return {}
    ids, codes, scales = zip(*rows, strict=True)
    matrix = np.frombuffer(b"".join(codes), np.int8).reshape(len(rows), -1).astype(np.float32)
    return dict(zip(ids, (matrix @ vector * np.array(scales, np.float32)).tolist(), strict=True))
