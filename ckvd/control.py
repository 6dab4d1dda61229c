"""What lies beside a database for its processes to find one another: the writer's lock, the daemon's socket.

The lock is an flock, which the kernel releases whatever kills its holder; the pid inside is for people.
A request is one line of JSON over a Unix socket of mode 0600, and so is its answer.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ckvd.errors import CkvdError, LockedError, misplaced, refused
from ckvd.place import Places as Places

Message = dict[str, Any]


class Request(NamedTuple):
    """What somebody asks; `answer` may be called at any later time, from any thread, once."""

    message: Message
    answer: Callable[[Message], None]


_LONGEST = 1 << 20
_PASSING = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.ECONNABORTED)
_AGAIN_S = 0.2


class Lock:
    """The right to write a database; held until `release` or the end of the process."""

    def __init__(self, places: Places) -> None:
        """Raises LockedError (with the holder's pid) or StoreError (the folder is not writable)."""
        self._path = places.lock
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            fd = os.open(places.lock, flags, 0o600)
        except OSError as e:
            what = f"cannot write beside the database {places.db}"
            raise refused(what, e, "check the folder or pass --db") from e
        with contextlib.ExitStack() as undo:
            undo.callback(os.close, fd)
            if not stat.S_ISREG(mode := os.fstat(fd).st_mode):
                raise misplaced(places.lock, mode)
            if not _take(fd):
                raise LockedError(
                    f"{named(holder(places))} is already writing {places.db}; stop it first, or pass --db"
                )
            undo.pop_all()
        with contextlib.suppress(OSError):  # somebody else's: it keeps its mode
            os.fchmod(fd, 0o600)
        # The pid is for people: a full disk may refuse it.
        with contextlib.suppress(OSError):
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        self._fd: int | None = fd

    def in_place(self) -> bool:
        """Whether the file at the path is the one that is locked: if not, another may have locked it."""
        return self._fd is not None and _same(self._path, os.fstat(self._fd))

    def release(self) -> None:
        if self._fd is not None:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = None


def _take(fd: int) -> bool:
    """Tries for a moment: a look of `holder` at the lock shares it for some microseconds."""
    for _ in range(10):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
        else:
            return True
    return False


def holder(places: Places) -> int | None:
    """The pid of the process that writes this database now, None if there is none.

    0 where it is not known: another program's lock, or one of another pid namespace.
    """
    try:
        fd = os.open(places.lock, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        word = os.pread(fd, 32, 0).strip()
        return int(word) if word.isdigit() and _lives(int(word)) else 0
    finally:
        os.close(fd)
    return None


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True  # somebody else's
    except (OSError, OverflowError):
        return False
    return True


def named(pid: int | None) -> str:
    """A holder in words."""
    return f"pid {pid}" if pid else "another process"


def continued(pid: int | None) -> str:
    """What to do about one that does not answer."""
    return f"continue it if it was stopped (kill -CONT {pid or 'PID'}), else end it and run it again"


@contextlib.contextmanager
def _short(path: str) -> Iterator[str]:
    """A name of `path` that fits `sun_path` (108 bytes), through a descriptor of its folder."""
    folder, name = os.path.split(path)
    fd = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        short = f"/proc/self/fd/{fd}/{name}"
        yield short if len(os.fsencode(path)) > 100 and os.path.isdir("/proc/self/fd") else path
    finally:
        os.close(fd)


class Server:
    """The daemon's ear: hands each request to `on_request`, from a thread of its own."""

    def __init__(self, places: Places, on_request: Callable[[Request], None]) -> None:
        """Raises StoreError where the socket cannot be made."""
        self._path = places.socket
        self._on_request = on_request
        self._closed = threading.Event()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        mask = os.umask(0o177)
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._path)
            with _short(self._path) as name:
                self._socket.bind(name)
            self._place = os.lstat(self._path)
        except OSError as e:
            self._socket.close()
            raise refused(f"cannot make the socket {self._path}", e, "remove it, or pass --db") from e
        finally:
            os.umask(mask)
        self._socket.listen(64)
        threading.Thread(target=self._accept, name="control", daemon=True).start()

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError as e:
                # Of descriptors or memory there may be enough again: the asker waits in the socket's queue.
                if e.errno not in _PASSING or self._closed.wait(_AGAIN_S):
                    return
                continue
            try:
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
            except RuntimeError:  # no thread can be made now
                connection.close()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(10)
            try:
                with connection.makefile("rb") as f:
                    message = json.loads(f.readline(_LONGEST))
            except (OSError, ValueError, RecursionError):  # the last of a line that is all brackets
                return
            if not isinstance(message, dict):
                return
            ready = threading.Event()
            result: Message = {}

            def answer(reply: Message) -> None:
                result.update(reply)
                ready.set()

            self._on_request(Request(message, answer))
            ready.wait()
            with contextlib.suppress(OSError):  # the asker may have gone: its time-out was shorter
                connection.sendall(json.dumps(result).encode() + b"\n")

    def in_place(self) -> bool:
        """Whether whoever asks at the path is heard here."""
        return _same(self._path, self._place)

    def close(self) -> None:
        self._closed.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        if self.in_place():
            with contextlib.suppress(OSError):
                os.unlink(self._path)


def _same(path: str, known: os.stat_result) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (known.st_dev, known.st_ino)


class Barriers:
    """Requests that wait for the vectors of all rows up to a revision."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, Request]] = []

    def add(self, revision: int, request: Request) -> None:
        self._waiting.append((revision, request))

    def settle(self, oldest_pending: Callable[[], int | None], failed: str | None) -> None:
        """Answers those whose rows all have their vectors, and all of them with why there will be none."""
        if not self._waiting:
            return
        oldest = oldest_pending()
        waiting = []
        for revision, request in self._waiting:
            if oldest is None or oldest > revision:
                request.answer({"revision": revision})
            elif failed:
                request.answer({"error": failed})
            else:
                waiting.append((revision, request))
        self._waiting = waiting

    def take(self) -> list[Request]:
        """Those that wait still, which are then no longer kept here."""
        waiting, self._waiting = self._waiting, []
        return [request for _, request in waiting]


def ask(places: Places, message: Message, timeout: float) -> Message | None:
    """The daemon's answer; None if no daemon listens.

    Raises TimeoutError when none comes in `timeout` seconds, CkvdError when the daemon reports one.
    """
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with s:
        s.settimeout(timeout)
        try:
            with _short(places.socket) as name:
                s.connect(name)
        except TimeoutError:
            raise
        except OSError:
            return None
        try:
            s.sendall(json.dumps(message).encode() + b"\n")
            with s.makefile("rb") as f:
                line = f.readline(_LONGEST)
        except TimeoutError:
            raise
        except OSError:
            return None
    if not line:
        return None
    reply: Message = json.loads(line)
    if "error" in reply:
        raise CkvdError(str(reply["error"]))
    return reply
