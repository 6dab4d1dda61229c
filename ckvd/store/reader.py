"""Reading the file: a connection that cannot write, and as values the rows that commands need."""

from __future__ import annotations

import contextlib
import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import apsw

from ckvd.errors import NoIndexError, StoreError, misplaced
from ckvd.place import command
from ckvd.store import owner
from ckvd.store.connection import MetaValue, connect_reader, plain_errors, transaction
from ckvd.store.metrics import HOURS_KEPT, Metric, quantile

_Row = TypeVar("_Row", bound=NamedTuple)


class FileRow(NamedTuple):
    """A row of `files`; `damage` is JSON."""

    path: str
    path_bytes: bytes
    language: str | None
    strategy: str
    parse_status: str
    reason: str | None
    error_line: int | None
    error_bytes: int
    size: int
    lines: int
    blob_oid: str | None
    revision: int
    detail: str | None
    damage: str


class SymbolInfo(NamedTuple):
    """A row of `symbols`; `parents` is JSON."""

    path: str
    language: str | None
    symbol: str
    name: str
    kind: str
    lsp_kind: int
    parents: str
    signature: str
    doc: str
    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    name_line: int
    name_column: int
    chunk_id: str


class ChunkRow(NamedTuple):
    """A row of `chunks`; `parents` is JSON."""

    id: int
    chunk_id: str
    path: str
    language: str | None
    unit: str
    kind: str
    grain: str
    symbol: str | None
    parents: str
    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    part: int
    parts: int
    header: str
    header_bytes: int
    body: str
    rendering: str
    tokens: int
    header_trimmed: int
    truncated: int
    embedded: int
    content_hash: str
    revision: int


class Outcome(NamedTuple):
    """How many files of a language came out alike."""

    language: str | None
    strategy: str
    parse_status: str
    reason: str | None
    files: int


class ChunkTotals(NamedTuple):
    """`tokens` counts the chunks by their number of tokens."""

    by_unit: Mapping[str, int]
    split_symbols: int
    truncated: int
    tokens: Counter[int]

    @property
    def total(self) -> int:
        return sum(self.by_unit.values())

    def over(self, limit: int) -> int:
        """Chunks of more than `limit` tokens."""
        return sum(n for tokens, n in self.tokens.items() if tokens > limit)

    def quantile(self, share: float) -> int:
        """The least number of tokens that `share` of the chunks do not exceed (nearest rank); 0 of none."""
        return quantile(self.tokens, share)


def _select(kind: type[Any], view: str) -> str:
    return f"SELECT {', '.join(kind._fields)} FROM {view}"


def open_reader(path: str, cache_kib: int = 2048) -> Reader:
    """Opens the database at `path` for reading; `cache_kib` of it at most stay in memory between queries.

    Every command and tool that reads comes by here, so that each says the same. Raises NoIndexError where
    there is none yet, NewerStoreError where a later version wrote it, DamagedStoreError where SQLite finds it
    malformed, another StoreError where it is not ckvd's, of an older version, or cannot be read.
    """
    _check_file(path)
    with plain_errors(path), contextlib.ExitStack() as undo:
        db = connect_reader(path)
        undo.callback(db.close)
        owner.check_owner(db, path)
        version = owner.version(db)
        if version is None:  # just made: its schema is on the way, or whoever made it was killed
            raise _none_at(path)
        if version != owner.SCHEMA_VERSION:
            raise StoreError(
                f"{path} was written by an older ckvd; bring it up to date with: {command('index', path)}"
            )
        db.pragma("cache_size", -cache_kib)
        reader = Reader(path, db)
        undo.pop_all()
    return reader


