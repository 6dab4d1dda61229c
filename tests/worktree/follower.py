"""An index in miniature, fed by the watcher alone."""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ckvd.config import Config
from ckvd.model import Stamp
from ckvd.worktree.debounce import Debouncer, Dirty
from ckvd.worktree.exclusions import Exclusions
from ckvd.worktree.git import Repo, find_root
from ckvd.worktree.git.following import turned
from ckvd.worktree.scan import scan
from ckvd.worktree.watch import Watcher

LONG_S = 20.0


class Follower:
    """Keeps the stamps of all files from what the watcher calls dirty, git's state included."""

    def __init__(self, root: Path, poll_s: float = 60.0) -> None:
        found = find_root(os.fsencode(root))
        self.root = found.path
        self.repo = Repo(found) if found.git_dir else None
        self.inbox: queue.SimpleQueue[Dirty] = queue.SimpleQueue()
        self.watcher = Watcher(found.path, Exclusions(found, Config()), self.inbox.put, poll_s=poll_s)
        self.seen: list[Dirty] = []
        self.known: dict[bytes, Stamp] = {}

    def start(self) -> None:
        self.watcher.start()
        self.state = self.repo.state() if self.repo else None
        self.known = self.truth()

    def truth(self) -> dict[bytes, Stamp]:
        return {path: entry.stamp for path, entry in scan(self.root, self.repo, Config()).entries.items()}

    def follow(self) -> None:
        """Apply all that the system has told by now."""
        assert self.watcher.flush(LONG_S)
        debouncer = Debouncer()
        while not self.inbox.empty():
            dirty = self.inbox.get()
            self.seen.append(dirty)
            debouncer.add(dirty, 0.0)
        dirty = debouncer.take_all()
        if dirty is None:
            return
        paths = None if dirty.everything else dirty.paths
        if dirty.control and self.repo is not None and self.state is not None:
            before, self.state = self.state, self.repo.state()
            sides = turned(self.repo.path, before, self.state)
            paths = None if paths is None or sides is None else paths | sides
        if paths is not None and not paths:
            return
        found = scan(self.root, self.repo, Config(), only=paths)
        gone = [path for path in self.known if path not in found.entries and found.covers(path)]
        for path in gone:
            del self.known[path]
        self.known.update((path, entry.stamp) for path, entry in found.entries.items())

    def check(self) -> None:
        """What follows from events is the truth."""
        self.follow()
        assert self.known == self.truth()

    def eventually(self, what: str) -> None:
        """The same, for what the housekeeping thread notices in its own time."""
        deadline = time.monotonic() + LONG_S
        while True:
            self.follow()
            if self.known == self.truth():
                return
            assert time.monotonic() < deadline, what
            self.seen.append(self.inbox.get(timeout=LONG_S))
            self.inbox.put(self.seen.pop())

    def paths(self) -> set[bytes]:
        return {path for dirty in self.seen for path in dirty.paths}


@contextmanager
def following(root: Path, poll_s: float = 60.0) -> Iterator[Follower]:
    follower = Follower(root, poll_s)
    follower.start()
    try:
        yield follower
    finally:
        started = time.monotonic()
        follower.watcher.stop()
        assert time.monotonic() - started < 1.0
