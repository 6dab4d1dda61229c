"""One small indexed repository in each state in which a reader may meet it, no daemon running."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

from support import Ckvd, Tree

FILES = {
    "src/cache.py": '''\
"""Caches."""


class ShardedLRUCache:
    """Holds a bounded number of entries; the oldest leaves first."""

    def __init__(self, shards: int) -> None:
        self.shards = [{} for _ in range(shards)]

    def _evict(self, shard: dict) -> None:
        """Drops the oldest entry."""
        shard.pop(next(iter(shard)))
''',
    "src/it's odd.py": "def größe(x):\n    return x\n\n\ndef after_größe(y): return y\n",
    "web/größe.js": "/* größe */ function nachher() {}\n",
    "broken.py": "def fine():\n    return 1\n\n\ndef torn(:\n    return (\n",
    "server.go": "package server\n\n// Listen waits.\nfunc Listen(port int) error {\n\treturn nil\n}\n",
}


def build(root: Path, ckvd: Ckvd) -> Tree:
    """A committed and indexed repository at `root`, which must not exist."""
    tree = Tree(root)
    tree.write(FILES)
    tree.git("init", "--quiet")
    tree.commit()
    ckvd("index", root)
    return tree


def _edit(tree: Tree, sql: str) -> None:
    with contextlib.closing(sqlite3.connect(tree.db)) as db:
        db.executescript(sql)


def _stale(tree: Tree) -> None:
    tree.write({"src/cache.py": "\n\n\n" + FILES["src/cache.py"]})


def _missing(tree: Tree) -> None:
    shutil.rmtree(tree.db.parent)


def _empty(tree: Tree) -> None:
    shutil.rmtree(tree.db.parent)
    tree.db.parent.mkdir()
    tree.db.touch(0o600)


def _folder(tree: Tree) -> None:
    shutil.rmtree(tree.db.parent)
    tree.db.mkdir(parents=True)


def _fifo(tree: Tree) -> None:
    shutil.rmtree(tree.db.parent)
    tree.db.parent.mkdir()
    os.mkfifo(tree.db)


def _no_database(tree: Tree) -> None:
    tree.db.write_bytes(b"not a database at all\n" * 500)


def _malformed(tree: Tree) -> None:
    page = 4096
    with tree.db.open("r+b") as file:
        file.seek(page)
        file.write(b"\xa5" * (tree.db.stat().st_size - page))


def break_names(tree: Tree) -> None:
    """Makes the full-text index of names one that SQLite cannot open; all else can be read."""
    with contextlib.closing(sqlite3.connect(tree.db)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ((page,),) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'names_fts_config'")
    with tree.db.open("r+b") as file:
        file.seek(4096 * (page - 1))
        file.write(b"\xff" * 4096)


def _newer(tree: Tree) -> None:
    """The next contract, in which the views that readers know have gone."""
    _edit(tree, "PRAGMA user_version = 2; DROP VIEW symbols; DROP VIEW meta;")


def _older(tree: Tree) -> None:
    _edit(tree, "UPDATE meta_kv SET value = 1 WHERE key = 'schema_version'")


def _foreign(tree: Tree) -> None:
    tree.db.unlink()
    _edit(tree, "CREATE TABLE t(a);")


STATES: dict[str, Callable[[Tree], None]] = {
    "stopped": lambda tree: None,
    "stale": _stale,
    "missing": _missing,
    "empty": _empty,
    "folder": _folder,
    "fifo": _fifo,
    "no-database": _no_database,
    "malformed": _malformed,
    "newer": _newer,
    "older": _older,
    "foreign": _foreign,
}

UNREADABLE = {
    "missing": "there is no index at",
    "empty": "there is no index at",
    "folder": "is not a regular file",
    "fifo": "is not a regular file",
    "no-database": "is damaged",
    "malformed": "is damaged",
    "newer": "was written by a newer ckvd",
    "foreign": "is not an index of ckvd",
}
"""What a plugin says instead of an answer."""

KINDS = {
    **dict.fromkeys(("no-database", "malformed"), "damaged"),
    **dict.fromkeys(("folder", "fifo"), "unreadable"),
    "empty": "missing",
}
"""The plugin's one word for it, where that is not the state's name."""

SAID = {
    **UNREADABLE,
    "older": "was written by an older ckvd",
    "foreign": "is the database of another program",
}
"""What every command and tool of ckvd that needs an index says instead."""


def in_state(base: Tree, root: Path, state: str) -> Tree:
    """A copy of `base` at `root` in that state."""
    shutil.copytree(base.root, root, symlinks=True)
    tree = Tree(root)
    STATES[state](tree)
    return tree
