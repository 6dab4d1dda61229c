from __future__ import annotations

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckvd.query import MAX_TERMS, fold, means, parse, stem

AWKWARD = [
    *(
        "C++",
        "x-y",
        "std::vector",
        "don't",
        "AND",
        "NOT",
        "NEAR(",
        "NEAR(a b, 2)",
        '"',
        '""',
        "'",
        "a*",
        "^a",
        "{a b}: c",
    ),
    *(
        "col:x",
        "(",
        ")",
        "a OR",
        "-x",
        "+",
        "%",
        "\\",
        "\x00",
        "a\x00b",
        "_",
        "__",
        "naïve_Größe",
        "中文",
        "😀",
        "½",
        "ǅ",
    ),
    *("body:foo", "names : x", "\ud800", "\udcff x", "ﬁ", "İ", "٣", "́", "a" * 5_000, "x " * 5_000),
]
LONG = {
    "compounds": " ".join(f"alpha{n}_beta{n}.gammaDelta{n}" for n in range(3000)),
    "one dotted name": ".".join(f"a{n}" for n in range(3000)),
    "one camel name": "".join(f"Word{n}" for n in range(3000)),
    "phrases": " ".join(f'"alpha beta{n}"' for n in range(3000)),
    "calls": "a(" * 10_000,
    "quotes": '"' * 20_000,
    "backticks": "`" * 20_000,
    "words": " ".join(f"w{n}" for n in range(100_000)),
}
"""What a person may paste by mistake; each would take minutes if it were not cut down."""


@pytest.fixture(scope="module")
def fts() -> apsw.Connection:
    db = apsw.Connection(":memory:")
    db.execute(
        "CREATE VIRTUAL TABLE t USING fts5(names, words, header, body, path,"
        " tokenize='unicode61 remove_diacritics 2')"
    )
    db.execute("INSERT INTO t(body) VALUES('a b c retry x y std vector')")
    return db


def rows(fts: apsw.Connection, text: str) -> int:
    match = parse(text).match()
    return len(fts.execute("SELECT rowid FROM t WHERE t MATCH ?", (match,)).fetchall()) if match else 0


@given(st.text() | st.text('aB_-:."*^(){}+ \x00', max_size=30))
def test_no_text_raises_in_fts5(fts: apsw.Connection, text: str) -> None:
    rows(fts, text)


@pytest.mark.parametrize("text", AWKWARD)
def test_awkward_queries_are_plain_words(fts: apsw.Connection, text: str) -> None:
    rows(fts, text)


@pytest.mark.parametrize(
    "text", ["C++ c", "x-y", "std::vector", 'find "std vector" now', "retries", "NEAR(retry)"]
)
def test_what_is_there_is_found(fts: apsw.Connection, text: str) -> None:
    assert rows(fts, text) == 1


def test_a_quoted_phrase_is_a_term_beside_its_words() -> None:
    terms = parse('the "least recently used" entry').match().split(" OR ")
    assert '"least recently used"' in terms
    assert {'"least"', '"recently"', '"entry"'} <= set(terms)


@pytest.mark.parametrize("text", ["", " ", "?!", "...", '""', "\x00"])
def test_without_a_word_there_is_nothing_to_match(text: str) -> None:
    assert parse(text).match() == ""


@pytest.mark.parametrize(
    ("text", "names", "whole"),
    [
        ("_evict", ("_evict",), True),
        ("ShardedLRUCache", ("ShardedLRUCache",), True),
        ("evict", ("evict",), True),
        ("`evict`", ("evict",), True),
        ("retry_with_backoff()", ("retry_with_backoff",), True),
        ("std::vector", ("std.vector",), True),
        ("Foo->bar", ("Foo.bar",), True),
        ("Foo#bar", ("Foo.bar",), True),
        ("sharded lru", (), False),
        ("where is ShardedLRUCache._evict called", ("ShardedLRUCache._evict",), False),
        ("why does `run` block, e.g. in and/or well-known NASA code", ("run",), False),
        ("calls parse(text) twice", ("parse",), False),
        ("max_size and maxSize", ("max_size", "maxSize"), False),
    ],
)
def test_names_in_queries(text: str, names: tuple[str, ...], whole: bool) -> None:
    query = parse(text)
    assert (query.names, query.whole) == (names, whole)


