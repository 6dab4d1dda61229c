"""Keeps every test away from the user's own state, and hands out what `support` holds."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from support import Ckvd, Tree, find_ckvd

_HOME = pytest.StashKey[tempfile.TemporaryDirectory[str]]()
_GITCONFIG = """\
[user]
	name = Tester
	email = tester@example.org
[init]
	defaultBranch = main
[commit]
	gpgSign = false
[core]
	hooksPath = /dev/null
[protocol "file"]
	allow = always
"""
_SCRUBBED = ("GIT_", "XDG_", "CKVD_", "SYSTEMD_")
_UNSET = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "INVOCATION_ID", "DBUS_SESSION_BUS_ADDRESS")
_UNSET_OUTPUT = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "COLUMNS", "LINES")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run the slow tests too")
    parser.addoption("--steps", type=int, default=300, help="how long the state machines work")


def pytest_configure(config: pytest.Config) -> None:
    """Before any test module is imported: libgit2 reads HOME when it is loaded."""
    # A busy machine is no failure. A merge sees the same examples again, a developer new ones.
    settings.register_profile(
        "ckvd",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize=bool(os.environ.get("CI")),
    )
    settings.load_profile("ckvd")
    home = config.stash[_HOME] = tempfile.TemporaryDirectory(prefix="ckvd-home-")
    for name in list(os.environ):
        if name.startswith(_SCRUBBED) or name in _UNSET or name in _UNSET_OUTPUT:
            del os.environ[name]
    root = Path(home.name)
    (root / ".gitconfig").write_text(_GITCONFIG)
    (root / "run").mkdir(mode=0o700)
    os.environ |= {
        "HOME": home.name,
        "XDG_CACHE_HOME": str(root / ".cache"),
        "XDG_CONFIG_HOME": str(root / ".config"),
        "XDG_DATA_HOME": str(root / ".local" / "share"),
        "XDG_STATE_HOME": str(root / ".local" / "state"),
        "XDG_RUNTIME_DIR": str(root / "run"),
        "GIT_CONFIG_GLOBAL": str(root / ".gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
        "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
        "LC_ALL": "C.UTF-8",
        "TERM": "dumb",
    }


def pytest_unconfigure(config: pytest.Config) -> None:
    if _HOME in config.stash:
        config.stash[_HOME].cleanup()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--all") or "slow" in config.getoption("markexpr"):
        return
    skip = pytest.mark.skip(reason="slow: run with --all or -m slow")
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(skip)


@pytest.fixture
def folder(tmp_path: Path) -> Tree:
    """An empty folder outside git."""
    root = tmp_path / "folder"
    root.mkdir()
    return Tree(root)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """An empty git worktree on an unborn `main`."""
    root = tmp_path / "tree"
    root.mkdir()
    made = Tree(root)
    made.git("init", "--quiet")
    return made


@pytest.fixture(scope="session")
def ckvd() -> Ckvd:
    """The installed command; `ckvd.daemon(root)` runs it as the daemon."""
    return find_ckvd()
