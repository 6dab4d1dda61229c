"""All that ckvd knows of git. The git binary is the judge of what is in a tree; libgit2 stands in for it.

Paths are bytes, relative ones to the worktree's root. Nothing here writes: no lock is taken, no hook, filter
or file-system monitor is run, and `GIT_DIR` and its like in the environment are not heard.
"""

from ckvd.worktree.git.attributes import Attributes
from ckvd.worktree.git.following import Following
from ckvd.worktree.git.listing import Listing
from ckvd.worktree.git.process import end_all
from ckvd.worktree.git.refs import Head
from ckvd.worktree.git.repo import Repo
from ckvd.worktree.git.root import Root, find_root, is_repository
from ckvd.worktree.git.state import State

__all__ = [
    "Attributes",
    "Following",
    "Head",
    "Listing",
    "Repo",
    "Root",
    "State",
    "end_all",
    "find_root",
    "is_repository",
]
