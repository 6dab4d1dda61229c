from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckvd.query import parse
from ckvd.rank import Candidate, Ranked, best_name, is_test, name_match, order, without_overlaps

BASE = Candidate(1, "a.py::f", "a.py", "symbol", "function", "fine", "f", 0, 10, 1)


def candidate(
    id_: int, symbol: str, *, path: str = "a.py", start: int | None = None, end: int | None = None
) -> Candidate:
    begin = id_ * 100 if start is None else start
    return BASE._replace(
        id=id_,
        chunk_id=f"{path}::{symbol}",
        path=path,
        symbol=symbol,
        start=begin,
        end=end or begin + 50,
    )


def ids(ranked: list[Ranked]) -> list[int]:
    return [r.candidate.id for r in ranked]


class TestOrder:
    query = parse("drop the oldest entry")

    def test_words_and_vectors_add_up(self) -> None:
        found = [candidate(i, s) for i, s in enumerate("abc")]
        assert ids(order(self.query, found, {0: 9.0, 1: 8.0}, {1: 0.8, 2: 0.9}, {})) == [1, 2, 0]

    def test_the_scale_of_either_search_does_not_matter(self) -> None:
        found = [candidate(i, s) for i, s in enumerate("abc")]
        bm25, cosine = {0: 9.0, 1: 5.0}, {1: 0.3, 2: 0.4}
        one = order(self.query, found, bm25, cosine, {})
        other = order(
            self.query, found, {k: 7 * v for k, v in bm25.items()}, {k: v / 3 for k, v in cosine.items()}, {}
        )
        assert ids(one) == ids(other)
        assert [r.score for r in one] == pytest.approx([r.score for r in other])

    def test_a_name_that_says_it_wins_a_tie(self) -> None:
        found = [candidate(1, "f"), candidate(2, "drop_oldest")]
        assert ids(order(self.query, found, {1: 1.0, 2: 1.0}, {}, {})) == [2, 1]

    def test_in_mode_vector_the_cosine_alone_decides(self) -> None:
        found = [candidate(1, "drop_oldest"), candidate(2, "x", path="tests/test_x.py")]
        ranked = order(self.query, found, {1: 9.0}, {1: 0.5, 2: 0.6}, {1: 2}, "vector")
        assert [(r.candidate.id, r.score) for r in ranked] == [(2, 0.6), (1, 0.5)]

    def test_what_has_nothing_to_do_with_the_query_is_no_hit(self) -> None:
        found = [candidate(1, "a"), candidate(2, "b")]
        assert ids(order(self.query, found, {}, {1: 0.2, 2: -0.1}, {})) == [1]

    @pytest.mark.parametrize("path", ["tests/test_cache.py", "vendor/lib/cache.go", "static/jquery.min.js"])
    def test_tests_and_copies_come_after_the_code(self, path: str) -> None:
        found = [candidate(1, "f", path=path), candidate(2, "f", path="src/cache.py")]
        assert ids(order(self.query, found, {1: 5.0, 2: 5.0}, {}, {})) == [2, 1]

    def test_tests_are_not_held_back_from_who_asks_for_them(self) -> None:
        found = [candidate(1, "f", path="tests/test_cache.py"), candidate(2, "f", path="src/cache.py")]
        assert ids(order(parse("tests of the oldest entry"), found, {1: 5.0, 2: 4.9}, {}, {})) == [1, 2]


class TestClassOrMethod:
    """Which of the two stands first; `without_overlaps` then leaves the other out."""

    cls = candidate(1, "Cache", start=0, end=900)._replace(kind="class", grain="coarse")
    methods = tuple(candidate(i, f"Cache.m{i}", start=100 * i, end=100 * i + 50) for i in (2, 3, 4, 5))

    def first(self, text: str, scores: dict[int, float]) -> int:
        return ids(order(parse(text), [self.cls, *self.methods], scores, {}, {}))[0]

    def test_one_method_that_carries_the_score_is_meant(self) -> None:
        assert self.first("drop the oldest entry", {1: 10, 2: 9.5, 3: 1}) == 2

    def test_what_many_methods_share_is_the_class(self) -> None:
        assert self.first("drop the oldest entry", {1: 10, 2: 9, 3: 9, 4: 9, 5: 9}) == 1

    def test_a_class_far_ahead_stays_there(self) -> None:
        assert self.first("drop the oldest entry", {1: 10, 2: 5}) == 1

    def test_the_class_whose_name_is_asked_for(self) -> None:
        scores = {1: 10, 2: 9.5}
        assert self.first("oldest entries", scores) == 2
        assert self.first("oldest cache", scores) == 1

    def test_the_description_of_a_thing_asks_for_the_class(self) -> None:
        scores = {1: 10, 2: 9.5}
        assert self.first("keeps what was used last", scores) == 2
        assert self.first("a keeper of what was used last", scores) == 1

    def test_an_exact_name_stays_first(self) -> None:
        ranked = order(parse("m2"), [self.cls, *self.methods], {1: 10, 2: 1}, {}, {2: 2})
        assert ids(ranked)[0] == 2

    def test_a_function_outside_is_not_concerned(self) -> None:
        other = candidate(9, "other", start=950, end=990)
        ranked = order(parse("drop it"), [self.cls, other], {1: 10, 9: 9.9}, {}, {})
        assert [r.score for r in ranked] == pytest.approx([0.45, 0.45 * 0.99])


