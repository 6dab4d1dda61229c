"""Which folders of a tree lie on file systems that do not tell of changes made elsewhere."""

from __future__ import annotations

import re

from ckvd.worktree.paths import is_under

_KINDS = (
    b"9p afs beegfs ceph cifs gfs2 gpfs lustre ncpfs nfs nfs4 ocfs2 prl_fs smb3 smbfs vboxsf virtiofs vmhgfs"
)
_SILENT = frozenset(_KINDS.split())
_ESCAPE = re.compile(rb"\\([0-7]{3})")


def silent_folders(root: bytes, mountinfo: bytes | None = None) -> set[bytes]:
    """The mounts at and below `root` to be polled, relative to it: b"" where the root itself lies on one.

    `mountinfo` is the content of proc(5)'s `/proc/self/mountinfo`, read when not given; elsewhere than on
    Linux nothing is known, and the answer is empty.
    """
    if mountinfo is None:
        try:
            with open("/proc/self/mountinfo", "rb") as file:
                mountinfo = file.read()
        except OSError:
            return set()
    around = b"/"
    kinds: dict[bytes, bytes] = {}
    for line in mountinfo.splitlines():
        fields, _, tail = line.partition(b" - ")
        if not tail or len(parts := fields.split(b" ")) < 5:
            continue
        place = _ESCAPE.sub(lambda match: bytes([int(match[1], 8)]), parts[4])
        kinds[place] = tail.split(b" ")[0]  # a later mount hides an earlier one at its place
        if (place == root or is_under(root, place)) and len(place) >= len(around):
            around = place
    if _silent(kinds.get(around, b"")):
        return {b""}
    return {
        place[len(root) + 1 :] for place, kind in kinds.items() if is_under(place, root) and _silent(kind)
    }


def _silent(kind: bytes) -> bool:
    # fuseblk (NTFS, exFAT) is a local disk; `fuse.*` may be anything, sshfs above all.
    return kind in _SILENT or kind.startswith(b"fuse.")
