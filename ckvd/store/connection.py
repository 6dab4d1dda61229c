"""Connections to the file: how they open, how a transaction runs, what SQLite's errors mean to a person."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import time
from collections.abc import Callable, Iterator

import apsw

from ckvd.errors import DamagedStoreError, PassingStoreError, Stopped, StoreError
from ckvd.place import command
from ckvd.store import shm

APPLICATION_ID = 0x636B7664
"""`ckvd` in ASCII."""

CONTRACT_VERSION = 1
"""`user_version`: of the views, which other programs rely on."""

MetaValue = str | int | float | None
"""What `meta` holds."""

BUSY_MS = 10_000
"""How long a statement waits for another process before it is given up."""

_PLAIN = frozenset(b"/-_.~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
"""Bytes that a URI may have as they are."""

_WAL_KEEP = 16 << 20  # bytes that a WAL keeps on disk once all of it is in the database

# No statement of ckvd's breaks a constraint on rows of its own making.
_DAMAGE = (apsw.CorruptError, apsw.NotADBError, apsw.ConstraintError)

_TAMPERED = re.compile("no such (table|column)|has no column")

_STEP_S = 0.1  # the longest pause between two tries

_STEPS = 20_000
"""Of SQLite's virtual machine between two looks at whether to stop: some milliseconds of work."""


def uri(path: str, mode: str) -> str:
    """`path` as SQLite takes it whatever its bytes are; `mode` is `ro`, `rw` or `rwc`."""
    # Not by urllib, which a search would import for this alone.
    plain = "".join(chr(b) if b in _PLAIN else f"%{b:02X}" for b in os.fsencode(path))
    return f"file:{plain}?mode={mode}"


class Patience:
    """How long a writer goes on: with a statement until `give_up` says so, which then raises Stopped; waiting
    for other programs up to BUSY_MS as well."""

    def __init__(self, give_up: Callable[[], bool] = lambda: False) -> None:
        self.give_up = give_up
        self._until = float("inf")
        self._most_s = BUSY_MS / 1000
        self._began = self._last = float("-inf")

    def __call__(self, tries: int) -> bool:
        """SQLite's busy handler: whether to try again. Python's signals are heard in here."""
        self._last = time.monotonic()
        if tries == 0:
            self._began = self._last
        if self.ends() or self._last >= self._began + self._most_s:
            return False
        time.sleep(min(_STEP_S, 0.001 * 2 ** min(tries, 7)))
        return True

    def ends(self) -> bool:
        """SQLite's progress handler: whether to break off. Python's signals are heard in here."""
        return self.give_up() or time.monotonic() > self._until

    def check(self) -> None:
        """Raises Stopped where it is time to; for what takes long between two statements."""
        if self.ends():
            raise Stopped

    def end_within(self, seconds: float) -> None:
        """What is left to be done has that long, though it was time to end already."""
        self.give_up = lambda: False
        self._until = time.monotonic() + seconds

    @property
    def left_s(self) -> float:
        """How long what is under way may still take."""
        return 0.0 if self.give_up() else max(0.0, self._until - time.monotonic())

    @property
    def held_up_s(self) -> float:
        """How long the statement under way has waited."""
        now = time.monotonic()
        return now - self._began if now - self._last < 2 * _STEP_S else 0.0

    @contextlib.contextmanager
    def at_most(self, seconds: float) -> Iterator[None]:
        before, self._most_s = self._most_s, seconds
        try:
            yield
        finally:
            self._most_s = before


def connect(path: str, patience: Patience | None = None) -> apsw.Connection:
    """The writer's connection to a file that exists. apsw's errors pass."""
    patience = patience or Patience()
    db = apsw.Connection(uri(path, "rw"), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI)
    try:
        db.set_busy_handler(patience)
        db.set_progress_handler(patience.ends, _STEPS)
        # Whatever a full-text index made of a statement of its own that was broken off is not kept.
        db.set_commit_hook(patience.ends)
        # The tree may bring a database of its own making: nothing in its schema is to be trusted.
        db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    except BaseException:  # whatever ended it passes on, and leaves nothing open
        db.close()
        raise
    return db


def configure(db: apsw.Connection) -> None:
    """What a writer sets once it is sure that the file is its own."""
    if db.pragma("journal_mode") != "wal":
        # Until it is, a kill would leave a journal on disk, which keeps all readers out.
        db.pragma("journal_mode", "memory")
    # Both bear on an empty database alone and must come before its first page.
    db.pragma("page_size", 4096)
    db.pragma("auto_vacuum", "INCREMENTAL")
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", "NORMAL")
    db.pragma("foreign_keys", 1)
    db.pragma("journal_size_limit", _WAL_KEEP)
    db.pragma("temp_store", "MEMORY")
    # A user who may not write the folder can read after a clean close only if the WAL's files stayed.
    # What the end of the writer may take is the writer's to bound: see `Writer.close`.
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    keep = ctypes.c_int(1)
    db.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, ctypes.addressof(keep))


def connect_reader(path: str) -> apsw.Connection:
    """A connection that cannot write. apsw's errors pass."""
    # Such a reader reads the log itself where no writer has left it an index.
    more = "&readonly_shm=1" if shm.at_risk(path) else ""
    db = apsw.Connection(uri(path, "ro") + more, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    try:
        db.set_busy_timeout(BUSY_MS)
        db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    except BaseException:  # whatever ended it passes on, and leaves nothing open
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
    except BaseException:  # whatever ended the block passes on, and nothing of it stays
        # A full disk or an I/O error may have rolled it back already.
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def plain_errors(path: str, patience: Patience | None = None) -> Iterator[None]:
    """SQLite's errors as StoreError: DamagedStoreError for a file that is malformed or has other tables,
    PassingStoreError for what may pass. Stopped, whatever SQLite says, once `patience` has it that it is time
    to end: what a full-text index makes of a statement of its own that was broken off is no finding."""
    try:
        with _plain_errors(path):
            yield
    except (StoreError, apsw.Error) as e:
        if isinstance(e, apsw.InterruptError) or (patience is not None and patience.ends()):
            raise Stopped from e
        raise


@contextlib.contextmanager
def _plain_errors(path: str) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as e:
        raise damaged(path, e) from e
    except apsw.SQLError as e:
        if not _TAMPERED.search(str(e)):
            raise
        raise damaged(path, e) from e
    except apsw.FullError as e:
        raise PassingStoreError(f"the disk that holds {path} is full; free some space and try again") from e
    except (apsw.BusyError, apsw.LockedError) as e:
        raise PassingStoreError(
            f"another program has kept {path} locked for {BUSY_MS // 1000} s; end it and try again"
        ) from e
    except (apsw.ReadOnlyError, apsw.PermissionsError) as e:
        raise StoreError(f"the database {path} cannot be written; check its permissions or pass --db") from e
    except apsw.CantOpenError as e:
        raise StoreError(f"the database {path} cannot be opened; check its folder and permissions") from e
    except (apsw.IOError, apsw.NoLFSError, apsw.ProtocolError) as e:
        why = f"reading or writing {path} failed ({e}); check the disk and try again"
        raise PassingStoreError(why) from e


def damaged(path: str, why: object) -> DamagedStoreError:
    """The error for a database in which SQLite finds `why`."""
    return DamagedStoreError(
        f"the database {path} is damaged ({why}); mend it, or build it anew, with: {command('index', path)}"
    )
