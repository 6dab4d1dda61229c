"""A fresh database in a folder of its own, and the shell that other people read it with."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ckvd.store.writer import Writer, open_writer


@pytest.fixture
def db(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree" / ".ckvd" / "index.db"


@pytest.fixture
def writer(db: Path) -> Iterator[Writer]:
    with open_writer(str(db)) as opened:
        yield opened


@pytest.fixture(scope="session")
def sqlite3_shell() -> Callable[[Path, str], str]:
    """Runs SQL in the `sqlite3` shell, whatever its version; what it printed."""
    shell = shutil.which("sqlite3")
    if shell is None:
        pytest.skip("no sqlite3 shell")

    def run(path: Path, sql: str) -> str:
        done = subprocess.run(
            [shell, "-readonly", str(path), sql], capture_output=True, check=True, timeout=30
        )
        return done.stdout.decode(errors="backslashreplace").strip()  # a BLOB comes as it is

    return run
