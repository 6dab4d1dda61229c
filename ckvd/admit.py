"""Which files are read: a file's bytes, or the row that says why there is none of it in the index."""

from __future__ import annotations

from ckvd.analyze import skipped
from ckvd.config import Config
from ckvd.model import FileResult, display_path
from ckvd.parse.credentials import is_secret
from ckvd.worktree.read import Content, read
from ckvd.worktree.scan import Entry

_SECRET = "looks like credentials, so none of it is in the index; index.include overrides"


def admit(
    root: bytes, path: bytes, entry: Entry, config: Config, object_format: str
) -> Content | FileResult | None:
    """The bytes, or the row of a file that is not to be read, or None where there is no file any more."""
    size = entry.stamp.size
    most = config.index.max_file_bytes
    if entry.problem is not None:
        return skipped(path, "unreadable", size=size, detail=entry.problem)
    if size > most:
        return skipped(path, "too-large", size=size, detail=f"over {most} bytes")
    got = read(root, path, most, object_format)
    if not isinstance(got, Content):
        unreadable = got.reason == "unreadable"
        return skipped(path, got.reason, size=size, detail=got.detail) if unreadable else None
    if got.data is None:
        return skipped(path, "too-large", size=got.stamp.size, detail="grew while it was read")
    if not entry.included and is_secret(display_path(path), got.data):
        return skipped(path, "secret", size=len(got.data), detail=_SECRET)
    return got
