"""What the tests of the store share: passes, vectors, and what a reader sees.

Locks belong to a process, so that a second SQLite library in it would take away those of the first: readers
beside a writer are of apsw here. Other libraries read in processes of their own."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import apsw
from made_files import Seen

from ckvd.model import FileResult, Stamp
from ckvd.plan import plan_file
from ckvd.store.codes import SLOTS
from ckvd.store.connection import connect_reader
from ckvd.store.writer import Vector, Writer

MODEL = "model-a 8d"


def put(writer: Writer, *results: FileResult, gone: Sequence[bytes] = ()) -> int | None:
    """One pass: the rows become those of `results`, and `gone` leave."""
    plans = [plan_file(writer.load(r.path), r) for r in results]
    plans += [plan_file(writer.load(p), None) for p in gone]
    return writer.apply(plans, {r.path: Seen(Stamp(r.size, 1, 2, 3)) for r in results}, None)


def embed(writer: Writer, identity: str = MODEL, most: int = 1 << 30) -> int:
    """Gives up to `most` waiting chunks a vector that follows from their text; how many were stored."""
    items = [
        Vector(h, bytes(b % 128 for b in h[:8]), 0.5, h[:1])
        for h in (p.chunk.embed_hash for p in writer.take_pending(most))
    ]
    return writer.put_vectors(identity, items)


def select(db: Path, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """What a reader without the extension sees."""
    with contextlib.closing(connect_reader(str(db))) as c:
        return c.execute(sql, cast(Any, values)).fetchall()


def faults(db: Path) -> list[str]:
    """SQLite's own check on the live file; FTS5's, which writes, on a copy; and what must hold besides."""
    found = [str(row[0]) for row in select(db, "PRAGMA integrity_check") if row[0] != "ok"]
    found += [str(row) for row in select(db, "PRAGMA foreign_key_check")]
    with contextlib.closing(apsw.Connection(":memory:")) as copy:
        with contextlib.closing(connect_reader(str(db))) as c, copy.backup("main", c, "main") as backup:
            while not backup.done:
                backup.step()
        for fts in ("chunks_fts", "names_fts"):
            try:
                copy.execute(f"INSERT INTO {fts}({fts}, rank) VALUES('integrity-check', 1)")
            except apsw.Error as e:
                found.append(f"{fts}: {e}")
        found += [f"{what}: {n}" for what, sql in _NEVER.items() if (n := copy.execute(sql).get)]
    return found


_NEVER = {
    "chunks without a body": "SELECT count(*) FROM chunk WHERE id NOT IN (SELECT id FROM body)",
    "names no symbol has": "SELECT count(*) FROM name WHERE name NOT IN (SELECT name FROM symbol)",
    "symbols without a name": "SELECT count(*) FROM symbol WHERE name NOT IN (SELECT name FROM name)",
    "vectors in use and not": "SELECT count(*) FROM vector AS v WHERE (unused_since IS NULL) != "
    "(model_id IN (SELECT id FROM model WHERE serving OR target)"
    " AND (v.hash IN (SELECT embed_hash FROM chunk) OR v.hash IN (SELECT hash FROM stand_in)))",
    "vectors that stand in for no reason": "SELECT count(*) FROM stand_in JOIN chunk AS c ON c.id = chunk"
    " JOIN model AS m ON m.serving WHERE NOT EXISTS"
    " (SELECT 1 FROM vector WHERE hash = stand_in.hash AND model_id = m.id)"
    " OR EXISTS (SELECT 1 FROM vector WHERE hash = c.embed_hash AND model_id = m.id)",
    "vectors in use whose code is not in its slot": "SELECT count(*) FROM vector AS v"
    " WHERE unused_since IS NULL AND v.bits IS NOT"
    f" (SELECT substr(bits, v.id % {SLOTS} * length(v.bits) + 1, length(v.bits)) FROM code"
    f" WHERE model_id = v.model_id AND block = v.id / {SLOTS})",
    "slots in use but for a vector": "SELECT count(*) FROM code AS c WHERE hex(c.used) !="
    f" (WITH RECURSIVE byte(n) AS (VALUES(0) UNION ALL SELECT n + 1 FROM byte WHERE n < {SLOTS // 8 - 1})"
    " SELECT group_concat(printf('%02X', (SELECT coalesce(sum(1 << (v.id % 8)), 0) FROM vector AS v"
    f" WHERE v.model_id = c.model_id AND v.id / 8 = c.block * {SLOTS // 8} + n"
    " AND v.unused_since IS NULL)), '') FROM byte)",
    "pending with a vector or none without": "SELECT count(*) FROM chunk AS c"
    " WHERE EXISTS (SELECT 1 FROM model WHERE target) AND (id IN (SELECT chunk FROM pending))"
    " = EXISTS (SELECT 1 FROM vector WHERE hash = c.embed_hash"
    " AND model_id = (SELECT id FROM model WHERE target))",
    "a model that should serve": "SELECT count(*) FROM model WHERE target AND NOT serving"
    " AND NOT EXISTS (SELECT 1 FROM pending)",
}

DUMPS = {
    "files": "SELECT path, path_bytes, language, strategy, parse_status, reason, error_line, error_bytes,"
    " size, lines, blob_oid, detail, damage FROM files",
    "symbols": "SELECT * FROM symbols",
    "chunks": "SELECT chunk_id, path, language, unit, kind, grain, symbol, parents, start_byte, end_byte,"
    " start_line, end_line, part, parts, header, header_bytes, body, rendering, tokens, header_trimmed,"
    " truncated, embedded, content_hash FROM chunks",
    "words": "SELECT chunk_id, names, words FROM chunks JOIN chunks_fts ON chunks_fts.rowid = chunks.id",
    "names": "SELECT name.name FROM names_fts JOIN name ON name.id = names_fts.rowid",
    "failures": "SELECT * FROM failures",
    "vectors": "SELECT chunk_id, model, int8, scale, bits FROM vectors JOIN chunks USING (id)",
}


def dump(db: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of the views, ids and revisions aside, in an order of their own."""
    return {view: sorted(select(db, sql), key=repr) for view, sql in DUMPS.items()}
