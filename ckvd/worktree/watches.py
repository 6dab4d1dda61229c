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
    generation: int


class Watches:
    """The watches of one callback. Not thread-safe.

    The system has one watch for a folder, however often it is asked for: a folder of the tree may be the
    probe's too, and one of git's own folders a gate. What remains of a moved folder's name is replaced.
    """

    def __init__(self, stream: Stream, callback: WatchCallback) -> None:
        self._stream = stream
        self._callback = callback
        self._next_id = itertools.count()
        self._ids: dict[WatchDescriptor, CallbackId] = {}
        self._by_descriptor: dict[WatchDescriptor, dict[Kind, Watch]] = {}
        self._descriptors: dict[tuple[Kind, bytes], WatchDescriptor] = {}
        self._below: dict[bytes, set[bytes]] = {}
        self.generation = 0
        """Watches are stamped with it when they are added, or added again."""

    def __len__(self) -> int:
        return len(self._by_descriptor)

    def __getitem__(self, descriptor: WatchDescriptor) -> tuple[Watch, ...]:
        """What a descriptor stands for; empty once that is over."""
        return tuple(self._by_descriptor.get(descriptor, {}).values())

    def add(self, kind: Kind, path: bytes, absolute: bytes) -> Outcome:
        """Watch a folder. One that is watched already as of that kind goes by this name from now on."""
        identity = CallbackId(next(self._next_id))
        try:
            descriptor = self._stream.add_callback(absolute, _MASK, self._callback, identity)
        except OSError as error:
            return "full" if error.errno == errno.ENOSPC else "gone"
        if descriptor == -1:  # how watchdog says EACCES
            self._stream.remove_callbacks([(descriptor, identity)])
            return "closed"
        if (former := self._ids.get(descriptor)) is not None:
            self._stream.remove_callbacks([(descriptor, former)])  # each event is told once
        self._ids[descriptor] = identity
        kinds = self._by_descriptor.setdefault(descriptor, {})
        before = kinds.get(kind)
        if before is not None and before.path != path:
            self._unlink(descriptor, before)
        other = self._descriptors.get((kind, path))
        if other is not None and other != descriptor:
            self.release(other, kind)  # of the folder that lay there before
        kinds[kind] = Watch(kind, path, self.generation)
        self._descriptors[kind, path] = descriptor
        if kind == "tree" and path:
            self._below.setdefault(parent(path), set()).add(path)
        return "known" if before is not None and before.path == path else "new"

    def mark(self) -> WatchDescriptor:
        """Take a watch and give it back: its end is queued behind all events there are by now.

        Raises OSError where no watch is to be had.
        """
        identity = CallbackId(next(self._next_id))
        descriptor = self._stream.add_callback(
            os.devnull.encode(), _C.IN_DELETE_SELF, self._callback, identity
        )
        self._stream.remove_callbacks([(descriptor, identity)])
        return descriptor

    def release(self, descriptor: WatchDescriptor, kind: Kind) -> None:
        kinds = self._by_descriptor[descriptor]
        watch = kinds.pop(kind)
        if not kinds:
            del self._by_descriptor[descriptor]
            self._stream.remove_callbacks([(descriptor, self._ids.pop(descriptor))])
        self._unlink(descriptor, watch)

    def ended(self, descriptor: WatchDescriptor) -> None:
        """The kernel has taken a watch back: its folder is gone."""
        self._ids.pop(descriptor, None)
        for watch in self._by_descriptor.pop(descriptor, {}).values():
            self._unlink(descriptor, watch)

    def find(self, kind: Kind, path: bytes) -> WatchDescriptor | None:
        return self._descriptors.get((kind, path))

    def release_below(self, top: bytes, *, older_than: int | None = None) -> None:
        """Let go of `top` and all below it; only of those of an older generation, where one is given."""
        folders = [top]
        kinds: tuple[Kind, ...] = ("tree", "gate")
        while folders:
            folder = folders.pop()
            folders.extend(self._below.get(folder, ()))
            for kind in kinds:
                descriptor = self._descriptors.get((kind, folder))
                if descriptor is None:
                    continue
                if older_than is None or self._by_descriptor[descriptor][kind].generation < older_than:
                    self.release(descriptor, kind)

    def _unlink(self, descriptor: WatchDescriptor, watch: Watch) -> None:
        if self._descriptors.get((watch.kind, watch.path)) != descriptor:
            return  # another folder goes by that name now
        del self._descriptors[watch.kind, watch.path]
        if watch.kind == "tree" and watch.path:
            siblings = self._below[parent(watch.path)]
            siblings.discard(watch.path)
            if not siblings:
                del self._below[parent(watch.path)]
