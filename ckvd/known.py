"""What the store holds, as far as deciding what to read again and what is gone needs: kept in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ckvd.model import Stamp
from ckvd.worktree.scan import Scan


@dataclass(frozen=True, slots=True)
class Known:
    """What the store holds of a file, as far as deciding whether to read it again needs."""

    stamp: Stamp
    read_ns: int
    cut_key: str
    blob_oid: str | None
    language: str | None


class Catalogue:
    """The files that have rows."""

    def __init__(self, files: dict[bytes, Known]) -> None:
        self._files = files
        self._folders = {folder for path in files for folder in _above(path)}
        """Folders that hold such files, or held some: a dirty path that is none needs no search below it."""

    def __len__(self) -> int:
        return len(self._files)

    def get(self, path: bytes) -> Known | None:
        return self._files.get(path)

    def gone(self, found: Scan) -> list[bytes]:
        """The files that `found` would hold, were they still there."""
        if found.only is not None and self._folders.isdisjoint(found.only):
            return [p for p in found.only if p in self._files and p not in found.entries]
        return [p for p in self._files if p not in found.entries and found.covers(p)]

    def update(self, read: Mapping[bytes, Known], removed: Iterable[bytes]) -> None:
        """After a transaction that wrote the rows of `read` and took out those of `removed`."""
        self._files.update(read)
        for path in read:
            self._folders.update(_above(path))
        for path in removed:
            self._files.pop(path, None)


def _above(path: bytes) -> Iterator[bytes]:
    """The folders above a path, the nearest first."""
    at = path.rfind(b"/")
    while at > 0:
        yield path[:at]
        at = path.rfind(b"/", 0, at)
