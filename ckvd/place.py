"""From ROOT and --db to the tree and the database that they mean."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ckvd.worktree.git.root import Root

_OWN = os.path.join(".ckvd", "index.db")


class Places(NamedTuple):
    """The files that belong to a database, all in its folder."""

    db: str

    @property
    def lock(self) -> str:
        return self.db + ".lock"

    @property
    def socket(self) -> str:
        return self.db + ".sock"

    @property
    def probe(self) -> str:
        """Made and removed at the start, to see whether the file system tells of it."""
        return self.db + ".probe"


class Place(NamedTuple):
    """A tree and the database that indexes it."""

    tree: Root
    places: Places

    @property
    def root(self) -> str:
        return os.fsdecode(self.tree.path)

    @property
    def db(self) -> str:
        return self.places.db

    def command(self, verb: str) -> str:
        """What to type into a shell, in any folder, to have `ckvd VERB` done here."""
        return command(verb, self.db, self.root)

    @property
    def files(self) -> tuple[str, ...]:
        """The database and what may lie beside it."""
        from ckvd.store.files import DAMAGED

        databases = (
            name + end for name in (self.db, self.db + DAMAGED) for end in ("", "-wal", "-shm", "-journal")
        )
        return (*databases, self.places.lock, self.places.socket, self.places.probe)

    @property
    def own_files(self) -> frozenset[bytes]:
        """The same relative to the tree, where they are inside it."""
        paths = (os.path.relpath(os.fsencode(path), self.tree.path) for path in self.files)
        return frozenset(path for path in paths if not path.startswith(b"../"))


def place(root: str | None, db: str | None) -> Place:
    """Where ROOT and --db lead. Raises WorktreeError where there is no such folder, or no working tree."""
    from ckvd.worktree.git.root import find_root

    tree = find_root(os.fsencode(root if root is not None else os.getcwd()))
    own = os.path.join(os.fsdecode(tree.path), _OWN)
    if db is None:
        return Place(tree, Places(own))
    folder, name = os.path.split(os.path.abspath(db))
    return Place(tree, Places(os.path.join(os.path.realpath(folder), name)))


def command(verb: str, db: str, root: str | None = None) -> str:
    """The command line of `ckvd VERB` for a database and its tree. Without `root` it names the tree whose own
    database `db` is; for any other database it is to be typed inside the tree."""
    import shlex  # for what is said of errors alone

    if root is None and db.endswith(os.sep + _OWN):
        root = os.path.dirname(os.path.dirname(db))
    own = root is not None and db == os.path.join(root, _OWN)
    return shlex.join(["ckvd", verb, *([root] if root else []), *([] if own else ["--db", db])])


def as_shown(text: str) -> str:
    """What was typed to name a path as the views show it; what is not UTF-8 has surrogates for its bytes."""
    return os.fsencode(text).decode("utf-8", "backslashreplace")


def near(root: str | None) -> tuple[str, str] | None:
    """What `place` most likely gives, without asking git: the nearest folder with a `.git`, or the folder
    itself where there is none, and its index.

    To be believed only where that index says itself that it is of that tree.
    """
    try:
        given = here = os.path.realpath(root if root is not None else os.getcwd(), strict=True)
    except OSError:
        return None
    while not os.path.lexists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            here = given
            break
        here = above
    db = os.path.join(here, _OWN)
    return (here, db) if os.path.exists(db) else None
