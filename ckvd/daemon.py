"""The daemon: one loop that takes events and requests in order, lets the indexer work, and answers.

Watch first, then scan. Everything that touches the store happens on the loop's thread; the watcher and
the socket only put messages into its queue.
"""

from __future__ import annotations

import contextlib
import queue
import time

from ckvd.attention import Attention
from ckvd.config import FILE_NAME
from ckvd.control import Barriers, Message, Request
from ckvd.errors import (
    ConfigError,
    DamagedStoreError,
    ModelError,
    PassingStoreError,
    Stopped,
    StoreError,
    WorktreeError,
)
from ckvd.front import Front
from ckvd.guard import Checked, Ended, Guard
from ckvd.indexer import Indexer
from ckvd.settings import Settings
from ckvd.standing import Standing
from ckvd.worktree.debounce import Dirty

POLL_S = 2.0
"""How often to look at HEAD, the root and the database: a few stats, for changes that make no event."""

RECONCILE_S = 600.0
"""How often the whole tree is compared, for what no event can tell (a chmod, another hard link)."""

RETRY_S = 2.0
"""When to try again what could not be read or written."""

GRACE_S = 0.5
"""What the last writes of a daemon may take."""

MAINTAIN_S = 30.0
EMBED_SLICE_S = 0.1

JUMP_S = 30.0
"""A step between the wall clock and the monotonic one that means sleep, or a clock that was set."""

RULES = frozenset({b".gitignore", b".ckvignore", b".gitattributes", b".gitmodules", FILE_NAME.encode()})
"""Names of files that decide about other files: an edit of one is a reason to look at everything."""


