from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from search_support import make_index
from support import Ckvd, Tree

from ckvd.errors import UsageError, WorktreeError
from ckvd.index import Index
from ckvd.place import place
from ckvd.report import terminal
from ckvd.report.evaluate import (
    METRICS,
    Case,
    Score,
    Span,
    Truth,
    as_json,
    evaluate,
    figures,
    groups,
    judge,
    read_set,
    score,
    truths,
    write_set,
)
from ckvd.report.evaluate_view import screen
from ckvd.report.labelled import on_commits, on_docstrings, on_set
from ckvd.store.reader import open_reader


class TestJudge:
    answer = Span("a.py", 10, 19)

    @pytest.mark.parametrize(
        ("first", "last", "verdict"),
        [
            (10, 19, "whole"),
            (1, 100, "whole"),  # holds all of it
            (10, 14, "whole"),  # half of it, exactly
            (15, 24, "severed"),  # 5 of 15
            (10, 13, "severed"),
            (19, 19, "severed"),
            (20, 30, "apart"),
            (1, 9, "apart"),
        ],
    )
    def test_by_lines(self, first: int, last: int, verdict: str) -> None:
        assert judge(Span("a.py", first, last), self.answer) == verdict

    @pytest.mark.parametrize(
        ("first", "last", "verdict"),
        [
            (10, 19, "whole"),  # the class itself
            (1, 100, "severed"),  # of a method the signature alone
            (9, 19, "severed"),
            (20, 30, "apart"),
        ],
    )
    def test_an_outline_has_no_body_of_what_lies_within_it(self, first: int, last: int, verdict: str) -> None:
        assert judge(Span("a.py", first, last), self.answer, outline=True) == verdict

    def test_another_file_is_apart(self) -> None:
        assert judge(Span("b.py", 10, 19), self.answer) == "apart"


class TestMetrics:
    def test_one_answer(self) -> None:
        values = dict(zip(METRICS, Score("q", "symbol", 1, (2,), False).metrics(), strict=True))
        assert values == {
            "recall@1": 0,
            "recall@5": 1,
            "recall@10": 1,
            "mrr@10": 0.5,
            "ndcg@10": pytest.approx(1 / math.log2(3)),
        }

    def test_two_answers_and_none(self) -> None:
        two = dict(zip(METRICS, Score("q", "symbol", 2, (1, 7), False).metrics(), strict=True))
        assert (two["recall@1"], two["recall@5"], two["recall@10"], two["mrr@10"]) == (0.5, 0.5, 1, 1)
        assert two["ndcg@10"] == pytest.approx((1 + 1 / 3) / (1 + 1 / math.log2(3)))
        assert set(Score("q", "symbol", 2, (), False).metrics()) == {0.0}

    @given(st.lists(st.integers(1, 10), min_size=1, max_size=30))
    def test_the_interval_holds_the_mean_and_is_fixed(self, ranks: list[int]) -> None:
        scores = [Score("q", "symbol", 1, (r,), False) for r in ranks]
        found = figures(scores)
        assert found == figures(scores)
        assert found["mrr@10"].mean == pytest.approx(sum(1 / r for r in ranks) / len(ranks))
        for figure in found.values():
            assert 0 <= figure.low <= figure.high <= 1
            assert figure.low <= figure.mean + 1e-9
            assert figure.mean <= figure.high + 1e-9

    def test_of_no_queries_there_is_no_figure(self) -> None:
        assert figures([]) == {}


class TestSets:
    def test_written_and_read_again(self) -> None:
        cases = [
            Case("drop the oldest", ({"chunk_id": "a.py::f"},)),
            Case("größe", ({"path": "a.py", "symbol": "C.m"}, {"path": "b.py", "lines": [3, 9]})),
        ]
        assert read_set(write_set(cases) + "\n") == cases

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "the set is empty"),
            ("{}\n", "line 1 of the set must have a query"),
            ('{"query": "x", "answers": [{"chunk_id": "a"}]}\n[]\n', "line 2 of the set must have"),
            ("not json\n", "line 1 of the set is not JSON"),
            ('{"query": "x", "answers": []}', "line 1"),
            ('{"query": "x", "answers": [{"path": "a.py"}]}', "an answer has chunk_id, or path and symbol"),
            ('{"query": "x", "answers": [{"path": "a.py", "lines": [1]}]}', "an answer has chunk_id"),
        ],
    )
    def test_what_is_wrong_is_named(self, text: str, message: str) -> None:
        with pytest.raises(UsageError, match=message):
            read_set(text)

    def test_answers_are_found_in_the_index(self, root: Path) -> None:
        with open_reader(str(root / ".ckvd" / "index.db")) as reader:

            def spans(*answers: dict[str, object]) -> list[Span]:
                return [t.span for t in truths(reader, Case("q", answers))]

            evict = Span("cache/lru.py", 25, 26)
            assert spans({"chunk_id": "cache/lru.py::ShardedLRUCache._evict"}) == [evict]
            assert spans({"path": "cache/lru.py", "symbol": "ShardedLRUCache._evict"}) == [evict]
            assert spans({"path": "cache/lru.py", "lines": [25, 26]}) == [evict]
            assert spans({"chunk_id": "gone"}, {"path": "gone.py", "symbol": "x"}) == []