@pytest.mark.parametrize(
    "text", ["atomic_write_json", "atomicWriteJson", "AtomicWriteJSON", "atomic write json"]
)
def test_an_identifier_is_spelled_alike_in_every_style(text: str) -> None:
    query = parse(text)
    assert query.spelled == ("atomic", "write", "json")
    assert query.stems == frozenset(map(fold, query.spelled))


def test_stop_words_count_only_where_nothing_else_does() -> None:
    assert parse("how is the cache evicted").stems == {"cach", "evict"}
    assert parse("if not in").stems == {"if", "not", "in"}


@pytest.mark.parametrize(
    "forms", ["cache caches cached caching", "retry retries retried", "connect connection connections"]
)
def test_forms_of_a_word_share_a_stem(forms: str) -> None:
    stems = {stem(word) for word in forms.split()}
    assert len(stems) == 1
    assert all(word.startswith(*stems) for word in forms.split())


def test_diacritics_are_folded() -> None:
    assert fold("größe") == fold("größe")
    assert fold("naïve") == fold("naive")


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_what_is_long_is_cut_down(fts: apsw.Connection, text: str) -> None:
    query = parse(text)
    assert query.match().count(" OR ") < 3 * MAX_TERMS
    assert len(query.names) <= MAX_TERMS
    assert len(query.match()) < 4 * len(query.text) + 1000
    rows(fts, text)


@pytest.mark.parametrize(
    ("text", "names"),
    [("see ::open(x)", ("open",)), ("a.b(c) d(e)", ("a.b", "d")), ("ab.cd (no call)", ("ab.cd",))],
)
def test_calls_are_names(text: str, names: tuple[str, ...]) -> None:
    assert parse(text).names == names


@pytest.mark.parametrize(
    ("text", "symbol", "path"),
    [
        ("_evict", "LRU._evict", ""),
        ("LRU._evict", "Sharded.LRU._evict", "a/lru.py"),
        ("a/lru.py::LRU._evict", "LRU._evict", "src/a/lru.py"),
        ("a.lru.LRU", "LRU", "src/a/lru.py"),
        ("a.LRU", "LRU", "src/a/lru.py"),
        ("lru.LRU", "LRU", "lru.py"),
        ("http.Server", "Server", "net/http/server.go"),
        ("com.acme.Cache.evict", "Cache.evict", "src/main/java/com/acme/Cache.java"),
        ("page.test.render", "render", "app/page.test.ts"),
    ],
)
def test_what_a_name_means(text: str, symbol: str, path: str) -> None:
    assert means(parse(text).names[0], symbol, path)


@pytest.mark.parametrize(
    ("text", "symbol", "path"),
    [
        ("evict", "LRU._evict", "a/lru.py"),
        ("RU._evict", "LRU._evict", "a/lru.py"),
        ("b.lru.LRU", "LRU", "src/a/lru.py"),
        ("ru.LRU", "LRU", "src/a/lru.py"),
        ("a.LRU", "LRU", ""),
        ("src.LRU", "LRU", "src/a/lru.py"),
    ],
)
def test_what_a_name_does_not_mean(text: str, symbol: str, path: str) -> None:
    assert not means(parse(text).names[0], symbol, path)


def test_a_whole_ticket_is_cut_down() -> None:
    query = parse(" ".join(f"word{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(600)))
    assert len(query.stems) == MAX_TERMS


def test_the_other_forms_of_a_word_can_be_left_out() -> None:
    query = parse("evicted entries")
    assert query.match() == '"evicted" OR "entries" OR "evict"* OR "entr"*'
    assert query.match(['"entries"']) == '"evicted" OR "entries" OR "evict"*'
    assert query.match_without(['"entries"']) == '"evicted" OR "evict"*'
    assert query.match_without(query.words) == ""
