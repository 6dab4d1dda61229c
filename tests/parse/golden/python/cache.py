"""A cache with an invariant."""

from __future__ import annotations

import os.path
import typing as t
from collections import OrderedDict, deque as Deque
from .base import *

LIMIT = 128
_default: int = 3
first, second = 1, 2

if t.TYPE_CHECKING:
    from .types import Key

type Pair[T] = tuple[T, T]


# Entries are kept in order of use.
@t.final
class Cache[K](OrderedDict):
    """Evicts the least recently used.

    Never holds more than LIMIT entries.
    """

    SIZE = 8
    size: int = LIMIT
    __slots__ = ("a",)

    def __init__(self, size: int) -> None:
        self.size = size
        # A comment at the end of a body.

    @property
    async def oldest(self) -> K:
        """The key that goes next."""

        def inner():
            return next(iter(self))

        return inner()

    def stub(self): ...


def outer(x):
    "One line."


try:
    import fast
except ImportError:

    def fallback():
        pass
