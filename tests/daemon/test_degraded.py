"""A daemon that the system does not tell everything: it says so, looks by itself, and recovers live."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import Ckvd, Tree
from waiting import wait_until

from ckvd.control import Places, ask


def namespaces(*kinds: str) -> bool:
    done = subprocess.run(["unshare", "-Ur", *kinds, "true"], capture_output=True, check=False)
    return done.returncode == 0


pytestmark = [
    pytest.mark.skipif(sys.platform != "linux" or not namespaces("-m"), reason="no user namespaces here"),
    pytest.mark.slow,
]


def watch(tree: Tree) -> dict[str, Any]:
    """How the daemon watches, as `status` has it."""
    live = ask(Places(str(tree.db)), {"op": "status"}, 30)
    return dict(live["watch"]) if live is not None and live["state"] == "watching" else {}


def symbols(tree: Tree) -> set[str]:
    return {symbol for (symbol,) in tree.rows("SELECT symbol FROM symbols")}


@contextlib.contextmanager
def shell(tree: Tree, script: str, *unshare: str) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a script in namespaces of its own; `step` makes it wait for a line of input."""
    prelude = "step() { read -r _; }\n"
    command = ["unshare", "-Ur", *unshare, "bash", "-euc", prelude + script, "bash", str(tree.root)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) == 0, process.stderr.read().decode() if process.stderr else ""
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # the daemon with its shell
            process.wait()
        for pipe in (process.stdin, process.stderr):
            if pipe is not None:
                pipe.close()


def go_on(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.flush()


@pytest.mark.parametrize(
    ("limit", "number", "mode"),
    [("max_inotify_watches", 20, "events and polling"), ("max_inotify_instances", 0, "polling")],
)
def test_limits_are_bridged_named_and_left_when_raised(
    tree: Tree, ckvd: Ckvd, limit: str, number: int, mode: str
) -> None:
    tree.write({f"d{n}/m.py": f"def f{n}(): pass\n" for n in range(1, 61)})
    tree.write({".gitignore": "node_modules/\n"} | {f"node_modules/p{n}/i.js": "" for n in range(50)})
    tree.commit()
    script = f"""
        echo {number} > /proc/sys/user/{limit}
        {ckvd.executable} run "$1" & daemon=$!
        step
        echo 10000 > /proc/sys/user/{limit}
        step || true
        kill $daemon; wait $daemon
    """
    with shell(tree, script) as process:
        wait_until(lambda: watch(tree), "the daemon", 120)
        found = watch(tree)
        assert found["mode"] == mode
        assert limit.replace("max_inotify", "fs.inotify.max_user") in found["reason"]
        assert found["watches"] <= number
        said = ckvd("status", str(tree.root)).stdout
        assert limit.replace("max_inotify", "fs.inotify.max_user") in " ".join(said.split())
        assert len(symbols(tree)) == 60
        tree.write({"d60/m.py": "def changed_60(): pass\n", "d61/new.py": "def in_new_dir(): pass\n"})
        wait_until(lambda: {"changed_60", "in_new_dir"} <= symbols(tree), "what is polled", 60)
        (tree.root / "d61").rename(tree.root / "d1" / "moved")
        tree.git("commit", "-qam", "polled")
        wait_until(lambda: ("d1/moved/new.py",) in tree.rows("SELECT path FROM files"), "a move", 60)
        go_on(process)
        wait_until(lambda: watch(tree).get("mode") == "events", "events again", 60)
        assert watch(tree)["reason"] is None
        assert watch(tree)["watches"] < 80  # nothing below node_modules
        tree.write({"d59/deep/er/n.py": "def told(): pass\n"})
        wait_until(lambda: "told" in symbols(tree), "an event")


def test_file_systems_that_are_mounted_and_go(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def a(): pass\n", "data/old.py": "def covered(): pass\n"})
    tree.commit()
    script = f"""
        {ckvd.executable} run "$1" & daemon=$!
        step
        mount -t tmpfs none "$1/data"
        echo 'def mounted(): pass' > "$1/data/new.py"
        step
        mkdir "$1/data/deep"; echo 'def written(): pass' > "$1/data/deep/w.py"
        step
        umount "$1/data"
        step || true
        kill $daemon; wait $daemon
    """
    with shell(tree, script, "-m") as process:
        wait_until(lambda: watch(tree), "the daemon", 120)
        assert symbols(tree) == {"a", "covered"}
        go_on(process)
        wait_until(lambda: symbols(tree) == {"a", "mounted"}, "what is mounted", 60)
        go_on(process)
        wait_until(lambda: symbols(tree) == {"a", "mounted", "written"}, "what is written there")
        go_on(process)
        wait_until(lambda: symbols(tree) == {"a", "covered"}, "what was covered", 60)
        tree.write({"data/later.py": "def later(): pass\n"})
        wait_until(lambda: "later" in symbols(tree), "an event there", 60)


def with_site(tmp_path: Path, code: str) -> dict[str, str]:
    """The environment of a Python that runs `code` when it starts."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(code)
    around = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(tmp_path / "site"), around)))}


@pytest.mark.parametrize("hours", [-1, 9])
def test_a_clock_that_jumps_is_a_reason_to_look(tree: Tree, ckvd: Ckvd, tmp_path: Path, hours: int) -> None:
    """As after sleep. What changed meanwhile has made no event: it was written through a link elsewhere."""
    jumped = tmp_path / "jumped"
    code = f"""
import os, time
real = time.time
time.time = lambda: real() + {hours} * 3600 * os.path.exists({str(jumped)!r})
"""
    tree.write({"a.py": "def a(): pass\n"})
    os.link(tree.root / "a.py", tmp_path / "twin.py")
    with ckvd.daemon(tree.root, env=with_site(tmp_path, code)):
        (tmp_path / "twin.py").write_text("def through_the_twin(): pass\n")
        tree.write({"b.py": "def b(): pass\n"})
        wait_until(lambda: "b" in symbols(tree), "an event")
        assert symbols(tree) == {"a", "b"}
        jumped.touch()
        wait_until(lambda: symbols(tree) == {"through_the_twin", "b"}, "what made no event", 60)


def test_a_file_system_that_sends_no_events(tree: Tree, ckvd: Ckvd, tmp_path: Path) -> None:
    """Its silence is simulated: events are thrown away as they are read."""
    tree.write({"a.py": "def a(): pass\n"})
    tree.commit()
    code = "from ckvd.worktree.watches import Stream\nStream.handle_event = lambda *_: None\n"
    with ckvd.daemon(tree.root, env=with_site(tmp_path, code)):
        wait_until(lambda: watch(tree).get("mode") == "polling", "the finding")
        assert "no events" in watch(tree)["reason"]
        assert "no events" in " ".join(ckvd("status", str(tree.root)).stdout.split())
        tree.write(
            {"a.py": "def a2(): pass\n", "n/n.py": "def n(): pass\n", ".gitignore": "x/\n", "x/x.py": ""}
        )
        wait_until(lambda: symbols(tree) == {"a2", "n"}, "what is polled", 60)
        commit = tree.commit()
        wait_until(lambda: ("head_commit", commit) in tree.rows("SELECT key, value FROM meta"), "HEAD", 60)
