"""On a terminal, a progress bar for `ckvd index` and a line for `ckvd run`; nothing elsewhere."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator

from ckvd.indexer import Indexer
from ckvd.model import display_path
from ckvd.place import Place
from ckvd.report.plain import plain

_REFRESH_S = 0.1


@contextlib.contextmanager
def shown(ix: Indexer) -> Iterator[None]:
    """Shows files, chunks and vectors of `ix` on stderr while the block runs, if stderr is a terminal.

    The bar reads the indexer's counters from a thread of its own and never touches its store.
    """
    if not _on_terminal():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<8}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    done = threading.Event()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        files = bar.add_task("files", total=None)
        chunks = bar.add_task("chunks", total=None)
        vectors = bar.add_task("vectors", total=None)

        def follow() -> None:
            while not done.wait(_REFRESH_S):
                p = ix.progress
                bar.update(files, completed=p.files, total=p.of or None)
                bar.update(chunks, completed=p.chunks, total=p.chunks)
                made = ix.vectors.made
                bar.update(vectors, completed=made, total=made + ix.vectors.waiting or None)

        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def kept(where: Place) -> None:
    """Says on stderr, if that is a terminal, what a daemon keeps there and how to end it."""
    if _on_terminal():
        root, db = (plain(display_path(path)) for path in (where.tree.path, os.fsencode(where.db)))
        print(f"ckvd keeps {root} in {db}; Ctrl-C ends it", file=sys.stderr, flush=True)


def awaited(where: Place, pid: int) -> None:
    """Says on stderr, if that is a terminal, who writes the database already."""
    if _on_terminal():
        db = plain(display_path(os.fsencode(where.db)))
        print(f"waiting for pid {pid}, which writes {db}; Ctrl-C ends the wait", file=sys.stderr, flush=True)


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
