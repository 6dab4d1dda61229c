from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from search_support import make_index
from support import Ckvd
from test_query import AWKWARD, LONG

from ckvd.errors import ModelError, UsageError
from ckvd.hit import Hit
from ckvd.index import Index
from ckvd.search import search
from ckvd.store.reader import open_reader
from ckvd.store.writer import open_writer

BOTH = pytest.mark.parametrize("mode", ["hybrid", "keyword"])


def symbols(hits: tuple[Hit, ...]) -> list[str | None]:
    return [hit.symbol for hit in hits]


class TestIdentifiers:
    """camelCase and snake_case names are found by their parts, in any style."""

    @BOTH
    @pytest.mark.parametrize(
        ("queries", "symbol"),
        [
            ("atomic_write_json|atomic write json|write json|atomicWriteJson", "atomic_write_json"),
            (
                "http response code|getHTTPResponseCode|gethttpresponsecode|response|gethttpresp",
                "HTTPServerPool.getHTTPResponseCode",
            ),
            ("xml|XML to dict|parse xml|parseXMLToDict", "parseXMLToDict"),
            ("server pool|HTTPServerPool", "HTTPServerPool"),
            ("shipping|shipping_method|SHIPPING_METHOD_ID", "SHIPPING_METHOD_ID"),
            ("init subclass hook|__init_subclass_hook__", "__init_subclass_hook__"),
            ("naive größe|Größe|naïve_Größe", "naïve_Größe"),
            ("_evict|ShardedLRUCache._evict|LRUCache._evict", "ShardedLRUCache._evict"),
            ("evict", "Store.Evict"),
            ("sharded lru|ShardedLRUCache", "ShardedLRUCache"),
            ("std::vector|vector", "sum"),
        ],
    )
    def test_among_the_first_three(self, index: Index, mode, queries: str, symbol: str) -> None:
        for query in queries.split("|"):
            assert symbol in symbols(index.search(query, 3, mode, tests=False).hits), query

    @BOTH
    @pytest.mark.parametrize(
        "name",
        [
            *(
                "atomic_write_json",
                "HTTPServerPool.getHTTPResponseCode",
                "getHTTPResponseCode",
                "parseXMLToDict",
            ),
            *(
                "HTTPServerPool",
                "SHIPPING_METHOD_ID",
                "__init_subclass_hook__",
                "naïve_Größe",
                "retry_with_backoff",
            ),
            *("ShardedLRUCache.get", "retryWithBackoff", "cache.lru", "test_retry_with_backoff_raises"),
        ],
    )
    def test_a_full_name_is_first(self, index: Index, mode, name: str) -> None:
        hit = index.search(name, 1, mode).hits[0]
        if name == "cache.lru":  # no symbol's name: a path
            assert hit.path == "cache/lru.py"
        else:
            assert hit.exact
            assert f".{hit.symbol}".endswith(f".{name}")

    @BOTH
    @pytest.mark.parametrize(
        "name",
        ["src/retry.py::retry_with_backoff", "src.retry.retry_with_backoff", "SRC/retry.retry_with_backoff"],
    )
    def test_where_it_is_may_go_before_its_name(self, index: Index, mode, name: str) -> None:
        hit = index.search(name, 1, mode).hits[0]
        assert (hit.chunk_id, hit.exact) == ("src/retry.py::retry_with_backoff", True)


