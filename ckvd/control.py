"""What lies beside a database for its processes to find one another: the writer's lock, the daemon's socket.

The lock is an flock, which the kernel releases whatever kills its holder; the pid inside is for people.
A request is one line of JSON over a Unix socket of mode 0600, and so is its answer.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ckvd.errors import CkvdError, LockedError, StoreError

Message = dict[str, Any]
Answer = Callable[[Message], None]
_LONGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Places:
    """The files that belong to a database, all in its folder."""

    db: str

    @property
    def lock(self) -> str:
        return self.db + ".lock"

    @property
    def socket(self) -> str:
        return self.db + ".sock"


class Lock:
    """The right to write a database; held until `release` or the end of the process."""

    def __init__(self, places: Places) -> None:
        """Raises LockedError (with the holder's pid) or StoreError (the folder is not writable)."""
        try:
            fd = os.open(places.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as e:
            raise StoreError(
                f"cannot write beside the database {places.db}: {e.strerror}; check the folder or pass --db"
            ) from e
        if not _take(fd):
            os.close(fd)
            pid = holder(places)
            who = f"pid {pid}" if pid else "another process"
            raise LockedError(f"{who} is already writing {places.db}; stop it first, or pass --db")
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        self._fd: int | None = fd

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
    """The pid of the process that writes this database now, None if there is none."""
    try:
        fd = os.open(places.lock, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        word = os.pread(fd, 32, 0).strip()
        return int(word) if word.isdigit() else 0
    finally:
        os.close(fd)
    return None


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
    """The daemon's ear: hands each request with its answer to `on_request`, from a thread of its own.

    `on_request(message, answer)` may call `answer` at any later time, from any thread, once.
    """

    def __init__(self, places: Places, on_request: Callable[[Message, Answer], None]) -> None:
        self._path = places.socket
        self._on_request = on_request
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        mask = os.umask(0o177)
        try:
            with _short(self._path) as name:
                self._socket.bind(name)
        except OSError as e:
            raise StoreError(f"cannot make the socket {self._path}: {e.strerror}; pass --db") from e
        finally:
            os.umask(mask)
        self._socket.listen(64)
        threading.Thread(target=self._accept, name="control", daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(10)
            try:
                with connection.makefile("rb") as f:
                    message = json.loads(f.readline(_LONGEST))
            except (OSError, ValueError):
                return
            if not isinstance(message, dict):
                return
            ready = threading.Event()
            result: Message = {}

            def answer(reply: Message) -> None:
                result.update(reply)
                ready.set()

            self._on_request(message, answer)
            ready.wait()
            with contextlib.suppress(OSError):  # the asker may have gone: its time-out was shorter
                connection.sendall(json.dumps(result).encode() + b"\n")

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        with contextlib.suppress(OSError):
            os.unlink(self._path)


class Barriers:
    """Requests that wait for the vectors of all rows up to a revision."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, Answer]] = []

    def add(self, revision: int, answer: Answer) -> None:
        self._waiting.append((revision, answer))

    def settle(self, oldest_pending: Callable[[], int | None], failed: str | None) -> None:
        """Answers those whose rows all have their vectors, and all of them with why there will be none."""
        if not self._waiting:
            return
        oldest = oldest_pending()
        waiting = []
        for revision, answer in self._waiting:
            if oldest is None or oldest > revision:
                answer({"revision": revision})
            elif failed:
                answer({"error": failed})
            else:
                waiting.append((revision, answer))
        self._waiting = waiting

    def close(self, error: str) -> None:
        for _, answer in self._waiting:
            answer({"error": error})
        self._waiting.clear()


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
