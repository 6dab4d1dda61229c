"""`ckvd status`: asks the daemon, reads the database, looks at the tree if none answers. Writes nothing."""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any

from ckvd import languages
from ckvd.control import Places, ask, continued, holder
from ckvd.errors import ConfigError, ModelError, NoIndexError, WorktreeError
from ckvd.place import Place
from ckvd.report import document, snapshot
from ckvd.report.behind import look
from ckvd.report.state import BEHIND, FRESH, WEDGED, Daemon, Status, heard
from ckvd.report.values import Snapshot
from ckvd.settings import Settings

__all__ = ["BEHIND", "FRESH", "WEDGED", "Status", "as_json", "collect", "show"]

ASK_S = 1.0
"""How long a daemon may take to answer: it does so from a thread of its own, whatever else it is doing."""


def collect(where: Place, *, brief: bool = False) -> Status:
    """With `brief`, a tree without an index is not walked to say how much there is to index.

    Raises StoreError where the database is another program's, newer, damaged or unreadable.

    What is wrong with the configuration, the model or the tree is in `Status.errors`.
    """
    errors = []
    daemon = _daemon(where.places)
    data: Snapshot | None = None
    with contextlib.suppress(NoIndexError):
        data = snapshot.read(where.places.db)
    behind = limit = None
    misconfigured = False
    if (daemon is None or daemon.pending_files is None) and not (brief and data is None):
        try:
            behind = look(where)
        except (ConfigError, WorktreeError) as e:
            errors.append(str(e))
    try:
        limit = _limit(where.tree.path)
    except (ConfigError, ModelError) as e:
        errors.append(str(e))
        misconfigured = isinstance(e, ConfigError)
    return Status(
        root=where.tree.path,
        db=os.fsencode(where.places.db),
        built=data is not None,
        data=data or Snapshot(),
        now=time.time(),
        daemon=daemon,
        behind=behind,
        limit=limit,
        errors=tuple(dict.fromkeys(errors)),
        misconfigured=misconfigured,
        unusable=languages.problems(),
    )


def _daemon(places: Places) -> Daemon | None:
    try:
        live = ask(places, {"op": "status"}, ASK_S)
    except TimeoutError:
        pid = holder(places)
        who = f"the daemon (pid {pid})" if pid else "the daemon"
        return Daemon(pid or None, "indexing", stalled=f"{who} does not answer; {continued(pid)}")
    if live is not None:
        return heard(live)
    pid = holder(places)
    return None if pid is None else Daemon(pid or None, "indexing")


def _limit(root: bytes) -> int:
    """Tokens that an embedded text may have under the configuration as it is on disk."""
    return Settings.load(root).options.limit


def as_json(status: Status, *, failures: bool = False) -> dict[str, Any]:
    """The document of `--json`; with `failures`, each of these has also its source line, what was done with
    it and what would mend it."""
    if not failures:
        return document.status(status, [document.failure(f) for f in status.data.failures])
    from ckvd.report.failures import explained

    return document.status(status, [explained(status.root, f) for f in status.data.failures])


def show(status: Status, *, failures: bool = False) -> None:
    """The screen, or with `failures` each file that did not come out clean, on stdout.

    Of an index that is not there, the screen says so in either case.
    """
    from ckvd.report import screen, terminal
    from ckvd.report.failures import screen as failures_screen

    if failures and status.built:
        terminal.show(failures_screen(status.root, status.data.failures))
    else:
        terminal.show(screen.screen(status))
