"""Status as a value and as JSON: what is read, from whom, and that nothing is written."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report_rows import Rows, place
from support import Tree

from ckvd.control import Lock, Server
from ckvd.errors import DamagedStoreError, NewerStoreError, StoreError
from ckvd.model import Verdict
from ckvd.place import Place
from ckvd.report import status
from ckvd.report.follow import follow
from ckvd.report.state import STALLED_S, heard

CONTRACT = (
    *("root", "db", "state", "pid", "revision", "head", "files", "languages", "directories", "chunks"),
    *("pending", "failures", "model", "db_bytes"),
)
BROKEN = b"def f(:\n    pass\n"
PARTIAL = Verdict("symbol", "partial", "syntax-errors", "line 1, column 7: cannot be parsed", 1, 2, ((6, 8),))
FAILED = Verdict("window", "failed", "syntax-errors", "line 1, column 1: cannot be parsed", 1, 9, ((0, 9),))


@pytest.fixture
def rows(tree: Tree) -> Rows:
    made = Rows(tree)
    made.clean("src/a.py", "one", "two")
    made.clean("src/b.py", "three")
    made.clean("server/main.go", "Main", language="go")
    made.unclean("src/old/x.py", BROKEN, PARTIAL)
    made.unclean("src/old/y.py", BROKEN, FAILED)
    made.left_out("logo.png", b"\0\1", "binary", "has a NUL")
    made.left_out(".env", b"TOKEN=hunter2\n", "secret")
    return made


def listing(root: Path) -> dict[str, tuple[int, int, int]]:
    """Everything below `root` but what SQLite's readers share, with size, mtime and inode."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            if not path.endswith("-shm"):
                s = os.lstat(path)
                found[path] = (s.st_size, s.st_mtime_ns, s.st_ino)
    return found


def test_the_document_has_all_that_the_contract_names(rows: Rows) -> None:
    where = rows.store()
    told = status.as_json(status.collect(where))
    assert [key for key in CONTRACT if key not in told] == []
    assert json.loads(json.dumps(told)) == told
    assert told["root"] == str(rows.tree.root)
    assert told["db"] == where.db
    assert (told["state"], told["pid"], told["revision"]) == ("stopped", None, 1)
    assert told["since"] == 1714564800.0
    assert told["head"] == {"ref": "refs/heads/main", "commit": "c" * 40}
    assert told["files"]["total"] == 7
    assert told["files"]["by_strategy"] == {"symbol": 4, "section": 0, "window": 1, "names": 0, "skipped": 2}
    assert told["files"]["by_parse_status"] == {"ok": 3, "partial": 1, "failed": 1, "none": 2}
    assert told["files"]["skipped"] == {"binary": 1, "secret": 1}
    assert told["languages"] == {
        "python": {"files": 4, "ok": 2, "partial": 1, "failed": 1},
        "go": {"files": 1, "ok": 1, "partial": 0, "failed": 0},
    }
    assert told["directories"][0] == {"path": "src/old", "files": 2, "ok": 0, "partial": 1, "failed": 1}
    assert {d["path"] for d in told["directories"]} == {"src/old", "src", "server", "."}
    assert told["chunks"]["total"] == 6
    assert told["chunks"]["by_unit"] == {"symbol": 6}
    assert set(told["chunks"]["tokens"]) == {"median", "p90", "max"}
    assert told["chunks"]["over_limit"] == told["chunks"]["truncated"] == told["chunks"]["split_symbols"] == 0
    assert told["pending"] == {"files": 0, "vectors": 6, "seconds": None}
    assert set(told["pace"].values()) == {None}
    assert told["model"] == "static-code-256"
    assert told["db_bytes"] == os.path.getsize(where.db)


def test_failures_name_the_file_the_line_and_the_ranges(rows: Rows) -> None:
    told = status.as_json(status.collect(rows.store()))
    assert [f["path"] for f in told["failures"]] == ["src/old/x.py", "src/old/y.py"]
    assert told["failures"][0] == {
        "path": "src/old/x.py",
        "language": "python",
        "strategy": "symbol",
        "parse_status": "partial",
        "reason": "syntax-errors",
        "line": 1,
        "bytes": 2,
        "ranges": [[6, 8]],
        "detail": "line 1, column 7: cannot be parsed",
    }


def test_sizes_are_judged_by_the_limit_in_force(rows: Rows) -> None:
    where = rows.store()
    assert status.as_json(status.collect(where))["chunks"]["limit"] == 512
    rows.tree.write({"ckv.yaml": "chunking:\n  max_input_tokens: 64\n"})
    assert status.as_json(status.collect(where))["chunks"]["limit"] == 64


# -- no daemon: how far behind --------------------------------------------------------------------


def test_nothing_is_there_yet(tree: Tree) -> None:
    tree.write({"a.py": "x = 1\n"})
    before = listing(tree.root)
    found = status.collect(place(tree.root))
    told = status.as_json(found)
    assert (told["state"], told["revision"], told["files"]["total"], told["chunks"]["total"]) == (
        "stopped",
        0,
        0,
        0,
    )
    assert told["pending"] == {"files": 1, "vectors": 0, "seconds": None}
    assert told["failures"] == []
    assert found.verdict == status.BEHIND
    assert listing(tree.root) == before


