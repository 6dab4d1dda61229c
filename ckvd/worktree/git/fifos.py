"""FIFOs where git looks for rules: it opens them, and waits there for ever."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable

from ckvd.errors import WorktreeError
from ckvd.model import display_path
from ckvd.worktree.git.root import is_repository
from ckvd.worktree.ignore import Ignore
from ckvd.worktree.paths import join

NOTE = "a FIFO, at which git waits for ever; remove it"


class FifoError(WorktreeError):
    """`path` is relative to the worktree, or absolute for a file outside."""

    def __init__(self, path: bytes) -> None:
        super().__init__(f"{display_path(path)}: {NOTE}")
        self.path = path


class Fifos:
    """Those of one name in one worktree. A tree is looked through only while git takes long, and what was
    found then is remembered for as long as it is there."""

    def __init__(
        self,
        worktree: bytes,
        name: bytes,
        ignore: Callable[[], Ignore],
        outside: Callable[[], Iterable[bytes]],
    ) -> None:
        """`ignore` gives the rules by which folders are left out, `outside` the files of rules that hold for
        the whole tree."""
        self._worktree = worktree
        self._name = name
        self._ignore = ignore
        self._outside = outside
        self._met: bytes | None = None

    def check(self) -> None:
        """Raises FifoError while the one that `find` met is still there."""
        if self._met is not None and not self._is_fifo(self._met):
            self._met = None
        if self._met is not None:
            raise FifoError(self._met)

    def find(self) -> None:
        """Raises FifoError where there is one."""
        places = (*self._outside(), *self._places())
        self._met = next(filter(self._is_fifo, places), None)
        self.check()

    def _places(self) -> Iterable[bytes]:
        ignore = self._ignore()
        for absolute, folders, files in os.walk(self._worktree):
            folder = b"" if absolute == self._worktree else os.path.relpath(absolute, self._worktree)
            if self._name in files:
                yield join(folder, self._name)
            folders[:] = [
                below
                for below in folders
                if below != b".git"
                and not ignore.ignored(join(folder, below), folder=True)
                and not is_repository(os.path.join(absolute, below))
            ]

    def _is_fifo(self, path: bytes) -> bool:
        try:
            return stat.S_ISFIFO(os.stat(os.path.join(self._worktree, path)).st_mode)
        except OSError:
            return False
