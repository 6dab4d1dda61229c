"""What writes: the index brought up to date once, the daemon, and the barrier that asks it."""

from __future__ import annotations

import contextlib
import os
import queue
import time
from collections.abc import Callable, Iterator

from ckvd.control import Lock, Message, ask, continued, holder, named
from ckvd.errors import (
    CkvdError,
    DamagedStoreError,
    LockedError,
    NoDaemonError,
    PassingStoreError,
    Stopped,
    StoreError,
    TimeoutExpired,
    WorktreeError,
)
from ckvd.indexer import Indexer
from ckvd.notify import Notifier
from ckvd.place import Place
from ckvd.report import progress
from ckvd.settings import Settings
from ckvd.signals import Signals
from ckvd.store import files
from ckvd.store.check import Checker
from ckvd.store.writer import Trust, open_writer
from ckvd.workers import Pool
from ckvd.worktree.git import Following, end_all

WORKERS = max(1, min(4, os.cpu_count() or 1))
JOIN_S = 3600.0
"""How long `index` waits for the daemon that it asked."""

STRANGER_S = 5.0
"""How long it waits for one that neither answers nor is named in the lock."""

_UPKEEP = 10
"""Times that `index` tidies, each of bounded length: enough to merge the words of some 300,000 chunks."""


RETRY_S = 2.0
"""When to try again to open what could not be opened."""

RELAPSE_S = 60.0
"""Damage that comes back so soon after everything was checked is not to be mended: the index is made anew."""


@contextlib.contextmanager
def indexing(
    where: Place, trust: Trust = Trust.FULL, should_stop: Callable[[], bool] = lambda: False
) -> Iterator[Indexer]:
    """The one writer of the place's database, with its workers, under its lock.

    Raises LockedError where another process has it, StoreError, ConfigError or ModelError, Stopped where
    `should_stop` says so.
    """
    settings = Settings.load(where.tree.path)
    files.prepare(where.db)
    lock = Lock(where.places)
    try:
        with _writing(where, settings, trust, should_stop) as ix:
            yield ix
    finally:
        lock.release()


@contextlib.contextmanager
def _writing(
    where: Place, settings: Settings, trust: Trust, should_stop: Callable[[], bool]
) -> Iterator[Indexer]:
    """The same under a lock that the caller holds."""
    with contextlib.ExitStack() as stack:
        git = Following(where.tree)
        writer = open_writer(where.db, trust, should_stop)
        stack.callback(writer.close)
        pool = stack.enter_context(Pool(WORKERS, settings.model))
        yield Indexer(
            git=git,
            writer=writer,
            pool=pool,
            settings=settings,
            own_files=where.own_files,
            should_stop=should_stop,
        )


def index_once(where: Place) -> str:
    """Brings the index up to date, vectors included; one line that says what there is now.

    Beside a daemon on the same database it asks that one instead, and another run it waits for. Ctrl-C and
    SIGTERM end it soon, and the next run goes on from there. A damaged database is mended or built anew.
    """
    while True:
        try:
            with Signals() as signals, signals.telling(end_all):
                for trust in (Trust.FULL, Trust.CHECKED):
                    with contextlib.suppress(DamagedStoreError):
                        return _index(where, signals, trust)
                return _index(where, signals, Trust.NONE)
        except LockedError as locked:
            _await_answer(where, locked)
            with contextlib.suppress(NoDaemonError):  # it has ended meanwhile: it is our turn
                revision = sync(where, vectors=True, timeout=JOIN_S)
                return f"{where.db}: revision {revision}, by the daemon that keeps it"
        except Stopped:
            raise CkvdError("stopped before the end; what is done is kept, run it again to go on") from None


def _await_answer(where: Place, locked: LockedError) -> None:
    """Says on a terminal whom `index` waits for.

    Raises CkvdError where a daemon is there and does not answer, `locked` where nobody known to be ckvd is.
    """
    until = time.monotonic() + STRANGER_S
    try:
        while ask(where.places, {"op": "status"}, STRANGER_S) is None:
            pid = holder(where.places)
            if pid:
                progress.awaited(where, pid)
            if pid != 0:
                return
            if time.monotonic() > until:
                raise locked
            time.sleep(0.05)
    except TimeoutError:
        pid = holder(where.places)
        raise CkvdError(f"{named(pid)} writes {where.db} and does not answer; {continued(pid)}") from None


def _index(where: Place, signals: Signals, trust: Trust) -> str:
    with (
        indexing(where, trust, lambda: signals.received) as ix,
        progress.shown(ix),
        signals.telling(ix.writer.interrupt),
    ):
        found: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        with contextlib.closing(Checker(where.db, found.put)), signals.telling(lambda: found.put(None)):
            ix.bring_up_to_date(None)
            ix.note_sync()
            while ix.vectors.make(0.5):
                ix.metrics.flush()  # from which `status` tells meanwhile how long it will take
                if ix.should_stop():
                    raise Stopped
            if damage := found.get():
                raise DamagedStoreError(damage)
            if ix.should_stop():
                raise Stopped
        ix.metrics.flush(at_once=True)
        for _ in range(_UPKEEP):
            ix.writer.maintain()
        return f"{where.db}: revision {ix.writer.revision}"


def run_daemon(where: Place) -> None:
    """Keeps the index true until SIGTERM or SIGINT. Raises as `indexing` does at the start.

    A database that is deleted, replaced or damaged under a running daemon is opened or made anew; a disk that
    is full, and whatever else may pass, is waited for.
    """
    from ckvd.daemon import Daemon
    from ckvd.front import Front
    from ckvd.guard import Ended
    from ckvd.served import Searches

    settings = Settings.load(where.tree.path)
    trust, checked_at, began = Trust.FULL, float("-inf"), False
    with (
        Signals() as signals,
        signals.telling(end_all),
        Front(where.places, signals, Notifier.from_environ()) as front,
        contextlib.suppress(Stopped),
    ):
        front.search = Searches(where.root, where.db).answer
        while not signals.received:
            try:
                front.hold()
                with _writing(where, settings, trust, lambda: signals.received) as ix:
                    if not began:
                        progress.kept(where)
                    began = True
                    ended = Daemon(ix, front).run()
                    settings = ix.settings
                trust = Trust.CHECKED if ended is Ended.STORE_CHANGED else Trust.FULL
            except DamagedStoreError:
                if trust is Trust.NONE:
                    raise
                now = time.monotonic()
                trust = Trust.NONE if now - checked_at < RELAPSE_S else Trust.CHECKED
                checked_at = now
            except (StoreError, WorktreeError) as e:
                if not (began or isinstance(e, PassingStoreError)):
                    raise
                front.wait(str(e), RETRY_S)


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
            status = where.command("status")
            raise TimeoutExpired(
                f"the index was not up to date within {timeout:g} s; give more --timeout, or see: {status}"
            ) from None
        if reply is not None:
            return int(reply["revision"])
        if holder(where.places) is None:
            raise NoDaemonError(f"no daemon keeps {where.db}; start one with: {where.command('run')}")
        if left <= 0.05:
            raise TimeoutExpired(f"the daemon was not ready within {timeout:g} s; try a longer --timeout")
        time.sleep(0.05)  # it holds the lock and has no socket yet: it is starting, or it is `ckvd index`
