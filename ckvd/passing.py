"""How far the pass under way is."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(slots=True)
class Progress:
    """How far the pass under way is; read by other threads, for people only."""

    files: int = 0
    """Taken up so far, of `of`."""
    of: int = 0
    pending: int = 0
    """Files known to differ from the database, those taken up whose rows are not committed too."""
    chunks: int = 0
    phase: str = ""
    began: float = 0.0

    def scan(self, changed: int) -> None:
        """A pass begins with a look at the tree; so many changes are known already."""
        self.phase, self.began = "scanning", time.monotonic()
        self.pending = max(self.pending, changed)

    def index(self, files: int, gone: int) -> None:
        """So many are to be read, and so many were removed."""
        self.files, self.of, self.phase = 0, files, "indexing"
        self.pending, self.began = files + gone, time.monotonic()

    def idle_s(self, worked: float) -> float:
        """Seconds without progress, where the last file was finished `worked` seconds ago."""
        return min(worked, time.monotonic() - self.began) if self.phase else 0.0

    @property
    def files_per_s(self) -> float | None:
        """How fast the pass under way is; None between passes."""
        took = time.monotonic() - self.began
        return self.files / took if self.phase == "indexing" and self.files and took > 1 else None
