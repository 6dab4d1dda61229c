"""Running git: no trace of a surrounding hook in its environment, no locks, its own process group."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable
from typing import IO

from ckvd.errors import Stopped, WorktreeError
from ckvd.model import display_path

_HEARD = re.compile(r"GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)")
"""What stays of `GIT_*`: where the configuration is, as the user's own git has it."""


LONG_S = 2.0
"""After so long, whoever runs git is asked whether it can ever end; nearly all commands take far less."""

_running: dict[subprocess.Popen[bytes], bool] = {}
"""The commands under way, and whether `end_all` has ended them."""
_lock = threading.Lock()


def available() -> bool:
    return shutil.which("git") is not None


def run(
    arguments: Iterable[str | bytes],
    cwd: bytes,
    feed: bytes = b"",
    waiting: Callable[[], None] = lambda: None,
) -> subprocess.CompletedProcess[bytes]:
    """Run git in `cwd`, whatever its exit status. `waiting` is called when that takes long, and rarer and
    rarer from then on: what it raises ends git. Raises WorktreeError where `cwd` or git itself is gone,
    Stopped where `end_all` was called meanwhile."""
    command = ("git", "-c", "core.fsmonitor=false", *arguments)
    group = 0 if os.name == "posix" else None  # Ctrl-C is for us to handle, not for git
    try:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            process_group=group,
        )
    except OSError as error:
        raise WorktreeError(f"{display_path(cwd)}: git cannot run there ({error.strerror})") from error
    with _lock:
        _running[process] = False
    with process:
        try:
            output, grumble = _answer(process, feed, waiting)
        except BaseException:  # whatever ended the wait passes on, and git does not outlive it
            _kill(process)
            raise
        finally:
            with _lock:
                ended = _running.pop(process)
    if ended:
        raise Stopped
    return subprocess.CompletedProcess(command, process.returncode, output, grumble)


def _answer(
    process: subprocess.Popen[bytes], feed: bytes, waiting: Callable[[], None]
) -> tuple[bytes, bytes]:
    if process.stdin is not None:
        # A second `communicate` would not go on feeding what the first could not.
        threading.Thread(target=_feed, args=(process.stdin, feed), name="ckvd-feed", daemon=True).start()
        process.stdin = None
    patience_s = LONG_S
    while True:
        try:
            return process.communicate(timeout=patience_s)
        except subprocess.TimeoutExpired:
            waiting()
            patience_s *= 2


def _feed(stdin: IO[bytes], feed: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), stdin:  # it may end before it has read all
        stdin.write(feed)


def end_all() -> None:
    """Kill every git under way: nobody waits for its answer any more. From any thread."""
    with _lock:
        for process in _running:
            _running[process] = True
            _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """It and what it has started: else that would keep its output open."""
    if process.returncode is None and os.name == "posix":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def complaint(stderr: bytes) -> str:
    """What git says, on one line, without its `fatal:` and its advice."""
    text = stderr.decode("utf-8", "backslashreplace").split("\n\n")[0].split("To add an exception")[0]
    return " ".join(text.replace("fatal: ", "").split()) or "git gave no reason"


def records(output: bytes) -> list[bytes]:
    """The parts of output under `-z`."""
    return output.split(b"\0")[:-1]


def _environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or _HEARD.fullmatch(k)}
    return kept | {"GIT_OPTIONAL_LOCKS": "0", "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C"}
