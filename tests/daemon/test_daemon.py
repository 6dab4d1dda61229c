"""The daemon as its users see it: another process, its file, its exit codes."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from equality import differences, faults
from support import Ckvd, Tree

SOON_S = 20.0


def wait_until(condition: Callable[[], object], what: str) -> None:
    until = time.monotonic() + SOON_S
    while not condition():
        assert time.monotonic() < until, f"never came: {what}"
        time.sleep(0.01)


def fifty(changed: int | None = None) -> str:
    return "\n\n".join(
        f"def f{n:02}(x):\n    return {'width' if n == changed else 'depth'}(x) + {n}\n" for n in range(50)
    )


def chunks(tree: Tree) -> dict[str, tuple[int, int, str]]:
    """Row id, revision and vector of each chunk."""
    sql = "SELECT chunk_id, id, revision, hex(int8) FROM chunks JOIN vectors USING (id)"
    return {name: (row, revision, vector) for name, row, revision, vector in tree.rows(sql)}


def symbols(tree: Tree) -> set[str]:
    return {f"{path}:{symbol}" for path, symbol in tree.rows("SELECT path, symbol FROM symbols")}


def revision(tree: Tree) -> int:
    return int(tree.rows("SELECT value FROM meta WHERE key = 'revision'")[0][0])


def test_a_look_that_finds_nothing_is_no_new_state(tree: Tree, ckvd: Ckvd) -> None:
    def since() -> float:
        told = json.loads(ckvd("status", tree.root, "--json").stdout)
        assert told["state"] == "watching"
        return float(told["since"])

    tree.write({"a.py": "def a(): pass\n"})
    with ckvd.daemon(tree.root):
        ckvd("sync", tree.root)
        before = since()
        ckvd("sync", tree.root)
        assert since() == before
        tree.write({"a.py": "def b(): pass\n"})
        ckvd("sync", tree.root)
        assert since() > before


def test_an_edit_of_one_function_of_fifty_touches_that_one_alone(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"many.py": fifty()})
    tree.commit()
    with ckvd.daemon(tree.root):
        ckvd("sync", str(tree.root), "--vectors")
        before, was = chunks(tree), revision(tree)
        tree.write({"many.py": fifty(changed=25)})
        ckvd("sync", str(tree.root), "--vectors")
        after = chunks(tree)
        changes = tree.rows("SELECT path, what, start_byte, end_byte FROM changes WHERE revision > ?", was)
        start, end = tree.rows("SELECT start_byte, end_byte FROM symbols WHERE symbol = 'f25'")[0]
    edited = "many.py::f25"
    assert len(before) == 50
    assert before.keys() == after.keys()
    assert {k: v for k, v in before.items() if k != edited} == {k: v for k, v in after.items() if k != edited}
    assert before[edited][0] == after[edited][0]
    assert before[edited][2] != after[edited][2]
    assert revision(tree) == was + 1
    assert changes == [("many.py", "changed", start, end)]


def test_what_lies_below_an_edit_moves_and_keeps_its_vector(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"many.py": fifty()})
    with ckvd.daemon(tree.root):
        ckvd("sync", str(tree.root), "--vectors")
        before, was = chunks(tree), revision(tree)
        tree.write({"many.py": fifty().replace("def f10(x):\n", "def f10(x):\n    # a line more\n")})
        ckvd("sync", str(tree.root), "--vectors")
        after = chunks(tree)
        changes = tree.rows("SELECT what, count(*) FROM changes WHERE revision > ? GROUP BY what", was)
    same = {k for k in before if before[k][2] == after[k][2]}
    assert same == before.keys() - {"many.py::f10"}
    assert all(before[k][0] == after[k][0] for k in before)
    assert {k for k in before if before[k] == after[k]} == {f"many.py::f{n:02}" for n in range(10)}
    assert changes == [("changed", 1), ("moved", 1)]


def test_each_kind_of_work_is_seen_without_being_asked_and_is_one_revision(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def a(): pass\n", "pkg/b.py": "def b(): pass\n", "pkg/deep/c.py": "def c(): pass\n"})
    tree.commit()
    tree.git("switch", "--quiet", "--create", "other")
    tree.write({"a.py": "def other(): pass\n", "new/d.py": "def d(): pass\n"})
    tree.git("rm", "--quiet", "-r", "pkg")
    tree.commit()
    tree.git("switch", "--quiet", "main")
    root = tree.root

    def atomic_save() -> None:
        (root / "a.py.tmp").write_text("def saved(): pass\n")
        (root / "a.py.tmp").replace(root / "a.py")

    work: list[tuple[str, Callable[[], object], set[str]]] = [
        ("save", lambda: tree.write({"a.py": "def a2(): pass\n"}), {"a.py:a2"}),
        ("atomic save", atomic_save, {"a.py:saved"}),
        ("create", lambda: tree.write({"e.py": "def e(): pass\n"}), {"a.py:saved", "e.py:e"}),
        ("rename", lambda: (root / "e.py").rename(root / "f.py"), {"a.py:saved", "f.py:e"}),
        ("delete", lambda: (root / "f.py").unlink(), {"a.py:saved"}),
        ("restore", lambda: tree.git("checkout", "--quiet", "a.py"), {"a.py:a"}),
    ]
    rest = {"pkg/b.py:b", "pkg/deep/c.py:c"}
    with ckvd.daemon(root):
        for name, do, expected in work:
            was = revision(tree)
            do()
            wait_until(lambda want=expected | rest: symbols(tree) == want, name)
            assert revision(tree) == was + 1, name
        was = revision(tree)
        (root / "pkg").rename(root / "moved")
        wait_until(lambda: symbols(tree) == {"a.py:a", "moved/b.py:b", "moved/deep/c.py:c"}, "folder move")
        assert revision(tree) == was + 1
        tree.git("checkout", "--quiet", "-f", "main")
        shutil.rmtree(root / "moved")
        wait_until(lambda: symbols(tree) == {"a.py:a"} | rest, "folder back")
        was = revision(tree)
        tree.git("switch", "--quiet", "other")
        wait_until(lambda: symbols(tree) == {"a.py:other", "new/d.py:d"}, "switch")
        assert revision(tree) == was + 1
        wait_until(lambda: head(tree) == ("refs/heads/other", tree.git("rev-parse", "HEAD")), "head")
        assert faults(tree.db) == []


def head(tree: Tree) -> tuple[str, str]:
    found = dict(tree.rows("SELECT key, value FROM meta WHERE key IN ('head_ref', 'head_commit')"))
    return found["head_ref"], found["head_commit"]


def test_a_commit_moves_head_and_no_row(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def a(): pass\n"})
    with ckvd.daemon(tree.root):
        ckvd("sync", str(tree.root), "--vectors")
        was, rows = revision(tree), chunks(tree)
        commit = tree.commit()
        wait_until(lambda: head(tree) == ("refs/heads/main", commit), "the commit")
        assert (revision(tree), chunks(tree)) == (was, rows)


def test_a_switch_there_and_back_embeds_nothing_twice(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({f"m{n}.py": f"def one{n}(): pass\n" for n in range(5)})
    tree.commit()
    tree.git("switch", "--quiet", "--create", "other")
    tree.write({f"m{n}.py": f"def two{n}(): pass\n" for n in range(5)})
    tree.commit()
    with ckvd.daemon(tree.root):
        for branch in ("main", "other"):
            tree.git("switch", "--quiet", branch)
            ckvd("sync", str(tree.root), "--vectors")
        made = tree.rows("SELECT count(*) FROM vector")
        for branch in ("main", "other", "main"):
            tree.git("switch", "--quiet", branch)
            ckvd("sync", str(tree.root))
            assert tree.rows("SELECT count(*) FROM chunks WHERE NOT embedded") == [(0,)]
        assert tree.rows("SELECT count(*) FROM vector") == made


def test_a_second_daemon_names_the_first_and_leaves_it_alone(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def a(): pass\n"})
    link = tree.root.parent / "link"
    link.symlink_to(tree.root)
    with ckvd.daemon(tree.root) as first:
        for name in (tree.root, link, tree.root / "."):
            told = ckvd("run", str(name), code=1)
            assert f"pid {first.pid}" in told.stderr
            assert told.stderr.count("\n") == 1
        asked = ckvd("index", str(tree.root))
        assert "by the daemon" in asked.stdout
        elsewhere = tree.root.parent / "elsewhere.db"
        ckvd("index", str(tree.root), "--db", str(elsewhere))
        assert differences(tree.db, elsewhere) == []


def test_a_barrier_without_a_daemon_says_so(tree: Tree, ckvd: Ckvd) -> None:
    assert "ckvd run" in ckvd("sync", str(tree.root), code=3).stderr
    ckvd("index", str(tree.root))
    assert "ckvd run" in ckvd("sync", str(tree.root), code=3).stderr


def test_a_barrier_that_is_not_reached_in_time_says_so(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def a(): pass\n"})
    with ckvd.daemon(tree.root) as process:
        process.send_signal(signal.SIGSTOP)
        try:
            assert "--timeout" in ckvd("sync", str(tree.root), "--timeout", "0.2", code=4).stderr
        finally:
            process.send_signal(signal.SIGCONT)


def test_the_barrier_sees_what_makes_no_event(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def a(): pass\n"})
    twin = tree.root.parent / "twin.py"
    os.link(tree.root / "a.py", twin)
    with ckvd.daemon(tree.root):
        twin.write_text("def through_the_twin(): pass\n")
        ckvd("sync", str(tree.root))
        assert symbols(tree) == {"a.py:through_the_twin"}


def test_sigterm_ends_a_first_index_in_time_and_the_next_goes_on(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({f"m{n}.py": fifty() for n in range(400)})
    process = subprocess.Popen([ckvd.executable, "run", str(tree.root)], stderr=subprocess.PIPE)
    wait_until(lambda: tree.db.exists() and tree.db.stat().st_size, "the database")
    process.terminate()
    assert process.wait(5) == 0
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    ckvd("index", str(tree.root))
    fresh = tree.root.parent / "fresh.db"
    ckvd("index", str(tree.root), "--db", str(fresh))
    assert differences(tree.db, fresh) == []


@pytest.mark.parametrize("what", ["file", "folder", "damaged"])
def test_a_database_that_is_lost_under_the_daemon_is_made_anew(tree: Tree, ckvd: Ckvd, what: str) -> None:
    tree.write({"a.py": "def a(): pass\n"})
    with ckvd.daemon(tree.root) as process:
        epoch = tree.rows("SELECT value FROM meta WHERE key = 'epoch'")
        if what == "file":
            for path in tree.db.parent.glob("index.db*"):
                path.unlink()
        elif what == "folder":
            shutil.rmtree(tree.db.parent)
        else:
            with contextlib.closing(sqlite3.connect(tree.db)) as other:
                other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            tree.db.write_bytes(b"\xff" * 100_000)
        tree.write({"b.py": "def b(): pass\n"})
        wait_until(lambda: _has(tree, "b.py:b"), "the index made anew")
        assert process.poll() is None
        assert symbols(tree) == {"a.py:a", "b.py:b"}
        assert tree.rows("SELECT value FROM meta WHERE key = 'epoch'") != epoch
        assert faults(tree.db) == []


def _has(tree: Tree, symbol: str) -> bool:
    try:
        return symbol in symbols(tree)
    except sqlite3.Error:
        return False


def test_a_root_that_is_away_for_a_while_keeps_its_rows_and_its_daemon(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({f"m{n}.py": fifty() for n in range(20)})
    away = tree.root.parent / "away"
    with ckvd.daemon(tree.root) as process:
        ckvd("sync", str(tree.root), "--vectors")
        rows = chunks(tree)
        tree.root.rename(away)
        back_at = time.monotonic() + 3  # more than one of the looks that the daemon takes now and then
        wait_until(lambda: process.poll() is not None or time.monotonic() > back_at, "the time to return")
        assert process.poll() is None
        away.rename(tree.root)
        tree.write({"b.py": "def back(): pass\n"})
        wait_until(lambda: "b.py:back" in symbols(tree), "the edit after the return")
        assert rows.items() <= chunks(tree).items()


def test_names_that_are_not_utf8_can_be_asked_for(tree: Tree, ckvd: Ckvd) -> None:
    given = os.fsdecode(b"c\xff.py")
    (tree.root / given).write_text("def odd(): pass\n")
    ckvd("index", str(tree.root))
    at = ("--root", str(tree.root))
    assert "def odd" in ckvd("show", f"{given}:1", *at).stdout
    assert "odd" in ckvd("search", "odd", "--path", given, *at).stdout
    ckvd("search", "odd", "--kind", given, *at, code=2)
    assert r"no language 'c\xff.py'" in ckvd("search", "odd", "--language", given, *at, code=2).stderr


def test_the_configuration_is_taken_up_live_and_a_wrong_one_is_named(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def a(): pass\n", "b.py": "def b(): pass\n"})
    with ckvd.daemon(tree.root):
        tree.write({"ckv.yaml": "index:\n  exclude: [b.py]\n"})
        wait_until(lambda: "b.py:b" not in symbols(tree), "the exclusion")
        tree.write({"ckv.yaml": "index:\n  exclud: [b.py]\n", "c.py": "def c(): pass\n"})
        wait_until(lambda: "c.py:c" in symbols(tree), "the edit beside it")
        assert "b.py:b" not in symbols(tree)
        assert "index.exclud" in ckvd("status", str(tree.root)).stdout
    told = ckvd("run", str(tree.root), code=2)
    assert "index.exclud" in told.stderr
    assert "line 2" in told.stderr


def test_bad_places_get_one_plain_sentence(tree: Tree, ckvd: Ckvd, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.write_bytes(b"something else entirely" * 100)
    for args in (
        ("index", str(tmp_path / "missing")),
        ("index", str(tree.root), "--db", str(tmp_path / "no" / "where.db")),
        ("index", str(tree.root), "--db", str(other)),
        ("search", "x", "--root", str(tree.root)),
        ("show", "a.py:1", "--root", str(tree.root)),
        ("status", str(tree.root), "--db", str(other)),
    ):
        told = ckvd(*args, code=1)
        assert told.stderr.startswith("ckvd: "), args
        assert told.stderr.count("\n") == 1, args
    assert other.read_bytes() == b"something else entirely" * 100
