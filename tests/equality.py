"""Whether two indexes hold the same: every view, row for row, ids and revisions aside."""

from __future__ import annotations

import contextlib
from collections import Counter
from pathlib import Path

import apsw

QUERIES = {
    "files": "SELECT path, path_bytes, language, strategy, parse_status, reason, error_line, error_bytes,"
    " size, lines, blob_oid FROM files",
    "symbols": "SELECT path, language, symbol, name, kind, lsp_kind, parents, signature, doc, start_byte,"
    " end_byte, start_line, end_line, name_line, name_column, chunk_id FROM symbols",
    "chunks": "SELECT chunk_id, path, language, unit, kind, grain, symbol, parents, start_byte, end_byte,"
    " start_line, end_line, part, parts, header, header_bytes, body, rendering, tokens, header_trimmed,"
    " truncated, embedded, content_hash FROM chunks",
    "failures": "SELECT path, parse_status, reason, detail, damage FROM failures",
    "words": "SELECT chunk_id FROM chunks JOIN chunks_fts ON chunks_fts.rowid = chunks.id",
    "vectors": "SELECT chunk_id, model, hex(int8), scale, hex(bits) FROM vectors JOIN chunks USING (id)",
}


def differences(kept: Path, fresh: Path, most: int = 3) -> list[str]:
    """Up to `most` rows of each view that one of the two lacks."""
    found = []
    with _open(kept) as a, _open(fresh) as b:
        for name, sql in QUERIES.items():
            left, right = Counter(a.execute(sql)), Counter(b.execute(sql))
            found += [f"{name}, only kept up to date: {row!r:.400}" for row in list(left - right)[:most]]
            found += [f"{name}, only fresh: {row!r:.400}" for row in list(right - left)[:most]]
    return found


def faults(db: Path) -> list[str]:
    """What SQLite's and FTS5's own checks find wrong; the latter on a copy, since it writes."""
    with _open(db) as source, contextlib.closing(apsw.Connection(":memory:")) as copy:
        result = source.pragma("integrity_check")
        found = [] if result == "ok" else [f"integrity_check: {result}"]
        with copy.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(1000)
        for table in ("chunks_fts", "names_fts"):
            try:
                copy.execute(f"INSERT INTO {table}({table}, rank) VALUES('integrity-check', 1)")
            except apsw.Error as error:
                found.append(f"{table}: {error}")
    return found


def _open(db: Path) -> contextlib.closing[apsw.Connection]:
    # Not the standard library's SQLite: two of them in one process drop each other's locks, and some tests
    # have a writer in this one.
    connection = apsw.Connection(
        f"{db.as_uri()}?mode=ro", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )
    connection.set_busy_timeout(10_000)
    return contextlib.closing(connection)
