"""Opening: what is made, what is mended in place, what is put aside, and what is left alone."""

from __future__ import annotations

import contextlib
import os
import queue
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from made_files import Class, Function, result
from store_support import MODEL, dump, embed, faults, put, select

from ckvd.errors import DamagedStoreError, NewerStoreError, StoreError
from ckvd.store import files, owner, schema
from ckvd.store.check import Checker
from ckvd.store.connection import connect
from ckvd.store.writer import Foreign, Trust, open_writer

FILES = (result(b"a.py", Class("HTTPPool", (Function("get"),))), result(b"b.py", Function("f")))


@pytest.fixture
def filled(db: Path) -> Path:
    """A closed database with rows and vectors."""
    with open_writer(str(db)) as w:
        w.set_model(MODEL, "a", 8)
        put(w, *FILES)
        embed(w)
    return db


def change(db: Path, *statements: str) -> None:
    """What another program might do to the file."""
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as c:
        for statement in statements:
            c.execute(statement)


def epoch(db: Path) -> object:
    return select(db, "SELECT value FROM meta WHERE key = 'epoch'")


def aside(db: Path) -> list[str]:
    return sorted(p.name for p in db.parent.iterdir() if ".damaged" in p.name)


def test_a_new_one_is_closed_to_others_and_ignored_by_git(db: Path) -> None:
    old = os.umask(0)
    try:
        with open_writer(str(db)) as w:
            put(w, *FILES)
            modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in db.parent.iterdir()}
    finally:
        os.umask(old)
    assert modes.pop(".gitignore") == 0o600
    assert modes == {"index.db": 0o600, "index.db-wal": 0o600, "index.db-shm": 0o600}
    assert stat.S_IMODE(db.parent.stat().st_mode) == 0o700
    assert (db.parent / ".gitignore").read_text() == "*\n"


def test_wide_modes_of_the_own_folder_are_narrowed(filled: Path) -> None:
    filled.chmod(0o644)
    filled.parent.chmod(0o755)
    open_writer(str(filled)).close()
    assert stat.S_IMODE(filled.stat().st_mode) == 0o600
    assert stat.S_IMODE(filled.parent.stat().st_mode) == 0o700
    with open_writer(str(filled)) as w:
        put(w, *FILES)
        for name in (filled, filled.with_name("index.db-wal"), filled.with_name("index.db-shm")):
            name.chmod(0o666)
            files.narrow(str(filled))
            assert stat.S_IMODE(name.stat().st_mode) == 0o600
        assert w.in_place()
        assert w.foreign() is None


def test_reopening_keeps_all(filled: Path) -> None:
    before, inode, first = dump(filled), filled.stat().st_ino, epoch(filled)
    with open_writer(str(filled)) as w:
        assert w.revision == 1
        assert w.pending() == 0
        assert (dump(filled), filled.stat().st_ino, epoch(filled)) == (before, inode, first)


def test_after_a_clean_close_the_database_holds_all_and_its_wal_is_there(filled: Path) -> None:
    assert filled.with_name("index.db-wal").stat().st_size == 0
    assert filled.with_name("index.db-shm").exists()
    filled.with_name("index.db-wal").unlink()
    filled.with_name("index.db-shm").unlink()
    assert len(dump(filled)["files"]) == 2


