"""A tree with an index whose rows were put there by hand, as analysis would have left them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path

from made_files import Function, Head, Seen, result, skipped
from support import Tree

from ckvd.control import Places
from ckvd.model import FileResult, Verdict
from ckvd.place import Place
from ckvd.plan import plan_file
from ckvd.store.connection import MetaValue
from ckvd.store.writer import Writer, open_writer
from ckvd.worktree.git.root import find_root
from ckvd.worktree.read import stamp_at

OLD_NS = 10**18
"""Reading times that are well after every stamp: no row is doubted for its age."""


def place(root: Path, db: Path | None = None) -> Place:
    return Place(find_root(bytes(root)), Places(str(db or root / ".ckvd" / "index.db")))


def blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


@dataclass
class Rows:
    """Files on disk and their rows, in step with each other."""

    tree: Tree
    results: list[FileResult] = field(default_factory=list)

    def clean(self, path: str, *names: str, language: str = "python") -> None:
        made = result(path.encode(), *(Function(name) for name in names))
        text = b"# " + path.encode() + b"\n"
        self._add(replace(made, language=language), text)

    def unclean(self, path: str, data: bytes, verdict: Verdict, language: str = "python") -> None:
        made = result(path.encode(), Function("kept"), verdict=verdict)
        self._add(replace(made, language=language), data)

    def left_out(self, path: str, data: bytes, reason: str, detail: str = "by its name") -> None:
        self._add(skipped(path.encode(), reason, detail=detail), data, read=False)

    def _add(self, made: FileResult, data: bytes, read: bool = True) -> None:
        self.tree.write({made.path.decode(): data})
        oid = blob(data) if read else None
        self.results.append(replace(made, size=len(data), blob_oid=oid))

    def store(self, meta: dict[str, MetaValue] | None = None, model: str | None = "static-code-256") -> Place:
        """Writes the database, as a pass over the tree leaves it; where it is."""
        where = place(self.tree.root)
        with open_writer(where.db) as writer:
            writer.set_model(f"{model} 256d" if model else None, model or "none", 256 if model else 0)
            self.apply(writer)
            writer.set_meta({"last_sync": "2024-05-01T12:00:00+00:00", "notes": "[]", **(meta or {})})
        return where

    def apply(self, writer: Writer) -> None:
        plans = [plan_file(writer.load(r.path), r) for r in self.results]
        writer.apply(
            plans, {r.path: self._seen(r.path) for r in self.results}, Head("refs/heads/main", "c" * 40)
        )

    def _seen(self, path: bytes) -> Seen:
        stamp = stamp_at(bytes(self.tree.root) + b"/" + path)
        assert stamp is not None
        return Seen(stamp, max(stamp.mtime_ns, stamp.ctime_ns) + OLD_NS)
