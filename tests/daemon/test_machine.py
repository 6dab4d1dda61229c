"""A daemon on a real git tree against an index built from nothing, through whatever is done to both.

After each step the daemon's rows must be those of the fresh index: once it was asked to sync, and in the
other half of the histories without asking, in its own time. Between steps it is stopped, started again, held
up, or killed at a random moment. More of it by hand, from a seed that is printed:

    pytest --all -s tests/daemon/test_machine.py --steps 5000 --hypothesis-seed 7
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from equality import differences, faults
from fresh import Fresh, fresh_indexes
from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from support import Tree, find_ckvd
from waiting import wait_until

from ckvd.control import Places, ask

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify and signals")

SOURCES = {
    ".py": "import os\n\nLIMIT = {n}\n\n\nclass K{n}:\n    '''Ünï {n}.'''\n\n    def a(self):\n"
    "        return os.sep\n\n\ndef top{n}(y):\n    return y + LIMIT\n",
    ".go": 'package p\n\nimport "errors"\n\n// Do{n}.\nfunc Do{n}() error {{ return errors.New("{n}") }}\n',
    ".md": "# Títle {n}\n\ntext {n}\n\n## Sub\n\nmore\n",
    ".log": "words {n}\n\nother words\n",
}
ODD = (
    b"",
    b"\x00\x01",
    b"\xff\xfea\x00",
    b"a" * 3000,
    b"\r\ndef z():\r\n    pass\r\n",
    b"\xef\xbb\xbfx = 1\n",
    b"def torn(:\n",
)
PIECES = (b"x", b"\n", b"# a line\n", "é".encode(), "\U0001f642".encode(), b"(", b"def late(): pass\n")
NAMES = ("a", "b", "ü", "line\nbreak", os.fsdecode(b"bad\xff"), "A", "-dash", "sp ace", "[x]", "f1")
FOLDERS = ("d1", "d2", "D1", "out")
RULES = ("*.log\n", "!*.log\n", "/d1/\n", "d2\n", "!d2\n", "a.*\n", "out/*\n!out/b.py\n", "f1*\n", "# none\n")
BRANCHES = ("main", "one", "two")
CONFIGURATIONS = (
    "",
    "index:\n  exclude: ['*.go']\n",
    "chunking:\n  window_chars: 400\n",
    "index:\n  include: ['*.swp', secrets.py]\n  max_file_bytes: 150\n",
    "index:\n  exclud: []\n",
)

pick = st.integers(0, 999)


class Work(RuleBasedStateMachine):
    """Rules that find nothing to work on do nothing."""

    fresh: Fresh
    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp(prefix="ckvd-machine-"))
        self.tree = Tree(self.home / "tree")
        self.root = self.tree.root
        self.root.mkdir()
        self.outside = self.home / "outside"
        self.outside.mkdir()
        self.asks = True
        self.process: subprocess.Popen[bytes] | None = None
        self.log = (self.home / "log").open("ab")

    def teardown(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.home)

    # the daemon

    @initialize(asks=st.booleans(), plain=st.sampled_from((False, False, False, True)))
    def begin(self, asks: bool, plain: bool) -> None:
        self.asks = asks
        self.configure(0)
        for n, suffix in enumerate(SOURCES):
            self.tree.write({f"{FOLDERS[n % 2]}/{NAMES[n]}{suffix}": SOURCES[suffix].format(n=n)})
        if not plain:
            self.tree.git("init", "-q")
            self.tree.commit()
        self.start()

    def start(self) -> None:
        command = [find_ckvd().executable, "run", str(self.root)]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        wait_until(lambda: self.asked("status"), "the daemon", 120)

    def asked(self, op: str) -> dict[str, object] | None:
        return ask(Places(str(self.tree.db)), {"op": op, "vectors": True}, 120)

    @invariant()
    def equals_fresh(self) -> None:
        if self.process is None:
            return
        Work.steps += 1
        assert self.process.poll() is None, (self.home / "log").read_text(errors="replace")
        if self.asks:
            assert self.asked("sync")
        fresh = self.fresh.build(self.root, self.home / "fresh.db")
        wrong: list[str] = []

        def same() -> bool:
            wrong[:] = differences(self.tree.db, fresh)
            return not wrong

        if self.asks:
            assert same(), "\n".join(wrong)
        else:
            try:
                wait_until(same, "the rows of a fresh index", 60)
            except AssertionError as error:
                raise AssertionError("\n".join([str(error), *wrong])) from None
        assert faults(self.tree.db) == []

    @rule()
    def restart(self) -> None:
        assert self.process is not None
        self.process.terminate()
        assert self.process.wait(30) == 0
        self.start()

    @rule(number=pick)
    def kill(self, number: int) -> None:
        """In the middle of taking up changes."""
        assert self.process is not None
        for n in range(4):
            self.create(number + n, number // 7 + n, number)
        time.sleep(number / 4000)  # the moment is the case
        self.process.kill()
        self.process.wait()
        self.edit(number, number, 0)
        self.start()

    @rule(number=pick)
    def hold(self, number: int) -> None:
        """It sleeps through some work."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        self.create(number, number, number)
        self.move_folder(number, number // 3)
        self.edit(number, number // 5, number)
        self.process.send_signal(signal.SIGCONT)

    # files

    def files(self) -> list[Path]:
        found = []
        for folder in self.folders():
            with contextlib.suppress(OSError):
                found += [
                    p for p in folder.iterdir() if p.is_file() and not p.is_symlink() and p.name != "ckv.yaml"
                ]
        return sorted(found)

    def folders(self) -> list[Path]:
        found = []
        for place, below, _ in os.walk(self.root):
            below[:] = [name for name in below if name not in (".git", ".ckvd")]
            found.append(Path(place))
        return sorted(found)

    def file(self, number: int) -> Path | None:
        found = self.files()
        return found[number % len(found)] if found else None

    def folder(self, number: int, *, inner: bool = False) -> Path | None:
        found = self.folders()[inner:]
        return found[number % len(found)] if found else None

    @rule(folder=pick, name=pick, number=pick)
    def create(self, folder: int, name: int, number: int) -> None:
        where = self.folder(folder)
        assert where is not None
        if number % 3 == 0:
            where = where / FOLDERS[number % len(FOLDERS)]
        suffix = sorted(SOURCES)[number % len(SOURCES)]
        path = where / f"{NAMES[name % len(NAMES)]}{suffix}"
        with contextlib.suppress(OSError):  # a file stands where the folder should be
            where.mkdir(exist_ok=True)
            path.write_text(SOURCES[suffix].format(n=number))

    @rule(file=pick, at=pick, piece=pick)
    def edit(self, file: int, at: int, piece: int) -> None:
        if path := self.file(file):
            data = path.read_bytes()
            at %= len(data) + 1
            path.write_bytes(data[:at] + PIECES[piece % len(PIECES)] + data[at:])

    @rule(file=pick, at=pick, byte=st.integers(97, 122))
    def same_size_and_time(self, file: int, at: int, byte: int) -> None:
        if (path := self.file(file)) and (data := bytearray(path.read_bytes())):
            before = path.stat()
            data[at % len(data)] = byte
            path.write_bytes(data)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    @rule(file=pick, content=st.sampled_from(ODD), atomic=st.booleans())
    def replace(self, file: int, content: bytes, atomic: bool) -> None:
        if path := self.file(file):
            target = path.with_name(path.name + ".tmp") if atomic else path
            target.write_bytes(content)
            target.replace(path)

    @rule(file=pick, folder=pick, name=pick)
    def rename(self, file: int, folder: int, name: int) -> None:
        where = self.folder(folder)
        if (path := self.file(file)) and where:
            with contextlib.suppress(OSError):
                path.replace(where / f"{NAMES[name % len(NAMES)]}{path.suffix}")

    @rule(file=pick)
    def delete(self, file: int) -> None:
        if path := self.file(file):
            path.unlink()

    @rule(folder=pick, name=pick)
    def move_folder(self, folder: int, name: int) -> None:
        if where := self.folder(folder, inner=True):
            target = self.folder(name)
            assert target is not None
            with contextlib.suppress(OSError):  # into itself, or onto one that is not empty
                where.rename(target / FOLDERS[name % len(FOLDERS)])

    @rule(folder=pick, number=pick)
    def move_out(self, folder: int, number: int) -> None:
        if where := self.folder(folder, inner=True):
            with contextlib.suppress(OSError):
                where.rename(self.outside / str(number))

    @rule(number=pick, folder=pick, name=pick)
    def move_in(self, number: int, folder: int, name: int) -> None:
        away, where = sorted(self.outside.iterdir()), self.folder(folder)
        if away and where:
            with contextlib.suppress(OSError):
                away[number % len(away)].rename(where / FOLDERS[name % len(FOLDERS)])

    @rule(folder=pick)
    def delete_folder(self, folder: int) -> None:
        if where := self.folder(folder, inner=True):
            shutil.rmtree(where)

    @rule(
        file=pick, name=pick, kind=st.sampled_from(("link", "folder link", "dangling", "fifo", "hard link"))
    )
    def odd_file(self, file: int, name: int, kind: str) -> None:
        where = self.folder(name)
        path = self.file(file)
        if not where or not path:
            return
        target = where / f"odd{name % 5}.py"
        with contextlib.suppress(FileExistsError):
            if kind == "fifo":
                os.mkfifo(target)
            elif kind == "hard link":
                if self.asks:  # a write through one name tells nothing of the other: only a scan sees it
                    os.link(path, target)
            else:
                to = {"link": path, "folder link": path.parent, "dangling": Path("nowhere")}[kind]
                target.symlink_to(to)

    @rule(file=pick, mode=st.sampled_from((0o600, 0o644, 0o755)))
    def chmod(self, file: int, mode: int) -> None:
        if path := self.file(file):
            path.chmod(mode)

    # rules

    @rule(
        folder=pick,
        name=st.sampled_from((".gitignore", ".gitignore", ".ckvignore")),
        text=st.sampled_from(RULES),
    )
    def ignore(self, folder: int, name: str, text: str) -> None:
        where = self.folder(folder)
        assert where is not None
        with contextlib.suppress(OSError), (where / name).open("a") as file:
            file.write(text)

    @rule(text=st.sampled_from(RULES))
    def exclude(self, text: str) -> None:
        with contextlib.suppress(OSError):
            (self.root / ".git" / "info" / "exclude").write_text(text)

    @rule(number=st.integers(0, len(CONFIGURATIONS) - 1))
    def configure(self, number: int) -> None:
        # One that is wrong is no configuration for a fresh index, so it only stays for a moment.
        (self.root / "ckv.yaml").write_text("embedding:\n  model: hash\n" + CONFIGURATIONS[number])
        if number == len(CONFIGURATIONS) - 1:
            self.configure(0)

    # git

    def git(self, *arguments: str) -> None:
        """Whatever comes of it."""
        subprocess.run(["git", *arguments], cwd=self.root, capture_output=True, check=False, timeout=60)

    @rule()
    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", "work")

    @rule(file=pick)
    def commit_one(self, file: int) -> None:
        if path := self.file(file):
            self.git("commit", "-qm", "one", "--", str(path))

    @rule(
        branch=st.sampled_from(BRANCHES),
        how=st.sampled_from((("-q",), ("-q", "-f"), ("-q", "-B"), ("-q", "--detach"))),
    )
    def switch(self, branch: str, how: tuple[str, ...]) -> None:
        self.git("checkout", *how, branch)

    @rule()
    def stash(self) -> None:
        self.git("stash", "-q", "-u")

    @rule()
    def pop(self) -> None:
        self.git("stash", "pop", "-q")

    @rule(
        how=st.sampled_from(("--soft", "--mixed", "--hard")),
        to=st.sampled_from(("HEAD", "HEAD~1", "ORIG_HEAD")),
    )
    def reset(self, how: str, to: str) -> None:
        self.git("reset", "-q", how, to)

    @rule(branch=st.sampled_from(BRANCHES), verb=st.sampled_from(("merge", "rebase", "cherry-pick")))
    def combine(self, branch: str, verb: str) -> None:
        self.git(verb, branch)
        self.git(verb, "--abort")

    @rule(file=pick, command=st.sampled_from((("add", "-f"), ("rm", "-q", "--cached"), ("add", "-N"))))
    def track(self, file: int, command: tuple[str, ...]) -> None:
        if path := self.file(file):
            self.git(*command, "--", str(path))

    @rule(folder=pick)
    def nest(self, folder: int) -> None:
        """Another repository begins or ends in a folder, or in the root."""
        where = self.folder(folder)
        assert where is not None
        inner = where / ".git"
        if inner.is_dir() and where != self.root:
            shutil.rmtree(inner)
        else:
            self.git("init", "-q", str(where))

    @rule()
    def no_repository(self) -> None:
        away = self.home / "away.git"
        with contextlib.suppress(OSError):
            if away.exists():
                away.rename(self.root / ".git")
            else:
                (self.root / ".git").rename(away)


@pytest.fixture(scope="module")
def fresh() -> Iterator[Fresh]:
    with fresh_indexes() as made:
        yield made


@pytest.mark.slow
def test_a_daemon_equals_a_fresh_index_whatever_happens(fresh: Fresh, pytestconfig: pytest.Config) -> None:
    given = pytestconfig.getoption("--hypothesis-seed")
    seed = int(given) if given is not None else random.randrange(2**32)
    Work.fresh, Work.steps = fresh, 0
    while Work.steps < pytestconfig.getoption("--steps"):
        print(f"seed {seed}, {Work.steps} steps so far", flush=True)
        run_state_machine_as_test(
            seeded(seed)(Work),
            settings=settings(
                max_examples=3,
                stateful_step_count=50,
                deadline=None,
                derandomize=False,
                database=None,
                print_blob=False,
                phases=[Phase.generate],  # each step costs a process: what failed is read, not shrunk
                suppress_health_check=list(HealthCheck),
            ),
        )
        seed += 1
    print(f"{Work.steps} steps held", flush=True)