class TestCodeAboveProse:
    @BOTH
    @pytest.mark.parametrize(
        "query", ["retry with backoff", "retry_with_backoff", "where do we wait longer after failures"]
    )
    def test_the_code_is_first_and_no_symbol_of_a_file_comes_twice(
        self, index: Index, mode, query: str
    ) -> None:
        hits = index.search(query, 50, mode).hits
        assert (hits[0].path, hits[0].symbol) == ("src/retry.py", "retry_with_backoff")
        places = [(hit.path, hit.symbol) for hit in hits if hit.symbol]
        assert len(places) == len(set(places))

    @BOTH
    def test_what_was_asked_for_is_on_top(self, index: Index, mode) -> None:
        query = "retry with backoff"
        assert index.search(query, 1, mode, kind="section").hits[0].path == "docs/retry.md"
        assert index.search(query, 1, mode, language="markdown").hits[0].language == "markdown"
        assert index.search(query, 1, mode, path="tests/").hits[0].path == "tests/test_retry.py"
        assert index.search(query, 1, mode, tests=True).hits[0].path == "tests/test_retry.py"

    def test_equal_calls_give_equal_lists(self, index: Index) -> None:
        assert index.search("retry with backoff", 30) == index.search("retry with backoff", 30)


class TestFilters:
    @pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
    @pytest.mark.parametrize(
        ("where", "holds"),
        [
            ({"language": "python"}, lambda h: h.language == "python"),
            ({"kind": "method"}, lambda h: h.kind == "method"),
            ({"path": "cache"}, lambda h: h.path.startswith("cache/")),
            ({"path": "./cache/"}, lambda h: h.path.startswith("cache/")),
            ({"path": "cache/lru.py"}, lambda h: h.path == "cache/lru.py"),
            ({"path": "*.go"}, lambda h: h.path == "cache/store.go"),
            (
                {"path": "c*/*.py", "kind": "method"},
                lambda h: h.path == "cache/lru.py" and h.kind == "method",
            ),
            ({"tests": True}, lambda h: h.path.startswith("tests/")),
            ({"tests": False}, lambda h: not h.path.startswith("tests/")),
        ],
    )
    def test_every_hit_is_of_what_was_asked(self, index: Index, mode, where, holds) -> None:
        hits = index.search("evict or get the retry cache entry", 50, mode, **where).hits
        assert hits
        assert all(map(holds, hits))

    def test_a_filter_that_nothing_fits(self, index: Index) -> None:
        assert index.search("evict", language="haskell").total == 0

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ("klingon", "did you mean kotlin?"),
            ("Python", "did you mean python?"),
            ("js", "did you mean javascript?"),
            ("-", "'ckvd"),
        ],
    )
    def test_a_language_that_there_is_not(self, index: Index, given: str, said: str) -> None:
        with pytest.raises(UsageError, match=re.escape(f"there is no language '{given}'; {said}")):
            index.search("evict", language=given)

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ("functoin", "did you mean function? this index has: "),
            ("Method", "did you mean method? "),
            ("-", "this"),
        ],
    )
    def test_a_kind_that_there_is_not(self, index: Index, given: str, said: str) -> None:
        with pytest.raises(UsageError, match=re.escape(f"there is no kind '{given}'; {said}")) as raised:
            index.search("evict", kind=given)
        assert "class, " in str(raised.value)

    @pytest.mark.parametrize("kind", ["contract", "names"])
    def test_a_kind_that_this_index_has_none_of(self, index: Index, kind: str) -> None:
        assert index.search("evict", kind=kind).hits == ()


class TestPages:
    @pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
    def test_pages_join_to_the_whole(self, index: Index, mode) -> None:
        whole = index.search("retry the cache", 50, mode)
        pages = [index.search("retry the cache", 3, mode, offset=at) for at in range(0, whole.total + 3, 3)]
        assert tuple(hit for page in pages for hit in page.hits) == whole.hits
        assert {page.total for page in pages} == {whole.total} == {len(whole.hits)}

    @given(query=st.sampled_from(["cache", "evict entry", "retry", "get http"]), k=st.integers(1, 40))
    def test_no_two_hits_overlap(self, index: Index, query: str, k: int) -> None:
        hits = index.search(query, k, "keyword").hits
        for a in hits:
            for b in hits:
                apart = a is b or a.path != b.path or a.end_byte <= b.start_byte or b.end_byte <= a.start_byte
                assert apart


