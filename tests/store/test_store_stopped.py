"""A writer that is asked to end: whatever it does is broken off, and what was not committed is not there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from made_files import Function, result
from store_support import MODEL, dump, embed, faults, put, select

from ckvd.errors import Stopped
from ckvd.model import FileResult
from ckvd.store import connection
from ckvd.store import writer as writers
from ckvd.store.writer import Trust, Writer, open_writer


class Asked:
    """Says that it is time to end from the `last`-th time on that it is looked at."""

    def __init__(self, last: int) -> None:
        self.left = last

    def __call__(self) -> bool:
        self.left -= 1
        return self.left <= 0


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_STEPS", 100)


def generation(n: int) -> list[FileResult]:
    return [
        result(b"%d.py" % i, *(Function(f"f{j}", f"return {n} # {'word ' * 9}") for j in range(12)))
        for i in range(8)
    ]


def build(db: Path) -> Writer:
    w = open_writer(str(db))
    w.set_model(MODEL, "a", 8)
    put(w, *generation(1))
    embed(w)
    return w


def broken_off(work: Callable[[Asked], object]) -> int:
    """Tries with more and more time until the work gets to its end; how often it was broken off."""
    looks, times = 1, 0
    while True:
        try:
            work(Asked(looks))
        except Stopped:
            looks, times = looks + 1 + looks // 3, times + 1
        else:
            return times


WORK: dict[str, Callable[[Writer], object]] = {
    "rows": lambda w: put(w, *generation(2)[:-1], gone=[b"7.py"]),
    "vectors": embed,
    "another model": lambda w: w.set_model("b 8d", "b", 8),
    "upkeep": lambda w: w.maintain(),
}


@pytest.mark.parametrize("what", WORK)
def test_work_that_is_broken_off_anywhere_leaves_what_was(db: Path, what: str) -> None:
    with build(db) as w:
        if what in ("vectors", "upkeep"):
            put(w, *generation(2))
        before, revision = dump(db), w.revision

    def work(asked: Asked) -> None:
        with open_writer(str(db)) as w:
            w.patience.give_up = asked
            try:
                WORK[what](w)
            finally:
                w.patience.end_within(60)
                if asked.left <= 0:
                    assert dump(db) == before

    assert broken_off(work) > 3
    with open_writer(str(db)) as w:
        assert w.revision == revision + (what == "rows")
    assert faults(db) == []


@pytest.mark.parametrize("trust", [Trust.FULL, Trust.CHECKED])
def test_an_opening_that_is_broken_off_anywhere_takes_nothing_for_damage(db: Path, trust: Trust) -> None:
    build(db).close()
    before, epoch = dump(db), select(db, "SELECT value FROM meta WHERE key = 'epoch'")

    def work(asked: Asked) -> None:
        with contextlib.closing(apsw.Connection(str(db))) as other:
            other.execute("UPDATE meta_kv SET value = 0 WHERE key = 'words_version'")
        open_writer(str(db), trust, asked).close()

    assert broken_off(work) > 3
    assert dump(db) == before
    assert select(db, "SELECT value FROM meta WHERE key = 'epoch'") == epoch
    assert [p.name for p in db.parent.glob("*.damaged*")] == []
    assert faults(db) == []


def test_an_interrupt_when_nothing_is_under_way_keeps_nothing_from_a_close(db: Path) -> None:
    w = build(db)
    w.interrupt()
    w.close()
    w.interrupt()
    assert db.with_name("index.db-wal").stat().st_size == 0


def test_a_close_that_has_no_time_for_the_log_leaves_it(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writers, "_CLOSE_S", 0.0)
    w = build(db)
    before, revision = dump(db), w.revision
    w.patience.give_up = lambda: True
    w.close()
    assert dump(db) == before
    with open_writer(str(db)) as w:
        assert w.revision == revision
    assert faults(db) == []