def test_a_set_is_evaluated_by_mode_and_unit(root: Path) -> None:
    cases = [
        Case("evict", ({"path": "cache/lru.py", "symbol": "ShardedLRUCache._evict"},)),
        Case("retry with backoff FAQ", ({"chunk_id": "docs/retry.md::retry-with-backoff"},)),
        Case("nothing of this", ({"chunk_id": "gone"},)),
    ]
    found = on_set(place(str(root), None), cases, ("hybrid", "keyword"))
    assert found.missing[-1] == "nothing of this"
    rows = as_json(found)["results"]
    assert {(r["mode"], r["unit"]) for r in rows} >= {("hybrid", "all"), ("keyword", "all")}
    assert all(r["recall@10"]["mean"] == 1 for r in rows if r["unit"] in ("all", "symbol"))
    assert json.loads(json.dumps(as_json(found))) == as_json(found)
    shown = terminal.rendered(Console(width=120, color_system=None), [screen(found)])
    assert shown.startswith("mode       unit")
    assert "left out" in shown


def test_what_stands_above_the_answer_is_told_by_kind(index: Index) -> None:
    hits = {hit.chunk_id: hit for hit in index.search("retry with backoff", 50).hits}
    section = hits["docs/retry.md::Retry with backoff"]
    test = next(hit for hit in hits.values() if hit.path.startswith("tests/"))
    code = hits["src/retry.py::retry_with_backoff"]
    case = Case("retry", ({"path": code.path, "symbol": "retry_with_backoff"},))
    right = [Truth(Span(code.path, code.start_line, code.end_line), "symbol")]
    assert score(case, right, [section, code, test]).above == {"section"}
    assert score(case, right, [code, section]).above == frozenset()
    assert score(case, right, [test]).above == {"test"}
    found = list(groups("hybrid", [score(case, right, some) for some in ([section, code], [code])]))
    assert found[0].above == {"section": 0.5}


def test_a_severed_answer_is_told_apart_from_a_miss(root: Path, index: Index) -> None:
    whole = {"path": "cache/lru.py", "lines": [8, 26]}
    with open_reader(str(root / ".ckvd" / "index.db")) as reader:
        method = index.search("ShardedLRUCache._evict", 1, "keyword").hits
        found = evaluate(reader, [Case("evict", (whole,))], lambda query, mode: method, ("keyword",))
        assert (found.groups[0].severed, found.groups[0].figures["recall@10"].mean) == (1, 0)
        found = evaluate(reader, [Case("evict", (whole,))], lambda query, mode: (), ("keyword",))
        assert found.groups[0].severed == 0


SOURCE = '''def drop(cache):
    """Remove the entry that was used least recently."""
    if cache.items:
        key = cache.order.pop(0)
        del cache.items[key]
    return cache


def connect(host):
    """Open a connection and send the greeting to it."""
    link = Link(host)
    link.open()
    link.send("HELLO")
    return link
'''


def test_docstrings_of_the_tree_itself_are_asked_for_and_nowhere_to_be_found(tmp_path: Path) -> None:
    make_index(tmp_path, {"a.py": SOURCE, "tests/test_a.py": SOURCE}, "none")
    (tmp_path / "ckv.yaml").write_text("embedding:\n  model: hash\n")
    found = on_docstrings(place(str(tmp_path), None), ("keyword", "vector"), 10)
    assert [g.queries for g in found.groups] == [2, 2]
    keyword = found.groups[0].figures
    assert keyword["recall@10"].mean == 0.5  # of the first, no word but those of its docstring is in the tree
    assert "least recently" in (tmp_path / "a.py").read_text()


class TestCommits:
    def test_functions_are_asked_for_by_the_subject_of_the_commit_that_changed_them(self, tree) -> None:
        tree.write({"a.py": SOURCE, "tests/test_a.py": SOURCE})
        tree.commit("first")
        tree.write({"a.py": SOURCE.replace("HELLO", "HI"), "tests/test_a.py": SOURCE + "\n"})
        tree.commit("Greet the host in fewer letters on connect (#12)")
        tree.write({"a.py": SOURCE.replace("HELLO", "HEY")})
        tree.commit("Bump the version for the next release")
        found = on_commits(place(str(tree.root), None), ("keyword",), 10)
        assert found.groups[0].queries == 1
        assert found.groups[0].figures["mrr@10"].mean == 1
        assert tree.git("status", "--porcelain") == ""
        assert not tree.db.exists()

    def test_outside_git_there_are_none(self, folder) -> None:
        folder.write({"a.py": SOURCE})
        with pytest.raises(WorktreeError, match="git clone"):
            on_commits(place(str(folder.root), None), ("keyword",), 10)


def test_a_set_that_cannot_be_read_is_named_once(ckvd: Ckvd, folder: Tree) -> None:
    folder.write({"latin.jsonl": b"\xff\n"})
    for name, why in (("none.jsonl", "no such file or directory"), ("latin.jsonl", "it is not UTF-8")):
        told = ckvd("eval", name, cwd=folder.root, code=2)
        assert told.stderr == f"ckvd: cannot read the set {name}: {why}\n"
