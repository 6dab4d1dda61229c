"""Linux's inotify: one instance, one thread, and a watch on every folder that matters.

watchdog reads the events and keeps the descriptors (`InotifyFD`); which folders to watch, and what events
mean, is decided here. A folder is watched before it is listed and listed before it is called dirty, so that
whatever happens in it is seen by the scan that follows or makes an event. Moves are not paired: each half
stands for itself, and a moved folder is watched anew under its new name.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable

from watchdog.observers.inotify_c import (
    InotifyConstants,
    InotifyEvent,
    Mask,
    WatchCallback,
    WatchDescriptor,
)

from ckvd.worktree.cover import Cover
from ckvd.worktree.debounce import Dirty
from ckvd.worktree.exclusions import RULE_FILES, Exclusions
from ckvd.worktree.paths import join
from ckvd.worktree.watches import Stream, Watches

WATCH_LIMIT = "fs.inotify.max_user_watches"
INSTANCE_LIMIT = "fs.inotify.max_user_instances"

_C = InotifyConstants
_ARRIVED = Mask(_C.IN_CREATE | _C.IN_MOVED_TO | _C.IN_ATTRIB)
_ROOT_LOST = Mask(_C.IN_DELETE_SELF | _C.IN_MOVE_SELF | _C.IN_UNMOUNT)

_REPOSITORY = frozenset((b"HEAD", b"objects", b"refs", b"commondir"))
"""What makes a folder named `.git` a repository."""


class Inotify(WatchCallback):
    """The watches of one tree. `on_dirty` is called on the event thread and on that which calls `tidy`."""

    def __init__(
        self,
        root: bytes,
        exclusions: Exclusions,
        on_dirty: Callable[[Dirty], None],
        wake: Callable[[], None],
    ) -> None:
        """`wake` asks for a call of `tidy` soon. Raises OSError where no inotify instance is to be had."""
        self._root = root
        self._exclusions = exclusions
        self._on_dirty = on_dirty
        self._wake = wake
        self._lock = threading.RLock()
        self._stream = Stream(self._on_overflow, self._end_batch)
        self._watches = Watches(self._stream, self)
        self._cover = Cover(root, exclusions, self._watches, self._lock)
        self._barriers: dict[int, threading.Event] = {}
        self._released: list[threading.Event] = []
        self._probed = threading.Event()
        # What the next Dirty will hold, and what `tidy` has to do.
        self._paths: set[bytes] = set()
        self._everything = self._control = False
        self._outdated: set[bytes] = set()
        self._rules_changed = self._index_changed = self._control_changed = 0
        self.lost = False
        """Whether the root is not where it was."""
        self.overflows = 0

    # From other threads

    def start(self) -> None:
        """Watch everything; returns when that is done."""
        self._stream.start()
        self._watch_control()
        self._cover.add(b"")

    def halt(self) -> None:
        self._cover.stopping = True
        self._probed.set()

    def stop(self) -> None:
        self.halt()
        self._stream.stop()
        if self._stream.ident is not None:
            self._stream.join()
        with self._lock:
            for barrier in self._barriers.values():
                barrier.set()

    @property
    def full(self) -> bool:
        """Whether the limit on watches was met."""
        return self._cover.full

    @property
    def alive(self) -> bool:
        return self._stream.is_alive()

    @property
    def count(self) -> int:
        return len(self._watches)

    def unwatched(self) -> frozenset[bytes]:
        """Folders without a watch, and so all below them: too few watches, or no right to read them."""
        with self._lock:
            return frozenset(self._cover.unwatched)

    def flush(self, timeout: float) -> bool:
        """Wait until all events queued by now were given to `on_dirty`; False if that took too long.

        The kernel tells of the end of a watch in the same queue, in order: a watch that is taken and given
        back is a mark behind all that came before.
        """
        barrier = threading.Event()
        try:
            with self._lock:
                self._barriers[self._watches.mark()] = barrier
        except OSError:  # no watch to be had, or stopped: what was missed may be anything
            self._on_dirty(Dirty(everything=True))
            return True
        return barrier.wait(timeout)

    def probe(self, file: bytes, timeout: float) -> bool:
        """Whether making `file` (absolute) makes an event; True where that cannot be tried."""
        folder = os.path.dirname(file)
        with self._lock:
            self._probed.clear()
            if self._watches.add("probe", folder, folder) != "new":
                return True
        try:
            os.close(os.open(file, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
            os.unlink(file)
            return self._probed.wait(timeout)
        except OSError:
            return True
        finally:
            with self._lock:
                descriptor = self._watches.find("probe", folder)
                if descriptor is not None:
                    self._watches.release(descriptor, "probe")

    def tidy(self) -> None:
        """What takes longer than an event may: rules read anew, watches set and dropped accordingly.

        Raises WorktreeError where git fails; the next call tries again.
        """
        with self._lock:
            rules, index, control = self._rules_changed, self._index_changed, self._control_changed
        outside = self._exclusions.changed()
        if rules or index or outside:
            turned = self._exclusions.reload() if rules or outside else self._exclusions.reload_index()
            with self._lock:
                self._rules_changed -= rules
                self._index_changed -= index
                self._everything |= outside
                self._paths |= turned
                if turned or outside:
                    self._outdated.add(b"")
        if control or outside:
            self._watch_control()
            with self._lock:
                self._control_changed -= control
        with self._lock:
            outdated, self._outdated = self._outdated, set()
        for folder in outdated:
            self._renew(folder)
        self._emit()

    def retry(self) -> None:
        """Try again to watch what could not be watched."""
        with self._lock:
            self._cover.full = False
            folders, self._cover.unwatched = self._cover.unwatched, set()
        for folder in sorted(folders):
            self._renew(folder)
        self._emit()

    def watch_again(self) -> None:
        """The root is back, or another folder lies in its place."""
        self._renew(b"")
        with self._lock:
            self.lost = False
            self._everything = True
        self._emit()

    # Watches

    def _renew(self, top: bytes) -> None:
        """Set the watches at and below `top` anew; what is newly watched is dirty."""
        fresh = self._cover.renew(top)
        with self._lock:
            self._paths.update(fresh)

    def _watch_control(self) -> None:
        for folder in self._exclusions.control_folders():
            with self._lock:
                self._watches.add("control", folder, folder)

    # Events, on the event thread

    def on_event(self, event: InotifyEvent) -> None:
        arrived = None
        with self._lock:
            for watch in self._watches[event.wd]:
                match watch.kind:
                    case "tree":
                        arrived = self._on_tree(event, watch.path)
                    case "gate":
                        if event.name in _REPOSITORY:
                            self._repository_changed(watch.path)
                    case "control":
                        self._on_control(event.name)
                    case "probe":
                        self._probed.set()
        if arrived is not None:
            self._cover.add(arrived)  # without the lock: it may take long

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        with self._lock:
            self._watches.ended(wd)

    def on_queue_overflow(self) -> None:
        """Never called: `_Stream` hears of an overflow first."""

    def _on_overflow(self) -> None:
        with self._lock:
            self.overflows += 1
            self._everything = True
            self._outdated.add(b"")
            # A mark may have been among what was lost; all that it stands for is dirty now.
            self._released += self._barriers.values()
            self._barriers.clear()
        self._wake()

    def _on_tree(self, event: InotifyEvent, folder: bytes) -> bytes | None:
        """Note what an event makes dirty; return a folder to be watched, if it brought one."""
        if not event.name:
            if event.mask & _ROOT_LOST and (not folder or event.mask & _C.IN_UNMOUNT):
                self.lost |= not folder
                self._everything = True
                self._wake()
            elif not folder and event.mask & _C.IN_ATTRIB:
                self._everything = True
            return None
        path = join(folder, event.name)
        if event.name == b".git":
            self._repository_changed(folder)
            return folder if event.mask & _ARRIVED else None
        if event.mask & _C.IN_ISDIR:
            return self._on_folder(event, path)
        if event.name in RULE_FILES:
            self._paths.add(folder)
            self._rules_outdated(folder)
        if self._in_doubt or not self._exclusions.file(path):
            self._paths.add(path)
        return None

    @property
    def _in_doubt(self) -> bool:
        """Whether what is excluded is about to be read anew."""
        return bool(self._rules_changed or self._index_changed)

    def _on_folder(self, event: InotifyEvent, path: bytes) -> bytes | None:
        if not event.mask & _ARRIVED:
            self._watches.release_below(path)
            self._cover.unwatched.discard(path)
        if self._exclusions.folder(path) and not self._in_doubt:
            return None
        self._paths.add(path)
        return path if event.mask & _ARRIVED else None

    def _repository_changed(self, folder: bytes) -> None:
        """A repository began or ended in `folder`: what is below it may change sides."""
        self._paths.add(folder)
        if not folder:
            self._everything = self._control = True
            self._control_changed += 1
        self._rules_outdated(folder)

    def _on_control(self, changed: bytes) -> None:
        if changed.endswith(b".lock"):
            return
        self._control = True
        self._control_changed += 1
        self._index_changed += changed == b"index"
        self._wake()  # whether rules outside the tree are others is seen by `tidy`

    def _rules_outdated(self, folder: bytes) -> None:
        self._rules_changed += 1
        self._outdated.add(folder)
        self._wake()

    def _end_batch(self, removed: Iterable[int]) -> None:
        with self._lock:
            self._released += [self._barriers.pop(mark) for mark in removed if mark in self._barriers]
            released, self._released = self._released, []
        self._emit()
        for barrier in released:
            barrier.set()

    def _emit(self) -> None:
        with self._lock:
            dirty = Dirty(frozenset(self._paths), self._everything, self._control)
            self._paths.clear()
            self._everything = self._control = False
        if dirty:
            self._on_dirty(dirty)