def _check_file(path: str) -> None:
    """What SQLite would say in words of its own, or wait for: a FIFO has no writer."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise _none_at(path) from None
    except OSError as e:
        raise StoreError(f"the database {path} cannot be read ({e.strerror}); check its permissions") from e
    if not stat.S_ISREG(mode):
        raise misplaced(path, mode)


def _none_at(path: str) -> NoIndexError:
    return NoIndexError(f"there is no index at {path}; make one with: {command('index', path)}")


class Reader:
    """Every method raises StoreError where SQLite cannot read. For one thread at a time."""

    def __init__(self, path: str, db: apsw.Connection) -> None:
        """Use `open_reader`."""
        self.path = path
        self._db = db

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Reader]:
        """All that is read inside is of one revision. Keep it short: it holds the writer's WAL up."""
        with plain_errors(self.path), transaction(self._db, "BEGIN"):
            yield self

    def query(self, sql: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[tuple[Any, ...]]:
        """The rows of one SELECT."""
        with plain_errors(self.path):
            return self._db.execute(sql, values).fetchall()

    def each(self, sql: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of one SELECT as they come, for more than need be in memory at once."""
        with plain_errors(self.path):
            yield from self._db.execute(sql, values)

    def _rows(self, kind: type[_Row], view: str, rest: str = "", values: Sequence[object] = ()) -> list[_Row]:
        return [kind(*row) for row in self.query(f"{_select(kind, view)} {rest}", values)]

    # -- meta and totals ----------------------------------------------------------------------------

    def meta(self) -> dict[str, MetaValue]:
        return dict(self.query("SELECT key, value FROM meta"))

    @property
    def revision(self) -> int:
        return int(self.query("SELECT value FROM meta WHERE key = 'revision'")[0][0])

    def outcomes(self) -> list[Outcome]:
        grouped = "language, strategy, parse_status, reason"
        sql = f"SELECT {grouped}, count(*) FROM files GROUP BY {grouped} ORDER BY {grouped}"
        return [Outcome(*row) for row in self.query(sql)]

    def chunk_totals(self) -> ChunkTotals:
        units = dict(self.query("SELECT unit, count(*) FROM chunks GROUP BY unit ORDER BY unit"))
        split, cut = self.query(
            "SELECT count(*) FILTER (WHERE unit = 'symbol' AND parts > 1 AND part = 1),"
            " count(*) FILTER (WHERE truncated) FROM chunks"
        )[0]
        tokens = Counter(dict(self.query("SELECT tokens, count(*) FROM chunks GROUP BY tokens")))
        return ChunkTotals(units, split, cut, tokens)

    def pending_vectors(self) -> int:
        return int(self.query("SELECT count(*) FROM pending")[0][0])

    def metrics(self, hours: int = HOURS_KEPT) -> list[Metric]:
        """The latest hours in which something was done, oldest first."""
        return self._rows(Metric, "metrics", "ORDER BY hour DESC LIMIT ?", (hours,))[::-1]

    def sizes(self) -> tuple[int, int, int]:
        """Bytes: of the database, of its WAL, and of pages in the database that are free."""
        pages = {name: self.query(f"PRAGMA {name}")[0][0] for name in ("page_size", "freelist_count")}
        wal = os.path.getsize(self.path + "-wal") if os.path.exists(self.path + "-wal") else 0
        return os.path.getsize(self.path), wal, pages["page_size"] * pages["freelist_count"]

    # -- files and what is in them ------------------------------------------------------------------

    def files(self) -> list[FileRow]:
        return self._rows(FileRow, "files", "ORDER BY path")

    def file(self, path: str) -> FileRow | None:
        """By the path as the views show it."""
        found = self._rows(FileRow, "files", "WHERE path = ?", (path,))
        return found[0] if found else None

    def failures(self) -> list[FileRow]:
        """The files that did not parse cleanly or could not be read."""
        return self._rows(FileRow, "files", "WHERE path IN (SELECT path FROM failures) ORDER BY path")

    def symbols(self, path: str) -> list[SymbolInfo]:
        return self._rows(SymbolInfo, "symbols", "WHERE path = ? ORDER BY start_byte, end_byte DESC", (path,))

    def chunk(self, chunk_id: str) -> ChunkRow | None:
        found = self._rows(ChunkRow, "chunks", "WHERE chunk_id = ?", (chunk_id,))
        return found[0] if found else None

    def chunks(self, ids: Sequence[int]) -> list[ChunkRow]:
        """Those of `ids` that are there, in their order."""
        marks = ", ".join("?" * len(ids))
        found = {row.id: row for row in self._rows(ChunkRow, "chunks", f"WHERE id IN ({marks})", ids)}
        return [found[i] for i in ids if i in found]

    def chunks_at(self, path: str, line: int) -> list[ChunkRow]:
        """The chunks of a file that hold a line, the smallest first."""
        where = "WHERE path = ? AND start_line <= ? AND end_line >= ? ORDER BY end_byte - start_byte, id"
        return self._rows(ChunkRow, "chunks", where, (path, line, line))

    def file_chunks(self, path: str) -> list[ChunkRow]:
        return self._rows(
            ChunkRow, "chunks", "WHERE path = ? ORDER BY start_byte, end_byte DESC, id", (path,)
        )
