"""Reading one file: what is refused, what is noticed, and git's own blob ids."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import Tree

import ckvd.worktree.read as module
from ckvd.worktree.read import Content, Unreadable, read, stamp_of

LIMIT = 1 << 20


def read_in(tree: Tree, path: str, limit: int = LIMIT) -> Content | Unreadable:
    return read(os.fsencode(tree.root), os.fsencode(path), limit)


@pytest.mark.parametrize("content", [b"", b"\r\n", b"def f(): pass\n", bytes(range(256)) * 5000])
def test_bytes_stamp_and_blob_id(tree: Tree, content: bytes) -> None:
    tree.write({"a/b.py": content})
    got = read_in(tree, "a/b.py", 2 << 20)
    oid = tree.git("hash-object", "--no-filters", "a/b.py")
    assert got == Content(content, stamp_of((tree.root / "a" / "b.py").lstat()), oid)


def test_a_file_over_the_limit_is_only_hashed(tree: Tree) -> None:
    tree.write({"big": b"x" * (3 << 20)})
    got = read_in(tree, "big")
    assert isinstance(got, Content)
    assert got.data is None
    assert got.blob_oid == tree.git("hash-object", "big")


def test_symlinks_are_not_followed_at_any_level(folder: Tree, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").write_text("secret")
    folder.write({"in.py": "", "d/in.py": ""})
    for name, target in (
        ("link.py", "in.py"),
        ("dlink", "d"),
        ("out", tmp_path / "outside"),
        ("self", "self"),
    ):
        (folder.root / name).symlink_to(target)
    for path in ("link.py", "dlink/in.py", "out/secret.py", "self", "d/../in.py/x"):
        got = read_in(folder, path)
        assert isinstance(got, Unreadable), path
        assert got.reason == "irregular"


def test_a_root_below_a_symlink_is_fine(folder: Tree, tmp_path: Path) -> None:
    folder.write({"a": "a"})
    (tmp_path / "link").symlink_to(folder.root)
    assert isinstance(read(os.fsencode(tmp_path / "link"), b"a", LIMIT), Content)


def test_what_is_no_file_is_never_opened_for_long(folder: Tree) -> None:
    os.mkfifo(folder.root / "fifo")
    (folder.root / "folder").mkdir()
    server = socket.socket(socket.AF_UNIX)
    with server:
        here = Path.cwd()
        os.chdir(folder.root)
        server.bind("socket")
        os.chdir(here)
        for path in ("fifo", "folder", "socket"):
            got = read_in(folder, path)
            assert isinstance(got, Unreadable), path
            assert got.reason == "irregular"


def test_vanished(folder: Tree) -> None:
    for path in ("none", "none/deeper"):
        got = read_in(folder, path)
        assert isinstance(got, Unreadable)
        assert got.reason == "vanished"


def test_a_change_during_the_read_is_noticed(folder: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write({"a": b"old" * 100})
    real = os.read
    writes = [b"newer!" * 100]

    def read_and_write(file: int, size: int) -> bytes:
        block = real(file, size)
        if writes:
            (folder.root / "a").write_bytes(writes.pop())
        return block

    monkeypatch.setattr(module.os, "read", read_and_write)
    got = read_in(folder, "a")
    assert isinstance(got, Content)
    assert got.data == b"newer!" * 100
    assert got.stamp == stamp_of((folder.root / "a").lstat())


def test_a_file_that_never_rests_is_given_up_or_stamped_so_that_it_is_read_again(
    folder: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write({"log": b"line\n"})
    real = os.read

    def read_and_append(file: int, size: int) -> bytes:
        block = real(file, size)
        with (folder.root / "log").open("ab") as log:
            log.write(b"line\n")
        return block

    monkeypatch.setattr(module.os, "read", read_and_append)
    got = read_in(folder, "log")
    assert isinstance(got, Unreadable) or got.stamp != stamp_of((folder.root / "log").lstat())


@given(st.binary(max_size=2000))
def test_blob_ids_equal_those_of_libgit2(data: bytes) -> None:
    import tempfile

    import pygit2

    with tempfile.TemporaryDirectory() as root:
        (Path(root) / "f").write_bytes(data)
        got = read(os.fsencode(root), b"f", LIMIT)
        assert isinstance(got, Content)
        assert got.blob_oid == str(pygit2.hash(data))