def test_an_index_in_step_is_fresh(rows: Rows) -> None:
    found = status.collect(rows.store())
    assert found.behind is not None
    assert (found.behind.new, found.behind.changed, found.behind.gone) == ((), (), ())
    assert found.verdict == status.FRESH


def test_what_changed_since_is_counted_and_nothing_written(rows: Rows) -> None:
    where = rows.store()
    rows.tree.write({"src/a.py": "other = 1\n", "new.py": "x = 1\n"})
    (rows.tree.root / "src" / "b.py").unlink()
    before = listing(rows.tree.root)
    found = status.collect(where)
    assert found.behind is not None
    assert found.behind.new == (b"new.py",)
    assert found.behind.changed == (b"src/a.py",)
    assert found.behind.gone == (b"src/b.py",)
    assert status.as_json(found)["pending"]["files"] == 3
    assert found.verdict == status.BEHIND
    assert listing(rows.tree.root) == before


def test_a_touched_file_with_the_same_bytes_is_not_behind(rows: Rows) -> None:
    where = rows.store()
    os.utime(rows.tree.root / "src" / "a.py", ns=(1, 1))
    assert status.collect(where).verdict == status.FRESH


def test_a_row_read_too_soon_after_its_stamp_is_compared_by_content(rows: Rows) -> None:
    where = rows.store()
    with contextlib.closing(sqlite3.connect(where.db)) as db, db:
        db.execute(
            "UPDATE file SET read_ns = max(mtime_ns, ctime_ns), blob_oid = ? WHERE path = 'src/a.py'",
            ("0" * 40,),
        )
    found = status.collect(where)
    assert found.behind is not None
    assert found.behind.changed == (b"src/a.py",)


def test_a_nested_repository_is_a_note(rows: Rows) -> None:
    where = rows.store()
    (rows.tree.root / "vendor" / "lib").mkdir(parents=True)
    Tree(rows.tree.root / "vendor" / "lib").git("init", "--quiet")
    Tree(rows.tree.root / "vendor" / "lib").write({"a.py": "x = 1\n"})
    found = status.collect(where)
    assert any("vendor/lib" in note for note in found.notes)
    assert found.verdict == status.FRESH


def test_a_wrong_configuration_is_an_error_in_the_status_not_of_it(rows: Rows) -> None:
    where = rows.store()
    rows.tree.write({"ckv.yaml": "chunking:\n  window_chars: lots\n"})
    found = status.collect(where)
    told = status.as_json(found)
    assert len(told["errors"]) == 1
    assert "window_chars" in told["errors"][0]
    assert told["files"]["total"] == 7
    assert told["chunks"]["over_limit"] is None
    assert found.verdict == status.BEHIND  # whether it is fresh cannot be told


# -- databases that cannot be used ----------------------------------------------------------------


@pytest.fixture
def where(tree: Tree) -> Place:
    (tree.root / ".ckvd").mkdir()
    return place(tree.root)


def test_a_database_just_made_has_nothing_yet(where: Place) -> None:
    Path(where.db).touch()
    assert not status.collect(where).built
    with contextlib.closing(sqlite3.connect(where.db)) as db:
        db.execute("PRAGMA journal_mode = wal")
    assert not status.collect(where).built


def test_a_newer_database_is_refused(rows: Rows) -> None:
    where = rows.store()
    with contextlib.closing(sqlite3.connect(where.db)) as db:
        db.execute("PRAGMA user_version = 2")
    with pytest.raises(NewerStoreError, match="newer ckvd"):
        status.collect(where)


def test_an_older_schema_is_named(rows: Rows) -> None:
    where = rows.store()
    with contextlib.closing(sqlite3.connect(where.db)) as db, db:
        db.execute("UPDATE meta_kv SET value = 0 WHERE key = 'schema_version'")
    with pytest.raises(StoreError, match="older ckvd; bring it up to date with: ckvd index "):
        status.collect(where)


def test_the_database_of_another_program_is_refused(where: Place) -> None:
    with contextlib.closing(sqlite3.connect(where.db)) as db:
        db.execute("CREATE TABLE recipes (title)")
    with pytest.raises(StoreError, match="another program"):
        status.collect(where)


def test_a_damaged_database_is_named(where: Place) -> None:
    Path(where.db).write_bytes(b"no database at all, but long enough to be read as one" * 100)
    with pytest.raises(DamagedStoreError, match="is damaged"):
        status.collect(where)


def test_a_schema_without_its_views_is_named(rows: Rows) -> None:
    where = rows.store()
    with contextlib.closing(sqlite3.connect(where.db)) as db:
        db.execute("DROP VIEW failures")
    with pytest.raises(StoreError, match="mend it, or build it anew"):
        status.collect(where)


def test_a_fifo_in_the_database_s_place_does_not_hang(where: Place) -> None:
    os.mkfifo(where.db)
    with pytest.raises(StoreError, match="not a regular file"):
        status.collect(where)