def test_a_folder_of_the_name_of_any_bytes(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/a b%?#\xff"
    os.mkdir(folder)
    path = os.fsdecode(folder + b"/x.db")
    with open_writer(path) as w:
        assert put(w, *FILES) == 1
    with open_writer(path) as w:
        assert w.revision == 1


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    db = tmp_path / "other.db"
    change(db, "CREATE TABLE notes(x)", "INSERT INTO notes VALUES('mine')")
    before = db.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        open_writer(str(db))
    assert db.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["other.db"]


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader, this is not a database. " * 30)
    with pytest.raises(StoreError, match="not a database of ckvd"):
        open_writer(str(path))
    assert path.read_text().startswith("Dear reader")
    assert [p.name for p in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize(
    "newer", ["PRAGMA user_version = 2", "UPDATE meta_kv SET value = 99 WHERE key = 'schema_version'"]
)
def test_a_newer_one_is_left_alone(filled: Path, newer: str) -> None:
    change(filled, newer)
    before = dump(filled)
    with pytest.raises(NewerStoreError, match="newer ckvd"):
        open_writer(str(filled))
    assert dump(filled) == before
    assert aside(filled) == []


@pytest.mark.parametrize(
    "older",
    [
        "PRAGMA user_version = 0",
        "UPDATE meta_kv SET value = 0 WHERE key = 'schema_version'",
        "DELETE FROM meta_kv",
        "DROP TABLE symbol",
        "DROP TABLE meta_kv",
    ],
)
def test_what_has_no_migration_is_rebuilt_in_place(filled: Path, older: str) -> None:
    inode, first = filled.stat().st_ino, epoch(filled)
    change(filled, "CREATE TABLE mine(x)", older)
    with open_writer(str(filled)) as w:
        assert (filled.stat().st_ino, w.files(), w.revision) == (inode, {}, 0)
        assert epoch(filled) != first
        put(w, *FILES)
    assert faults(filled) == []
    assert aside(filled) == []
    assert select(filled, "SELECT count(*) FROM mine") == [(0,)]


def back_to_version_1(db: Path) -> None:
    """Without what later versions made; views of theirs are there with other columns."""
    change(
        db,
        *(f"DROP VIEW {view}" for view in ("vectors", "chunks", "metrics")),
        *(f"DROP TABLE {table}" for table in ("stand_in", "model_source", "metric", "code")),
        "CREATE TABLE code(model_id, id, bits, PRIMARY KEY (model_id, id)) WITHOUT ROWID",
        "INSERT INTO code SELECT model_id, id, bits FROM vector WHERE unused_since IS NULL",
        *(f"CREATE VIEW {view} AS SELECT 1" for view in ("chunks", "vectors")),
        "UPDATE meta_kv SET value = 1 WHERE key = 'schema_version'",
    )


def test_a_migration_keeps_the_rows(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, first = dump(filled), epoch(filled)
    back_to_version_1(filled)
    change(filled, "UPDATE meta_kv SET value = -1 WHERE key = 'schema_version'")
    steps = {
        **schema.MIGRATIONS,
        -1: "CREATE TABLE IF NOT EXISTS step(x); INSERT INTO step VALUES(1)",
        0: "INSERT INTO step VALUES(2)",
    }
    monkeypatch.setattr(schema, "MIGRATIONS", steps)
    open_writer(str(filled)).close()
    assert (dump(filled), epoch(filled), faults(filled)) == (before, first, [])
    assert select(filled, "SELECT * FROM step") == [(1,), (2,)]
    assert select(filled, "SELECT value FROM meta WHERE key = 'schema_version'") == [(owner.SCHEMA_VERSION,)]


def test_a_migrated_schema_is_that_of_a_fresh_one(filled: Path, tmp_path: Path) -> None:
    back_to_version_1(filled)
    fresh = tmp_path / "fresh.db"
    open_writer(str(filled)).close()
    open_writer(str(fresh)).close()
    made = "SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2"
    assert select(filled, made) == select(fresh, made)
    assert select(filled, "SELECT count(*) FROM files") != [(0,)]


@pytest.mark.parametrize(
    "harm",
    [
        ["DROP TABLE chunks_fts"],
        ["DROP TABLE names_fts"],
        ["DROP VIEW chunks"],
        ["DROP INDEX chunk_name", "DROP VIEW chunk_text"],
        ["INSERT INTO chunks_fts(chunks_fts) VALUES('delete-all')"],
        ["DELETE FROM chunks_fts_data"],
        ["DELETE FROM chunks_fts_docsize WHERE id = 1"],
        ["PRAGMA writable_schema = 1", "DELETE FROM sqlite_schema WHERE name = 'chunks_fts'"],
    ],
    ids=lambda harm: harm[-1][:45],
)
def test_indexes_and_views_are_made_anew(filled: Path, harm: list[str]) -> None:
    before, inode, first = dump(filled), filled.stat().st_ino, epoch(filled)
    change(filled, *harm)
    open_writer(str(filled)).close()
    assert (dump(filled), filled.stat().st_ino, epoch(filled)) == (before, inode, first)
    assert faults(filled) == []


def test_stale_words_are_found_by_a_verification(filled: Path) -> None:
    before, inode = dump(filled), filled.stat().st_ino
    forget = "INSERT INTO chunks_fts(chunks_fts, rowid, names, words, header, body, path)"
    change(filled, forget + " SELECT 'delete', id, names, words, header, body, path FROM chunk_text LIMIT 1")
    assert faults(filled) != []
    open_writer(str(filled), Trust.CHECKED).close()
    assert faults(filled) == []
    assert (dump(filled), filled.stat().st_ino) == (before, inode)


def test_a_text_that_is_not_the_one_that_was_stored_is_found_and_all_made_anew_in_place(filled: Path) -> None:
    inode, was = filled.stat().st_ino, epoch(filled)
    change(filled, "UPDATE body SET body = replace(body, 'pass', 'PASS')")
    found: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    with contextlib.closing(Checker(str(filled), found.put)):
        assert found.get(timeout=60) is not None
    with open_writer(str(filled), Trust.CHECKED) as w:
        assert w.files() == {}
        put(w, *FILES)
    with contextlib.closing(Checker(str(filled), found.put)):
        assert found.get(timeout=60) is None
    assert (filled.stat().st_ino, aside(filled)) == (inode, [])
    assert epoch(filled) != was


def test_rows_that_another_program_took_are_missed_by_the_next_pass(filled: Path) -> None:
    """Nothing is malformed; but after a check, no row is believed unseen."""
    with open_writer(str(filled), Trust.CHECKED) as w:
        assert {state.cut_key for state in w.files().values()} == {""}


def test_what_other_programs_do_to_the_file_is_noticed(filled: Path) -> None:
    with open_writer(str(filled)) as w:
        put(w, result(b"c.py", Function("f")))
        w.maintain()
        assert w.foreign() is None
        select(filled, "SELECT * FROM chunks")
        assert w.foreign() is None
        os.utime(filled)
        assert [w.foreign(), w.foreign()] == [Foreign.WRITTEN, None]
        with contextlib.closing(connect(str(filled))) as other:
            other.execute("DELETE FROM symbol WHERE id = 1")
        assert [w.foreign(), w.foreign()] == [Foreign.COMMITTED, None]
        with filled.with_name("index.db-wal").open("r+b") as log:
            log.write(b"garbage")
        put(w, result(b"c.py", Function("g")))  # of one's own in between
        assert not w.is_certain()
        assert [w.foreign(), w.foreign()] == [Foreign.WRITTEN, None]
        assert w.is_certain()
        assert w.in_place()
        filled.with_name("index.db-wal").rename(filled.with_name("x"))
        assert not w.in_place()


ORPHANED = {
    "chunks that wait": "DELETE FROM chunk WHERE id IN (SELECT chunk FROM pending LIMIT 1)",
    "chunks with vectors": "DELETE FROM chunk WHERE id NOT IN (SELECT chunk FROM pending)",
    "files": "DELETE FROM file WHERE path = 'b.py'",
    "the last file": "DELETE FROM file WHERE path = 'c.py'",
    "headers": "DELETE FROM header",
    "models": "DELETE FROM model",
    "vectors": "DELETE FROM vector",
    "what waits": "DELETE FROM pending",
}


@pytest.mark.parametrize("what", ORPHANED)
def test_what_hung_on_rows_that_another_program_took_goes_too(
    tmp_path: Path, filled: Path, what: str
) -> None:
    """Whoever waits for it would wait for ever. Found by the check of a daemon or an `index` that begins."""
    late = (result(b"c.py", Function("g"), Function("h")), result(b"d.py", Class("Pool", (Function("get"),))))
    fresh = tmp_path / "fresh.db"
    for db in (filled, fresh):
        with open_writer(str(db)) as w:
            w.set_model(MODEL, "a", 8)
            put(w, *FILES, *late)
    found: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    with contextlib.closing(Checker(str(filled), found.put)):
        assert found.get(timeout=20) is None
    change(filled, ORPHANED[what])
    with contextlib.closing(Checker(str(filled), found.put)):
        assert found.get(timeout=20) is not None
    with open_writer(str(filled), Trust.CHECKED) as w:
        w.set_model(MODEL, "a", 8)
        assert {state.cut_key for state in w.files().values()} <= {""}
        put(w, *FILES, *late)
        assert w.pending() == len(select(filled, "SELECT 1 FROM chunks WHERE NOT embedded"))
        embed(w)
        assert (w.pending(), w.oldest_pending()) == (0, None)
    with open_writer(str(fresh)) as w:
        embed(w)
    assert faults(filled) == []
    assert dump(filled) == dump(fresh)
    with contextlib.closing(Checker(str(filled), found.put)):
        assert found.get(timeout=20) is None


def test_tables_that_another_program_changed_are_damage(filled: Path) -> None:
    with open_writer(str(filled)) as w:
        with contextlib.closing(connect(str(filled))) as other:
            other.execute("DROP TABLE symbol")
        with pytest.raises(DamagedStoreError, match="no such table"):
            put(w, result(b"c.py", Function("f")))
    with open_writer(str(filled), Trust.CHECKED) as w:
        put(w, *FILES)
    assert faults(filled) == []


def test_the_line_that_hides_the_folder_is_written_where_it_is_missing(filled: Path) -> None:
    ignore = filled.parent / ".gitignore"
    ignore.write_bytes(b"")
    open_writer(str(filled)).close()
    assert ignore.read_bytes() == b"*\n"


def test_malformed_words_are_mended_by_a_verification(filled: Path) -> None:
    before, inode = dump(filled), filled.stat().st_ino
    change(filled, "UPDATE chunks_fts_data SET block = x'ffff' WHERE id > 10")
    open_writer(str(filled), Trust.CHECKED).close()
    assert (dump(filled), filled.stat().st_ino, aside(filled)) == (before, inode, [])
    assert faults(filled) == []


def test_words_are_split_anew_after_a_change_of_the_splitting(filled: Path) -> None:
    before = dump(filled)
    change(
        filled,
        "UPDATE meta_kv SET value = 0 WHERE key = 'words_version'",
        "UPDATE body SET words = 'old', names = 'old'",
    )
    open_writer(str(filled)).close()
    assert dump(filled) == before
    assert faults(filled) == []


def test_a_foreign_trigger_is_dropped_and_never_fires(filled: Path) -> None:
    change(filled, "CREATE TRIGGER t AFTER INSERT ON file BEGIN DELETE FROM symbol; END")
    with open_writer(str(filled)) as w:
        put(w, result(b"c.py", Function("f")))
    assert len(dump(filled)["symbols"]) == 4
    assert select(filled, "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'") == [(0,)]


@pytest.mark.parametrize("content", [b"", b"no database at all" * 50, b"SQLite format 3\0" + b"\xff" * 8000])
def test_what_sqlite_cannot_open_in_the_own_folder_is_put_aside(db: Path, content: bytes) -> None:
    for _ in (1, 2) if content else ():
        db.parent.mkdir(exist_ok=True)
        db.write_bytes(content)
        with open_writer(str(db)) as w:
            put(w, *FILES)
        assert (db.parent / "index.db.damaged").read_bytes() == content
        assert faults(db) == []
    if not content:
        db.parent.mkdir()
        db.write_bytes(b"")
        open_writer(str(db)).close()
        assert aside(db) == []


def test_a_truncated_one_is_put_aside_wherever_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with open_writer(str(path)) as w:
        put(w, *FILES)
    os.truncate(path, 4096)
    with open_writer(str(path)) as w:
        assert w.files() == {}
    assert (tmp_path / "x.db.damaged").exists()


def test_damage_met_while_working_is_told_and_mended(filled: Path) -> None:
    with open_writer(str(filled)) as w:
        (root,) = select(filled, "SELECT rootpage FROM sqlite_schema WHERE name = 'symbol'")[0]
        with filled.open("r+b") as file:
            file.seek((root - 1) * 4096)
            file.write(b"\xee" * 4096)
    w = open_writer(str(filled))
    try:
        with pytest.raises(DamagedStoreError, match="damaged"):
            put(w, result(b"a.py", Function("other")))
    finally:
        w.close()
    with open_writer(str(filled), Trust.CHECKED) as w:
        assert w.files() == {}
        put(w, *FILES)
    assert aside(filled) != []
    assert faults(filled) == []


def test_a_half_made_one_is_finished(db: Path) -> None:
    """Killed between the first page and the schema."""
    db.parent.mkdir()
    change(db, "PRAGMA journal_mode = wal", "CREATE TABLE x(y)", "DROP TABLE x")
    with open_writer(str(db)) as w:
        assert put(w, *FILES) == 1
    assert aside(db) == []


def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / ".ckvd").symlink_to("real")
    with pytest.raises(StoreError, match="not a folder"):
        open_writer(str(tmp_path / ".ckvd" / "index.db"))
    (tmp_path / "link.db").symlink_to(tmp_path / "target.db")
    with pytest.raises(StoreError, match=r"link\.db"):
        open_writer(str(tmp_path / "link.db"))
    assert sorted(p.name for p in tmp_path.iterdir()) == [".ckvd", "link.db", "real"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: p.mkdir(), "not a regular file"),
        (lambda p: os.mkfifo(p), "not a regular file"),
        (lambda p: None, "does not exist"),
    ],
)
def test_odd_places_are_one_sentence(tmp_path: Path, make: Callable[[Path], None], message: str) -> None:
    path = tmp_path / "x.db" if message != "does not exist" else tmp_path / "no" / "x.db"
    make(path)
    with pytest.raises(StoreError, match=message):
        open_writer(str(path))


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/dev/null", "^/dev/null is not a regular file; pass another with --db$"),
        ("/proc/x.db", "^no file can be made in /proc; pass another --db$"),
    ],
)
def test_no_remedy_takes_the_system_apart(path: str, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        open_writer(path)


def test_the_writer_notices_that_its_file_was_replaced(filled: Path) -> None:
    with open_writer(str(filled)) as w:
        assert w.in_place()
        filled.rename(filled.with_name("moved.db"))
        assert not w.in_place()
        filled.write_bytes(b"")
        assert not w.in_place()
