"""How often recent commits changed each file; libgit2 reads them, which starts no process a commit."""

from __future__ import annotations

import os
from collections import Counter
from itertools import islice

from ckvd.worktree.git.repo import Repo

RECENT = 500
"""Commits looked at, the latest of HEAD first; merges change nothing of their own and are passed over."""


def touches(repo: Repo, recent: int = RECENT) -> Counter[bytes]:
    """For each path, of checked-out submodules too, how many of the latest `recent` commits changed it.

    Counts as far as the history can be read: a shallow clone ends early, and of a repository that libgit2
    cannot open nothing is known.
    """
    found = _touches(repo.git_dir, recent)
    for path, submodule in repo.submodules():
        inner = _touches(submodule.git_dir, recent)
        found.update({path + b"/" + name: n for name, n in inner.items()})
    return found


def _touches(git_dir: bytes, recent: int) -> Counter[bytes]:
    import pygit2  # slow to import, and needed only here

    found: Counter[bytes] = Counter()
    try:
        repository = pygit2.Repository(os.fsdecode(git_dir))
        if repository.head_is_unborn:
            return found
        order = pygit2.enums.SortMode.TOPOLOGICAL | pygit2.enums.SortMode.TIME
        for commit in islice(repository.walk(repository.head.target, order), recent):
            if len(commit.parent_ids) > 1:
                continue
            if commit.parents:
                diff = commit.parents[0].tree.diff_to_tree(commit.tree)
            else:
                diff = commit.tree.diff_to_tree(swap=True)
            found.update({delta.new_file.raw_path for delta in diff.deltas})
    except (pygit2.GitError, KeyError):
        return found
    return found
