"""What a daemon says of itself while it runs: the message behind `ckvd status`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from ckvd.attention import Attention
from ckvd.control import Message
from ckvd.indexer import Indexer
from ckvd.notify import Notifier


@dataclass
class Standing:
    """The state and since when, and what is wrong. Written by the loop, read by the socket's threads."""

    notifier: Notifier
    state: str = "indexing"
    since: float = field(default_factory=time.time)
    errors: dict[str, str] = field(default_factory=dict)
    """One sentence with its remedy for each thing that is wrong now; by what it stops: `pass`, `store`,
    `vectors`, `config`."""

    passes: int = 0
    """Begun so far, those that changed nothing too."""
    _before: float | None = None
    """Since when it was in the state before; None where the pass before came to no end."""

    def enter(self, state: str, *, again: bool = False) -> None:
        """With `again`, what was between has changed nothing: it is as if the state had gone on."""
        if state == self.state:
            self._before = None
            return
        self.passes += state == "indexing"
        since = self._before if again else None
        self._before = self.since
        self.state, self.since = state, since or time.time()
        self.notifier.status(state)

    def told(self, indexer: Indexer, attention: Attention, more_errors: Iterable[str]) -> Message:
        progress = indexer.progress
        return {
            "pid": os.getpid(),
            "state": self.state,
            "since": self.since,
            "passes": self.passes,
            "phase": progress.phase,
            "pending_files": progress.pending + attention.known,
            "progress_age_s": progress.idle_s(indexer.pool.idle_s) if self.state == "indexing" else 0.0,
            "watch": attention.state(),
            "metrics": indexer.metrics.live(progress.files_per_s),
            "errors": [*self.errors.values(), *more_errors],
        }
