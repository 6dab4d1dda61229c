"""Commands on a terminal of a given width."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Sequence


def on_terminal(command: Sequence[str], columns: int, **env: str) -> str:
    """What the command prints on a terminal that many columns wide, escape codes and CR included."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", **env}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        got = b""
        with contextlib.suppress(OSError):  # how a terminal ends once its last writer is gone
            while block := os.read(ours, 65536):
                got += block
    os.close(ours)
    return got.decode()
