"""Who may see what; a disk that takes nothing; a lock that says less than it seems to."""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from equality import differences
from support import Ckvd, Tree
from waiting import wait_until

from ckvd import session
from ckvd.control import Lock
from ckvd.errors import LockedError
from ckvd.place import place
from ckvd.worktree.read import Unreadable

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("mask", [0, 0o777])
def test_the_index_is_its_owners_whatever_the_umask(tree: Tree, ckvd: Ckvd, mask: int) -> None:
    tree.write({"a.py": "def a(): pass\n"})
    with ckvd.daemon(tree.root, umask=mask):
        ckvd("sync", str(tree.root), "--vectors")
        modes = {p.name: stat.S_IMODE(p.lstat().st_mode) for p in tree.db.parent.iterdir()}
        assert modes == dict.fromkeys(modes, 0o600)
        assert {"index.db", "index.db-wal", "index.db-shm", "index.db.lock", "index.db.sock"} <= modes.keys()
        assert stat.S_IMODE(tree.db.parent.stat().st_mode) == 0o700


def test_modes_that_somebody_changed_are_put_back(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def a(): pass\n"})
    files = [tree.db, *(tree.db.with_name(f"index.db-{end}") for end in ("wal", "shm"))]
    with ckvd.daemon(tree.root):
        for file, mode in zip((*files, tree.db.parent), (0o666, 0o640, 0, 0o755), strict=True):
            file.chmod(mode)
        wait_until(lambda: stat.S_IMODE(tree.db.parent.stat().st_mode) == 0o700, "the folder")
        wait_until(lambda: {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}, "the files")


def test_credentials_are_left_out_until_they_are_named(tree: Tree, ckvd: Ckvd, tmp_path: Path) -> None:
    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----\n"
    tree.write({".env": "TOKEN=open-sesame\n", "deploy/id_ed25519": key, "a.py": "def a(): pass\n"})
    said = "SELECT path, strategy, reason FROM files WHERE path <> 'ckv.yaml' ORDER BY path"
    left_out = ("skipped", "secret")
    with ckvd.daemon(tree.root):
        assert tree.rows(said) == [
            (".env", *left_out),
            ("a.py", "symbol", None),
            ("deploy/id_ed25519", *left_out),
        ]
        assert tree.rows("SELECT path FROM chunks") == [("a.py",)]
        assert b"open-sesame" not in tree.db.read_bytes() + tree.db.with_name("index.db-wal").read_bytes()
        tree.write({"ckv.yaml": "index:\n  include: [.env]\n"})
        wait_until(
            lambda: tree.rows("SELECT 1 FROM chunks WHERE body LIKE '%open-sesame%'"), "the file named"
        )
        assert (("deploy/id_ed25519", *left_out)) in tree.rows(said)
        tree.write({"ckv.yaml": "index:\n  include: []\n"})
        wait_until(lambda: (".env", *left_out) in tree.rows(said), "the file left out again")
        assert tree.rows("SELECT path FROM chunks WHERE path = '.env'") == []
        ckvd("sync", str(tree.root), "--vectors")
        ckvd("index", str(tree.root), "--db", str(tmp_path / "fresh.db"))
        assert differences(tree.db, tmp_path / "fresh.db") == []


def test_the_size_above_which_files_are_left_out_is_taken_up_live(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"big.py": "def big(): pass\n" * 20, "a.py": "def a(): pass\n"})
    said = "SELECT coalesce(reason, 'in') FROM files WHERE path = 'big.py'"
    with ckvd.daemon(tree.root):
        assert tree.rows(said) == [("in",)]
        for limit, word in ((100, "too-large"), (8388608, "in")):
            tree.write({"ckv.yaml": f"index:\n  max_file_bytes: {limit}\n"})
            wait_until(lambda word=word: tree.rows(said) == [(word,)], word)


def test_a_daemon_that_had_no_descriptor_for_an_asker_hears_the_next(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def a(): pass\n"})
    with ckvd.daemon(tree.root) as daemon, contextlib.ExitStack() as idle:
        held = Path(f"/proc/{daemon.pid}/fd")
        limits = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
        few = len(list(held.iterdir())) + 4
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (few, limits[1]))
        for _ in range(20):
            asker = idle.enter_context(socket.socket(socket.AF_UNIX))
            asker.connect(f"{tree.db}.sock")
        wait_until(lambda: {int(f.name) for f in held.iterdir()} >= set(range(few)), "no descriptor left")
        idle.close()
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, limits)
        tree.write({"b.py": "def b(): pass\n"})
        ckvd("sync", str(tree.root), "--timeout", "30")
        assert ("b",) in tree.rows("SELECT symbol FROM symbols")


