"""What a daemon watches its tree by, and what of that has not been looked at yet."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import replace

from ckvd.control import Message
from ckvd.front import Front
from ckvd.indexer import Indexer
from ckvd.worktree.debounce import Debouncer, Dirty
from ckvd.worktree.exclusions import Exclusions
from ckvd.worktree.watch import Watcher


class Attention:
    """A watcher and a debouncer, as the indexer's settings want them. The watcher's messages go through the
    front's queue, which gives them back to `add`. For the loop's thread, but for `halt`, `state`, `known`."""

    def __init__(self, indexer: Indexer, front: Front) -> None:
        self._indexer = indexer
        self._inbox = front.inbox
        self._probe = os.fsencode(front.places.probe)
        self._on_way: list[Dirty] = []
        """What the watcher told and the debouncer has not got yet."""
        self._debouncer = self._new_debouncer()
        self._watcher = self._new_watcher()

    def start(self) -> None:
        self._watcher.start()

    def stop(self) -> None:
        self._watcher.stop()

    def halt(self) -> None:
        """Breaks off the setting of watches, from any thread."""
        self._watcher.halt()

    def state(self) -> Message:
        return self._watcher.state()

    def polled(self, took_s: float) -> None:
        """What a look at what has no watch took, in seconds."""
        self._watcher.polled(took_s)

    def rewatch(self) -> None:
        """Watches anew what the root is now."""
        self._watcher.stop()
        self._watcher = self._new_watcher()
        self._watcher.start()

    def resettle(self) -> None:
        """Waits from now on as the settings say, first for what came before."""
        waiting = self._debouncer.take_all()
        self._debouncer = self._new_debouncer()
        if waiting is not None:
            self._debouncer.add(waiting, time.monotonic())

    @property
    def known(self) -> int:
        """How many paths are dirty, as far as events told, and were not taken yet."""
        return self._debouncer.known + sum(dirty.known for dirty in tuple(self._on_way))

    def add(self, dirty: Dirty, now: float) -> None:
        with contextlib.suppress(ValueError):  # not all come from the watcher
            self._on_way.remove(dirty)
        self._debouncer.add(dirty, now if dirty.since is None else dirty.since)

    def due(self) -> float | None:
        """When something will be ready to be looked at; None where nothing waits."""
        return self._debouncer.due()

    def take(self, now: float) -> Dirty | None:
        """What is ready, unless git is rewriting the tree just now."""
        return self._debouncer.take(now, busy=self._git_is_busy)

    def take_all(self) -> Dirty | None:
        return self._debouncer.take_all()

    def _git_is_busy(self) -> bool:
        repo = self._indexer.git.repo
        return repo is not None and repo.busy()

    def _on_dirty(self, dirty: Dirty) -> None:
        # It may lie in the queue while a pass is under way.
        dirty = replace(dirty, since=time.monotonic())
        self._on_way.append(dirty)
        self._inbox.put(dirty)

    def _new_watcher(self) -> Watcher:
        ix = self._indexer
        exclusions = Exclusions(ix.tree, ix.settings.config, ix.own_files)
        return Watcher(ix.root, exclusions, self._on_dirty, probe_file=self._probe)

    def _new_debouncer(self) -> Debouncer:
        return Debouncer(self._indexer.settings.config.watch.debounce_ms / 1000)
