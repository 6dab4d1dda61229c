"""The watcher on real inotify: whatever changes is called dirty, and nothing is waited for with a sleep.

The index of these tests is `Follower`: it must agree with a scan of everything once the watcher is flushed.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from support import Tree
from worktree.follower import LONG_S, Follower, following

import ckvd.worktree.watch as watch_module
from ckvd.worktree.debounce import Dirty

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify")


def run(tree: Tree, script: str) -> None:
    subprocess.run(["bash", "-euc", script], cwd=tree.root, check=True, capture_output=True)


def test_saves_of_all_kinds(tree: Tree) -> None:
    tree.write({"a.py": "one", "d/b.py": "one"})
    tree.commit()
    with following(tree.root) as follower:
        for script in (
            "echo two > a.py",
            "echo three > .a.py.tmp && mv .a.py.tmp a.py",
            "mv a.py a.py~ && echo four > a.py && rm a.py~",
            "echo five >> d/b.py",
            "mv d/b.py d/c.py",
            "rm d/c.py",
            "chmod 000 a.py",
            "touch a.py",
            "ln -s a.py link",
            "mkfifo fifo",
        ):
            run(tree, script)
            follower.check()


def test_folders_made_in_bursts_lose_no_file(tree: Tree) -> None:
    tree.write({"root.py": "root"})
    tree.commit()
    with following(tree.root) as follower:
        run(
            tree,
            "mkdir -p a/b/c/d/e && echo x > a/b/c/d/e/deep.py\n"
            "for i in $(seq 1 200); do mkdir -p burst/x$i/y && echo $i > burst/x$i/y/m.py; done\n"
            "cp -r burst copy; mkdir tmpdir; echo q > tmpdir/q.py; mv tmpdir renamed",
        )
        follower.check()
        assert len(follower.known) == 403
        run(tree, "echo later > a/b/c/d/e/later.py; echo late > burst/x7/y/late.py")
        follower.check()
        assert len(follower.known) == 405


def test_folders_moved_in_about_and_out(tree: Tree, tmp_path: Path) -> None:
    tree.write({"keep.py": "keep"})
    tree.commit()
    outside = Tree(tmp_path / "in")
    outside.write({"pack/a.py": "a", "pack/s/t/b.py": "b"})
    (outside.root / "pack" / "dangling.py").symlink_to("nowhere")
    with following(tree.root) as follower:
        (outside.root / "pack").rename(tree.root / "pack")
        follower.check()
        (tree.root / "pack").rename(tree.root / "pkg")
        follower.check()
        tree.write({"pkg/s/t/b.py": "b2"})
        follower.check()
        assert set(follower.known) == {b"keep.py", b"pkg/a.py", b"pkg/s/t/b.py"}
        (tree.root / "pkg" / "s").rename(tree.root / "s")
        (tree.root / "s").rename(tree.root / "pkg" / "z")
        tree.write({"pkg/z/t/b.py": "b3", "pkg/s/t/new.py": ""})
        follower.check()
        (tree.root / "pkg").rename(tmp_path / "out")
        follower.check()
        assert set(follower.known) == {b"keep.py"}
        before = len(follower.seen)
        (tmp_path / "out" / "a.py").write_text("unseen")
        follower.check()
        assert len(follower.seen) == before


def test_half_a_move_is_told_at_once(tree: Tree, tmp_path: Path) -> None:
    """Nothing waits for the other half, as watchdog does for half a second."""
    tree.write({f"{name}.py": name for name in "abcde"})
    took = []
    with following(tree.root) as follower:
        for name in "abcde":
            (tree.root / f"{name}.py").rename(tmp_path / f"{name}.py")
            started = time.monotonic()
            assert follower.watcher.flush(LONG_S)
            took.append(time.monotonic() - started)
            assert f"{name}.py".encode() in follower.inbox.get_nowait().paths
    assert min(took) < 0.25


def test_reads_and_ignored_writes_tell_nothing(tree: Tree) -> None:
    tree.write(
        {"a.py": "a", ".gitignore": "logs/\n*.gen.py\n/out\n.ckvd\n", "logs/app.py": "", "out/o.py": ""}
    )
    tree.write({"x.gen.py": "", "d/y.gen.py": "", ".ckvd/index.db": ""})
    with following(tree.root) as follower:
        count = follower.watcher.state()["watches"]
        run(
            tree,
            "cat a.py > /dev/null; git status > /dev/null; grep -r a . > /dev/null; touch -a .ckvd\n"
            "for i in $(seq 1 50); do echo $i >> logs/app.py; echo $i > out/o.py; echo $i > x.gen.py; done\n"
            "echo > d/y.gen.py; echo x > .ckvd/index.db-wal; mkdir logs/deeper; echo > logs/deeper/z.py\n"
            "echo swap > .a.py.swp; rm .a.py.swp",
        )
        follower.check()
        assert follower.paths() == set()
        assert follower.watcher.state()["watches"] == count
        run(tree, "git add -f x.gen.py; git commit -qm force")
        follower.eventually("the index is read again")
        run(tree, "echo tracked > x.gen.py")
        follower.eventually("a tracked file counts in spite of the rules")
        assert b"x.gen.py" in follower.known


def test_an_ignored_folder_that_holds_a_tracked_file_is_watched(tree: Tree) -> None:
    tree.write({".gitignore": "out/\n", "out/a/kept.py": "", "out/b/no.py": ""})
    tree.git("add", "-f", "out/a/kept.py")
    with following(tree.root) as follower:
        tree.write({"out/a/kept.py": "changed", "out/b/no.py": "changed"})
        follower.check()
        assert b"out/a/kept.py" in follower.known
        assert b"out/b/no.py" not in follower.paths()


def test_ignore_rules_edited_live(tree: Tree) -> None:
    tree.write({"src/a.py": "a", "gen/g.py": "g", "tmp/t.py": "t", ".gitignore": "/gen/\n"})
    tree.commit()
    with following(tree.root) as follower:
        tree.write({".gitignore": "/tmp/\n", "gen/g.py": "g2", "tmp/t.py": "t2"})
        tree.git("rm", "-q", "--cached", "tmp/t.py")
        follower.eventually("gen is watched")
        assert {b"gen/g.py"} <= set(follower.known)
        assert b"tmp/t.py" not in follower.known
        tree.write({"gen/new.py": ""})
        follower.eventually("a new file in a folder that was ignored")
        (tree.root / ".git" / "info" / "exclude").write_text("src/\nother/\n")
        tree.write({"other/o.py": "", "src/b.py": ""})
        follower.eventually("info/exclude")
        assert b"src/a.py" in follower.known
        assert b"src/b.py" not in follower.known
        tree.write({"gen/.gitignore": "*\n!*.keep.py\n", "gen/z.keep.py": "z"})
        follower.eventually("a nested rule file")
        assert b"gen/z.keep.py" in follower.known
        (tree.root / ".gitignore").unlink()
        follower.eventually("no rule file at the root")
        tree.write({"tmp/t.py": "t3"})
        follower.eventually("tmp is back")
        assert b"tmp/t.py" in follower.known


def test_global_rules_edited_live(tree: Tree, tmp_path: Path) -> None:
    excludes = tmp_path / "excludes"
    excludes.write_text("private/\n")
    tree.git("config", "core.excludesFile", str(excludes))
    tree.write({"a.py": "", "private/p.py": ""})
    with following(tree.root) as follower:
        excludes.write_text("")
        follower.eventually("core.excludesFile is outside the tree")
        tree.write({"private/q.py": ""})
        follower.eventually("the folder is watched")
        assert {b"private/p.py", b"private/q.py"} <= set(follower.known)


def test_nested_repositories_come_and_go(tree: Tree) -> None:
    tree.write({"a.py": "", "nested/deep/n.py": ""})
    with following(tree.root) as follower:
        tree.git("init", "-q", "nested")
        follower.eventually("left out once it is a repository")
        assert set(follower.known) == {b"a.py"}
        tree.write({"nested/deep/n.py": "more"})
        shutil.rmtree(tree.root / "nested" / ".git")
        follower.eventually("in again")
        tree.write({"nested/deep/n.py": "even more"})
        follower.eventually("and watched")
        assert b"nested/deep/n.py" in follower.known


def test_a_folder_with_tracked_files_is_no_other_repository_whatever_it_holds(tree: Tree) -> None:
    tree.write({"nested/deep/tracked.py": "", "nested/deep/new.py": ""})
    tree.git("add", "nested/deep/tracked.py")
    with following(tree.root) as follower:
        tree.git("init", "-q", "nested")
        follower.eventually("still in")
        tree.write({"nested/deep/tracked.py": "edited", "nested/deep/new.py": "edited"})
        follower.check()
        assert set(follower.known) == {b"nested/deep/tracked.py", b"nested/deep/new.py"}
        tree.git("rm", "-qf", "--cached", "nested/deep/tracked.py")
        follower.eventually("out once nothing in it is tracked")
        assert set(follower.known) == set()


def test_git_moves_head(tree: Tree) -> None:
    tree.write({"a.py": "one"})
    tree.commit()
    with following(tree.root) as follower:

        def control_after(*command: str) -> None:
            follower.follow()
            follower.seen.clear()
            tree.git(*command)
            deadline = time.monotonic() + LONG_S
            while not any(dirty.control for dirty in follower.seen):
                assert time.monotonic() < deadline, command
                follower.follow()

        control_after("commit", "-q", "--allow-empty", "-m", "two")
        control_after("checkout", "-q", "-b", "deep/branch")
        follower.eventually("the branch's folder is watched")
        control_after("update-ref", "refs/heads/deep/branch", "HEAD~1")
        control_after("checkout", "-q", "--detach")


def test_switches_back_and_forth(tree: Tree) -> None:
    tree.write({f"m{i}.py": f"m{i}" for i in range(300)} | {"thing.py": "file", "d/x.py": ""})
    tree.commit()
    tree.git("checkout", "-q", "-b", "two")
    run(
        tree,
        "git rm -q m1*.py thing.py; mkdir thing.py; echo > thing.py/inner.py\n"
        "for i in 2 3 4; do echo $i > m$i.py; done",
    )
    tree.commit()
    with following(tree.root) as follower:
        for branch in ("main", "two", "main", "two"):
            tree.git("checkout", "-q", branch)
        follower.check()
        assert b"thing.py/inner.py" in follower.known
        tree.write({"d/x.py": "dirty", "untracked.py": ""})
        tree.git("stash", "-q", "-u")
        follower.check()
        tree.git("stash", "pop", "-q")
        follower.check()


def test_a_queue_that_overflows_calls_everything_dirty(tree: Tree) -> None:
    """The event thread is held up while more events come than the kernel keeps."""
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    held, seen = threading.Event(), threading.Event()
    with following(tree.root) as follower:
        put = follower.inbox.put

        def slow(dirty: Dirty) -> None:
            seen.set()
            assert held.wait(LONG_S)
            put(dirty)

        follower.watcher._source._on_dirty = slow  # type: ignore[union-attr]
        tree.write({"first.py": ""})
        assert seen.wait(LONG_S)
        (tree.root / "new").mkdir()
        for _ in range(limit):  # alternating, since the kernel merges equal neighbours
            os.utime(tree.root / "first.py")
            os.utime(tree.root / "new")
        tree.write({"new/deep/lost.py": "lost"})
        held.set()
        follower.eventually("everything was compared")
        assert any(dirty.everything for dirty in follower.seen)
        assert follower.watcher.state()["overflows"] >= 1
        tree.write({"new/deep/late.py": ""})
        follower.eventually("folders made meanwhile are watched")
        assert b"new/deep/late.py" in follower.known


def test_the_root_goes_away_and_comes_back(tree: Tree, tmp_path: Path) -> None:
    tree.write({"a.py": "", "d/b.py": ""})
    with following(tree.root) as follower:
        tree.root.rename(tmp_path / "away")
        wait_for(lambda: follower.watcher.state()["root_missing"])
        (tmp_path / "away").rename(tree.root)
        wait_for(lambda: not follower.watcher.state()["root_missing"])
        tree.write({"d/c.py": ""})
        follower.eventually("watched again")
        assert set(follower.known) == {b"a.py", b"d/b.py", b"d/c.py"}


def wait_for(condition: object) -> None:
    deadline = time.monotonic() + LONG_S
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.01)


LIMITED = """
import os, sys, threading
from ckvd.config import Config
from ckvd.worktree.exclusions import Exclusions
from ckvd.worktree.git import find_root
from ckvd.worktree.watch import Watcher