def test_what_could_not_be_read_is_tried_again_under_the_same_stamp(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a process that had no descriptor left: nothing of that is in the file's stamp."""
    tree.write({"a.py": "def a(): pass\n"})
    later = time.time_ns() + 3_600_000_000_000
    monkeypatch.setattr("ckvd.indexer.time.time_ns", lambda: later)  # long after the file was written
    with monkeypatch.context() as hindered:
        refused = Unreadable("unreadable", "Too many open files")
        hindered.setattr("ckvd.admit.read", lambda *_: refused)
        session.index_once(place(str(tree.root), None))
    assert tree.rows("SELECT reason FROM files") == [("unreadable",)]
    session.index_once(place(str(tree.root), None))
    assert tree.rows("SELECT symbol FROM symbols") == [("a",)]


@pytest.mark.parametrize("word", ["1\n", f"{os.getpid()}\n", "99999999\n", "no number", ""])
def test_a_pid_in_the_lock_holds_nobody_off(tree: Tree, ckvd: Ckvd, word: str) -> None:
    """The kernel's lock counts; a pid may be somebody else's by now, or cut short by a kill."""
    tree.write({"a.py": "def a(): pass\n"})
    ckvd("index", str(tree.root))
    lock = tree.db.with_name("index.db.lock")
    lock.write_text(word)
    assert "stopped" in ckvd("status", str(tree.root)).stdout
    with ckvd.daemon(tree.root) as process:
        assert lock.read_text() == f"{process.pid}\n"


DISK = 'mount -t tmpfs -o size=64m none "$1" && shift && exec "$@"'


def test_a_read_only_disk_is_told_and_waited_for(tmp_path: Path) -> None:
    """The scenario runs as a program of its own, inside the mount."""
    mount = tmp_path / "disk"
    mount.mkdir()
    wrap = ("unshare", "--map-root-user", "--mount", "sh", "-c", DISK, "sh", str(mount))
    if shutil.which("unshare") is None or subprocess.run([*wrap, "true"], capture_output=True).returncode:
        pytest.skip("this system lets no test mount a file system")
    here = Path(__file__).parent
    path = os.pathsep.join(filter(None, (str(here), str(here.parent), os.environ.get("PYTHONPATH"))))
    code = f"import test_access; from pathlib import Path; test_access.read_only(Path({str(mount)!r}))"
    done = subprocess.run(
        [*wrap, sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


def read_only(mount: Path) -> None:
    from support import find_ckvd

    ckvd, tree = find_ckvd(), Tree(mount / "tree")

    def remount(how: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{how}", str(mount)], check=True)

    def seen() -> set[str]:
        with contextlib.closing(sqlite3.connect(f"file:{tree.db}?mode=ro", uri=True)) as db:
            return {name for (name,) in db.execute("SELECT name FROM symbols")}

    tree.root.mkdir()
    tree.git("init", "--quiet")
    tree.write({"a.py": "def a(): pass\n"})
    with ckvd.daemon(tree.root, cwd="/") as process:
        ckvd("sync", str(tree.root), "--vectors")
        tree.write({"b.py": "def b(): pass\n"})
        ckvd("sync", str(tree.root), "--vectors")
    # Whoever starts on a disk that takes nothing hears of it, and readers read.
    remount("ro")
    told = ckvd("run", str(tree.root), code=1, cwd="/").stderr
    assert told.startswith("ckvd: "), told
    assert told.count("\n") == 1, told
    assert seen() == {"a", "b"}
    assert "b.py" in ckvd("search", "b", "--root", str(tree.root), cwd="/").stdout
    assert "stopped" in ckvd("status", str(tree.root), cwd="/").stdout
    remount("rw")
    with ckvd.daemon(tree.root, cwd="/") as process:
        tree.write({"c.py": "def c(): pass\n"})
        ckvd("sync", str(tree.root), "--vectors")
        assert process.poll() is None
    assert seen() == {"a", "b", "c"}


def test_a_lock_of_another_program_is_not_waited_for(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "STRANGER_S", 0.05)
    where = place(str(tree.root), None)
    tree.db.parent.mkdir(mode=0o700)
    with open(where.places.lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(LockedError, match="another process is already writing"):
            session.index_once(where)


def test_an_index_run_beside_another_takes_its_turn(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def a(): pass\n"})
    tree.db.parent.mkdir(mode=0o700)
    lock = Lock(place(str(tree.root), None).places)
    with subprocess.Popen([ckvd.executable, "index", tree.root], stdout=subprocess.PIPE) as waits:
        with pytest.raises(subprocess.TimeoutExpired):
            waits.wait(3)
        lock.release()
        assert waits.wait(60) == 0
    assert tree.rows("SELECT path FROM files") == [("a.py",)]
