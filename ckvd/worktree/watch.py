"""Notices what changes in a tree: by the system's events where it sends any, by looking again where not."""

from __future__ import annotations

import logging
import os
import platform
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from ckvd.errors import Stopped, WorktreeError
from ckvd.worktree.debounce import Dirty
from ckvd.worktree.exclusions import Exclusions
from ckvd.worktree.mounts import mounts, silent_folders

POLL_S = 2.0
"""The least time between two looks at what no events tell of."""

POLL_SHARE = 0.05
"""The share of the time that such looks take at most, however large the tree."""

_TICK_S = 1.0
_GATHER_S = 0.05
_PROBE_S = 2.0
_PROBES = 3
_STOP_S = 1.0

_log = logging.getLogger(__name__)


class Source(Protocol):
    """Where events come from."""

    lost: bool
    overflows: int

    @property
    def full(self) -> bool: ...
    @property
    def alive(self) -> bool: ...
    @property
    def count(self) -> int: ...
    def start(self) -> None: ...
    def halt(self) -> None: ...
    def stop(self) -> None: ...
    def unwatched(self) -> frozenset[bytes]: ...
    def flush(self, timeout: float) -> bool: ...
    def probe(self, file: bytes, timeout: float) -> bool: ...
    def tidy(self) -> None: ...
    def retry(self) -> None: ...
    def watch_again(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Watching:
    """How a tree is watched, for `status`. `watches` and `polled` count folders; `reason` says why any are
    polled, with the remedy, and `poll_s` how often; `overflows` counts how often events were lost and the
    whole tree compared."""

    mode: str
    watches: int
    polled: int
    poll_s: float
    reason: str | None
    overflows: int
    root_missing: bool


class Watcher:
    """Calls `on_dirty`, from its own threads, with what may have changed. Start it before the first scan."""

    def __init__(
        self,
        root: bytes,
        exclusions: Exclusions,
        on_dirty: Callable[[Dirty], None],
        *,
        probe_file: bytes | None = None,
        poll_s: float = POLL_S,
    ) -> None:
        """`probe_file` may be made to see whether that is told; `poll_s` is how often to look where no events
        come from, as long as that takes little time."""
        self._root = root
        self._exclusions = exclusions
        self._on_dirty = on_dirty
        self._probe_file = probe_file
        self._least_poll_s = self._poll_s = poll_s
        self._source: Source | None = None
        self._starting: Source | None = None
        self._mounts = mounts(root)
        self._silent = silent_folders(root)
        self._mute = False
        self._probes_left = _PROBES  # the first may come too late where the machine is busy
        self._failed: str | None = None
        self._identity: tuple[int, int] | None = None
        self._missing = False
        self._failure = ""
        self._stopping = threading.Event()
        self._woken = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="ckvd-watch", daemon=True)

    def start(self) -> None:
        """Returns when everything is watched. Raises WorktreeError where the root is missing or git fails."""
        self._identity = self._look()
        if self._identity is None:
            raise WorktreeError(f"{os.fsdecode(self._root)} is missing; nothing to watch")
        self._open_source()
        self._thread.start()

    def _open_source(self) -> bool:
        """Whether there are events now; where not, everything is polled."""
        try:
            source = _source(self._root, self._exclusions, self._on_dirty, self._woken.set)
        except OSError as error:
            self._failed = f"no inotify instance ({error.strerror}): raise fs.inotify.max_user_instances"
            return False
        self._starting = source
        source.start()
        self._probe(source)
        self._source, self._failed = source, None
        return True

    def halt(self) -> None:
        """Asks for an end, `start` included, and waits for nothing. What is called dirty from now on need not
        be all."""
        self._stopping.set()
        self._woken.set()
        for source in (self._source, self._starting):
            if source is not None:
                source.halt()

    def stop(self) -> None:
        self.halt()
        if self._thread.ident is not None:
            self._thread.join(_STOP_S)
        if self._source is not None:
            self._source.stop()

    def flush(self, timeout: float) -> bool:
        """Wait until `on_dirty` was called for all events that the system had queued before; False if that
        took longer than `timeout` seconds. What is polled is not waited for."""
        return self._source is None or self._source.flush(timeout)

    def polled(self, seconds: float) -> None:
        """To be told how long it took to look at what was called dirty for want of events: the larger the
        tree, the rarer the next."""
        self._poll_s = max(self._least_poll_s, seconds / POLL_SHARE)

    def state(self) -> dict[str, Any]:
        source = self._source
        polled = len(self._polled())
        events = b"" not in self._polled()
        return asdict(
            Watching(
                mode="polling" if not events else "events and polling" if polled else "events",
                watches=source.count if source is not None else 0,
                polled=polled,
                poll_s=round(self._poll_s, 1),
                reason=self._why(),
                overflows=source.overflows if source is not None else 0,
                root_missing=self._missing,
            )
        )

    def _why(self) -> str | None:
        source = self._source
        if self._failed is not None or source is None:
            return self._failed
        if self._mute:
            return "this file system sends no events"
        if self._silent:
            return "a network or shared file system, which does not tell of all changes"
        if source.full:
            return "no inotify watches left: raise fs.inotify.max_user_watches"
        return "some folders cannot be read" if source.unwatched() else None

    def _probe(self, source: Source) -> None:
        """A file system may accept a watch and never tell; only one that lies with the tree can say so."""
        file = self._probe_file
        if file is None or not _same_device(os.path.dirname(file), self._root):
            return
        self._probes_left -= 1
        self._mute = not source.probe(file, _PROBE_S)

    # The housekeeping thread

    def _keep(self) -> None:
        polled = time.monotonic()
        while not self._stopping.is_set():
            if self._woken.wait(_TICK_S) and not self._stopping.wait(_GATHER_S):
                self._woken.clear()
            if self._stopping.is_set():
                return
            try:
                self._check_root()
                if self._source is not None and not self._missing:
                    self._tidy(self._source)
                if time.monotonic() - polled >= self._poll_s:
                    polled = time.monotonic()
                    self._poll()
            except WorktreeError as error:
                if str(error) != self._failure:
                    # Once, not at every tick; the index meets it too, and says so.
                    _log.warning("%s", error)
                    self._on_dirty(Dirty(everything=True, control=True))
                self._failure = str(error)
            except Stopped:
                return
            else:
                self._failure = ""

    def _check_root(self) -> None:
        identity = self._look()
        if identity is None:
            if not self._missing:
                self._missing = True
                self._on_dirty(Dirty(everything=True))
        elif identity != self._identity or self._missing or (self._source is not None and self._source.lost):
            self._identity = identity
            self._missing = False
            if self._source is not None:
                self._source.watch_again()
            else:
                self._on_dirty(Dirty(everything=True))

    def _tidy(self, source: Source) -> None:
        source.tidy()
        if not source.alive:  # its thread met an error of the system's; what came since is lost
            _log.warning("the inotify instance failed and is replaced")
            self._source = None
            source.stop()
            if self._open_source():
                self._on_dirty(Dirty(everything=True, control=True))

    def _poll(self) -> None:
        if self._missing:
            return
        if self._source is None and self._open_source():
            self._on_dirty(Dirty(everything=True, control=True))
        if (mounted := mounts(self._root)) != self._mounts:
            self._mounts, self._silent = mounted, silent_folders(self._root)
            self._on_dirty(Dirty(everything=True))
            if self._source is not None:
                self._source.watch_again()
        elif self._source is not None and self._source.unwatched():
            self._source.retry()
        if self._source is not None and self._mute and self._probes_left:
            self._probe(self._source)
        if folders := self._polled():
            self._on_dirty(Dirty(folders, everything=b"" in folders, polled=True))

    def _polled(self) -> frozenset[bytes]:
        """The folders of which no events tell."""
        if self._source is None or self._mute:
            return frozenset((b"",))
        return self._source.unwatched().union(self._silent)

    def _look(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._root)
        except OSError:
            return None
        return (status.st_dev, status.st_ino)


def _source(
    root: bytes, exclusions: Exclusions, on_dirty: Callable[[Dirty], None], wake: Callable[[], None]
) -> Source:
    if platform.system() == "Linux":
        from ckvd.worktree.inotify import Inotify

        return Inotify(root, exclusions, on_dirty, wake)
    from ckvd.worktree.observer import Observed

    return Observed(root, exclusions, on_dirty, wake)


def _same_device(one: bytes, other: bytes) -> bool:
    try:
        return os.stat(one).st_dev == os.stat(other).st_dev
    except OSError:
        return False