def test_documents_are_not_held_back_from_who_asks_for_them() -> None:
    section = candidate(1, "Retries", path="README.md")._replace(unit="section", kind="section")
    found = [section, candidate(2, "retry", path="a.py")]
    assert ids(order(parse("waiting longer"), found, {1: 5.0, 2: 4.0}, {}, {})) == [2, 1]
    assert ids(order(parse("waiting longer in the docs"), found, {1: 5.0, 2: 4.0}, {}, {})) == [1, 2]


class TestExact:
    def test_the_name_as_written_then_but_for_case_then_the_rest(self) -> None:
        found = [candidate(i, s) for i, s in enumerate(["evict_all", "EVICT", "evict"])]
        ranked = order(parse("evict"), found, {0: 9.0, 1: 1.0, 2: 1.0}, {}, {1: 1, 2: 2})
        assert [(r.candidate.id, r.exact) for r in ranked] == [(2, 2), (1, 1), (0, 0)]

    def test_words_that_spell_the_whole_name_are_the_name(self) -> None:
        found = [candidate(1, "write_json_atomic"), candidate(2, "atomic_write_json")]
        assert ids(order(parse("atomic write json"), found, {1: 9.0, 2: 5.0}, {}, {})) == [2, 1]

    def test_a_mention_in_a_longer_query_counts_but_does_not_rule(self) -> None:
        found = [candidate(1, "evict"), candidate(2, "other")]
        ranked = order(parse("what calls `evict` now"), found, {1: 2.0, 2: 2.1}, {}, {1: 2})
        assert [(r.candidate.id, r.exact) for r in ranked] == [(1, 0), (2, 0)]


class TestOverlaps:
    def test_of_a_class_and_its_method_the_better_stays(self) -> None:
        cls, method = candidate(1, "C", start=0, end=100), candidate(2, "C.m", start=20, end=60)
        ranked = [Ranked(method, 0.9, 0), Ranked(cls, 0.8, 0)]
        assert ids(without_overlaps(ranked)) == [2]
        assert ids(without_overlaps(ranked[::-1])) == [1]

    def test_the_parts_of_a_split_symbol_are_one_hit(self) -> None:
        parts = [candidate(i, "f")._replace(chunk_id=f"a.py::f[{i}]", parts=3) for i in (1, 2, 3)]
        assert ids(without_overlaps(Ranked(c, 1.0, 0) for c in (parts[1], parts[0], parts[2]))) == [2]

    def test_overloads_are_one_hit(self) -> None:
        twins = [candidate(1, "f"), candidate(2, "f")._replace(chunk_id="a.py::f#2")]
        assert ids(without_overlaps(Ranked(c, 1.0, 0) for c in twins)) == [1]

    def test_the_same_name_in_another_file_is_another_hit(self) -> None:
        assert ids(without_overlaps(Ranked(candidate(i, "f", path=f"{i}.py"), 1.0, 0) for i in (1, 2))) == [
            1,
            2,
        ]

    @given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 60), st.integers(1, 40)), max_size=40))
    def test_no_two_hits_overlap_and_none_is_lost_without_cause(
        self, spans: list[tuple[int, int, int]]
    ) -> None:
        ranked = [
            Ranked(candidate(i, f"s{i}", path=f"{p}.py", start=s, end=s + n), 1.0, 0)
            for i, (p, s, n) in enumerate(spans)
        ]
        kept = [r.candidate for r in without_overlaps(ranked)]

        def overlap(a: Candidate, b: Candidate) -> bool:
            return a.path == b.path and a.start < b.end and b.start < a.end

        assert not any(overlap(a, b) for a in kept for b in kept if a is not b)
        for r in ranked:
            c = r.candidate
            assert c in kept or any(overlap(c, k) and k.id < c.id for k in kept)

    @given(st.permutations(range(12)))
    def test_the_order_of_candidates_does_not_matter(self, shuffled: list[int]) -> None:
        found = [candidate(i, f"name_{i % 3}", path=f"{i % 5}.py") for i in shuffled]
        bm25 = {i: float(i % 4) for i in range(12)}
        assert ids(order(parse("name 1"), found, bm25, {}, {})) == ids(
            order(parse("name 1"), sorted(found, key=lambda c: c.id), bm25, {}, {})
        )


def test_the_share_of_a_name_that_is_asked_for() -> None:
    query = parse("retrying with backoff")
    assert name_match(query, "Client.retry_backoff") == (1, 1)
    assert name_match(query, "retryAfterBackoffFails") == (0.5, 1)
    assert name_match(query, "retry") == (1, 0.5)
    assert name_match(query, None) == name_match(query, "other") == (0, 0)


def test_of_several_small_symbols_the_one_that_is_named() -> None:
    constants = ["DEFAULT_LIMIT", "SHIPPING_METHOD_ID"]
    assert best_name(parse("shipping"), constants) == "SHIPPING_METHOD_ID"
    assert best_name(parse("SHIPPING_METHOD_ID"), constants) == "SHIPPING_METHOD_ID"
    assert best_name(parse("cache"), constants) is None


@pytest.mark.parametrize(
    "path",
    [
        *(
            "tests/a.py",
            "pkg/tests/a.py",
            "test_a.py",
            "pkg/conftest.py",
            "a_test.go",
            "src/a.test.ts",
            "a.spec.tsx",
        ),
        *(
            "src/test/java/FooTest.java",
            "FooTest.java",
            "spec/a_spec.rb",
            "__tests__/a.js",
            "pkg/testdata/x.json",
        ),
    ],
)
def test_paths_of_tests(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize(
    "path", ["src/testimony.py", "latest/a.py", "contest.py", "inspect/a.go", "attest.go", "Latest.java"]
)
def test_paths_that_only_look_like_it(path: str) -> None:
    assert not is_test(path)
