"""An index built from nothing, in this process, as often as wanted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ckvd.indexer import Indexer
from ckvd.place import place
from ckvd.settings import Settings
from ckvd.store import files
from ckvd.store.writer import open_writer
from ckvd.workers import Pool
from ckvd.worktree.git import Following


class Fresh:
    """Builds indexes with one worker that stays."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def build(self, root: Path, db: Path) -> Path:
        """A new index of `root` at `db`, with vectors; one that lay there is removed."""
        for old in db.parent.glob(f"{db.name}*"):
            old.unlink()
        where = place(str(root), str(db))
        files.prepare(where.db)
        with contextlib.closing(open_writer(where.db)) as writer:
            ix = Indexer(
                git=Following(where.tree),
                writer=writer,
                pool=self._pool,
                settings=Settings.load(where.tree.path),
                own_files=where.own_files,
            )
            ix.bring_up_to_date(None)
            while ix.vectors.make(1.0):
                pass
        return db


@contextlib.contextmanager
def fresh_indexes() -> Iterator[Fresh]:
    from ckvd.embed import registry

    with Pool(1, registry.resolve("hash")) as pool:
        yield Fresh(pool)
