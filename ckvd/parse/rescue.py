"""Symbols of a damaged block that was read by itself, put back in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ckvd.languages.schema import VALUES
from ckvd.model import Range
from ckvd.parse.draft import Draft


def rescued(inside: Sequence[Draft], others: Sequence[Draft], block: Range) -> list[Draft]:
    """The drafts that begin in the block, cut off at its end, as damaged parts of what encloses it."""
    start, end = block
    holders = [d for d in others if d.start <= start and end <= d.end and d.kind not in VALUES]
    holder = min(holders, key=lambda d: d.end - d.start, default=None)
    kept: dict[int, Draft] = {}
    for draft in inside:
        if not start <= draft.start < end or draft.found.start >= end:
            continue
        scope = kept.get(id(draft.scope), holder) if draft.scope is not None else holder
        body = draft.body
        if body is not None:
            body = (body[0], min(body[1], end)) if body[0] < end else None
        doc = draft.doc if draft.doc is not None and draft.doc[1] <= end else None
        kept[id(draft)] = replace(
            draft,
            parents=(*_names(scope), *draft.found.parents),
            end=min(draft.end, end),
            head=min(draft.head, end),
            group=(draft.start, min(draft.end, end)),
            above=draft.lead,
            body=body,
            doc=doc,
            scope=scope,
            clean=False,
            tail=0,
        )
    return list(kept.values())


def _names(scope: Draft | None) -> tuple[str, ...]:
    if scope is None:
        return ()
    return (*scope.parents, scope.found.name) if scope.rule.scope else scope.parents
