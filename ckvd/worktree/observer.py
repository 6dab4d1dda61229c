"""Events on macOS and Windows, by watchdog's own observer: best effort, folders left out included.

It cannot tell which events came before a call of `flush`, nor that it lost any; `flush` therefore calls
everything dirty.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from ckvd.worktree.debounce import Dirty
from ckvd.worktree.exclusions import RULE_FILES, Exclusions
from ckvd.worktree.paths import any_above, name, parent


class Observed(FileSystemEventHandler):
    """The tree under one recursive watch, and each of git's own folders under one that is not."""

    def __init__(
        self,
        root: bytes,
        exclusions: Exclusions,
        on_dirty: Callable[[Dirty], None],
        wake: Callable[[], None],
    ) -> None:
        self._root = root
        self._exclusions = exclusions
        self._on_dirty = on_dirty
        self._wake = wake
        self._observer = Observer()
        self._control: set[bytes] = set()
        self.full = False
        self.lost = False
        self.overflows = 0

    @property
    def alive(self) -> bool:
        return self._observer.is_alive()

    @property
    def count(self) -> int:
        return 1 + len(self._control)

    def start(self) -> None:
        self._observer.start()
        self.watch_again()

    def halt(self) -> None:
        """Nothing here takes long."""

    def stop(self) -> None:
        self._observer.stop()
        self._observer.join()

    def unwatched(self) -> frozenset[bytes]:
        return frozenset()

    def flush(self, timeout: float) -> bool:
        del timeout
        self._on_dirty(Dirty(everything=True))
        return True

    def probe(self, file: bytes, timeout: float) -> bool:
        del file, timeout
        return True

    def tidy(self) -> None:
        if self._exclusions.changed():
            self._exclusions.reload()
            self._on_dirty(Dirty(everything=True))

    def retry(self) -> None:
        """Nothing is left unwatched."""

    def watch_again(self) -> None:
        self._observer.unschedule_all()
        self._observer.schedule(self, os.fsdecode(self._root), recursive=True)
        self._control = set(self._exclusions.control_folders())
        for folder in self._control:
            self._observer.schedule(self, os.fsdecode(folder))
        self._on_dirty(Dirty(everything=True))

    def on_any_event(self, event: FileSystemEvent) -> None:
        for place in (event.src_path, event.dest_path):
            if place:
                self._touched(os.fsencode(place))

    def _touched(self, place: bytes) -> None:
        if os.path.dirname(place) in self._control:
            self._on_dirty(Dirty(control=True))
            self._wake()
            return
        path = os.path.relpath(place, self._root).replace(os.sep.encode(), b"/")
        if path == b"." or path.startswith(b"../") or any_above(b".git", [path.partition(b"/")[0]]):
            return
        if name(path) in RULE_FILES:
            self._exclusions.reload()
            path = parent(path)
        self._on_dirty(Dirty(frozenset([path])))
