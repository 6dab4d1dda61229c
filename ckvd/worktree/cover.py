"""A watch on every folder of a tree that matters, as far as the system's limit goes."""

from __future__ import annotations

import os
import threading

from ckvd.worktree.exclusions import Exclusions
from ckvd.worktree.paths import join
from ckvd.worktree.watches import Outcome, Watches


class Cover:
    """Sets and drops the watches of a tree's folders. Several threads may call; none needs the lock to."""

    def __init__(self, root: bytes, exclusions: Exclusions, watches: Watches, lock: threading.RLock) -> None:
        self._root = root
        self._exclusions = exclusions
        self._watches = watches
        self._lock = lock
        self.full = False
        """Whether the limit on watches was met."""
        self.unwatched: set[bytes] = set()
        """Folders without a watch, and so all below them; to be read and changed under the lock."""
        self.stopping = False

    def renew(self, top: bytes) -> list[bytes]:
        """Watch what is at and below `top` now, let go of the rest there; return what is newly watched."""
        with self._lock:
            self._watches.generation += 1
        fresh = self.add(top)
        with self._lock:
            self._watches.release_below(top, older_than=self._watches.generation)
        return fresh

    def add(self, top: bytes) -> list[bytes]:
        """Watch `top` and the folders below that are not excluded; return those that were not watched."""
        fresh: list[bytes] = []
        folders = [top]
        while folders and not self.stopping:
            folder = folders.pop()
            with self._lock:
                if folder and self._exclusions.folder(folder):
                    continue
                outcome = self._watch(folder)
            if outcome == "gone" or outcome == "full":
                continue
            if outcome == "new":
                fresh.append(folder)
            for below in self._folders_in(folder):
                if below != b".git":
                    folders.append(join(folder, below))
                elif folder or not self._exclusions.in_git:
                    with self._lock:
                        self._watches.add("gate", folder, os.path.join(self._root, folder, below))
        return fresh

    def _watch(self, folder: bytes) -> Outcome:
        outcome: Outcome = "full" if self.full else self._watches.add("tree", folder, self._absolute(folder))
        if outcome == "full":
            self.full = True
            self.unwatched.add(folder)
        elif outcome == "closed" and os.access(self._absolute(folder), os.X_OK):
            self.unwatched.add(folder)  # it cannot be listed, but its files can be reached
        else:
            self.unwatched.discard(folder)
        return outcome

    def _folders_in(self, folder: bytes) -> list[bytes]:
        try:
            with os.scandir(self._absolute(folder)) as entries:
                return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:  # it vanished, or cannot be listed
            return []

    def _absolute(self, folder: bytes) -> bytes:
        return os.path.join(self._root, folder) if folder else self._root
