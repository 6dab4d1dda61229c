"""What `git ls-files` tells, as values."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from ckvd.model import Stamp
from ckvd.worktree.git.process import records
from ckvd.worktree.paths import folders_of

_GITLINK = b"160000"


@dataclass(slots=True)
class Listing:
    """What git would name: `files` (whatever their type, on disk or not), and which of them are `tracked`;
    `nested` are other repositories, left out; `notes` are for people."""

    files: list[bytes] = field(default_factory=list)
    tracked: set[bytes] = field(default_factory=set)
    nested: list[bytes] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Index:
    """What git's index file held when its stamp was `stamp`."""

    stamp: Stamp | None
    digest: bytes
    links: frozenset[bytes]
    folders: frozenset[bytes]
    """All folders that hold a tracked file or a gitlink, at any depth."""


def index_of(stamp: Stamp | None, tracked: list[bytes], links: set[bytes]) -> Index:
    names = b"\0".join((*sorted(tracked), b"", *sorted(links)))
    digest = hashlib.blake2b(names, digest_size=16).digest()
    return Index(stamp, digest, frozenset(links), frozenset(folders_of((*tracked, *links))))


def parsed(output: bytes) -> tuple[list[bytes], list[bytes], set[bytes]]:
    """`ls-files -s -t -z`: tracked paths, other paths (a nested repository with a slash behind), gitlinks."""
    tracked: dict[bytes, None] = {}  # an unmerged path comes up to three times
    others: list[bytes] = []
    links: set[bytes] = set()
    for record in records(output):
        if record.startswith(b"? "):
            others.append(record[2:])
            continue
        entry, path = record[2:].split(b"\t", 1)
        if entry.startswith(_GITLINK):
            links.add(path)
        else:
            tracked[path] = None
    return list(tracked), others, links
