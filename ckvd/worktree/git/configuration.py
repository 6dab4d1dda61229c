"""Which files configure git for a worktree, and the few settings in them that bear on a listing."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace

from ckvd.model import Stamp
from ckvd.worktree.git import process
from ckvd.worktree.read import stamp_at

_ELSEWHERE = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")
_INCLUDES = re.compile(rb"include(?:if\.(?P<condition>.*))?\.path", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Read:
    files: tuple[bytes, ...]
    stamps: tuple[Stamp | None, ...]
    excludes: bytes
    attributes: bytes
    ignore_case: bool


class Configuration:
    """Read by git itself, `include` and all, and again once one of the files has changed, or the branch where
    an `includeIf` asks for it."""

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
        # Git names no file that says nothing yet: where one may be, or is included, is watched as well.
        files = {b"/etc/gitconfig", os.path.expanduser(b"~/.gitconfig"), home + b"/config"}
        files |= {self._git_dir + b"/config", self._git_dir + b"/config.worktree"}
        files |= {os.fsencode(os.environ[name]) for name in _ELSEWHERE if os.environ.get(name)}
        excludes, attributes, ignore_case = home + b"/ignore", home + b"/attributes", False
        if process.available():
            files |= self._named(self._ask("--list", "--show-origin"))
            excludes = self._absolute(
                (self._ask("--type=path", "--get", "core.excludesFile") or [excludes])[0]
            )
            attributes = self._absolute(
                (self._ask("--type=path", "--get", "core.attributesFile") or [attributes])[0]
            )
            ignore_case = self._ask("--type=bool", "--get", "core.ignoreCase") == [b"true"]
        return _Read((*sorted(files), excludes, attributes), (), excludes, attributes, ignore_case)

    def _named(self, listed: list[bytes]) -> set[bytes]:
        """The files that settings come from, and those that they include; `listed` has origin and setting in
        turn."""
        files = set()
        for origin, setting in zip(listed[::2], listed[1::2], strict=False):
            if origin.startswith(b"file:"):
                file = self._absolute(origin[5:])
                files.add(file)
                key, _, value = setting.partition(b"\n")
                if include := _INCLUDES.fullmatch(key):
                    files.add(os.path.join(os.path.dirname(file), os.path.expanduser(value)))
                    if (include["condition"] or b"").startswith(b"onbranch:"):
                        files |= {self._git_dir + b"/HEAD", self._git_dir + b"/reftable/tables.list"}
        return files

    def _ask(self, *arguments: str) -> list[bytes]:
        located = (b"--git-dir=" + self._git_dir, b"--work-tree=" + self._worktree)
        return process.records(process.run((*located, "config", "-z", *arguments), self._worktree).stdout)

    def _absolute(self, path: bytes) -> bytes:
        return os.path.join(self._worktree, path)
