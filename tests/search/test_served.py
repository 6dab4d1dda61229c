"""Searches over a daemon's socket: what comes is what `Index` finds; else the command goes on alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from search_support import make_index

from ckvd import Index, served
from ckvd.control import Message, Places, Server
from ckvd.served import Searches, ask_daemon

FILES = {
    "a.py": "class Cache:\n    def evict_old(self): ...\n\n    def clear(self): ...\n",
    "b.md": "# Évict\n\nOld.\n",
}


class Daemon:
    """As much of one as answers searches."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.places = Places(str(root / ".ckvd" / "index.db"))
        self.answers = Searches(str(root), self.places.db).answer
        self.asked: list[Message] = []
        self._server = Server(self.places, lambda request: request.answer(self._answer(request.message)))

    def _answer(self, message: Message) -> Message:
        self.asked.append(message)
        return self.answers(message)

    def close(self) -> None:
        self._server.close()


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    monkeypatch.setattr(served, "_WAIT_S", 60.0)  # whatever else this machine does
    make_index(tmp_path, FILES)
    (tmp_path / ".git").mkdir()  # the nearest folder with one is the tree
    daemon = Daemon(tmp_path)
    yield daemon
    daemon.close()


@pytest.mark.parametrize(
    "asked",
    [
        {"query": "evict the old"},
        {"query": "Cache", "k": 1, "mode": "keyword"},
        {"query": "évict", "language": "markdown"},
        {"query": "evict clear", "budget": 60},
        {"query": "evict", "expand": "file", "offset": 0},
        {"query": "\udcff evict", "path": "\udcff*"},
        {"query": "nowhere", "kind": "enum"},
    ],
)
def test_what_comes_is_what_an_index_finds(daemon: Daemon, asked: dict[str, Any]) -> None:
    with Index(daemon.root) as index:
        assert ask_daemon(str(daemon.root), asked) == index.search(**asked)
    assert len(daemon.asked) == 1


@pytest.mark.parametrize(
    "asked", [{"query": " "}, {"query": "x", "mode": "vector", "root": 1}], ids=["refused", "not understood"]
)
def test_an_error_is_left_to_the_command(daemon: Daemon, asked: dict[str, Any]) -> None:
    assert ask_daemon(str(daemon.root), asked) is None


def test_another_ckvd_or_another_tree_is_not_believed(daemon: Daemon) -> None:
    message = {"op": "search", "for": ["0.0", str(daemon.root)], "asked": {"query": "evict"}}
    assert "error" in daemon.answers(message)
    daemon.answers = Searches("/elsewhere", daemon.places.db).answer
    assert ask_daemon(str(daemon.root), {"query": "evict"}) is None


@pytest.mark.parametrize(
    "reply", [{"error": "no"}, {"found": {"padding": "x" * (2 << 20)}}], ids=["no", "too long"]
)
def test_a_reply_that_is_none_is_no_answer(daemon: Daemon, reply: Message) -> None:
    daemon.answers = lambda _: reply
    assert ask_daemon(str(daemon.root), {"query": "evict"}) is None


def test_no_answer_in_time(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "_WAIT_S", 0.01)
    searches = Searches(str(daemon.root), daemon.places.db)
    with searches._turn:
        daemon.answers = searches.answer
        assert ask_daemon(str(daemon.root), {"query": "evict"}) is None


def test_without_a_daemon(tmp_path: Path) -> None:
    make_index(tmp_path, FILES, "none")
    assert ask_daemon(str(tmp_path), {"query": "evict"}) is None
    assert ask_daemon(str(tmp_path / "missing"), {"query": "evict"}) is None
