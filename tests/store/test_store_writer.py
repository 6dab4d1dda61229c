"""The writer: what one pass changes, what it leaves alone, and what other programs then see."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_files import Class, Function, Head, Seen, result, skipped
from store_support import DUMPS, MODEL, dump, embed, faults, put, select

from ckvd.model import Segment, Stamp, Verdict, display_path
from ckvd.plan import plan_file
from ckvd.store.writer import Vector, Writer, open_writer

FIFTY = tuple(Function(f"f{i:02}", f"return {i:03}") for i in range(50))
CONTRACT = {
    "meta": "key value",
    "files": "path path_bytes language strategy parse_status reason error_line error_bytes size lines"
    " blob_oid revision",
    "symbols": "path language symbol name kind lsp_kind parents signature doc start_byte end_byte start_line"
    " end_line name_line name_column chunk_id",
    "chunks": "id chunk_id path language unit kind grain symbol parents start_byte end_byte start_line"
    " end_line part parts header header_bytes body rendering tokens header_trimmed truncated embedded"
    " content_hash revision",
    "failures": "path parse_status reason detail",
    "changes": "revision path what start_byte end_byte",
    "vectors": "id model int8 scale bits",
}


def test_one_of_fifty_edited(writer: Writer, db: Path) -> None:
    writer.set_model(MODEL, "a", 8)
    assert put(writer, result(b"a.py", *FIFTY)) == 1
    assert embed(writer) == 50
    before = select(db, "SELECT * FROM chunks ORDER BY id")
    vectors = select(db, "SELECT id, int8 FROM vectors ORDER BY id")
    edited = result(b"a.py", *FIFTY[:20], Function("f20", "return 999"), *FIFTY[21:])
    assert put(writer, edited) == 2
    after = select(db, "SELECT * FROM chunks ORDER BY id")
    assert [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b] == [20]
    chunk = edited.chunks[20]
    told = select(db, "SELECT * FROM changes WHERE revision > 1")
    assert told == [(2, "a.py", "changed", chunk.start, chunk.end)]
    assert [p.chunk for p in writer.take_pending(99)] == [chunk]
    assert embed(writer) == 1
    now = select(db, "SELECT id, int8 FROM vectors ORDER BY id")
    assert [i for i, (a, b) in enumerate(zip(vectors, now, strict=True)) if a != b] == [20]
    assert faults(db) == []


def test_an_equal_pass_makes_no_revision(writer: Writer, db: Path) -> None:
    file = result(b"a.py", *FIFTY)
    assert put(writer, file) == 1
    assert put(writer, file) is None
    seen = {b"a.py": Seen(Stamp(5, 6, 7, 2**64 - 1), 8, "k2"), b"gone": Seen(Stamp(1, 1, 1, 1))}
    assert writer.apply([], seen, Head("refs/heads/main", "c0ffee")) is None
    assert writer.revision == 1
    state = writer.files()[b"a.py"]
    assert (state.stamp, state.read_ns, state.cut_key) == (Stamp(5, 6, 7, 2**64 - 1), 8, "k2")
    assert (state.blob_oid, state.language, state.reason) == (file.blob_oid, "python", None)
    meta = dict(select(db, "SELECT key, value FROM meta"))
    assert (meta["head_ref"], meta["head_commit"], meta["revision"]) == ("refs/heads/main", "c0ffee", 1)


def test_times_beyond_64_bits_are_no_fault(writer: Writer) -> None:
    put(writer, skipped(b"a"))
    writer.apply([], {b"a": Seen(Stamp(1, 2**63 + 5, 2**64, 2**64 - 1), -(2**70))}, None)
    assert writer.files()[b"a"].stamp.inode == 2**64 - 1


def test_what_is_loaded_is_what_was_put(writer: Writer) -> None:
    verdict = Verdict("symbol", "partial", "syntax-errors", "line 3: )", 3, 4, ((5, 9), (20, 21)))
    for file in (
        result(b"a.py", *FIFTY[:3], Class("K", FIFTY[:2]), verdict=verdict),
        result(b"\xff\n.py", Function("f"), Function("f")),
        skipped(b"x.bin"),
        result(b"empty.py"),
    ):
        put(writer, file)
        assert plan_file(writer.load(file.path), file).empty
    assert writer.load(b"nowhere") is None


def test_paths_of_any_bytes(writer: Writer, db: Path) -> None:
    put(writer, result(b"\xff\n.py", Function("f")))
    assert select(db, "SELECT path, path_bytes FROM files") == [("\\xff\n.py", b"\xff\n.py")]
    assert select(db, "SELECT chunk_id FROM chunks") == [("\\xff\n.py::f",)]


def test_no_two_paths_look_the_same(writer: Writer, db: Path) -> None:
    """Else their chunks would share their ids."""
    paths = [b"caf\xe9.py", b"caf\\xe9.py", b"caf\\x5cxe9.py", b"caf\\\xe9.py", b"a\\xz\\x41.py"]
    put(writer, *(result(path, Function("f")) for path in paths))
    shown = [r"caf\xe9.py", r"caf\x5cxe9.py", r"caf\x5cx5cxe9.py", r"caf\\xe9.py", r"a\xz\x41.py"]
    assert dict(select(db, "SELECT path_bytes, path FROM files")) == dict(zip(paths, shown, strict=True))
    assert select(db, "SELECT count(*), count(DISTINCT chunk_id) FROM chunks") == [(5, 5)]
    assert select(db, "SELECT count(DISTINCT path) FROM changes") == [(5,)]


@given(st.lists(st.sampled_from([b"\\", b"x", b"5", b"c", b"e9", b"\xe9", b"\xc3\xa9", b"/"]), max_size=9))
def test_a_shown_path_can_be_read_back(pieces: list[bytes]) -> None:
    path = b"".join(pieces)
    shown = display_path(path).encode()
    back = re.sub(rb"\\x(5c|[89a-f][0-9a-f])", lambda m: bytes.fromhex(m[1].decode()), shown)
    assert back == path


def test_swapped_files_and_a_file_in_the_place_of_a_folder(writer: Writer, db: Path) -> None:
    one, two = Function("one"), Function("two")
    put(writer, result(b"a.py", one), result(b"b.py", two), result(b"t.py", Function("thing")))
    put(
        writer,
        result(b"a.py", two),
        result(b"b.py", one),
        result(b"t.py/inner.py", Function("inner")),
        gone=[b"t.py"],
    )
    found = select(db, "SELECT path, symbol FROM symbols ORDER BY path")
    assert found == [("a.py", "two"), ("b.py", "one"), ("t.py/inner.py", "inner")]
    assert faults(db) == []


def test_headers_are_stored_once_and_collected(writer: Writer, db: Path) -> None:
    put(writer, result(b"a.py", Class("K", FIFTY)))
    header = 'class K:\n    """A class."""'
    assert select(db, "SELECT DISTINCT header, header_bytes FROM chunks ORDER BY 2") == [
        ("", 0),
        (header, len(header)),
    ]
    assert select(db, "SELECT count(*) FROM header") == [(1,)]
    put(writer, result(b"a.py", Class("K", FIFTY, doc="Another.")))
    writer.maintain()
    assert select(db, "SELECT text FROM header") == [('class K:\n    """Another."""',)]
    assert faults(db) == []


def test_pending_gives_back_the_chunks_with_their_headers(writer: Writer) -> None:
    writer.set_model(MODEL, "a", 8)
    odd = (Segment("import", "import é\nimport b"), Segment("doc", ""), Segment("signature", "class K:"))
    file = result(b"a.py", Class("K", FIFTY[:2]), FIFTY[3])
    chunks = (*file.chunks[:1], replace(file.chunks[1], header=odd), *file.chunks[2:])
    put(writer, replace(file, chunks=chunks))
    taken = writer.take_pending(99)
    assert tuple(p.chunk for p in taken) == chunks
    assert {(p.path, p.language) for p in taken} == {("a.py", "python")}


def test_the_latest_revision_waits_first(writer: Writer) -> None:
    writer.set_model(MODEL, "a", 8)
    put(writer, result(b"a.py", *FIFTY[:2]))
    put(writer, result(b"b.py", *FIFTY[2:4]))
    assert [p.chunk.symbol for p in writer.take_pending(3)] == ["f02", "f03", "f00"]
    assert (writer.pending(), writer.oldest_pending()) == (4, 1)
    embed(writer)
    assert (writer.pending(), writer.oldest_pending()) == (0, None)


def test_a_vector_that_nothing_wants_any_more_is_left_out(writer: Writer, db: Path) -> None:
    writer.set_model(MODEL, "a", 8)
    put(writer, result(b"a.py", *FIFTY[:2]))
    taken = writer.take_pending(2)
    put(writer, result(b"a.py", FIFTY[0]))
    vectors = [Vector(p.chunk.embed_hash, bytes(8), 1.0, b"\0") for p in taken]
    assert writer.put_vectors("another model", vectors) == 0
    assert writer.put_vectors(MODEL, vectors) == 1
    assert writer.put_vectors(MODEL, vectors) == 0
    assert writer.revision == 2
    assert select(db, "SELECT embedded FROM chunks") == [(1,)]
    assert faults(db) == []


def test_a_switch_there_and_back_embeds_nothing_twice(writer: Writer, db: Path) -> None:
    writer.set_model(MODEL, "a", 8)
    main, branch = result(b"a.py", *FIFTY[:9]), result(b"a.py", *FIFTY[:6], *FIFTY[30:33])
    put(writer, main)
    embed(writer)
    first = dump(db)
    put(writer, branch)
    assert writer.pending() == 3
    embed(writer)
    writer.maintain()
    put(writer, main)
    assert writer.pending() == 0
    assert dump(db) == first
    assert faults(db) == []


def test_equal_texts_share_a_vector(writer: Writer, db: Path) -> None:
    writer.set_model(MODEL, "a", 8)
    put(writer, result(b"a.py", FIFTY[0], FIFTY[0]))
    assert writer.pending() == 2
    assert embed(writer) == 1
    assert writer.pending() == 0
    assert select(db, "SELECT count(*), count(DISTINCT id) FROM vectors") == [(2, 2)]
    put(writer, result(b"a.py", FIFTY[0]))
    assert faults(db) == []


def test_another_model_serves_once_it_is_complete(writer: Writer, db: Path) -> None:
    writer.set_model(MODEL, "a", 8)
    put(writer, result(b"a.py", *FIFTY[:4]))
    embed(writer)
    writer.set_model("model-b 16d", "b", 16)
    vectors = "SELECT DISTINCT model, count(*) FROM vectors"
    assert writer.pending() == 4
    assert select(db, vectors) == [("a", 4)]
    assert embed(writer, "model-b 16d", most=3) == 3
    assert (writer.meta("model"), writer.meta("dimensions"), writer.meta("model_next")) == ("a", 8, "b")
    assert select(db, vectors) == [("a", 4)]
    assert faults(db) == []
    assert embed(writer, "model-b 16d") == 1
    assert (writer.meta("model"), writer.meta("dimensions"), writer.meta("model_next")) == ("b", 16, None)
    assert select(db, vectors) == [("b", 4)]
    assert faults(db) == []
    writer.set_model(MODEL, "a", 8)
    assert (writer.meta("model"), writer.pending()) == ("a", 0)
    assert faults(db) == []


def test_another_prefix_leaves_the_old_vectors_answering_until_the_new_are_in(
    writer: Writer, db: Path
) -> None:
    vectors = "SELECT chunk_id, hex(int8) FROM vectors JOIN chunks USING (id) ORDER BY 1"
    writer.set_model(MODEL, "a", 8)
    put(writer, result(b"a.py", *FIFTY[:4]))
    embed(writer)
    old = dict(select(db, vectors))
    put(writer, result(b"a.py", *FIFTY[:4], prefix="q"))
    assert writer.pending() == 4
    assert dict(select(db, vectors)) == old
    assert select(db, "SELECT count(*) FROM chunks WHERE embedded") == [(4,)]
    assert faults(db) == []
    put(writer, result(b"a.py", *FIFTY[1:4], Function("new"), prefix="q"))
    assert dict(select(db, vectors)) == {name: old[name] for name in list(old)[1:]}
    assert embed(writer, most=2) == 2
    assert faults(db) == []
    now = dict(select(db, vectors))
    assert len(now) == 4
    assert sum(old.get(name) == vector for name, vector in now.items()) == 2
    embed(writer)
    assert not set(old.values()) & {vector for _, vector in select(db, vectors)}
    assert select(db, "SELECT count(*) FROM stand_in") == [(0,)]
    assert faults(db) == []
    put(writer, result(b"a.py", *FIFTY[1:4]))
    assert (writer.pending(), len(select(db, vectors))) == (0, 3)


def test_another_model_and_another_text_at_once_leave_the_old_vectors_answering(
    writer: Writer, db: Path
) -> None:
    writer.set_model(MODEL, "a", 8)
    put(writer, result(b"a.py", *FIFTY[:4]))
    embed(writer)
    writer.set_model("model-b 16d", "b", 16)
    put(writer, result(b"a.py", *FIFTY[:4], prefix="q"))
    served = "SELECT model, count(*) FROM vectors GROUP BY 1"
    assert select(db, served) == [("a", 4)]
    assert embed(writer, "model-b 16d", most=3) == 3
    assert select(db, served) == [("a", 4)]
    assert faults(db) == []
    embed(writer, "model-b 16d")
    assert select(db, served) == [("b", 4)]
    assert faults(db) == []


def test_no_chunk_gets_the_id_of_one_that_went(writer: Writer, db: Path) -> None:
    put(writer, result(b"a.py", *FIFTY[:3]))
    ids = {i for (i,) in select(db, "SELECT id FROM chunks")}
    put(writer, gone=[b"a.py"])
    writer.close()
    with open_writer(str(db)) as again:
        put(again, result(b"b.py", *FIFTY[:3]))
    assert not ids & {i for (i,) in select(db, "SELECT id FROM chunks")}


def test_the_last_chunk_that_waits_may_vanish(writer: Writer, db: Path) -> None:
    writer.set_model(MODEL, "a", 8)
    put(writer, result(b"a.py", *FIFTY[:2]))
    embed(writer)
    writer.set_model("model-b 16d", "b", 16)
    embed(writer, "model-b 16d", most=1)
    put(writer, result(b"a.py", FIFTY[0]))
    assert (writer.meta("model"), writer.pending()) == ("b", 0)
    assert faults(db) == []


def test_no_model(writer: Writer, db: Path) -> None:
    writer.set_model(None)
    put(writer, result(b"a.py", *FIFTY[:2]))
    assert (writer.pending(), writer.meta("model"), writer.meta("dimensions")) == (0, "none", 0)
    writer.set_model(MODEL, "a", 8)
    assert writer.pending() == 2
    embed(writer)
    writer.set_model(None)
    assert select(db, "SELECT count(*) FROM vectors") == [(0,)]
    assert select(db, "SELECT DISTINCT embedded FROM chunks") == [(0,)]
    assert faults(db) == []


def test_every_view_of_the_contract(
    writer: Writer, db: Path, sqlite3_shell: Callable[[Path, str], str]
) -> None:
    writer.set_model(MODEL, "a", 8)
    put(writer, result(b"a.py", Class("HTTPServerPool", FIFTY[:2])), skipped(b"secret", "unreadable"))
    embed(writer)
    for view, columns in CONTRACT.items():
        names = sqlite3_shell(db, f"SELECT group_concat(name, ' ') FROM pragma_table_info('{view}')")
        assert names.startswith(columns)
        assert int(sqlite3_shell(db, f"SELECT count(*) FROM (SELECT * FROM {view})")) > 0
    for sql in DUMPS.values():
        sqlite3_shell(db, sql)
    assert sqlite3_shell(db, "PRAGMA application_id; PRAGMA user_version; PRAGMA journal_mode").split() == [
        str(0x636B7664),
        "1",
        "wal",
    ]
    assert sqlite3_shell(db, "PRAGMA integrity_check") == "ok"
    assert select(db, "SELECT path, reason, detail FROM failures") == [("secret", "unreadable", "has a NUL")]
    found = (
        "SELECT chunk_id FROM chunks JOIN chunks_fts ON chunks_fts.rowid = chunks.id WHERE chunks_fts MATCH ?"
    )
    assert select(db, found + " ORDER BY rank LIMIT 1", '"server pool"') == [("a.py::HTTPServerPool",)]
    assert select(db, "SELECT rowid IS NOT NULL FROM names_fts WHERE names_fts MATCH 'verPoo'") == [(1,)]
    assert select(db, "SELECT DISTINCT kind, lsp_kind FROM symbols ORDER BY 2") == [
        ("class", 5),
        ("method", 6),
    ]


def test_the_standard_library_reads_it_beside_the_writer(writer: Writer, db: Path) -> None:
    writer.set_model(MODEL, "a", 8)
    put(writer, result(b"a.py", Class("HTTPServerPool", FIFTY[:2])), skipped(b"secret", "unreadable"))
    embed(writer)
    code = (
        "import json, sqlite3, sys\n"
        "db = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True)\n"
        "print(json.dumps([len(db.execute(sql).fetchall()) for sql in sys.argv[2:]]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(db), *DUMPS.values()], capture_output=True, check=True, timeout=30
    )
    assert json.loads(done.stdout) == [len(rows) for rows in dump(db).values()]


def test_moved_chunks_touch_no_words(writer: Writer, db: Path) -> None:
    put(writer, result(b"a.py", *FIFTY))
    words = "SELECT id, block FROM chunks_fts_data"
    before = select(db, words)
    longer = replace(FIFTY[0], body="pass # " + "x" * 9)
    put(writer, result(b"a.py", *FIFTY))
    assert select(db, words) == before
    put(writer, result(b"a.py", longer, *FIFTY[1:]))
    after = select(db, words)
    moved = [r for r in select(db, "SELECT what FROM changes WHERE revision = 2") if r == ("moved",)]
    assert len(moved) == 1
    # One row was written anew: a segment for it came, and none grew by the 49 others.
    assert sum(len(b) for _, b in after) - sum(len(b) for _, b in before) < 500
    assert faults(db) == []


@pytest.mark.parametrize("text", ["a\0b", "\ufeff", "𝔘ñí\u0301", "\x1b[0m", "x" * 100_000])
def test_any_text_can_be_a_body(writer: Writer, db: Path, text: str) -> None:
    put(writer, result(b"a.py", Function("f", text)))
    put(writer, result(b"a.py", Function("f", text + "1"), Function("g", text)))
    put(writer, result(b"a.py", Function("g", text)))
    assert faults(db) == []


def test_the_order_of_passes_leaves_no_trace(tmp_path: Path, writer: Writer, db: Path) -> None:
    put(writer, result(b"a.py", *FIFTY), result(b"b.py", Class("K", FIFTY[:5])))
    put(writer, result(b"a.py", *FIFTY[10:40]), result(b"c.py", *FIFTY), gone=[b"b.py"])
    put(writer, result(b"b.py", Class("K", FIFTY[:3], doc="Another.")), gone=[b"c.py"])
    fresh = tmp_path / "fresh.db"
    with open_writer(str(fresh)) as other:
        put(other, result(b"b.py", Class("K", FIFTY[:3], doc="Another.")), result(b"a.py", *FIFTY[10:40]))
        assert dump(fresh) == dump(db)
