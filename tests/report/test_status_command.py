"""`ckvd status` as a command: exit codes, what goes to which stream, colour."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from report_rows import Rows
from support import Ckvd, Tree
from terminals import interrupted, on_terminal

from ckvd.model import Verdict

PARTIAL = Verdict("symbol", "partial", "syntax-errors", "line 1, column 7: cannot be parsed", 1, 2, ((6, 8),))


@pytest.fixture
def rows(tree: Tree) -> Rows:
    made = Rows(tree)
    made.clean("src/a.py", "one", "two")
    made.unclean("src/x.py", b"def f(:\n    pass\n", PARTIAL)
    made.store()
    return made


def test_json_is_one_document(ckvd: Ckvd, rows: Rows) -> None:
    done = ckvd("status", rows.tree.root, "--json")
    assert json.loads(done.stdout)["files"]["total"] == 2
    assert done.stderr == ""


def test_an_inner_folder_means_its_worktree(ckvd: Ckvd, rows: Rows) -> None:
    done = ckvd("status", "--json", cwd=rows.tree.root / "src")
    assert json.loads(done.stdout)["root"] == str(rows.tree.root)


def test_failures_with_their_source(ckvd: Ckvd, rows: Rows) -> None:
    shown = ckvd("status", rows.tree.root, "--failures").stdout
    assert shown.startswith("src/x.py:1  partial  syntax-errors  python\n  1 │ def f(:\n    │       ^\n")


def test_check_tells_scripts(ckvd: Ckvd, rows: Rows) -> None:
    assert ckvd("status", rows.tree.root, "--check", code=0).stdout.startswith("ckvd stopped")
    rows.tree.write({"src/a.py": "changed = 1\n"})
    assert "1 behind" in ckvd("status", rows.tree.root, "--check", code=3).stdout


def test_the_one_line_says_that_something_is_wrong(ckvd: Ckvd, rows: Rows) -> None:
    rows.tree.write({"ckv.yaml": "chunking: nonsense\n"})
    assert ckvd("status", rows.tree.root, "--check", code=3).stdout.endswith(" · 1 error\n")


def test_one_file_is_one(ckvd: Ckvd, tree: Tree) -> None:
    made = Rows(tree)
    made.clean("a.py", "one")
    made.store()
    assert ckvd("status", tree.root, "--short").stdout.startswith("ckvd stopped · 1 file · ")


def test_the_one_line_walks_no_tree_without_an_index(ckvd: Ckvd, folder: Tree) -> None:
    """A prompt asks in any folder, the root of the file system too."""
    folder.write({"a.py": "x = 1\n"})
    assert ckvd("status", folder.root, "--short").stdout == "ckvd stopped · no index\n"
    assert ckvd("status", folder.root, "--check", code=3).stdout == "ckvd stopped · no index\n"


def test_a_tree_without_an_index_is_no_error(ckvd: Ckvd, folder: Tree) -> None:
    folder.write({"a.py": "x = 1\n"})
    assert "'ckvd index' builds it" in ckvd("status", folder.root).stdout
    assert "'ckvd index' builds it" in ckvd("status", folder.root, "--failures").stdout
    assert [p.name for p in folder.root.iterdir()] == ["a.py"]


def test_a_file_that_is_no_database_is_one_plain_line(ckvd: Ckvd, tree: Tree, tmp_path: Path) -> None:
    db = tmp_path / "other.db"
    db.write_bytes(b"not a database, only some text that is long enough\n" * 50)
    done = ckvd("status", tree.root, "--db", str(db), code=1)
    assert done.stdout == ""
    assert re.fullmatch(r"ckvd: the database .*other\.db is damaged .*\n", done.stderr)
    assert db.read_bytes().startswith(b"not a database")


def test_a_terminal_gets_colour(ckvd: Ckvd, rows: Rows) -> None:
    command = [ckvd.executable, "status", str(rows.tree.root)]
    assert "\x1b[" in on_terminal(command, 80)
    assert "\x1b" not in on_terminal(command, 80, NO_COLOR="1")


def test_a_width_of_nothing_is_one_that_is_not_known(ckvd: Ckvd, rows: Rows) -> None:
    env = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
    told = ckvd("status", rows.tree.root, "--failures", env=env).stdout
    assert ckvd("status", rows.tree.root, "--failures", env=env | {"COLUMNS": "0"}).stdout == told
    shown = on_terminal([ckvd.executable, "status", str(rows.tree.root)], 80, COLUMNS="0", LINES="0")
    assert "python" in shown


def test_a_file_that_breaks_is_named_until_it_is_mended(ckvd: Ckvd, tree: Tree) -> None:
    whole = "def before():\n    return 1\n\n\ndef after():\n    return 2\n"
    tree.write({"app/a.py": whole, "app/b.py": "x = 1\n"})
    tree.commit()

    def told() -> dict[str, Any]:
        ckvd("sync", tree.root)
        document: dict[str, Any] = json.loads(ckvd("status", tree.root, "--json", "--failures").stdout)
        return document

    with ckvd.daemon(tree.root) as process:
        first = told()
        assert (first["state"], first["pid"], first["failures"]) == ("watching", process.pid, [])
        assert first["head"]["commit"] == tree.git("rev-parse", "HEAD")
        assert first["files"]["total"] == first["files"]["by_parse_status"]["ok"] == 2
        assert ckvd("status", tree.root, "--check").stdout.startswith("ckvd watching")
        tree.write({"app/a.py": whole.replace("return 1", "return (1")})
        broken = told()
        (failure,) = broken["failures"]
        assert (failure["path"], failure["reason"]) == ("app/a.py", "syntax-errors")
        assert failure["parse_status"] in ("partial", "failed")
        assert failure["source"] == whole.replace("return 1", "return (1").split("\n")[failure["line"] - 1]
        assert broken["directories"][0]["path"] == "app"
        assert "app/a.py" in ckvd("status", tree.root, "--failures").stdout
        tree.write({"app/a.py": whole})
        assert told()["failures"] == []
    stopped = json.loads(ckvd("status", tree.root, "--json").stdout)
    assert (stopped["state"], stopped["pid"], stopped["pending"]["files"]) == ("stopped", None, 0)
    assert stopped["since"] is not None


def test_what_was_put_back_is_what_the_remedy_says_to_add(ckvd: Ckvd, tree: Tree) -> None:
    tree.write({"a.go": "package x\n\nfunc A() {\n\tif true {\n\t\tprint(1)\n\n}\n\nfunc B() { print(2) }\n"})
    ckvd("index", tree.root)
    shown = ckvd("status", tree.root, "--failures").stdout
    assert "'}' seems to be missing" in shown
    assert "add the missing '}'" in shown


@pytest.mark.parametrize("name", ["a.c", "a.cpp"])
def test_a_condition_is_not_blamed_for_what_is_wrong_inside(ckvd: Ckvd, tree: Tree, name: str) -> None:
    """The parser gives up the whole of it, from its first line on, and all there but one line is right."""
    tree.write({name: "#ifdef WHOLE\n#define ONE 1\n  }\n#ifdef B\n"})
    ckvd("index", tree.root)
    ((line, detail),) = tree.rows("SELECT error_line, detail FROM failures")
    assert (line, detail.partition(";")[0]) == (3, "line 3, column 3: cannot be parsed from '}'")
    (told,) = json.loads(ckvd("status", tree.root, "--json", "--failures").stdout)["failures"]
    assert (told["line"], told["source"], told["column"]) == (3, "  }", 2)
    assert "3 │   }\n    │   ^\n" in ckvd("status", tree.root, "--failures").stdout


@pytest.mark.parametrize("option", ["--json", "--failures", "--check", "--short"])
def test_watching_is_alone(ckvd: Ckvd, tree: Tree, option: str) -> None:
    told = ckvd("status", tree.root, "--watch", option, code=2)
    assert told.stdout == ""
    assert "--watch" in told.stderr


@pytest.mark.parametrize("options", ["--short --json", "--failures --short", "--check --failures"])
def test_what_excludes_each_other_is_refused(ckvd: Ckvd, tree: Tree, options: str) -> None:
    told = ckvd("status", tree.root, *options.split(), code=2)
    assert told.stdout == ""
    assert all(option in told.stderr for option in options.split())


def test_what_goes_together(ckvd: Ckvd, rows: Rows) -> None:
    line = ckvd("status", rows.tree.root, "--check", "--short").stdout
    assert line.startswith("ckvd stopped · 2 files · 1 unclean")
    told = json.loads(ckvd("status", rows.tree.root, "--check", "--json", "--failures").stdout)
    assert [failure["source"] for failure in told["failures"]] == ["def f(:"]
    (rows.tree.root / "src/a.py").unlink()
    ckvd("status", rows.tree.root, "--check", "--json", code=3)


def test_a_low_window_says_that_there_is_more(ckvd: Ckvd, rows: Rows) -> None:
    command = [ckvd.executable, "status", str(rows.tree.root), "--watch"]
    low = interrupted(command, 80, 8, once="taller window")
    assert re.search(r"… \d+ more lines; a taller window shows them", low)
    assert "taller" not in interrupted(command, 80, 60, once="--failures")


def test_a_daemon_on_a_terminal_says_what_it_keeps(ckvd: Ckvd, folder: Tree) -> None:
    shown = interrupted([ckvd.executable, "run", str(folder.root)], 200, 24, once="Ctrl-C")
    assert shown.replace("^C", "") == f"ckvd keeps {folder.root} in {folder.db}; Ctrl-C ends it\r\n"
