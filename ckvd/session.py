"""What the commands share: from ROOT and --db to opened things, used and closed again."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ckvd.control import Lock, Places, ask
from ckvd.errors import LockedError, NoDaemonError, StoreError, TimeoutExpired
from ckvd.worktree.git import Root, find_root

WORKERS = max(1, min(4, (os.cpu_count() or 2)))


@dataclass(frozen=True, slots=True)
class Place:
    """A tree and the database that indexes it."""

    tree: Root
    places: Places

    @property
    def root(self) -> str:
        return os.fsdecode(self.tree.path)

    @property
    def db(self) -> str:
        return self.places.db


def place(root: str | None, db: str | None) -> Place:
    """Raises WorktreeError where there is no such folder, or it has no working tree."""
    tree = find_root(os.fsencode(root or os.getcwd()))
    path = os.path.abspath(db) if db else os.path.join(os.fsdecode(tree.path), ".ckvd", "index.db")
    return Place(tree, Places(path))
