"""What `ckvd index` makes of the worked examples, and that `ckvd search` finds it."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from equality import differences
from support import Ckvd, Tree
from worked_texts import CACHE, DESK, LAST, PRORATION, TABLE

from ckvd import session
from ckvd.place import place

FILES = {
    "render/cache.py": CACHE,
    "seats/proration.py": PRORATION,
    "opcodes/table.py": TABLE,
    "desk.py": DESK,
}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory, ckvd: Ckvd) -> Tree:
    tree = Tree(tmp_path_factory.mktemp("worked"))
    tree.write(FILES)
    ckvd("index", tree.root)
    return tree


def found(ckvd: Ckvd, tree: Tree, query: str) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = json.loads(ckvd("search", query, "--root", tree.root, "--json").stdout)[
        "results"
    ]
    return results


@pytest.mark.parametrize(
    ("query", "chunk_id"),
    [
        ("_evict", "render/cache.py::TileCache._evict"),
        ("TileCache", "render/cache.py::TileCache"),
        ("seat_delta", "seats/proration.py::seat_delta"),
        ("how much to charge when the number of seats changes", "seats/proration.py::seat_delta"),
        ("match refunds against the bank statement", "desk.py::SettlementDesk.reconcile_refunds"),
    ],
)
def test_search_finds(ckvd: Ckvd, indexed: Tree, query: str, chunk_id: str) -> None:
    assert found(ckvd, indexed, query)[0]["chunk_id"] == chunk_id


def test_a_method_that_is_found_brings_the_invariant_of_its_class(ckvd: Ckvd, indexed: Tree) -> None:
    (hit, *_) = found(ckvd, indexed, "_evict")
    assert "Invariant: a position leaves `_layers` before its tile leaves `_tiles`." in hit["header"]
    assert "del self._tiles[position]" in hit["body"]


def test_the_name_of_a_class_finds_its_methods_by_their_header(indexed: Tree) -> None:
    methods = indexed.rows(
        "SELECT c.symbol FROM chunks_fts JOIN chunks AS c ON c.id = chunks_fts.rowid"
        " WHERE chunks_fts MATCH 'TileCache' AND c.kind <> 'class' ORDER BY c.start_byte"
    )
    assert [symbol for (symbol,) in methods if symbol] == [
        "TileCache.__init__",
        "TileCache._evict",
        "TileCache.layers",
    ]


def test_a_function_behind_a_preamble_is_found_whole(ckvd: Ckvd, indexed: Tree) -> None:
    (hit, *_) = found(ckvd, indexed, "seat_delta")
    assert hit["body"] == PRORATION[PRORATION.index("def seat_delta") :].rstrip()
    assert "SMALLEST_CHARGE = 40" in hit["header"]


def test_the_last_method_of_a_long_class_is_whole(indexed: Tree) -> None:
    assert DESK.count("\n") > 900
    rows = indexed.rows("SELECT body, parts FROM chunks WHERE symbol = 'SettlementDesk.reconcile_refunds'")
    assert rows == [(LAST.strip(), 1)]


def test_what_is_split_is_counted(ckvd: Ckvd, indexed: Tree) -> None:
    status = json.loads(ckvd("status", indexed.root, "--json").stdout)["chunks"]
    split = indexed.rows("SELECT symbol, parts FROM chunks WHERE unit = 'symbol' AND parts > 1 AND part = 1")
    assert [symbol for symbol, _ in split] == ["SettlementDesk"]
    assert (status["split_symbols"], status["over_limit"], status["truncated"]) == (1, 0, 0)
    assert status["limit"] >= status["tokens"]["max"] > 0


def test_of_a_generated_file_there_are_names_alone(ckvd: Ckvd, indexed: Tree) -> None:
    rows = indexed.rows("SELECT unit, body, truncated FROM chunks WHERE path = 'opcodes/table.py'")
    assert rows == [("names", "opcode_table", 0)]
    assert found(ckvd, indexed, "opcode_table")[0]["path"] == "opcodes/table.py"


def test_a_generated_function_in_full_is_cut_into_parts_that_are_counted(ckvd: Ckvd, folder: Tree) -> None:
    folder.write({"ckv.yaml": "index:\n  generated: full\n", "table.py": TABLE})
    ckvd("index", folder.root)
    status = json.loads(ckvd("status", folder.root, "--json").stdout)["chunks"]
    parts = folder.rows(
        "SELECT part, parts, header, body, tokens, start_byte, end_byte FROM chunks"
        " WHERE symbol = 'opcode_table' ORDER BY part"
    )
    assert [(part, of) for part, of, *_ in parts] == [(n, len(parts)) for n in range(1, len(parts) + 1)]
    assert len(parts) > 10
    assert {header for _, _, header, *_ in parts} == {
        "from opcodes.runtime import Opcode\ndef opcode_table():"
    }
    assert "".join(body for _, _, _, body, *_ in parts) == TABLE[TABLE.index("def opcode_table") :].rstrip()
    assert all(end == start for (*_, end), (*_, start, _) in pairwise(parts))
    assert max(tokens for *_, tokens, _, _ in parts) <= status["limit"]
    assert (status["split_symbols"], status["truncated"]) == (1, 0)


def embed_hashes(tree: Tree) -> set[bytes]:
    return {key for (key,) in tree.rows("SELECT hash FROM vector")}


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("false", ["TileCache"]),
        ("true", ["TileCache", "TileCache.__init__", "TileCache._evict", "TileCache.layers"]),
    ],
)
def test_an_edit_of_a_docstring_embeds_what_holds_it(
    ckvd: Ckvd, folder: Tree, header: str, expected: list[str]
) -> None:
    other = 'class Brush:\n    """Strokes."""\n\n    def stroke(self):\n        return 1\n'
    folder.write({"ckv.yaml": f"embedding:\n  header: {header}\n", "cache.py": f"{CACHE}\n\n{other}"})
    ckvd("index", folder.root)
    before = embed_hashes(folder)
    edited = CACHE.replace("Tiles by position, and", "Tiles by place, and")
    folder.write({"cache.py": f"{edited}\n\n{other}"})
    ckvd("index", folder.root)
    made = embed_hashes(folder) - before
    by_hash = dict(folder.rows("SELECT embed_hash, symbol FROM chunk"))
    assert sorted(by_hash[key] for key in made) == expected
    assert folder.rows("SELECT count(*) FROM chunks WHERE NOT embedded") == [(0,)]


def test_the_prefix_line_decides_no_cut_and_no_id(ckvd: Ckvd, folder: Tree) -> None:
    folder.write({**FILES, "ckv.yaml": "embedding:\n  prefix: contextual\n"})
    ckvd("index", folder.root)
    columns = "id, chunk_id, path, start_byte, end_byte, part, parts, header, body, rendering, content_hash"
    rows = f"SELECT {columns} FROM chunks WHERE path <> 'ckv.yaml' ORDER BY id"
    before, embedded = folder.rows(rows), embed_hashes(folder)
    folder.write({"ckv.yaml": "embedding:\n  prefix: raw\n"})
    ckvd("index", folder.root)
    assert folder.rows(rows) == before
    assert folder.rows("SELECT count(*) FROM chunks WHERE NOT embedded") == [(0,)]
    used = {key for (key,) in folder.rows("SELECT DISTINCT embed_hash FROM chunk")}
    assert used.isdisjoint(embedded)


def test_any_number_of_workers_makes_the_same_rows(folder: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = (Path(__file__).parents[1] / "parse" / "golden").rglob("*")
    folder.write(FILES | {f"{p.parent.name}/{p.name}": p.read_bytes() for p in sources if p.is_file()})
    databases = []
    for workers in (1, 3):
        monkeypatch.setattr(session, "WORKERS", workers)
        databases.append(folder.root.parent / f"{workers}.db")
        session.index_once(place(str(folder.root), str(databases[-1])))
    assert differences(*databases) == []
    assert folder.rows("SELECT count(DISTINCT language) FROM files", db=databases[0])[0][0] > 15
