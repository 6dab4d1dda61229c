"""Names against a query, by the vectors of their words."""

from __future__ import annotations

import numpy as np
import pytest

from ckvd.closeness import closeness
from ckvd.embed import embedder, registry
from ckvd.query import parse
from ckvd.rank import Candidate, order

TABLE = np.array([[1, 0, 0], [0.6, 0.8, 0], [-1, 0, 0], [0, 0, 1]], np.float32)


def test_each_word_counts_by_its_nearest_in_the_name_and_by_its_weight() -> None:
    found = closeness([[0], [3]], [3.0, 1.0], [[1, 3], [2], [0], []], TABLE)
    assert found == pytest.approx([(3 * 0.6 + 1) / 4, 0, 3 / 4, 0])


def test_without_words_or_names_nothing_is_near() -> None:
    assert closeness([], [], [[0]], TABLE) == [0.0]
    assert closeness([[0]], [1.0], [[], []], TABLE) == [0.0, 0.0]
    assert closeness([[0]], [1.0], [], TABLE) == []
    assert closeness([[0]], [0.0], [[0]], TABLE) == [0.0]


def test_the_pieces_of_the_model_that_ships_are_unit_vectors_by_word() -> None:
    found = embedder.load(registry.resolve(registry.DEFAULT)).pieces(["remove", "delete_remove", "banana"])
    assert found is not None
    (remove,), both, (banana,) = found[0]
    assert remove in both
    assert np.linalg.norm(found[1], axis=1) == pytest.approx(1, abs=1e-5)
    (delete,) = {*both} - {remove}
    assert found[1][remove] @ found[1][delete] > found[1][remove] @ found[1][banana] + 0.3


def test_a_model_without_vectors_of_tokens_has_none() -> None:
    assert embedder.load(registry.resolve("hash")).pieces(["remove"]) is None


def test_a_name_that_means_it_comes_before_one_that_does_not() -> None:
    one = Candidate(1, "a.py::f", "a.py", "symbol", "function", "fine", "wipe", 0, 10, 1)
    other = one._replace(id=2, chunk_id="a.py::g", symbol="paint", start=20, end=30)
    query, words = parse("delete all of it"), {1: 5.0, 2: 5.1}
    assert [r.candidate.id for r in order(query, [one, other], words, {}, {})] == [2, 1]
    close = {1: 0.5, 2: 0.1}
    assert [r.candidate.id for r in order(query, [one, other], words, {}, {}, "hybrid", close)] == [1, 2]
