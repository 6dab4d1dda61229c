"""What a command line may hold that no command can use: one sentence on stderr, never a traceback."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from support import Ckvd, Tree

from ckvd import cli

HUGE = "9" * 30


@pytest.fixture
def said(tree: Tree, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Said:
    monkeypatch.chdir(tree.root)
    return Said(capsys)


class Said:
    """Calls a command in this process; its exit code and the one line on stderr."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, command: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as end:
            cli.main(shlex.split(command))
        out, err = self._capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        return int(end.value.code or 0), err


@pytest.mark.parametrize("value", ["inf", "nan", "1e300", "-1"])
def test_a_time_out_is_a_number_of_seconds(said: Said, value: str) -> None:
    code, err = said(f"sync --timeout={value}")
    assert code == 2
    assert "'--timeout'" in err


@pytest.mark.parametrize(
    "command",
    [
        *("index --db ''", "status --db ''", "search f --root ''", "report --html ''", "index ''", "eval ''"),
        *("model info ''", "model use ''", "model add ''", "search f --path ''", "search f --kind ''"),
    ],
)
def test_an_empty_value_names_nothing(said: Said, command: str) -> None:
    code, err = said(command)
    assert code == 2
    assert "it is empty" in err


@pytest.mark.parametrize("digits", [20, 5000])
def test_a_line_that_no_file_has(ckvd: Ckvd, tree: Tree, said: Said, digits: int) -> None:
    tree.write({"a.py": "x = 1\n"})
    ckvd("index", tree.root)
    code, err = said(f"show a.py:{'9' * digits}")
    assert code == 1
    assert "no chunk 'a.py:999" in err


@pytest.mark.parametrize("option", ["--offset", "--budget", "-k"])
def test_a_number_of_any_length(ckvd: Ckvd, tree: Tree, option: str) -> None:
    tree.write({"a.py": "x = 1\n"})
    ckvd("index", tree.root)
    ckvd("search", "x", "--mode", "keyword", option, HUGE, cwd=tree.root, code=2 if option == "-k" else 0)


def test_a_set_without_an_answer_in_the_index(ckvd: Ckvd, tree: Tree) -> None:
    tree.write({"a.py": "x = 1\n"})
    ckvd("index", tree.root)
    done = ckvd("eval", "--from", "docstrings", cwd=tree.root)
    assert done.stdout == "There was nothing to ask: no query has an answer in the index.\n"


@pytest.mark.parametrize("own", [True, False])
def test_a_remedy_can_be_pasted(tmp_path: Path, ckvd: Ckvd, own: bool) -> None:
    tree = Tree(tmp_path / "sp ace" / "it's $x")
    tree.write({"a.py": "x = 1\n"})
    db = () if own else ("--db", str(tmp_path / "an other.db"))
    said = ckvd("search", "x", *db, cwd=tree.root, code=1).stderr
    assert "; make one with: ckvd index " in said
    remedy = said.rstrip().rpartition("with: ")[2].replace("ckvd", shlex.quote(ckvd.executable), 1)
    subprocess.run(remedy, shell=True, check=True, cwd=tmp_path if own else tree.root, capture_output=True)
    ckvd("search", "x", *db, cwd=tree.root)
    start = ckvd("sync", *db, cwd=tree.root, code=3).stderr.rstrip().rpartition("start one with: ")[2]
    assert shlex.split(start) == ["ckvd", "run", str(tree.root), *db]


def test_ctrl_c_while_the_command_is_imported() -> None:
    program = (
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'click': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from ckvd.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "ckvd: interrupted\n")
