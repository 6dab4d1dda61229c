"""SIGTERM and Ctrl-C as a wish to end, heard between two pieces of work."""

from __future__ import annotations

import signal
from collections.abc import Callable


class Signals:
    """SIGTERM and SIGINT in a block: the first asks for an end, whatever is under way just then."""

    def __init__(self) -> None:
        self.received = False
        self.wake: Callable[[], None] = lambda: None
        """Called by the handler: it may only put a message into a queue."""
        numbers = (signal.SIGTERM, signal.SIGINT)
        self._before = {number: signal.signal(number, self._handle) for number in numbers}

    def __enter__(self) -> Signals:
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, _number: int, _frame: object) -> None:
        self.received = True
        self.wake()
