"""Watches over a daemon's database: that it is in its place, the daemon's alone, and whole."""

from __future__ import annotations

import enum
import os
from dataclasses import dataclass

from ckvd.control import Request
from ckvd.errors import DamagedStoreError, StoreError
from ckvd.front import Front
from ckvd.indexer import Indexer
from ckvd.store import files
from ckvd.store.check import Checker
from ckvd.store.states import Foreign


class Ended(enum.Enum):
    """Why a daemon's loop ended."""

    STOPPED = enum.auto()
    STORE_GONE = enum.auto()
    """The database, its log or its lock was deleted or replaced: open it anew."""
    STORE_CHANGED = enum.auto()
    """Another program wrote into the database: nothing in it is certain."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What the check that `by` began found wrong, None if nothing."""

    by: Guard
    fault: str | None


class Guard:
    """For the loop's thread. `sync` is held back while it is not certain that the file is whole."""

    def __init__(self, indexer: Indexer, front: Front) -> None:
        self._indexer = indexer
        self._front = front
        self._checker: Checker | None = None
        self._again = False
        self._held: list[Request] = []
        self._unheard: str | None = None

    def check(self) -> None:
        """Begins to check the whole database; the outcome comes as a `Checked` into the inbox."""
        self._again = self._checker is not None
        if self._checker is None:
            inbox = self._front.inbox
            self._checker = Checker(self._front.places.db, lambda fault: inbox.put(Checked(self, fault)))

    def checked(self, outcome: Checked) -> None:
        """Raises DamagedStoreError where the check found damage."""
        if outcome.by is not self:
            return  # of a database before this one
        if outcome.fault is not None:
            self._indexer.writer.distrust()
            raise DamagedStoreError(outcome.fault)
        self._checker = None
        if self._again:  # written to since the check began
            self.check()
        else:
            self._release()

    def holds(self, request: Request) -> bool:
        """Whether the request must wait, which it then does here, also where this raises a StoreError."""
        self._held.append(request)
        if self._checker is None and (not self._root_is_there() or self._is_certain()):
            self._held.pop()
            return False
        return True

    def poll(self) -> Ended | None:
        """Whether the daemon must open the database anew; a few stats."""
        if not self._root_is_there():
            return None  # the database in it only waits for its return
        if not (self._in_place() and self._front.locked()):
            return Ended.STORE_GONE
        files.narrow(self._front.places.db)
        try:
            self._front.hold()
        except StoreError as e:
            self._unheard = str(e)
        else:
            self._unheard = None
        match self._indexer.writer.foreign():
            case Foreign.COMMITTED:
                return Ended.STORE_CHANGED
            case Foreign.WRITTEN:
                self.check()
            case None if self._checker is None:
                self._release()  # what was held for a doubt that has passed
        return None

    def errors(self) -> list[str]:
        """What stands in the way just now, for people; from any thread."""
        writer = self._indexer.writer
        held_up = writer.patience.held_up_s
        waits = f"another program has kept {writer.path} locked for {held_up:.0f} s; end it"
        return [said for said in (self._unheard, writer.note, waits if held_up >= 1 else None) if said]

    def close(self) -> None:
        """Requests that wait go back into the inbox: whoever takes over answers them."""
        if self._checker is not None:
            self._checker.close()
        self._release()

    def _release(self) -> None:
        held, self._held = self._held, []
        for request in held:
            self._front.inbox.put(request)

    def _in_place(self) -> bool:
        return self._indexer.writer.in_place()

    def _is_certain(self) -> bool:
        return self._in_place() and self._indexer.writer.is_certain()

    def _root_is_there(self) -> bool:
        return os.path.isdir(self._indexer.root)
