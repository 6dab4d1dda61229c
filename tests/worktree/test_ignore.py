"""The ignore rules, held to `git check-ignore`."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support import Tree

from ckvd.worktree.ignore import Ignore
from ckvd.worktree.wildmatch import parse


def git_ignores(root: Path, paths: Iterable[bytes]) -> set[bytes]:
    """What git says of paths, folders with a slash behind, whether tracked or not."""
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin", "-z"],
        cwd=root,
        input=b"".join(path + b"\0" for path in paths),
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return set(done.stdout.split(b"\0")[:-1])


# Few names and all that is special in patterns, so that rules and paths often meet.
names = st.sampled_from(["a", "b", "ab", "a.b", "A", "a b", "[a]", "!a", "#b", "é", "-", "a\\b", "aa", "b*"])
paths = st.lists(names, min_size=1, max_size=4).map("/".join)
piece = st.one_of(
    names,
    st.sampled_from(
        ["*", "**", "?", "/", "//", "/*", "/**", "**/", "/**/", "*a", "a*", "*.b", "\\*", "\\", "\\ "]
    ),
    st.sampled_from(
        ["[ab]", "[!a]", "[^b]", "[a-b]", "[]a]", "[a", "[[:alpha:]]", "[[:nope:]]", "[[:", "[!-a]"]
    ),
    st.sampled_from(
        ["[\\]a]", "[a\\-b]", "[--0]", "[b-a]", "[[:upper:]b]", "a/**/b", "***", "[/]", "[[a:]b]"]
    ),
)
line = st.builds(
    lambda sign, slash, parts, end: sign + slash + "".join(parts) + end,
    st.sampled_from(["", "", "", "!", "\\!", "\\#", "#"]),
    st.sampled_from(["", "", "/", "**/"]),
    st.lists(piece, min_size=1, max_size=4),
    st.sampled_from(["", "", "/", " ", "\\ ", "  ", "\r", "\t"]),
)
rules = st.lists(line, max_size=5).map(lambda lines: "\n".join(lines))


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[str], dict[str, str]]:
    files = draw(st.lists(paths, min_size=1, max_size=8, unique=True))
    folders = sorted({"", *(f.rpartition("/")[0] for f in files)})
    return files, draw(st.dictionaries(st.sampled_from(folders), rules, min_size=1, max_size=3))


def made(root: Path, files: list[str], ignore_files: dict[str, str]) -> list[bytes]:
    """The tree on disk (a name that is a folder already stays one) and every path in it."""
    for folder in ("objects", "refs", "info"):
        (root / ".git" / folder).mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")  # all that git needs, and no process for it
    for path in files:
        try:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).touch()
        except (NotADirectoryError, FileExistsError, IsADirectoryError):
            continue
    for folder, text in ignore_files.items():
        if (root / folder).is_dir():
            (root / folder / ".gitignore").write_bytes(text.encode())
    found = []
    for folder, folders, names in os.walk(os.fsencode(root)):
        if b".git" in folders:
            folders.remove(b".git")
        below = os.path.relpath(folder, os.fsencode(root))
        found += [os.path.normpath(os.path.join(below, name)) for name in (*folders, *names)]
    return found


@pytest.mark.parametrize("profile", ["quick", pytest.param("thorough", marks=pytest.mark.slow)])
def test_agrees_with_git(profile: str) -> None:
    @settings(
        max_examples=60 if profile == "quick" else 5000,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(trees(), rules, rules)
    @example((["a/x.py", "x.py"], {"": "*.py\n!/a"}), "", "")
    @example((["ab/a/b"], {"": "a**/b"}), "", "")
    @example((["a/b/a"], {"": "/*\n!/a\n/a/*\n!/a/b"}), "", "")
    @example((["a b", "a "], {"": "a\\ \na  "}), "", "")
    def holds(tree: tuple[list[str], dict[str, str]], excludes: str, exclude: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            every = made(root, *tree)
            (root / ".git" / "info" / "exclude").write_bytes(exclude.encode())
            (root / ".git" / "excludes").write_bytes(excludes.encode())
            (root / ".git" / "config").write_text(f"[core]\n\texcludesFile = {root}/.git/excludes\n")
            ignore = Ignore(os.fsencode(root), (b".gitignore",), [excludes.encode(), exclude.encode()])
            ours = {p for p in every if ignore.ignored(p, folder=os.path.isdir(os.fsencode(root) + b"/" + p))}
            assert ours == git_ignores(root, every)

    holds()


def test_a_hostile_pattern_does_not_backtrack() -> None:
    started = time.process_time()
    (many_stars,) = parse(b"*a" * 40 + b"b")
    assert not many_stars.matches(b"a" * 250, b"a" * 250, False)
    (many_folders,) = parse(b"**/a/" * 40 + b"b")
    deep = b"a/" * 400 + b"c"
    assert not many_folders.matches(deep, b"c", False)
    assert time.process_time() - started < 0.5


def test_negation_cannot_reach_below_an_ignored_folder(tree: Tree) -> None:
    tree.write(
        {".gitignore": "out/\n!out/keep.py\nlog/*\n!log/keep.py\n", "out/keep.py": "", "log/keep.py": ""}
    )
    tree.write({"log/drop.py": ""})
    ignore = Ignore(os.fsencode(tree.root), (b".gitignore",))
    assert ignore.ignored(b"out/keep.py")
    assert not ignore.ignored(b"log/keep.py")
    assert ignore.ignored(b"log/drop.py")


def test_later_names_and_nearer_files_win(folder: Tree) -> None:
    folder.write({".gitignore": "*.a\n!b.c\n", ".ckvignore": "b.c\n", "deep/.gitignore": "!x.a\n"})
    ignore = Ignore(os.fsencode(folder.root), (b".gitignore", b".ckvignore"))
    assert ignore.ignored(b"b.c")
    assert ignore.ignored(b"x.a")
    assert not ignore.ignored(b"deep/x.a")


def test_a_symlinked_rule_file_is_not_followed(folder: Tree) -> None:
    folder.write({"rules": "*\n"})
    (folder.root / ".gitignore").symlink_to("rules")
    assert not Ignore(os.fsencode(folder.root), (b".gitignore",)).ignored(b"a.py")
