"""`ckvd mcp` through the SDK's own client over stdio."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from index_states import SAID, build, in_state
from mcp import Client, StdioServerParameters
from support import Ckvd, Tree

from ckvd.mcp import server
from ckvd.place import place

T = TypeVar("T")
TOOLS = {
    "search": {"query": "evict the oldest entry"},
    "show": {"what": "src/cache.py::ShardedLRUCache._evict"},
    "symbols": {"name": "evict"},
    "status": {},
}
"""Each tool that reads, and a call that answers where the index is sound."""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, ckvd: Ckvd) -> Tree:
    return build(tmp_path_factory.mktemp("mcp") / "repo", ckvd)


def session(ckvd: Ckvd, tree: Tree, talk: Callable[[Client], Awaitable[T]]) -> T:
    """What `talk` returns, of one client of one server."""

    async def run() -> T:
        server = StdioServerParameters(command=ckvd.executable, args=["mcp", str(tree.root)])
        async with Client(server, read_timeout_seconds=60) as client:
            return await talk(client)

    return anyio.run(run)


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured answer, which the text repeats for clients that know no other."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return result.content[0].text


def test_every_answer_says_what_it_is_true_of(ckvd: Ckvd, base: Tree) -> None:
    async def talk(client: Client) -> list[dict[str, Any]]:
        return [await ask(client, tool, **arguments) for tool, arguments in TOOLS.items()]

    answers = session(ckvd, base, talk)
    commit = base.git("rev-parse", "HEAD")
    for answer in answers:
        at = answer["at"]
        assert (at["revision"], at["commit"], at["ref"]) == (1, commit, "refs/heads/main")
        assert not at["daemon"]
        assert f"with: ckvd run {base.root}" in at["note"]
    search, show, symbols, status = answers
    hit = search["hits"][0]
    assert hit["matches"][0] == show["chunk_id"] == "src/cache.py::ShardedLRUCache._evict"
    assert (hit["path"], hit["symbol"]) == (
        "src/cache.py",
        "ShardedLRUCache",
    )  # it takes no more than its methods
    assert not hit["changed"]
    assert show["body"] in hit["body"]
    assert [s["symbol"] for s in symbols["symbols"]] == ["ShardedLRUCache._evict"]
    assert status["status"]["state"] == "stopped"
    (failure,) = status["status"]["failures"]
    assert failure["path"] == "broken.py"
    assert "')' is missing" in failure["detail"]


def test_failures_that_were_not_asked_for_are_no_empty_list(ckvd: Ckvd, base: Tree) -> None:
    async def talk(client: Client) -> dict[str, Any]:
        return await ask(client, "status", failures=False)

    assert "failures" not in session(ckvd, base, talk)["status"]


def test_the_tools_describe_themselves(ckvd: Ckvd, base: Tree) -> None:
    async def talk(client: Client) -> tuple[str | None, list[Any]]:
        return client.instructions, (await client.list_tools()).tools

    instructions, tools = session(ckvd, base, talk)
    assert instructions is not None
    assert "`sync`" in instructions
    assert {tool.name for tool in tools} == {*TOOLS, "sync"}
    for tool in tools:
        assert tool.description
        assert tool.annotations.read_only_hint
        assert "at" in tool.output_schema["properties"]


def test_a_stale_index_says_which_files_changed(ckvd: Ckvd, base: Tree, tmp_path: Path) -> None:
    async def talk(client: Client) -> tuple[bool, bool, list[str]]:
        search, show, symbols = [await ask(client, t, **TOOLS[t]) for t in ("search", "show", "symbols")]
        return search["hits"][0]["changed"], show["changed"], symbols["changed"]

    tree = in_state(base, tmp_path / "repo", "stale")
    assert session(ckvd, tree, talk) == (True, True, ["src/cache.py"])


def test_an_index_that_cannot_be_read_is_an_error_until_it_can(
    ckvd: Ckvd, base: Tree, tmp_path: Path
) -> None:
    """One server sees its index vanish, come back damaged, foreign and newer, and at last sound again."""
    tree = in_state(base, tmp_path / "repo", "missing")

    async def talk(client: Client) -> dict[str, list[str]]:
        said = {}
        for state in SAID:
            shutil.rmtree(tree.db.parent, ignore_errors=True)
            other = in_state(base, tmp_path / state, state)
            if other.db.parent.exists():
                other.db.parent.rename(tree.db.parent)
            said[state] = [await refused(client, tool, **arguments) for tool, arguments in TOOLS.items()]
        shutil.rmtree(tree.db.parent)
        shutil.copytree(base.db.parent, tree.db.parent)
        for tool, arguments in TOOLS.items():
            await ask(client, tool, **arguments)
        return said

    for state, answers in session(ckvd, tree, talk).items():
        for said in answers:
            assert SAID[state] in said
            assert "\n" not in said


def test_sync_needs_a_daemon(ckvd: Ckvd, base: Tree) -> None:
    assert "no daemon keeps" in session(ckvd, base, lambda client: refused(client, "sync"))


def test_sync_then_search_sees_what_was_written(ckvd: Ckvd, base: Tree, tmp_path: Path) -> None:
    tree = in_state(base, tmp_path / "repo", "stopped")

    async def talk(client: Client) -> tuple[dict[str, Any], dict[str, Any]]:
        tree.write({"src/new.py": "def freshly_written():\n    return 1\n"})
        synced = await ask(client, "sync", vectors=True)
        return synced["at"], await ask(client, "search", query="freshly_written", path="src")

    with ckvd.daemon(tree.root):
        at, found = session(ckvd, tree, talk)
    assert (at["revision"], at["daemon"], at["note"]) == (2, True, "")
    assert found["at"] == at
    assert found["hits"][0]["path"] == "src/new.py"
    assert not found["hits"][0]["changed"]


def test_the_budget_holds(ckvd: Ckvd, base: Tree) -> None:
    async def talk(client: Client) -> list[dict[str, Any]]:
        return [await ask(client, "search", query="shards", budget=n) for n in (1, 60, 100_000)]

    none, some, whole = session(ckvd, base, talk)
    assert (none["hits"], none["tokens"], none["note"]) == ([], 0, "no hit has room in 1 tokens")
    assert 0 < some["tokens"] <= 60 < whole["tokens"]
    assert {h["chunk_id"] for h in some["hits"]} < {h["chunk_id"] for h in whole["hits"]}
    assert none["total"] == some["total"] == whole["total"]


def test_wrong_questions_are_answered_plainly(ckvd: Ckvd, base: Tree) -> None:
    async def talk(client: Client) -> list[str]:
        return [
            await refused(client, "search", query="  "),
            await refused(client, "show", what="no/such.py:1"),
            await refused(client, "symbols"),
            await refused(client, "symbols", path="no/such.py"),
            await refused(client, "symbols", path="broken.py", name="torn"),
            await refused(client, "search", query="x", k=0),
            await refused(client, "search", query="x", language="klingon"),
            await refused(client, "search", query="x", kind="functions"),
        ]

    empty, nothing, neither, absent, both, bad, unspoken, unkind = session(ckvd, base, talk)
    assert "the query is empty" in empty
    assert "no chunk 'no/such.py:1'" in nothing
    assert neither == both
    assert "is not in the index" in absent
    assert "greater than or equal to 1" in bad
    assert "no language 'klingon'; did you mean kotlin?" in unspoken
    assert "no kind 'functions'; did you mean function? this index has: class, " in unkind


def test_it_ends_with_its_input(ckvd: Ckvd, base: Tree) -> None:
    done = ckvd("mcp", base.root)
    assert (done.stdout, done.stderr) == ("", "")


def test_it_ends_quietly_when_interrupted(ckvd: Ckvd, base: Tree) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([ckvd.executable, "mcp", base.root], text=True, **pipes) as server:
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 1
        server.send_signal(signal.SIGINT)
        _, said = server.communicate(timeout=30)
    assert "Traceback" not in said
    assert server.returncode == 130


def test_the_sdk_is_asked_for_where_it_is_missing(base: Tree) -> None:
    """Blocks the import, as in an installation without the extra."""
    program = (
        "import sys; sys.modules['mcp'] = None; sys.modules['mcp.server'] = None\n"
        f"from ckvd.cli import main; main(['mcp', {str(base.root)!r}])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "ckvd: the SDK of MCP is not installed; run: pip install 'ckvd[mcp]'\n"


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("search", {"querry": "x"}, "search has no argument `querry`; it takes `query`, `k`, "),
        ("search", {}, "it needs `query`, and takes `query`, `k`, "),
        ("search", {"query": "x", "k": 5000}, "`k`: it must be less than or equal to 100, and was 5000"),
        ("search", {"query": ["x"] * 99}, "`query`: it must be a valid string, and was ['x', "),
        ("search", {"query": "x", "mode": "fast"}, "`mode`: it must be 'hybrid', 'keyword' or 'vector'"),
        ("search", {"query": "x", "expand": "all"}, "`expand`: it must be 'class' or 'file'"),
        ("show", {"id": "x"}, "show has no argument `id`; it takes `what`, `whole_file`"),
        ("show", {"what": "x", "whole_file": "perhaps"}, "`whole_file`: it must be a valid boolean"),
        ("symbols", {"limit": 0}, "`limit`: it must be greater than or equal to 1, and was 0"),
        ("status", {"failures": []}, "`failures`: it must be a valid boolean, and was []"),
        ("sync", {"timeout_s": "soon"}, "`timeout_s`: it must be a valid number"),
        ("find", {"query": "x"}, "there is no tool 'find'; the tools are `search`, `show`, "),
    ],
)
def test_arguments_that_do_not_fit_are_one_plain_sentence(
    served: Callable[..., str], tool: str, arguments: dict[str, Any], said: str
) -> None:
    told = served(tool, **arguments)
    assert said in told
    assert "\n" not in told
    assert "pydantic" not in told
    assert len(told) < 300


@pytest.fixture(scope="module")
def served(base: Tree) -> Callable[..., str]:
    """The error text of one call, of a server in this process."""
    made = server.build(place(str(base.root), None))

    def refusal(tool: str, **arguments: Any) -> str:
        async def talk() -> str:
            async with Client(made, read_timeout_seconds=60) as client:
                return await refused(client, tool, **arguments)

        return anyio.run(talk)

    return refusal
