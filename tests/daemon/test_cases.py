"""Trees at work under a daemon: after each step the rows are those that the case names.

Once with `sync` after each step, and once without ever asking: then only what the system tells, and what the
daemon looks at by itself, brings the rows, and a scan inside `sync` hides no lost event.
"""

from __future__ import annotations

import contextlib
import ctypes
import fnmatch
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from daemon.tree_cases import ALONE, PRELUDE, TOGETHER, Case
from equality import differences, faults
from support import Ckvd, Tree
from waiting import wait_until

from ckvd.control import Message, Places, ask

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what these rows wait for is inotify's")

HOW = pytest.mark.parametrize("how", ["sync", "rows"])

_STRICT = {1, 2}
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: without them permissions hold for root as for anyone."""


def as_nobody_special() -> None:
    """In a child process: what modes forbid is forbidden, whoever runs the tests."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in _STRICT:
        assert libc.prctl(24, capability, 0, 0, 0) == 0 or os.geteuid() != 0  # PR_CAPBSET_DROP


def bash(script: str, folder: Path, outside: Path) -> None:
    outside.mkdir(exist_ok=True, parents=True)
    done = subprocess.run(
        ["bash", "-euc", PRELUDE + script],
        cwd=folder,
        env={**os.environ, "OUTSIDE": str(outside)},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, f"{script}\n{done.stderr.decode(errors='replace')}"


def held(tree: Tree, below: str = "") -> frozenset[str]:
    """All files in the index below a folder, as the cases write them."""
    sql = "SELECT path, symbol, NULL FROM files LEFT JOIN symbols USING (path) WHERE strategy <> 'skipped'"
    skipped = "SELECT path, NULL, reason FROM files WHERE strategy = 'skipped'"
    found = set()
    for path, symbol, reason in tree.rows(f"{sql} UNION ALL {skipped}"):
        if path.startswith(below) and not path.endswith(".gitignore"):
            name = path[len(below) :]
            found.add(f"{name}:{symbol}" if symbol else f"{name}!{reason}" if reason else name)
    return frozenset(found)


def asked(tree: Tree, op: str) -> Message | None:
    """The daemon's answer; from here, since a command for each step would take longer than the step."""
    return ask(Places(str(tree.db)), {"op": op}, 120)


def ready(tree: Tree) -> bool:
    live = asked(tree, "status")
    return live is not None and live["state"] == "watching"


@contextlib.contextmanager
def running(ckvd: Ckvd, tree: Tree, how: str, env: dict[str, str] | None = None) -> Iterator[None]:
    """A daemon; where nothing may ask it to sync, it is waited for by its state."""
    wait = None if how == "sync" else lambda: wait_until(lambda: ready(tree), "the daemon", 120)
    given = {**os.environ, **(env or {})}
    with ckvd.daemon(tree.root, wait=wait, env=given, preexec_fn=as_nobody_special):
        yield


def follow(tree: Tree, how: str, case: Case, folder: Path, outside: Path) -> None:
    below = f"{folder.relative_to(tree.root)}/" if folder != tree.root else ""
    for number, step in enumerate(case.steps):
        bash(step.do, folder, outside)
        what = f"step {number} of {below or 'the case'}: {step.do}"
        if how == "sync":
            assert asked(tree, "sync") is not None
            assert held(tree, below) == step.then, what
        else:
            wait_for_rows(lambda: held(tree, below), step.then, what)
    for (path,) in tree.rows("SELECT DISTINCT path FROM changes"):
        assert not any(fnmatch.fnmatchcase(path, below + never) for never in case.never), path


def wait_for_rows(rows: Callable[[], frozenset[str]], expected: frozenset[str], what: str) -> None:
    seen: list[frozenset[str]] = []

    def come() -> bool:
        seen[:] = [rows()]
        return seen[0] == expected

    try:
        wait_until(come, what)
    except AssertionError as error:
        missing, extra = sorted(expected - seen[0])[:5], sorted(seen[0] - expected)[:5]
        raise AssertionError(f"{error}\nmissing {missing}\nextra {extra}") from None


def same_as_fresh(ckvd: Ckvd, tree: Tree, env: dict[str, str] | None = None) -> None:
    wait_until(lambda: tree.rows("SELECT 1 FROM chunks WHERE NOT embedded") == [], "the vectors")
    fresh = tree.root.parent / "fresh.db"
    given = {**os.environ, **(env or {})}
    ckvd("index", str(tree.root), "--db", str(fresh), env=given, preexec_fn=as_nobody_special)
    assert differences(tree.db, fresh) + faults(tree.db) == []


@HOW
def test_side_by_side_in_one_repository(tree: Tree, ckvd: Ckvd, tmp_path: Path, how: str) -> None:
    outside = tmp_path / "outside"
    for name, case in TOGETHER.items():
        (tree.root / name).mkdir()
        bash(case.before, tree.root / name, outside / name)
    with running(ckvd, tree, how):
        for name, case in TOGETHER.items():
            follow(tree, how, case, tree.root / name, outside / name)
        same_as_fresh(ckvd, tree)


@pytest.mark.slow
@HOW
@pytest.mark.parametrize("name", ALONE)
def test_in_a_repository_of_its_own(tree: Tree, ckvd: Ckvd, tmp_path: Path, name: str, how: str) -> None:
    case = ALONE[name]
    bash(case.before, tree.root, tmp_path / "outside")
    env = {key: value.format(dir=tmp_path) for key, value in case.env.items()}
    with running(ckvd, tree, how, env):
        follow(tree, how, case, tree.root, tmp_path / "outside")
        same_as_fresh(ckvd, tree, env)
