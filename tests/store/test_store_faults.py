"""What goes wrong around a writer: kills, a full disk, other users, readers that stay."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from made_files import Function, result
from store_support import dump, faults, put, select

from ckvd.errors import StoreError
from ckvd.model import FileResult
from ckvd.store.connection import connect, connect_reader
from ckvd.store.writer import Writer, open_writer

HERE = Path(__file__).parent
CHILD_PATH = os.pathsep.join([str(HERE), str(HERE.parent), str(HERE.parent.parent)])


def child(code: str, *args: object, wrap: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Another Python that has the tests' modules; `args` are its `sys.argv[1:]`."""
    command = [*wrap, sys.executable, "-c", code, *map(str, args)]
    env = {**os.environ, "PYTHONPATH": CHILD_PATH}
    return subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE, stdin=subprocess.PIPE)


def generation(n: int, path: bytes = b"a.py") -> FileResult:
    """A file in which everything says `n`: how many functions, and what each returns."""
    return result(path, *(Function(f"f{i}", f"return {n} # {'x' * 400}") for i in range(20 + n % 7)))


WRITE = """
import sys
from store_support import put, embed, MODEL
from test_store_faults import generation
from ckvd.store.writer import open_writer
w = open_writer(sys.argv[1])
w.set_model(MODEL, "a", 8)
n = w.revision
while True:
    n += 1
    print(put(w, generation(n), generation(n, b"b.py")), flush=True)
    embed(w, most=15)
    if n % 5 == 0:
        w.maintain()
"""


def test_kills_lose_nothing_that_was_acknowledged(db: Path) -> None:
    dice = random.Random(7)
    acknowledged = 0
    for _ in range(3):
        process = child(WRITE, db)
        assert process.stdout is not None
        for _ in range(dice.randrange(2, 25)):
            acknowledged = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        rest = process.communicate()[0].split()
        acknowledged = int(rest[-1]) if rest else acknowledged
        assert faults(db) == []
        with open_writer(str(db)) as w:
            # The last commit may have been in without its acknowledgement.
            assert acknowledged <= w.revision <= acknowledged + 1
            assert whole_generation(db) == w.revision
        assert faults(db) == []


def whole_generation(db: Path) -> int:
    """The one generation that all rows are of."""
    rows = select(db, "SELECT DISTINCT substr(body, instr(body, 'return') + 7, 5) FROM chunks")
    (n,) = {int(row[0].split()[0]) for row in rows}
    counts = select(db, "SELECT path, count(*) FROM chunks GROUP BY path")
    assert counts == [("a.py", 20 + n % 7), ("b.py", 20 + n % 7)]
    assert select(db, "SELECT count(*) FROM symbols") == [(2 * (20 + n % 7),)]
    return n


OPENED = """
import apsw, sys
usual = apsw.vfs_names()[0]
class Files(apsw.VFS):
    def __init__(self): super().__init__("told", usual, makedefault=True)
    def xOpen(self, name, flags):
        print(name if name is None or isinstance(name, str) else name.filename())
        return apsw.VFSFile(usual, name, flags)
files = Files()
from ckvd.store.writer import open_writer
open_writer(sys.argv[1]).close()
"""


@pytest.mark.parametrize("before", ["nothing", "another mode"])
def test_no_journal_is_made_that_a_kill_would_leave_to_keep_readers_out(db: Path, before: str) -> None:
    if before != "nothing":
        open_writer(str(db)).close()
        with contextlib.closing(connect(str(db))) as other:
            assert other.pragma("journal_mode", "delete") == "delete"
    opened = {Path(name).name for name in child(OPENED, db).communicate(timeout=60)[0].split()}
    assert opened - {"None"} == {"index.db", "index.db-wal"}


READ = """
import sqlite3, sys, time
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, isolation_level=None, timeout=0)
print("ready", flush=True)
reads, seen, torn = 0, set(), 0
stop = False
while not stop:
    db.execute("BEGIN")
    n = db.execute("SELECT value FROM meta WHERE key = 'revision'").fetchone()[0]
    stop = n >= 40
    bodies = db.execute("SELECT body FROM chunks").fetchall()
    hits = db.execute("SELECT count(*) FROM chunks_fts WHERE chunks_fts MATCH ?", (str(n),)).fetchone()[0]
    torn += hits != len(bodies) or any(f"return {n} " not in b for b, in bodies)
    db.execute("COMMIT")
    reads += 1
    seen.add(n)
print(reads, len(seen), torn)
"""


