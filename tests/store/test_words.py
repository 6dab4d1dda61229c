"""Splitting identifiers: the same words for what is indexed and for what is asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckvd.words import split, words


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("HTTPServerPool", "http server pool"),
        ("getHTTPResponseCode", "get http response code"),
        ("ROUND_HALF_EVEN", "round half even"),
        ("atomic_write_json", "atomic write json"),
        ("atomicWriteJson", "atomic write json"),
        ("parseXMLToDict", "parse xml to dict"),
        ("SHIPPING_METHOD_ID", "shipping method id"),
        ("__init_subclass_hook__", "init subclass hook"),
        ("naïve_Größe", "naïve größe"),
        ("userID2", "user id 2"),
        ("userIDs", "user ids"),
        ("URLsList", "urls list"),
        ("sha256sum", "sha 256 sum"),
        ("_evict", "evict"),
        ("ShardedLRUCache", "sharded lru cache"),
        ("std::vector", "std vector"),
        ("x-y", "x y"),
        ("C++", "c"),
        ("ÉcoleNormale", "école normale"),
        ("word", "word"),
        ("", ""),
        ("__", ""),
    ],
)
def test_split(identifier: str, expected: str) -> None:
    assert " ".join(split(identifier)) == expected


def test_words_are_the_parts_of_compound_runs_once_and_in_order() -> None:
    text = "def getHTTPCode(userID2): return atomic_write(userID2) or HTTP or Getter or 42"
    assert words(text) == "get http code user id 2"


@given(st.text())
def test_splitting_loses_no_letter_and_keeps_the_order(text: str) -> None:
    assert "".join(split(text)) == "".join(c for c in text if c.isalnum()).lower()


@given(st.text())
def test_parts_split_no_further(text: str) -> None:
    for part in split(text):
        if part.isascii():
            assert split(part) == (part,)


@given(st.lists(st.from_regex(r"[a-z]{2,6}", fullmatch=True), min_size=2, max_size=5))
def test_every_spelling_of_the_same_words_splits_alike(parts: list[str]) -> None:
    snake = "_".join(parts)
    camel = parts[0] + "".join(p.title() for p in parts[1:])
    assert split(snake) == split(snake.upper()) == split(camel) == tuple(parts)
