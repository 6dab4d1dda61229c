"""Readers that nobody here wrote, each on the same index: all views, both full-text indexes, the vectors."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from index_states import build
from support import Ckvd, Tree

HERE = Path(__file__).parent
CHUNK = "src/cache.py::ShardedLRUCache._evict"
VIEWS = ("changes", "chunks", "failures", "files", "meta", "metrics", "symbols", "vectors")
WORDS = (
    "SELECT c.chunk_id FROM chunks_fts JOIN chunks AS c ON c.id = chunks_fts.rowid"
    " WHERE chunks_fts MATCH '\"oldest\"' ORDER BY rank"
)
NAMES = "SELECT name FROM names_fts WHERE names_fts MATCH '\"evic\"'"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, ckvd: Ckvd) -> Tree:
    return build(tmp_path_factory.mktemp("readers") / "repo", ckvd)


@pytest.fixture(scope="module")
def counts(base: Tree) -> dict[str, int]:
    """Rows of each view, whole rows read, by the standard library."""
    return {v: base.rows(f"SELECT count(*) FROM (SELECT * FROM {v})")[0][0] for v in VIEWS}


def test_the_standard_library(base: Tree, counts: dict[str, int]) -> None:
    assert sqlite3.sqlite_version_info >= (3, 38)
    assert base.rows("PRAGMA user_version") == [(1,)]
    assert all(counts.values())
    assert counts["chunks"] == counts["vectors"]
    assert (CHUNK,) in base.rows(WORDS)
    assert base.rows(NAMES) == [("_evict",)]
    assert base.rows("PRAGMA integrity_check") == [("ok",)]


def test_a_reader_cannot_write(base: Tree) -> None:
    with contextlib.closing(sqlite3.connect(f"{base.db.as_uri()}?mode=ro", uri=True)) as db:
        for table in ("file", "chunk", "symbol"):
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                db.execute(f"DELETE FROM {table}")


def test_the_sqlite3_shell(base: Tree, counts: dict[str, int]) -> None:
    """Debian 12 has 3.40."""
    if shutil.which("sqlite3") is None:
        pytest.skip("no sqlite3 shell")

    def ask(sql: str) -> list[dict[str, Any]]:
        command = ["sqlite3", "-readonly", "-json", "-init", "/dev/null", f"{base.db.as_uri()}?mode=ro", sql]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.loads(done.stdout) if done.stdout else []

    for view, count in counts.items():
        assert ask(f"SELECT count(*) AS n FROM (SELECT * FROM {view})") == [{"n": count}]
    assert {"chunk_id": CHUNK} in ask(WORDS)
    assert ask(NAMES) == [{"name": "_evict"}]
    assert ask("PRAGMA integrity_check") == [{"integrity_check": "ok"}]


def _install(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> None:
    """Skips where the registry, or what it takes to build, is not there."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=os.environ | (env or {}),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    if done.returncode:
        pytest.skip(f"{command[0]} could not install: {done.stderr[-1000:]}")


@pytest.fixture(scope="module")
def better_sqlite3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with better-sqlite3 (built from source where no binary can be fetched) and sqlite-vec."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("no node or npm on PATH")
    folder = tmp_path_factory.mktemp("node")
    (folder / "package.json").write_text('{"private": true}')
    shutil.copy(HERE / "read.js", folder)
    packages = ("better-sqlite3@12", "sqlite-vec@0.1")
    node = Path(shutil.which("node") or "node").resolve().parents[1]
    headers = {"npm_config_nodedir": str(node)} if (node / "include/node/node.h").exists() else {}
    _install(
        "npm", "install", "--loglevel=error", "--no-audit", "--no-fund", *packages, cwd=folder, env=headers
    )
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("extension", [(), ("extension",)], ids=["plain", "sqlite-vec"])
def test_better_sqlite3(
    better_sqlite3: Path, base: Tree, counts: dict[str, int], extension: tuple[str, ...]
) -> None:
    done = subprocess.run(
        ["node", "read.js", base.db, CHUNK, *extension],
        cwd=better_sqlite3,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["version"] == 1
    assert {view: found["counts"][view] for view in VIEWS} == counts
    assert [CHUNK] in found["words"]
    assert found["names"] == [["_evict"]]
    assert found["nearest"] == [[CHUNK]]


@pytest.fixture(scope="module")
def datasette(tmp_path_factory: pytest.TempPathFactory) -> Path:
    venv = tmp_path_factory.mktemp("datasette") / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    _install(venv / "bin" / "pip", "install", "--quiet", "datasette<1", cwd=venv)
    return venv / "bin" / "datasette"


@pytest.mark.slow
def test_datasette(datasette: Path, base: Tree, counts: dict[str, int]) -> None:
    def page(path: str) -> str:
        done = subprocess.run(
            [datasette, base.db, "--get", path, "--setting", "sql_time_limit_ms", "20000"],
            env=os.environ | {"PYTHONWARNINGS": "ignore"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def get(path: str) -> Any:
        return json.loads(page(path))

    blobs = {"files": "?_nocol=path_bytes", "vectors": "?_nocol=int8&_nocol=bits"}
    for view in VIEWS:
        assert f"<h1>{view}" in page(f"/index/{view}{blobs.get(view, '')}")
    assert {view["name"] for view in get("/index.json")["views"]} >= set(VIEWS)
    for view, count in counts.items():
        assert len(get(f"/index/{view}.json?_shape=array&_size=1000")) == count
    found = get("/index/symbols.json?_shape=array&name=_evict")
    assert [row["chunk_id"] for row in found] == [CHUNK]
