"""Ignore rules with git's semantics: nested, negated, anchored, and no way back below an ignored folder.

For trees outside git, for `.ckvignore`, for the patterns of the configuration, and to know which folders
need no watch. What a git tree holds is git's own word (`ckvd.worktree.git`); the tests hold this module to
`git check-ignore`. A library of path patterns does not do: those match a file by any part of its path at
once, whereas git judges each folder on the way by itself and stops at the first that is ignored.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ckvd.worktree.wildmatch import Pattern, parse

_LARGEST = 100 << 20
"""Bytes beyond which git refuses an ignore file."""


@dataclass(frozen=True, slots=True)
class _Level:
    """A folder: whether it is ignored, and the rules of its own file and of those above, nearest first.

    With each list of patterns goes the length of the folder's path that they are relative to.
    """

    ignored: bool
    rules: tuple[tuple[int, Sequence[Pattern]], ...]


class Ignore:
    """The rules of one tree. Rule files are read once, when their folder is first asked about."""

    def __init__(
        self, root: bytes, names: Iterable[bytes], sources: Iterable[bytes] = (), *, ignore_case: bool = False
    ) -> None:
        """`names` are the rule files to look for in each folder (`.gitignore`); `sources` are rules for the
        whole tree, the weakest first, all of them weaker than any rule file."""
        self._root = root
        self._names = tuple(names)
        self._ignore_case = ignore_case
        base = tuple((0, rules) for s in sources if (rules := parse(s, ignore_case=ignore_case)))
        self._levels = {b"": _Level(False, (*self._own(b""), *reversed(base)))}

    def ignored(self, path: bytes, *, folder: bool = False) -> bool:
        """Whether the rules hide `path` (relative to the root), by itself or by a folder above it."""
        level = self._level(path.rpartition(b"/")[0])
        return level.ignored or (bool(level.rules) and _verdict(level, path, folder))

    def _level(self, folder: bytes) -> _Level:
        known = self._levels.get(folder)
        if known is not None:
            return known
        missing = []
        while folder not in self._levels:
            missing.append(folder)
            folder = folder.rpartition(b"/")[0]
        level = self._levels[folder]
        for below in reversed(missing):
            if level.ignored or _verdict(level, below, True):
                level = _Level(True, ())
            elif own := self._own(below):
                level = _Level(False, (*own, *level.rules))
            self._levels[below] = level
        return level

    def _own(self, folder: bytes) -> tuple[tuple[int, Sequence[Pattern]], ...]:
        """The rules that stand in `folder` itself, those of the last name first."""
        start = len(folder) + 1 if folder else 0
        contents = (_rule_file(os.path.join(self._root, folder, name)) for name in reversed(self._names))
        return tuple((start, parse(text, ignore_case=self._ignore_case)) for text in contents if text)


def _verdict(level: _Level, path: bytes, folder: bool) -> bool:
    name = path.rpartition(b"/")[2]
    for start, patterns in level.rules:
        below = path[start:]
        for pattern in reversed(patterns):
            if pattern.matches(below, name, folder):
                return not pattern.negative
    return False


def _rule_file(path: bytes) -> bytes:
    """As git does, follow no symlink and take an unreadable file for an empty one; open nothing irregular."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return b""
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size >= _LARGEST:
            return b""
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)
