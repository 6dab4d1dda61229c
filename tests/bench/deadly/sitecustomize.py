"""Ends the daemon that has this folder on its PYTHONPATH at a chosen point of its work.

CKVD_DEADLY is `NUMBER:PLACE:N`: the signal of that number comes at the N-th time that the daemon is at PLACE:
`commit` (a write to the log), `checkpoint` (a write to the database itself), `migration` (a write to the log
while an older index is brought to this version), `creation` (any write) or `embedding` (a text goes into the
model). A write is then done by half. CKVD_DEADLY_SAYS is a file that gets the time of it, in Unix seconds.
"""

from __future__ import annotations

import itertools
import os
import sys
import time
from typing import Any


def arm(number: int, place: str, last: int) -> None:
    import apsw

    count = itertools.count(1)
    migrating = False

    def now(what: str) -> bool:
        here = (
            what == place or place == "creation" or (migrating and (what, place) == ("commit", "migration"))
        )
        return here and next(count) == last

    def end() -> None:
        with open(os.environ["CKVD_DEADLY_SAYS"], "w") as file:
            file.write(str(time.time()))
        os.kill(os.getpid(), number)

    usual = apsw.vfs_names()[0]

    class File(apsw.VFSFile):
        def __init__(self, name: Any, flags: list[int]) -> None:
            super().__init__(usual, name, flags)
            is_log = bool(flags[0] & apsw.SQLITE_OPEN_WAL)
            self.what = "commit" if is_log else "checkpoint" if flags[0] & apsw.SQLITE_OPEN_MAIN_DB else ""

        def xWrite(self, data: bytes, offset: int) -> None:
            if now(self.what):
                super().xWrite(data[: len(data) // 2], offset)
                end()
            super().xWrite(data, offset)

    class Files(apsw.VFS):
        def __init__(self) -> None:
            super().__init__("deadly", usual, makedefault=True)

        def xOpen(self, name: Any, flags: list[int]) -> File:
            return File(name, flags)

    arm.files = Files()  # type: ignore[attr-defined]  # for as long as the process lives

    if place == "migration":
        from ckvd.store import schema

        ensure = schema.ensure

        def watched(db: apsw.Connection, verify: bool) -> None:
            nonlocal migrating
            migrating = True
            ensure(db, verify)
            migrating = False

        schema.ensure = watched
    elif place == "embedding":
        from ckvd import vectors

        text = vectors.VectorMaker._text

        def counted(self: vectors.VectorMaker, *args: Any) -> str:
            if now("embedding"):
                end()
            return text(self, *args)

        vectors.VectorMaker._text = counted  # type: ignore[method-assign]


if "CKVD_DEADLY" in os.environ and "run" in sys.orig_argv:
    given = os.environ.pop("CKVD_DEADLY").split(":")
    arm(int(given[0]), given[1], int(given[2]))
