"""What keeps the file small: collecting, merging, checkpoints; each step a short transaction of its own."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import cast

import apsw

from ckvd.store.connection import Patience, transaction

WAL_LIMIT = 16 << 20
"""Bytes of WAL above which all of it is brought into the database and cut off."""

CHANGES_KEPT = 10_000
"""Rows of `change` that are left at least, whole revisions of them."""

_ROUNDS = 8
_VECTORS = 5_000  # rows a transaction
_MERGE_PAGES = 500  # of FTS5's work a round
_FEW_ROWS = 1_000  # whose marks are no matter
_VACUUM_PAGES = 2_000  # pages of the database a round
_VACUUM_SHARE = 0.1  # of the file that may be free pages
_CHECKPOINT_WAIT_S = 0.25


def tidy(db: apsw.Connection) -> bool:
    """Collects, merges and gives space back, within bounds, so that edits never wait for it long.

    Whether nothing was left to do.
    """
    with transaction(db):
        db.execute("DELETE FROM header WHERE NOT EXISTS (SELECT 1 FROM chunk WHERE header_id = header.id)")
        _trim_changes(db)
    for _ in range(_ROUNDS):
        more = [step(db) for step in (_collect_vectors, _merge, _vacuum)]
        if not any(more):
            return True
    return False


def shrink_wal(db: apsw.Connection, path: str, patience: Patience) -> str | None:
    """Cuts the WAL off where it is above WAL_LIMIT; a sentence where a reader stands in the way."""
    if wal_bytes(path) <= WAL_LIMIT or checkpoint(db, patience):
        return None
    return (
        f"a reader holds a transaction open, so that {path}-wal has grown to {wal_bytes(path) >> 20} MiB;"
        " it shrinks once that reader ends its transaction"
    )


def wal_bytes(path: str) -> int:
    try:
        return os.stat(path + "-wal").st_size
    except FileNotFoundError:
        return 0


def checkpoint(db: apsw.Connection, patience: Patience) -> bool:
    """Brings all of the WAL into the database and truncates it; False where a reader stands in the way.

    apsw.InterruptError where it took longer than `patience` has.
    """
    with patience.at_most(_CHECKPOINT_WAIT_S), _interrupted_after(db, patience.left_s):
        try:
            db.execute("SELECT 1").fetchall()  # an interrupt that came between two statements is over
            db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except (apsw.BusyError, apsw.LockedError):
            return False
    return True


@contextlib.contextmanager
def _interrupted_after(db: apsw.Connection, seconds: float) -> Iterator[None]:
    """A checkpoint calls no handler: only another thread can end it."""
    if seconds == float("inf"):
        yield
        return
    timer = threading.Timer(seconds, db.interrupt)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def _trim_changes(db: apsw.Connection) -> None:
    """Forgets the oldest revisions as long as CHANGES_KEPT rows are left."""
    oldest = db.execute(
        "SELECT revision FROM change ORDER BY revision DESC, ordinal DESC LIMIT 1 OFFSET ?",
        (CHANGES_KEPT - 1,),
    ).get
    if oldest is None:
        return
    db.execute("DELETE FROM change WHERE revision < ?", (oldest,))
    if db.changes():
        db.execute("UPDATE meta_kv SET value = ? WHERE key = 'changes_since'", (oldest,))


def _collect_vectors(db: apsw.Connection) -> bool:
    """Keeps unused vectors within half the size of those in use, oldest out first; whether more are over."""

    def size(rows: str) -> tuple[int, int]:
        """Bytes and number of vectors."""
        sizes = (
            "SELECT coalesce(sum(n * (dimensions + dimensions / 8)), 0), coalesce(sum(n), 0) FROM model JOIN"
            f" (SELECT model_id, count(*) AS n FROM {rows} GROUP BY model_id) ON model_id = model.id"
        )
        ((size, count),) = db.execute(sizes).fetchall()
        return cast(int, size), cast(int, count)

    unused, count = size("vector WHERE unused_since IS NOT NULL")
    allowed = (size("vector")[0] - unused) // 2
    if unused <= allowed:
        return False
    over = -(-(unused - allowed) * count // unused)
    with transaction(db):
        db.execute(
            "DELETE FROM vector WHERE id IN (SELECT id FROM vector WHERE unused_since IS NOT NULL"
            " ORDER BY unused_since, id LIMIT ?)",
            (min(over, _VECTORS),),
        )
        db.execute(
            "DELETE FROM model WHERE NOT (serving OR target)"
            " AND NOT EXISTS (SELECT 1 FROM vector WHERE model_id = model.id)"
        )
    return over > _VECTORS


def _merge(db: apsw.Connection) -> bool:
    """A step of FTS5's merging; whether it still found work.

    A deleted row stays in the words as a mark until all segments are merged, and a search reads each segment:
    in one of 63,000 chunks a merge takes half a second, and saves a tenth of each search by words. So FTS5 is
    asked to once as many rows came or went (`words_gone`) as half of those that are there.
    """
    before = db.total_changes()
    with transaction(db):
        due = bool(
            db.execute(
                "SELECT (SELECT value FROM meta_kv WHERE key = 'words_gone')"
                " > max(?, (SELECT count(*) FROM chunk) / 2)",
                (_FEW_ROWS,),
            ).get
        )
        if due:
            db.execute("UPDATE meta_kv SET value = 0 WHERE key = 'words_gone'")
            db.execute("INSERT INTO names_fts(names_fts) VALUES('optimize')")
        # Negative: begins to merge everything, which later steps go on with.
        pages = -_MERGE_PAGES if due else _MERGE_PAGES
        db.execute("INSERT INTO chunks_fts(chunks_fts, rank) VALUES('merge', ?)", (pages,))
    return due or db.total_changes() - before > 1


def _vacuum(db: apsw.Connection) -> bool:
    """Gives free pages back where they are many; whether there are still."""
    free, pages = db.pragma("freelist_count"), db.pragma("page_count")
    if free <= pages * _VACUUM_SHARE:
        return False
    for _ in db.execute(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})"):
        pass
    return bool(free - _VACUUM_PAGES > pages * _VACUUM_SHARE)
