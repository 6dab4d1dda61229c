"""README's queries, and those of the plugins, on a large index: how they run, and how long they take."""

from __future__ import annotations

import contextlib
import re
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import large_index
import numpy as np
import pytest
import sqlite_vec

import ckvd

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
LUA = (Path(ckvd.__file__).parent / "editors" / "nvim" / "lua" / "ckvd" / "init.lua").read_text("utf-8")
QUERIES = [
    *re.findall(r"^```sql\n(.*?)^```$", README, re.MULTILINE | re.DOTALL),
    *re.findall(r"\[\[\n(SELECT.*?)\]\]", LUA, re.DOTALL),
]
NEAREST = re.findall(r'^nearest = """(.*?)"""', README, re.MULTILINE | re.DOTALL)[0]

WHOLE = {"FROM failures ORDER": {"file"}, "GROUP BY language": {"file"}}
"""Questions about every file: these read all rows of that table, and no other."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return large_index.build(tmp_path_factory.mktemp("large") / "repo")


@pytest.fixture(scope="module")
def parameters(db: Path) -> dict[str, Any]:
    """Of a method in the middle of the index, and of questions that many rows answer."""
    sql = "SELECT path, chunk_id, name, name_line FROM symbols WHERE kind = 'method' LIMIT 1 OFFSET 30000"
    with contextlib.closing(sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True)) as connection:
        path, chunk_id, name, line = connection.execute(sql).fetchone()
    return {
        "path": path,
        "line": line,
        "name": name,
        "prefix": "shard",
        "part": '"dex_que"',
        "chunk_id": chunk_id,
        "words": '"evict"',
        "revision": 12,
        "folder": "pkg30",
        "match": '"dex_que"',
        "text": "sh",
        "paths": f'["{path}"]',
        "epoch": None,
    }


Plan = Callable[[str, dict[str, Any]], list[str]]


def _stdlib(db: Path) -> Iterator[Plan]:
    with contextlib.closing(sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True)) as connection:
        yield lambda sql, given: [r[3] for r in connection.execute(f"EXPLAIN QUERY PLAN {sql}", given)]


def _apsw(db: Path) -> Iterator[Plan]:
    with contextlib.closing(apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        yield lambda sql, given: [str(r[3]) for r in connection.execute(f"EXPLAIN QUERY PLAN {sql}", given)]


def _shell(db: Path) -> Iterator[Plan]:
    if shutil.which("sqlite3") is None:
        pytest.skip("no sqlite3 shell")

    def plan(sql: str, given: dict[str, Any]) -> list[str]:
        def literal(match: re.Match[str]) -> str:
            value = given[match[1]]
            return "NULL" if value is None else str(value) if isinstance(value, int) else f"'{value}'"

        bound = re.sub(r":([a-z_]+)", literal, sql)
        command = ["sqlite3", "-readonly", "-init", "/dev/null", db, f"EXPLAIN QUERY PLAN {bound}"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [line.lstrip("|-` ") for line in done.stdout.splitlines() if line != "QUERY PLAN"]

    yield plan


@pytest.fixture(params=[_stdlib, _apsw, _shell], ids=["stdlib", "apsw", "shell"])
def plan(request: pytest.FixtureRequest, db: Path) -> Iterator[Plan]:
    yield from request.param(db)


def scanned(plan: list[str]) -> set[str]:
    """The tables whose rows are all read; not a full-text index that is asked, nor JSON that was given."""
    lines = [line.split() for line in plan if line.startswith("SCAN ")]
    asked = re.compile(r"VIRTUAL TABLE INDEX (\d+:M\d|1:)")
    return {words[1] for words in lines if not asked.search(" ".join(words))}


@pytest.mark.parametrize("query", QUERIES, ids=lambda q: " ".join(q.split())[:60])
def test_no_query_reads_more_than_it_must(plan: Plan, parameters: dict[str, Any], query: str) -> None:
    allowed = next((tables for part, tables in WHOLE.items() if part in query), set())
    found = plan(query, parameters)
    assert found
    assert scanned(found) <= allowed, found


def test_a_scan_is_seen(plan: Plan) -> None:
    assert scanned(plan("SELECT * FROM symbols WHERE signature = 'x'", {})) != set()
    assert scanned(plan("SELECT * FROM chunks_fts WHERE names LIKE 'x'", {})) == {"chunks_fts"}


@pytest.mark.parametrize("query", QUERIES, ids=lambda q: " ".join(q.split())[:60])
def test_every_query_answers(
    db: Path, parameters: dict[str, Any], query: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with contextlib.closing(sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True)) as connection:
        connection.execute(query, parameters).fetchall()
        began = time.perf_counter()
        rows = connection.execute(query, parameters).fetchall()
        took = time.perf_counter() - began
    assert rows
    with capsys.disabled():
        print(f"\n{took * 1e3:8.2f} ms  {len(rows):4} rows  {' '.join(query.split())[:80]}")


def test_there_are_enough_chunks(db: Path) -> None:
    sql = "SELECT (SELECT count(*) FROM chunks), (SELECT count(*) FROM vectors)"
    with contextlib.closing(sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True)) as connection:
        assert connection.execute(sql).fetchone() == (large_index.CHUNKS, large_index.CHUNKS)
    assert large_index.CHUNKS >= 60_000


def test_the_nearest_with_numpy_and_with_the_extension(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Asked for a chunk's own vector, both find that chunk first."""
    connection = apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READONLY)
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    own = "SELECT chunk_id, int8, bits FROM vectors JOIN chunks USING (id) LIMIT 1 OFFSET 30000"
    chunk_id, int8, bits = connection.execute(own).fetchall()[0]

    began = time.perf_counter()
    with contextlib.closing(sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True)) as plain:
        ids, blobs = zip(*plain.execute("SELECT id, int8 FROM vectors"), strict=True)
        vectors = np.frombuffer(b"".join(blobs), dtype=np.int8).reshape(len(ids), -1).astype(np.float32)
        query = np.frombuffer(int8, np.int8).astype(np.float32)
        best = ids[int(np.argmax(vectors @ query / np.maximum(np.linalg.norm(vectors, axis=1), 1e-9)))]
        sql = "SELECT chunk_id FROM chunks WHERE id = ?"
        assert plain.execute(sql, (best,)).fetchone()[0] == chunk_id
    numpy_s = time.perf_counter() - began

    began = time.perf_counter()
    found = connection.execute(NEAREST, {"bits": bits, "int8": int8}).fetchall()
    extension_s = time.perf_counter() - began
    assert found[0] == (chunk_id,)
    plan = connection.execute(f"EXPLAIN QUERY PLAN {NEAREST}", {"bits": b"", "int8": b""})
    # The few models, all chunks, and the best of them.
    assert scanned([str(row[3]) for row in plan]) == {"m", "c", "near"}
    connection.close()
    with capsys.disabled():
        print(f"\n{numpy_s * 1e3:8.2f} ms  k-NN, numpy\n{extension_s * 1e3:8.2f} ms  k-NN, sqlite-vec")
