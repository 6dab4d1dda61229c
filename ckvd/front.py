"""What of a daemon outlives its database: the lock, the socket, and the requests that wait for an answer."""

from __future__ import annotations

import contextlib
import os
import queue
import time
from collections.abc import Callable, Iterator

from ckvd.control import Lock, Message, Places, Request, Server
from ckvd.notify import Notifier
from ckvd.signals import Signals
from ckvd.store import files


class Front:
    """The face of one database's daemon. Use as a context manager."""

    def __init__(self, places: Places, signals: Signals, notifier: Notifier) -> None:
        """Holds nothing yet: call `hold`."""
        self.places = places
        self.inbox: queue.SimpleQueue[object] = queue.SimpleQueue()
        """All that the daemon is to hear of: `Request`s, what its own threads tell, None to be woken."""
        self.live: Callable[[], Message] | None = None
        """What a daemon at work answers to `status`."""
        self.search: Callable[[Message], Message] | None = None
        """What answers a search, from any thread."""
        self.signals = signals
        self.notifier = notifier
        self._lock: Lock | None = None
        self._server: Server | None = None
        self._blocked: str | None = None
        self._since = time.time()
        self._undo = contextlib.ExitStack()

    def __enter__(self) -> Front:
        self._undo.enter_context(self.signals.telling(lambda: self.inbox.put(None)))
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        for request in self._requests():
            request.answer({"error": "the daemon stopped before it was done"})
        if self._lock is not None:
            self._lock.release()
        self._undo.close()

    def hold(self) -> None:
        """Takes the lock and listens, or does so again where somebody took away what it had.

        Raises LockedError where another process has the lock, StoreError where there is no place for them.
        """
        if not self.locked():
            files.prepare(self.places.db)
            before, self._lock = self._lock, Lock(self.places)
            if before is not None:
                before.release()
        if self._server is None or not self._server.in_place():
            if self._server is not None:
                self._server.close()
                self._server = None
            self._server = Server(self.places, self._on_request)
        self._blocked = None

    def locked(self) -> bool:
        """Whether the lock is held, and still where others look for it."""
        return self._lock is not None and self._lock.in_place()

    def wait(self, why: str, seconds: float) -> None:
        """Lets that time pass, or less if asked to end or to sync, which is reason to try again at once.

        Who asked before, so that the try which failed was one for them too, is told `why`.
        """
        if why != self._blocked:
            self._blocked, self._since = why, time.time()
        for request in self._requests():
            request.answer({"error": why})
        self.notifier.ready()  # it stands and tries: to be ended and started anew would help nothing
        self.notifier.status(why)
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self.signals.received:
            with contextlib.suppress(queue.Empty):
                item = self.inbox.get(timeout=left)
                if isinstance(item, Request):
                    self.inbox.put(item)
                    break
        self.notifier.alive()

    def _requests(self) -> Iterator[Request]:
        with contextlib.suppress(queue.Empty):
            while True:
                item = self.inbox.get_nowait()
                if isinstance(item, Request):
                    yield item

    def _on_request(self, request: Request) -> None:
        op = request.message.get("op")
        if op == "search" and self.search is not None:
            request.answer(self.search(request.message))
        elif op != "status":
            self.inbox.put(request)
        elif (live := self.live) is not None:
            request.answer(live())  # at once, also while a long pass is under way
        else:
            request.answer(self._waiting())

    def _waiting(self) -> Message:
        errors = [] if self._blocked is None else [self._blocked]
        return {"pid": os.getpid(), "state": "indexing", "since": self._since, "errors": errors}
