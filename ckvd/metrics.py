"""What the work was like, kept in memory and now and then added to the row of the hour.

An idle process has nothing to add and writes nothing; what was not yet added is lost with a killed one.
"""

from __future__ import annotations

import contextlib
import time

from ckvd.errors import StoreError
from ckvd.store.metrics import Sample, bucket
from ckvd.store.writer import Writer

HOUR_S = 3600
FLUSH_S = 20.0
"""How often at most a row is written."""

STATE_SHARE = 0.001
"""The share of the time that looking at all outcomes and sizes may take, beyond once an hour."""


class Metrics:
    """Collects for one store. For the thread that writes it, but for `live`, which any may call."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._sample = Sample()
        self._waiting: list[tuple[int, float]] = []  # revisions that wait for vectors, since when
        self._last_row_s: float | None = None
        self._last_vector_s: float | None = None
        self._hour: int | None = None
        self._next_flush = 0.0
        self._next_state = 0.0

    # -- what happened ------------------------------------------------------------------------------

    def indexed(self, files: int, seconds: float) -> None:
        """A pass changed rows, analysing so many files in that time."""
        self._sample.changed = True
        self._sample.files += files
        self._sample.files_s += seconds

    def embedded(self, texts: int, seconds: float) -> None:
        self._sample.embedded += texts
        self._sample.embedded_s += seconds

    def edited(self, revision: int, since: float) -> None:
        """The revision just committed came of events, the first of which came at `since`."""
        now = time.monotonic()
        self._last_row_s = now - since
        self._sample.rows[bucket(self._last_row_s)] += 1
        if self._writer.newest_pending() == revision:
            self._waiting.append((revision, now))

    def vectors_came(self) -> None:
        """Some vectors were stored: perhaps the last that an edit waited for (the latest come first)."""
        if not self._waiting:
            return
        newest = self._writer.newest_pending()
        now = time.monotonic()
        while self._waiting and (newest is None or newest < self._waiting[-1][0]):
            self._last_vector_s = now - self._waiting.pop()[1]
            self._sample.vectors[bucket(self._last_vector_s)] += 1

    # -- what is told -------------------------------------------------------------------------------

    def live(self, files_per_s: float | None = None) -> dict[str, float | None]:
        """The last latencies in ms, and rates since the row was last written; None for what is not known.

        `files_per_s` is that of a pass under way.
        """
        sample = self._sample
        if files_per_s is None and sample.files and sample.files_s:
            files_per_s = sample.files / sample.files_s
        return {
            "row_ms": _ms(self._last_row_s),
            "vector_ms": _ms(self._last_vector_s),
            "files_per_s": files_per_s,
            "vectors_per_s": sample.embedded / sample.embedded_s if sample.embedded_s else None,
        }

    def flush(self, *, at_once: bool = False) -> None:
        """Adds to the hour's row what there is, if it is time to or `at_once`.

        What cannot be written is let go: it is worth no end, and the next pass meets and tells the cause.
        """
        now, hour = time.monotonic(), int(time.time()) // HOUR_S * HOUR_S
        if now < self._next_flush and not at_once:
            return
        due = now >= self._next_state or hour != self._hour or at_once
        if not (self._sample.worked or (self._sample.changed and due)):
            return
        sample, self._sample = self._sample, Sample(changed=self._sample.changed and not due)
        state = sample.changed and due
        with contextlib.suppress(StoreError):
            self._writer.record(hour, sample, state=state)
        done = time.monotonic()
        self._hour, self._next_flush = hour, done + FLUSH_S
        if state:
            self._next_state = done + (done - now) / STATE_SHARE


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 1)
