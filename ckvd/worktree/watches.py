"""Which inotify descriptor stands for which folder: watchdog's reader, and a table that follows moves."""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from watchdog.observers.inotify_c import (
    CallbackId,
    InotifyConstants,
    InotifyFD,
    Mask,
    WatchCallback,
    WatchDescriptor,
)

from ckvd.worktree.paths import parent

_C = InotifyConstants
_MASK = Mask(
    _C.IN_CREATE | _C.IN_MODIFY | _C.IN_CLOSE_WRITE | _C.IN_ATTRIB | _C.IN_MOVE | _C.IN_DELETE
    | _C.IN_DELETE_SELF | _C.IN_MOVE_SELF | _C.IN_DONT_FOLLOW | _C.IN_ONLYDIR
)  # fmt: skip

Kind = Literal["tree", "gate", "control", "probe"]
"""A folder of the tree; the `.git` of a folder below the root; one of git's own folders; the probe's."""

Outcome = Literal["new", "known", "gone", "closed", "full"]
"""Of an attempt to watch. `closed`: not ours to read; `full`: no watches left."""


class Stream(InotifyFD):
    """The event thread: hands over every event, then the end of what one read gave."""

    def __init__(self, on_overflow: Callable[[], None], on_batch: Callable[[list[int]], None]) -> None:
        """`on_batch` gets the descriptors that ended. Raises OSError where there is no instance to be had."""
        super().__init__()
        os.set_inheritable(self._inotify_fd, False)
        self._on_overflow = on_overflow
        self._on_batch = on_batch

    def run(self) -> None:
        while self.should_keep_running():
            ended: list[int] = []
            for event in self.read_events():
                if event.is_queue_overflow:
                    self._on_overflow()
                    continue
                if event.is_ignored:
                    ended.append(event.wd)
                self.handle_event(event)
            self._on_batch(ended)


@dataclass(slots=True)
class Watch:
    """`path` is the folder, for a gate the one that holds it; relative for "tree" and "gate"."""

    kind: Kind
    path: bytes
    id: CallbackId
    generation: int


class Watches:
    """The watches of one callback. Not thread-safe."""

    def __init__(self, stream: Stream, callback: WatchCallback) -> None:
        self._stream = stream
        self._callback = callback
        self._ids = itertools.count()
        self._by_descriptor: dict[WatchDescriptor, Watch] = {}
        self._descriptors: dict[tuple[Kind, bytes], WatchDescriptor] = {}
        self._below: dict[bytes, set[bytes]] = {}
        self.generation = 0
        """Watches are stamped with it when they are added, or added again."""

    def __len__(self) -> int:
        return len(self._by_descriptor)

    def __getitem__(self, descriptor: WatchDescriptor) -> Watch | None:
        return self._by_descriptor.get(descriptor)

    def add(self, kind: Kind, path: bytes, absolute: bytes) -> Outcome:
        """Watch a folder. One that is watched already, under whatever name, goes by this name from now on."""
        identity = CallbackId(next(self._ids))
        try:
            descriptor = self._stream.add_callback(absolute, _MASK, self._callback, identity)
        except OSError as error:
            return "full" if error.errno == errno.ENOSPC else "gone"
        if descriptor == -1:  # how watchdog says EACCES
            self._stream.remove_callbacks([(descriptor, identity)])
            return "closed"
        before = self._by_descriptor.get(descriptor)
        if before is not None:
            self._stream.remove_callbacks([(descriptor, before.id)])
            self._unlink(descriptor, before)
        other = self._descriptors.get((kind, path))
        if other is not None:
            self.release(other)  # of the folder that lay there before
        self._by_descriptor[descriptor] = Watch(kind, path, identity, self.generation)
        self._descriptors[kind, path] = descriptor
        if kind == "tree" and path:
            self._below.setdefault(parent(path), set()).add(path)
        same = before is not None and (before.kind, before.path) == (kind, path)
        return "known" if same else "new"

    def mark(self) -> WatchDescriptor:
        """Take a watch and give it back: its end is queued behind all events there are by now.

        Raises OSError where no watch is to be had.
        """
        identity = CallbackId(next(self._ids))
        descriptor = self._stream.add_callback(
            os.devnull.encode(), _C.IN_DELETE_SELF, self._callback, identity
        )
        self._stream.remove_callbacks([(descriptor, identity)])
        return descriptor

    def release(self, descriptor: WatchDescriptor) -> None:
        watch = self._by_descriptor.pop(descriptor)
        self._stream.remove_callbacks([(descriptor, watch.id)])
        self._unlink(descriptor, watch)

    def ended(self, descriptor: WatchDescriptor) -> None:
        """The kernel has taken a watch back: its folder is gone."""
        watch = self._by_descriptor.pop(descriptor, None)
        if watch is not None:
            self._unlink(descriptor, watch)

    def find(self, kind: Kind, path: bytes) -> WatchDescriptor | None:
        return self._descriptors.get((kind, path))

    def release_below(self, top: bytes, *, older_than: int | None = None) -> None:
        """Let go of `top` and all below it; only of those of an older generation, where one is given."""
        folders = [top]
        while folders:
            folder = folders.pop()
            folders.extend(self._below.get(folder, ()))
            for kind in ("tree", "gate"):
                descriptor = self._descriptors.get((kind, folder))
                if descriptor is None:
                    continue
                if older_than is None or self._by_descriptor[descriptor].generation < older_than:
                    self.release(descriptor)

    def _unlink(self, descriptor: WatchDescriptor, watch: Watch) -> None:
        if self._descriptors.get((watch.kind, watch.path)) != descriptor:
            return  # another folder goes by that name now
        del self._descriptors[watch.kind, watch.path]
        if watch.kind == "tree" and watch.path:
            siblings = self._below[parent(watch.path)]
            siblings.discard(watch.path)
            if not siblings:
                del self._below[parent(watch.path)]
