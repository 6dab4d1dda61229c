"""How work grows with its input: a ratio of two runs, so that no machine is too slow for it."""

from __future__ import annotations

import time
from collections.abc import Callable

_GROWTH = 4
_BETWEEN = 9
"""Four times the input is four times the work where that is linear, sixteen times where it is quadratic."""
_TOO_LITTLE_S = 0.25
"""Less than this tells nothing of growth, and is no trouble to anyone."""


def grows_linearly(work: Callable[[int], object], size: int) -> bool:
    """Whether `work(size)` takes at most nine times the CPU time of `work(size / 4)`; asked three times."""
    quarter = size // _GROWTH
    quarter += (size - quarter) % 2  # what opens at odd places and closes at even ones ends alike in both
    for _ in range(3):
        whole = _cpu_s(work, size)
        if whole < _TOO_LITTLE_S or whole < _BETWEEN * _cpu_s(work, quarter):
            return True
    return False


def _cpu_s(work: Callable[[int], object], size: int) -> float:
    begun = time.process_time()
    work(size)
    return time.process_time() - begun
