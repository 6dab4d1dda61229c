"""A row of metrics an hour: merged, bounded, and never part of what an index is compared by."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from made_files import Function, result, skipped
from store_support import MODEL, embed, put, select

from ckvd.metrics import Metrics
from ckvd.model import Verdict
from ckvd.store.metrics import HOURS_KEPT, Sample, bound_ms, bucket, histogram, quantile, quantile_ms
from ckvd.store.reader import open_reader
from ckvd.store.writer import Writer

PARTIAL = Verdict("symbol", "partial", "syntax-errors", "line 3", 3, 4, ((5, 9),))
HOUR = 1_700_000_000 // 3600 * 3600


@given(st.floats(0, 1e5))
def test_a_bucket_holds_its_latency_within_nine_percent(seconds: float) -> None:
    of = bucket(seconds)
    assert seconds * 1000 <= bound_ms(of) * (1 + 1e-9)
    assert of == 0 or seconds * 1000 > bound_ms(of - 1) * (1 - 1e-9)
    assert bound_ms(of + 1) / bound_ms(of) < 1.091


@given(st.lists(st.integers(0, 50), min_size=1), st.floats(0.01, 1))
def test_a_quantile_is_the_nearest_rank(values: list[int], share: float) -> None:
    found = quantile(Counter(values), share)
    assert found in values
    assert sum(v <= found for v in values) >= share * len(values) - 1e-9
    assert sum(v < found for v in values) < share * len(values) + 1e-9


def test_of_no_latency_there_is_no_quantile() -> None:
    assert (quantile({}, 0.5), quantile_ms({}, 0.5)) == (0, None)


def sample(*row_s: float, vectors: int = 0, files: int = 0) -> Sample:
    return Sample(
        rows=Counter(map(bucket, row_s)),
        files=files,
        files_s=files / 4,
        embedded=vectors,
        embedded_s=vectors / 8,
    )


def test_what_an_hour_saw_is_merged_and_makes_no_revision(writer: Writer, db: Path) -> None:
    writer.set_model(MODEL, "a", 8)
    put(
        writer,
        result(b"src/a.py", Function("f"), Function("g")),
        result(b"src/deep/b.py", Function("h"), verdict=PARTIAL),
        result(b"c.py", Function("i"), verdict=PARTIAL),
        skipped(b"d.bin"),
    )
    embed(writer)
    before = writer.revision
    writer.record(HOUR, sample(0.010, 0.020, files=2), state=False)
    writer.record(HOUR, sample(0.5, vectors=16, files=6), state=False)
    writer.record(HOUR + 3600, sample(vectors=1), state=False)
    with open_reader(str(db)) as reader:
        first, second = reader.metrics()
        assert reader.metrics(1) == [second]
    assert writer.revision == before == first.revision
    assert (first.hour, second.hour) == (HOUR, HOUR + 3600)
    assert (first.files, first.ok, first.partial, first.failed) == (4, 1, 2, 0)
    assert json.loads(first.languages) == {"python": [3, 1, 2, 0]}
    assert json.loads(first.directories) == {".": [2, 0, 1, 0], "src/deep": [1, 0, 1, 0]}
    tokens = [row[0] for row in select(db, "SELECT tokens FROM chunks ORDER BY 1")]
    assert (first.chunks, first.tokens_max) == (len(tokens), tokens[-1])
    assert first.tokens_median == tokens[(len(tokens) - 1) // 2]
    assert histogram(first.row_histogram) == Counter(map(bucket, (0.01, 0.02, 0.5)))
    assert first.edits == 3
    assert first.row_p50_ms is not None
    assert first.row_p99_ms is not None
    assert 20 <= first.row_p50_ms < 22
    assert 500 <= first.row_p99_ms < 546
    assert (first.vector_p50_ms, first.vector_p99_ms) == (None, None)
    assert (first.files_indexed, first.files_per_s, first.vectors, first.vectors_per_s) == (8, 4, 16, 8)
    assert (second.edits, second.row_p50_ms, second.files_per_s, second.vectors) == (0, None, None, 1)
    assert second.files == 4


def test_outcomes_are_looked_at_anew_when_asked(writer: Writer, db: Path) -> None:
    put(writer, result(b"a.py", Function("f")))
    writer.record(HOUR, sample(0.1), state=False)
    put(writer, result(b"b.py", Function("f")))
    writer.record(HOUR, sample(0.1), state=False)
    assert select(db, "SELECT revision, files FROM metrics") == [(2, 1)]
    writer.record(HOUR, Sample(changed=True), state=True)
    assert select(db, "SELECT revision, files, edits FROM metrics") == [(2, 2, 2)]


def test_the_rows_are_bounded(writer: Writer, db: Path) -> None:
    for n in range(HOURS_KEPT + 5):
        writer.record(HOUR + n * 3600, sample(0.1), state=False)
    first, last, count = select(db, "SELECT min(hour), max(hour), count(*) FROM metrics")[0]
    assert (first, last, count) == (HOUR + 5 * 3600, HOUR + (HOURS_KEPT + 4) * 3600, HOURS_KEPT)


def test_nothing_done_writes_nothing(writer: Writer, db: Path) -> None:
    metrics = Metrics(writer)
    metrics.flush(at_once=True)
    metrics.vectors_came()
    assert select(db, "SELECT count(*) FROM metrics") == [(0,)]
    put(writer, result(b"a.py", Function("f")))
    metrics.indexed(1, 0.1)
    metrics.flush(at_once=True)
    rows = select(db, "SELECT * FROM metrics")
    assert rows[0][2] == 1
    before = db.with_name("index.db-wal").read_bytes()
    metrics.flush(at_once=True)
    metrics.flush()
    assert db.with_name("index.db-wal").read_bytes() == before


def test_an_edit_waits_for_the_last_of_its_vectors(writer: Writer) -> None:
    metrics = Metrics(writer)
    writer.set_model(MODEL, "a", 8)
    put(writer, result(b"old.py", Function("o"), Function("p")))
    revision = put(writer, result(b"a.py", Function("f"), Function("g")))
    assert revision is not None
    metrics.edited(revision, since=0.0)
    assert metrics.live()["vector_ms"] is None
    embed(writer, most=1)
    metrics.vectors_came()
    assert metrics.live()["vector_ms"] is None
    embed(writer, most=1)  # the latest come first: those of the edit are all in, others still wait
    metrics.vectors_came()
    assert writer.pending() > 0
    assert metrics.live()["vector_ms"] is not None
