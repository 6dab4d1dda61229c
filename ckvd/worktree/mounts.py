"""Which file systems a tree lies on, and which of them do not tell of changes made elsewhere."""

from __future__ import annotations

import re

from ckvd.worktree.paths import is_under

_KINDS = (
    b"9p afs beegfs ceph cifs gfs2 gpfs lustre ncpfs nfs nfs4 ocfs2 prl_fs smb3 smbfs vboxsf virtiofs vmhgfs"
)
_SILENT = frozenset(_KINDS.split())
_ESCAPE = re.compile(rb"\\([0-7]{3})")


def mounts(root: bytes, mountinfo: bytes | None = None) -> dict[bytes, tuple[bytes, bytes]]:
    """Identity and kind of each file system at or below `root` by its path, and of that which `root` lies on.

    `mountinfo` is the content of proc(5)'s `/proc/self/mountinfo`, read when not given; elsewhere than on
    Linux nothing is known, and the answer is empty.
    """
    if mountinfo is None:
        try:
            with open("/proc/self/mountinfo", "rb") as file:
                mountinfo = file.read()
        except OSError:
            return {}
    around = b""
    found: dict[bytes, tuple[bytes, bytes]] = {}
    for line in mountinfo.splitlines():
        fields, _, tail = line.partition(b" - ")
        if not tail or len(parts := fields.split(b" ")) < 5:
            continue
        place = _ESCAPE.sub(lambda match: bytes([int(match[1], 8)]), parts[4])
        if place == root or is_under(root, place):
            if len(place) < len(around):
                continue
            found.pop(around, None)
            around = place
        elif not is_under(place, root):
            continue
        found[place] = (parts[0], tail.split(b" ")[0])  # a later mount hides an earlier one at its place
    return found


def silent_folders(root: bytes, mountinfo: bytes | None = None) -> set[bytes]:
    """The mounts at and below `root` to be polled, relative to it: b"" where the root itself lies on one."""
    mounted = mounts(root, mountinfo)
    silent = {place for place, (_, kind) in mounted.items() if _silent(kind)}
    if any(not is_under(place, root) for place in silent):
        return {b""}
    return {place[len(root) + 1 :] for place in silent}


def _silent(kind: bytes) -> bool:
    # fuseblk (NTFS, exFAT) is a local disk; `fuse.*` may be anything, sshfs above all.
    return kind in _SILENT or kind.startswith(b"fuse.")
