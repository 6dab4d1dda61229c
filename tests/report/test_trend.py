"""Pace and trend: from rows of metrics to the screen, to JSON, and to how long what is pending will take."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from report_rows import Rows
from rich.console import Console
from support import Ckvd, Tree

from ckvd.model import Verdict
from ckvd.place import Place
from ckvd.report import status, terminal, trend
from ckvd.report.screen import screen
from ckvd.report.state import Daemon
from ckvd.store.metrics import Sample, bucket
from ckvd.store.writer import open_writer

HOUR = 1_700_000_000 // 3600 * 3600
PARTIAL = Verdict("symbol", "partial", "syntax-errors", "line 1", 1, 2, ((0, 2),))


def latencies(*ms: float) -> Counter[int]:
    return Counter(bucket(each / 1000) for each in ms)


@pytest.fixture
def where(tree: Tree) -> Place:
    """Two hours: a first index, then edits; six chunks still wait for their vectors."""
    rows = Rows(tree)
    rows.clean("src/a.py", "f", "g")
    rows.clean("b.go", "f", "g", "h", language="go")
    rows.unclean("src/c.py", b"def\n", PARTIAL)
    made = rows.store()
    with open_writer(made.db) as writer:
        writer.record(HOUR, Sample(files=3, files_s=1.5, embedded=30, embedded_s=0.1), state=True)
        edits = Sample(
            rows=latencies(10, 12, 900), vectors=latencies(50, 60, 2500), embedded=4, embedded_s=1.0
        )
        writer.record(HOUR + 7200, edits, state=False)
    return made


def drawn(s: status.Status) -> list[str]:
    return terminal.rendered(Console(width=100, color_system=None), [screen(s)]).split("\n")


def test_status_tells_the_pace_and_how_long_what_is_pending_takes(where: Place) -> None:
    found = status.collect(where)
    assert found.data.pending_vectors == 6
    assert found.pending_s == pytest.approx(6 / 4)  # the latest hour's rate
    assert status.as_json(found)["pending"]["seconds"] == found.pending_s
    told = status.as_json(found)["pace"]
    assert (told["row_ms"], told["vectors_per_s"], told["files_per_s"]) == (None, 4.0, 2.0)
    assert 12 <= told["row_p50_ms"] < 13.2 < 900 <= told["row_p99_ms"] < 990
    lines = drawn(found)
    assert "revision   1 · 6 of 6 vectors pending · about 1 s" in lines
    assert any(
        line.startswith("latency    row (median 1") and "· vector (median 6" in line for line in lines
    ), lines


def test_what_the_daemon_says_comes_first(where: Place) -> None:
    live = {"row_ms": 8.0, "vector_ms": 1234.0, "files_per_s": 50.0, "vectors_per_s": 0.5}
    daemon = Daemon(7, "indexing", pending_files=100, metrics=live)
    found = replace(status.collect(where), daemon=daemon, behind=None)
    assert found.pending_s == pytest.approx(100 / 50 + 6 / 0.5)
    assert found.pace.row_ms == 8.0
    lines = drawn(found)
    assert any("row 8 ms (median" in line and "vector 1.2 s (median" in line for line in lines), lines
    assert "about 14 s" in lines[3]


def test_what_has_no_rate_yet_has_no_estimate(where: Place) -> None:
    found = status.collect(where)
    assert replace(found, data=replace(found.data, metrics=())).pending_s is None


def test_the_trend(where: Place, ckvd: Ckvd, tree: Tree) -> None:
    told = json.loads(ckvd("report", "trend", str(tree.root), "--json").stdout)
    assert [h["hour"] for h in told["hours"]] == ["2023-11-14T22:00:00+00:00", "2023-11-15T00:00:00+00:00"]
    first, second = told["hours"]
    assert first["languages"] == {
        "go": {"files": 1, "ok": 1, "partial": 0, "failed": 0},
        "python": {"files": 2, "ok": 1, "partial": 1, "failed": 0},
    }
    assert first["directories"] == {"src": {"files": 2, "ok": 1, "partial": 1, "failed": 0}}
    assert (first["files_per_s"], first["edits"], second["edits"]) == (2.0, 0, 3)
    assert sum(second["vector_histogram"].values()) == 3
    shown = ckvd("report", "trend", str(tree.root)).stdout.split("\n")
    assert shown[0].split() == ["tokens", "row", "row", "vector", "vector"]
    titles = "hour revision files clean chunks p90 edits p50 p99 p50 p99"
    assert " ".join(shown[1].split()) == titles
    assert shown[2].split()[2:] == ["1", "3", "66.7", "%", "6", *shown[2].split()[7:8], "0", *"----"]
    row = shown[3].split()
    assert row[8] == "3"
    assert row[10::2] == ["ms", "ms", "ms", "s"]


def test_no_hours_say_where_they_come_from(tree: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    trend.show(trend.collect(Rows(tree).store()))
    assert "ckvd run" in capsys.readouterr().out
