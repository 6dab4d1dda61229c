"""Connections to the file: how they open, how a transaction runs, what SQLite's errors mean to a person."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from urllib.parse import quote

import apsw

from ckvd.errors import DamagedStoreError, StoreError

APPLICATION_ID = 0x636B7664
"""`ckvd` in ASCII."""

CONTRACT_VERSION = 1
"""`user_version`: of the views, which other programs rely on."""

MetaValue = str | int | float | None
"""What `meta` holds."""

BUSY_MS = 10_000
"""How long a statement waits for another process before it is given up."""

_WAL_KEEP = 16 << 20  # bytes that a WAL keeps on disk once all of it is in the database

_DAMAGE = (apsw.CorruptError, apsw.NotADBError)


def uri(path: str, mode: str) -> str:
    """`path` as SQLite takes it whatever its bytes are; `mode` is `ro`, `rw` or `rwc`."""
    return f"file:{quote(os.fsencode(path))}?mode={mode}"


def connect(path: str) -> apsw.Connection:
    """The writer's connection to a file that exists. apsw's errors pass."""
    db = apsw.Connection(uri(path, "rw"), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI)
    try:
        db.set_busy_timeout(BUSY_MS)
        # The tree may bring a database of its own making: nothing in its schema is to be trusted.
        db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    except BaseException:
        db.close()
        raise
    return db


def configure(db: apsw.Connection) -> None:
    """What a writer sets once it is sure that the file is its own."""
    # Both bear on an empty database alone and must come before its first page.
    db.pragma("page_size", 4096)
    db.pragma("auto_vacuum", "INCREMENTAL")
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", "NORMAL")
    db.pragma("foreign_keys", 1)
    db.pragma("journal_size_limit", _WAL_KEEP)
    db.pragma("temp_store", "MEMORY")
    # A user who may not write the folder can read after a clean close only if the WAL's files stayed.
    keep = ctypes.c_int(1)
    db.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, ctypes.addressof(keep))


def connect_reader(path: str) -> apsw.Connection:
    """A connection that cannot write. apsw's errors pass."""
    db = apsw.Connection(uri(path, "ro"), flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    try:
        db.set_busy_timeout(BUSY_MS)
        db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    except BaseException:
        db.close()
        raise
    return db


@contextlib.contextmanager
def transaction(db: apsw.Connection, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
    """One transaction: all of the block or, whatever ends it early, nothing."""
    db.execute(begin)
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        # A full disk or an I/O error may have rolled it back already.
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def plain_errors(path: str) -> Iterator[None]:
    """SQLite's errors that are no fault of ckvd as StoreError; a malformed file as DamagedStoreError."""
    try:
        yield
    except _DAMAGE as e:
        raise DamagedStoreError(
            f"the database {path} is damaged ({e}); run ckvd again, and it is mended or built anew"
        ) from e
    except apsw.FullError as e:
        raise StoreError(f"the disk that holds {path} is full; free some space and try again") from e
    except (apsw.BusyError, apsw.LockedError) as e:
        raise StoreError(
            f"another program has kept {path} locked for {BUSY_MS // 1000} s; end it and try again"
        ) from e
    except (apsw.ReadOnlyError, apsw.PermissionsError) as e:
        raise StoreError(f"the database {path} cannot be written; check its permissions or pass --db") from e
    except apsw.CantOpenError as e:
        raise StoreError(f"the database {path} cannot be opened; check its folder and permissions") from e
    except (apsw.IOError, apsw.NoLFSError, apsw.ProtocolError) as e:
        raise StoreError(f"reading or writing {path} failed ({e}); check the disk and try again") from e
