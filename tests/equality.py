"""Whether two indexes hold the same: every view, row for row, ids and revisions aside."""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from pathlib import Path

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
            left, right = Counter(a.execute(sql).fetchall()), Counter(b.execute(sql).fetchall())
            found += [f"{name}, only kept up to date: {row!r:.400}" for row in list(left - right)[:most]]
            found += [f"{name}, only fresh: {row!r:.400}" for row in list(right - left)[:most]]
    return found


def faults(db: Path) -> list[str]:
    """What SQLite's and FTS5's own checks find wrong; the latter on a copy, since it writes."""
    with _open(db) as source, contextlib.closing(sqlite3.connect(":memory:")) as copy:
        result = source.execute("PRAGMA integrity_check").fetchone()[0]
        found = [] if result == "ok" else [f"integrity_check: {result}"]
        source.backup(copy)
        for table in ("chunks_fts", "names_fts"):
            try:
                copy.execute(f"INSERT INTO {table}({table}, rank) VALUES('integrity-check', 1)")
            except sqlite3.Error as error:
                found.append(f"{table}: {error}")
    return found


def _open(db: Path) -> contextlib.closing[sqlite3.Connection]:
    return contextlib.closing(sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True, timeout=10))
