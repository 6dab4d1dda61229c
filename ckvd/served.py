"""Searches that a daemon answers over its socket: it has index and model open, and opening them is most of
what a command spends. What it cannot answer at once, the command finds by itself, with the same result.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ckvd import __version__
from ckvd.errors import CkvdError
from ckvd.hit import Hit, Results
from ckvd.place import Places, near

if TYPE_CHECKING:
    from ckvd.control import Message
    from ckvd.index import Index

_OPTIONS = frozenset(
    ("query", "k", "mode", "language", "kind", "path", "tests", "offset", "expand", "budget")
)
"""Of `Index.search`."""
_WAIT_S = 1.0
"""For an answer, before the command goes on without; a search takes a twentieth of that."""


class Searches:
    """The daemon's side. Any thread may ask; searches take turns, and so the memory of one."""

    def __init__(self, root: str, db: str) -> None:
        self._root, self._db = root, db
        self._turn = threading.Lock()
        self._index: Index | None = None

    def answer(self, message: Message) -> Message:
        """What was found, or an `error` where this daemon is not the one to ask, or not now."""
        asked = message.get("asked")
        if message.get("for") != _who(self._root) or not (
            isinstance(asked, dict) and asked.keys() <= _OPTIONS
        ):
            return {"error": "this daemon is of another tree or another ckvd"}
        if not self._turn.acquire(timeout=_WAIT_S):
            return {"error": "other searches are before this one"}
        try:
            if self._index is None:
                from ckvd.index import Index

                self._index = Index(self._root, db=self._db)
            return {"found": asdict(self._index.search(**asked))}
        except CkvdError as error:
            return {"error": str(error)}
        finally:
            self._turn.release()


def ask_daemon(root: str | None, asked: Mapping[str, Any]) -> Results | None:
    """What `Index(root).search(**asked)` gives, from the daemon that keeps the index; None where there is
    none, or it does not say."""
    found = near(root)
    if found is None:
        return None
    tree, db = found
    places = Places(db)
    if not os.path.exists(places.socket):
        return None
    from ckvd.control import ask  # which brings sockets, and takes a while

    # A reply that was cut short for its length is no JSON.
    with contextlib.suppress(CkvdError, TimeoutError, ValueError):
        reply = ask(places, {"op": "search", "for": _who(tree), "asked": dict(asked)}, _WAIT_S)
        if reply is not None:
            return _results(reply["found"])
    return None


def _who(root: str) -> list[str]:
    return [__version__, root]


def _results(found: dict[str, Any]) -> Results:
    hits = (Hit(**{**hit, "matches": tuple(hit["matches"])}) for hit in found["hits"])
    return Results(**{**found, "hits": tuple(hits)})
