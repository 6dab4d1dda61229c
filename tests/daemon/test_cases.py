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
import time
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


@pytest.mark.parametrize("how", [pytest.param("sync", marks=pytest.mark.slow), "rows"])
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


def test_what_leaves_contents_alone_makes_no_revision(tree: Tree, ckvd: Ckvd, tmp_path: Path) -> None:
    bash(
        'for i in $(seq 1 20); do py "d$((i % 4))/m$i.py" f$i; done; commit', tree.root, tmp_path / "outside"
    )
    kept = "SELECT chunk_id, id, revision FROM chunks ORDER BY id"
    with running(ckvd, tree, "rows"):
        wait_until(lambda: tree.rows("SELECT 1 FROM chunks WHERE NOT embedded") == [], "the vectors")
        before = tree.rows(kept)
        bash(
            "cat d*/*.py > /dev/null; grep -rn f1 . > /dev/null; git status > /dev/null\n"
            "find . -exec touch -a {} +; touch d1/*.py; chmod 600 d2/*.py; mkdir e; rmdir e\n"
            "cp d3/m3.py d3/m3.tmp; mv d3/m3.tmp d3/m3.py\n"
            "for i in $(seq 1 5); do git tag t$i; git branch b$i; git update-index --refresh; done\n"
            'git clone -q . "$OUTSIDE/clone"; git fetch -q "$OUTSIDE/clone"\n'
            "git gc -q; git pack-refs --all\n"
            "git checkout -q -b same; git checkout -q -; git commit -q --allow-empty -m empty",
            tree.root,
            tmp_path / "outside",
        )
        commit = tree.git("rev-parse", "HEAD")
        wait_until(lambda: ("head_commit", commit) in tree.rows("SELECT key, value FROM meta"), "the commit")
        assert asked(tree, "sync") is not None
        assert tree.rows(kept) == before
        assert tree.rows("SELECT path FROM files WHERE path LIKE '.git%'") == []


@pytest.mark.slow
def test_its_own_database_in_the_tree_is_nothing_to_look_at(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def a(): pass\n"})
    tree.commit()
    db = tree.root / "index.db"
    tree.write({"index.db.damaged": "what was", "index.db.damaged-wal": "put aside"})

    def live() -> Message:
        return ask(Places(str(db)), {"op": "status"}, 30) or {}

    with ckvd.daemon(tree.root, "--db", str(db)):
        tree.write({"a.py": "def b(): pass\n"})
        wait_until(lambda: tree.rows("SELECT symbol FROM symbols", db=db) == [("b",)], "the edit")
        wait_until(lambda: tree.rows("SELECT embedded FROM chunks", db=db) == [(1,)], "its vector")
        wait_until(lambda: live()["state"] == "watching", "the end of the pass")
        passes, until = live()["passes"], time.monotonic() + 5
        while time.monotonic() < until:  # a reader touches the files beside the database
            assert tree.rows("SELECT path FROM files", db=db) == [("a.py",)]
            assert live()["passes"] == passes
