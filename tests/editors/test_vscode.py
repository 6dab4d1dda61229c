"""The VS Code extension in Node: its reader alone, and the whole of it against a stand-in for `vscode`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from index_states import FILES, KINDS, UNREADABLE, break_names, in_state
from support import Ckvd, Tree

import ckvd as package

EXTENSION = Path(package.__file__).parent / "editors" / "vscode"
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Node:
    executable: str
    ckvd: str

    def __call__(self, driver: str, tree: Tree, program: str, env: dict[str, str] | None = None) -> Any:
        """What `program` returns."""
        module = EXTENSION / ("reader.js" if driver == "drive_reader.js" else "extension.js")
        done = subprocess.run(
            [self.executable, HERE / driver, module, tree.root, self.ckvd, program],
            env=os.environ | (env or {}),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)

    def reader(self, tree: Tree, program: str, **options: Any) -> Any:
        """`r` is the tree's reader, `made` its module."""
        return self("drive_reader.js", tree, program, **options)

    def extension(self, tree: Tree, program: str, **options: Any) -> Any:
        """Runs once the extension is active. `seen`: what it shows; `answers`: what the user answers."""
        return self("drive_extension.js", tree, program, **options)


@pytest.fixture(scope="session")
def node(ckvd: Ckvd) -> Node:
    found = shutil.which("node")
    if found is None:
        pytest.skip("no node on PATH")
    if shutil.which("sqlite3") is None:
        pytest.skip("no sqlite3 shell")
    return Node(found, ckvd.executable)


NESTED = (
    "const nested = (nodes) => nodes.map((n) => [n.name, nested(n.children)]);"
    "return nested(made.nest((await r.outline('%s')).symbols, ({ name }) => ({ name })))"
)


def test_an_outline_nests(node: Node, base: Tree) -> None:
    found = node.reader(base, NESTED % "src/cache.py")
    assert found == [["ShardedLRUCache", [["__init__", []], ["_evict", []]]]]


def test_an_outline_of_a_file_with_an_odd_name(node: Node, base: Tree, root: Path) -> None:
    found = node.reader(in_state(base, root, "stopped"), NESTED % "src/it\\'s odd.py")
    assert found == [["größe", []], ["after_größe", []]]


def test_symbols_by_name(node: Node, base: Tree) -> None:
    queries = ["evict", "_ev", "_e", "EVICT", " evi ict "]
    answers = node.reader(base, f"return await Promise.all({json.dumps(queries)}.map((q) => r.symbols(q)))")
    for found in answers:
        assert [(s["path"], s["symbol"], s["name_line"], s["name_column"]) for s in found] == [
            ("src/cache.py", "ShardedLRUCache._evict", 10, 8)
        ]


def test_no_query_breaks_out(node: Node, base: Tree) -> None:
    queries = ["o'ne\" \\%", "'; DROP TABLE file; --", 'x" OR name:"y', "((("]
    queries += ["...", "", "  ", "a\0b", ":path"]
    program = f"return await Promise.all({json.dumps(queries)}.map((q) => r.symbols(q)))"
    assert node.reader(base, program) == [[]] * len(queries)


def test_searching(node: Node, base: Tree) -> None:
    found = node.reader(base, """return await r.search("--drop the oldest 'entry'")""")
    assert found["results"][0]["symbol"] == "ShardedLRUCache._evict"


def test_failures_and_what_they_are_true_of(node: Node, base: Tree) -> None:
    found = node.reader(base, "return await r.failures()")
    (failure,) = found["failures"]
    assert (failure["path"], failure["line"]) == ("broken.py", 5)
    assert "')' is missing" in failure["detail"]
    assert (found["meta"]["revision"], found["meta"]["head_commit"]) == (1, base.git("rev-parse", "HEAD"))


@pytest.mark.parametrize(("state", "fresh"), [("stopped", [True, None]), ("stale", [False, None])])
def test_whether_a_file_is_fresh(node: Node, base: Tree, root: Path, state: str, fresh: list[Any]) -> None:
    program = "return [await r.isFresh('src/cache.py'), await r.isFresh('no.py')]"
    assert node.reader(in_state(base, root, state), program) == fresh


def test_what_changed_since(node: Node, base: Tree, root: Path, ckvd: Ckvd) -> None:
    tree = in_state(base, root, "stale")
    ckvd("index", tree.root)
    program = """
      const { meta } = await r.failures();
      const since = async (revision, epoch) => (await r.changedSince({ revision, epoch })).paths;
      return [await since(1, meta.epoch), await since(2, meta.epoch), await since(1, "another")];
    """
    assert node.reader(tree, program) == [["src/cache.py"], [], None]


@pytest.mark.parametrize("state", UNREADABLE)
def test_an_index_that_cannot_be_read_is_said(node: Node, base: Tree, root: Path, state: str) -> None:
    tree = in_state(base, root, state)
    said = node.reader(tree, "return await r.outline('broken.py')")
    assert said["kind"] == KINDS.get(state, state)
    assert UNREADABLE[state] in said["message"]
    found = node.reader(tree, "return await r.search('evict')")
    assert found["kind"] == "other"
    assert "index.db" in found["message"]


def test_a_full_text_index_that_cannot_be_opened_is_damage(node: Node, base: Tree, root: Path) -> None:
    tree = in_state(base, root, "stopped")
    break_names(tree)
    said = node.reader(tree, "return await r.symbols('evict')")
    assert (said["kind"], "run ckvd index" in said["message"]) == ("damaged", True)


