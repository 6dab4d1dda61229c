"""The best set of hits within a number of tokens. Pure.

A hit costs its title, its header where no earlier one has told it, and its body. Hits are taken in their
order, and one without room is passed over for a later one that has it. None is cut short.

Several methods of one class become the class where that takes no more tokens than they: it says more. Where
none of them has room, but the class does (a large one is an outline), it stands for them too.

Against the hits in their order, without classes, on development packages: of 30 classes asked for by their
documentation the share within 500, 2,000 and 8,000 tokens is 0.70, 0.82 and 0.90, where it was 0.63, 0.75 and
0.77; of 95 functions it is the same, 0.87, 0.96 and 0.99. To stop at the first hit without room loses 0.02 of
the functions at 500 tokens and nothing above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ckvd.hit import Hit, title

Count = Callable[[str], int]
"""The tokens of a text."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The hits that have room, best first, each header told once; `tokens` is what they take together."""

    hits: tuple[Hit, ...]
    tokens: int


def fit(hits: Sequence[Hit], classes: Mapping[str, Hit], budget: int, count: Count) -> Fitted:
    """The best of `hits` (best first, none overlapping) that take at most `budget` tokens together.

    `classes` has the class around a hit by the hit's chunk id, where there is one.
    """
    costs = _Costs(count)
    chosen = _filled([], hits, budget, costs)
    for class_, methods in _by_class(hits, classes):
        within = [hit for hit in chosen if _overlap(class_, hit)]
        if not all(holds(class_, hit) for hit in within):
            continue  # it lies in a class that was taken already
        if within and class_.rendering == "outline":
            continue  # without the bodies it says less
        left = [hit for hit in chosen if hit not in within]
        merged = _in_order([*left, standing_for(class_, [*methods, *within])], hits)
        if costs.of(merged) <= (costs.of(chosen) if within else budget):
            chosen = merged
    chosen = _filled(chosen, hits, budget, costs)
    return Fitted(headers_once(chosen), costs.of(chosen))


def _filled(chosen: Sequence[Hit], hits: Sequence[Hit], budget: int, costs: _Costs) -> list[Hit]:
    """`chosen` and what else of `hits` has room and overlaps none of them."""
    out = list(chosen)
    for hit in hits:
        if not any(_overlap(hit, other) for other in out) and costs.of([*out, hit]) <= budget:
            out.append(hit)
    return _in_order(out, hits)


def headers_once(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """The hits, a header that an earlier one of them has left out and that one named."""
    told: dict[str, str] = {}
    out = []
    for hit in hits:
        first = told.setdefault(hit.header, hit.chunk_id) if hit.header else hit.chunk_id
        out.append(hit if first == hit.chunk_id else replace(hit, header="", header_of=first))
    return tuple(out)


class _Costs:
    """Tokens of texts, each counted once."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._known: dict[str, int] = {}

    def of(self, hits: Iterable[Hit]) -> int:
        """Of hits that are told together, in this order, with all that any form puts around them."""
        told: dict[str, str] = {}
        total = 0
        for hit in hits:
            first = told.setdefault(hit.header, hit.chunk_id) if hit.header else hit.chunk_id
            header = hit.header if first == hit.chunk_id else f"that of {first} above"
            frame = f"1. context {hit.language} code {hit.language}"
            total += sum(map(self._text, (title(hit), frame, header, hit.body)))
        return total

    def _text(self, text: str) -> int:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._count(text)
        return known


def _by_class(hits: Iterable[Hit], classes: Mapping[str, Hit]) -> list[tuple[Hit, list[Hit]]]:
    """The classes with several of `hits` in them, in the order of their best, and those hits."""
    found: dict[str, tuple[Hit, list[Hit]]] = {}
    for hit in hits:
        class_ = classes.get(hit.chunk_id)
        if class_ is not None:
            found.setdefault(class_.chunk_id, (class_, []))[1].append(hit)
    return [(class_, methods) for class_, methods in found.values() if len(methods) > 1]


def _overlap(a: Hit, b: Hit) -> bool:
    return a.path == b.path and a.start_byte < b.end_byte and b.start_byte < a.end_byte


def holds(class_: Hit, hit: Hit) -> bool:
    return class_.path == hit.path and class_.start_byte <= hit.start_byte and hit.end_byte <= class_.end_byte


def standing_for(class_: Hit, hits: Sequence[Hit]) -> Hit:
    """The class in the place of hits within it."""
    matches = dict.fromkeys(id_ for hit in hits for id_ in hit.matches or (hit.chunk_id,))
    return replace(class_, score=max(hit.score for hit in hits), matches=tuple(matches))


def _in_order(hits: Iterable[Hit], order: Sequence[Hit]) -> list[Hit]:
    """As `order` has them, a class where the best of those that it stands for was."""
    rank = {hit.chunk_id: n for n, hit in enumerate(order)}
    return sorted(hits, key=lambda hit: min(rank[id_] for id_ in (hit.chunk_id, *hit.matches) if id_ in rank))
