"""What git does under a running daemon: HEAD is followed, and no more is looked at than has changed sides."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pygit2
import pytest
from equality import differences
from support import Ckvd, Tree
from waiting import wait_until

from ckvd.indexer import Indexer
from ckvd.place import place
from ckvd.session import indexing


def head(tree: Tree) -> tuple[str | None, str | None]:
    found = dict(tree.rows("SELECT key, value FROM meta WHERE key IN ('head_ref', 'head_commit')"))
    return found.get("head_ref"), found.get("head_commit")


def paths(tree: Tree) -> set[str]:
    return {path for (path,) in tree.rows("SELECT path FROM files")}


def noted(tree: Tree) -> list[str]:
    """The paths that there are notes on."""
    ((notes,),) = tree.rows("SELECT value FROM meta WHERE key = 'notes'")
    return [note.partition(":")[0] for note in json.loads(str(notes))]


def equals_fresh(tree: Tree, ckvd: Ckvd) -> list[str]:
    ckvd("sync", str(tree.root), "--vectors")
    fresh = tree.root.parent / "fresh.db"
    ckvd("index", str(tree.root), "--db", str(fresh))
    found = differences(tree.db, fresh)
    for file in tree.root.parent.glob("fresh.db*"):
        file.unlink()
    return found


def test_what_a_commit_makes_the_indexer_look_at(tree: Tree) -> None:
    """Paths that git took in or let go, and nothing where names stay."""
    tree.write({f"d/m{n}.py": f"x = {n}\n" for n in range(30)} | {".gitignore": "*.gen.py\n"})
    tree.write({"a.gen.py": "x = 1\n", "d/b.gen.py": "x = 2\n"})
    tree.commit()
    with indexing(place(str(tree.root), None)) as ix:
        ix.bring_up_to_date(None)

        def turned(*command: str) -> frozenset[bytes] | None:
            tree.git(*command)
            found = ix.git.follow_git()
            if found:
                ix.bring_up_to_date(found)
            return found

        tree.write({"d/m1.py": "x = 'edited'\n", "new.py": "x = 'new'\n"})
        assert turned("commit", "-qam", "an edit") == frozenset()
        assert turned("tag", "t") == frozenset()
        assert turned("add", "new.py") == {b"new.py"}
        assert turned("commit", "-qm", "a file more") == frozenset()
        assert b"a.gen.py" not in indexed(ix)
        assert turned("add", "-f", "a.gen.py", "d/b.gen.py") == {b"a.gen.py", b"d/b.gen.py"}
        assert {b"a.gen.py", b"d/b.gen.py"} <= indexed(ix)
        assert turned("rm", "-q", "--cached", "d/b.gen.py") == {b"d/b.gen.py"}
        assert b"d/b.gen.py" not in indexed(ix)
        assert turned("config", "branch.main.remote", "origin") == frozenset()
        assert turned("config", "core.excludesFile", str(tree.root / "none")) is None
        tree.git("init", "-q", "d/inner")
        assert turned("commit", "-q", "--allow-empty", "-m", "nothing") == frozenset()


def indexed(ix: Indexer) -> set[bytes]:
    return set(ix.writer.files())


def test_rules_edited_before_a_file_is_let_go(tree: Tree) -> None:
    """The rule comes first and changes nothing, since the file is tracked; then it is no longer."""
    tree.write({"a.log": "a", "b.py": "b = 1\n"})
    tree.commit()
    with indexing(place(str(tree.root), None)) as ix:
        ix.bring_up_to_date(None)
        tree.write({".gitignore": "*.log\n"})
        ix.bring_up_to_date(None)
        assert b"a.log" in indexed(ix)
        tree.git("rm", "-q", "--cached", "a.log")
        found = ix.git.follow_git()
        assert found == {b"a.log"}
        ix.bring_up_to_date(found)
        assert b"a.log" not in indexed(ix)


@pytest.mark.slow
def test_a_submodule_that_comes_and_goes(tree: Tree, tmp_path: Path, ckvd: Ckvd) -> None:
    library = Tree(tmp_path / "library")
    library.root.mkdir()
    library.git("init", "-q")
    library.write({"lib.py": "def lib(): pass\n", ".gitignore": "*.tmp\n"})
    library.commit()
    tree.write({"a.py": "a = 1\n"})
    tree.commit()
    with ckvd.daemon(tree.root):
        tree.git("submodule", "--quiet", "add", str(library.root), "sub/lib")
        wait_until(lambda: "sub/lib/lib.py" in paths(tree), "the submodule")
        tree.write({"sub/lib/new.py": "new = 1\n", "sub/lib/x.tmp": "no"})
        wait_until(lambda: "sub/lib/new.py" in paths(tree), "a file in the submodule")
        inner = Tree(tree.root / "sub" / "lib")
        (inner.root / ".gitignore").unlink()
        wait_until(lambda: "sub/lib/x.tmp" in paths(tree), "the submodule's rules")
        inner.commit()
        tree.commit()
        tree.git("submodule", "--quiet", "deinit", "-f", "--all")
        wait_until(lambda: paths(tree) == {"a.py", ".gitmodules"}, "no submodule")
        assert equals_fresh(tree, ckvd) == []


@pytest.mark.parametrize(
    "how",
    [pytest.param("soft", marks=pytest.mark.slow), "mixed", pytest.param("hard", marks=pytest.mark.slow)],
)
def test_resets(tree: Tree, ckvd: Ckvd, how: str) -> None:
    tree.write({".gitignore": "*.log\n", "a.py": "def one(): pass\n"})
    first = tree.commit()
    tree.write({"a.py": "def two(): pass\n", "kept.log": "x", "b.py": "def b(): pass\n"})
    tree.git("add", "-f", ".", "kept.log")
    tree.git("commit", "-qm", "two")
    with ckvd.daemon(tree.root):
        wait_until(lambda: "kept.log" in paths(tree), "a tracked file that rules match")
        tree.git("reset", "-q", f"--{how}", first)
        wait_until(lambda: head(tree) == ("refs/heads/main", first), "HEAD")
        expected = {
            "soft": {".gitignore", "a.py", "b.py", "kept.log"},
            "mixed": {".gitignore", "a.py", "b.py"},
            "hard": {".gitignore", "a.py"},
        }[how]
        wait_until(lambda: paths(tree) == expected, "the files")
        assert equals_fresh(tree, ckvd) == []


@pytest.mark.slow
def test_a_rebase_a_merge_and_a_detached_head(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def a(): pass\n", "b.py": "def b(): pass\n"})
    tree.commit()
    tree.git("checkout", "-qb", "side")
    tree.write({"side.py": "def side(): pass\n"})
    tree.commit()
    tree.git("checkout", "-q", "main")
    tree.write({"b.py": "def b2(): pass\n"})
    tree.commit()

    def here() -> tuple[str | None, str]:
        name = subprocess.run(
            ["git", "symbolic-ref", "-q", "HEAD"], cwd=tree.root, capture_output=True, check=False
        )
        return name.stdout.decode().strip() or None, tree.git("rev-parse", "HEAD")

    with ckvd.daemon(tree.root):
        for command in (
            ("merge", "-q", "--no-edit", "side"),
            ("reset", "-q", "--hard", "HEAD~1"),
            ("checkout", "-q", "side"),
            ("rebase", "-q", "main"),
            ("checkout", "-q", "--detach"),
            ("update-ref", "HEAD", "main"),
        ):
            tree.git(*command)
            wait_until(lambda: head(tree) == here(), " ".join(command))
        assert equals_fresh(tree, ckvd) == []
        tree.git("checkout", "-q", "--orphan", "unborn")
        wait_until(lambda: head(tree) == ("refs/heads/unborn", None), "an unborn branch")


def test_a_folder_becomes_a_repository_and_is_none_again(folder: Tree, ckvd: Ckvd) -> None:
    folder.write({"a.py": "def a(): pass\n", "b.log": "b", "d/c.py": "def c(): pass\n"})
    with ckvd.daemon(folder.root):
        assert paths(folder) == {"a.py", "b.log", "d/c.py"}
        folder.git("init", "-q")
        wait_until(lambda: head(folder)[0] == "refs/heads/main", "git init")
        (folder.root / ".git" / "info" / "exclude").write_text("*.log\n")
        wait_until(lambda: paths(folder) == {"a.py", "d/c.py"}, "git's own rules")
        commit = folder.commit()
        wait_until(lambda: head(folder) == ("refs/heads/main", commit), "a commit")
        assert equals_fresh(folder, ckvd) == []
        (folder.root / ".git").rename(folder.root.parent / "away.git")
        wait_until(lambda: paths(folder) == {"a.py", "b.log", "d/c.py"}, "no repository any more")
        wait_until(lambda: head(folder) == (None, None), "no HEAD either")
        folder.write({"d/e.py": "def e(): pass\n"})
        wait_until(lambda: "d/e.py" in paths(folder), "an edit meanwhile")
        assert equals_fresh(folder, ckvd) == []
        (folder.root.parent / "away.git").rename(folder.root / ".git")
        wait_until(lambda: paths(folder) == {"a.py", "d/c.py", "d/e.py"}, "it is back")
        wait_until(lambda: head(folder) == ("refs/heads/main", commit), "its HEAD")
        folder.git("checkout", "-q", "--detach")
        wait_until(lambda: head(folder) == (None, commit), "and its HEAD is followed")
        assert equals_fresh(folder, ckvd) == []


@pytest.mark.slow
def test_a_repository_is_made_anew_with_other_object_names(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def a(): pass\n"})
    tree.commit()
    with ckvd.daemon(tree.root):
        shutil.rmtree(tree.root / ".git")
        tree.git("init", "-q", "--object-format=sha256")
        wait_until(lambda: {len(oid) for (oid,) in tree.rows("SELECT blob_oid FROM files")} == {64}, "sha256")
        commit = tree.commit()
        wait_until(lambda: head(tree) == ("refs/heads/main", commit), "the new repository's HEAD")
        assert equals_fresh(tree, ckvd) == []


@pytest.mark.slow
def test_a_repository_that_git_refuses_for_a_while(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def a(): pass\n", "b.log": "b"})
    tree.commit()
    (tree.root / ".git" / "info" / "exclude").write_text("*.log\nx.py\n")
    tree.write({"x.py": "x = 1\n"})
    config = tree.root / ".git" / "config"
    good = config.read_text()
    with ckvd.daemon(tree.root):
        assert "x.py" not in paths(tree)
        config.write_text(good.replace("repositoryformatversion = 0", "repositoryformatversion = 9"))
        wait_until(lambda: "x.py" in paths(tree), "a plain folder")
        assert "git will not use" in ckvd("status", str(tree.root)).stdout
        config.write_text(good)
        wait_until(lambda: "x.py" not in paths(tree), "a repository again")
        assert equals_fresh(tree, ckvd) == []


@pytest.mark.slow
def test_separate_git_dir_and_linked_worktree(tmp_path: Path, ckvd: Ckvd) -> None:
    made = Tree(tmp_path / "work")
    made.root.mkdir()
    made.git("init", "-q", "--separate-git-dir", str(tmp_path / "gits"))
    made.write({"a.py": "def a(): pass\n"})
    made.commit()
    made.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    for tree in (made, Tree(tmp_path / "linked")):
        with ckvd.daemon(tree.root):
            tree.write({"b.log": "b", "c.py": "def c(): pass\n"})
            wait_until(lambda t=tree: "b.log" in paths(t), "a file")
            commit = tree.commit()
            wait_until(lambda t=tree, c=commit: head(t)[1] == c, "HEAD")
            (tmp_path / "gits" / "info" / "exclude").write_text("d.py\n")
            tree.write({"d.py": "no = 1\n", "e.py": "yes = 1\n"})
            wait_until(lambda t=tree: "e.py" in paths(t), "another file")
            wait_until(lambda t=tree: "d.py" not in paths(t), "the exclusion")
            assert equals_fresh(tree, ckvd) == []


def test_heads_moved_by_hand_and_by_libgit2(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def a(): pass\n"})
    first = tree.commit()
    tree.git("branch", "deep/er/branch")
    git = tree.root / ".git"
    with ckvd.daemon(tree.root):
        revision = tree.rows("SELECT value FROM meta WHERE key = 'revision'")
        other = pygit2.Repository(str(tree.root))
        who = pygit2.Signature("t", "t@example.org")
        second = str(
            other.create_commit("refs/heads/main", who, who, "two", other.head.peel().tree.id, [first])
        )
        wait_until(lambda: head(tree) == ("refs/heads/main", second), "a commit by libgit2")
        (git / "refs" / "heads" / "main").write_text(first + "\n")
        wait_until(lambda: head(tree) == ("refs/heads/main", first), "a ref written by hand")
        (git / "HEAD").write_text("ref: refs/heads/deep/er/branch\n")
        wait_until(lambda: head(tree) == ("refs/heads/deep/er/branch", first), "HEAD written by hand")
        (git / "refs" / "heads" / "deep" / "er" / "branch").write_text(second + "\n")
        wait_until(lambda: head(tree)[1] == second, "a ref in a folder")
        tree.git("pack-refs", "--all")
        tree.git("gc", "-q")
        tree.git("tag", "t")
        (git / "HEAD").write_bytes(b"ref: refs/heads/\xb1\n")
        wait_until(lambda: head(tree) == ("refs/heads/\\xb1", None), "a name that is not UTF-8")
        (git / "HEAD").unlink()
        (git / "HEAD").symlink_to("refs/heads/main")
        wait_until(lambda: head(tree) == ("refs/heads/main", first), "HEAD as a link, packed ref")
        assert tree.rows("SELECT value FROM meta WHERE key = 'revision'") == revision


@pytest.mark.slow
def test_other_worktrees_and_repositories_in_the_tree(tree: Tree, ckvd: Ckvd) -> None:
    tree.write({"a.py": "def a(): pass\n"})
    tree.commit()
    with ckvd.daemon(tree.root):
        tree.git("worktree", "add", "-q", "wt", "-b", "side")
        tree.git("clone", "-q", ".", "clone")
        tree.write({"wt/b.py": "b = 1\n", "clone/c.py": "c = 1\n", "mine/d.py": "d = 1\n"})
        wait_until(lambda: "mine/d.py" in paths(tree), "a file beside them")
        wait_until(lambda: paths(tree) == {"a.py", "mine/d.py"}, "nothing of theirs")
        assert equals_fresh(tree, ckvd) == []
        notes = ckvd("status", str(tree.root)).stdout
        assert "clone: another repository" in notes
        assert "wt: another repository" in notes
        shutil.rmtree(tree.root / "clone" / ".git")
        wait_until(lambda: "clone/c.py" in paths(tree), "no repository any more")
        wait_until(lambda: noted(tree) == ["wt"], "nor a note on one")
        tree.git("init", "-q", "clone")
        wait_until(lambda: noted(tree) == ["clone", "wt"], "a repository again")
        shutil.rmtree(tree.root / "clone" / ".git")
        wait_until(lambda: "clone/c.py" in paths(tree), "and none")
        tree.git("worktree", "remove", "--force", "wt")
        assert equals_fresh(tree, ckvd) == []


def test_rules_outside_the_tree_edited_live(tree: Tree, ckvd: Ckvd, tmp_path: Path) -> None:
    tree.write({"a.py": "a = 1\n", "B.LOG": "b", "gen/c.py": "c = 1\n", ".gitignore": "*.log\n"})
    config, home = tmp_path / "gitconfig", tmp_path / "home"
    config.write_text("")
    (home / "git").mkdir(parents=True)
    env = {**os.environ, "GIT_CONFIG_GLOBAL": str(config), "XDG_CONFIG_HOME": str(home)}
    every = {".gitignore", "a.py", "B.LOG", "gen/c.py"}
    with ckvd.daemon(tree.root, env=env):
        assert paths(tree) == every
        tree.git("config", "core.ignoreCase", "true")
        wait_until(lambda: paths(tree) == every - {"B.LOG"}, "core.ignoreCase")
        tree.git("config", "core.ignoreCase", "false")
        wait_until(lambda: paths(tree) == every, "core.ignoreCase no more")
        (home / "git" / "ignore").write_text("gen/\n")
        wait_until(lambda: paths(tree) == every - {"gen/c.py"}, "the user's rules, which had no file")
        (tmp_path / "mine").write_text("a.py\n")
        (tmp_path / "more").write_text(f"[core]\n\texcludesFile = {tmp_path / 'mine'}\n")
        config.write_text(f"[include]\n\tpath = {tmp_path / 'more'}\n")
        wait_until(lambda: paths(tree) == every - {"a.py"}, "an included configuration")
        (tmp_path / "more").write_text("")
        wait_until(lambda: paths(tree) == every - {"gen/c.py"}, "an edit of the included one")
        (home / "git" / "ignore").unlink()
        wait_until(lambda: paths(tree) == every, "no such file")
        shutil.rmtree(tree.root / ".git" / "info")
        (tree.root / ".git" / "info").mkdir()
        (tree.root / ".git" / "info" / "new").write_text("a.py\n")
        (tree.root / ".git" / "info" / "new").rename(tree.root / ".git" / "info" / "exclude")
        wait_until(lambda: paths(tree) == every - {"a.py"}, "info/exclude in a new folder")
        (tree.root / ".git" / "info" / "exclude").write_text("gen\n")
        wait_until(lambda: paths(tree) == every - {"gen/c.py"}, "and edited there")


@pytest.mark.slow
def test_rules_behind_symlinks_edited_live(tree: Tree, ckvd: Ckvd, tmp_path: Path) -> None:
    """As folders of dotfiles have them: git reads what the link leads to, and nothing happens to the link. No
    sync here: it would look at everything."""
    tree.write({"a.py": "a = 1\n", "b.py": "b = 1\n", "gen/c.py": "c = 1\n"})
    dotfiles, config, info = tmp_path / "dotfiles", tmp_path / "gitconfig", tree.root / ".git" / "info"
    dotfiles.mkdir()
    for name, link in ("config", config), ("ignore", tmp_path / "ignore"), ("exclude", info / "exclude"):
        (dotfiles / name).write_text("")
        link.unlink(missing_ok=True)
        link.symlink_to(dotfiles / name)
    (dotfiles / "ignore").write_text("gen/\n")
    (dotfiles / "config").write_text(f"[core]\n\texcludesFile = {tmp_path / 'ignore'}\n")
    with ckvd.daemon(tree.root, env={**os.environ, "GIT_CONFIG_GLOBAL": str(config)}):
        assert paths(tree) == {"a.py", "b.py"}
        (dotfiles / "ignore").write_text("b.py\n")
        wait_until(lambda: paths(tree) == {"a.py", "gen/c.py"}, "the target of core.excludesFile")
        tree.write({"gen/d.py": "d = 1\n"})
        wait_until(lambda: "gen/d.py" in paths(tree), "a new file in a folder that is watched again")
        (dotfiles / "exclude").write_text("gen/c.py\n")
        wait_until(lambda: paths(tree) == {"a.py", "gen/d.py"}, "the target of info/exclude")
        (dotfiles / "config").write_text("")
        wait_until(lambda: paths(tree) == {"a.py", "b.py", "gen/d.py"}, "the target of the configuration")


@pytest.mark.slow
def test_rules_that_only_one_branch_has(tree: Tree, ckvd: Ckvd, tmp_path: Path) -> None:
    tree.write({"a.py": "a = 1\n"})
    tree.commit()
    tree.write({"b.py": "b = 1\n", "gen/c.py": "c = 1\n"})
    (tmp_path / "ignore").write_text("b.py\ngen/\n")
    (tmp_path / "more").write_text(f"[core]\n\texcludesFile = {tmp_path / 'ignore'}\n")
    tree.git("config", "includeIf.onbranch:two.path", str(tmp_path / "more"))
    tree.git("checkout", "-qb", "two")
    with ckvd.daemon(tree.root):
        assert paths(tree) == {"a.py"}
        tree.git("checkout", "-qb", "one")
        wait_until(lambda: paths(tree) == {"a.py", "b.py", "gen/c.py"}, "a branch without them")
        tree.write({"gen/d.py": "d = 1\n"})
        wait_until(lambda: "gen/d.py" in paths(tree), "a new file in a folder that is watched again")
        tree.git("checkout", "-q", "two")
        wait_until(lambda: paths(tree) == {"a.py"}, "the branch with them")


@pytest.mark.slow
def test_a_fifo_where_git_reads_rules(tree: Tree, ckvd: Ckvd) -> None:
    """Git would wait at it for ever, and the daemon for git."""
    tree.write({"a.py": "a = 1\n", ".gitignore": "*.log\n", "d/b.py": "b = 1\n"})
    fifo = tree.root / "d" / ".gitignore"
    for present in (False, True):
        with ckvd.daemon(tree.root):
            if not present:
                os.mkfifo(fifo)
            name = f"d/new{present}.py"
            tree.write({name: "c = 1\n", "d/new.log": "x"})
            wait_until(lambda: name in paths(tree), "a file beside a FIFO", 30)  # noqa: B023
            assert "d/new.log" not in paths(tree)
            assert equals_fresh(tree, ckvd) == []
            assert "d/.gitignore: a FIFO" in ckvd("status", str(tree.root)).stdout
            if present:
                fifo.unlink()
                tree.write({"d/.gitignore": "b.py\n"})
                wait_until(lambda: "d/b.py" not in paths(tree), "rules in its place")
