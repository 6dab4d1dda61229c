"""What must hold when much happens at once, and when nothing does. Nothing here ever asks for a sync.

    python tests/bench/storms.py [stopped] [switches] [folders] [starts] [idle] [--scale 1.0] [--idle-s 600]

`stopped`: the daemon sleeps (SIGSTOP) through 60,000 events. `switches`: 5 of 3,000 files. `folders`: 200
made in a burst, with files in them. `starts`: 20 times two daemons at once. `idle`: 10 minutes on a dirty
tree, with an editor's litter and readers about. Each says what it found and how long the rows took, as a
ratio to the same tree indexed from nothing; the exit code is 1 if anything differs from that index.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from equality import differences, faults
from support import Ckvd, Tree, find_ckvd

from ckvd.control import Places, ask

GIVE_UP_S = 600.0
IDENTITY = ("-c", "user.name=b", "-c", "user.email=b@example.org")


class Storms:
    def __init__(self, where: Path, scale: float, idle_s: float) -> None:
        self.where, self.scale, self.idle_s = where, scale, idle_s
        self.ckvd: Ckvd = find_ckvd()
        self.bad = 0

    def tree(self, name: str) -> Tree:
        tree = Tree(self.where / name)
        tree.root.mkdir()
        tree.git("init", "--quiet", "--initial-branch", "main")
        tree.write({"ckv.yaml": "embedding:\n  model: none\n", ".gitignore": "*.db*\n"})
        return tree

    def many(self, number: int) -> int:
        return max(1, round(number * self.scale))

    @contextlib.contextmanager
    def daemon(self, tree: Tree) -> Iterator[subprocess.Popen[bytes]]:
        with self.ckvd.daemon(
            tree.root, wait=lambda: until(lambda: live(tree).get("state") == "watching")
        ) as p:
            yield p

    def settle(self, tree: Tree, what: str) -> None:
        """Waits for the rows of a fresh index, and says how long they took after now."""
        began = time.monotonic()
        fresh = self.where / "fresh.db"
        for old in self.where.glob("fresh.db*"):
            old.unlink()
        self.ckvd("index", str(tree.root), "--db", str(fresh), timeout=GIVE_UP_S)
        alone = time.monotonic() - began
        wrong = differences(tree.db, fresh)
        at_once = not wrong
        while wrong and time.monotonic() - began < GIVE_UP_S:
            time.sleep(0.2)
            wrong = differences(tree.db, fresh)
        took = time.monotonic() - began
        wrong += faults(tree.db)
        self.bad += bool(wrong)
        ratio = "no longer than" if at_once else f"{took / alone:.1f} times as long as"
        files = tree.rows("SELECT count(*) FROM files")[0][0]
        said = "; ".join(wrong) or "equal to a fresh index"
        print(f"{what}: {said}; {files} files, {ratio} an index from nothing ({alone:.1f} s)", flush=True)

    # the storms

    def stopped(self) -> None:
        tree = self.tree("stopped")
        tree.write({f"d{n % 40}/m{n}.py": source(n) for n in range(self.many(2000))})
        commit(tree)
        with self.daemon(tree) as process:
            process.send_signal(signal.SIGSTOP)
            made = 0
            for n in range(self.many(17_000)):
                # In folders that are watched: created, written, closed, and half of them deleted.
                path = tree.root / f"d{n % 40}" / f"n{n}.py"
                path.write_text(source(n) if n % 10 == 0 else "#\n")
                made += 3
                if n % 2:
                    path.unlink()
                    made += 1
                if n % 100 == 0:
                    tree.write({f"d{n % 40}/deep{n}/er/m.py": source(n)})
            process.send_signal(signal.SIGCONT)
            self.settle(tree, f"stopped through {made} events")
            print(f"  overflows made good: {live(tree)['watch']['overflows']}")

    def switches(self) -> None:
        tree = self.tree("switches")
        number = self.many(3000)
        tree.write({f"d{n % 60}/m{n}.py": source(n) for n in range(number)})
        commit(tree)
        tree.git("checkout", "-q", "-b", "two")
        tree.write({f"d{n % 60}/m{n}.py": source(n + 10**6) for n in range(number)})
        commit(tree)
        with self.daemon(tree):
            was = revision(tree)
            began = time.monotonic()
            for branch in ("main", "two", "main", "two", "main"):
                tree.git("checkout", "-q", branch)
            git = time.monotonic() - began
            self.settle(tree, f"5 switches of {number} files in {git:.1f} s")
            print(f"  revisions: {revision(tree) - was}; overflows {live(tree)['watch']['overflows']}")

    def folders(self) -> None:
        tree = self.tree("folders")
        tree.write({"a.py": source(0)})
        commit(tree)
        with self.daemon(tree):
            number = self.many(200)
            for n in range(number):
                tree.write({f"x{n}/y/z/m{k}.py": source(n) for k in range(5)})
            self.settle(tree, f"{number} folders in a burst, three deep, 5 files each")

    def starts(self) -> None:
        tree = self.tree("starts")
        tree.write({f"m{n}.py": source(n) for n in range(30)})
        commit(tree)
        ran = refused = other = 0
        for _ in range(self.many(20)):
            command = [self.ckvd.executable, "run", str(tree.root)]
            both = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
            until(lambda both=both: any(p.poll() is not None for p in both) and live(tree))
            for process in both:
                if process.poll() is None:
                    ran += 1
                    process.kill() if ran % 2 else process.terminate()
                    process.wait()
                else:
                    said = process.stderr.read().decode() if process.stderr else ""
                    named = "already writing" in said and said.count("\n") == 1 and process.returncode == 1
                    refused += named
                    other += not named
                if process.stderr:
                    process.stderr.close()
        self.bad += ran != refused or bool(other)
        print(
            f"{ran} double starts: {ran} ran, {refused} were refused by name, {other} ended otherwise",
            flush=True,
        )
        with self.daemon(tree):
            self.settle(tree, "after the starts, half of them ended by kill -9")

    def idle(self) -> None:
        tree = self.tree("idle")
        tree.write({f"d{n % 20}/m{n}.py": source(n) for n in range(self.many(1000))})
        commit(tree)
        tree.write({"d0/m0.py": source(5), "d1/untracked.py": source(6), "d2/m2.py": source(7)})
        tree.git("add", "d2/m2.py")
        tree.write({"d2/m2.py": source(8)})
        litter = [tree.root / "d3" / name for name in (".m3.py.swp", "m3.py~", "#m3.py#", ".#m3.py")]
        with self.daemon(tree) as process:
            self.settle(tree, "a dirty tree")
            time.sleep(40)  # past the first upkeep
            was, size, cpu, began = revision(tree), wal(tree), used(process.pid), time.monotonic()
            while time.monotonic() - began < self.idle_s:
                # An editor that is open: its swap file grows now and then, a lock comes and goes, it reads.
                for path in litter:
                    if path.name.startswith(".#"):
                        path.unlink(missing_ok=True)
                        path.symlink_to("user@host.1:2")
                    else:
                        path.write_bytes(os.urandom(512))
                (tree.root / "d3" / "m3.py").read_bytes()
                tree.git("status", "--short")
                tree.rows("SELECT count(*) FROM symbols")
                time.sleep(10)
            share = (used(process.pid) - cpu) / (time.monotonic() - began)
            made = revision(tree) - was
            self.bad += bool(made) or share >= 0.001
            grown = wal(tree) - size
            print(
                f"idle for {self.idle_s:.0f} s: {made} revisions, {share:.3%} of a CPU, log {grown:+} bytes"
            )


def source(n: int) -> str:
    return f"def f{n}(x):\n    return x + {n}\n\n\nclass K{n}:\n    limit = {n}\n"


def commit(tree: Tree) -> None:
    tree.git("add", "--all")
    tree.git(*IDENTITY, "commit", "--quiet", "--message", "work")


def live(tree: Tree) -> dict[str, object]:
    return ask(Places(str(tree.db)), {"op": "status"}, 60) or {}


def revision(tree: Tree) -> int:
    return int(tree.rows("SELECT value FROM meta WHERE key = 'revision'")[0][0])


def wal(tree: Tree) -> int:
    path = Path(f"{tree.db}-wal")
    return path.stat().st_size if path.exists() else 0


def until(condition: Callable[[], object]) -> None:
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > GIVE_UP_S:
            sys.exit("it never came")
        time.sleep(0.02)


def used(pid: int) -> float:
    """CPU seconds of a process and all below it, those that ended included."""
    total = 0.0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            own = int(stat.parent.name)
            if own == pid:
                total += sum(map(int, fields[11:15]))
            elif int(fields[1]) == pid:
                total += sum(map(int, fields[11:13]))
    return total / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    every = ("stopped", "switches", "folders", "starts", "idle")
    parser.add_argument("which", nargs="*", choices=(*every, []), metavar="WHICH")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--idle-s", type=float, default=600.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ckvd-bench-") as folder:
        storms = Storms(Path(folder), given.scale, given.idle_s)
        for which in given.which or every:
            getattr(storms, which)()
    sys.exit(bool(storms.bad))


if __name__ == "__main__":
    main()
