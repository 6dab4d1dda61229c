"""What lies on disk of the hits now: whether their files are as they were indexed, what is before a hit in
its first line. Light to import, since every search comes by here."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ckvd.hit import Hit, OnDisk
from ckvd.store.reader import Reader

_SURELY_NS = 60_000_000_000
"""A file that was left alone for so long before it was read is as it was, if its stamp is."""
_WIDEST = 400  # bytes of indentation

_ROWS = """
SELECT c.id, f.path_bytes, f.stamp_size, f.mtime_ns, f.ctime_ns, f.inode, f.read_ns, f.blob_oid
FROM json_each(?) AS i CROSS JOIN chunk AS c ON c.id = i.value CROSS JOIN file AS f ON f.id = c.file_id
"""


class _Indexed(NamedTuple):
    path: bytes
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    read_ns: int
    blob_oid: str | None


def seen(root: str, reader: Reader, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits with `on_disk` and `indent`. Use within the snapshot that they were found in."""
    places = looked_up(root, reader, [(hit.id, hit.start_byte) for hit in hits])
    return tuple(
        replace(hit, on_disk=state, indent=indent) for hit, (state, indent) in zip(hits, places, strict=True)
    )


def looked_up(root: str, reader: Reader, places: Sequence[tuple[int, int]]) -> list[tuple[OnDisk, str]]:
    """The same of (chunk id, byte in its file)."""
    rows = reader.query(_ROWS, (json.dumps([id_ for id_, _ in places]),))
    files = {id_: _Indexed(*rest) for id_, *rest in rows}
    states: dict[bytes, OnDisk] = {}
    out = []
    for id_, start in places:
        file = files[id_]
        state = states.get(file.path)
        if state is None:
            state = states[file.path] = _state(root, file)
        out.append((state, _indent(root, file.path, start) if state == "same" else ""))
    return out


def _state(root: str, file: _Indexed) -> OnDisk:
    try:
        now = os.lstat(os.path.join(os.fsencode(root), file.path))
    except (FileNotFoundError, NotADirectoryError):
        return "gone"
    except OSError:
        return "changed"
    stamp = now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino % (1 << 64)
    known = file.size, file.mtime_ns, file.ctime_ns, (file.inode or 0) % (1 << 64)
    if stamp == known and file.read_ns - max(file.mtime_ns, file.ctime_ns) > _SURELY_NS:
        return "same"
    from ckvd.worktree.read import Content, read

    algorithm = "sha256" if len(file.blob_oid or "") == 64 else "sha1"
    content = read(os.fsencode(root), file.path, 0, algorithm)
    return "same" if isinstance(content, Content) and content.blob_oid == file.blob_oid else "changed"


def _indent(root: str, path: bytes, start: int) -> str:
    """The blanks between the beginning of a line and the byte `start` in it; '' where other text is there."""
    before = b""
    with contextlib.suppress(OSError):
        fd = os.open(
            os.path.join(os.fsencode(root), path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        )
        try:
            first = max(0, start - _WIDEST)
            before = os.pread(fd, start - first, first)
        finally:
            os.close(fd)
    blanks = before.rpartition(b"\n")[2]
    return blanks.decode() if not blanks.strip(b" \t") else ""