class Daemon:
    """Keeps one index true until SIGTERM or SIGINT, or until its database is no longer the one it opened.

    `run` raises DamagedStoreError where SQLite finds the file damaged; all else that goes wrong is said in
    `status` and tried again.
    """

    def __init__(self, indexer: Indexer, front: Front) -> None:
        self._indexer = indexer
        self._front = front
        self._signals = front.signals
        self._notifier = front.notifier
        self._inbox = front.inbox
        self._guard = Guard(indexer, front)
        self._barriers = Barriers()
        self._ended: Ended | None = None
        self._everything = True
        self._rewatch = False
        self._embedding = True
        self._standing = Standing(self._notifier)
        self._errors = self._standing.errors
        now = time.monotonic()
        self._next_poll = now
        self._next_reconcile = now + RECONCILE_S
        self._next_maintain = now + MAINTAIN_S
        self._clock_gap = time.time() - now
        indexer.should_stop = indexer.writer.patience.give_up = self._should_stop
        indexer.tick = self._notifier.alive
        self._attention = Attention(indexer, front)

    def run(self) -> Ended:
        try:
            with (
                contextlib.suppress(Stopped),
                self._signals.telling(self._indexer.writer.interrupt),
                self._signals.telling(self._attention.halt),
            ):
                self._guard.check()
                self._attention.start()
                self._front.live = self._live
                self._notifier.ready()
                while not self._should_stop():
                    self._guarded_step()
        finally:
            if self._signals.received:
                self._notifier.stopping()
            self._front.live = None
            self._attention.stop()
            self._guard.close()
            for request in self._barriers.take():
                self._inbox.put(request)
            self._indexer.writer.patience.end_within(GRACE_S)
            with contextlib.suppress(Stopped):
                self._indexer.metrics.flush(at_once=True)
        return self._ended or Ended.STOPPED

    # -- messages, from other threads -----------------------------------------------------------------

    def _should_stop(self) -> bool:
        return self._signals.received or self._ended is not None

    def _live(self) -> Message:
        return self._standing.told(self._indexer, self._attention, self._guard.errors())

    # -- the loop -----------------------------------------------------------------------------------

    def _guarded_step(self) -> None:
        """A step; what the store cannot do now (a full disk, say) is said in `status` and tried again."""
        try:
            self._step()
        except DamagedStoreError:
            raise
        except WorktreeError as e:  # the root is away: its return is awaited
            self._errors["pass"] = str(e)
            self._next_reconcile = time.monotonic() + RETRY_S
        except StoreError as e:
            self._errors["store"] = str(e)
            self._embedding = False
            self._next_maintain = time.monotonic() + RETRY_S

    def _step(self) -> None:
        """One turn: wait for the next thing to do, take all messages, do what is due."""
        self._receive(self._idle_s(time.monotonic()))
        now = time.monotonic()
        if self._should_stop():
            return
        if now >= self._next_poll:
            self._poll(now)
        dirty = self._attention.take(now)
        if self._everything or (dirty is not None and dirty.everything):
            self._pass(None, dirty)
        elif dirty is not None:
            self._pass(self._with_turned(dirty), dirty)
        elif self._embedding:
            self._embed()
        elif now >= self._next_maintain:
            self._maintain(now)

    def _idle_s(self, now: float) -> float:
        if self._everything or self._embedding:
            return 0.0
        due = [self._next_poll, self._next_maintain]
        if (ready := self._attention.due()) is not None:
            due.append(ready)
        return max(0.0, min(due) - now)

    def _receive(self, timeout: float) -> None:
        """Takes all messages there are, waiting for the first for `timeout` seconds at most."""
        try:
            message = self._inbox.get(timeout=timeout) if timeout > 0 else self._inbox.get_nowait()
            while True:
                if isinstance(message, Dirty):
                    self._attention.add(message, time.monotonic())
                elif isinstance(message, Request):
                    self._request(message)
                elif isinstance(message, Checked):
                    self._guard.checked(message)
                message = self._inbox.get_nowait()
        except queue.Empty:
            return

    def _with_turned(self, dirty: Dirty) -> frozenset[bytes] | None:
        """The dirty paths, and those that git's own files have put on the other side; None for everything."""
        if not dirty.control:
            return dirty.paths
        turned = self._indexer.git.follow_git()
        self._indexer.note_head()
        return None if turned is None else dirty.paths | turned

    # -- work ---------------------------------------------------------------------------------------

    def _pass(self, dirty: frozenset[bytes] | None, cause: Dirty | None) -> None:
        """One pass; what cannot be read or written now is said in `status` and tried again."""
        if dirty is not None and not dirty:
            return
        if dirty is not None and any(path.rpartition(b"/")[2] in RULES for path in dirty):
            dirty = None
        self._standing.enter("indexing")
        try:
            if dirty is None:
                self._everything = False
                self._next_reconcile = time.monotonic() + RECONCILE_S
                self._reconfigure()
            revision = self._indexer.bring_up_to_date(dirty, cause.known if cause else 0)
        except DamagedStoreError:
            raise
        except (WorktreeError, StoreError) as e:
            self._errors["pass"] = str(e)
            self._notifier.status(str(e))
            self._next_reconcile = time.monotonic() + RETRY_S
            return
        self._errors.pop("pass", None)
        if cause is not None and cause.polled:
            self._attention.polled(self._indexer.scan_s)
        if revision is not None:
            self._embedding = True
            wait = MAINTAIN_S if self._indexer.writer.note is None else RETRY_S
            self._next_maintain = min(self._next_maintain, time.monotonic() + wait)
            if cause is not None and cause.since is not None:
                self._indexer.metrics.edited(revision, cause.since)
        self._standing.enter("watching", again=revision is None)

    def _reconfigure(self) -> None:
        """Looks again at what the root is, and at `ckv.yaml`; a wrong one leaves that before in force."""
        self._rewatch |= self._indexer.git.follow_root()
        try:
            settings = Settings.load(self._indexer.root)
        except (ConfigError, ModelError) as e:
            self._errors["config"] = f"{e} (until then the configuration before it is in force)"
        else:
            self._errors.pop("config", None)
            if settings != self._indexer.settings:
                self._indexer.use(settings)
                self._attention.resettle()
                self._rewatch = self._embedding = True
        if self._rewatch:
            self._attention.rewatch()
            self._rewatch = False

    def _embed(self) -> None:
        """A slice of the vectors that are due, latest rows first."""
        try:
            self._embedding = self._indexer.vectors.make(EMBED_SLICE_S)
        except DamagedStoreError:
            raise
        except (ModelError, StoreError) as e:
            self._errors["vectors"] = str(e)
            self._embedding = False
            wait = RETRY_S if isinstance(e, PassingStoreError) else MAINTAIN_S
            self._next_maintain = min(self._next_maintain, time.monotonic() + wait)
        else:
            self._errors.pop("vectors", None)
            self._indexer.metrics.vectors_came()
        self._notifier.alive()
        self._barriers.settle(self._indexer.writer.oldest_pending, self._errors.get("vectors"))

    def _request(self, request: Request) -> None:
        message, answer = request
        if message.get("op") != "sync":
            answer({"error": f"this daemon does not know the request {message.get('op')!r}; restart it"})
            return
        if self._guard.holds(request):
            self._next_poll = 0.0  # if the file is gone, that sees to it
            return
        try:
            self._sync(message, request)
        except DamagedStoreError:
            self._inbox.put(request)
            raise

    def _sync(self, message: Message, request: Request) -> None:
        answer = request.answer
        # A scan sees all that was written before it, events or none: what they say is looked at with it.
        self._pass(None, self._attention.take_all())
        if error := self._errors.get("pass"):
            answer({"error": error})
            return
        try:
            self._indexer.note_sync()
            revision = self._indexer.writer.revision
        except StoreError as e:
            answer({"error": str(e)})
            raise
        if message.get("vectors") and self._indexer.vectors.wanted:
            self._barriers.add(revision, request)
            self._embedding = True
        else:
            answer({"revision": revision})

    # -- now and then -------------------------------------------------------------------------------

    def _poll(self, now: float) -> None:
        """A few stats for what may make no event: HEAD, the database's inode, a jump of the clock."""
        self._next_poll = now + POLL_S
        self._notifier.alive()
        gap = time.time() - now
        jumped, self._clock_gap = abs(gap - self._clock_gap) > JUMP_S, gap
        if jumped or now >= self._next_reconcile or self._indexer.git.root_moved():
            self._everything = True
        elif self._indexer.git.git_moved():
            self._attention.add(Dirty(control=True), now)
        self._ended = self._guard.poll()
        if self._embedding and self._ended is None:  # for as long as that takes, nothing else would
            self._indexer.metrics.flush()

    def _maintain(self, now: float) -> None:
        """A round of the store's upkeep, which says what stands in its way."""
        self._next_maintain = now + MAINTAIN_S
        self._embedding |= not self._errors.keys().isdisjoint(("vectors", "store"))  # time to try again
        self._indexer.metrics.flush()
        if self._indexer.writer.maintain():
            self._next_maintain = now + RETRY_S
        self._errors.pop("store", None)
