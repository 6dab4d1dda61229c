"""Commands on a terminal of a given width."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence


def on_terminal(command: Sequence[str], columns: int, **env: str) -> str:
    """What the command prints on a terminal that many columns wide, escape codes and CR included."""
    return _run(command, columns, 40, None, env)


def interrupted(command: Sequence[str], columns: int, rows: int, once: str) -> str:
    """The same of a command that goes on until Ctrl-C, which comes once it has printed `once`."""
    return _run(command, columns, rows, once.encode(), {})


def _run(command: Sequence[str], columns: int, rows: int, once: bytes | None, env: Mapping[str, str]) -> str:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", **env}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        got = b""
        with contextlib.suppress(OSError):  # how a terminal ends once its last writer is gone
            while block := os.read(ours, 65536):
                got += block
                if once is not None and once in got:
                    process.send_signal(signal.SIGINT)
                    once = None
    os.close(ours)
    return got.decode()
