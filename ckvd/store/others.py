"""What other programs do to a database while it is open for writing here."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import apsw

from ckvd.store.states import Foreign

Place = tuple[int, int] | None
"""Device and inode, None where there is no file."""


class Others:
    """Tells their writes from one's own, which are all made inside `own`.

    So a log that somebody overwrote or cut is noticed too: each new reader reads it, but never the writer
    again, which has its pages in memory. apsw's errors pass.
    """

    def __init__(self, db: apsw.Connection, path: str) -> None:
        self._db = db
        self._path = path
        self._found: Foreign | None = None
        self._version, self._files = self._data_version(), self._written()

    def look(self) -> Foreign | None:
        """What they did since `take`."""
        version, files = self._data_version(), self._written()
        if version != self._version:
            self._found = Foreign.COMMITTED
        elif files != self._files and self._found is None:
            self._found = Foreign.WRITTEN
        self._version, self._files = version, files
        return self._found

    @contextlib.contextmanager
    def own(self) -> Iterator[None]:
        """Where all that is written is one's own; a commit of theirs meanwhile is noticed none the less."""
        self.look()
        try:
            yield
        finally:
            self._files = self._written()

    def take(self) -> Foreign | None:
        """The same as `look` for the last time, so that the next one tells what came after."""
        found, self._found = self.look(), None
        return found

    def _data_version(self) -> int:
        return int(self._db.pragma("data_version"))

    def _written(self) -> tuple[tuple[int, int] | None, ...]:
        return tuple(_written(self._path + suffix) for suffix in ("", "-wal"))


def places(path: str) -> list[Place]:
    """What lies at the path of the database, of its log and of the log's index."""
    return [_inode(path + suffix) for suffix in ("", "-wal", "-shm")]


def _inode(path: str) -> Place:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _written(path: str) -> tuple[int, int] | None:
    """When, and up to where."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
