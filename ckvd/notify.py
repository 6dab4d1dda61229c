"""Tells systemd how the daemon is: the sd_notify protocol, one datagram of `NAME=value` lines a message.

Protocol: sd_notify(3), sd_watchdog_enabled(3). Without `NOTIFY_SOCKET` every method does nothing.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import MutableMapping
from types import TracebackType
from typing import Self

_PER_INTERVAL = 4
"""Pings in one watchdog interval: sd_watchdog_enabled(3) asks for two at least, and one may come late."""
_SEND_S = 1.0
"""How long a message may wait for a service manager whose queue is full; it is then dropped."""


class Notifier:
    """A connection to the service manager. Not safe for threads: it belongs to the daemon's loop.

    `address` is a path, or a name in the abstract namespace with `@` before it, or None for no one;
    `watchdog_s` is the time in seconds after which the manager takes a silent daemon for dead, or None.
    """

    def __init__(self, address: str | None = None, watchdog_s: float | None = None) -> None:
        self.watchdog_s = watchdog_s if address else None
        self._ping_due = float("-inf")
        self._status: str | None = None
        self._socket: socket.socket | None = None
        if address and address[0] in "/@":
            self._address = os.fsencode("\0" + address[1:] if address[0] == "@" else address)
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
            self._socket.settimeout(_SEND_S)

    @classmethod
    def from_environ(cls, environ: MutableMapping[str, str] = os.environ) -> Self:
        """As systemd has set it up, taken out of `environ` so that no child speaks in the daemon's name."""
        address = environ.pop("NOTIFY_SOCKET", None)
        microseconds = environ.pop("WATCHDOG_USEC", "")
        pid = environ.pop("WATCHDOG_PID", None)
        mine = pid is None or pid == str(os.getpid())
        watchdog_s = (
            int(microseconds) / 1e6 if mine and microseconds.isascii() and microseconds.isdigit() else 0
        )
        return cls(address, watchdog_s or None)

    def ready(self) -> None:
        """The daemon watches: what is written from now on will be seen."""
        self._send("READY=1")

    def status(self, text: str) -> None:
        """One line for `systemctl status`; sent only when it differs from the last that was."""
        line = " ".join(text.split())
        if line != self._status and self._send(f"STATUS={line}"):
            self._status = line

    def alive(self) -> None:
        """A sign of progress, sent when one is due: call it as often as there is progress."""
        if self.watchdog_s is None:
            return
        now = time.monotonic()
        if now >= self._ping_due:
            self._ping_due = now + self.watchdog_s / _PER_INTERVAL
            self._send("WATCHDOG=1")

    def stopping(self) -> None:
        """The daemon is about to end."""
        self._send("STOPPING=1")

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, message: str) -> bool:
        """Whether it went out: a manager that does not listen is no reason to stop indexing."""
        if self._socket is None:
            return False
        try:
            self._socket.sendto(message.encode("utf-8", "surrogateescape"), self._address)
        except OSError:
            return False
        return True
