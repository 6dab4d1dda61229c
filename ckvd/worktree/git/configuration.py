"""Which files configure git for a worktree, and the few settings in them that bear on a listing."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from ckvd.model import Stamp
from ckvd.worktree.git import process
from ckvd.worktree.read import stamp_at


@dataclass(frozen=True, slots=True)
class _Read:
    files: tuple[bytes, ...]
    stamps: tuple[Stamp | None, ...]
    excludes: bytes
    attributes: bytes
    ignore_case: bool


class Configuration:
    """Read by git itself, `include` and all, and again once one of the files has changed."""

    def __init__(self, worktree: bytes, git_dir: bytes) -> None:
        self._worktree = worktree
        self._git_dir = git_dir
        self._last: _Read | None = None

    def rules(self) -> tuple[object, ...]:
        """All that the configuration decides about a listing: other settings in it leave that as it is."""
        now = self._current()
        return (now.excludes, now.stamps[-2], now.attributes, now.stamps[-1], now.ignore_case)

    def excludes(self) -> bytes:
        """The file of ignore rules for all repositories; it need not exist."""
        return self._current().excludes

    def attributes(self) -> bytes:
        """The same for attributes."""
        return self._current().attributes

    def ignore_case(self) -> bool:
        return self._current().ignore_case

    def _current(self) -> _Read:
        if self._last is None or self._last.stamps != tuple(map(stamp_at, self._last.files)):
            self._last = self._read(self._last.files if self._last is not None else ())
        return self._last

    def _read(self, files: tuple[bytes, ...]) -> _Read:
        """The stamps are from before git reads, so that a file written meanwhile is read again."""
        while True:
            stamps = tuple(map(stamp_at, files))
            told = self._told()
            if told.files == files:
                return replace(told, stamps=stamps)
            files = told.files

    def _told(self) -> _Read:
        home = os.fsencode(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")) + b"/git"
        files = {os.path.expanduser(b"~/.gitconfig"), home + b"/config", self._git_dir + b"/config.worktree"}
        excludes, attributes, ignore_case = home + b"/ignore", home + b"/attributes", False
        if process.available():
            origins = self._ask("--list", "--show-origin", "--name-only")
            files |= {self._absolute(o[5:]) for o in origins if o.startswith(b"file:")}
            excludes = self._absolute(
                (self._ask("--type=path", "--get", "core.excludesFile") or [excludes])[0]
            )
            attributes = self._absolute(
                (self._ask("--type=path", "--get", "core.attributesFile") or [attributes])[0]
            )
            ignore_case = self._ask("--type=bool", "--get", "core.ignoreCase") == [b"true"]
        return _Read((*sorted(files), excludes, attributes), (), excludes, attributes, ignore_case)

    def _ask(self, *arguments: str) -> list[bytes]:
        located = (b"--git-dir=" + self._git_dir, b"--work-tree=" + self._worktree)
        return process.records(process.run((*located, "config", "-z", *arguments), self._worktree).stdout)

    def _absolute(self, path: bytes) -> bytes:
        return os.path.join(self._worktree, path)