def test_without_the_sqlite3_shell(node: Node, base: Tree, tmp_path: Path) -> None:
    said = node.reader(base, "return await r.failures()", env={"PATH": str(tmp_path)})
    assert (said["kind"], "install the sqlite3 shell" in said["message"]) == ("sqlite3", True)


def test_columns_count_as_the_editor_counts(node: Node, base: Tree) -> None:
    program = "return [0, 1, 3, 7, 8].map((n) => made.utf16Column('aß\\u{1f600}z', n))"
    assert node.reader(base, program) == [0, 1, 2, 4, 5]


def test_the_extension_shows_an_outline(node: Node, base: Tree) -> None:
    program = """
      const [top] = await seen.outline.provideDocumentSymbols(open(`${root}/src/cache.py`));
      const lines = (r) => [r.start.line, r.end.line];
      const shown = (s) => [s.name, s.kind, ...lines(s.range), s.selectionRange.start.character];
      return [shown(top), ...top.children.map(shown)];
    """
    assert node.extension(base, program) == [
        ["ShardedLRUCache", 4, 3, 11, 6],
        ["__init__", 8, 6, 7, 8],
        ["_evict", 5, 9, 11, 8],
    ]


def test_the_extension_finds_symbols_of_the_workspace(node: Node, base: Tree) -> None:
    program = """
      const [found] = await seen.symbols.provideWorkspaceSymbols("nachher");
      const { range, uri } = (await seen.symbols.resolveWorkspaceSymbol(found)).location;
      return [found.name, range.line, range.character, uri.fsPath];
    """
    line = FILES["web/größe.js"]
    found = node.extension(base, program)
    assert found == ["nachher", 0, line.index("nachher"), str(base.root / "web/größe.js")]


def test_the_extension_shows_failures_and_state(node: Node, base: Tree) -> None:
    program = """
      const [[file, [found]]] = seen.failures;
      return [seen.bar.text, file, found.range.start.line, found.message, found.source];
    """
    text, file, line, message, source = node.extension(base, program)
    assert (text, file, line, source) == ("ckvd r1 stopped", str(base.root / "broken.py"), 4, "ckvd")
    assert "')' is missing" in message


def test_a_problem_stands_at_the_column_of_the_damage(node: Node, tree: Tree, ckvd: Ckvd) -> None:
    """In units of UTF-16, as VS Code counts."""
    source = "def f():\n    return 1\n\n\nx = 'é' )\n"
    tree.write({"a.py": source})
    ckvd("index", tree.root)
    program = "const [[, [found]]] = seen.failures; return [found.range.start, found.message]"
    start, message = node.extension(tree, program)
    line = source.split("\n")[start["line"]]
    column = len(line[: start["character"]].encode()) + 1
    assert message.startswith(f"line {start['line'] + 1}, column {column}: ")
    assert start["character"] > line.index("é")


@pytest.mark.parametrize(("state", "text"), [("stopped", "r1 stopped"), ("stale", "r1 stopped stale")])
def test_the_status_bar_tells_a_stale_file(node: Node, base: Tree, root: Path, state: str, text: str) -> None:
    program = """
      vscode.window.activeTextEditor = { document: open(`${root}/src/cache.py`) };
      await seen.saved();
      return seen.bar.text;
    """
    assert node.extension(in_state(base, root, state), program) == f"ckvd {text}"


def test_the_extension_searches(node: Node, base: Tree) -> None:
    program = """
      answers.input = "drops the oldest entry";
      await seen.commands["ckvd.search"]();
      return [seen.items[0].label, seen.shown];
    """
    assert node.extension(base, program) == [
        "ShardedLRUCache._evict",
        [str(base.root / "src/cache.py"), 9],
    ]


@pytest.mark.parametrize("state", UNREADABLE)
def test_the_extension_says_what_is_wrong(node: Node, base: Tree, root: Path, state: str) -> None:
    program = """
      const outline = await seen.outline.provideDocumentSymbols(open(`${root}/broken.py`));
      await seen.commands["ckvd.status"]();
      return [outline, seen.bar.text, seen.bar.tooltip, seen.said];
    """
    outline, text, tooltip, said = node.extension(in_state(base, root, state), program)
    kind = KINDS.get(state, state)
    assert (outline, text) == ([], f"ckvd {kind}")
    assert UNREADABLE[state] in tooltip
    assert said == [f"ckvd: {tooltip}"]


def test_the_extension_follows_a_daemon(node: Node, base: Tree, root: Path, ckvd: Ckvd) -> None:
    """Mending the file takes its failure away at the next look."""
    tree = in_state(base, root, "stopped")
    mended = FILES["broken.py"].split("def torn")[0]
    program = f"""
      require("node:fs").writeFileSync(`${{root}}/broken.py`, {json.dumps(mended)});
      const file = `${{root}}/broken.py`;
      const text = seen.bar.text;
      while (seen.failures.get(file)?.length !== 0) await new Promise((go) => setTimeout(go, 10));
      return [text, seen.bar.text];
    """
    program = program.replace("require(", "process.mainModule.require(")
    with ckvd.daemon(tree.root):
        assert node.extension(tree, program) == ["ckvd r1", "ckvd r2"]


def test_its_manifest_names_what_it_registers(node: Node, base: Tree) -> None:
    manifest = json.loads((EXTENSION / "package.json").read_text())
    assert (EXTENSION / manifest["main"]).exists()
    registered = node.extension(base, "return Object.keys(seen.commands)")
    assert [command["command"] for command in manifest["contributes"]["commands"]] == registered
