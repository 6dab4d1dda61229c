"""README is run: every query and every command in it, and its tables against what they describe."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click import Group
from support import Ckvd, Tree

from ckvd import languages
from ckvd.cli import cli
from ckvd.config import Config

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
NOT_RUN = ("python3 -m venv", "systemctl", "journalctl", "ckvd service install")
"""Installation (`.ci/run` runs it) and what needs a systemd user manager."""

FILES = {
    "cache.py": '''\
"""Caches."""

import threading


class ShardedLRUCache:
    """Holds a bounded number of entries; the oldest leaves first."""

    def __init__(self, shards: int) -> None:
        self.lock = threading.Lock()
        self.shards = [{} for _ in range(shards)]

    def _evict(self, shard: dict) -> None:
        """Drops the oldest entry."""
        shard.pop(next(iter(shard)))
''',
    "lib/broken.py": "def fine():\n    return 1\n\n\ndef torn(:\n    return (\n",
    "server.go": "package server\n\n// Listen waits.\nfunc Listen(port int) error {\n\treturn nil\n}\n",
    "notes.md": "# Notes\n\nThe oldest entry is evicted.\n",
}
PARAMETERS = {
    "path": "cache.py",
    "line": 15,
    "name": "_evict",
    "prefix": "shard",
    "part": '"evic"',
    "folder": "lib",
    "chunk_id": "cache.py::ShardedLRUCache._evict",
    "words": '"oldest"',
    "revision": 0,
}


def blocks(language: str) -> list[str]:
    """The code blocks of README in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def tables(heading: str) -> list[list[str]]:
    """The cells of all table rows under a heading, without the row that names the columns."""
    section = re.split(r"^#+ ", README.split(f" {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    lines = section.splitlines()
    body = [line for line, before in zip(lines[1:], lines, strict=False) if before.startswith("| ")]
    return [
        re.split(r"(?<!\\) \| ", line.strip("| "))
        for line in body
        if line.startswith("| ") and "---" not in line
    ]


def words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory, ckvd: Ckvd) -> Iterator[Tree]:
    """A small repository under a running daemon."""
    made = Tree(tmp_path_factory.mktemp("readme") / "repo")
    made.write(FILES)
    made.git("init", "--quiet")
    made.commit()
    with ckvd.daemon(made.root):
        ckvd("sync", made.root, "--vectors")
        yield made


@pytest.fixture
def environment(ckvd: Ckvd) -> dict[str, str]:
    return os.environ | {"PATH": f"{os.path.dirname(ckvd.executable)}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.parametrize("query", blocks("sql"))
def test_every_query_answers(indexed: Tree, query: str) -> None:
    with contextlib.closing(sqlite3.connect(f"{indexed.db.as_uri()}?mode=ro", uri=True)) as db:
        db.row_factory = sqlite3.Row
        rows = [dict(row) for row in db.execute(query, PARAMETERS)]
    assert rows
    if "LIMIT 1\n" in query:
        assert rows[0]["symbol"] == "ShardedLRUCache._evict"
    if "FROM failures" in query:
        assert [row["path"] for row in rows] == ["lib/broken.py"]
    if "chunks_fts" in query:
        assert "[oldest]" in rows[0]["excerpt"]


@pytest.mark.parametrize("program", blocks("python"))
def test_every_program_runs(indexed: Tree, environment: dict[str, str], program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=indexed.root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    if "nearest" in program or "nearness" in program:
        assert "cache.py::ShardedLRUCache._evict" in done.stdout.splitlines()


@pytest.mark.parametrize(
    "command", [line for block in blocks("sh") for line in block.splitlines() if not line.startswith(NOT_RUN)]
)
def test_every_command_runs(indexed: Tree, environment: dict[str, str], command: str) -> None:
    if command.startswith("sqlite3") and not shutil.which("sqlite3"):
        pytest.skip("no sqlite3 shell")
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=indexed.root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_the_views_have_the_columns_that_are_described(indexed: Tree) -> None:
    section = README.split("### Views\n", 1)[1].split("\n### ", 1)[0]
    for view, text in re.findall(r"^`(\w+)`:(.*?)(?=^`\w+`:|\Z)", section, re.MULTILINE | re.DOTALL):
        head, *table = text.split("\n| ")
        described = [word for row in table for word in words(row.split(" | ")[0])] or words(head)
        if view == "meta":
            assert {key for (key,) in indexed.rows("SELECT key FROM meta")} >= set(described)
        elif view != "chunks_fts":
            columns = {row[1] for row in indexed.rows(f"PRAGMA table_info({view})")}
            named = {word for word in described if re.fullmatch(r"\w+", word)} - {"ok", "files", "chunks"}
            assert named - columns - {"added", "changed", "moved", "removed"} == set()


def test_the_commands_are_those_that_there_are() -> None:
    described = [words(row[0])[0].split()[1] for row in tables("Commands")]
    actual = [name for name, made in cli.commands.items() if not isinstance(made, Group) or made.commands]
    assert sorted(set(described)) == sorted(actual)


def test_the_keys_of_the_configuration_are_those_that_there_are() -> None:
    shown = {row[0].strip("`"): row[1].strip("`") for row in tables("Configuration")}
    written = {"True": "true", "False": "false", "None": "by model", "()": "[]"}
    actual = {
        f"{section}.{key}": written.get(str(value), str(value))
        for section, keys in dataclasses.asdict(Config()).items()
        for key, value in keys.items()
    }
    assert shown == actual


def test_the_languages_are_those_that_there_are() -> None:
    shown = {row[0]: words(row[1]) for row in tables("Languages")}
    actual = {
        name: [f".{suffix}" for suffix in language.suffixes] + list(language.filenames)
        for name in languages.names()
        if (language := languages.get(name)).parses
    }
    rows = [f"| {name} | {' '.join(f'`{file}`' for file in files)} |" for name, files in actual.items()]
    assert shown == actual, "the table is now:\n" + "\n".join(rows)


def test_links_lead_somewhere() -> None:
    root = Path(__file__).parents[2]
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (root / link).exists()] == []
