"""Every command that prints a table or a screen, on terminals of several widths, and piped."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from support import Ckvd, Tree
from terminals import on_terminal

from ckvd.report import terminal
from ckvd.report.table import Fitting, Flow
from ckvd.store.metrics import Sample, bucket
from ckvd.store.writer import open_writer

DEEP = "a/folder/that/lies/quite/deep/within/the/tree/and/has/a/long/name/indeed/and-no-place-to-break.py"
WIDE = "名前 = '" + "漢字" * 60 + "' (\n"
HOUR = 1_700_000_000 // 3600 * 3600
# One process for all: importing and loading the model takes far longer than what is looked at here.
RUN = """
import json, sys
from ckvd.cli import main
for command in json.loads(sys.argv[1]):
    print("=== " + command[0][:30])
    try:
        main(command)
    except SystemExit as end:
        assert not end.code, (command, end.code)
    sys.stdout.flush()
"""


@pytest.fixture
def commands(tree: Tree, tmp_path: Path, ckvd: Ckvd) -> list[list[str]]:
    functions = "".join(f"def a_function_of_some_length_{n}():\n    return {n}\n\n\n" for n in range(30))
    tree.write({f"src/m{i}.py": functions for i in range(9)})
    tree.write({DEEP: "def f():\n    return 1\n", DEEP.replace(".py", ".js"): WIDE})
    ckvd("index", tree.root)
    with open_writer(str(tree.db)) as writer:
        slow: Counter[int] = Counter(bucket(ms / 1000) for ms in (10, 12, 123_456))
        writer.record(HOUR, Sample(files=12_345, files_s=1.5, rows=slow, vectors=slow), state=True)
    labelled = tmp_path / "set.jsonl"
    answers = [{"path": "src/m1.py", "lines": [1, 1]}]
    labelled.write_text(json.dumps({"query": "a_function_of_some_length_7", "answers": answers}) + "\n")
    root = str(tree.root)
    return [
        ["status", root],
        ["status", root, "--failures"],
        *(["report", what, root] for what in ("parse", "sizes", "boundaries", "trend")),
        ["languages"],
        ["doctor", root],
        ["eval", str(labelled), "--root", root],
        ["search", "a_function_of_some_length_7", "--root", root],
        ["model", "list", "--root", root],
        ["model", "info", "--root", root],
    ]


def printed(commands: list[list[str]], columns: int) -> list[str]:
    shown = on_terminal([sys.executable, "-c", RUN, json.dumps(commands)], columns)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown).split("\r\n")
    assert sum(line.startswith("=== ") for line in lines) == len(commands), shown
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 80, 120, 200])
def test_nothing_is_wider_than_the_terminal_nor_cut_in_silence(
    commands: list[list[str]], columns: int
) -> None:
    lines = printed(commands, columns)
    assert [line for line in lines if cell_len(line) > columns] == []
    shown = " ".join(" ".join(lines).split())
    for last in ("clean", "share", "over"):  # the columns that matter most, at any width
        assert re.search(rf"\b{last}\b", shown), last
    hour = next(i for i, line in enumerate(lines) if line.startswith("hour"))
    assert re.match(r"11-1\d \d\d:\d\d ", lines[hour + 1])
    assert ("a wider terminal shows more" in shown) == (columns < 120)
    assert "".join(DEEP.split("/")) in re.sub(r"[/\s]", "", " ".join(lines))


@pytest.mark.slow
def test_piped_output_is_plain_and_whole(commands: list[list[str]]) -> None:
    command = [sys.executable, "-c", RUN, json.dumps(commands)]
    # Of `os.environ`, since readline, where it is loaded, has put COLUMNS behind its back.
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "a wider terminal" not in done.stdout
    lines = done.stdout.split("\n")
    assert any(DEEP.rpartition("/")[0] in line and "50.0 %" in line for line in lines)
    assert any(line.startswith("ckvd ") and "watchdog" in line for line in lines)
    assert any(line.startswith("json ") and "Pipfile.lock" in line for line in lines)


def drawn(what: Fitting | Flow, width: int) -> list[str]:
    return terminal.rendered(Console(width=width, color_system=None), [what]).split("\n")[:-1]


def test_columns_stand_closer_and_then_go_and_are_named() -> None:
    table = Fitting(("name", "of all\nfew", "many"), [("a" * 9, "1,234", "567")], spare=("of all\nfew",))
    assert drawn(table, 80) == ["           of all", "name          few  many", "aaaaaaaaa   1,234   567"]
    assert drawn(table, 21) == ["          of all", "name         few many", "aaaaaaaaa  1,234  567"]
    assert drawn(table, 20) == [
        *("name      many", "aaaaaaaaa  567"),
        *("a wider terminal", "shows more: of all", "few"),
    ]


def test_what_has_no_room_at_all_is_marked() -> None:
    lines = drawn(Fitting(("name", "many"), [("abc", "1234567890")]), 8)
    assert max(map(len, lines)) <= 8
    assert any(line.endswith("…") for line in lines)


def test_facts_break_between_facts() -> None:
    facts = Text("one fact · another · 漢字漢字 · and the last of them")
    assert drawn(Flow(facts), 20) == ["one fact · another", "漢字漢字", "and the last of them"]
    assert drawn(Flow(facts), 99) == [str(facts)]
    assert drawn(Flow(Text()), 20) == [""]
