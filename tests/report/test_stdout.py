"""Standard output that takes nothing: one plain line and exit 1, whatever the command; a pipe that closes
is no fault."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support import Ckvd, Tree

COMMANDS = (
    ["status"],
    ["status", "--json"],
    ["--help"],
    ["--version"],
    ["languages"],
    ["languages", "--json"],
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(("to", "why"), [(">/dev/full", "no space left on device"), (">&-", "it is closed")])
def test_what_cannot_be_written_is_said(
    folder: Tree, ckvd: Ckvd, command: list[str], to: str, why: str
) -> None:
    if to == ">/dev/full" and not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    done = subprocess.run(
        ["sh", "-c", f'"$@" {to}', "sh", ckvd.executable, *command],
        cwd=folder.root,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (1, f"ckvd: cannot write to standard output: {why}\n")


def test_no_file_gets_the_number_of_a_closed_one(folder: Tree, ckvd: Ckvd) -> None:
    """Else what is printed would go into the database."""
    folder.write({"a.py": "def f():\n    return 1\n"})
    subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", ckvd.executable, "index"],
        cwd=folder.root,
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=60,
    )
    assert folder.rows("PRAGMA integrity_check") == [("ok",)]
    assert folder.rows("SELECT path FROM files") == [("a.py",)]


def test_a_reader_that_has_gone_is_no_fault(folder: Tree, ckvd: Ckvd) -> None:
    with subprocess.Popen(
        [ckvd.executable, "languages"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == b""
