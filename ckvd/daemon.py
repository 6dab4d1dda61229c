"""The daemon: one loop that takes events and requests in order, lets the indexer work, and answers.

Watch first, then scan. Everything that touches the store happens on the loop's thread; the watcher and
the socket only put messages into its queue.
"""

from __future__ import annotations

import os
import queue
import signal
import time
from dataclasses import dataclass
from typing import Any

from ckvd import settings as settings_file
from ckvd.config import FILE_NAME
from ckvd.control import Answer, Message, Places, Server
from ckvd.embed import registry
from ckvd.errors import CkvdError, StoreError, WorktreeError
from ckvd.indexer import Indexer, Settings, Stopped
from ckvd.notify import Notifier
from ckvd.worktree.debounce import Debouncer
from ckvd.worktree.watch import Dirty, Watcher

HEAD_POLL_S = 2.0
"""How often to look at HEAD, the root and the database: a few stats, for changes that make no event."""

RECONCILE_S = 600.0
"""How often the whole tree is compared, for what no event can tell (a chmod, another hard link)."""

MAINTAIN_S = 30.0
EMBED_SLICE_S = 0.1
JUMP_S = 30.0
"""A step between the wall clock and the monotonic one that means sleep, or a clock that was set."""


@dataclass(slots=True)
class _Barrier:
    """A `sync --vectors` that waits for the vectors of all rows up to `revision`."""

    revision: int
    answer: Answer


