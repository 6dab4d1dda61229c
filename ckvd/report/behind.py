"""How far the database is behind the tree: one look at the disk, nothing written."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ckvd import settings
from ckvd.errors import NoIndexError
from ckvd.model import Stamp
from ckvd.place import Place
from ckvd.report.snapshot import opened
from ckvd.report.state import Behind
from ckvd.store import rows
from ckvd.store.reader import Reader
from ckvd.worktree.git import Repo
from ckvd.worktree.read import Content, read
from ckvd.worktree.scan import Entry, scan

READ_BYTES = 64 << 20
"""How much is read at most to tell a touched file from a changed one; beyond, touched counts as changed."""

_ROWS = """
SELECT path_bytes, coalesce(stamp_size, -1), coalesce(mtime_ns, 0), coalesce(ctime_ns, 0), coalesce(inode, 0),
    coalesce(read_ns, 0), blob_oid
FROM file
"""


@dataclass(frozen=True, slots=True)
class Indexed:
    """What the database holds of a file: as it was when it was read at `read_ns`."""

    stamp: Stamp
    read_ns: int
    blob_oid: str | None

    @property
    def racy(self) -> bool:
        return self.stamp.racy(self.read_ns)


def look(where: Place) -> Behind:
    """Compares the tree with the rows. Raises ConfigError, WorktreeError or StoreError."""
    tree = where.tree
    repo = Repo(tree) if tree.git_dir is not None else None
    found = scan(tree.path, repo, settings.load(tree.path), where.own_files)
    known: Mapping[bytes, Indexed] = {}
    with contextlib.suppress(NoIndexError), opened(where.db) as reader:
        known = indexed(reader)
    head = repo.head() if repo is not None else None
    touched = suspects(found.entries, known)
    return Behind(
        new=tuple(sorted(found.entries.keys() - known.keys())),
        changed=tuple(_changed(tree.path, touched, known)),
        gone=tuple(sorted(known.keys() - found.entries.keys())),
        head=(head.ref, head.commit) if head else None,
        notes=(*((tree.reason,) if tree.reason else ()), *found.notes.values()),
    )


def indexed(reader: Reader) -> dict[bytes, Indexed]:
    return {
        path: Indexed(rows.stamp_of(size, mtime, ctime, inode), read_ns, oid)
        for path, size, mtime, ctime, inode, read_ns, oid in reader.query(_ROWS)
    }


def suspects(entries: Mapping[bytes, Entry], known: Mapping[bytes, Indexed]) -> list[tuple[bytes, Entry]]:
    """Known paths whose stamp is another, or too young to be trusted; the smallest first."""
    found = [
        (path, entry)
        for path, entry in entries.items()
        if (row := known.get(path)) is not None and (entry.stamp != row.stamp or row.racy)
    ]
    return sorted(found, key=lambda item: (item[1].stamp.size, item[0]))


def _changed(
    root: bytes, touched: Iterable[tuple[bytes, Entry]], known: Mapping[bytes, Indexed]
) -> Iterator[bytes]:
    left = READ_BYTES
    for path, entry in touched:
        row = known[path]
        left -= entry.stamp.size
        if row.blob_oid is None or entry.problem is not None or left < 0:
            if entry.stamp != row.stamp:
                yield path
            continue
        now = read(root, path, 0, "sha1" if len(row.blob_oid) == 40 else "sha256")
        if not isinstance(now, Content) or now.blob_oid != row.blob_oid:
            yield path
