"""Whether a database is whole: SQLite's own checks, rows against each other, texts against their hashes."""

from __future__ import annotations

import threading
from collections.abc import Callable

import apsw

from ckvd.errors import StoreError
from ckvd.model import digest
from ckvd.store import orphans
from ckvd.store.connection import connect_reader, plain_errors

_STEPS = 100_000  # of SQLite's virtual machine between two looks at whether to stop

_TEXTS = (
    "SELECT coalesce((SELECT text FROM header WHERE id = c.header_id), ''), b.body, c.content_hash"
    " FROM chunk AS c LEFT JOIN body AS b ON b.id = c.id"
)


def structure(db: apsw.Connection) -> str | None:
    """What SQLite finds malformed in pages, indexes and words; None if nothing is."""
    found = str(db.execute("PRAGMA integrity_check(1)").get)
    return None if found == "ok" else found


def texts(db: apsw.Connection) -> str | None:
    """The first chunk whose texts are not those that it was made of; SQLite notices no bit in a text."""
    for header, body, content_hash in db.execute(_TEXTS):
        if body is None or digest(header.encode(), body.encode()) != content_hash:
            return "a chunk's text is not the one that was stored"
    return None


class Checker:
    """Checks the database at `path` on a thread and a connection of its own, and then calls `done` with what
    it found, None if all is well. One that is stopped calls nothing."""

    def __init__(self, path: str, done: Callable[[str | None], None]) -> None:
        self._path = path
        self._done = done
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._db: apsw.Connection | None = None
        self._thread = threading.Thread(target=self._run, name="check", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Returns once the connection is closed."""
        self._stopped.set()
        with self._lock:
            if self._db is not None:
                self._db.interrupt()
        self._thread.join()

    def _run(self) -> None:
        try:
            found = self._look()
        except StoreError as error:
            found = str(error)
        if not self._stopped.is_set():
            self._done(found)

    def _look(self) -> str | None:
        with plain_errors(self._path):
            db = connect_reader(self._path)
            try:
                db.set_progress_handler(self._stopped.is_set, _STEPS)
                with self._lock:
                    self._db = db
                return structure(db) or orphans.find(db) or texts(db)
            except apsw.InterruptError:
                return None
            finally:
                with self._lock:
                    self._db = None
                    db.close()
