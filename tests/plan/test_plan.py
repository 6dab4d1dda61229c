"""Plans: the least that turns the stored rows of a file into those of what is there now."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_files import Class, Function, Part, result, skipped, stored, text_of

from ckvd.model import FileResult, Verdict
from ckvd.plan import ChunkMeta, FilePlan, StoredFile, plan_file

FIFTY = tuple(Function(f"f{i:02}", f"return {i:03}") for i in range(50))


def changes(plan: FilePlan) -> list[tuple[str, int, int]]:
    return [(c.what, c.start, c.end) for c in plan.changes]


def span(parts: tuple[Part, ...], at: int) -> tuple[int, int]:
    """The range of the `at`-th top-level part."""
    start = len((text_of(parts[:at]) + "\n\n" if at else "").encode())
    return start, start + len(parts[at].text().encode())


def test_one_of_fifty_edited_in_place() -> None:
    edited = (*FIFTY[:20], Function("f20", "return 999"), *FIFTY[21:])
    plan = plan_file(stored(result(b"a.py", *FIFTY)), result(b"a.py", *edited))
    assert changes(plan) == [("changed", *span(edited, 20))]
    assert [i for i, _ in plan.updates] == [21]
    assert plan.reembed == {21}
    assert not any((plan.inserts, plan.deletes, plan.moves, plan.symbols_in, plan.symbols_out))


def test_one_of_fifty_made_longer_moves_those_behind_it_as_one_range() -> None:
    edited = (*FIFTY[:20], Function("f20", "return 99999999"), *FIFTY[21:])
    plan = plan_file(stored(result(b"a.py", *FIFTY)), result(b"a.py", *edited))
    moved = span(edited, 21)[0], span(edited, 49)[1]
    assert changes(plan) == [("changed", *span(edited, 20)), ("moved", *moved)]
    assert [i for i, _ in plan.moves] == list(range(22, 51))
    assert plan.reembed == {21}


def test_the_same_file_needs_nothing() -> None:
    file = result(b"a.py", *FIFTY, Class("K", FIFTY[:3]))
    plan = plan_file(stored(file), file)
    assert plan.empty
    assert plan.changes == ()


def test_a_new_and_a_removed_file_are_one_range_each() -> None:
    file = result(b"a.py", *FIFTY)
    added, removed = plan_file(None, file), plan_file(stored(file), None)
    assert changes(added) == [("added", 0, file.size)]
    assert added.inserts == file.chunks
    assert added.symbols_in == file.symbols
    assert changes(removed) == [("removed", 0, file.size)]
    assert removed.removed
    assert len(removed.deletes) == len(removed.symbols_out) == len(removed.released) == 50


def test_nothing_becomes_nothing() -> None:
    assert plan_file(None, None).empty


def test_rows_of_one_file_are_not_planned_against_another() -> None:
    with pytest.raises(ValueError, match="another"):
        plan_file(stored(result(b"a.py")), result(b"b.py"))


def test_a_changed_method_leaves_its_class_untold() -> None:
    before = Class("K", (Function("a", "1"), Function("b", "2")))
    after = Class("K", (Function("a", "9"), Function("b", "2")))
    old, new = result(b"a.py", before), result(b"a.py", after)
    plan = plan_file(stored(old), new)
    method = new.chunks[1]
    assert changes(plan) == [("changed", method.start, method.end)]
    # The class holds the method's text, so that its row and its vector change all the same.
    assert {c.symbol for _, c in plan.updates} == {"K", "K.a"}


def test_a_class_that_grew_by_a_method_moved_only_behind_it() -> None:
    old = result(b"a.py", Class("K", (Function("a", "1"), Function("b", "2"))))
    new = result(b"a.py", Class("K", (Function("a", "12345"), Function("b", "2"))))
    plan = plan_file(stored(old), new)
    class_, a, _ = new.chunks
    assert changes(plan) == [("changed", a.start, a.end), ("moved", a.end, class_.end)]


def test_a_changed_docstring_changes_what_carries_it() -> None:
    old = result(b"a.py", Class("K", (Function("a"), Function("b"))), Function("c"))
    new = result(b"a.py", Class("K", (Function("a"), Function("b")), doc="B class."), Function("c"))
    plan = plan_file(stored(old), new)
    assert changes(plan) == [("changed", new.chunks[0].start, new.chunks[0].end)]
    assert {c.symbol for _, c in plan.updates} == {"K", "K.a", "K.b"}


def test_an_inserted_function_is_added_and_a_deleted_one_removed() -> None:
    two = FIFTY[:2]
    three = (FIFTY[0], Function("new", "return 1"), FIFTY[1])
    added = plan_file(stored(result(b"a.py", *two)), result(b"a.py", *three))
    assert changes(added) == [("added", *span(three, 1)), ("moved", *span(three, 2))]
    removed = plan_file(stored(result(b"a.py", *three)), result(b"a.py", *two))
    assert changes(removed) == [("moved", *span(two, 1)), ("removed", *span(three, 1))]


def test_a_renamed_function_keeps_nothing_but_a_moved_twin_keeps_its_row() -> None:
    """Equal names: the ordinal follows the file's order, the row follows the text."""
    first, second = Function("f", "return 1"), Function("f", "return 2")
    plan = plan_file(stored(result(b"a.py", first, second)), result(b"a.py", second, first))
    assert [(i, c.chunk_id) for i, c in plan.moves] == [(2, "a.py::f"), (1, "a.py::f#2")]
    assert not any((plan.updates, plan.inserts, plan.deletes))
    renamed = plan_file(stored(result(b"a.py", first)), result(b"a.py", Function("g", "return 1")))
    assert renamed.deletes == (1,)
    assert [c.symbol for c in renamed.inserts] == ["g"]


