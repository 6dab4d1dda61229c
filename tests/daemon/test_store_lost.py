"""What may happen to the database under a daemon, and what the daemon then does."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from equality import differences, faults
from support import STOP_S, Ckvd, Tree
from waiting import wait_until


def sources(n: int = 20) -> dict[str, str]:
    return {
        f"m{i}.py": "\n\n".join(f"def f{i}_{j}(x):\n    return {j}\n" for j in range(20)) for i in range(n)
    }


@pytest.fixture
def work(tree: Tree) -> Tree:
    tree.write(sources())
    return tree


def beside(tree: Tree, suffix: str) -> Path:
    return tree.db.with_name(tree.db.name + suffix)


def equals_a_fresh_one(tree: Tree, ckvd: Ckvd, folder: Path | None = None) -> None:
    fresh = (folder or tree.root.parent) / "fresh.db"
    ckvd("index", str(tree.root), "--db", str(fresh))
    assert differences(tree.db, fresh) == []
    assert faults(tree.db) == []


def by_another(tree: Tree, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(tree.db, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


def without_its_log(tree: Tree) -> None:
    for suffix in ("-wal", "-shm"):
        beside(tree, suffix).unlink()


LOSSES: dict[str, Callable[[Tree], object]] = {
    "the log": without_its_log,
    "the socket": lambda tree: beside(tree, ".sock").unlink(),
    "the lock": lambda tree: beside(tree, ".lock").unlink(),
    "rows": lambda tree: by_another(
        tree,
        "DELETE FROM file WHERE id % 3 = 0",
        "DELETE FROM symbol WHERE id % 5 = 0",
        "DELETE FROM chunk WHERE id % 7 = 0",
        "DELETE FROM vector WHERE id % 11 = 0",
    ),
    "a table": lambda tree: by_another(tree, "DROP TABLE symbol"),
}


@pytest.mark.parametrize("what", LOSSES)
def test_what_is_taken_from_a_daemon_is_made_good(work: Tree, ckvd: Ckvd, what: str) -> None:
    with ckvd.daemon(work.root) as process:
        ckvd("sync", str(work.root), "--vectors")
        LOSSES[what](work)
        wait_until(
            lambda: all(beside(work, s).exists() for s in ("-wal", "-shm", ".sock", ".lock")), "its files"
        )
        work.write({"new.py": "def new(): pass\n"})
        wait_until(lambda: has(work, "new"), "the edit after it")
        wait_until(lambda: is_equal(work, ckvd), "a file that equals a fresh one")
        assert process.poll() is None
        assert ckvd("run", str(work.root), code=1).stderr.startswith(
            f"ckvd: pid {process.pid} is already writing"
        )


def overwritten(log: Path) -> None:
    part = log.stat().st_size // 3
    with log.open("r+b") as file:
        file.seek(part)
        file.write(b"\xee" * part)


def cut(log: Path) -> None:
    os.truncate(log, 0)


@pytest.mark.slow
@pytest.mark.parametrize("harm", [overwritten, cut])
def test_damage_to_the_log_is_found_without_being_asked(
    work: Tree, ckvd: Ckvd, harm: Callable[[Path], None]
) -> None:
    """Every new reader meets it, the writer, which has all of it in memory, never."""
    with ckvd.daemon(work.root):
        ckvd("sync", str(work.root), "--vectors")
        wait_until(lambda: beside(work, "-wal").stat().st_size > 100_000, "a log")
        harm(beside(work, "-wal"))
        wait_until(lambda: is_whole(work), "a file that can be read")
        assert is_equal(work, ckvd)
        assert faults(work.db) == []


def is_whole(tree: Tree) -> bool:
    try:
        return tree.rows("PRAGMA integrity_check") == [("ok",)] and has(tree, "f7_7")
    except sqlite3.Error:
        return False


def a_repository(tree: Tree) -> None:
    tree.git("init", "-q")
    (tree.root / ".git" / "info" / "exclude").write_text("ignored.py\n")


@pytest.mark.slow
@pytest.mark.parametrize("repository", [False, True])
def test_a_database_made_anew_is_of_what_the_root_is_by_then(
    folder: Tree, ckvd: Ckvd, repository: bool
) -> None:
    """The root came to be a repository, or ceased to be one, since the daemon began."""
    now = {"new.py": "def new(): pass\n", "ignored.py": "def ignored(): pass\n"}
    if not repository:
        a_repository(folder)
    with ckvd.daemon(folder.root):
        if repository:
            a_repository(folder)
            folder.write(now)
            ckvd("sync", str(folder.root))  # it was followed
            shutil.rmtree(folder.db.parent)
        else:
            shutil.rmtree(folder.root)
            folder.root.mkdir()
            folder.write(now)
        wait_until(lambda: has(folder, "new"), "the rows")
        assert has(folder, "ignored") is not repository
        head = folder.rows("SELECT value FROM meta WHERE key = 'head_ref'")
        assert head == [("refs/heads/main" if repository else None,)]
        assert is_equal(folder, ckvd)


def has(tree: Tree, symbol: str) -> bool:
    try:
        return bool(tree.rows("SELECT 1 FROM symbols WHERE symbol = ?", symbol))
    except sqlite3.Error:
        return False


def is_equal(tree: Tree, ckvd: Ckvd) -> bool:
    ckvd("sync", str(tree.root), "--vectors")
    fresh = tree.root.parent / "fresh.db"
    ckvd("index", str(tree.root), "--db", str(fresh))
    return differences(tree.db, fresh) == []


def cold_page(db: Path) -> None:
    """Overwrites a page of texts, which nothing looks at until somebody asks for them."""
    with contextlib.closing(sqlite3.connect(db)) as c:
        ((root,),) = c.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'body'")
    with db.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xee" * 4096)


def one_letter(db: Path) -> None:
    """In a text, which leaves every page well-formed."""
    data = db.read_bytes()
    at = data.index(b"return 7")
    with db.open("r+b") as file:
        file.seek(at)
        file.write(b"RETURN")


@pytest.mark.parametrize("harm", [cold_page, one_letter])
@pytest.mark.parametrize("how", ["run", "index"])
def test_damage_that_nothing_stumbles_over_is_found_at_the_start(
    work: Tree, ckvd: Ckvd, harm: Callable[[Path], None], how: str
) -> None:
    ckvd("index", str(work.root))
    harm(work.db)
    if how == "index":
        ckvd("index", str(work.root))
    else:
        with ckvd.daemon(work.root):
            ckvd("sync", str(work.root), "--vectors")
    equals_a_fresh_one(work, ckvd)


@pytest.mark.parametrize("suffix", [".lock", ".sock"])
def test_what_stands_in_the_place_of_a_file_is_one_sentence(work: Tree, ckvd: Ckvd, suffix: str) -> None:
    ckvd("index", str(work.root))
    beside(work, ".lock").unlink()
    (os.mkfifo if suffix == ".lock" else os.mkdir)(beside(work, suffix))
    told = ckvd("run", str(work.root), code=1).stderr
    assert told.startswith("ckvd: ")
    assert told.count("\n") == 1
    assert ckvd("sync", str(work.root), code=3, timeout=20)


def test_a_writer_that_stays_is_told_and_holds_no_one_up_at_the_end(work: Tree, ckvd: Ckvd) -> None:
    with ckvd.daemon(work.root) as process, contextlib.closing(sqlite3.connect(work.db)) as other:
        other.execute("BEGIN IMMEDIATE")
        work.write({"new.py": "def new(): pass\n"})
        wait_until(lambda: "locked for" in ckvd("status", str(work.root)).stdout, "what is in the way")
        process.send_signal(signal.SIGTERM)
        assert process.wait(STOP_S) == 0
        other.execute("ROLLBACK")
    ckvd("index", str(work.root))
    assert has(work, "new")


SMALL = {
    "tmpfs": ("--map-root-user", 'mount -t tmpfs -o size=12m none "$1" && shift && exec "$@"'),
    # As mkfs makes it at that size: with blocks of 1 KiB, less than a page of memory. Only root mounts it.
    "ext4": (
        "--fork",
        'truncate -s 12M "$1.img" && mkfs.ext4 -q "$1.img" && mount -o loop "$1.img" "$1" && shift && exec'
        ' "$@"',
    ),
}


@pytest.fixture(params=SMALL)
def small(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, tuple[str, ...]]:
    """A folder for a disk of 12 MB, and what a command must be put behind to see it."""
    mount = tmp_path / "small"
    mount.mkdir()
    option, script = SMALL[request.param]
    wrap = ("unshare", option, "--mount", "sh", "-c", script, "sh", str(mount))
    if shutil.which("unshare") is None or subprocess.run([*wrap, "true"], capture_output=True).returncode:
        pytest.skip("this system lets no test mount a file system")
    return mount, wrap


@pytest.mark.slow
def test_a_disk_that_fills_is_told_and_waited_for(small: tuple[Path, tuple[str, ...]]) -> None:
    """The scenario runs as a program of its own, inside the mount."""
    mount, wrap = small
    call = f"fill(Path({str(mount)!r}), Path({str(mount.parent)!r}))"
    code = f"import test_store_lost; from pathlib import Path; test_store_lost.{call}"
    path = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parent.parent)])
    env = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [*wrap, sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


def fill(mount: Path, elsewhere: Path) -> None:
    from support import find_ckvd

    ckvd, tree = find_ckvd(), Tree(mount / "tree")
    tree.root.mkdir()
    tree.git("init", "--quiet")
    tree.write(sources())
    ballast = mount / "ballast"

    def no_room() -> None:
        with ballast.open("ab", buffering=0) as file, contextlib.suppress(OSError):
            for size in (65536, 4096, 1):
                with contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(size))

    def says_so() -> bool:
        return "disk is full" in (said := ckvd("status", str(tree.root)).stdout) or "is full" in said

    with ckvd.daemon(tree.root) as process:
        ckvd("sync", str(tree.root), "--vectors")
        before = tree.rows("SELECT * FROM files ORDER BY path")
        (tree.root / "new.py").write_text(
            "\n\n".join(f"def new{i}(): return {'x' * 99!r}\n" for i in range(2000))
        )
        no_room()
        wait_until(says_so, "the disk that is full, in status")
        assert tree.rows("SELECT * FROM files WHERE path != 'new.py' ORDER BY path") == before
        assert process.poll() is None
        ballast.unlink()
        wait_until(lambda: not says_so() and has(tree, "new1999"), "the rows once there is room")
        equals_a_fresh_one(tree, ckvd, elsewhere)
    no_room()
    process = subprocess.Popen([ckvd.executable, "run", str(tree.root)], stderr=subprocess.PIPE, text=True)
    try:
        wait_until(
            lambda: f"pid {process.pid}" in ckvd("status", str(tree.root)).stdout, "a daemon on a full disk"
        )
        ballast.unlink()
        ckvd("sync", str(tree.root), "--vectors")
        equals_a_fresh_one(tree, ckvd, elsewhere)
    finally:
        process.terminate()
        assert process.communicate(timeout=STOP_S)[1] == ""
