"""What writes: the index brought up to date once, the daemon, and the barrier that asks it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

from ckvd.control import Lock, Message, ask, holder
from ckvd.errors import CkvdError, DamagedStoreError, LockedError, NoDaemonError, TimeoutExpired
from ckvd.indexer import Indexer, Stopped
from ckvd.notify import Notifier
from ckvd.place import Place
from ckvd.report import progress
from ckvd.settings import Settings
from ckvd.signals import Signals
from ckvd.store import files
from ckvd.store.writer import open_writer
from ckvd.workers import Pool
from ckvd.worktree.git import Following

WORKERS = max(1, min(4, os.cpu_count() or 1))
JOIN_S = 3600.0
"""How long `index` waits for the daemon that it asked."""


@contextlib.contextmanager
def indexing(where: Place, *, verify: bool = False) -> Iterator[Indexer]:
    """The one writer of the place's database, with its workers, under its lock.

    `verify` checks the whole database first, for after a DamagedStoreError. Raises LockedError where
    another process has it, StoreError, ConfigError or ModelError.
    """
    settings = Settings.load(where.tree.path)
    files.prepare(where.db)
    lock = Lock(where.places)
    with contextlib.ExitStack() as stack:
        stack.callback(lock.release)
        writer = open_writer(where.db, verify=verify)
        stack.callback(writer.close)
        pool = stack.enter_context(Pool(WORKERS, settings.model))
        yield Indexer(
            git=Following(where.tree),
            writer=writer,
            pool=pool,
            settings=settings,
            own_files=where.own_files,
        )


def index_once(where: Place) -> str:
    """Brings the index up to date, vectors included; one line that says what there is now.

    Beside a daemon on the same database it asks that one instead. Ctrl-C and SIGTERM end it between two
    files; the next run goes on from there.
    """
    try:
        with Signals() as signals, indexing(where) as ix, progress.shown(ix):
            ix.should_stop = lambda: signals.received
            ix.bring_up_to_date(None)
            ix.note_sync()
            while ix.vectors.make(0.5):
                if ix.should_stop():
                    raise Stopped
            ix.metrics.flush(at_once=True)
            ix.writer.maintain()
            return f"{where.db}: revision {ix.writer.revision}"
    except LockedError:
        revision = sync(where, vectors=True, timeout=JOIN_S)
        return f"{where.db}: revision {revision}, by the daemon that keeps it"
    except Stopped:
        raise CkvdError("stopped before the end; what is done is kept, run it again to go on") from None


def run_daemon(where: Place) -> None:
    """Keeps the index true until SIGTERM or SIGINT. Raises as `indexing` does at the start.

    A database that is deleted, replaced or damaged under a running daemon is opened or made anew.
    """
    from ckvd.daemon import Daemon, Ended

    notifier = Notifier.from_environ()
    verify = False
    with Signals() as signals:
        while True:
            with indexing(where, verify=verify) as ix:
                try:
                    ended = Daemon(ix, where.places, notifier, signals).run()
                except DamagedStoreError:
                    ended = Ended.STORE_DAMAGED
            if ended is Ended.STOPPED or signals.received:
                return
            verify = ended is Ended.STORE_DAMAGED


def sync(where: Place, *, vectors: bool, timeout: float) -> int:
    """The barrier: the revision at which all that was written before is in the file.

    Raises NoDaemonError where none runs, TimeoutExpired after `timeout` seconds.
    """
    until = time.monotonic() + timeout
    message: Message = {"op": "sync", "vectors": vectors}
    while True:
        left = until - time.monotonic()
        try:
            reply = ask(where.places, message, max(0.01, left))
        except TimeoutError:
            raise TimeoutExpired(
                f"the index was not up to date within {timeout:g} s; give more --timeout, or see ckvd status"
            ) from None
        if reply is not None:
            return int(reply["revision"])
        if holder(where.places) is None:
            raise NoDaemonError(f"no daemon keeps {where.db}; start one with: ckvd run {where.root}")
        if left <= 0.05:
            raise TimeoutExpired(f"the daemon was not ready within {timeout:g} s; try a longer --timeout")
        time.sleep(0.05)  # it holds the lock and has no socket yet: it is starting, or it is `ckvd index`
