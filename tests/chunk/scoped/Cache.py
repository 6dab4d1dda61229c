"""Not told."""
import os, unused
from typing import (
    Any,
    Optional,
)
from .base import *

LIMIT = 3  # entries
OTHER = 4


@register(
    "cache",
)
class Cache(Base, metaclass=Meta):  # public
    """Keeps rows.

    Invariant: never more than LIMIT.
    """

    size: int = 0

    class Row(Base):
        """A row."""

        def get(self) -> Optional[Any]:
            return os.environ.get(LIMIT)
