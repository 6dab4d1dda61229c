"""Drafts of a text that is not the source's own: their offsets, told as those of the source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ckvd.model import Frame, HeaderItem, Range
from ckvd.parse.draft import Draft

Place = Callable[[int], int]
"""An offset of the text → one of the source."""


def move(draft: Draft, place: Place) -> None:
    """Changes all offsets of a draft."""
    draft.found = replace(draft.found, start=place(draft.found.start))
    draft.start, draft.end, draft.lead = place(draft.start), place(draft.end), place(draft.lead)
    draft.whole = place(draft.whole)
    draft.declared, draft.above = place(draft.declared), place(draft.above)
    draft.head = place(draft.head)
    draft.tail = place(draft.tail)
    draft.group = _range(draft.group, place)
    draft.body = _range(draft.body, place) if draft.body else None
    draft.doc = _range(draft.doc, place) if draft.doc else None
    draft.imports = [moved(item, place) for item in draft.imports]
    draft.around = tuple(moved(item, place) for item in draft.around)
    draft.holds = _range(draft.holds, place) if draft.holds else None


def moved(item: HeaderItem, place: Place) -> HeaderItem:
    frames = tuple(Frame(place(f.start), place(f.head), place(f.end), f.closes) for f in item.frames)
    lead = place(item.lead) if item.lead is not None else None
    holds = _range(item.holds, place) if item.holds else None
    return replace(item, start=place(item.start), end=place(item.end), frames=frames, lead=lead, holds=holds)


def _range(of: Range, place: Place) -> Range:
    return place(of[0]), place(of[1])