def test_only_the_embedded_text_changed() -> None:
    old, new = result(b"a.py", *FIFTY[:2], prefix="p"), result(b"a.py", *FIFTY[:2], prefix="q")
    plan = plan_file(stored(old), new)
    assert [i for i, _ in plan.moves] == [1, 2]
    assert plan.reembed == {1, 2}
    assert set(plan.released) == {c.embed_hash for c in old.chunks}
    assert changes(plan) == [("changed", 0, 0)]


def test_a_file_without_chunks_changes_whole() -> None:
    plan = plan_file(stored(skipped(b"x.bin", size=10)), skipped(b"x.bin", size=12))
    assert changes(plan) == [("changed", 0, 12)]
    assert plan_file(stored(skipped(b"x.bin")), skipped(b"x.bin")).empty


def test_a_verdict_alone_changes_the_file_and_no_chunk() -> None:
    old = result(b"a.py", *FIFTY)
    new = replace(old, verdict=Verdict("symbol", "partial", "syntax-errors", "line 3", 3, 4, ((5, 9),)))
    plan = plan_file(stored(old), new)
    assert plan.file_changed
    assert not any((plan.updates, plan.moves, plan.inserts, plan.deletes))
    assert changes(plan) == [("changed", 0, 0)]


# -- what always holds ------------------------------------------------------------------------------

FUNCTIONS = st.builds(Function, st.sampled_from("abcd"), st.sampled_from(["1", "22", "333", "é"]))
CLASSES = st.builds(
    Class,
    st.sampled_from("KL"),
    st.lists(FUNCTIONS, max_size=4).map(tuple),
    st.sampled_from(["One.", "Two is longer."]),
)
FILES = st.builds(
    lambda parts, prefix: result(b"a.py", *parts, prefix=prefix),
    st.lists(FUNCTIONS | CLASSES, max_size=6),
    st.sampled_from("pq"),
)


def carried_out(old: StoredFile, plan: FilePlan) -> dict[int, ChunkMeta]:
    chunks = {c.id: c.meta for c in old.chunks if c.id not in plan.deletes}
    for i, chunk in (*plan.updates, *plan.moves):
        assert i in chunks
        chunks[i] = ChunkMeta.of(chunk)
    for i, chunk in enumerate(plan.inserts):
        chunks[1000 + i] = ChunkMeta.of(chunk)
    return chunks


@given(FILES, FILES)
def test_a_plan_carried_out_gives_the_new_rows(before: FileResult, after: FileResult) -> None:
    old = stored(before)
    plan = plan_file(old, after)
    rows = carried_out(old, plan)
    assert sorted(rows.values()) == sorted(ChunkMeta.of(c) for c in after.chunks)
    symbols = [s.row for s in old.symbols if s not in plan.symbols_out] + list(plan.symbols_in)
    assert sorted(symbols, key=repr) == sorted(after.symbols, key=repr)
    same = {c.meta for c in old.chunks} & {ChunkMeta.of(c) for c in after.chunks}
    assert all(rows[c.id] == c.meta for c in old.chunks if c.meta in same)


@given(FILES, FILES)
def test_moves_keep_their_texts_and_reembed_tells_new_ones(before: FileResult, after: FileResult) -> None:
    old = stored(before)
    plan = plan_file(old, after)
    was = {c.id: c.meta for c in old.chunks}
    for i, chunk in plan.moves:
        assert (was[i].content_hash, was[i].symbol) == (chunk.content_hash, chunk.symbol)
    for i, chunk in (*plan.updates, *plan.moves):
        assert (i in plan.reembed) == (was[i].embed_hash != chunk.embed_hash)


@given(FILES, FILES)
def test_ranges_lie_in_the_file_and_do_not_overlap(before: FileResult, after: FileResult) -> None:
    plan = plan_file(stored(before), after)
    assert bool(plan.changes) == (not plan.empty)
    for what in ("added", "changed", "moved", "removed"):
        ranges = [(c.start, c.end) for c in plan.changes if c.what == what]
        size = before.size if what == "removed" else after.size
        assert all(0 <= a <= b <= size for a, b in ranges)
        assert all(b < c for (_, b), (c, _) in pairwise(ranges))
    moved = [c for c in plan.changes if c.what == "moved"]
    for c in plan.changes:
        if c.what in ("added", "changed"):
            assert all(c.end <= m.start or m.end <= c.start for m in moved)


@given(FILES, FILES)
def test_all_that_is_another_text_is_told(before: FileResult, after: FileResult) -> None:
    """A chunk whose own text is not among the old ones at its place is covered by a range."""
    plan = plan_file(stored(before), after)
    told = [c for c in plan.changes if c.what in ("added", "changed")]
    old = {c.own_hash for c in before.chunks}
    for chunk in after.chunks:
        if chunk.own_hash not in old:
            assert any(t.start <= chunk.start and chunk.end <= t.end for t in told)
