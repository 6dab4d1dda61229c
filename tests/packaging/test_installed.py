"""The wheel at work: no checkout, no network, every command."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from support import Ckvd, Tree

FUNCTIONS = 50
EDITED = 40
FUNCTION = '''\
def function_{0:02}(value: int) -> int:
    """Adds {0:02} to a value."""
    return value + {0:02}


'''
SOURCE = "".join(FUNCTION.format(n) for n in range(FUNCTIONS))


@pytest.fixture
def watched(tree: Tree, installed: Ckvd) -> Iterator[Tree]:
    """A repository with one file of fifty functions, indexed and under the wheel's daemon."""
    tree.write({"many.py": SOURCE, "notes.md": "# Notes\n\nNothing to see.\n"})
    tree.commit()
    with installed.daemon(tree.root):
        installed("sync", tree.root, "--vectors")
        yield tree


def chunks(tree: Tree) -> dict[str, tuple[int, bytes]]:
    """Row id and vector of each chunk."""
    rows = tree.rows("SELECT c.chunk_id, c.id, v.int8 FROM chunks AS c JOIN vectors AS v ON v.id = c.id")
    return {chunk_id: (row, vector) for chunk_id, row, vector in rows}


def test_an_edit_touches_what_it_edits(watched: Tree, installed: Ckvd) -> None:
    name = f"function_{EDITED}"
    (revision,) = watched.rows("SELECT value FROM meta WHERE key = 'revision'")[0]
    (texts,) = watched.rows("SELECT count(*) FROM vector")[0]
    before = chunks(watched)
    assert len([chunk for chunk in before if chunk.startswith("many.py::function_")]) == FUNCTIONS

    watched.write({"many.py": SOURCE.replace(f"value + {EDITED}", "value * 17")})
    assert int(installed("sync", watched.root, "--vectors").stdout) == revision + 1

    after = chunks(watched)
    assert after.keys() == before.keys()
    assert [chunk for chunk in after if after[chunk] != before[chunk]] == [f"many.py::{name}"]
    assert watched.rows("SELECT count(*) FROM vector") == [(texts + 1,)]
    start, end = watched.rows("SELECT start_byte, end_byte FROM symbols WHERE symbol = ?", name)[0]
    assert watched.rows(
        "SELECT path, what, start_byte, end_byte FROM changes WHERE revision > ?", revision
    ) == [("many.py", "changed", start, end)]


def test_an_edit_that_shifts_what_follows_embeds_nothing_else(watched: Tree, installed: Ckvd) -> None:
    before = chunks(watched)
    (texts,) = watched.rows("SELECT count(*) FROM vector")[0]

    watched.write({"many.py": SOURCE.replace(f"value + {EDITED}", "value * 17  # and more of it")})
    installed("sync", watched.root, "--vectors")

    after = chunks(watched)
    assert [chunk for chunk in after if after[chunk] != before[chunk]] == [f"many.py::function_{EDITED}"]
    assert watched.rows("SELECT count(*) FROM vector") == [(texts + 1,)]
    text = (watched.root / "many.py").read_bytes()
    for body, start, end in watched.rows(
        "SELECT body, start_byte, end_byte FROM chunks WHERE path = 'many.py'"
    ):
        assert text[start:end] == body.encode()


def test_every_command_runs_from_the_wheel(watched: Tree, installed: Ckvd) -> None:
    root = watched.root
    status = json.loads(installed("status", root, "--json").stdout)
    assert (status["state"], status["files"]["total"]) == ("watching", 2)
    assert "python" in installed("status", root).stdout
    found = json.loads(installed("search", "adds 40 to a value", "--root", root, "--json").stdout)
    assert f"many.py::function_{EDITED}" in [hit["chunk_id"] for hit in found["results"]]
    assert f"function_{EDITED}" in installed("show", f"many.py::function_{EDITED}", "--root", root).stdout
    vector = json.loads(installed("embed", "adds", "--root", root, "--json").stdout)
    assert len(vector["int8"]) == len(chunks(watched)["many.py::function_00"][1])
    assert "python" in installed("languages").stdout
    installed("index", root)
    assert installed("service", "list").stdout == ""
    assert "no service is installed" in installed("service", "remove", root, code=1).stderr
