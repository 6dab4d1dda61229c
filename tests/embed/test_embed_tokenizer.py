from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import transformer
from tokenizers import Tokenizer

from ckvd.embed import registry, tokenizer

SPEC = registry.resolve(registry.DEFAULT)
COUNTER = tokenizer.load(SPEC)
WHOLE = Tokenizer.from_file(SPEC.tokenizer)


def by_the_book(text: str) -> list[int]:
    """The words of the text, joined by blanks, through the tokenizer at once."""
    assert SPEC.split is not None
    return list(WHOLE.encode(" ".join(re.findall(SPEC.split, text)), add_special_tokens=False).ids)


@given(st.text() | st.text("aB_9 éßÄ中文́½Ⅷ0١\t\x00ǅ", max_size=40))
def test_words_one_by_one_equal_the_whole_text(text: str) -> None:
    ids = by_the_book(text)
    assert COUNTER.count(text) == len(ids)
    assert COUNTER.ids(text) == (ids or [WHOLE.token_to_id("[UNK]")])


@given(st.lists(st.text("aB c", max_size=20)), st.integers(1, 9))
def test_many_are_counted_each_alone_and_the_limit_keeps_the_beginning(texts: list[str], limit: int) -> None:
    assert COUNTER.count_many(texts) == [COUNTER.count(t) for t in texts]
    for text in texts:
        assert COUNTER.ids(text, limit) == COUNTER.ids(text)[:limit]


def test_long_text_is_counted_whole() -> None:
    assert COUNTER.count("getHTTPResponseCode " * 5_000) == 5_000 * COUNTER.count("getHTTPResponseCode")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> tokenizer.TokenCounter:
    return tokenizer.load(registry.resolve(str(transformer(tmp_path_factory.mktemp("m")))))


def test_truncation_and_padding_of_the_file_are_off(bert: tokenizer.TokenCounter) -> None:
    assert bert.count("file " * 100) == 102
    assert bert.count("file") == 3
    assert bert.count("") == 2


def test_special_tokens_written_in_a_file_are_text(bert: tokenizer.TokenCounter) -> None:
    assert bert.ids("[SEP]").count(3) == 1


@given(st.integers(0, 12), st.integers(2, 10))
def test_a_cut_text_keeps_its_special_tokens(bert: tokenizer.TokenCounter, words: int, limit: int) -> None:
    ids = bert.ids("file " * words, limit)
    assert len(ids) == min(words + 2, limit)
    assert (ids[0], ids[-1]) == (2, 3)


def test_the_models_prefix_counts(tmp_path: Path) -> None:
    folder = transformer(tmp_path / "m")
    plain = tokenizer.load(registry.resolve(str(folder))).count("read file")
    (folder / "model.toml").write_text('document_prefix = "the cache: "')
    counter = tokenizer.load(registry.resolve(str(folder)))
    assert counter.count("read file") == plain + 3
    assert counter.count_many(["read file"]) == [plain + 3]


def test_workers_need_neither_onnxruntime_nor_numpy() -> None:
    program = (
        "import sys; from ckvd.embed import registry, tokenizer;"
        "tokenizer.load(registry.resolve(registry.DEFAULT)).count('a');"
        "print(sorted({'onnxruntime', 'numpy'} & set(sys.modules)))"
    )
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )
