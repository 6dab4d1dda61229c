"""The files below a folder where no git binary names them: all but what the ignore rules hide."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field

from ckvd.worktree.ignore import Ignore
from ckvd.worktree.paths import join


@dataclass(slots=True)
class Walked:
    """`files` are all entries but folders; `nested` are folders that are repositories of their own; `notes`
    say of folders why they cannot be read."""

    files: list[bytes] = field(default_factory=list)
    nested: list[bytes] = field(default_factory=list)
    notes: dict[bytes, str] = field(default_factory=dict)


def closed(why: str | None) -> str:
    """The note on a folder that cannot be read."""
    return f"{why}; nothing below it is indexed: chmod u+rx it, or ignore it"


def walk(
    root: bytes,
    ignore: Ignore,
    is_repository: Callable[[bytes], bool],
    *,
    start: bytes = b"",
    prune: Callable[[bytes], bool] = lambda _folder: False,
    alive: Callable[[], None] = lambda: None,
) -> Walked:
    """List what lies at and below `start` (relative to `root`), without following symlinks.

    Folders for which `prune` is true are not entered. A folder that cannot be read is a note. `alive` is
    called for each folder: what it raises ends the walk.
    """
    walked = Walked()
    if start and not _is_folder(root, start):
        return Walked([start]) if os.path.lexists(os.path.join(root, start)) else walked
    folders = [start]
    while folders:
        folder = folders.pop()
        alive()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                found = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
        except (FileNotFoundError, NotADirectoryError):
            continue  # it vanished
        except OSError as error:
            walked.notes[folder] = closed(error.strerror)
            continue
        for name, is_folder in found:
            path = join(folder, name)
            if name == b".git" or ignore.ignored(path, folder=is_folder):
                continue
            if not is_folder:
                walked.files.append(path)
            elif prune(path):
                continue
            elif is_repository(os.path.join(root, path)):
                walked.nested.append(path)
            else:
                folders.append(path)
    return walked


def _is_folder(root: bytes, path: bytes) -> bool:
    """Whether `path` is a folder reached by folders alone, no symlink among them."""
    here = root
    for name in path.split(b"/"):
        here = os.path.join(here, name)
        try:
            if not stat.S_ISDIR(os.lstat(here).st_mode):
                return False
        except OSError:
            return False
    return True
