"""When to act on events: one save at once, a storm in batches, a checkout when it is over.

Pure: time is an argument. Many paths in one folder fold into that folder, and very many into everything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from ckvd.worktree.paths import any_above, parent

SETTLE_S = 0.02
"""Quiet that must follow the last event: editors save in several steps, a few milliseconds apart."""

LIMIT_S = 0.5
"""The longest that a batch waits while events keep coming."""

BUSY_S = 10.0
"""The longest that a batch waits while git rewrites the tree."""

_AGAIN_S = 0.02
_SIBLINGS = 500
_MOST = 20_000


@dataclass(frozen=True, slots=True)
class Dirty:
    """What to look at. `paths` are files (to be read whatever their stamp says) and folders (with all below
    them, where stamps decide), relative to the root; `control`: something changed in git's own files;
    `polled`: no event told of some of it, it is merely time to look; `since` is when the first event came, on
    the debouncer's clock."""

    paths: frozenset[bytes] = frozenset()
    everything: bool = False
    control: bool = False
    polled: bool = False
    since: float | None = field(default=None, compare=False)

    @property
    def known(self) -> int:
        """How many paths are known to have changed; a folder counts as one."""
        return 0 if self.polled else len(self.paths)

    def __bool__(self) -> bool:
        return bool(self.paths) or self.everything or self.control


class Debouncer:
    """Collects what is dirty until it is time to take it. Times are seconds of any one steady clock."""

    def __init__(self, settle_s: float = SETTLE_S, limit_s: float = LIMIT_S, busy_s: float = BUSY_S) -> None:
        self._settle_s = settle_s
        self._limit_s = max(limit_s, settle_s)
        self._busy_s = busy_s
        self._not_before = 0.0
        self._batch: _Batch | None = None

    def add(self, dirty: Dirty, now: float) -> None:
        if not dirty:
            return
        if self._batch is None:
            self._batch = _Batch(first=now)
        self._batch.add(dirty, now)

    @property
    def known(self) -> int:
        """As `Dirty` has it, of all that waits; from any thread."""
        return batch.known if (batch := self._batch) is not None else 0

    def due(self) -> float | None:
        """When to call `take` next, None while nothing is dirty."""
        if self._batch is None:
            return None
        settled = min(self._batch.last + self._settle_s, self._batch.first + self._limit_s)
        return max(settled, self._not_before)

    def take(self, now: float, busy: Callable[[], bool] = lambda: False) -> Dirty | None:
        """The batch, if it is due and `busy` does not hold it up."""
        due = self.due()
        if due is None or self._batch is None or now < due:
            return None
        if now - self._batch.first < self._busy_s and busy():
            self._not_before = now + _AGAIN_S
            return None
        return self.take_all()

    def take_all(self) -> Dirty | None:
        """All that is dirty, due or not; None for nothing."""
        if self._batch is None:
            return None
        dirty = self._batch.dirty()
        self._batch = None
        self._not_before = 0.0
        return dirty


class _Batch:
    def __init__(self, first: float) -> None:
        self.first = self.last = first
        self._everything = False
        self._control = False
        self._polled = False
        self._by_folder: defaultdict[bytes, set[bytes]] = defaultdict(set)
        self._folded: set[bytes] = set()
        self._count = 0

    def add(self, dirty: Dirty, now: float) -> None:
        self.last = now
        self._everything |= dirty.everything
        self._control |= dirty.control
        self._polled |= dirty.polled
        for path in dirty.paths if not self._everything else ():
            self._add_path(path)
        self._everything |= b"" in self._folded or self._count > _MOST

    @property
    def known(self) -> int:
        return 0 if self._polled else self._count + len(self._folded)

    def dirty(self) -> Dirty:
        """What was folded, and all else that does not lie below it."""
        if self._everything:
            return Dirty(everything=True, control=self._control, polled=self._polled, since=self.first)
        single = (path for siblings in self._by_folder.values() for path in siblings)
        apart = (path for path in single if not self._folded or not any_above(path, self._folded))
        paths = frozenset(self._folded.union(apart))
        return Dirty(paths, control=self._control, polled=self._polled, since=self.first)

    def _add_path(self, path: bytes) -> None:
        folder = parent(path)
        if path == b"":
            self._folded.add(path)
        elif not self._folded or not any_above(folder, self._folded):
            siblings = self._by_folder[folder]
            self._count += path not in siblings
            siblings.add(path)
            if len(siblings) > _SIBLINGS:
                self._count -= len(self._by_folder.pop(folder))
                self._folded.add(folder)
