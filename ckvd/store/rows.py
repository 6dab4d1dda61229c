"""Values to rows and back. Column orders here are those of the statements beside them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast

import apsw

from ckvd import words
from ckvd.model import Chunk, FileResult, Segment, Stamp, SymbolRow, Verdict, display_path
from ckvd.plan import ChunkMeta, StoredChunk, StoredFile, StoredSymbol

Row = tuple[Any, ...]


def to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@lru_cache(maxsize=4096)
def _parents(parents: tuple[str, ...]) -> str:
    return to_json(parents)


def names(symbol: str | None) -> str:
    """What the `names` column of the words holds: the qualified name, and its parts where it is compound."""
    return f"{symbol} {words.words(symbol)}".rstrip() if symbol else ""


# -- files ----------------------------------------------------------------------------------------

_FILE_COLUMNS = (
    "language, strategy, parse_status, reason, detail, error_line, error_bytes, damage, size, lines, blob_oid"
)
INSERT_FILE = (
    f"INSERT INTO file({_FILE_COLUMNS}, revision, path, path_bytes)"
    f" VALUES({', '.join('?' * 14)}) RETURNING id"
)
UPDATE_FILE = f"UPDATE file SET ({_FILE_COLUMNS}, revision) = ({', '.join('?' * 12)}) WHERE id = ?"


def file_row(f: FileResult) -> Row:
    v = f.verdict
    return (
        *(f.language, v.strategy, v.parse_status, v.reason, v.detail, v.error_line, v.error_bytes),
        *(to_json(v.damage), f.size, f.lines, f.blob_oid),
    )


def path_row(path: bytes) -> Row:
    return display_path(path), path


# -- stamps ---------------------------------------------------------------------------------------

UPDATE_STAMP = (
    "UPDATE file SET (stamp_size, mtime_ns, ctime_ns, inode, read_ns, cut_key) = (?, ?, ?, ?, ?, ?)"
    " WHERE path_bytes = ?"
)


def _signed(value: int) -> int:
    """Into the 64 bits of SQLite: an inode, or a time after 2262, may need the topmost."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def stamp_row(stamp: Stamp, read_ns: int, cut_key: str) -> Row:
    numbers = (stamp.size, stamp.mtime_ns, stamp.ctime_ns, stamp.inode, read_ns)
    return *map(_signed, numbers), cut_key


def stamp_of(size: int, mtime_ns: int, ctime_ns: int, inode: int) -> Stamp:
    return Stamp(size, mtime_ns, ctime_ns, inode % (1 << 64))


# -- headers --------------------------------------------------------------------------------------

INSERT_HEADER = "INSERT OR IGNORE INTO header(hash, text, bytes, segments) VALUES(?, ?, ?, ?)"


def header_row(key: bytes, header: Sequence[Segment]) -> Row:
    text = "\n".join(s.text for s in header)
    return key, text, len(text.encode()), to_json([(s.kind, len(s.text)) for s in header])


def header_of(text: str | None, segments: str | None) -> tuple[Segment, ...]:
    if text is None or segments is None:
        return ()
    out, at = [], 0
    for kind, length in json.loads(segments):
        out.append(Segment(kind, text[at : at + length]))
        at += length + 1
    return tuple(out)


# -- chunks ---------------------------------------------------------------------------------------

_CHUNK_COLUMNS = (
    "chunk_id, unit, kind, grain, symbol, parents, start_byte, end_byte, start_line, end_line, part, parts,"
    " header_id, rendering, tokens, header_trimmed, truncated, content_hash, own_hash, embed_hash"
)
INSERT_CHUNK = f"INSERT INTO chunk({_CHUNK_COLUMNS}, revision, file_id, id) VALUES({', '.join('?' * 23)})"
UPDATE_CHUNK = f"UPDATE chunk SET ({_CHUNK_COLUMNS}, revision) = ({', '.join('?' * 21)}) WHERE id = ?"
INSERT_BODY = "INSERT INTO body(body, names, words, id) VALUES(?, ?, ?, ?)"
UPDATE_BODY = "UPDATE body SET (body, names, words) = (?, ?, ?) WHERE id = ?"
INSERT_WORDS = "INSERT INTO chunks_fts(rowid, names, words, header, body, path) VALUES(?, ?, ?, ?, ?, ?)"
DELETE_WORDS = "DELETE FROM chunks_fts WHERE rowid = ?"

_LOAD_CHUNKS = (
    f"SELECT c.id, {_CHUNK_COLUMNS.replace('header_id', 'h.hash')}"
    " FROM chunk AS c LEFT JOIN header AS h ON h.id = c.header_id WHERE c.file_id = ?"
    " ORDER BY start_byte, c.id"
)


def chunk_row(c: Chunk, header_id: int | None) -> Row:
    return (
        *(c.chunk_id, c.unit, c.kind, c.grain, c.symbol, _parents(c.parents), c.start, c.end),
        *(c.start_line, c.end_line, c.part, c.parts, header_id, c.rendering, c.tokens),
        *(c.header_trimmed, c.truncated, c.content_hash, c.own_hash, c.embed_hash),
    )


def _stored_chunk(row: Row) -> StoredChunk:
    id_, *values = row
    meta = ChunkMeta(*values)
    return StoredChunk(
        id_,
        meta._replace(
            parents=tuple(json.loads(cast(str, meta.parents))),
            header_trimmed=bool(meta.header_trimmed),
            truncated=bool(meta.truncated),
        ),
    )


# -- symbols --------------------------------------------------------------------------------------

_SYMBOL_COLUMNS = (
    "symbol, name, kind, parents, signature, doc, start_byte, end_byte, start_line, end_line, name_line,"
    " name_column, chunk_id"
)
INSERT_SYMBOL = f"INSERT INTO symbol({_SYMBOL_COLUMNS}, file_id) VALUES({', '.join('?' * 14)})"
_LOAD_SYMBOLS = f"SELECT id, {_SYMBOL_COLUMNS} FROM symbol WHERE file_id = ? ORDER BY start_byte, id"


def symbol_row(s: SymbolRow) -> Row:
    return (
        *(s.symbol, s.name, s.kind, _parents(s.parents), s.signature, s.doc, s.start, s.end),
        *(s.start_line, s.end_line, s.name_line, s.name_column, s.chunk_id),
    )


def _stored_symbol(row: Row) -> StoredSymbol:
    id_, symbol, name, kind, parents, *rest = row
    return StoredSymbol(id_, SymbolRow(symbol, name, kind, tuple(json.loads(parents)), *rest))


# -- a whole file ---------------------------------------------------------------------------------

_LOAD_FILE = f"SELECT id, {_FILE_COLUMNS} FROM file WHERE path_bytes = ?"


def load(db: apsw.Connection, path: bytes) -> StoredFile | None:
    """All rows of a file without its texts, None where the store has no such path."""
    row = db.execute(_LOAD_FILE, (path,)).fetchone()
    if row is None:
        return None
    id_, language, strategy, status, reason, detail, line, error_bytes, damage, size, lines, oid = row
    ranges = tuple((a, b) for a, b in json.loads(damage))
    verdict = Verdict(strategy, status, reason, detail, line, error_bytes, ranges)
    return StoredFile(
        *(id_, path, language, verdict, size, lines, oid),
        chunks=tuple(_stored_chunk(r) for r in db.execute(_LOAD_CHUNKS, (id_,))),
        symbols=tuple(_stored_symbol(r) for r in db.execute(_LOAD_SYMBOLS, (id_,))),
    )
