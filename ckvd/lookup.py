"""The three ways to find chunks in an index: by name, by words (FTS5) and by vector (two steps)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ckvd import rank
from ckvd.query import Query
from ckvd.rank import Candidate

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from ckvd.store.reader import Reader

    Vector = NDArray[float32]

_NAMED = 200
"""Symbols of one name that are looked at: there may be thousands of `__init__`."""
_LONGEST_PART = 200  # characters: each is a trigram to look up


_ANSWERS = "coalesce((SELECT hash FROM stand_in WHERE chunk = c.id), c.embed_hash)"
"""SQL: the hash of the vector that answers for the chunk `c`."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a hit must be; None for whatever. `path` is a glob in SQLite's sense, whose `*` also crosses
    `/`; one without a wildcard means that file, or all beneath that folder."""

    language: str | None = None
    kind: str | None = None
    path: str | None = None
    tests: bool | None = None


class Serving(NamedTuple):
    """The model whose vectors answer now."""

    id: int
    identity: str
    name: str
    dimensions: int
    folder: str | None = None
    """Where it lay when the vectors were made; None in an index that an older ckvd made."""
    input_tokens: int | None = None


def serving(reader: Reader) -> Serving | None:
    """The model whose vectors answer, None where there is none yet."""
    rows = reader.query(
        "SELECT m.id, m.identity, m.name, m.dimensions, s.folder, s.input_tokens"
        " FROM model AS m LEFT JOIN model_source AS s USING (identity) WHERE m.serving"
    )
    return Serving(*rows[0]) if rows else None


class Lookup:
    """Look-ups under one filter; `limit` bounds what each gives. Use within one snapshot of the reader.

    `CROSS JOIN` fixes the order of the loops: there are no statistics, and SQLite may guess a full scan.
    """

    def __init__(self, reader: Reader, filters: Filters, limit: int) -> None:
        self._query = reader.query
        self._limit = limit
        self._filtered = filters != Filters()
        self._where, self._values = self._condition(filters)

    def by_name(self, query: Query) -> dict[int, int]:
        """Chunks of the symbols that the query names: 2 as written, 1 but for case."""
        found: dict[int, int] = {}
        for name in query.names:
            rows = self._query(
                "SELECT c.id, s.symbol FROM symbol AS s CROSS JOIN chunk AS c ON c.chunk_id = s.chunk_id"
                f" WHERE s.name = :name COLLATE NOCASE AND {self._where} LIMIT {_NAMED}",
                {"name": name.rpartition(".")[2], **self._values},
            )
            for id_, symbol in rows:
                if f".{symbol}".endswith(f".{name}"):
                    found[id_] = 2
                elif f".{symbol}".casefold().endswith(f".{name}".casefold()):
                    found.setdefault(id_, 1)
        return found

    def by_words(self, query: Query) -> dict[int, float]:
        """BM25 scores, higher is better; 0 for what only has the query within a symbol's name."""
        if not query.match:
            return {}
        weights = ", ".join(map(str, rank.BM25_COLUMNS.values()))
        joined = " CROSS JOIN chunk AS c ON c.id = chunks_fts.rowid" if self._filtered else ""
        rows = self._query(
            f"SELECT chunks_fts.rowid, bm25(chunks_fts, {weights}) AS score FROM chunks_fts{joined}"
            f" WHERE chunks_fts MATCH :match AND {self._where} ORDER BY score LIMIT :limit",
            {"match": query.match, "limit": self._limit, **self._values},
        )
        found = {id_: -score for id_, score in rows}
        if query.whole:
            for id_ in self._by_substring(query.names[0].rpartition(".")[2]):
                found.setdefault(id_, 0.0)
        return found

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
        import numpy as np

        from ckvd.embed.quantise import quantise

        nearest = self._nearest(model, quantise(vector[None]).bits[0].tobytes())
        rows = self._query(
            "SELECT c.id, v.int8, v.scale FROM json_each(:ids) AS i CROSS JOIN vector AS v ON v.id = i.value"
            " CROSS JOIN chunk AS c"
            " ON (c.embed_hash = v.hash OR c.id IN (SELECT chunk FROM stand_in WHERE hash = v.hash))"
            f" WHERE v.hash = {_ANSWERS} AND {self._where}",
            {"ids": json.dumps(nearest), **self._values},
        ) + self._query(
            "SELECT c.id, v.int8, v.scale FROM json_each(:ids) AS i CROSS JOIN chunk AS c ON c.id = i.value"
            f" CROSS JOIN vector AS v ON v.hash = {_ANSWERS} AND v.model_id = :model",
            {"ids": json.dumps(list(also)), "model": model.id},
        )
        if not rows:
            return {}
        ids, codes, scales = zip(*rows, strict=True)
        matrix = np.frombuffer(b"".join(codes), np.int8).reshape(len(rows), -1).astype(np.float32)
        return dict(zip(ids, (matrix @ vector * np.array(scales, np.float32)).tolist(), strict=True))

    def _nearest(self, model: Serving, bits: bytes) -> list[int]:
        """Ids of the vectors with the fewest differing bits."""
        if self._filtered:
            source = (
                "SELECT v.id AS id, v.bits AS bits FROM chunk AS c CROSS JOIN vector AS v"
                f" ON v.hash = {_ANSWERS} AND v.model_id = :model WHERE {self._where}"
            )
        else:
            source = "SELECT id, bits FROM code WHERE model_id = :model"
        values = {"model": model.id, **self._values}
        if self._query("SELECT 1 FROM pragma_function_list WHERE name = 'vec_distance_hamming'"):
            nearest = "ORDER BY vec_distance_hamming(vec_bit(bits), vec_bit(:bits)) LIMIT :limit"
            rows = self._query(
                f"SELECT id FROM ({source}) {nearest}", {"bits": bits, "limit": self._limit, **values}
            )
            return [id_ for (id_,) in rows]
        return nearest_bits(self._query(source, values), bits, self._limit)

    def candidates(self, ids: Iterable[int]) -> list[Candidate]:
        """What ranking must know of chunks, in the order of their ids."""
        rows = self._query(
            "SELECT c.id, c.chunk_id, f.path, c.unit, c.kind, c.grain, c.symbol, c.start_byte, c.end_byte,"
            " c.parts FROM json_each(?) AS i CROSS JOIN chunk AS c ON c.id = i.value"
            " CROSS JOIN file AS f ON f.id = c.file_id",
            (json.dumps(sorted(ids)),),
        )
        return [Candidate(*row) for row in rows]

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
            clause, bound = _path_clause(filters.path.removeprefix("./"))
            clauses.append(clause)
            values += bound
        rows = self._query(f"SELECT id, path FROM file WHERE {' AND '.join(clauses) or '1'}", values)
        return [id_ for id_, path in rows if filters.tests is None or rank.is_test(path) == filters.tests]


def _path_clause(glob: str) -> tuple[str, list[object]]:
    if any(c in glob for c in "*?["):
        return "path GLOB ?", [glob]
    folder = glob.rstrip("/") + "/"
    return "(path = ? OR substr(path, 1, ?) = ?)", [glob, len(folder), folder]


def nearest_bits(rows: Sequence[tuple[Any, ...]], bits: bytes, limit: int) -> list[int]:
    """Ids of the `limit` rows (id, bits) with the smallest Hamming distance, as sqlite-vec gives them."""
    import numpy as np

    if not rows:
        return []
    ones = np.array([n.bit_count() for n in range(256)], np.uint16)
    codes = np.frombuffer(b"".join(row[1] for row in rows), np.uint8).reshape(len(rows), -1)
    distances = ones[codes ^ np.frombuffer(bits, np.uint8)].sum(axis=1)
    return [rows[i][0] for i in np.argsort(distances, kind="stable")[:limit]]
