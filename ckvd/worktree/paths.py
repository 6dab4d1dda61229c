"""Relative paths as bytes, `/` between names, b"" for the root. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def parent(path: bytes) -> bytes:
    return path.rpartition(b"/")[0]


def name(path: bytes) -> bytes:
    return path.rpartition(b"/")[2]


def join(folder: bytes, below: bytes) -> bytes:
    return folder + b"/" + below if folder else below


def is_under(path: bytes, folder: bytes) -> bool:
    """Whether `path` lies below `folder`; both relative, or both absolute."""
    return path.startswith(folder.rstrip(b"/") + b"/") if folder else bool(path)


def any_above(path: bytes, chosen: Collection[bytes]) -> bool:
    """Whether `path` itself or a folder above it is among `chosen`."""
    while path:
        if path in chosen:
            return True
        path = parent(path)
    return b"" in chosen


def as_seen_from(folder: bytes, chosen: Collection[bytes]) -> set[bytes] | None:
    """`chosen` relative to `folder`, without what lies elsewhere; None where all of `folder` is chosen."""
    if any_above(folder, chosen):
        return None
    return {path[len(folder) + 1 :] for path in chosen if is_under(path, folder)}


def folders_of(paths: Iterable[bytes]) -> set[bytes]:
    """All folders above `paths`, without the root."""
    folders: set[bytes] = set()
    for path in paths:
        folder = parent(path)
        while folder and folder not in folders:
            folders.add(folder)
            folder = parent(folder)
    return folders
