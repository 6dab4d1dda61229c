"""Words that are almost everywhere score what rarer ones find, and find chunks by themselves only where those
are too few."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from search_support import make_index

from ckvd import lookup
from ckvd.lookup import FREQUENT, Filters, Lookup
from ckvd.query import parse
from ckvd.store.reader import Reader, open_reader

FILES = {f"cache{n}.py": f"def cache{n}x(): return 'cache'\n" for n in range(6)} | {
    f"evict{n}.py": f"def evict{n}x(): return 'cache' * {n}\n" for n in range(3)
}
QUERY = parse("evict cache")
COUNTS = {'"evict"': 3, '"cache"': FREQUENT}


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    with open_reader(str(make_index(tmp_path_factory.mktemp("frequent"), FILES, "none"))) as reader:
        yield reader


def found(
    reader: Reader, limit: int, counts: dict[str, int], filters: Filters | None = None
) -> dict[str, float]:
    """Scores by path."""
    look = Lookup(reader, filters or Filters(), limit)
    scores = look.by_words(QUERY, counts)
    return {c.path: scores[c.id] for c in look.candidates(scores)}


def test_enough_chunks_with_a_rarer_word_are_all_that_is_found(reader: Reader) -> None:
    assert set(found(reader, 3, COUNTS)) == {"evict0.py", "evict1.py", "evict2.py"}


def test_a_frequent_word_still_scores_them(reader: Reader) -> None:
    alone = Lookup(reader, Filters(), 3).by_words(parse("evict"), {'"evict"': 3})
    assert min(found(reader, 3, COUNTS).values()) > max(alone.values())


def test_where_they_are_too_few_the_others_are_found_too(reader: Reader) -> None:
    assert len(found(reader, 5, COUNTS)) == 5
    assert len(found(reader, 20, COUNTS)) == 9


def test_a_filter_comes_first(reader: Reader) -> None:
    assert set(found(reader, 3, COUNTS, Filters(path="cache1.py"))) == {"cache1.py"}


def test_frequent_words_alone_find_what_they_are_in(reader: Reader) -> None:
    assert len(found(reader, 20, {'"evict"': FREQUENT, '"cache"': FREQUENT})) == 9


def test_a_frequent_form_of_a_rare_word_is_no_find_by_itself_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`caching` is nowhere; `cach*`, which it is looked up by as well, stands in four names."""
    files = {f"cached{n}.py": f"def cached_cache_caches{n}(): return 'cached'\n" for n in range(4)}
    files |= {f"other{n}.py": f"def other{n}(): return {n}\n" for n in range(40)}
    files |= {f"some{n}.py": f"def some{n}(): return 'one to evict', {n}\n" for n in range(3)}
    query = parse("evict caching")
    counts = {'"evict"': 3, '"caching"': 0}
    with open_reader(str(make_index(tmp_path, files, "none"))) as reader:
        look = Lookup(reader, Filters(), 3)
        found = []
        for frequent in (5, 4):
            monkeypatch.setattr(lookup, "FREQUENT", frequent)
            found.append({c.path[:-4] for c in look.candidates(look.by_words(query, counts))})
    assert found == [{"cached"}, {"some"}]
