"""Worker processes that parse and cut, each with a time and a memory limit, that can die and be replaced.

A grammar can hang, eat memory or kill its process: that costs one file, which is then cut without its
grammar and says why. Each worker is a plain subprocess on a socket pair, served by one thread here.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from ckvd.analyze import GiveUp, Job, skipped
from ckvd.embed.registry import ModelSpec
from ckvd.model import FileResult
from ckvd.worker import Limits

_POLL_S = 0.05
_ALIVE_S = 0.1
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = os.sysconf("SC_CLK_TCK")

_LONG = GiveUp("timeout")
"""What took long without much CPU time: the machine or the process stood still, or it waits for ever."""


def _usage(pid: int) -> tuple[float, int] | None:
    """CPU seconds and resident bytes of a process; None where /proc does not tell."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            fields = f.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / _TICK, int(fields[21]) * _PAGE


class _Worker:
    """One subprocess and its socket; started when first needed."""

    def __init__(self, model: ModelSpec, limits: Limits) -> None:
        self.model = model
        self._started_with = model
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection[Any, Any] | None = None
        self._closed = False

    def _start(self) -> Connection[Any, Any]:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                # -P: the current folder may be of the tree, where a json.py is anybody's.
                [sys.executable, "-P", "-c", f"from ckvd.worker import serve; serve({theirs.fileno()})"],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C in a terminal is for the parent alone
            )
        self._connection = Connection(ours.detach())
        if self._closed:  # just now, so that the process may have been missed
            self._process.kill()
        self._started_with = self.model
        self._connection.send((self._started_with, self._limits))
        return self._connection

    def run(self, job: Job) -> FileResult:
        """The job's result; a job that kills its worker is run again without its grammar.

        One whose worker was merely held up (stopped, starved) is tried once more before that.
        """
        outcome = self._attempt(job)
        if outcome is _LONG:
            outcome = self._attempt(job)
        if not isinstance(outcome, FileResult):
            outcome = self._attempt(replace(job, give_up=outcome))
        if not isinstance(outcome, FileResult):
            size, detail = len(job.data), outcome.detail or None
            return skipped(job.path, outcome.reason, size=size, detail=detail, blob_oid=job.blob_oid)
        return outcome

    def _attempt(self, job: Job) -> FileResult | GiveUp:
        if self._closed:
            raise CancelledError
        connection = self._connection
        peak = 0
        try:
            if (
                connection is None
                or self._process is None
                or self._process.poll() is not None
                or self._started_with != self.model
            ):
                self.stop()
                connection = self._start()
            assert self._process is not None
            before = _usage(self._process.pid)
            connection.send(job)
            began = time.monotonic()
            cpu = self._limits.cpu(len(job.data))
            while not connection.poll(_POLL_S):
                usage = _usage(self._process.pid)
                if usage is not None:
                    peak = max(peak, usage[1])
                    if usage[1] > self._limits.memory:
                        return self._end(GiveUp("memory"))
                    if before is not None and usage[0] - before[0] > cpu:
                        return self._end(GiveUp("timeout"))
                if time.monotonic() - began > cpu * self._limits.wall_factor:
                    return self._end(_LONG)
            result: FileResult | GiveUp = connection.recv()
            return result
        except (EOFError, OSError):
            # A failed allocation aborts the process: tell it from other crashes by what it held last.
            return self._end(GiveUp("memory" if peak > self._limits.memory // 2 else "crashed"))

    def _end(self, why: GiveUp) -> GiveUp:
        self.stop()
        return why

    @property
    def running(self) -> bool:
        return self._process is not None

    def close(self) -> None:
        """From another thread: ends the process, so that the job under way fails, and starts no other."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()

    def stop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


_Item = tuple[Job, "Future[FileResult]"]


class Pool:
    """`size` workers. Use as a context manager, or `close()` it.

    Workers start on demand; the first takes what it can alone, the others help while jobs wait, and end
    when idle for `limits.idle_s`. Raises nothing for a file: what goes wrong with one is in its `FileResult`.
    """

    def __init__(self, size: int, model: ModelSpec, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._waiting: deque[_Item] = deque()
        self._changed = threading.Condition()
        self._first_is_busy = False
        self._closed = False
        self._finished = time.monotonic()
        self._workers = [_Worker(model, self._limits) for _ in range(max(1, size))]
        self._threads = [
            threading.Thread(target=self._serve, args=(worker, i == 0), daemon=True)
            for i, worker in enumerate(self._workers)
        ]
        for t in self._threads:
            t.start()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def use(self, model: ModelSpec) -> None:
        """Counts by this model's tokenizer from the next job on."""
        for worker in self._workers:
            worker.model = model

    @property
    def idle_s(self) -> float:
        """Seconds since a file was last finished: with files due, a wedged pool shows as a large value."""
        return time.monotonic() - self._finished

    @property
    def size(self) -> int:
        return len(self._threads)

    def submit(self, job: Job) -> Future[FileResult]:
        future: Future[FileResult] = Future()
        with self._changed:
            self._waiting.append((job, future))
            self._changed.notify_all()
        return future

    def run(self, jobs: Iterable[Job], alive: Callable[[], None] = lambda: None) -> Iterator[FileResult]:
        """Results in the order in which they come; reads `jobs` no further ahead than the workers need.

        `alive` is called again and again while none comes: what it raises ends the run.
        """
        ahead = 4 * self.size
        pending: set[Future[FileResult]] = set()
        source = iter(jobs)
        try:
            while True:
                while len(pending) < ahead and (job := next(source, None)) is not None:
                    pending.add(self.submit(job))
                if not pending:
                    return
                done, pending = wait(pending, _ALIVE_S, FIRST_COMPLETED)
                if not done:
                    alive()
                for future in done:
                    yield future.result()
        finally:
            for future in pending:
                future.cancel()

    def _serve(self, worker: _Worker, first: bool) -> None:
        try:
            while (item := self._take(worker, first)) is not None:
                job, future = item
                if future.set_running_or_notify_cancel():
                    try:
                        future.set_result(worker.run(job))
                    except (CancelledError, OSError) as e:
                        future.set_exception(e)
                    self._finished = time.monotonic()
        finally:
            worker.stop()

    def _take(self, worker: _Worker, first: bool) -> _Item | None:
        """The next job for a worker, None when the pool is closed.

        Few jobs go to the first worker: it is running already, and another would have to start.
        """
        with self._changed:
            if first:
                self._first_is_busy = False
            while not self._closed:
                left_alone = 0 if first else 2 if not worker.running else 0 if self._first_is_busy else 1
                if len(self._waiting) > left_alone:
                    self._first_is_busy |= first
                    return self._waiting.popleft()
                idle_s = None if first or not worker.running else self._limits.idle_s
                if not self._changed.wait(idle_s):
                    worker.stop()
            return None

    def close(self) -> None:
        """Ends all workers; jobs that have not begun are cancelled."""
        with self._changed:
            self._closed = True
            for _, future in self._waiting:
                future.cancel()
            self._waiting.clear()
            self._changed.notify_all()
        for worker in self._workers:
            worker.close()
        for t in self._threads:
            t.join(timeout=2)


__all__ = ["CancelledError", "Limits", "Pool"]
