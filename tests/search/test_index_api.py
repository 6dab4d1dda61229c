from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from search_support import make_index
from support import Ckvd, Tree

import ckvd
from ckvd.errors import StoreError, UsageError, WorktreeError
from ckvd.index import Index


def test_it_is_exported() -> None:
    from ckvd.index import Index

    assert ckvd.Index is Index


def test_rows_by_path_and_place(index: ckvd.Index) -> None:
    file = index.file("cache/lru.py")
    assert file is not None
    assert (file.language, file.parse_status) == ("python", "ok")
    assert "ShardedLRUCache._evict" in [s.symbol for s in index.symbols("cache/lru.py")]
    chunk = index.chunk("cache/lru.py::ShardedLRUCache._evict")
    assert chunk is not None
    assert index.chunks_at("cache/lru.py", 26)[0] == chunk
    assert index.file("nowhere.py") is None
    assert index.chunk("nowhere.py::x") is None
    assert index.revision == 1


def test_nothing_can_be_written(root: Path, index: ckvd.Index) -> None:
    before = (root / ".ckvd" / "index.db").read_bytes()
    index.search("evict")
    assert (root / ".ckvd" / "index.db").read_bytes() == before


@pytest.mark.parametrize("budget", [None, 200])
def test_threads_share_one(index: ckvd.Index, budget: int | None) -> None:
    queries = ["evict", "retry with backoff", "http response code", "shards"] * 6
    alone = [index.search(query, 5, budget=budget) for query in queries]
    start = threading.Barrier(4)

    def run(part: int) -> list[object]:
        start.wait()
        return [index.search(query, 5, budget=budget) for query in queries[part::4]]

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(run, range(4)))
    assert [found for part in range(4) for found in together[part]] == [
        found for part in range(4) for found in alone[part::4]
    ]


def test_a_database_that_was_replaced_is_opened_anew(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    make_index(one, {"a.py": "def first(): pass\n"}, "none")
    made = make_index(other, {"b.py": "def second(): pass\n"}, "none")
    with ckvd.Index(one) as index:
        assert index.file("a.py")
        db = one / ".ckvd" / "index.db"
        for suffix in ("-wal", "-shm"):
            Path(f"{db}{suffix}").unlink(missing_ok=True)
        os.replace(made, db)
        assert index.file("a.py") is None
        assert index.file("b.py")


def test_closed_is_closed(root: Path) -> None:
    index = ckvd.Index(root)
    index.close()
    with pytest.raises(StoreError, match="closed"):
        index.search("evict")


def test_no_index_and_no_tree(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="make one with"):
        ckvd.Index(tmp_path)
    with pytest.raises(WorktreeError):
        ckvd.Index(tmp_path / "missing")


@pytest.mark.parametrize("name", ["file/index.db", "loop.db"])
def test_a_database_that_the_system_does_not_give(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "loop.db").symlink_to("loop.db")
    with pytest.raises(StoreError, match=name):
        ckvd.Index(tmp_path, db=tmp_path / name)


def test_the_tree_around_a_folder_is_found_also_where_it_was_moved_to(
    tree: Tree, ckvd: Ckvd, tmp_path: Path
) -> None:
    tree.write({"src/a.py": "def first(): pass\n"})
    ckvd("index", tree.root)
    with Index(tree.root / "src") as index:
        assert (Path(index.root), Path(index.db)) == (tree.root, tree.db)
    moved = tmp_path / "moved"
    shutil.copytree(tree.root, moved)
    with Index(moved / "src") as index:
        assert (Path(index.root), Path(index.db)) == (moved, moved / ".ckvd" / "index.db")
        assert index.search("first", 1, "keyword").hits[0].path == "src/a.py"


def test_another_place(root: Path, tmp_path: Path) -> None:
    with (
        sqlite3.connect(root / ".ckvd" / "index.db") as source,
        sqlite3.connect(tmp_path / "copy.db") as target,
    ):
        source.backup(target)
    source.close()
    target.close()
    with ckvd.Index(root, db=tmp_path / "copy.db") as index:
        assert index.search("evict", mode="keyword").hits


def test_an_index_at_hand_is_opened_without_asking_git(ckvd: Ckvd, tmp_path: Path) -> None:
    """It takes longer than the search, in a tree of git or outside."""
    (tmp_path / "a.py").write_text("def first(): pass\n")
    (tmp_path / "ckv.yaml").write_text("embedding:\n  model: none\n")
    ckvd("index", tmp_path)
    program = (
        f"import sys, ckvd; found = ckvd.Index({str(tmp_path)!r}).search('first', 1, 'keyword')\n"
        "print(found.hits[0].path, sorted({'pygit2', 'ckvd.worktree.git.root'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "a.py []\n"


@pytest.mark.parametrize(
    "path", [".", "./", "app//[id]", "./app/[id]/page.ts", "app/*", "{root}/app", "{root}"]
)
def test_a_path_is_what_it_names_before_it_is_a_glob(tmp_path: Path, path: str) -> None:
    make_index(tmp_path, {"app/[id]/page.ts": "export function page() { return 1; }\n"})
    with Index(tmp_path) as index:
        found = index.search("page", mode="keyword", path=path.format(root=index.root))
    assert [hit.symbol for hit in found.hits] == ["page"]


@pytest.mark.parametrize(
    "options",
    [{"k": 0}, {"k": "a"}, {"offset": -1}, {"budget": -5}, {"mode": "zork"}, {"expand": "zork"}],
)
def test_a_value_that_an_option_does_not_take(index: Index, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"zork|give a whole number of"):
        index.search("evict", **options)
