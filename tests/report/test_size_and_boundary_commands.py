"""`ckvd report sizes` and `ckvd report boundaries` on trees that `ckvd index` has indexed."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from support import Ckvd, Tree

LONG = (
    "def settle(book):\n"
    + "".join(f"    book.enter({n}, rate={n})\n" for n in range(120))
    + "    return book\n"
)
DESK = (
    'class Desk:\n    """Takes orders."""\n\n    rate = 3\n\n'
    "    def open(self):\n        return self.rate\n\n    def close(self):\n        return None\n"
)


@pytest.fixture
def indexed(tree: Tree, ckvd: Ckvd) -> Tree:
    tree.write(
        {"a.py": f"LIMIT = 1\n\n\n{LONG}\n\n{DESK}", "b.go": "package b\n\nfunc B() int { return 1 }\n"}
    )
    tree.commit("one")
    tree.write({"a.py": f"LIMIT = 2\n\n\n{LONG}\n\n{DESK}"})
    tree.commit("two")
    ckvd("index", tree.root)
    return tree


def document(ckvd: Ckvd, what: str, tree: Tree) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ckvd("report", what, tree.root, "--json").stdout)
    return found


def test_boundaries(ckvd: Ckvd, indexed: Tree) -> None:
    found = document(ckvd, "boundaries", indexed)
    fixed, index = found["strategies"]["fixed:1200"], found["strategies"]["index"]
    assert (fixed["functions"], fixed["split"], fixed["signature_separated_from_tail"]) == (4, 1, 1)
    assert fixed["share"] == 0.25
    assert fixed["languages"]["go"] | {"share": 0} == fixed["languages"]["go"]
    assert (index["functions"], index["intact"], index["parts"], index["split"]) == (4, 3, 1, 0)
    (settle, *_) = found["severed"]
    assert (settle["path"], settle["symbol"], settle["lines"], settle["commits"]) == (
        "a.py",
        "settle",
        122,
        2,
    )
    assert "index" not in settle["by"]
    assert (found["file_headers"], found["stale"]) == ({"total": 2, "torn": 0}, [])


def test_a_file_that_changed_since_counts_for_nothing(ckvd: Ckvd, indexed: Tree) -> None:
    indexed.write({"a.py": "x = 1\n"})
    found = document(ckvd, "boundaries", indexed)
    assert found["stale"] == ["a.py"]
    assert found["strategies"]["index"]["functions"] == 1
    shown = ckvd("report", "boundaries", indexed.root).stdout
    assert "1 file differs from the index and counts for nothing" in shown


def test_boundaries_as_text(ckvd: Ckvd, indexed: Tree) -> None:
    shown = ckvd("report", "boundaries", indexed.root).stdout
    assert shown.startswith("4 functions · 2 file headers, 0 end in a symbol\n")
    row = re.search(r"^fixed:1200 +(.*)$", shown, re.MULTILINE)
    assert row is not None
    assert row[1].split() == ["4", "3", "0", "0", "1", "1", "25.0", "%"]
    assert re.search(r"^ +122 +2 .*a\.py:4 settle$", shown, re.MULTILINE)


def test_without_history_no_commits_are_told(ckvd: Ckvd, folder: Tree) -> None:
    folder.write({"a.py": LONG})
    ckvd("index", folder.root)
    assert document(ckvd, "boundaries", folder)["severed"][0]["commits"] is None
    assert "commits" not in ckvd("report", "boundaries", folder.root).stdout


def test_sizes(ckvd: Ckvd, indexed: Tree) -> None:
    found = document(ckvd, "sizes", indexed)
    chunks = indexed.rows("SELECT count(*), max(tokens), sum(truncated) FROM chunks")[0]
    total = found["total"]
    assert (total["chunks"], total["tokens"]["max"], total["truncated"]) == chunks
    assert sum(b["count"] for b in total["tokens_histogram"]) == chunks[0]
    assert (total["over_limit"], total["split"]) == (0, 1)
    assert {"python", "go"} == set(found["languages"])
    largest = found["largest"][0]
    assert (largest["path"], largest["symbol"], largest["parts"]) == ("a.py", "settle", 2)


def test_storage_is_that_of_the_rows(ckvd: Ckvd, indexed: Tree) -> None:
    storage = document(ckvd, "sizes", indexed)["storage"]
    rows = indexed.rows("SELECT unit, grain, length(body), header FROM chunks")
    fine, coarse = (
        sum(size for unit, of, size, _ in rows if (unit, of) == ("symbol", grain))
        for grain in ("fine", "coarse")
    )
    assert (storage["fine_chars"], storage["coarse_chars"]) == (fine, coarse)
    assert storage["ratio_to_fine"] == (fine + coarse) / fine > 1
    headers = [header for *_, header in rows if header]
    assert storage["header_chars_each"] == sum(map(len, headers))
    assert storage["header_chars_once"] == sum(map(len, set(headers))) < storage["header_chars_each"]


def test_sizes_as_text(ckvd: Ckvd, indexed: Tree) -> None:
    shown = ckvd("report", "sizes", indexed.root).stdout
    assert "█" in shown
    assert re.search(r"^headers +\d+\.\d % more characters, each text stored once", shown, re.MULTILINE)
    assert "0 truncated" in shown
