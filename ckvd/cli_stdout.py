"""Standard output whose failures are told apart from all others: it is closed, or what it goes to is full."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TYPE_CHECKING

from ckvd.errors import OutputError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_FD = 1


class _Stdout(io.FileIO):
    """What cannot be written raises OutputError; a reader that has gone, BrokenPipeError as ever."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as e:
            why = "it is closed" if e.errno == errno.EBADF else (e.strerror or "").lower()
            raise OutputError(f"cannot write to standard output: {why}") from None


def guard() -> None:
    """Puts it in place of `sys.stdout`, unless another than the process's own is there."""
    old = sys.stdout
    if old is not sys.__stdout__:
        if isinstance(old, io.TextIOWrapper):
            old.reconfigure(errors="backslashreplace")
        return
    if old is None:
        # The next file to be opened, the database say, would get the number, and what is printed with it.
        # One that cannot be written holds it: a command that prints nothing works, the others fail.
        hold(os.O_RDONLY)
    raw = _Stdout(_FD, "w", closefd=False)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=None if old is None else old.encoding,
        errors="backslashreplace",  # a root's path need not be UTF-8
        line_buffering=raw.isatty(),
    )


def hold(flags: int = os.O_WRONLY) -> None:
    """Makes standard output the null device: what is yet to be flushed there goes nowhere."""
    fd = os.open(os.devnull, flags)
    if fd != _FD:
        os.dup2(fd, _FD)
        os.close(fd)
    else:
        os.set_inheritable(fd, True)
