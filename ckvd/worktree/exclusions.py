"""What needs no watching, judged in this process. In doubt it is watched: a scan decides later."""

from __future__ import annotations

import os
from collections.abc import Collection

from ckvd.config import Config
from ckvd.worktree.git import Repo, Root, is_repository
from ckvd.worktree.ignore import Ignore
from ckvd.worktree.paths import folders_of, name, parent
from ckvd.worktree.scan import Selection, git_dirs

RULE_FILES = frozenset((b".gitignore", b".ckvignore"))


class Exclusions:
    """The folders and files of a tree whose events tell nothing. Not thread-safe; of its own Repo, so that it
    can be used on another thread than the index."""

    def __init__(self, root: Root, config: Config, own_files: Collection[bytes] = ()) -> None:
        self._root = root.path
        self._repo = Repo(root) if root.git_dir is not None else None
        self._config = config
        self._own_files = own_files
        self._outside: object = None
        self._tracked: object = None
        self._load_rules()
        self._load_index()

    @property
    def in_git(self) -> bool:
        return self._repo is not None

    def reload(self) -> frozenset[bytes]:
        """Read the rules and git's index again; return what the index has put on the other side: files that
        rules match, and folders that are repositories if nothing in them is tracked."""
        kept, own_folders = self._kept, self._own_folders
        self._load_rules()
        self._load_index()
        turned = (f for f in self._own_folders ^ own_folders if is_repository(os.path.join(self._root, f)))
        return (self._kept ^ kept).union(turned)

    def reload_index(self) -> frozenset[bytes]:
        """The same after git's index was written, which mostly leaves its names as they are."""
        if self._repo is None or self._repo.tracked() == self._tracked:
            return frozenset()
        return self.reload()

    def changed(self) -> bool:
        """Whether a rule file that lies outside the tree has changed since the last reload."""
        return self._repo is not None and self._outside != self._repo.rules()

    def control_folders(self) -> list[bytes]:
        """Absolute paths of git's own folders to watch."""
        return [] if self._repo is None else self._repo.control_folders()

    def folder(self, path: bytes) -> bool:
        """Whether nothing below the folder `path` is indexed, given that none of its parents is so."""
        if self._selection.leaves_out_folder(path):
            return True
        if path in self._kept_folders:
            return False
        above = parent(path)
        if above and above not in self._own_folders and is_repository(os.path.join(self._root, above)):
            return True  # inside another repository, whose own folder is watched lest it cease to be one
        return self._ignored(path, folder=True)

    def file(self, path: bytes) -> bool:
        """Whether the file `path` is no part of the index."""
        if self._selection.leaves_out(path):
            return name(path) not in RULE_FILES
        return path not in self._kept and self._ignored(path, folder=False)

    def _ignored(self, path: bytes, *, folder: bool) -> bool:
        place = path
        while place not in self._rules:
            place = parent(place)
        return path != place and self._rules[place].ignored(path[len(place) :].lstrip(b"/"), folder=folder)

    def _load_rules(self) -> None:
        own = (*self._own_files, *git_dirs(self._root, self._repo))
        self._selection = Selection(self._root, self._config, own)
        self._submodules: frozenset[bytes] = frozenset()
        if self._repo is None:
            self._rules = {b"": Ignore(self._root, (b".gitignore",))}
            return
        self._outside = self._repo.rules()
        submodules = dict(self._repo.submodules())
        self._submodules = frozenset(submodules)
        self._rules = {b"": self._repo.ignore(), **{path: sub.ignore() for path, sub in submodules.items()}}

    def _load_index(self) -> None:
        kept: frozenset[bytes] = frozenset()
        own_folders = self._submodules
        if self._repo is not None:
            self._tracked = self._repo.tracked()
            kept = self._repo.tracked_but_ignored()
            own_folders |= self._repo.tracked_folders()
        # Another thread may ask meanwhile: each is replaced whole.
        self._kept_folders = self._submodules.union(folders_of((*kept, *self._submodules)))
        self._own_folders = own_folders
        self._kept = kept
