"""What tests drive: a working tree, the installed `ckvd` command, and a daemon that runs."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

READY_S = 120.0
"""Seconds that a daemon has until its first `sync` returns."""
STOP_S = 5.0
"""Seconds that a daemon has to end after SIGTERM."""


@dataclass(frozen=True)
class Tree:
    """A folder, a git worktree or not."""

    root: Path

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Writes each path (relative, with `/`) as given: no newline is translated."""
        for path, content in files.items():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)

    def git(self, *args: str, stdin: bytes | None = None) -> str:
        """Runs git in the tree; what it printed, without the last newline."""
        done = subprocess.run(
            ["git", *args], cwd=self.root, input=stdin, capture_output=True, check=False, timeout=60
        )
        assert done.returncode == 0, f"git {' '.join(args)}: {done.stderr.decode(errors='replace')}"
        return done.stdout.decode(errors="surrogateescape").removesuffix("\n")

    def commit(self, message: str = "work") -> str:
        """Commits all that is in the tree; the commit's id."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    @property
    def db(self) -> Path:
        return self.root / ".ckvd" / "index.db"

    def rows(self, sql: str, *parameters: Any, db: Path | None = None) -> list[tuple[Any, ...]]:
        """What a plain reader sees: the standard library's sqlite3, read only, no extension."""
        uri = f"{(db or self.db).as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=10)) as connection:
            return connection.execute(sql, parameters).fetchall()


@dataclass(frozen=True)
class Ckvd:
    """The `ckvd` command of the environment under test, run as a process of its own."""

    executable: str

    def __call__(
        self, *args: str | os.PathLike[str], code: int = 0, timeout: float = 120, **popen: Any
    ) -> subprocess.CompletedProcess[str]:
        """Runs it to its end and asserts the exit code. Standard input is empty."""
        given: dict[str, Any] = {"stdin": subprocess.DEVNULL, "errors": "surrogateescape"} | popen
        done = subprocess.run(
            [self.executable, *args], capture_output=True, text=True, check=False, timeout=timeout, **given
        )
        shown = f"ckvd {' '.join(map(str, args))}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert done.returncode == code, shown
        return done

    @contextlib.contextmanager
    def daemon(
        self, root: Path, *args: str, wait: Callable[[], None] | None = None, **popen: Any
    ) -> Iterator[subprocess.Popen[bytes]]:
        """`ckvd run ROOT`, ready when this yields; at the end SIGTERM, and it must leave in time with 0.

        Ready is when `sync` returns, or `wait` where given.
        """
        log = root.parent / f"{root.name}.daemon.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [self.executable, "run", root, *args],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                **popen,
            )
        try:
            if wait is not None:
                wait()
            else:
                self._wait_ready(process, root, log, args)
            yield process
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                assert process.wait(STOP_S) == 0, log.read_text(errors="replace")
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()

    def _wait_ready(
        self, process: subprocess.Popen[bytes], root: Path, log: Path, args: tuple[str, ...]
    ) -> None:
        db = args[args.index("--db") :][:2] if "--db" in args else ()
        sync = [self.executable, "sync", str(root), *db, "--timeout", str(int(READY_S))]
        while True:
            done = subprocess.run(sync, capture_output=True, text=True, check=False, timeout=READY_S + 30)
            if done.returncode == 0:
                return
            said = f"{done.stderr}\n{log.read_text(errors='replace')}"
            assert process.poll() is None, said
            # 3: no daemon answers yet; the sync command's own start paces this loop
            assert done.returncode == 3, said


def find_ckvd() -> Ckvd:
    """The console script beside the running interpreter, else the one on PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), "ckvd")
    found = beside if os.access(beside, os.X_OK) else shutil.which("ckvd")
    assert found, "the ckvd command is not installed here; run: pip install -e '.[test]'"
    return Ckvd(found)
