"""Waiting for what another process will do."""

from __future__ import annotations

import time
from collections.abc import Callable

SOON_S = 20.0


def wait_until(condition: Callable[[], object], what: str, seconds: float = SOON_S) -> None:
    """Asks every 10 ms; fails after `seconds`."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"never came: {what}"
        time.sleep(0.01)
