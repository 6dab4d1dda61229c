"""Every command that reads, where there is no index that it could read: one sentence, the same exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from index_states import SAID, build, in_state
from support import Ckvd, Tree

from ckvd import cli
from ckvd.doctor import site
from ckvd.place import place

NEEDS_ONE = (
    "search evict",
    "search evict --mode keyword --json",
    "show src/cache.py:5",
    "show src/cache.py:5 --file --json",
    "report parse",
    "report sizes --json",
    "report boundaries",
    "report trend",
    "report --html page.html",
    "eval set.jsonl",
    "eval --from docstrings",
)
DOES_WITHOUT = ("status", "status --failures", "status --json", "status --short", "embed evict")
"""What can be told of a tree that has no index yet; any other database in its place is an error."""
NONE_YET = ("missing", "empty")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, ckvd: Ckvd) -> Tree:
    return build(tmp_path_factory.mktemp("base") / "repo", ckvd)


@pytest.fixture(params=SAID)
def state(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def tree(base: Tree, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    found = in_state(base, tmp_path / "repo", state)
    asked = {"query": "evict", "answers": [{"path": "src/cache.py", "symbol": "_evict"}]}
    found.write({"set.jsonl": json.dumps(asked) + "\n"})
    monkeypatch.chdir(found.root)
    return found


def said(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Exit code, output and errors of `ckvd COMMAND`, in this process: there are many."""
    try:
        cli.main(command.split())
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    return code, *capsys.readouterr()


@pytest.mark.parametrize("command", NEEDS_ONE)
def test_it_is_one_sentence(tree: Tree, state: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(command, capsys)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert str(tree.db) in err
    assert SAID[state] in err
    assert "; " in err  # the remedy


@pytest.mark.parametrize("command", DOES_WITHOUT)
def test_what_does_without(tree: Tree, state: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(command, capsys)
    if state in NONE_YET:
        assert (code, err) == (0, "")
        assert out
    else:
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert SAID[state] in err


@pytest.mark.parametrize("state", ["folder", "fifo"])
@pytest.mark.parametrize("command", ["index", "run"])
def test_what_writes_says_the_same_of_what_is_no_file(
    tree: Tree, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = said(command, capsys)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert f"{tree.db} is not a regular file; move it away, or pass another with --db" in err


def test_a_check_is_behind_where_there_is_none(
    tree: Tree, state: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said("status --check", capsys)[0] == (3 if state in NONE_YET else 1)


def test_the_doctor_says_the_same_and_what_to_do(tree: Tree, state: str) -> None:
    found = site.index(place(str(tree.root), None))
    if state in NONE_YET:
        assert (found.level, found.what) == ("warn", f"none yet at {tree.db}")
    else:
        assert found.level == "bad"
        assert SAID[state] in found.what
        assert found.remedy
        assert found.remedy not in found.what
