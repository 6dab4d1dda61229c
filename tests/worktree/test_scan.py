"""What a scan finds: the cases of public bug reports, each as a script and the paths that must come of it."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import Tree

from ckvd.config import Config, Index
from ckvd.errors import WorktreeError
from ckvd.worktree.git import Repo, find_root
from ckvd.worktree.read import Unreadable, read
from ckvd.worktree.scan import Scan, scan

HELPERS = r"""
py() { mkdir -p "$(dirname "$1")"; printf 'def %s():\n    return "%s"\n' "$2" "${3:-$2}" > "$1"; }
gi() { git init -q -b main "${1:-.}"; }
gc() { git add -A && git commit -qm "${1:-c}"; }
D=$PWD
"""


def sh(root: Path, script: str) -> None:
    subprocess.run(["bash", "-euc", HELPERS + script], cwd=root, check=True, capture_output=True)


def scanned(root: Path, config: Config | None = None, **more: object) -> Scan:
    found = find_root(os.fsencode(root))
    repo = Repo(found) if found.git_dir is not None else None
    return scan(found.path, repo, config or Config(), **more)  # type: ignore[arg-type]


def found(root: Path, config: Config | None = None, **more: object) -> set[str]:
    return {os.fsdecode(path) for path in scanned(root, config, **more).entries}


CASES = {
    # Loops, and links to ancestors and to /
    "symlink-loops": (
        """gi; py real.py real; mkdir -p a/b drive_c dosdevices; ln -s ../.. a/b/up; ln -s . dot
        ln -s a/b/up/a a2
        ln -s / dosdevices/z:; ln -s self self; ln -s loop2 loop1; ln -s loop1 loop2; ln -s /dev/stdout out.py
        ln -s /dev/zero zero.py; ln -s /proc/self/environ env.py; gc; py a/b/late.py late""",
        {"real.py", "a/b/late.py"},
    ),
    # Several names for one file: a hard link is its own file, a link is none
    "symlink-aliases": (
        """gi; printf "# Rules\\n\\nUse tabs.\\n" > AGENTS.md; ln -s AGENTS.md CLAUDE.md; mkdir -p docs src
        ln -s ../AGENTS.md docs/AI.md; py src/core.py core; ln -s src lib; ln src/core.py hard.py; gc""",
        {"AGENTS.md", "src/core.py", "hard.py"},
    ),
    "symlink-outside": (
        """gi; py in.py inside; O="$D.ext"; rm -rf "$O"; mkdir -p "$O/p"; (cd "$O"; py p/secret.py top_secret)
        ln -s "$O/p" vendored; ln -s "$O/p/secret.py" leak.py; ln -s /var/www/not/here gone; gc""",
        {"in.py"},
    ),
    "case-only-rename": (
        """gi; py Widget.py widget; mkdir Sub; py Sub/m.py sub_m; gc
        git mv -f Widget.py widget.py; mv Sub tmp_s && mv tmp_s sub""",
        {"widget.py", "sub/m.py"},
    ),
    "nested-gitignore": (
        """gi; mkdir -p cap/deps core/deps web/.output web/src; echo 'dist/' > .gitignore
        printf '/deps/\\n*.tmp.py\\n' > cap/.gitignore; echo '.output' > web/.gitignore
        py cap/deps/d.py cap_dep
        py core/deps/d.py core_dep; py web/.output/b.py bundle; py web/src/dist/e.py in_dist
        py web/src/s.py s
        py cap/x.tmp.py tmpx; py core/y.tmp.py tmpy""",
        {".gitignore", "cap/.gitignore", "web/.gitignore", "core/deps/d.py", "web/src/s.py", "core/y.tmp.py"},
    ),
    "anchored-patterns": (
        """gi
        printf '/coverage\\nbuild/*.py\\n/docs/**/x.py\\n\\\\#odd.py\\ntrail\\\\ \\n[ab].py\\n' > .gitignore
        py coverage/c.py c; py src/routes/coverage/r.py r; py build/b.py b; py src/build/b2.py b2
        py docs/p/q/x.py x; py '#odd.py' odd; py 'trail ' t; py a.py a; py c.py cc""",
        {".gitignore", "src/routes/coverage/r.py", "src/build/b2.py", "c.py"},
    ),
    "quoted-paths": (
        """gi; git config core.quotepath true; mkdir -p src/中文目录 emoji🙂; py src/中文目录/Bar.py bar
        py 'BOSS血条.py' boss; py emoji🙂/x.py emo; py 'a b/c b/d.py' spaced; gc; py src/中文目录/neu.py neu
        git mv "a b" "ä b" """,
        {"src/中文目录/Bar.py", "BOSS血条.py", "emoji🙂/x.py", "src/中文目录/neu.py", "ä b/c b/d.py"},
    ),
    "branch-switch-file-and-folder": (
        """gi; py a.py one; py thing thing_file; mv thing thing.py; gc; git checkout -qb swap
        git rm -q --cached thing.py; rm thing.py; py thing.py/inner.py inner; gc
        git checkout -q main; git checkout -q swap""",
        {"a.py", "thing.py/inner.py"},
    ),
    "editor-litter": (
        """gi; py a.py a; gc; ln -s "user@host.123:456" .#a.py; printf 'x' > '#a.py#'; echo > .a.py.swp
        printf 'def swp(): pass\\n' > a.py~; touch 4913; echo > a.py___jb_tmp___
        echo > '.~lock.notes.md#'""",
        {"a.py"},
    ),
    "own-files": (
        """gi; py a.py a; mkdir -p .ckvd d/.ckvd; echo x > .ckvd/index.db; echo x > d/.ckvd/y.py
        py d/b.py b""",
        {"a.py", "d/b.py"},
    ),
    "sparse-checkout": (
        """gi; py in/a.py a; py out/b.py b; gc; git sparse-checkout set --cone in""",
        {"in/a.py"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_cases(tmp_path: Path, case: str) -> None:
    script, expected = CASES[case]
    root = tmp_path / "tree"
    root.mkdir()
    sh(root, script)
    assert found(root) == expected
    # Without git, from a plain folder of the same files, too.
    if case not in ("sparse-checkout",):
        sh(root, "rm -rf .git")
        assert found(root) == expected


def test_info_exclude_and_global_excludes(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write({"a.py": "", "b.swp.py": "", "private/p.py": "", "local_x.py": ""})
    (tree.root / ".git" / "info" / "exclude").write_text("local_*.py\n")
    excludes = tmp_path / "excl"
    excludes.write_text("*.swp.py\nprivate/\n")
    config = tmp_path / "gitconfig"
    config.write_text(f"[core]\n\texcludesFile = {excludes}\n")
    with monkeypatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", str(config))
        assert found(tree.root) == {"a.py"}
    home = tmp_path / "home"
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "ignore").write_text("*.swp.py\nprivate/\n")
    with monkeypatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
        assert found(tree.root) == {"a.py"}


def test_repositories_that_git_or_libgit2_refuse_are_indexed_all_the_same(tmp_path: Path) -> None:
    sh(
        tmp_path,
        """for k in worktreeconfig unknown sha256 owner; do mkdir $k; (cd $k; gi; py a.py "a_$k"; gc); done
        (cd worktreeconfig; git config core.repositoryformatversion 1
        git config extensions.worktreeConfig true
         git config --worktree core.sparseCheckout false)
        (cd unknown; git config core.repositoryformatversion 1; git config extensions.fooBar true)
        rm -rf sha256; git init -q -b main --object-format=sha256 sha256; (cd sha256; py a.py a_sha256; gc)
        (cd owner; chown -R 12345 . || true)""",
    )
    for name in ("worktreeconfig", "unknown", "sha256", "owner"):
        assert found(tmp_path / name) == {"a.py"}


def test_odd_heads(tmp_path: Path) -> None:
    sh(
        tmp_path,
        """for r in unborn long detached rebase; do mkdir -p $r; (cd $r; gi; py a.py a); done
        (cd long; gc; git checkout -q -b "$(printf 'feat/%0200d' 7)"); (cd detached; gc
        git checkout -q --detach)
        (cd rebase; gc; git checkout -qb x; py a.py x; gc x; git checkout -q main; py a.py y; gc y
         git checkout -q x; git rebase main >/dev/null 2>&1 || true)
        git clone -q --depth 1 "file://$D/long" shallow; git clone -q --bare long bare.git
        printf 'ref: refs/heads/%b\\n' '\\xb1' > detached/.git/HEAD""",
    )
    for name in ("unborn", "long", "detached", "rebase", "shallow"):
        assert found(tmp_path / name) == {"a.py"}, name
    with pytest.raises(WorktreeError, match="no working tree"):
        find_root(os.fsencode(tmp_path / "bare.git"))


@contextmanager
def not_root(folder: Path) -> Iterator[None]:
    """As a user whom permissions bind, who owns `folder` and can reach it."""
    if os.geteuid() != 0:
        yield
        return
    for place in (folder, *folder.parents[:-2]):
        place.chmod(place.stat().st_mode | 0o011)
    subprocess.run(["chown", "-R", "65534", folder], check=True)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_unreadable_files_and_folders(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    sh(
        tree.root,
        """py good1.py good1; py zgood.py good2; py locked.py locked; py dir/in.py in_dir; py w/o.py o; gc
        py new/untracked.py u; chmod 000 locked.py dir new; chmod 311 w""",
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)  # that of the other tests is not for others to read
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")
    monkeypatch.setenv("HOME", "/nonexistent")
    with not_root(tree.root):
        first = scanned(tree.root)
        locked = read(os.fsencode(tree.root), b"locked.py", 1000)
        reachable = read(os.fsencode(tree.root), b"w/o.py", 1000)
        tree.root.joinpath("dir").chmod(0o755)
        tree.root.joinpath("new").chmod(0o755)
        second = scanned(tree.root)
    assert set(first.entries) == {b"good1.py", b"zgood.py", b"locked.py", b"dir/in.py", b"w/o.py"}
    assert {p: e.problem for p, e in first.entries.items() if e.problem} == {
        b"dir/in.py": "Permission denied"
    }
    assert {note.partition(":")[0] for note in first.notes.values()} == {"dir", "new", "w"}
    assert all("Permission denied" in note and "chmod u+rx" in note for note in first.notes.values()), (
        first.notes
    )
    assert isinstance(locked, Unreadable)
    assert (locked.reason, locked.detail) == ("unreadable", "Permission denied")
    assert not isinstance(reachable, Unreadable)
    assert b"new/untracked.py" in second.entries
    assert second.entries[b"dir/in.py"].problem is None


def test_what_is_no_regular_file_has_no_entry(folder: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write({"a.py": ""})
    os.mkfifo(folder.root / "fifo.py")
    monkeypatch.chdir(folder.root)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.py")
        assert found(folder.root) == {"a.py"}


def test_a_tracked_file_below_what_became_a_symlink_is_not_there(tree: Tree, tmp_path: Path) -> None:
    tree.write({"d/a.py": "", "b.py": ""})
    tree.commit()
    (tree.root / "d").rename(tmp_path / "elsewhere")
    (tree.root / "d").symlink_to(tmp_path / "elsewhere")
    assert found(tree.root) == {"b.py"}
    assert found(tree.root, only={b"d/a.py"}) == set()


def test_a_git_directory_inside_the_tree_under_another_name_is_left_out(folder: Tree) -> None:
    folder.write({"a.py": ""})
    folder.git("init", "-q", "--separate-git-dir", "storage", ".")
    assert found(folder.root) == {"a.py"}


def test_other_repositories_are_notes_outside_git_too(folder: Tree) -> None:
    folder.write({"a.py": "", "other/b.py": ""})
    folder.git("init", "-q", "other")
    result = scanned(folder.root)
    assert set(result.entries) == {b"a.py"}
    assert [note.partition(":")[0] for note in result.notes.values()] == ["other"]
    assert found(folder.root, only={b"other/b.py"}) == set()


def test_database_in_the_tree_is_left_out(tree: Tree) -> None:
    tree.write({"a.py": "", "index.db": "", "index.db-wal": "", "keep.db": ""})
    own = {b"index.db", b"index.db-wal", b"index.db-shm", b"index.lock"}
    assert found(tree.root, own_files=own) == {"a.py", "keep.db"}


def test_ckvignore_and_the_configuration(tree: Tree) -> None:
    tree.write(
        {"a.py": "", "b.sql": "", "d/c.sql": "", "d/keep.sql": "", "v/x.py": "", "v/y.py": "", "n~": ""}
    )
    tree.write({".ckvignore": "*.sql\n", "d/.ckvignore": "!keep.sql\n", ".gitignore": "*.log\n", "x.log": ""})
    tree.commit()  # also what is tracked is hidden
    assert found(tree.root) == {"a.py", "d/keep.sql", "v/x.py", "v/y.py", *RULES, "d/.ckvignore"}
    config = Config(index=Index(exclude=("v/",), include=("v/y.py", "n~", "b.sql", "x.log")))
    result = scanned(tree.root, config)
    assert {os.fsdecode(p) for p in result.entries} == {
        *("a.py", "d/keep.sql", "v/y.py", "n~", "d/.ckvignore"),
        *RULES,
    }
    assert [p for p, entry in result.entries.items() if entry.included] == [b"n~", b"v/y.py"]


RULES = (".ckvignore", ".gitignore")


def test_a_missing_root_is_an_error_and_not_an_empty_tree(tree: Tree, tmp_path: Path) -> None:
    tree.write({"a.py": ""})
    root = find_root(os.fsencode(tree.root))
    repo = Repo(root)
    tree.root.rename(tmp_path / "away")
    for one in (repo, None):
        with pytest.raises(WorktreeError):
            scan(root.path, one, Config())
        with pytest.raises(WorktreeError):
            scan(root.path, one, Config(), only={b"a.py"})


names = st.sampled_from(["a", "b", "c", ".gitignore"])
files = st.lists(st.lists(names, min_size=1, max_size=3).map("/".join), max_size=8)
contents = st.sampled_from(["a\n", "/b\n", "c/\n", "!a\n", "*\n!b/\n", ""])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(files, contents), max_size=3),
    st.frozensets(st.sampled_from([b"a", b"b", b"a/b", b"c/a"])),
)
@pytest.mark.parametrize("in_git", [True, False])
def test_a_narrowed_scan_is_the_full_one_restricted(
    tmp_path_factory: pytest.TempPathFactory,
    in_git: bool,
    made: list[tuple[list[str], str]],
    only: frozenset[bytes],
) -> None:
    root = tmp_path_factory.mktemp("narrowed")
    if in_git:
        subprocess.run(["git", "init", "-q", root], check=True)
    for paths, content in made:
        for path in paths:
            try:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(content)
            except (NotADirectoryError, FileExistsError, IsADirectoryError):
                continue
    full, narrowed = scanned(root), scanned(root, only=only)
    assert narrowed.entries == {path: entry for path, entry in full.entries.items() if narrowed.covers(path)}
