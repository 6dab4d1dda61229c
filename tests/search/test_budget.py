"""The best set of hits within a number of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckvd.budget import Fitted, fit, headers_once
from ckvd.hit import Hit, Results
from ckvd.report import hits as forms

BASE = Hit(
    id=1,
    chunk_id="a.py::f",
    path="a.py",
    language="python",
    unit="symbol",
    kind="function",
    grain="fine",
    symbol="f",
    start_line=1,
    end_line=2,
    start_byte=0,
    end_byte=10,
    part=1,
    parts=1,
    rendering="source",
    tokens=1,
    header="",
    body="x",
    score=1.0,
    exact=False,
)
HEADER = "class C: " + "h " * 20


def words(text: str) -> int:
    return len(text.split())


def hit(n: int, body: int, header: str = "", path: str = "a.py") -> Hit:
    """The `n`th of a file, of so many words."""
    return replace(
        BASE,
        id=n,
        chunk_id=f"{path}::{n}",
        path=path,
        symbol=str(n),
        start_byte=n * 10,
        end_byte=n * 10 + 9,
        header=header,
        body="b " * body,
        score=1 / (n + 1),
    )


def class_of(hits: Sequence[Hit], body: int, rendering: str = "source") -> dict[str, Hit]:
    """One class around all of them, of so many words."""
    first, last = min(h.start_byte for h in hits), max(h.end_byte for h in hits)
    around = replace(
        BASE,
        id=99,
        chunk_id="a.py::C",
        symbol="C",
        kind="class",
        grain="coarse",
        start_byte=first,
        end_byte=last + 50,
        rendering=rendering,
        body="c " * body,
    )
    return {h.chunk_id: around for h in hits}


def ids(fitted: Fitted) -> list[str]:
    return [h.chunk_id.removeprefix("a.py::") for h in fitted.hits]


class TestRoom:
    def test_what_has_no_room_is_passed_over_for_what_has(self) -> None:
        hits = [hit(0, 30), hit(1, 200), hit(2, 30)]
        assert ids(fit(hits, {}, 90, words)) == ["0", "2"]
        assert ids(fit(hits, {}, 10_000, words)) == ["0", "1", "2"]

    def test_a_header_is_told_and_counted_once(self) -> None:
        hits = [hit(0, 5, HEADER), hit(1, 5, HEADER), hit(2, 5)]
        fitted = fit(hits, {}, 10_000, words)
        assert [(h.header, h.header_of) for h in fitted.hits] == [(HEADER, None), ("", "a.py::0"), ("", None)]
        apart = sum(fit([h], {}, 10_000, words).tokens for h in hits)
        assert fitted.tokens < apart - 10

    def test_none_has_room(self) -> None:
        assert fit([hit(0, 30)], {}, 20, words) == Fitted((), 0)


class TestClasses:
    methods = (hit(0, 40, HEADER), hit(1, 40, HEADER), hit(2, 40, HEADER))

    def test_the_class_where_it_takes_no_more_than_its_methods(self) -> None:
        (told,) = fit(self.methods, class_of(self.methods, 130), 1000, words).hits
        assert (told.chunk_id, told.score, told.matches) == (
            "a.py::C",
            1.0,
            ("a.py::0", "a.py::1", "a.py::2"),
        )

    def test_the_methods_where_it_takes_more(self) -> None:
        assert ids(fit(self.methods, class_of(self.methods, 400), 1000, words)) == ["0", "1", "2"]

    def test_one_method_is_no_reason(self) -> None:
        assert ids(fit(self.methods[:1], class_of(self.methods[:1], 5), 1000, words)) == ["0"]

    def test_an_outline_never_takes_the_place_of_a_body(self) -> None:
        assert ids(fit(self.methods, class_of(self.methods, 5, "outline"), 1000, words)) == ["0", "1", "2"]

    def test_an_outline_stands_for_methods_without_room(self) -> None:
        large = [hit(0, 400), hit(1, 400)]
        assert ids(fit(large, class_of(large, 20, "outline"), 100, words)) == ["C"]

    def test_what_it_spares_is_used(self) -> None:
        other = hit(3, 60, path="b.py")
        assert ids(fit([*self.methods, other], {}, 230, words)) == ["0", "1", "2"]
        found = fit([*self.methods, other], class_of(self.methods, 60), 230, words)
        assert ids(found) == ["C", "b.py::3"]


texts = st.integers(0, 60)
pools = st.lists(st.tuples(texts, st.sampled_from(["", HEADER, "import x"])), max_size=8).map(
    lambda rows: [hit(n, body, header) for n, (body, header) in enumerate(rows)]
)


@given(pools, st.integers(1, 400), st.integers(0, 200), st.sampled_from(["source", "outline"]), st.data())
def test_no_budget_is_exceeded_in_any_form(
    hits: list[Hit], budget: int, size: int, rendering: str, data: st.DataObject
) -> None:
    some = data.draw(st.lists(st.sampled_from(hits), unique_by=lambda h: h.id)) if hits else []
    fitted = fit(hits, class_of(some, size, rendering) if some else {}, budget, words)
    assert fitted.tokens <= budget
    results = Results(fitted.hits, len(hits), 1, "keyword", "", fitted.tokens)
    if fitted.hits:
        assert words(forms.text(results).replace("┆", "")) <= budget
        assert words(forms.markdown(results).replace("#", "").replace("```", "")) <= budget
    spans = sorted((h.start_byte, h.end_byte) for h in fitted.hits)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


@given(pools, st.integers(1, 400))
def test_the_best_that_has_room_alone_is_there(hits: list[Hit], budget: int) -> None:
    fitted = fit(hits, {}, budget, words)
    alone = [h.chunk_id for h in hits if fit([h], {}, budget, words).hits]
    assert [h.chunk_id for h in fitted.hits][:1] == alone[:1]
    assert fitted == fit(hits, {}, budget, words)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_headers_once_keeps_what_is_distinct(n: int) -> None:
    hits = [hit(i, 1, f"header {i}") for i in range(n)]
    assert headers_once(hits) == tuple(hits)
