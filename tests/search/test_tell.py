"""Hits widened to their class or file, and cut to a budget, through `ckvd.Index` and the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from search_support import make_index
from support import Ckvd

from ckvd.index import Index

LARGE = "\n\n".join(
    f"    def step_{n}(self, value):\n" + f"        value = self.turn_{n}(value)\n" * 12 for n in range(12)
)
FILES = {
    "src/machine.py": f"import sys\n\nLIMIT = 3\n\n\nclass Machine:\n    '''Turns.'''\n\n{LARGE}\n",
    "src/pair.py": '''import json


class Pair:
    """A left and a right."""

    def swap_sides(self):
        self.left, self.right = self.right, self.left

    def sum_sides(self):
        return self.left + self.right

    class Inner:
        def swap_sides_of_inner(self):
            return 0


def free_sides():
    return None
''',
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tell")
    make_index(folder, FILES, "none")
    return folder


@pytest.fixture(scope="module")
def told(tree: Path) -> Index:
    return Index(tree)


class TestExpand:
    def test_a_method_becomes_its_class_and_what_is_in_none_stays(self, told: Index) -> None:
        hits = told.search("sides", expand="class").hits
        assert {h.symbol for h in hits} == {"Pair", "free_sides"}
        pair = next(h for h in hits if h.symbol == "Pair")
        assert {m.rpartition("::")[2] for m in pair.matches} >= {"Pair.swap_sides", "Pair.sum_sides"}
        assert (
            pair.body == FILES["src/pair.py"].removeprefix("import json\n\n\n").partition("\n\n\ndef free")[0]
        )
        assert next(h for h in hits if h.symbol == "free_sides").matches == ()

    def test_a_class_that_the_index_has_as_an_outline_is_told_whole(self, told: Index) -> None:
        plain = told.search("step_7", 1).hits[0]
        assert plain.symbol == "Machine.step_7"
        (hit,) = told.search("step_7", 1, expand="class").hits
        assert (hit.symbol, hit.rendering, hit.matches) == ("Machine", "source", (plain.chunk_id,))
        assert hit.body.startswith("class Machine:")
        assert plain.body in hit.body

    def test_a_file_is_told_once_as_it_is(self, told: Index) -> None:
        hits = told.search("sides", expand="file").hits
        assert [(h.path, h.unit, h.body, h.header) for h in hits] == [
            ("src/pair.py", "file", FILES["src/pair.py"], "")
        ]
        assert (hits[0].start_line, hits[0].end_line) == (1, FILES["src/pair.py"].count("\n"))
        assert len(hits[0].matches) > 1

    @pytest.mark.parametrize("expand", ["class", "file"])
    def test_a_file_that_changed_since_leaves_its_hits_and_says_so(self, tmp_path: Path, expand) -> None:
        make_index(tmp_path, FILES, "none")
        (tmp_path / "src/machine.py").write_text("class Other: pass\n")
        with Index(tmp_path) as index:
            found = index.search("step_7", 1, expand=expand)
        assert [h.symbol for h in found.hits] == ["Machine.step_7"]
        assert "src/machine.py has changed since it was indexed" in found.note

    def test_nothing_is_widened_or_merged_by_default(self, told: Index) -> None:
        hits = told.search("swap sides sum sides", 10).hits
        assert {"Pair.swap_sides", "Pair.sum_sides"} <= {h.symbol for h in hits}
        assert all(h.matches == () and h.header_of is None for h in hits)


class TestBudget:
    def test_of_one_class_the_header_is_told_once(self, told: Index) -> None:
        hits = told.search("step_7 step_3", budget=400).hits
        methods = [h for h in hits if h.path == "src/machine.py" and h.kind == "method"]
        assert len(methods) > 1
        assert [bool(h.header) for h in methods] == [True] + [False] * (len(methods) - 1)
        assert {h.header_of for h in methods[1:]} == {methods[0].chunk_id}

    def test_several_methods_become_the_class_that_takes_no_more(self, told: Index) -> None:
        found = told.search("swap sides sum sides", budget=200)
        (pair,) = [h for h in found.hits if h.path == "src/pair.py" and "Pair" in (h.symbol or "")]
        assert pair.symbol == "Pair"
        assert len(pair.matches) > 1

    @pytest.mark.parametrize("expand", [None, "class", "file"])
    def test_more_room_never_tells_of_fewer_places(self, told: Index, expand) -> None:
        taken = []
        for budget in (1, 30, 100, 300, 1000, 5000):
            found = told.search("swap the sides in a step", budget=budget, expand=expand)
            assert found.tokens is not None
            assert found.tokens <= budget
            taken.append(found.tokens)
        assert taken == sorted(taken)
        assert taken[0] == 0 < taken[-1]


class TestCommand:
    def test_the_forms(self, ckvd: Ckvd, tree: Path) -> None:
        said = {
            form: ckvd("search", "--root", tree, *options, "swap_sides").stdout
            for form, options in {
                "piped": [],
                "text": ["--format", "text"],
                "markdown": ["--format", "markdown"],
                "json": ["--format", "json"],
                "--json": ["--json"],
            }.items()
        }
        assert said["piped"] == said["text"]
        assert said["text"].startswith(
            "Note: keyword search; the index has no vectors yet\n\nsrc/pair.py:7-8  "
        )
        assert "\n┆ class Pair:\n" in said["text"]
        assert "## 1. `src/pair.py:7-8` `Pair.swap_sides` (method)\n\nContext:\n" in said["markdown"]
        assert said["json"] == said["--json"]
        assert json.loads(said["json"])["tokens"] is None

    def test_budget_and_expand(self, ckvd: Ckvd, tree: Path) -> None:
        done = ckvd("search", "--root", tree, "--json", "--budget", "90", "sides")
        document = json.loads(done.stdout)
        assert 0 < document["tokens"] <= 90
        assert len(document["results"]) < document["total"]
        done = ckvd("search", "--root", tree, "--json", "--expand", "file", "-k", "3", "sides")
        assert [r["chunk_id"] for r in json.loads(done.stdout)["results"]] == ["src/pair.py::<file>"]

    @pytest.mark.parametrize("options", [["--budget", "0"], ["--budget", "x"], ["--expand", "tree"]])
    def test_wrong_usage(self, ckvd: Ckvd, tree: Path, options: list[str]) -> None:
        done = ckvd("search", "--root", tree, *options, "sides", code=2)
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
