"""What the writer of the file is told, and what it tells: values without behaviour."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Protocol

from ckvd.model import Stamp


class Seen(Protocol):
    """When and how a file was last read: its stamp then, the time before, and the key of how it was cut."""

    @property
    def stamp(self) -> Stamp: ...
    @property
    def read_ns(self) -> int: ...
    @property
    def cut_key(self) -> str: ...


class Head(Protocol):
    """Where git's HEAD points: `ref` None when detached, `commit` None when unborn."""

    @property
    def ref(self) -> str | None: ...
    @property
    def commit(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class FileState:
    """What the store knows of a file, as far as deciding whether to read it again needs."""

    stamp: Stamp
    read_ns: int
    cut_key: str
    blob_oid: str | None
    language: str | None
    reason: str | None


class Trust(enum.Enum):
    """How far what is in a database is believed."""

    FULL = enum.auto()
    CHECKED = enum.auto()
    """All of it is checked first, and every row compared by the next pass: for after a DamagedStoreError."""
    NONE = enum.auto()
    """It is emptied: for where checking it did not help."""


class Foreign(enum.Enum):
    """What another program did to the file."""

    COMMITTED = enum.auto()
    """Changed rows, by SQLite."""
    WRITTEN = enum.auto()
    """Wrote to it: a checkpoint, or something that does it no good."""
