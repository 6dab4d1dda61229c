"""How often recent commits changed a file."""

from __future__ import annotations

import subprocess
from collections import Counter

from support import Tree

from ckvd.worktree.git import Repo, find_root
from ckvd.worktree.git.history import touches


def counted(tree: Tree, recent: int = 100) -> Counter[bytes]:
    return touches(Repo(find_root(bytes(tree.root))), recent)


def test_commits_are_counted_by_path(tree: Tree) -> None:
    for n in range(3):
        tree.write({"a/é.py": f"x = {n}\n", f"b{n}.py": "y\n"})
        tree.commit()
    assert counted(tree) == {"a/é.py".encode(): 3, b"b0.py": 1, b"b1.py": 1, b"b2.py": 1}
    assert counted(tree, recent=2) == {"a/é.py".encode(): 2, b"b1.py": 1, b"b2.py": 1}


def test_merges_change_nothing_of_their_own(tree: Tree) -> None:
    tree.write({"a.py": "1\n"})
    tree.commit()
    tree.git("switch", "--quiet", "-c", "side")
    tree.write({"side.py": "1\n"})
    tree.commit()
    tree.git("switch", "--quiet", "main")
    tree.write({"a.py": "2\n"})
    tree.commit()
    tree.git("merge", "--quiet", "--no-edit", "side")
    assert counted(tree) == {b"a.py": 2, b"side.py": 1}


def test_an_unborn_branch_has_no_history(tree: Tree) -> None:
    assert counted(tree) == {}


def test_a_linked_worktree_has_the_history_of_its_own_branch(tree: Tree) -> None:
    tree.write({"a.py": "1\n"})
    tree.commit()
    tree.git("worktree", "add", "--quiet", "-b", "other", "../linked")
    linked = Tree(tree.root.parent / "linked")
    linked.write({"b.py": "1\n"})
    linked.commit()
    assert counted(linked) == {b"a.py": 1, b"b.py": 1}
    assert counted(tree) == {b"a.py": 1}


def test_a_shallow_clone_is_counted_as_far_as_it_goes(tree: Tree) -> None:
    for n in range(3):
        tree.write({"a.py": f"x = {n}\n"})
        tree.commit()
    clone = tree.root.parent / "clone"
    source = tree.root.as_uri()
    subprocess.run(["git", "clone", "--quiet", "--depth", "2", source, clone], check=True, timeout=60)
    assert counted(Tree(clone))[b"a.py"] in (1, 2)


def test_submodules_have_their_own_history(tree: Tree) -> None:
    library = Tree(tree.root.parent / "library")
    library.root.mkdir()
    library.git("init", "--quiet")
    library.write({"c.py": "1\n"})
    library.commit()
    tree.git("submodule", "--quiet", "add", library.root.as_uri(), "lib")
    tree.commit()
    assert counted(tree)[b"lib/c.py"] == 1
