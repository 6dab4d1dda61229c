"""Vectors and the models they are of: what waits, what is in use, what is kept for the way back.

A vector is in use while a chunk has its hash, or it stands in for a chunk's, and its model serves or is the
target; then, and only then, `unused_since` is NULL and `code` has its bits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

import apsw

from ckvd.model import Chunk
from ckvd.plan import FilePlan
from ckvd.store import codes
from ckvd.store.rows import header_of

_ACTIVE = "SELECT id FROM model WHERE serving OR target"

_WANTED = (
    "(EXISTS (SELECT 1 FROM chunk WHERE embed_hash = {0})"
    " OR EXISTS (SELECT 1 FROM stand_in WHERE hash = {0}))"
)

_SERVED = (
    "EXISTS (SELECT 1 FROM vector WHERE hash = chunk.embed_hash"
    " AND model_id = (SELECT id FROM model WHERE serving))"
)


class Vector(NamedTuple):
    """The vector of one embedded text, laid out as the `vectors` view says."""

    embed_hash: bytes
    int8: bytes
    scale: float
    bits: bytes


class Pending(NamedTuple):
    """A chunk whose embedded text has no vector yet, and what its text is built from."""

    path: str
    language: str | None
    chunk: Chunk


def stand_in(db: apsw.Connection, plans: Sequence[FilePlan]) -> list[bytes]:
    """Before chunks change: where the embedded text alone becomes another, the old vector goes on answering.

    Gives the hashes of vectors that no longer stand in, since the chunk goes or its own text changes.
    """
    same = [(i,) for plan in plans for i, _ in plan.moves if i in plan.reembed]
    other = [(i,) for plan in plans for i in plan.deletes]
    other += [(i,) for plan in plans for i, _ in plan.updates if i in plan.reembed]
    ended: list[bytes] = []
    if db.execute("SELECT EXISTS (SELECT 1 FROM stand_in)").get:
        rows = db.executemany("DELETE FROM stand_in WHERE chunk = ? RETURNING hash", other)
        ended = [row[0] for row in rows]
    db.executemany(
        "INSERT OR IGNORE INTO stand_in(chunk, hash)"
        f" SELECT id, embed_hash FROM chunk WHERE id = ? AND {_SERVED}",
        same,
    )
    return ended


def _come_into_their_own(
    db: apsw.Connection, which: str, values: Iterable[tuple[object]], revision: int
) -> None:
    """Of the chunks `which` (a condition), those whose own vector serves need no other any more."""
    if not db.execute("SELECT EXISTS (SELECT 1 FROM stand_in)").get:
        return
    chunks = f"SELECT id FROM chunk WHERE {which} AND {_SERVED}"
    ended = db.executemany(
        f"DELETE FROM stand_in WHERE chunk IN ({chunks}) RETURNING hash", values
    ).fetchall()
    _retire(db, {cast(bytes, row[0]) for row in ended}, revision)


def _retire(db: apsw.Connection, hashes: Iterable[bytes], revision: int) -> None:
    """Those of the vectors that nothing wants any more are unused from now on."""
    retired = db.executemany(
        f"UPDATE vector SET unused_since = {revision} WHERE hash = ?1 AND unused_since IS NULL"
        f" AND NOT {_WANTED.format('?1')} RETURNING model_id, id",
        [(h,) for h in hashes],
    ).fetchall()
    codes.remove(db, cast(list[tuple[int, int]], retired))


def follow(
    db: apsw.Connection,
    plans: Iterable[FilePlan],
    embed: Sequence[tuple[int, bytes]],
    ended: Iterable[bytes],
    revision: int,
) -> None:
    """After chunks changed: `embed` are the (chunk, hash) whose embedded text is new, `ended` what `stand_in`
    gave before."""
    _retire(db, {h for plan in plans for h in plan.released}.union(ended), revision)
    if db.execute("SELECT EXISTS (SELECT 1 FROM vector WHERE unused_since IS NOT NULL)").get:
        revived = db.executemany(
            "UPDATE vector SET unused_since = NULL WHERE hash = ? AND unused_since IS NOT NULL"
            f" AND model_id IN ({_ACTIVE}) RETURNING model_id, id, bits",
            {(h,) for _, h in embed},
        ).fetchall()
        codes.add(db, cast(list[tuple[int, int, bytes]], revived))
    _come_into_their_own(db, "id = ?", [(i,) for i, _ in embed], revision)
    target = db.execute("SELECT id FROM model WHERE target").get
    if target is not None:
        db.executemany("DELETE FROM pending WHERE chunk = ?", [(i,) for i, _ in embed])
        db.executemany(
            f"INSERT INTO pending(chunk, priority) SELECT ?1, {revision}"
            f" WHERE NOT EXISTS (SELECT 1 FROM vector WHERE hash = ?2 AND model_id = {target})",
            embed,
        )
        _serve_if_complete(db)


_TAKE = """
SELECT f.path, f.language, h.text, h.segments, b.body,
    c.chunk_id, c.unit, c.kind, c.grain, c.symbol, c.parents, c.start_byte, c.end_byte, c.start_line,
    c.end_line, c.part, c.parts, c.rendering, c.tokens, c.header_trimmed, c.truncated, c.content_hash,
    c.own_hash, c.embed_hash