class TestQueries:
    @pytest.mark.parametrize("query", [q for q in AWKWARD if q.strip()])
    @pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
    def test_no_query_raises(self, index: Index, mode, query: str) -> None:
        index.search(query, 3, mode)

    @pytest.mark.parametrize("text", LONG.values(), ids=LONG)
    def test_no_long_one_raises(self, index: Index, text: str) -> None:
        index.search(text, 3)

    @pytest.mark.parametrize("query", ["-x", "NEAR(", 'a "b', "C++", "\udcff"])
    def test_the_command_takes_all(self, ckvd: Ckvd, root: Path, query: str) -> None:
        done = ckvd("search", "--root", root, "--json", "--", query)
        assert (json.loads(done.stdout)["mode"], done.stderr) == ("hybrid", "")

    def test_the_command_says_that_it_is_empty(self, ckvd: Ckvd, root: Path) -> None:
        done = ckvd("search", "--root", root, "--json", "--", " ", code=2)
        assert (done.stdout, done.stderr) == ("", "ckvd: the query is empty; say what to search for\n")

    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(query=st.text(min_size=1).filter(str.strip), filters=st.booleans())
    def test_no_text_raises(self, index: Index, query: str, filters: bool) -> None:
        index.search(query, 3, path=query if filters else None)

    @pytest.mark.parametrize("query", ["", "  ", "\n"])
    def test_an_empty_one_says_so(self, index: Index, query: str) -> None:
        with pytest.raises(UsageError, match="the query is empty"):
            index.search(query)

    def test_a_path_finds_its_file(self, index: Index) -> None:
        assert {h.path for h in index.search("cache/store.go", 2, "keyword").hits[:1]} == {"cache/store.go"}

    def test_hits_have_what_a_reader_needs(self, index: Index) -> None:
        hit = index.search("_evict", 1).hits[0]
        assert hit.chunk_id == "cache/lru.py::ShardedLRUCache._evict"
        assert "class ShardedLRUCache:" in hit.header
        assert hit.body.lstrip().startswith("def _evict(self):")
        assert (hit.start_line, hit.end_line, hit.kind, hit.unit) == (25, 26, "method", "symbol")


class TestVectors:
    def test_meaning_is_found_without_a_common_word(self, index: Index) -> None:
        hits = index.search("remove stale elements whose time is over", 3, "vector", tests=False).hits
        assert "Store.Evict" in symbols(hits)

    def test_without_vectors_hybrid_is_keyword_and_says_so(self, tmp_path: Path) -> None:
        make_index(tmp_path, {"a.py": "def evict(): pass\n"}, "none")
        with Index(tmp_path) as index:
            found = index.search("evict")
            assert (found.mode, found.note, len(found.hits)) == ("keyword", "the index has no vectors yet", 1)
            with pytest.raises(ModelError, match="the index has no vectors yet; use --mode keyword"):
                index.search("evict", mode="vector")
        with open_writer(str(tmp_path / ".ckvd" / "index.db")) as writer:
            writer.set_model(None)
        with Index(tmp_path) as index:
            assert index.search("evict").note == "embedding.model is none"

    def test_vectors_of_a_model_that_is_gone_are_not_searched(self, tmp_path: Path) -> None:
        make_index(tmp_path, {"a.py": "def evict(): pass\n"}, "hash")
        (tmp_path / "ckv.yaml").write_text("chunking:\n  max_input_tokens: 256\n")
        with Index(tmp_path) as index:
            assert index.search("evict").mode == "hybrid"  # a model of this installation, by its identity
        with open_reader(str(tmp_path / ".ckvd" / "index.db")) as reader:

            def another(model, text):
                raise ModelError("the index has vectors of one, ckv.yaml names another")

            found = search(reader, "evict", embed_query=another)
            assert (found.mode, found.note) == (
                "keyword",
                "the index has vectors of one, ckv.yaml names another",
            )

    def test_a_model_that_differs_in_any_way_is_named_beside_the_one_of_the_index(
        self, tmp_path: Path
    ) -> None:
        db = make_index(tmp_path, {"a.py": "def evict(): pass\n"}, "hash")
        import sqlite3

        with sqlite3.connect(db) as connection:
            connection.execute("UPDATE model SET identity = 'hash 256d 0123'")
        connection.close()
        with Index(tmp_path) as index:
            found = index.search("evict")
            assert found.mode == "keyword"
            assert "vectors of hash 256d 0123, ckv.yaml names static-code-256 256d" in found.note
            with pytest.raises(ModelError, match=r"ckv\.yaml names"):
                index.search("evict", mode="vector")

    def test_filters_keep_out_nothing_else(self, index: Index) -> None:
        """What a filter leaves is in the order, and as near, as without one."""
        query, most = "remove stale elements", 200
        everything = index.search(query, most, "vector").hits
        some = index.search(query, most, "vector", language="python").hits
        assert some
        assert [hit for hit in some if hit in everything] == [h for h in everything if h.language == "python"]


