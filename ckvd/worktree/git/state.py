"""What of git decides about an index, in a form that is cheap to take and to compare. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ckvd.worktree.git.listing import changed
from ckvd.worktree.git.refs import Head
from ckvd.worktree.paths import join


@dataclass(frozen=True, slots=True)
class State:
    """`head` is for `meta` alone. `tracked` has the names in the index of each repository (by its path from
    the root), since being tracked outweighs every rule; `rules` is what else decides, equal as long as the
    rules outside the tree are."""

    head: Head
    tracked: tuple[tuple[bytes, bytes], ...]
    rules: tuple[object, ...]

    def turned(self, before: State) -> set[bytes] | None:
        """The paths that were tracked at only one of two times; None where the rules are others."""
        if self.rules != before.rules:
            return None
        if self.tracked == before.tracked:
            return set()
        old, new = dict(before.tracked), dict(self.tracked)
        paths = set(old.keys() ^ new.keys())
        for place in old.keys() & new.keys():
            if old[place] != new[place]:
                paths.update(join(place, path) for path in changed(old[place], new[place]))
        return paths
