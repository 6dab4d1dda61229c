"""SIGTERM in the middle of work that would take long: the daemon ends at once, and without a word."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from support import STOP_S, Ckvd, Tree
from waiting import wait_until

from ckvd.control import Places, ask

pytestmark = pytest.mark.slow

ENDLESS = b"/*" * 40_000
"""Comments that are opened and never closed: this grammar reads them until its time limit."""


def stopped(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    """Exit code and what it said, of a daemon that is asked to end now."""
    process.send_signal(signal.SIGTERM)
    try:
        said = process.communicate(timeout=STOP_S)[1]
    finally:
        process.kill()
    return process.returncode, said


def run(ckvd: Ckvd, tree: Tree, **env: str) -> subprocess.Popen[bytes]:
    command = [ckvd.executable, "run", str(tree.root)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, env={**os.environ, **env})


def test_while_slow_files_are_parsed(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({f"f{n}.kt": ENDLESS for n in range(8)})
    with run(ckvd, tree) as process:
        places = Places(str(tree.db))
        wait_until(lambda: (ask(places, {"op": "status"}, 30) or {}).get("phase") == "indexing", "parsing")
        assert stopped(process) == (0, b"")


@pytest.mark.parametrize("verb", ["ls-files", "check-attr"])
def test_while_git_takes_its_time(tree: Tree, ckvd: Ckvd, tmp_path: Path, verb: str) -> None:
    """It does so for the watcher, too, and for a pass that has begun."""
    tree.write({"a.py": "def a(): pass\n", ".gitattributes": "*.py linguist-language=Python\n"})
    slow, asked = tmp_path / "bin" / "git", tmp_path / "asked"
    slow.parent.mkdir()
    slow.write_text(
        f'#!/bin/sh\ncase " $* " in *" {verb} "*) touch {asked}; sleep 600;; esac\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    slow.chmod(0o755)
    with run(ckvd, tree, PATH=f"{slow.parent}:{os.environ['PATH']}") as process:
        wait_until(asked.exists, "git")
        assert stopped(process) == (0, b"")
