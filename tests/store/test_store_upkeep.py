"""Upkeep: what is kept for the way back, what is forgotten, and that the file stays small."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_files import Class, Function, result, skipped
from store_support import MODEL, embed, faults, put, select

from ckvd.model import FileResult
from ckvd.store import upkeep
from ckvd.store.writer import Writer, open_writer


def functions(first: int, last: int) -> tuple[Function, ...]:
    return tuple(Function(f"f{i}", f"return {i}") for i in range(first, last))


def test_unused_vectors_stay_within_half_of_those_in_use_oldest_out_first(writer: Writer, db: Path) -> None:
    writer.set_model(MODEL, "a", 8)
    for generation in range(3):
        put(writer, result(b"a.py", *functions(generation * 10, generation * 10 + 10)))
        embed(writer)
    writer.maintain()
    assert select(db, "SELECT count(*) FROM vectors") == [(10,)]
    kept = select(db, "SELECT unused_since, count(*) FROM vector GROUP BY 1 ORDER BY 1")
    assert kept == [(None, 10), (3, 5)]
    put(writer, result(b"a.py", *functions(10, 20)))
    assert writer.pending() == 5
    assert faults(db) == []


def test_the_vectors_of_a_former_model_go_the_same_way(writer: Writer, db: Path) -> None:
    writer.set_model(MODEL, "a", 8)
    put(writer, result(b"a.py", *functions(0, 10)))
    embed(writer)
    writer.set_model("b 8d", "b", 8)
    embed(writer, "b 8d")
    writer.maintain()
    assert select(db, "SELECT name, (SELECT count(*) FROM vector WHERE model_id = model.id) FROM model") == [
        ("a", 5),
        ("b", 10),
    ]
    writer.set_model(None)
    writer.maintain()
    assert select(db, "SELECT count(*) FROM vector") == select(db, "SELECT count(*) FROM model") == [(0,)]


def test_changes_are_kept_for_whole_revisions(
    writer: Writer, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "CHANGES_KEPT", 5)
    since = "SELECT value FROM meta WHERE key = 'changes_since'"
    for n in range(4):
        put(writer, *(skipped(b"%d" % i, size=n) for i in range(2)))
    assert select(db, since) == [(0,)]
    writer.maintain()
    told = "SELECT revision, count(*) FROM changes GROUP BY 1"
    assert select(db, told) == [(2, 2), (3, 2), (4, 2)]
    assert select(db, since) == [(2,)]
    writer.maintain()
    assert select(db, since) == [(2,)]


def test_space_comes_back(writer: Writer, db: Path) -> None:
    put(writer, *(result(b"%d.py" % i, *functions(0, 200)) for i in range(20)))
    writer.close()
    full = db.stat().st_size
    with open_writer(str(db)) as w:
        put(w, gone=[b"%d.py" % i for i in range(1, 20)])
        while (
            w.maintain()
            or select(db, "PRAGMA freelist_count")[0][0] > 0.1 * select(db, "PRAGMA page_count")[0][0]
        ):
            pass
    assert db.stat().st_size < full / 4
    assert faults(db) == []


def test_upkeep_of_what_did_not_change_writes_nothing(writer: Writer, db: Path) -> None:
    writer.set_model(MODEL, "a", 8)
    put(writer, *(result(b"%d.py" % i, *functions(0, 100)) for i in range(20)))
    embed(writer)
    assert writer.maintain() is None
    wal = db.with_name("index.db-wal").stat()
    assert writer.maintain() is None
    assert db.with_name("index.db-wal").stat() == wal


@pytest.mark.slow
def test_two_hundred_rounds_of_rewriting_everything(tmp_path: Path) -> None:
    """At most twice the size of one built from nothing, vectors for the way back included."""

    def everything(n: int) -> list[FileResult]:
        return [
            result(
                b"%d.py" % i,
                Class(
                    f"K{i}",
                    tuple(Function(f"m{j}_{n}", f"return {n} * {j} # {'word ' * 20}") for j in range(20)),
                ),
            )
            for i in range(50)
        ]

    def build(path: Path, rounds: range) -> int:
        with open_writer(str(path)) as w:
            w.set_model(MODEL, "a", 256)
            for n in rounds:
                put(w, *everything(n))
                embed(w)
                w.maintain()
        return path.stat().st_size

    churned = build(tmp_path / "churned.db", range(200))
    fresh = build(tmp_path / "fresh.db", range(199, 200))
    assert churned <= 2 * fresh
    assert faults(tmp_path / "churned.db") == []
    assert select(tmp_path / "churned.db", "SELECT count(*) FROM chunks") == [(50 * 21,)]


def test_the_words_of_an_index_that_has_grown_are_merged_into_one_segment(
    writer: Writer, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "_FEW_ROWS", 10)
    segments = "SELECT count(DISTINCT segid) FROM chunks_fts_idx"
    for n in range(3):
        put(writer, result(b"%d.py" % n, *functions(100 * n, 100 * n + 100)))
    assert select(db, segments) == [(3,)]
    writer.maintain()
    assert select(db, segments) == [(1,)]
    put(writer, result(b"3.py", *functions(300, 310)))
    writer.maintain()
    assert select(db, segments) == [(2,)]  # ten more are not worth it
    assert faults(db) == []
