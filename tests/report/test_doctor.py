"""Each thing that ckvd stands on is broken in turn, and its line turns red and says what to do."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from report_rows import Rows
from support import Ckvd, Tree

from ckvd import service
from ckvd.doctor import examine, machine, site
from ckvd.embed import registry
from ckvd.place import Place
from ckvd.report import findings

LINES = (
    *("python", "sqlite", "extension", "grammars", "git", "tree", "config", "model", "file system"),
    *("permissions", "lock", "index", "inotify", "systemd"),
)


@pytest.fixture
def where(tree: Tree) -> Place:
    rows = Rows(tree)
    rows.clean("src/a.py", "f")
    rows.clean("b.py", "g")
    return rows.store()


def told(tree: Tree) -> dict[str, dict[str, Any]]:
    """The findings by name."""
    return {f["name"]: f for f in findings.as_json(examine(str(tree.root), None))["findings"]}


def told_by(ckvd: Ckvd, tree: Tree, code: int, **environ: str) -> dict[str, dict[str, Any]]:
    """The same of a process of its own."""
    done = ckvd("doctor", str(tree.root), "--json", code=code, env=os.environ | environ)
    document = json.loads(done.stdout)
    assert document["ok"] == (code == 0)
    return {f["name"]: f for f in document["findings"]}


def red(found: dict[str, dict[str, Any]]) -> list[str]:
    for finding in found.values():
        assert finding["level"] == "ok" or finding["remedy"], finding
    return [name for name, finding in found.items() if finding["level"] == "bad"]


def test_all_is_well(where: Place, tree: Tree, ckvd: Ckvd) -> None:
    found = told_by(ckvd, tree, 0)
    assert tuple(found) == LINES
    assert red(found) == []
    shown = ckvd("doctor", str(tree.root)).stdout
    assert re.findall(r"(?m)^ok +(.+?)  ", shown) == list(LINES)
    assert not re.search(r"(?m)^(warn|bad) ", shown)
    assert "Python" in shown.split("\n")[0]


def test_a_tree_without_an_index_is_not_broken(tree: Tree) -> None:
    found = told(tree)
    assert (found["index"]["level"], found["index"]["remedy"]) == ("warn", f"ckvd index {tree.root}")
    assert not (tree.root / ".ckvd").exists()


def test_a_report_names_no_home(tree: Tree, ckvd: Ckvd) -> None:
    done = ckvd("doctor", str(tree.root), env=os.environ | {"HOME": str(tree.root.parent)})
    assert "~/tree (git worktree)" in done.stdout
    assert str(tree.root) not in done.stdout


@pytest.mark.parametrize(
    ("version", "level"), [((3, 10, 9), "bad"), ((3, 12, 1), "ok"), ((3, 15, 0), "warn")]
)
def test_python(version: tuple[int, ...], level: str) -> None:
    found = machine.python(version)
    assert found.level == level
    assert found.what.startswith(".".join(map(str, version)))


@pytest.mark.parametrize(
    ("module", "code", "line"),
    [
        ("apsw", "raise ImportError('no wheel')", "sqlite"),
        ("sqlite_vec", "raise ImportError('no wheel')", "extension"),
        ("sqlite_vec", "loadable_path = lambda: '/nowhere/vec0'", "extension"),
        ("tree_sitter_language_pack", "raise ImportError('no wheel')", "grammars"),
        (
            "tree_sitter_language_pack",
            "SupportedLanguage = str\ndef get_language(name): raise LookupError(name)",
            "grammars",
        ),
        ("onnxruntime", "raise ImportError('libgomp is missing')", "model"),
        ("tokenizers", "raise ImportError('no wheel')", "model"),
    ],
)
def test_a_package_that_does_not_work(
    where: Place, tree: Tree, ckvd: Ckvd, tmp_path: Path, module: str, code: str, line: str
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / f"{module}.py").write_text(code)
    found = told_by(ckvd, tree, 1, PYTHONPATH=str(tmp_path / "broken"))
    assert line in red(found)
    assert module.replace("_", "-") in found[line]["remedy"]


def test_no_git(where: Place, tree: Tree, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = told(tree)
    assert red(found) == ["git"]
    assert "install git" in found["git"]["remedy"]


def test_a_git_that_cannot_run(where: Place, tree: Tree, ckvd: Ckvd, tmp_path: Path) -> None:
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho 'libz is missing' >&2\nexit 127\n")
    fake.chmod(0o755)
    found = told_by(ckvd, tree, 1, PATH=f"{fake.parent}:{os.environ['PATH']}")
    assert "git" in red(found)
    assert "libz is missing" in found["git"]["what"]


def test_a_repository_that_git_cannot_use(folder: Tree) -> None:
    folder.write({".git": "gitdir: /nowhere\n", "a.py": "x = 1\n"})
    found = told(folder)
    assert red(found) == ["tree"]
    assert "not a valid git repository" in found["tree"]["what"]


def test_no_such_tree(tmp_path: Path, ckvd: Ckvd) -> None:
    found = told_by(ckvd, Tree(tmp_path / "nowhere"), 1)
    assert red(found) == ["tree"]
    assert "python" in found


def test_a_wrong_configuration(where: Place, tree: Tree) -> None:
    tree.write({"ckv.yaml": "chunking:\n  window_char: 9\n"})
    found = told(tree)
    assert red(found) == ["config"]
    assert "window_char" in found["config"]["what"]


def test_a_model_of_other_bytes(where: Place, tree: Tree) -> None:
    model = tree.root / "model"
    shutil.copytree(Path(registry.SHIPPED) / registry.DEFAULT, model)
    tree.write({"ckv.yaml": "embedding:\n  model: ./model\n"})
    assert red(told(tree)) == []
    data = bytearray((model / "model.onnx").read_bytes())
    data[len(data) // 2] ^= 1
    (model / "model.onnx").write_bytes(data)
    assert red(told(tree)) == ["model"]


def mounts(kind: str, at: str) -> bytes:
    root = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    return (root + f"36 22 0:33 / {at} rw,noatime - {kind} server:/export rw\n").encode()


def test_file_systems(where: Place, tree: Tree) -> None:
    assert site.filesystem(where).level == "ok"
    database = site.filesystem(where, mounts("nfs4", f"{where.root}/.ckvd"))
    assert database.level == "bad"
    assert "--db" in (database.remedy or "")
    assert site.filesystem(where, mounts("nfs4", f"{where.root}/src")).level == "warn"
    assert site.filesystem(where, mounts("ext4", f"{where.root}/src")).level == "ok"


def test_no_room(where: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "LOW_BYTES", 1 << 62)
    assert site.filesystem(where).level == "bad"


def test_others_may_read_the_database(where: Place, tree: Tree) -> None:
    tree.db.chmod(0o644)
    found = told(tree)
    assert red(found) == ["permissions"]
    subprocess.run(found["permissions"]["remedy"], shell=True, check=True)
    assert red(told(tree)) == []
    tree.db.parent.chmod(0o755)
    assert "chmod 700" in told(tree)["permissions"]["remedy"]


def test_something_else_in_the_place_of_the_database(tree: Tree) -> None:
    tree.db.parent.mkdir(mode=0o700)
    os.mkfifo(tree.db)
    found = told(tree)
    assert red(found) == ["permissions", "index"]
    assert found["permissions"]["remedy"] == "move it away, or pass another with --db"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("elsewhere", path)])
def test_something_else_in_the_place_of_the_lock(where: Place, make: Callable[[str], None]) -> None:
    make(where.places.lock)
    found = site.writer(where)
    assert (found.level, found.what) == ("bad", f"{where.places.lock} is not a regular file")
    assert (found.remedy or "").startswith("move it away")


def test_a_lock_that_cannot_be_opened(where: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(where.places.lock).touch()
    monkeypatch.setattr(os, "access", lambda path, mode: path != where.places.lock)
    found = site.writer(where)
    assert (found.level, found.remedy) == ("bad", f"chmod u+rw {where.places.lock}")


@contextlib.contextmanager
def held(where: Place) -> Iterator[int]:
    """Another process has the lock."""
    code = (
        "import fcntl, os, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX);"
        "f.write(str(os.getpid())); f.flush(); print(flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, where.places.lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid


def test_a_daemon_that_does_not_answer(where: Place) -> None:
    with held(where) as pid, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as deaf:
        deaf.bind(where.places.socket)
        deaf.listen(1)
        found = site.writer(where)
    assert found.level == "bad"
    assert f"pid {pid}" in found.what
    assert f"kill -CONT {pid}" in (found.remedy or "")


def test_a_writer_without_a_socket_is_no_fault(where: Place) -> None:
    with held(where) as pid:
        found = site.writer(where)
    assert (found.level, f"pid {pid}" in found.what) == ("warn", True)


def test_a_lock_that_no_ckvd_holds(where: Place) -> None:
    """Another program's, or one left with the pid of a process that is gone."""
    for word in ("", "99999999\n"):
        Path(where.places.lock).write_text(word)
        with open(where.places.lock) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            assert site.writer(where).what == "another process writes the database without answering"