def test_readers_see_whole_revisions_and_are_never_refused(db: Path) -> None:
    with open_writer(str(db)) as w:
        put(w, generation(1))
        readers = [child(READ, db) for _ in range(2)]
        for r in readers:
            assert r.stdout is not None
            assert r.stdout.readline() == "ready\n"
        for n in range(2, 41):
            put(w, generation(n))
        for r in readers:
            reads, seen, torn = map(int, r.communicate(timeout=60)[0].split())
            assert (r.returncode, torn) == (0, 0)
            assert reads >= seen >= 1


FILL = """
import sys
from store_support import put, faults, dump
from test_store_faults import generation
from ckvd.errors import StoreError
from ckvd.store.writer import open_writer
from pathlib import Path
db, limit = sys.argv[1:]
w = open_writer(db)
put(w, generation(1))
if limit != "0":
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
n = 1
try:
    while n < 500:
        put(w, *(generation(n + 1, b"%d.py" % i) for i in range(20)))
        n += 1
except StoreError as e:
    print(e)
assert n < 500, "it never filled"
before = dump(Path(db))
assert w.revision == n, (w.revision, n)
if limit != "0":
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
else:
    Path(sys.argv[1]).with_name("ballast").unlink()
assert faults(Path(db)) == []
assert dump(Path(db)) == before
assert put(w, generation(99)) == n + 1
w.close()
assert faults(Path(db)) == []
print("done")
"""


def test_a_file_that_may_not_grow_is_told_and_survived(db: Path) -> None:
    out = child(FILL, db, 1_000_000).communicate(timeout=60)[0].splitlines()
    assert len(out) == 2
    assert str(db) in out[0]
    assert out[1] == "done"


def test_a_full_disk_is_told_and_survived(tmp_path: Path) -> None:
    mount = tmp_path / "small"
    mount.mkdir()
    script = (
        'mount -t tmpfs -o size=4m none "$1" && head -c 2m /dev/zero > "$1/ballast" && shift && exec "$@"'
    )
    wrap = ("unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", str(mount))
    if shutil.which("unshare") is None or subprocess.run([*wrap, "true"], capture_output=True).returncode:
        pytest.skip("this system lets no test mount a file system")
    out = child(FILL, mount / "x.db", 0, wrap=wrap).communicate(timeout=60)[0].splitlines()
    assert out == [f"the disk that holds {mount / 'x.db'} is full; free some space and try again", "done"]


def test_a_reader_that_stays_is_told_until_it_ends(writer: Writer, db: Path) -> None:
    put(writer, generation(1))
    wal = db.with_name("index.db-wal")
    with contextlib.closing(connect_reader(str(db))) as reader:
        reader.execute("BEGIN")
        count = "SELECT count(*) FROM chunks"
        seen = reader.execute(count).fetchone()
        n = 1
        while wal.stat().st_size <= 16 << 20:
            n += 1
            put(writer, *(generation(n, b"%d.py" % i) for i in range(30)))
        note = writer.maintain()
        assert note is not None
        assert "a reader holds a transaction open" in note
        assert reader.execute(count).fetchone() == seen
        reader.execute("COMMIT")
    assert writer.maintain() is None
    assert wal.stat().st_size == 0
    assert faults(db) == []


def test_a_writer_that_stays_is_one_sentence(writer: Writer, db: Path) -> None:
    writer._db.set_busy_timeout(50)
    with contextlib.closing(connect(str(db))) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another program has kept"):
            put(writer, generation(1))
    assert put(writer, generation(1)) == 1


@pytest.fixture
def nobody(tmp_path: Path) -> Path:
    """A folder that all may enter, for a test that acts as another user."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    return Path(tempfile.mkdtemp(prefix="ckvd-open-"))


def test_another_user_can_read_after_a_clean_close_and_not_write(nobody: Path) -> None:
    db = nobody / "x.db"
    try:
        nobody.chmod(0o755)
        with open_writer(str(db)) as w:
            put(w, generation(3))
        for path in nobody.iterdir():
            path.chmod(0o644)
        os.seteuid(65534)
        try:
            assert len(dump(db)["chunks"]) == 23
            with pytest.raises(StoreError, match="check its permissions"):
                open_writer(str(db))
            with pytest.raises(StoreError, match="check its permissions"):
                open_writer(str(nobody / "new.db"))
        finally:
            os.seteuid(0)
    finally:
        shutil.rmtree(nobody)


def test_a_broken_pass_leaves_nothing_behind(writer: Writer, db: Path) -> None:
    put(writer, generation(1))
    before = dump(db)
    other = result(b"b.py", Function("f"))
    broken = replace(other, chunks=(replace(other.chunks[0], body="\ud800"),))
    with pytest.raises(UnicodeEncodeError):
        put(writer, generation(2), broken)
    assert dump(db) == before
    assert put(writer, generation(2)) == 2
    assert faults(db) == []