root = find_root(os.fsencode(sys.argv[1]))
wanted = {b"d60", b"d61/new.py"}
dirty, done = set(), threading.Event()

def on_dirty(found):
    dirty.update(found.paths)
    below = lambda path: found.everything or any(path == p or path.startswith(p + b"/") for p in dirty)
    if all(map(below, (b"d60/m.py", b"d61/new.py"))):
        done.set()

watcher = Watcher(root.path, Exclusions(root, Config()), on_dirty, poll_s=0.2)
watcher.start()
print(watcher.state(), flush=True)
sys.stdin.readline()
print(done.wait(20), flush=True)
watcher.stop()
"""


def namespaces() -> bool:
    return subprocess.run(["unshare", "-Ur", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not namespaces(), reason="no user namespaces here")
@pytest.mark.parametrize(
    ("limit", "mode", "sysctl"),
    [
        ("max_inotify_watches", "events and polling", "fs.inotify.max_user_watches"),
        ("max_inotify_instances", "polling", "fs.inotify.max_user_instances"),
    ],
)
def test_limits_are_named_and_bridged_by_polling(tree: Tree, limit: str, mode: str, sysctl: str) -> None:
    number = 20 if limit == "max_inotify_watches" else 0
    shell = f'echo {number} > /proc/sys/user/{limit} && exec "$0" -c "$1" "$2"'
    tree.write({f"d{i}/m.py": f"f{i}" for i in range(1, 61)})
    command = ["unshare", "-Ur", "sh", "-c", shell, sys.executable, LIMITED, str(tree.root)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        state = process.stdout.readline()
        assert f"'mode': '{mode}'" in state
        assert sysctl in state
        tree.write({"d60/m.py": "changed_60", "d61/new.py": "in_new_dir"})
        process.stdin.write("\n")
        process.stdin.close()
        assert process.stdout.read().strip() == "True"


def test_a_file_system_that_sends_no_events_is_polled(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    from ckvd.worktree.watches import Stream

    tree.write({".ckvd/x": "", "a.py": ""})
    monkeypatch.setattr(Stream, "handle_event", lambda *_event: None)
    monkeypatch.setattr(watch_module, "_PROBE_S", 0.1)
    follower = Follower(tree.root)
    follower.watcher._probe_file = os.fsencode(tree.root / ".ckvd" / "probe")
    follower.watcher._poll_s = 0.05
    follower.start()
    try:
        assert follower.watcher.state()["mode"] == "polling"
        tree.write({"a.py": "a2", "n.py": "n"})
        follower.eventually("polled")
        assert b"n.py" in follower.known
    finally:
        follower.watcher.stop()


def test_the_larger_a_polled_tree_the_rarer_it_is_polled(tree: Tree) -> None:
    watcher = Follower(tree.root, poll_s=2.0).watcher
    assert watcher.state()["poll_s"] == 2.0
    watcher.polled(0.001)
    assert watcher.state()["poll_s"] == 2.0
    watcher.polled(1.5)
    assert watcher.state()["poll_s"] == 1.5 / watch_module.POLL_SHARE
    watcher.polled(0.001)
    assert watcher.state()["poll_s"] == 2.0


def test_the_probe_sees_events_here_and_leaves_nothing(tree: Tree) -> None:
    tree.write({".ckvd/x": "", "a.py": ""})
    follower = Follower(tree.root)
    follower.watcher._probe_file = os.fsencode(tree.root / ".ckvd" / "probe")
    follower.start()
    follower.watcher.stop()
    assert follower.watcher.state()["mode"] == "events"
    assert os.listdir(tree.root / ".ckvd") == ["x"]


def test_a_folder_that_is_watched_for_two_reasons_stays_so(tree: Tree) -> None:
    """The probe's folder is one of the tree; the `.git` in a submodule is watched for itself as well."""
    tree.write({"a.py": "", "sub/s.py": "", "sub/.gitignore": "*.log\n", "sub/x.log": ""})
    sub = Tree(tree.root / "sub")
    sub.git("init", "-q")
    sub.git("add", ".")
    sub.git("commit", "-qm", "one")
    tree.git("-c", "advice.addEmbeddedRepo=false", "add", "sub")
    follower = Follower(tree.root)
    follower.watcher._probe_file = os.fsencode(tree.root / "index.db.probe")
    follower.start()
    try:
        assert follower.watcher.state()["mode"] == "events"
        tree.write({"a.py": "a2", "sub/s.py": "s2"})
        follower.check()
        sub.git("add", "-f", "x.log")
        follower.eventually("what the submodule's index names")
        sub.write({"x.log": "more"})
        follower.eventually("a file that rules match and the submodule tracks")
        assert b"sub/x.log" in follower.known
        (sub.root / ".git").rename(tree.root / "sub.git")
        follower.eventually("no submodule")
        (tree.root / "sub.git").rename(sub.root / ".git")
        follower.eventually("a submodule again")
        sub.write({"new.py": ""})
        follower.eventually("and watched")
        assert b"sub/new.py" in follower.known
    finally:
        follower.watcher.stop()


def test_flush_from_many_threads(tree: Tree) -> None:
    with following(tree.root) as follower:
        results: list[bool] = []
        threads = [
            threading.Thread(target=lambda: results.append(follower.watcher.flush(LONG_S))) for _ in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [True] * 20


def test_idle_costs_nothing(tree: Tree) -> None:
    tree.write({f"d{i}/m.py": "" for i in range(200)})
    with following(tree.root) as follower:
        follower.follow()
        before = resource.getrusage(resource.RUSAGE_SELF)
        started = time.monotonic()
        assert not threading.Event().wait(2.0)
        after = resource.getrusage(resource.RUSAGE_SELF)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        assert used / (time.monotonic() - started) < 0.01
        assert follower.inbox.empty()
