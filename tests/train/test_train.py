"""The program that trains the model that ships: its gradient, and what it takes for a query."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

TRAIN = Path(__file__).parents[1] / "bench" / "train"
sys.path.insert(0, str(TRAIN))

import loss  # noqa: E402 - where the program has its modules
import pairs  # noqa: E402


def test_the_gradient_is_that_of_the_loss() -> None:
    chance = np.random.default_rng(0)
    q, d = chance.standard_normal((2, 6, 8))
    same = np.zeros((6, 6), bool)
    same[0, 3] = same[3, 0] = True
    _, gq, gd = loss.loss(q, d, same)
    for values, gradient in ((q, gq), (d, gd)):
        for at in [(0, 0), (3, 1), (5, 7), (2, 4)]:
            old, step = values[at], 1e-5
            values[at] = old + step
            above, _, _ = loss.loss(q, d, same)
            values[at] = old - step
            below, _, _ = loss.loss(q, d, same)
            values[at] = old
            assert gradient[at] == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-6)


def test_nothing_that_is_measured_on_is_trained_on() -> None:
    table = tomllib.loads((TRAIN / "packages.toml").read_text("utf-8"))
    names = {name for licences in table.values() for versions in licences.values() for name in versions}
    parts = {part for name in names for part in name.replace("@", "").replace("/", "-").lower().split("-")}
    assert parts & pairs.HELD_BACK == set()
    allowed = {"MIT", "MIT-CMU", "ISC", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "Apache-2.0", "PSF-2.0"}
    others = {"MIT OR Apache-2.0", "LicenseRef-Biopython"}
    assert {licence for by in table.values() for licence in by} <= allowed | others


def test_documentation_and_comments_are_queries_and_no_part_of_the_code() -> None:
    source = b'''class Cache:
    """Entries that were used last."""

    def evict_oldest(self, n):
        """Drop n entries with evict_oldest, the first ones first. Then more."""
        for _ in range(n):
            # the order of a dict is that of insertion
            self.items.pop(next(iter(self.items)))
'''
    found = {record.name: record for record in pairs.records("pkg/cache.py", source)}
    method = found["evict_oldest"]
    assert method.sentence == "Drop n entries with , the first ones first."
    assert method.comments == ("the order of a dict is that of insertion",)
    assert method.prefix == "language: python. file: pkg/cache.py. symbol: Cache.evict_oldest (Method)."
    assert "Drop" not in method.body
    assert "insertion" not in method.body
    assert "self.items.pop" in method.body
    assert "used last" not in found["Cache"].body


@pytest.mark.parametrize(
    "path",
    ["src/vendor/x.py", "pip/_vendor/requests/api.py", "a/click/core.py", "tests/test_x.py", "a.min.js"],
)
def test_copies_tests_and_what_is_measured_on_are_passed_over(path: str) -> None:
    assert not pairs.wanted(path, b"def f(): pass\n")
    assert pairs.wanted("src/pkg/x.py", b"def f(): pass\n")