FROM pending AS p JOIN chunk AS c ON c.id = p.chunk JOIN file AS f ON f.id = c.file_id
    JOIN body AS b ON b.id = c.id LEFT JOIN header AS h ON h.id = c.header_id
ORDER BY p.priority DESC, p.chunk LIMIT ?
"""


def take(db: apsw.Connection, most: int) -> list[Pending]:
    """Up to `most` waiting chunks, the latest revision first, each embedded text once."""
    found: dict[bytes, Pending] = {}
    for row in db.execute(_TAKE, (most,)):
        item = _pending(row)
        found.setdefault(item.chunk.embed_hash, item)
    return list(found.values())


def _pending(row: tuple[Any, ...]) -> Pending:
    path, language, text, segments, body, *rest = row
    chunk_id, unit, kind, grain, symbol, parents, start, end, start_line, end_line, part, parts = rest[:12]
    rendering, tokens, header_trimmed, truncated, *hashes = rest[12:]
    chunk = Chunk(
        *(chunk_id, unit, kind, grain, symbol, tuple(json.loads(parents)), start, end, start_line, end_line),
        *(part, parts, header_of(text, segments), body, rendering, tokens),
        *(bool(header_trimmed), bool(truncated), *hashes),
    )
    return Pending(path, language, chunk)


def put(db: apsw.Connection, identity: str, items: Sequence[Vector]) -> int:
    """Stores the vectors that some chunk still wants; how many those were."""
    model = db.execute("SELECT id FROM model WHERE identity = ? AND (serving OR target)", (identity,)).get
    if model is None:
        return 0
    kept = db.executemany(
        f"INSERT INTO vector(hash, model_id, int8, scale, bits) SELECT ?1, {model}, ?2, ?3, ?4"
        " WHERE EXISTS (SELECT 1 FROM chunk WHERE embed_hash = ?1) ON CONFLICT DO NOTHING"
        " RETURNING model_id, id, bits",
        items,
    ).fetchall()
    codes.add(db, cast(list[tuple[int, int, bytes]], kept))
    if db.execute("SELECT target FROM model WHERE id = ?", (model,)).get:
        db.executemany(
            "DELETE FROM pending WHERE chunk IN (SELECT id FROM chunk WHERE embed_hash = ?)",
            [(v.embed_hash,) for v in items],
        )
        _serve_if_complete(db)
    _come_into_their_own(db, "embed_hash = ?", [(v.embed_hash,) for v in items], _revision(db))
    return len(kept)


class ModelRow(NamedTuple):
    """A model as an index knows it: `identity` tells two spaces apart, `folder` and `input_tokens` (0 for
    its own limit) are what it takes to load it again."""

    identity: str
    name: str
    dimensions: int
    folder: str = ""
    input_tokens: int = 0


def set_model(db: apsw.Connection, model: ModelRow, revision: int) -> None:
    """Makes it the target. It serves once every chunk has its vector; the one before serves until then."""
    db.execute(
        "INSERT INTO model(identity, name, dimensions) VALUES(?, ?, ?)"
        " ON CONFLICT DO UPDATE SET name = excluded.name, dimensions = excluded.dimensions",
        model[:3],
    )
    db.execute("DELETE FROM model_source WHERE identity NOT IN (SELECT identity FROM model)")
    db.execute(
        "INSERT OR REPLACE INTO model_source(identity, folder, input_tokens) VALUES(?, ?, ?)",
        (model.identity, model.folder, model.input_tokens),
    )
    db.execute("UPDATE model SET target = (identity = ?)", (model.identity,))
    if db.execute("SELECT NOT EXISTS (SELECT 1 FROM model WHERE serving)").get:
        db.execute("UPDATE model SET serving = target")
    _settle(db, revision)
    _come_into_their_own(db, "?", [(1,)], revision)
    _wait(db)
    _note_model(db)


def set_no_model(db: apsw.Connection, revision: int) -> None:
    """No vectors: nothing waits, nothing serves."""
    db.execute("UPDATE model SET serving = 0, target = 0 WHERE serving OR target")
    db.execute("DELETE FROM pending")
    db.execute("DELETE FROM stand_in")
    _settle(db, revision)
    _note_model(db)


_BARE = (
    "EXISTS (SELECT 1 FROM model WHERE target) AND NOT EXISTS (SELECT 1 FROM vector"
    " WHERE hash = chunk.embed_hash AND model_id = (SELECT id FROM model WHERE target))"
)


def _wait(db: apsw.Connection) -> None:
    """Has all chunks wait that want a vector of the target."""
    db.execute("DELETE FROM pending")
    db.execute(f"INSERT INTO pending(chunk, priority) SELECT id, revision FROM chunk WHERE {_BARE}")
    _serve_if_complete(db)


def all_wait(db: apsw.Connection) -> bool:
    """Whether those chunks wait that want a vector of the target, and no other."""
    wrong = f"SELECT 1 FROM chunk WHERE (id IN (SELECT chunk FROM pending)) != ({_BARE})"
    return not db.execute(f"SELECT EXISTS ({wrong})").get


def mend(db: apsw.Connection) -> None:
    """Makes what waits, stands in and is in use follow from the chunks and vectors that there are."""
    db.execute(
        "DELETE FROM stand_in WHERE NOT EXISTS (SELECT 1 FROM vector WHERE hash = stand_in.hash"
        " AND model_id = (SELECT id FROM model WHERE serving))"
    )
    revision = _revision(db)
    _come_into_their_own(db, "?", [(1,)], revision)
    _settle(db, revision)
    _wait(db)


def is_target(db: apsw.Connection, identity: str | None) -> bool:
    return bool(db.execute("SELECT (SELECT identity FROM model WHERE target) IS ?", (identity,)).get)


def _serve_if_complete(db: apsw.Connection) -> None:
    """Hands over to the target once nothing waits for it."""
    if db.execute(
        "SELECT NOT EXISTS (SELECT 1 FROM pending)"
        " AND EXISTS (SELECT 1 FROM model WHERE target AND NOT serving)"
    ).get:
        db.execute("UPDATE model SET serving = target")
        db.execute("DELETE FROM stand_in")
        _settle(db, _revision(db))
        _note_model(db)


def _revision(db: apsw.Connection) -> int:
    return int(db.execute("SELECT value FROM meta_kv WHERE key = 'revision'").get or 0)


def _settle(db: apsw.Connection, revision: int) -> None:
    """Makes `unused_since` and `code` right after models began or ceased to serve."""
    used = f"model_id IN ({_ACTIVE}) AND {_WANTED.format('vector.hash')}"
    db.execute(
        "UPDATE vector SET unused_since = ? WHERE unused_since IS NULL AND NOT (" + used + ")", (revision,)
    )
    db.execute("UPDATE vector SET unused_since = NULL WHERE unused_since IS NOT NULL AND " + used)
    codes.refill(db)


def _note_model(db: apsw.Connection) -> None:
    name, dimensions = db.execute("SELECT name, dimensions FROM model WHERE serving").fetchone() or (
        "none",
        0,
    )
    following = db.execute("SELECT name FROM model WHERE target AND NOT serving").get
    identity = db.execute("SELECT identity FROM model WHERE serving").get
    db.executemany(
        "INSERT OR REPLACE INTO meta_kv(key, value) VALUES(?, ?)",
        [
            ("model", name),
            ("model_identity", identity),
            ("dimensions", dimensions),
            ("model_next", following),
        ],
    )
