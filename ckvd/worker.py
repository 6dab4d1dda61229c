"""A worker's own side: takes jobs from a socket, parses and cuts, until the socket closes."""

from __future__ import annotations

import os
import resource
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from ckvd.analyze import GiveUp, Job, analyze
from ckvd.model import FileResult


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may cost: CPU seconds (base and per MB of source), bytes of memory, idle seconds."""

    cpu_s: float = 10.0
    cpu_s_per_mb: float = 10.0
    wall_factor: float = 6.0
    memory: int = 1_500_000_000
    idle_s: float = 20.0

    def cpu(self, size: int) -> float:
        return self.cpu_s + self.cpu_s_per_mb * size / 1e6


def serve(fd: int) -> None:
    """The worker's side: takes jobs from the socket `fd` until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(5)
    connection: Connection[Any, Any] = Connection(fd)
    try:
        model, limits = connection.recv()
        # Address space, not residence: a runaway allocation between two looks of the parent ends here.
        resource.setrlimit(resource.RLIMIT_AS, (2 * limits.memory + 2_000_000_000,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        from ckvd.embed.tokenizer import load

        counter = load(model)
        while True:
            job = connection.recv()
            # The parent ends a job that takes too long; this ends one whose parent was killed. The signal's
            # own effect is wanted: a handler in Python would wait for the grammar to return.
            signal.setitimer(signal.ITIMER_PROF, 2 * limits.cpu(len(job.data)))
            outcome = _outcome(job, counter.count)
            signal.setitimer(signal.ITIMER_PROF, 0)
            connection.send(outcome)
    except (EOFError, OSError):
        return


def _outcome(job: Job, count: Callable[[str], int]) -> FileResult | GiveUp:
    try:
        return analyze(job, count)
    except MemoryError:
        return GiveUp("memory")
    except Exception as e:  # noqa: BLE001 - the boundary: a fault here costs this file, whose row names it
        last = traceback.extract_tb(e.__traceback__)[-1]
        return GiveUp("crashed", f"{type(e).__name__} in {os.path.basename(last.filename)}:{last.lineno}")
