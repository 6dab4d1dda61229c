"""Status as one value: the database, whoever writes it, and how far it is behind the tree. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from ckvd.report.pace import Pace, pace
from ckvd.report.values import Snapshot

State = Literal["watching", "indexing", "stopped"]

STALLED_S = 300.0
"""A pass in which no file was finished for so long is stuck, however lively its process."""

WAL_HELD_BYTES = 64 << 20

FRESH, WEDGED, BEHIND = 0, 1, 3
"""What a check finds, as its exit codes."""


@dataclass(frozen=True, slots=True)
class Behind:
    """Paths that the next pass would add, index anew or remove; `head` is (ref, commit) now."""

    new: tuple[bytes, ...] = ()
    changed: tuple[bytes, ...] = ()
    gone: tuple[bytes, ...] = ()
    head: tuple[str | None, str | None] | None = None
    notes: tuple[str, ...] = ()

    @property
    def files(self) -> int:
        return len(self.new) + len(self.changed) + len(self.gone)


@dataclass(frozen=True, slots=True)
class Daemon:
    """Who writes the database now: a daemon, or `ckvd index`, of which only the pid is known.

    `since` is in Unix seconds; `pending_files` None where it does not say; `stalled` is a sentence or None.
    """

    pid: int | None
    state: State
    since: float | None = None
    pending_files: int | None = None
    phase: str = ""
    stalled: str | None = None
    watch: Mapping[str, Any] = field(default_factory=dict)
    """`mode`, `watches`, `polled`, `poll_s`, `overflows`, and `reason` where watching is degraded."""
    errors: tuple[str, ...] = ()
    metrics: Mapping[str, Any] = field(default_factory=dict)
    """What `ckvd.metrics` tells of the work since it was last noted in the database."""


def heard(live: Mapping[str, Any]) -> Daemon:
    """What a daemon's answer to `status` means."""
    age = float(live.get("progress_age_s") or 0.0)
    state: State = "watching" if live["state"] == "watching" else "indexing"
    stalled = None
    if state == "indexing" and age > STALLED_S:
        minutes = f"{age / 60:.0f} minutes"
        stalled = f"no file was finished for {minutes}; end the daemon (pid {live['pid']}) and run it again"
    return Daemon(
        pid=live["pid"],
        state=state,
        since=live.get("since"),
        pending_files=live.get("pending_files"),
        phase=str(live.get("phase") or ""),
        stalled=stalled,
        watch=live.get("watch") or {},
        errors=tuple(live.get("errors", ())),
        metrics=live.get("metrics") or {},
    )


@dataclass(frozen=True, slots=True)
class Status:
    """Everything that `status` shows, as of `now` (Unix seconds).

    `data` is the database at one moment, `built` whether there is one at all. `behind` is None where a
    daemon speaks for the tree, or the tree cannot be looked at. `limit` is in tokens, None where the
    configuration or the model cannot be read.
    """

    root: bytes
    db: bytes
    built: bool
    data: Snapshot
    now: float
    daemon: Daemon | None = None
    behind: Behind | None = None
    limit: int | None = None
    errors: tuple[str, ...] = ()
    misconfigured: bool = False
    """`ckv.yaml` as it is now cannot be followed, so that what the index should be is not known."""
    unusable: Mapping[str, str] = field(default_factory=dict)
    """What is wrong with the data of a language, by its name."""

    @property
    def state(self) -> State:
        return self.daemon.state if self.daemon else "stopped"

    @property
    def stalled(self) -> bool:
        return self.daemon is not None and self.daemon.stalled is not None

    @property
    def since(self) -> float | None:
        """When this state began, Unix seconds; of a stopped index, when it was last brought up to date."""
        return self.daemon.since if self.daemon else _moment(self.data.meta.get("last_sync"))

    @property
    def revision(self) -> int:
        return int(self.data.meta.get("revision") or 0)

    @property
    def head(self) -> tuple[str | None, str | None]:
        """(ref, commit) of HEAD as indexed; both None outside git."""
        ref, commit = self.data.meta.get("head_ref"), self.data.meta.get("head_commit")
        return None if ref is None else str(ref), None if commit is None else str(commit)

    @property
    def pending_files(self) -> int:
        if self.daemon and self.daemon.pending_files is not None:
            return self.daemon.pending_files
        return self.behind.files if self.behind else 0

    @property
    def known(self) -> bool:
        """Whether it can be told how far the index is behind."""
        return (self.daemon is not None or self.behind is not None) and not self.misconfigured

    @property
    def pace(self) -> Pace:
        return pace(self.data.metrics, self.daemon.metrics if self.daemon else {})

    @property
    def pending_s(self) -> float | None:
        """How long what is pending will take at the pace so far; None where that is not known."""
        return self.pace.seconds(self.pending_files, self.data.pending_vectors)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is no error and should be known: repositories left out, a log that a reader holds up."""
        found = list(self.behind.notes) if self.behind else self._noted
        if self.daemon and (reason := self.daemon.watch.get("reason")):
            found.append(f"watching is degraded: {reason}")
        if self.data.wal_bytes > WAL_HELD_BYTES:
            grown = f"the write-ahead log has grown to {self.data.wal_bytes >> 20} MiB"
            found.append(f"{grown}: another program holds a read transaction open; end it")
        return tuple(dict.fromkeys(found))

    @property
    def _noted(self) -> list[str]:
        """What the last look at the whole tree noted."""
        noted = self.data.meta.get("notes")
        return [str(note) for note in json.loads(noted)] if isinstance(noted, str) else []

    @property
    def _without_data(self) -> list[str]:
        """A line for each language that is not cut on syntax since its data are wrong."""
        broken = dict(self.unusable)
        for f in self.data.failures:
            if f.reason == "language-data" and f.language is not None and f.detail is not None:
                broken.setdefault(f.language, f.detail.partition(";")[0])
        return [
            f"{name} is not cut on syntax, since its data are wrong ({why}); reinstall ckvd or mend that file"
            for name, why in sorted(broken.items())
        ]

    @property
    def problems(self) -> tuple[str, ...]:
        """What someone must mend, each with its remedy."""
        errors = (*self.errors, *self._without_data)
        if self.daemon is None:
            return tuple(dict.fromkeys(errors))
        told = (*((self.daemon.stalled,) if self.daemon.stalled else ()), *self.daemon.errors)
        # A daemon says of a wrong configuration what was found here too, and more.
        more = (error for error in errors if not any(said.startswith(error) for said in told))
        return tuple(dict.fromkeys((*told, *more)))

    @property
    def verdict(self) -> int:
        """FRESH, BEHIND or WEDGED. It is about the rows: their vectors may still be on the way."""
        if self.stalled:
            return WEDGED
        fresh = self.built and self.known and self.state != "indexing" and self.pending_files == 0
        return FRESH if fresh else BEHIND


def _moment(value: str | int | float | None) -> float | None:
    """Unix seconds, or ISO 8601, as Unix seconds."""
    if not isinstance(value, str):
        return value
    try:
        return datetime.fromisoformat(value).timestamp()
    except ValueError:
        return None