class Daemon:
    """Keeps one index true until SIGTERM or SIGINT; `run` then returns.

    Raises CkvdError for what cannot be mended from here (the disk is full at the start, a model is damaged).
    """

    def __init__(self, indexer: Indexer, places: Places, notifier: Notifier) -> None:
        self._indexer = indexer
        self._places = places
        self._notifier = notifier
        self._inbox: queue.SimpleQueue[Dirty | tuple[Message, Answer] | None] = queue.SimpleQueue()
        self._debouncer = Debouncer(indexer.settings.config.watch.debounce_ms / 1000)
        self._barriers: list[_Barrier] = []
        self._stopping = False
        self._everything = True
        self._errors: dict[str, str] = {}
        self._state = "indexing"
        self._since = time.time()
        now = time.monotonic()
        self._next_poll = self._next_reconcile = self._next_maintain = self._next_ping = now
        self._clock_gap = time.time() - now
        self._embedding = True
        indexer.should_stop = lambda: self._stopping
        indexer.tick = self._sign_of_life
        self._watcher = Watcher(
            indexer.root, indexer.repo, indexer.own_files, self._inbox.put
        )

    def run(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        server = Server(self._places, self._on_request)
        try:
            self._watcher.start()
            self._notifier.ready()
            while not self._stopping:
                self._step()
        except Stopped:
            pass
        finally:
            self._notifier.stopping()
            server.close()
            self._watcher.stop()
            for barrier in self._barriers:
                barrier.answer({"error": "the daemon is stopping"})

    # -- messages, from other threads -----------------------------------------------------------------

    def _on_signal(self, _number: int, _frame: object) -> None:
        self._stopping = True
        self._inbox.put(None)

    def _on_request(self, message: Message, answer: Answer) -> None:
        if message.get("op") == "status":
            answer(self._live())  # at once, also while a long pass is under way
        else:
            self._inbox.put((message, answer))

    def _live(self) -> Message:
        progress = self._indexer.progress
        return {
            "pid": os.getpid(),
            "state": self._state,
            "since": self._since,
            "pending_files": max(0, progress.of - progress.files),
            "phase": progress.phase,
            "progress_age_s": time.monotonic() - self._indexer.pool.progress if progress.of else 0.0,
            "watch": self._watcher.state(),
            "errors": list(self._errors.values()),
        }

    # -- the loop -----------------------------------------------------------------------------------

    def _step(self) -> None:
        """One turn: wait for the next thing to do, take all messages, do what is due."""
        self._receive(self._idle_s(time.monotonic()))
        now = time.monotonic()
        if self._stopping:
            return
        if now >= self._next_poll:
            self._poll(now)
        dirty = self._debouncer.take(now, busy=self._busy)
        if dirty is not None or self._everything:
            self._pass(None if self._everything or (dirty and dirty.everything) else dirty)
        elif self._embedding:
            self._embed()
        elif now >= self._next_maintain:
            self._maintain(now)

    def _idle_s(self, now: float) -> float:
        if self._everything or self._embedding:
            return 0.0
        due = [self._next_poll, self._next_maintain]
        if (ready := self._debouncer.due()) is not None:
            due.append(ready)
        return max(0.0, min(due) - now)

    def _receive(self, timeout: float) -> None:
        try:
            message = self._inbox.get(timeout=timeout) if timeout > 0 else self._inbox.get_nowait()
            while True:
                if isinstance(message, Dirty):
                    self._debouncer.add(message, time.monotonic())
                elif message is not None:
                    self._request(*message)
                message = self._inbox.get_nowait()
        except queue.Empty:
            return

    def _sign_of_life(self) -> None:
        now = time.monotonic()
        if now >= self._next_ping:
            self._next_ping = now + 1.0
            self._notifier.alive()

    # -- work ---------------------------------------------------------------------------------------

    def _busy(self) -> bool:
        repo = self._indexer.repo
        return repo is not None and repo.busy()

    def _pass(self, dirty: frozenset[bytes] | None) -> None:
        """One pass; whatever cannot be read or written now is said in `status` and tried again."""
        if dirty is None:
            self._everything = False
            self._next_reconcile = time.monotonic() + RECONCILE_S
        if dirty is None or os.fsencode(FILE_NAME) in dirty:
            dirty = self._reconfigure(dirty)
        self._set_state("indexing")
        try:
            revision = self._indexer.bring_up_to_date(dirty)
            self._errors.pop("pass", None)
        except (WorktreeError, StoreError) as e:
            self._errors["pass"] = str(e)
            self._notifier.status(str(e))
            self._everything = False
            self._next_reconcile = time.monotonic() + HEAD_POLL_S
            return
        if revision is not None:
            self._embedding = True
            self._next_maintain = time.monotonic() + 1.0
        self._set_state("watching")

    def _set_state(self, state: str) -> None:
        if state != self._state:
            self._state, self._since = state, time.time()
            self._notifier.status(state)

    def _reconfigure(self, dirty: frozenset[bytes] | None) -> frozenset[bytes] | None:
        """Reads `ckv.yaml` again; with a changed one the pass covers everything."""
        try:
            settings = Settings.load(self._indexer.root)
        except CkvdError as e:
            self._errors["config"] = f"{e} (the configuration before it stays in force)"
            return dirty
        self._errors.pop("config", None)
        if settings == self._indexer.settings:
            return dirty
        self._indexer.use(settings)
        self._debouncer = Debouncer(settings.config.watch.debounce_ms / 1000)
        self._embedding = True
        return None

    def _embed(self) -> None:
        """A slice of the vectors that are due, latest rows first."""
        try:
            self._embedding = self._indexer.embed(EMBED_SLICE_S)
            self._errors.pop("model", None)
        except CkvdError as e:
            self._errors["model"] = str(e)
            self._embedding = False
        self._sign_of_life()
        self._answer_barriers()

    def _answer_barriers(self) -> None:
        if not self._barriers:
            return
        oldest = None if not self._embedding else self._indexer.writer.oldest_pending()
        waiting = []
        for barrier in self._barriers:
            if oldest is None or oldest > barrier.revision:
                error = self._errors.get("model")
                barrier.answer({"error": error} if error else {"revision": barrier.revision})
            else:
                waiting.append(barrier)
        self._barriers = waiting

    def _request(self, message: Message, answer: Answer) -> None:
        if message.get("op") != "sync":
            answer({"error": f"the daemon does not know the request {message.get('op')!r}; is it older than this command?"})
            return
        # Order first: what the watcher has seen comes before this; then the scan sees what it could not.
        self._debouncer.take(time.monotonic(), at_once=True)
        self._pass(None)
        if error := self._errors.get("pass"):
            answer({"error": error})
            return
        revision = self._indexer.writer.revision
        if message.get("vectors") and self._indexer.has_vectors:
            self._barriers.append(_Barrier(revision, answer))
            self._embedding = True
        else:
            answer({"revision": revision})

    # -- now and then -------------------------------------------------------------------------------

    def _poll(self, now: float) -> None:
        """A few stats for what makes no event here: HEAD, the database's inode, a jump of the clock."""
        self._next_poll = now + HEAD_POLL_S
        self._sign_of_life()
        gap = time.time() - now
        if abs(gap - self._clock_gap) > JUMP_S:
            self._everything = True
        self._clock_gap = gap
        if now >= self._next_reconcile or self._watcher.poll_due(now):
            self._everything = True
        if self._indexer.head_moved():
            self._everything = True
        if not self._indexer.writer.in_place():
            self._indexer.reopen()
            self._everything = True

    def _maintain(self, now: float) -> None:
        self._next_maintain = now + MAINTAIN_S
        note = self._indexer.writer.maintain()
        if note:
            self._errors["store"] = note
        else:
            self._errors.pop("store", None)
