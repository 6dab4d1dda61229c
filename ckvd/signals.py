"""SIGTERM and Ctrl-C as a wish to end, heard between two pieces of work and told to those under way."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
from collections.abc import Callable, Iterator

_AGAIN_S = 0.1
"""How often those who are to end are told again: a piece of work may have begun just after it was told."""

_NUMBERS = (signal.SIGTERM, signal.SIGINT)


class Signals:
    """SIGTERM and SIGINT in a block: the first asks for an end, whatever is under way just then.

    A thread of its own hears of them too, since the main one may be inside SQLite or wait for a process.
    """

    def __init__(self) -> None:
        self.received = False
        self._told: list[Callable[[], None]] = []
        self._heard, self._told_by_signal = os.pipe()
        os.set_blocking(self._told_by_signal, False)
        self._before = {number: signal.signal(number, self._handle) for number in _NUMBERS}
        self._wakeup = signal.set_wakeup_fd(self._told_by_signal, warn_on_full_buffer=False)
        self._thread = threading.Thread(target=self._listen, name="signals", daemon=True)
        self._thread.start()

    def __enter__(self) -> Signals:
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self._told_by_signal)
        self._thread.join()
        os.close(self._heard)

    @contextlib.contextmanager
    def telling(self, callback: Callable[[], None]) -> Iterator[None]:
        """For the time of a block, calls back once an end is asked for, again and again, from a thread."""
        self._told.append(callback)
        try:
            yield
        finally:
            self._told.remove(callback)

    def _handle(self, _number: int, _frame: object) -> None:
        self.received = True

    def _listen(self) -> None:
        while True:
            if select.select([self._heard], [], [], _AGAIN_S if self.received else None)[0]:
                numbers = os.read(self._heard, 64)
                if not numbers:
                    return
                self.received |= not set(_NUMBERS).isdisjoint(numbers)
            if self.received:
                for callback in tuple(self._told):
                    callback()
