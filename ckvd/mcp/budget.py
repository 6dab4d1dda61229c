"""Search hits cut to a number of tokens. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ckvd.search import Hit

BYTES_PER_TOKEN = 3
"""Source seldom has fewer bytes to a token of a language model: an estimate from above for any of them."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A hit as far as it is told: `header` is empty where `header_of` names an earlier hit with the same
    one; `body` is cut at a line's end where `cut`, and empty where nothing of it had room."""

    hit: Hit
    header: str
    header_of: str | None
    body: str
    cut: bool


def tokens(text: str) -> int:
    """An estimate from above of a text's tokens."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


def fit(hits: Iterable[Hit], budget: int) -> Iterator[Fitted]:
    """All of `hits` in their order, with headers and bodies of at most `budget` tokens together.

    A header is told once. A hit without room for its header is only named.
    """
    told: dict[str, str] = {}
    for hit in hits:
        header_of = told.get(hit.header)
        header = "" if header_of else hit.header
        room = budget - tokens(header)
        if room <= 0:
            yield Fitted(hit, "", header_of, "", bool(hit.body))
            continue
        if hit.header:
            told.setdefault(hit.header, hit.chunk_id)
        body = _lines_within(hit.body, room)
        budget = room - tokens(body)
        yield Fitted(hit, header, header_of, body, len(body) < len(hit.body))


def _lines_within(text: str, limit: int) -> str:
    """As many whole lines from its beginning as `limit` tokens have room for."""
    if tokens(text) <= limit:
        return text
    whole = text.encode()[: limit * BYTES_PER_TOKEN]
    return whole[: whole.rfind(b"\n") + 1].decode()
