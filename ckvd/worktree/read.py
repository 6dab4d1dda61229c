"""Reading one file of the tree: no symlink followed, nothing but regular files opened, torn reads noticed."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from ckvd.model import Stamp

Reason = Literal["vanished", "irregular", "unreadable"]

_TRIES = 4
_BLOCK = 1 << 20
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
# Without O_NONBLOCK the open of a FIFO that took a file's place would hang.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Content:
    """A file's bytes and git's blob id of them; `data` is None where the file is over the limit.

    `stamp` was taken before the first byte was read: a file that changes meanwhile has another one.
    """

    data: bytes | None
    stamp: Stamp
    blob_oid: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """`vanished`: no such path (any more). `irregular`: a symlink, folder, FIFO, socket or device, or below
    a symlink; such paths belong to no index. `unreadable`: there, but not for us; `detail` says why."""

    reason: Reason
    detail: str


def stamp_of(status: os.stat_result) -> Stamp:
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def stamp_at(path: bytes) -> Stamp | None:
    """The stamp of what `path` leads to, None where nothing can be seen. For git's own files and those of its
    configuration, which git reads through symlinks."""
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return None


def read(root: bytes, path: bytes, max_bytes: int, algorithm: str = "sha1") -> Content | Unreadable:
    """Read `path` (relative, `/` between names) below `root`.

    A file over `max_bytes` is only hashed. A file that changes while it is read is read again a few times;
    one that never rests is given as last seen, under a stamp that the next look will not match.
    `algorithm` is the repository's object format, `sha1` or `sha256`.
    """
    try:
        with _opened(root, path) as file:
            return _settled(file, max_bytes, algorithm)
    except OSError as error:
        return _refused(error)


@contextmanager
def _opened(root: bytes, path: bytes) -> Iterator[int]:
    """Open component by component, so that no folder on the way can be a symlink."""
    *folders, name = path.split(b"/")
    # The root is the user's own choice and may itself lie below a symlink.
    here = os.open(root, _FOLDER & ~os.O_NOFOLLOW)
    try:
        for folder in folders:
            below = os.open(folder, _FOLDER, dir_fd=here)
            os.close(here)
            here = below
        file = os.open(name, _FILE, dir_fd=here)
    finally:
        os.close(here)
    try:
        yield file
    finally:
        os.close(file)


def _settled(file: int, max_bytes: int, algorithm: str) -> Content | Unreadable:
    before = os.fstat(file)
    if not stat.S_ISREG(before.st_mode):
        return Unreadable("irregular", "not a regular file")
    for attempt in range(_TRIES):
        content = _once(file, before, max_bytes, algorithm)
        after = os.fstat(file)
        settled = stamp_of(after) == stamp_of(before)
        if content is not None and (settled or attempt == _TRIES - 1):
            return content
        before = after
    return Unreadable("unreadable", "changes faster than it can be read")


def _once(file: int, status: os.stat_result, max_bytes: int, algorithm: str) -> Content | None:
    """One pass over the file; None where its length is not the one that `status` promised."""
    os.lseek(file, 0, os.SEEK_SET)
    keep = status.st_size <= max_bytes
    digest = hashlib.new(algorithm, b"blob %d\0" % status.st_size, usedforsecurity=False)
    blocks: list[bytes] = []
    size = 0
    while size <= status.st_size and (block := os.read(file, _BLOCK)):
        digest.update(block)
        size += len(block)
        if keep:
            blocks.append(block)
    if size != status.st_size:
        return None
    return Content(b"".join(blocks) if keep else None, stamp_of(status), digest.hexdigest())


def _refused(error: OSError) -> Unreadable:
    detail = os.strerror(error.errno) if error.errno else str(error)
    match error.errno:
        case errno.ENOENT | errno.ESTALE:
            return Unreadable("vanished", detail)
        case errno.ENOTDIR | errno.ELOOP | errno.ENXIO | errno.ENODEV:
            # A parent became a file or a symlink; the name a symlink; or a socket stands there.
            return Unreadable("irregular", detail)
        case _:
            return Unreadable("unreadable", detail)
