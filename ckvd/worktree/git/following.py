"""A root and its repository as they were last looked at, and what has changed of them since."""

from __future__ import annotations

import os

from ckvd.worktree.git.refs import Head
from ckvd.worktree.git.repo import Repo
from ckvd.worktree.git.root import Marks, Root, found_again, is_repository, marks
from ckvd.worktree.git.state import State
from ckvd.worktree.paths import folders_of

_MOST_TURNED = 5000
"""Paths beyond which everything is looked at: stamps then spare the reading."""


class Following:
    """What of git an index stands on. Not for several threads at once."""

    def __init__(self, tree: Root) -> None:
        """Asks anew what `tree` is: whoever found it may have waited since, or opens its index once more.

        Raises WorktreeError where there is no working tree any more.
        """
        seen = marks(tree)
        self._take(found_again(tree), seen)

    def _take(self, tree: Root, seen: Marks) -> None:
        self.tree = tree
        self.repo = Repo(tree) if tree.git_dir is not None else None
        self._marks = seen
        self._state: State | None = None

    def head(self) -> Head | None:
        """Where HEAD is; None outside git."""
        return self.repo.head() if self.repo is not None else None

    def root_moved(self) -> bool:
        """Whether the root's repository came, went or changed since `follow_root`; some stats."""
        return marks(self.tree) != self._marks

    def follow_root(self) -> bool:
        """Asks anew what the root is, where that may have changed; whether its repository is another now.

        Raises WorktreeError where there is no working tree any more.
        """
        seen = marks(self.tree)
        if seen == self._marks and self.tree.reason is None:
            return False
        tree = found_again(self.tree)
        if tree == self.tree and seen.repository == self._marks.repository:
            self._marks = seen
            return False
        self._take(tree, seen)
        return True

    def git_moved(self) -> bool:
        """Whether HEAD, git's index or its rules are others than when last followed; some stats."""
        return self.repo is not None and self.repo.state() != self._state

    def follow_git(self) -> frozenset[bytes] | None:
        """The paths that may have changed sides since this was last called; None for everything."""
        if self.repo is None:
            return frozenset()
        before, self._state = self._state, self.repo.state()
        return None if before is None else turned(self.repo.path, before, self._state)


def turned(root: bytes, before: State, now: State) -> frozenset[bytes] | None:
    """What may have changed sides between two states: files, and folders with all below them; None for
    everything."""
    paths = now.turned(before)
    if paths is None or len(paths) > _MOST_TURNED:
        return None
    # A folder with a tracked file is never a repository of its own; one without it may be.
    above = (f for f in folders_of(paths) if is_repository(os.path.join(root, f)))
    return frozenset(paths.union(above))
