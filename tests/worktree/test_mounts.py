"""Which folders are polled because of where they lie, from the words of proc(5)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ckvd.worktree.mounts import mounts, silent_folders

MOUNTS = rb"""22 1 0:20 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:30 / /home rw shared:2 - nfs4 server:/home rw
31 22 0:31 / /srv/with\040space rw - fuse.sshfs host:/ rw
32 22 0:32 / /srv/tree/data rw - cifs //host/data rw
33 22 0:33 / /srv/tree/disk rw - fuseblk /dev/sdb1 rw
34 22 0:34 / /srv/treeish rw - 9p share rw
35 22 0:35 / /over rw - nfs server:/x rw
36 35 0:36 / /over rw - tmpfs tmpfs rw
broken line
"""


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        (b"/srv/local", set()),
        (b"/home/user/tree", {b""}),
        (b"/home", {b""}),
        (b"/srv/with space/tree", {b""}),
        (b"/srv/tree", {b"data"}),
        (b"/srv/tree/data/deeper", {b""}),
        (b"/srv/tree/disk", set()),
        (b"/over/tree", set()),
        (b"/homeless", set()),
    ],
)
def test_by_the_nearest_mount_and_those_below(root: bytes, expected: set[bytes]) -> None:
    assert silent_folders(root, MOUNTS) == expected


def test_a_mount_below_is_another_state_than_none_and_one_elsewhere_is_not() -> None:
    before = mounts(b"/srv/tree", MOUNTS)
    assert mounts(b"/srv/tree", MOUNTS + b"40 22 0:40 / /srv/tree/disk rw - fuseblk /dev/sdc1 rw\n") != before
    assert mounts(b"/srv/tree", MOUNTS + b"41 22 0:41 / /srv/tree/new rw - ext4 /dev/sdd1 rw\n") != before
    assert mounts(b"/srv/tree", MOUNTS + b"42 22 0:42 / /srv/other rw - ext4 /dev/sdd1 rw\n") == before


@pytest.mark.skipif(sys.platform != "linux", reason="proc(5)")
def test_of_this_machine(tmp_path: Path) -> None:
    (around,) = mounts(os.fsencode(tmp_path))
    assert os.path.ismount(around)
