"""What a daemon notes of its work, as readers of its file and `status` see it."""

from __future__ import annotations

import json
import time

import pytest
from support import Ckvd, Tree

from ckvd import session
from ckvd.place import place
from ckvd.report import status
from ckvd.vectors import VectorMaker

SOON_S = 20.0


def pace(tree: Tree, ckvd: Ckvd) -> dict[str, float | None]:
    told: dict[str, float | None] = json.loads(ckvd("status", str(tree.root), "--json").stdout)["pace"]
    return told


def test_edits_leave_their_latencies_and_make_no_revision(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def f(): pass\n", "b.go": "package b\n"})
    with ckvd.daemon(tree.root):
        ckvd("sync", str(tree.root), "--vectors")
        assert pace(tree, ckvd)["row_ms"] is None  # the first index came of no event
        tree.write({"a.py": "def g(): return 1\n"})
        until = time.monotonic() + SOON_S
        while (told := pace(tree, ckvd))["vector_ms"] is None:
            assert time.monotonic() < until, told
        row_ms, vector_ms = told["row_ms"], told["vector_ms"]
        assert row_ms is not None
        assert vector_ms is not None
        assert 0 < row_ms < SOON_S * 1000
        assert told["vectors_per_s"]
        revision = tree.rows("SELECT value FROM meta WHERE key = 'revision'")
    assert tree.rows("SELECT value FROM meta WHERE key = 'revision'") == revision
    hours = tree.rows("SELECT files, ok, edits, row_p99_ms, vector_p99_ms FROM metrics ORDER BY hour")
    assert hours[-1][:2] == (2, 2)
    assert sum(hour[2] for hour in hours) == 1
    row_p99, vector_p99 = next(hour[3:5] for hour in hours if hour[2])
    assert row_ms <= row_p99 * 1.01 <= row_ms * 1.12 + 1.1
    assert vector_ms <= vector_p99 * 1.01 <= vector_ms * 1.12 + 1.1


def test_an_index_that_finds_nothing_to_do_writes_no_row(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def f(): pass\n"})
    ckvd("index", str(tree.root))
    before = tree.rows("SELECT * FROM metrics")
    assert len(before) == 1
    ckvd("index", str(tree.root))
    assert tree.rows("SELECT * FROM metrics") == before


def test_an_index_under_way_tells_how_long_it_will_take(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.write({"a.py": "def f(): pass\n"})
    where = place(str(tree.root), None)
    told: list[float | None] = []
    make = VectorMaker.make

    def watched(maker: VectorMaker, seconds: float) -> bool:
        told.append(status.collect(where).pace.seconds(1000, 1000))
        return make(maker, seconds) or len(told) == 1  # as where more are waiting

    monkeypatch.setattr(VectorMaker, "make", watched)
    session.index_once(where)
    before, meanwhile = told
    assert before is None
    assert meanwhile is not None
    assert meanwhile > 0
