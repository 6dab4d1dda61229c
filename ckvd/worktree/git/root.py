"""Where the worktree is that holds a folder, and how its git directory is laid out."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import NamedTuple

from ckvd.errors import WorktreeError
from ckvd.model import Stamp, display_path
from ckvd.worktree.git import process
from ckvd.worktree.paths import is_under
from ckvd.worktree.read import stamp_at


@dataclass(frozen=True, slots=True)
class Root:
    """A tree to index; absolute paths without symlinks.

    `git_dir` is None outside git; `reason` then says why, where a `.git` lets one expect otherwise.
    `object_format` is `sha1` or `sha256`. `place` is the folder of the `.git` that was followed, or would be.
    """

    path: bytes
    git_dir: bytes | None = None
    object_format: str = "sha1"
    reason: str | None = None
    place: bytes | None = None


def find_root(folder: bytes) -> Root:
    """The worktree that holds `folder`, or the folder itself outside git.

    A `.git` that git cannot use ends the climb: its folder is then a plain root with a `reason`, so that an
    outer repository is never indexed in its stead. Raises WorktreeError where there is no working tree.
    """
    try:
        here = os.path.realpath(folder, strict=True)
        device = os.stat(here).st_dev
    except OSError as error:
        raise WorktreeError(f"{display_path(folder)}: {error.strerror}; name an existing folder") from error
    if not os.path.isdir(here):
        raise WorktreeError(f"{display_path(folder)} is not a folder; name the one to index")
    place = here
    while True:
        if os.path.lexists(os.path.join(place, b".git")):
            return _worktree(place, here)
        if _is_git_dir(place):
            raise _no_working_tree(place)
        above = os.path.dirname(place)
        if above == place or os.stat(above).st_dev != device:  # where git stops too
            return Root(here)
        place = above


def found_again(root: Root) -> Root:
    """What a root is now, at the same path: its repository may have come, gone or changed.

    Raises WorktreeError where it is missing, or has no working tree any more.
    """
    now = find_root(root.place or root.path)
    if now.path == root.path:
        return now
    other = display_path(now.path)
    return Root(root.path, reason=f"it belongs to the worktree {other} by now; stop here and index that")


class Marks(NamedTuple):
    """What tells one repository from another at the same place, and whether its settings changed."""

    repository: tuple[object, ...]
    settings: Stamp | None


def marks(root: Root) -> Marks:
    """Equal for as long as the repository of `root` is the same, of the same format; a few stats."""
    place = root.place or root.path
    git_dir = find_git_dir(place)
    if git_dir is None:
        return Marks((stamp_at(os.path.join(place, b".git")),), None)
    try:
        status = os.stat(git_dir)
    except OSError:
        return Marks((), None)
    # Formats and extensions stand in the configuration; one whose owner is another git refuses to use.
    repository = (git_dir, status.st_dev, status.st_ino, status.st_uid)
    return Marks(repository, stamp_at(common_dir(git_dir) + b"/config"))


def is_repository(folder: bytes) -> bool:
    """Whether `folder` holds a `.git` that leads to a repository."""
    return find_git_dir(folder) is not None


def find_git_dir(folder: bytes) -> bytes | None:
    """Where the `.git` in `folder` leads, be it a folder, a file or a symlink; None if to no repository."""
    dot_git = os.path.join(folder, b".git")
    try:
        if stat.S_ISREG(os.stat(dot_git).st_mode):
            told = content(dot_git)
            if not told.startswith(b"gitdir: "):
                return None
            dot_git = os.path.join(folder, told.removeprefix(b"gitdir: ").rstrip(b"\r\n"))
        git_dir = os.path.realpath(dot_git, strict=True)
    except OSError:
        return None
    return git_dir if _is_git_dir(git_dir) else None


def common_dir(git_dir: bytes) -> bytes:
    """Where branches, configuration and `info/exclude` are, which linked worktrees share."""
    told = content(git_dir + b"/commondir").rstrip(b"\r\n")
    return os.path.normpath(os.path.join(git_dir, told)) if told else git_dir


def content(path: bytes) -> bytes:
    """A small file of git's own; empty where there is none to read. One that is a FIFO is not opened."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return b""
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _worktree(place: bytes, here: bytes) -> Root:
    git_dir = find_git_dir(place)
    if git_dir is None:
        return Root(place, reason=f"{display_path(place)}/.git is not a valid git repository", place=place)
    if not process.available():
        return Root(place, git_dir, place=place)
    done = process.run(
        ("rev-parse", "--show-object-format", "--is-bare-repository", "--show-toplevel"), place
    )
    if done.returncode:
        if done.stdout.endswith(b"\ntrue\n"):
            raise _no_working_tree(place)
        why = process.complaint(done.stderr)
        return Root(place, reason=f"git will not use this repository: {why}", place=place)
    object_format, _, top = done.stdout.split(b"\n", 2)
    path = os.path.realpath(top[:-1])  # core.worktree may name another folder
    if here != path and not is_under(here, path):
        why = f"the working tree of this repository is elsewhere: {display_path(path)}"
        return Root(place, reason=why, place=place)
    return Root(path, git_dir, object_format.decode(), place=place)


def _no_working_tree(place: bytes) -> WorktreeError:
    return WorktreeError(
        f"{display_path(place)} is a bare repository and has no working tree; name a checkout of it"
    )


def _is_git_dir(folder: bytes) -> bool:
    if not os.path.lexists(folder + b"/HEAD"):
        return False
    common = common_dir(folder)
    return os.path.isdir(common + b"/objects") and os.path.isdir(common + b"/refs")
