"""Reads a `Snapshot` from a database through a connection that cannot write."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterator

import apsw

from ckvd.errors import StoreError
from ckvd.report.values import Failure, Snapshot, Tally, tallies
from ckvd.store import owner
from ckvd.store.connection import connect_reader, plain_errors
from ckvd.store.reader import Reader

HOURS = 24
"""Rows of metrics that a snapshot has: enough to tell the pace."""

_FOLDERS = """
SELECT rtrim(path, replace(path, '/', '')), parse_status, count(*) FROM file GROUP BY 1, 2
"""  # rtrim: all up to the last `/`
_FAILURES = """
SELECT path, path_bytes, language, strategy, parse_status, reason, detail, error_line, error_bytes,
    size, blob_oid, (SELECT count(*) FROM symbol WHERE file_id = file.id), damage
FROM file
WHERE (path, parse_status, ifnull(reason, '')) IN (
    SELECT path, parse_status, ifnull(reason, '') FROM failures
)
ORDER BY path
"""


@contextlib.contextmanager
def opened(path: str) -> Iterator[Reader | None]:
    """One read transaction on the database at `path`; None where there is none, or none with a schema yet.

    Raises NewerStoreError, DamagedStoreError or another StoreError, each with its remedy.
    """
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        yield None
        return
    except OSError as e:
        raise StoreError(f"the database {path} cannot be read ({e.strerror}); check its permissions") from e
    if not stat.S_ISREG(mode):  # opening a FIFO would wait for its writer
        raise StoreError(f"{path} is not a regular file; remove it, or pass another with --db")
    with plain_errors(path), contextlib.closing(connect_reader(path)) as db:
        db.execute("BEGIN")
        owner.check_owner(db, path)
        try:
            yield _reader(path, db)
        except apsw.SQLError as e:
            raise StoreError(f"{path} is not as ckvd lays it out ({e}); 'ckvd index' mends it") from e


def _reader(path: str, db: apsw.Connection) -> Reader | None:
    if not db.execute("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'meta_kv')").get:
        return None  # just made: its schema is on the way
    version = db.execute("SELECT value FROM meta_kv WHERE key = 'schema_version'").get
    if version != owner.SCHEMA_VERSION:
        raise StoreError(f"{path} was written by an older ckvd; 'ckvd index' brings it up to date")
    return Reader(path, db)


def read(path: str) -> Snapshot | None:
    """All that status tells of the database itself, as of one moment; None where there is no index yet.

    Raises as `opened` does.
    """
    with opened(path) as reader:
        if reader is None:
            return None
        serving = reader.query("SELECT name, dimensions FROM model WHERE serving")
        model, dimensions = serving[0] if serving else (None, 0)
        db_bytes, wal_bytes, collectable_bytes = reader.sizes()
        return Snapshot(
            meta=reader.meta(),
            outcomes=tuple(reader.outcomes()),
            directories=directories(reader),
            failures=tuple(failures(reader)),
            chunks=reader.chunk_totals(),
            pending_vectors=reader.pending_vectors(),
            model=model,
            dimensions=dimensions,
            db_bytes=db_bytes,
            wal_bytes=wal_bytes,
            collectable_bytes=collectable_bytes,
            metrics=tuple(reader.metrics(HOURS)),
        )


def directories(reader: Reader) -> dict[str, Tally]:
    """Parse outcomes by the folder that holds the file; `.` is the root."""
    return {(name[:-1] or "."): tally for name, tally in tallies(reader.query(_FOLDERS)).items()}


def failures(reader: Reader) -> Iterator[Failure]:
    """The rows of `failures`, by path."""
    for row in reader.query(_FAILURES):
        ranges = tuple((start, end) for start, end in json.loads(row[-1]))
        yield Failure(*(*row[:-1], ranges))
