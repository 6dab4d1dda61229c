"""What the imports and constants of a file bind: which of them go with a body, by the words in it."""

from __future__ import annotations

from collections.abc import Sequence, Set

from ckvd.chunk.members import words_of
from ckvd.chunk.source import Source
from ckvd.model import HeaderItem

MAX_TWINS = 8
"""A name that more constants and imports of a file bind than this says nothing (a macro read as a type)."""


class Bound:
    """`always` go with every body; `names` are the words that say which of the others do; `by` those of them
    that a function says of what is not its own (`global $x`), and code outside of functions need not."""

    def __init__(self, source: Source, items: Sequence[HeaderItem]) -> None:
        unsaid = _unsaid(source, items)
        self.always = [i for i in items if not i.names or (i.acts and i.names & unsaid)]
        bound: dict[tuple[bytes, ...], list[HeaderItem]] = {}
        by: set[bytes] = set()
        for item in items:
            for name in item.names:
                words = words_of(name)
                bound.setdefault(words, []).append(item)
                by.update(words[:-1] if " " in name else ())
        self._bound: dict[bytes, list[tuple[tuple[bytes, ...], list[HeaderItem]]]] = {}
        for words, twins in bound.items():
            if len(twins) <= MAX_TWINS:
                self._bound.setdefault(words[-1], []).append((words, twins))
        self.names = frozenset(w for named in self._bound.values() for words, _ in named for w in words)
        self.by = by & self.names

    def used(self, words: Set[bytes]) -> list[HeaderItem]:
        """The items of which all words are said; `words` are among `names`."""
        found = (named for word in words for named in self._bound.get(word, ()))
        return [item for name, twins in found if words >= set(name) for item in twins]


def _unsaid(source: Source, items: Sequence[HeaderItem]) -> set[str]:
    """The names of imports that act, as far as nothing but an import says them."""
    names = {name for item in items if item.acts for name in item.names}
    imports = [item for item in items if item.kind == "import"] if names else []
    at = 0
    for start, end in [*((i.start, i.end) for i in imports), (len(source.data), len(source.data))]:
        said = source.identifiers(at, start) if at < start else set[bytes]()
        names = {name for name in names if not said.issuperset(words_of(name))}
        at = max(at, end)
    return names