# -- who writes -----------------------------------------------------------------------------------

LIVE: dict[str, Any] = {
    "pid": 4242,
    "state": "watching",
    "since": 1700000000.0,
    "phase": "",
    "pending_files": 0,
    "progress_age_s": 0.0,
    "watch": {"mode": "events", "watches": 3},
    "errors": [],
}


@contextlib.contextmanager
def daemon(where: Place, **live: Any) -> Iterator[None]:
    """A socket that answers `status` as the daemon does."""
    server = Server(where.places, lambda request: request.answer({**LIVE, **live}))
    try:
        yield
    finally:
        server.close()


def test_a_daemon_that_watches_speaks_for_the_tree(rows: Rows) -> None:
    where = rows.store()
    rows.tree.write({"src/a.py": "not yet seen = 1\n"})
    with daemon(where):
        found = status.collect(where)
    told = status.as_json(found)
    assert (told["state"], told["pid"], told["since"], told["watch"]["mode"]) == (
        "watching",
        4242,
        1700000000.0,
        "events",
    )
    assert found.behind is None
    assert told["pending"]["files"] == 0
    assert found.verdict == status.FRESH


def test_a_daemon_at_work_is_behind(rows: Rows) -> None:
    where = rows.store()
    with daemon(where, state="indexing", pending_files=12, phase="indexing", errors=["the disk is full"]):
        found = status.collect(where)
    told = status.as_json(found)
    assert (told["state"], told["pending"]["files"], told["errors"]) == ("indexing", 12, ["the disk is full"])
    assert found.verdict == status.BEHIND


@pytest.mark.parametrize(("age", "state", "stalled"), [
    (STALLED_S + 60, "indexing", True),
    (STALLED_S - 60, "indexing", False),
    (STALLED_S + 60, "watching", False),
])  # fmt: skip
def test_health_is_progress(age: float, state: str, stalled: bool) -> None:
    found = heard({**LIVE, "state": state, "progress_age_s": age})
    assert (found.stalled is not None) == stalled
    if found.stalled:
        assert "no file was finished for 6 minutes" in found.stalled
        assert "4242" in found.stalled


def test_a_wrong_configuration_is_told_once_and_is_not_fresh(rows: Rows) -> None:
    where = rows.store()
    rows.tree.write({"ckv.yaml": "chunking:\n  window_chars: lots\n"})
    (alone,) = status.collect(where).problems
    said = f"{alone} (until then the configuration before it is in force)"
    with daemon(where, errors=[said]):
        found = status.collect(where)
    assert found.problems == (said,)
    assert found.verdict == status.BEHIND  # as it is without the daemon
    assert not found.known


def test_a_stalled_daemon_is_wedged(rows: Rows) -> None:
    where = rows.store()
    with daemon(where, state="indexing", progress_age_s=STALLED_S * 2):
        found = status.collect(where)
    assert found.verdict == status.WEDGED
    assert status.as_json(found)["stalled"] is True
    assert "run it again" in status.as_json(found)["errors"][0]


def test_a_daemon_that_does_not_answer_is_wedged(rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "ASK_S", 0.05)
    where = rows.store()
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as deaf:
        deaf.bind(where.places.socket)
        deaf.listen()
        found = status.collect(where)
        lock = Lock(where.places)
        named = status.collect(where)
        lock.release()
    assert f"(kill -CONT {os.getpid()})" in named.problems[0]
    assert found.verdict == status.WEDGED
    assert "does not answer" in found.problems[0]
    assert status.as_json(found)["files"]["total"] == 7


def test_an_index_being_built_by_another_process(rows: Rows) -> None:
    where = rows.store()
    lock = Lock(where.places)
    try:
        found = status.collect(where)
    finally:
        lock.release()
    assert (found.state, status.as_json(found)["pid"]) == ("indexing", os.getpid())
    assert found.verdict == status.BEHIND
    assert status.collect(where).state == "stopped"


def test_a_reader_is_not_held_up_by_a_writer(rows: Rows) -> None:
    where = rows.store()
    with contextlib.closing(sqlite3.connect(where.db, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM file")
        found: list[status.Status] = []
        reader = threading.Thread(target=lambda: found.append(status.collect(where)), daemon=True)
        reader.start()
        reader.join(5)
        assert [f.data.files for f in found] == [7]


def test_following_says_each_change_once(rows: Rows, capsys: pytest.CaptureFixture[str]) -> None:
    where = rows.store()
    steps = iter([lambda: None, lambda: rows.tree.write({"new.py": "x = 1\n"}), lambda: None])

    def wait(_seconds: float) -> None:
        step = next(steps, None)
        if step is None:
            raise KeyboardInterrupt
        step()

    follow(where, wait)
    assert capsys.readouterr().out.splitlines() == [
        "ckvd stopped · 7 files · 2 unclean · 6 vectors pending",
        "ckvd stopped · 7 files · 2 unclean · 1 behind · 6 vectors pending",
    ]
