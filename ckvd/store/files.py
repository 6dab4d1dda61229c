"""The database as a file among files: its folder, its mode, whose it is, putting it aside."""

from __future__ import annotations

import contextlib
import errno
import os
import stat

from ckvd.errors import StoreError, misplaced, refused
from ckvd.store.connection import APPLICATION_ID

FOLDER = ".ckvd"
"""The folder that is ckvd's own: made where it is missing, closed to others, ignored by git."""

DAMAGED = ".damaged"
"""What the name of a database that was put aside ends with."""

_MAGIC = b"SQLite format 3\0"
_APPLICATION_AT = 68  # big-endian in SQLite's header


def is_own_folder(path: str) -> bool:
    return os.path.basename(os.path.dirname(os.path.abspath(path))) == FOLDER


def prepare(path: str) -> None:
    """Makes ckvd's own folder where `path` is in one, and the file, empty, where there is none.

    Raises StoreError: no folder, no permission, or a symbolic link or other odd thing in the place of either.
    """
    folder = os.path.dirname(os.path.abspath(path))
    try:
        if is_own_folder(path):
            _own_folder(folder)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        fd = os.open(path, flags, 0o600)
        try:
            mode = os.fstat(fd).st_mode
            if not stat.S_ISREG(mode):
                raise misplaced(path, mode)
            if is_own_folder(path) and stat.S_IMODE(mode) != 0o600:
                os.fchmod(fd, 0o600)
        finally:
            os.close(fd)
    except IsADirectoryError:
        raise misplaced(path, stat.S_IFDIR) from None
    except FileNotFoundError as e:
        if os.path.isdir(folder):  # as of /proc
            raise StoreError(f"no file can be made in {folder}; pass another --db") from e
        raise StoreError(f"the folder {folder} does not exist; make it or pass another --db") from e
    except OSError as e:
        raise refused(f"cannot write {path}", e, "check its permissions or pass --db") from e


def narrow(path: str) -> None:
    """Closes the database in ckvd's own folder, and what SQLite has beside it, to others again.

    By name: to open and close one of them would drop SQLite's locks on it.
    """
    if not is_own_folder(path):
        return
    modes = {os.path.dirname(path): 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600}
    for name, mode in modes.items():
        with contextlib.suppress(OSError):  # it is gone, or somebody else's: told where it matters
            found = os.lstat(name)
            if stat.S_IMODE(found.st_mode) != mode and not stat.S_ISLNK(found.st_mode):
                os.chmod(name, mode)


def _own_folder(folder: str) -> None:
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        raise misplaced(folder, found.st_mode, "folder")
    if stat.S_IMODE(found.st_mode) != 0o700:  # as it was, or as a umask has left it
        os.chmod(folder, 0o700)
    ignore = os.path.join(folder, ".gitignore")
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        fd = os.open(ignore, flags, 0o600)
    except OSError as e:
        if e.errno in (errno.EISDIR, errno.ELOOP, errno.ENXIO):
            return  # something else stands there: not ckvd's to take away, and of no use to an index
        raise
    with open(fd, "r+b", buffering=0) as file:
        os.fchmod(fd, 0o600)
        # Whoever made it may have been killed, or met a full disk, before the line was in.
        if not os.fstat(fd).st_size:
            file.write(b"*\n")


def is_ours(path: str) -> bool:
    """Whether what lies at `path` may be replaced: empty, marked as ckvd's, or in ckvd's own folder.

    Judged by the bytes, since SQLite may not be able to open it. A sound database of another program is
    not told here but by `schema.ensure`.
    """
    with open(path, "rb") as file:
        head = file.read(100)
    mark = head[_APPLICATION_AT : _APPLICATION_AT + 4]
    return (
        not head
        or is_own_folder(path)
        or (head.startswith(_MAGIC) and mark == APPLICATION_ID.to_bytes(4, "big"))
    )


def put_aside(path: str) -> str:
    """Renames the database to `<path>.damaged`, in the place of one before it; its WAL with it; the new name.

    One is kept, for whoever wants to know what happened: more would fill the disk where damage repeats.
    """
    aside = path + DAMAGED
    try:
        # The log first: a new database must not meet it.
        for suffix in ("-wal", "-shm", ""):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(aside + suffix)
            with contextlib.suppress(FileNotFoundError):
                os.replace(path + suffix, aside + suffix)
    except OSError as e:
        raise refused(f"cannot put the damaged {path} aside", e, "remove it by hand") from e
    return aside
