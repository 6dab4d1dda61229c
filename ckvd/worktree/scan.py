"""What there is to index, as the disk has it now: regular files only, each with its stamp."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from ckvd.config import Config
from ckvd.errors import WorktreeError
from ckvd.model import Stamp, display_path
from ckvd.parse.generated import is_litter
from ckvd.worktree.git import Listing, Repo, is_repository
from ckvd.worktree.ignore import Ignore
from ckvd.worktree.paths import any_above, is_under, name
from ckvd.worktree.read import stamp_of
from ckvd.worktree.walk import walk

OWN_NAMES = frozenset((b".git", b".ckvd"))
"""Names that no indexed path has at any level."""

NO_STAMP = Stamp(0, 0, 0, 0)
"""The stamp of a file that cannot even be looked at."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file to have a row. `problem` is set where it cannot be looked at, and `stamp` then is NO_STAMP.

    `included`: `index.include` names it, so that no default leaves it out.
    """

    stamp: Stamp
    problem: str | None = None
    included: bool = False


@dataclass(slots=True)
class Scan:
    """The files found, by path, and for people a line on what else was met, by the path that it is about.
    `only` is what was looked at, None for everything."""

    entries: dict[bytes, Entry] = field(default_factory=dict)
    notes: dict[bytes, str] = field(default_factory=dict)
    only: frozenset[bytes] | None = None

    def covers(self, path: bytes) -> bool:
        """Whether a file at `path` would be in `entries`: absent ones are then gone."""
        return self.only is None or any_above(path, self.only)


class Selection:
    """What is left out beside git's rules: `.ckvignore` at any level, the configuration, editors' litter,
    and ckvd's own files. Read anew for each scan."""

    def __init__(self, root: bytes, config: Config, own_files: Collection[bytes] = ()) -> None:
        self._own = frozenset(own_files)
        self._ignore = Ignore(root, (b".ckvignore",))
        self._exclude = _patterns(root, config.index.exclude)
        self._include = _patterns(root, config.index.include)
        self._includes_any = bool(config.index.include)
        self._mine_below: dict[bytes, bool] = {}

    def included(self, path: bytes) -> bool:
        return self._includes_any and self._include.ignored(path)

    def leaves_out(self, path: bytes) -> bool:
        """Whether the file at `path` is no part of the index. `index.include` outweighs `index.exclude` and
        the names of litter, never `.ckvignore`."""
        if self._mine(path) or self._ignore.ignored(path):
            return True
        return (is_litter(name(path)) or self._exclude.ignored(path)) and not self.included(path)

    def leaves_out_folder(self, path: bytes) -> bool:
        """Whether nothing below `path` can be part of the index."""
        if self._mine(path) or self._ignore.ignored(path, folder=True):
            return True
        return not self._includes_any and self._exclude.ignored(path, folder=True)

    def _mine(self, path: bytes) -> bool:
        folder, _, last = path.rpartition(b"/")
        mine = self._mine_below.get(folder)
        if mine is None:
            mine = not OWN_NAMES.isdisjoint(folder.split(b"/")) or any_above(folder, self._own)
            self._mine_below[folder] = mine
        return mine or last in OWN_NAMES or path in self._own


def scan(
    root: bytes,
    repo: Repo | None,
    config: Config,
    own_files: Collection[bytes] = (),
    only: Iterable[bytes] | None = None,
    alive: Callable[[], None] = lambda: None,
) -> Scan:
    """Look at the tree, or at the files and folders `only` (relative to `root`).

    `own_files` are the database and what lies beside it, relative to `root`. A path that vanished, or that is
    no regular file, is simply absent. `alive` is called again and again: what it raises ends the scan. Raises
    WorktreeError where the root is gone or git fails: what is known of the tree then still holds.
    """
    if not os.path.isdir(root):
        raise WorktreeError(f"{display_path(root)} is missing; what is indexed stays until it is back")
    chosen = None if only is None else frozenset(only)
    if chosen is not None and b"" in chosen:
        chosen = None
    selection = Selection(root, config, (*own_files, *git_dirs(root, repo)))
    listing = repo.listing(chosen) if repo is not None else _plain(root, selection, chosen, alive)
    found = Scan(notes=_notes(listing), only=chosen)
    folders = _Folders(root)
    for path in listing.files:
        alive()
        if selection.leaves_out(path):
            continue
        entry = folders.entry(path, selection.included(path))
        if entry is not None:
            found.entries[path] = entry
    return found


def _patterns(root: bytes, patterns: tuple[str, ...]) -> Ignore:
    return Ignore(root, (), [os.fsencode("\n".join(patterns))])


def git_dirs(root: bytes, repo: Repo | None) -> list[bytes]:
    """Git directories that lie in the tree under a name of their own (`--separate-git-dir`)."""
    if repo is None:
        return []
    inside = {path for path in (repo.git_dir, repo.common_dir) if is_under(path, root)}
    return [os.path.relpath(path, root) for path in inside]


def _plain(
    root: bytes, selection: Selection, chosen: frozenset[bytes] | None, alive: Callable[[], None]
) -> Listing:
    ignore = Ignore(root, (b".gitignore",))
    listing = Listing()
    for start in sorted(chosen) if chosen is not None else [b""]:
        if start and (
            ignore.ignored(start, folder=os.path.isdir(os.path.join(root, start)))
            or _in_repository(root, start)
        ):
            continue
        prune = selection.leaves_out_folder
        walked = walk(root, ignore, is_repository, start=start, prune=prune, alive=alive)
        listing.files += walked.files
        listing.nested += walked.nested
        listing.notes.update(walked.notes)
    return listing


def _in_repository(root: bytes, path: bytes) -> bool:
    """Whether `path` is, or lies in, a repository of its own below `root`."""
    while path:
        if is_repository(os.path.join(root, path)):
            return True
        path = path.rpartition(b"/")[0]
    return False


def _notes(listing: Listing) -> dict[bytes, str]:
    nested = dict.fromkeys(listing.nested, "another repository, left out; index it by itself")
    return {path: f"{display_path(path) or '.'}: {why}" for path, why in (listing.notes | nested).items()}


class _Folders:
    """Looks at files by `lstat`, and at every folder above them once: a symlink there hides all below it."""

    def __init__(self, root: bytes) -> None:
        self._prefix = root.rstrip(b"/") + b"/"
        self._states: dict[bytes, str | None] = {b"": ""}

    def entry(self, path: bytes, included: bool) -> Entry | None:
        folder = self._state(path.rpartition(b"/")[0])
        if folder is None:
            return None
        if folder:
            return Entry(NO_STAMP, folder, included)
        try:
            status = os.lstat(self._prefix + path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return Entry(NO_STAMP, _why(error), included)
        return Entry(stamp_of(status), None, included) if stat.S_ISREG(status.st_mode) else None

    def _state(self, folder: bytes) -> str | None:
        """ "" for a folder that can be passed, None for what is none (any more), else why not."""
        missing = []
        while folder not in self._states:
            missing.append(folder)
            folder = folder.rpartition(b"/")[0]
        state = self._states[folder]
        for below in reversed(missing):
            if state == "":
                state = self._look(below)
            self._states[below] = state
        return state

    def _look(self, folder: bytes) -> str | None:
        try:
            return "" if stat.S_ISDIR(os.lstat(self._prefix + folder).st_mode) else None
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return _why(error)


def _why(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)
