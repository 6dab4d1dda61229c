"""HEAD from git's files: a look costs microseconds, so that it can be taken often."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from ckvd.model import Stamp, display_path
from ckvd.worktree.git.root import content
from ckvd.worktree.read import stamp_at

_OWN = (b"refs/bisect/", b"refs/worktree/", b"refs/rewritten/")
"""Refs that each linked worktree has for itself."""


@dataclass(frozen=True, slots=True)
class Head:
    """`ref` is None when detached, `commit` on an unborn branch; a ref that is not UTF-8 shows `\\xNN`."""

    ref: str | None
    commit: str | None


class Refs:
    """The refs of one worktree."""

    def __init__(self, git_dir: bytes, common_dir: bytes) -> None:
        self._git_dir = git_dir
        self._common_dir = common_dir
        self._packed: tuple[Stamp | None, bytes] = (None, b"")

    def branch(self) -> bytes | None:
        """The ref that HEAD names, None when it is detached or cannot be read."""
        told = _ref_file(self._git_dir + b"/HEAD")
        return told.removeprefix(b"ref:").strip() if told.startswith(b"ref:") else None

    def head(self) -> Head | None:
        """Where HEAD is, None where refs are not kept as files (reftable)."""
        branch = self.branch()
        if branch == b"refs/heads/.invalid":
            return None
        if branch is not None:
            return Head(display_path(branch), self._commit(branch))
        return Head(None, display_path(_ref_file(self._git_dir + b"/HEAD")) or None)

    def folder(self) -> bytes | None:
        """The folder that holds the loose ref of the branch."""
        branch = self.branch()
        return None if branch is None or not _sound(branch) else os.path.dirname(self._path(branch))

    def table_folders(self) -> tuple[bytes, ...]:
        """Where refs are that are kept in tables (reftable): those of this worktree, and those of all."""
        return tuple(dict.fromkeys((self._git_dir + b"/reftable", self._common_dir + b"/reftable")))

    def table_stamps(self) -> tuple[Stamp | None, ...]:
        """Equal for as long as no ref in a table moves."""
        return tuple(stamp_at(folder + b"/tables.list") for folder in self.table_folders())

    def _path(self, ref: bytes) -> bytes:
        return os.path.join(self._git_dir if ref.startswith(_OWN) else self._common_dir, ref)

    def _commit(self, ref: bytes) -> str | None:
        for _ in range(5):  # as deep as git follows symbolic refs
            if not _sound(ref):
                return None
            told = _ref_file(self._path(ref))
            if not told:
                return self._packed_commit(ref)
            if not told.startswith(b"ref:"):
                return display_path(told)
            ref = told.removeprefix(b"ref:").strip()
        return None

    def _packed_commit(self, ref: bytes) -> str | None:
        path = self._common_dir + b"/packed-refs"
        stamp = stamp_at(path)
        if self._packed[0] != stamp:
            self._packed = (stamp, content(path))
        match = re.search(rb"(?m)^([0-9a-f]{40,64}) " + re.escape(ref) + rb"\r?$", self._packed[1])
        return match[1].decode() if match else None


def _sound(ref: bytes) -> bool:
    """Not a path that leads out of the git directory."""
    return ref.startswith(b"refs/") and b".." not in ref


def _ref_file(path: bytes) -> bytes:
    try:
        return b"ref: " + os.readlink(path)  # HEAD as a symlink, as very old repositories have it
    except OSError:
        return content(path).strip()
