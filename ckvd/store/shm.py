"""Room for the WAL's index, which SQLite writes through memory: a disk that is full then ends the process.

SQLite writes one byte of each 4 KiB of `-shm` so that the disk gives it a block. Where blocks are smaller
(ext4 makes them so on disks below 512 MB) the rest of the 4 KiB has none, and the first write to it on a full
disk is a SIGBUS, which no program can answer.
"""

from __future__ import annotations

import os
import sys

_PAGE = 4096
_ROOM = 256 << 10
"""Bytes of index for 32,768 pages of the WAL, 128 MiB: more than it grows to between two checkpoints."""

_RESERVE = "import os, sys; os.posix_fallocate(os.open(sys.argv[1], os.O_RDWR), 0, int(sys.argv[2]))"


def at_risk(path: str) -> bool:
    """Whether SQLite may find no block for the index of the database at `path`."""
    disk = _disk(path)
    return disk is not None and disk.f_bsize < _PAGE and disk.f_bavail * disk.f_frsize < _ROOM


def reserve(path: str) -> None:
    """Gives the index of the database at `path`, which is open, all its blocks where that matters."""
    disk = _disk(path)
    if disk is not None and disk.f_bsize < _PAGE:
        import subprocess  # which takes a while, and which few need

        # In a process of its own: to close the file in this one would drop SQLite's locks on it. Where there
        # is no room any more, what the index has must do.
        command = [sys.executable, "-I", "-S", "-c", _RESERVE, path + "-shm", str(_ROOM)]
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)


def _disk(path: str) -> os.statvfs_result | None:
    try:
        return os.statvfs(os.path.dirname(os.path.abspath(path)))
    except OSError:
        return None  # what that means is SQLite's to say