def test_keyword_search_imports_neither_numpy_nor_onnxruntime(root: Path) -> None:
    program = (
        f"import sys, ckvd; ckvd.Index({str(root)!r}).search('evict', 3, 'keyword');"
        "print(sorted({'numpy', 'onnxruntime', 'tokenizers', 'yaml', 'tree_sitter'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_what_a_search_imports_is_no_more_than_it_needs() -> None:
    """Nothing that takes longer to import than to search, or is for building an index."""
    heavy = {
        *("concurrent.futures", "logging", "numpy", "pygit2", "rich", "socket", "subprocess", "tokenizers"),
        *("tree_sitter", "urllib.parse", "yaml", "ckvd.control", "ckvd.languages", "ckvd.model"),
    }
    program = (
        "import sys, ckvd.cli, ckvd.index, ckvd.report.hits, ckvd.served;"
        f"print(sorted({heavy!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


class TestOnDisk:
    FILES: ClassVar = {
        "a.py": "class Store:\n    @cached\n    def evict_old(self): ...\n",
        "b.py": "def evict_all(): ...\n",
    }

    def hits(self, root: Path) -> dict[str, Hit]:
        with Index(root) as index:
            return {hit.path: hit for hit in index.search("evict", mode="keyword").hits}

    def test_a_file_as_it_was_indexed(self, tmp_path: Path) -> None:
        make_index(tmp_path, self.FILES, "none")
        os.utime(tmp_path / "b.py")
        found = self.hits(tmp_path)
        assert [(hit.on_disk, hit.indent) for hit in found.values()] == [("same", ""), ("same", "    ")]
        assert found["a.py"].body.startswith("@cached")

    def test_one_that_has_changed_and_one_that_is_gone(self, tmp_path: Path) -> None:
        make_index(tmp_path, self.FILES, "none")
        (tmp_path / "a.py").write_text(self.FILES["a.py"] + "\n")
        (tmp_path / "b.py").unlink()
        found = self.hits(tmp_path)
        assert (found["a.py"].on_disk, found["b.py"].on_disk) == ("changed", "gone")
        assert found["a.py"].indent == ""

    @pytest.mark.parametrize("harm", ["folder", "link", "fifo", "link around"])
    def test_what_took_its_place_is_not_read(self, tmp_path: Path, harm: str) -> None:
        make_index(tmp_path, {"p/a.py": self.FILES["a.py"]}, "none")
        path, aside = tmp_path / "p" / "a.py", tmp_path / "aside"
        match harm:
            case "folder":
                path.unlink()
                path.mkdir()
            case "link":
                path.rename(aside)
                path.symlink_to(aside)
            case "fifo":
                path.unlink()
                os.mkfifo(path)
            case _:
                path.parent.rename(aside)
                path.parent.symlink_to(aside)
        assert self.hits(tmp_path)["p/a.py"].on_disk == "changed"