def test_what_is_another_users(where: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.path.dirname(where.db)
    monkeypatch.setattr(os, "access", lambda path, mode: path != folder)
    assert (site.permissions(where).remedy or "").startswith("chmod u+wx")
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    found = site.permissions(where)
    assert found.what == f"{folder} is another user's"
    assert (found.remedy or "").startswith("run ckvd as that user")


def test_no_locks(where: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    found = site.writer(where)
    assert (found.level, "--db" in (found.remedy or "")) == ("bad", True)


def test_a_daemon_that_runs(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def f(): pass\n"})
    with ckvd.daemon(tree.root) as process:
        found = told_by(ckvd, tree, 0)
        state = json.loads(ckvd("status", tree.root, "--json").stdout)
    assert f"pid {process.pid}, watching" in found["lock"]["what"]
    assert found["inotify"]["what"].startswith(f"{state['watch']['watches']} folders watched, ")
    assert told(tree)["inotify"]["what"].startswith("1 folder with files to watch, ")


def test_a_damaged_database(where: Place, tree: Tree) -> None:
    with open(tree.db, "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096 * 8)
    found = told(tree)
    assert red(found) == ["index"]
    assert "is damaged" in found["index"]["what"]
    assert found["index"]["remedy"].startswith("mend it, or build it anew, with: ckvd index ")


def test_damage_that_only_a_check_finds(where: Place, tree: Tree) -> None:
    with contextlib.closing(sqlite3.connect(tree.db)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ((page,),) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'stand_in_hash'")
    with open(tree.db, "r+b") as file:
        file.seek(4096 * (page - 1))
        file.write(b"\xff" * 4096)
    found = site.index(where)
    assert "is damaged" in found.what
    assert found.what.isprintable()
    assert (found.remedy or "").startswith("mend it, or build it anew, with: ckvd index ")


def test_a_database_of_a_later_version(where: Place, tree: Tree) -> None:
    with open(tree.db, "r+b") as file:
        file.seek(60)  # user_version
        file.write((99).to_bytes(4, "big"))
    assert "newer" in told(tree)["index"]["what"]


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
@pytest.mark.parametrize(
    ("watches", "instances", "level"), [(1, 128, "bad"), (3, 128, "warn"), (99, 0, "bad"), (99, 128, "ok")]
)
def test_limits_of_inotify(where: Place, tmp_path: Path, watches: int, instances: int, level: str) -> None:
    (tmp_path / "max_user_watches").write_text(f"{watches}\n")
    (tmp_path / "max_user_instances").write_text(f"{instances}\n")
    found = site.inotify(where, str(tmp_path))
    assert found.level == level
    assert level == "ok" or "sysctl fs.inotify." in (found.remedy or "")
    assert site.inotify(where, str(tmp_path / "nowhere")).level == "bad"


def test_a_service_whose_command_is_gone(
    where: Place, tree: Tree, ckvd: Ckvd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    units = tmp_path / "config" / "systemd" / "user"
    (units / "default.target.wants").mkdir(parents=True)
    instance = units / "default.target.wants" / service.unit_name(where.root)
    instance.symlink_to(units / service.TEMPLATE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    found = told(tree)
    assert red(found) == ["systemd"]
    (units / service.TEMPLATE).write_text(service.unit_text("/nowhere/bin/ckvd"))
    found = told(tree)
    assert red(found) == ["systemd"]
    assert "/nowhere/bin/ckvd" in found["systemd"]["what"]
    (units / service.TEMPLATE).write_text(service.unit_text(ckvd.executable))
    found = told(tree)
    assert found["systemd"]["level"] == "warn"


def test_a_service_that_failed(where: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = service.Installed("ckvd@x.service", "failed", None)
    monkeypatch.setattr(service, "examine", lambda root: failed)
    found = site.service(where)
    assert (found.level, "journalctl" in (found.remedy or "")) == ("bad", True)


def test_another_database(where: Place, tree: Tree, ckvd: Ckvd, tmp_path: Path) -> None:
    db = tmp_path / "elsewhere.db"
    db.write_bytes(b"SQLite format 3\0" + bytes(84) + b"\xff" * 4000)
    done = ckvd("doctor", str(tree.root / "src"), "--db", str(db), "--json", code=1)
    broken = {f["name"]: f["remedy"] for f in json.loads(done.stdout)["findings"] if f["level"] == "bad"}
    assert list(broken) == ["permissions", "index"]
    assert broken["permissions"] == f"chmod 600 {db}"
