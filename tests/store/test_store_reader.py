"""The reader: the rows that commands need, from one revision, and a plain sentence where there are none."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from made_files import Class, Function, result, skipped
from store_support import MODEL, embed, put, select

from ckvd.errors import DamagedStoreError, NewerStoreError, NoIndexError, StoreError
from ckvd.model import Verdict
from ckvd.store.reader import Outcome, open_reader
from ckvd.store.writer import Writer, open_writer

PARTIAL = Verdict("symbol", "partial", "syntax-errors", "line 3", 3, 4, ((5, 9),))
FILES = (
    result(b"a.py", Class("K", (Function("m"), Function("n"))), Function("f")),
    result(b"b.py", Function("g"), verdict=PARTIAL),
    skipped(b"c.bin"),
    skipped(b"d.py", "unreadable", detail="no permission"),
)


def test_rows_as_values(writer: Writer, db: Path) -> None:
    writer.set_model(MODEL, "a", 8)
    put(writer, *FILES)
    embed(writer, most=2)
    with open_reader(str(db)) as r:
        assert (r.revision, r.meta()["model"], r.pending_vectors()) == (1, "a", 3)
        assert r.outcomes() == [
            Outcome(None, "skipped", "none", "binary", 1),
            Outcome(None, "skipped", "none", "unreadable", 1),
            Outcome("python", "symbol", "ok", None, 1),
            Outcome("python", "symbol", "partial", "syntax-errors", 1),
        ]
        assert [(f.path, f.damage) for f in r.failures()] == [("b.py", "[[5,9]]"), ("d.py", "[]")]
        assert [f.path for f in r.files()] == ["a.py", "b.py", "c.bin", "d.py"]
        assert [s.symbol for s in r.symbols("a.py")] == ["K", "K.m", "K.n", "f"]
        method = r.chunk("a.py::K.m")
        assert method is not None
        assert (method.embedded, method.header.split("\n")[0]) == (1, "class K:")
        assert [c.chunk_id for c in r.chunks_at("a.py", method.end_line)] == ["a.py::K.m", "a.py::K"]
        assert [c.chunk_id for c in r.file_chunks("a.py")] == ["a.py::K", "a.py::K.m", "a.py::K.n", "a.py::f"]
        ids = [row[0] for row in select(db, "SELECT id FROM chunks ORDER BY id DESC")]
        assert [c.id for c in r.chunks([*ids, 999])] == ids
        assert r.chunks([]) == []
        assert r.chunk("nowhere") is None
        assert r.file("nowhere") is None
        file = r.file("b.py")
        assert file is not None
        assert file.reason == "syntax-errors"


def test_totals_of_chunks(writer: Writer, db: Path) -> None:
    file = result(b"a.py", *(Function(f"f{i}") for i in range(10)))
    chunks = [replace(c, tokens=10 * (i + 1)) for i, c in enumerate(file.chunks)]
    chunks[0] = replace(chunks[0], parts=2, part=1, unit="section")
    chunks[1] = replace(chunks[1], parts=2, part=2, truncated=True)
    chunks[2] = replace(chunks[2], parts=2, part=1)
    put(writer, replace(file, chunks=tuple(chunks)))
    with open_reader(str(db)) as r:
        totals = r.chunk_totals()
        assert (totals.total, totals.by_unit) == (10, {"section": 1, "symbol": 9})
        assert (totals.split_symbols, totals.truncated) == (1, 1)
        assert (totals.quantile(0.5), totals.quantile(0.9), totals.quantile(1)) == (50, 90, 100)
        assert (totals.over(90), totals.over(100)) == (1, 0)
        assert totals._replace(by_unit={}, tokens=Counter()).quantile(0.5) == 0
        size, wal, free = r.sizes()
        assert size >= 4096
        assert wal > 0
        assert free == 0


def test_a_snapshot_is_one_revision(writer: Writer, db: Path) -> None:
    put(writer, *FILES)
    with open_reader(str(db)) as r:
        with r.snapshot():
            assert r.revision == 1
            put(writer, gone=[b"a.py"])
            assert r.revision == 1
            assert len(r.files()) == 4
        assert r.revision == 2
        assert len(r.files()) == 3


def test_it_cannot_write(writer: Writer, db: Path) -> None:
    put(writer, *FILES)
    with open_reader(str(db)) as r, pytest.raises(StoreError, match="cannot be written"):
        r.query("DELETE FROM file")


def test_no_index_and_what_is_none(tmp_path: Path) -> None:
    with pytest.raises(NoIndexError, match="make one with: ckvd index --db"):
        open_reader(str(tmp_path / "no.db"))
    (tmp_path / "text").write_text("not a database" * 99)
    with pytest.raises(DamagedStoreError):
        open_reader(str(tmp_path / "text"))
    (tmp_path / "empty").touch()
    with pytest.raises(NoIndexError, match="make one with: ckvd index --db"):
        open_reader(str(tmp_path / "empty"))
    with open_writer(str(tmp_path / "newer.db")) as w:
        w._db.pragma("user_version", 2)
    with pytest.raises(NewerStoreError):
        open_reader(str(tmp_path / "newer.db"))
