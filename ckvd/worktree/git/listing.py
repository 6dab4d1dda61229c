"""What `git ls-files` tells, as values."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from ckvd.model import Stamp, display_path
from ckvd.worktree.git.process import records
from ckvd.worktree.paths import folders_of, name
from ckvd.worktree.walk import closed

_CLOSED = re.compile(rb"could not open directory '(.*?)/?': (.*)")
_GITLINK = b"160000"
_RULE_FILES = frozenset((b".gitignore", b".gitattributes"))


@dataclass(slots=True)
class Listing:
    """What git would name: `files` (whatever their type, on disk or not), and which of them are `tracked`;
    `nested` are other repositories, left out; `notes` tell people what is amiss with a path."""

    files: list[bytes] = field(default_factory=list)
    tracked: set[bytes] = field(default_factory=set)
    nested: list[bytes] = field(default_factory=list)
    notes: dict[bytes, str] = field(default_factory=dict)


class Tracked(NamedTuple):
    """What git's index holds: paths, those that are gitlinks, and the contents of rule files, from which git
    takes the rules of those that are not on disk."""

    paths: list[bytes]
    links: set[bytes]
    rules: list[bytes]


@dataclass(frozen=True, slots=True)
class Index:
    """What git's index file held when its stamp was `stamp`."""

    stamp: Stamp | None
    names: bytes
    """Its paths, a slash behind those of gitlinks, sorted and joined by NUL."""
    rules: tuple[bytes, ...]
    links: frozenset[bytes]
    folders: frozenset[bytes]
    """All folders that hold a tracked file or a gitlink, at any depth."""


def index_of(stamp: Stamp | None, tracked: Tracked) -> Index:
    paths, links, rules = tracked
    names = b"\0".join(sorted((*paths, *(link + b"/" for link in links))))
    folders = frozenset(folders_of((*paths, *links)))
    return Index(stamp, names, tuple(sorted(rules)), frozenset(links), folders)


def changed(before: bytes, after: bytes) -> set[bytes]:
    """The paths that only one of two values of `Index.names` has; gitlinks without the slash."""
    return {path.rstrip(b"/") for path in set(before.split(b"\0")) ^ set(after.split(b"\0"))} - {b""}


def complaints(grumble: bytes) -> dict[bytes, str]:
    """The notes on folders that `git ls-files` could not read."""
    return {folder: closed(display_path(why)) for folder, why in _CLOSED.findall(grumble)}


def parsed(output: bytes) -> tuple[Tracked, Collection[bytes]]:
    """`ls-files -s -t -z`: what is tracked, and other paths (a nested repository with a slash behind)."""
    paths: dict[bytes, None] = {}  # an unmerged path comes up to three times
    others: list[bytes] = []
    links: set[bytes] = set()
    rules: list[bytes] = []
    for record in records(output):
        if record.startswith(b"? "):
            others.append(record[2:])
            continue
        entry, path = record[2:].split(b"\t", 1)
        if entry.startswith(_GITLINK):
            links.add(path)
            continue
        paths[path] = None
        if name(path) in _RULE_FILES:
            rules.append(record)
    return Tracked(list(paths), links, rules), others
