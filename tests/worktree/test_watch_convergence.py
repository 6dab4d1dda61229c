"""Whatever is done to a tree, what follows from events alone ends equal to a scan of everything."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from worktree.follower import following


class Hand:
    """Does one random thing to a tree at a time, as a person, an editor and git would."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.random = random.Random(seed)
        self.git("init", "-q")
        self.git("commit", "-q", "--allow-empty", "-m", "one")
        self.outside = root.parent / "outside"
        self.outside.mkdir()

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.root, capture_output=True, check=False)

    def folders(self) -> list[Path]:
        every = [Path(folder) for folder, _, _ in os.walk(self.root)]
        return [folder for folder in every if ".git" not in folder.parts]

    def files(self) -> list[Path]:
        return [path for folder in self.folders() for path in folder.iterdir() if path.is_file()]

    def name(self) -> str:
        return self.random.choice(["a.py", "b.py", "c.log", "d", "e", "x.py~", "ü.py"])

    def write(self) -> None:
        (self.random.choice(self.folders()) / self.name()).write_text("w" * self.random.randrange(9))

    def edit(self) -> None:
        path = self.random.choice(self.files())
        times = path.stat()
        path.write_text("e" * times.st_size)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def replace(self) -> None:
        path = self.random.choice(self.files())
        path.with_suffix(".tmp").write_text("r")
        path.with_suffix(".tmp").replace(path)

    def deep(self) -> None:
        folder = self.random.choice(self.folders()).joinpath(*(self.name() for _ in range(3)))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "deep.py").write_text("deep")

    def rename(self) -> None:
        self.random.choice(self.files()).replace(self.random.choice(self.folders()) / self.name())

    def move_folder(self) -> None:
        self.random.choice(self.folders()[1:]).rename(self.random.choice(self.folders()) / self.name())

    def move_out(self) -> None:
        self.random.choice(self.folders()[1:]).rename(self.outside / str(self.random.random()))

    def move_in(self) -> None:
        self.random.choice(list(self.outside.iterdir())).rename(self.random.choice(self.folders()) / "in")

    def remove(self) -> None:
        self.random.choice(self.files()).unlink()

    def remove_folder(self) -> None:
        shutil.rmtree(self.random.choice(self.folders()[1:]))

    def link(self) -> None:
        target = self.random.choice([*self.files(), *self.folders(), Path("/nonexistent")])
        (self.random.choice(self.folders()) / self.name()).symlink_to(target)

    def permit(self) -> None:
        self.random.choice(self.files()).chmod(self.random.choice([0o600, 0o644]))

    def ignore(self) -> None:
        rules = ["*.log\n", "!*.log\n", "d/\n", "/e\n", "", "*\n!b.py\n", "!d/\n"]
        (self.random.choice(self.folders()) / ".gitignore").write_text(self.random.choice(rules))

    def exclude(self) -> None:
        (self.root / ".git" / "info" / "exclude").write_text(self.random.choice(["e/\n", "b.py\n", ""]))

    def force(self) -> None:
        self.git("add", "-f", str(self.random.choice(self.files())))

    def untrack(self) -> None:
        self.git("rm", "-q", "--cached", str(self.random.choice(self.files())))

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "work")

    def switch(self) -> None:
        self.git(
            "checkout", "-q", "-b", f"b{self.random.randrange(10**9)}", f"HEAD~{self.random.randrange(3)}"
        )
        self.git("checkout", "-q", "-")

    def stash(self) -> None:
        self.git("stash", "-q", "-u")
        if self.random.random() < 0.5:
            self.git("stash", "pop", "-q")

    def nest(self) -> None:
        folder = self.random.choice(self.folders()[1:])
        if (folder / ".git").exists():
            shutil.rmtree(folder / ".git")
        else:
            self.git("init", "-q", str(folder))

    def act(self) -> None:
        steps: list[Callable[[], None]] = [
            *[self.write, self.deep, self.edit] * 3,
            *(self.replace, self.rename, self.move_folder, self.move_out, self.move_in, self.remove),
            *(
                self.remove_folder,
                self.link,
                self.permit,
                self.ignore,
                self.exclude,
                self.force,
                self.untrack,
            ),
            *(self.commit, self.switch, self.stash, self.nest),
        ]
        try:
            self.random.choice(steps)()
        except (OSError, IndexError):
            return  # nothing there to do it to


@pytest.mark.parametrize("profile", ["quick", pytest.param("thorough", marks=pytest.mark.slow)])
def test_converges(profile: str) -> None:
    @settings(
        max_examples=8 if profile == "quick" else 200,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, 2**32), st.lists(st.integers(1, 15), min_size=1, max_size=6))
    def holds(seed: int, rounds: list[int]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "tree"
            root.mkdir()
            hand = Hand(root, seed)
            with following(root) as follower:
                for count in rounds:
                    for _ in range(count):
                        hand.act()
                    follower.eventually(f"seed {seed}")

    holds()
