"""Counting and cutting text in a model's own tokens. No onnxruntime: worker processes need only this."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Protocol

from ckvd.embed.registry import ModelSpec
from ckvd.errors import ModelError

# The library warns and may hang when its thread pool meets a fork; parallelism here is by process.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from tokenizers import Tokenizer

_MEMO_WORDS = 200_000
"""Distinct words remembered (some 30 MB at most); a monorepo's worth of identifiers, then starts over."""


class TokenCounter(Protocol):
    """Tokens of a text as the model sees it as a document: its own prefix and special tokens included,
    truncation and padding switched off. Safe to call from several threads."""

    def count(self, text: str) -> int: ...

    def count_many(self, texts: Iterable[str]) -> list[int]: ...

    def ids(self, text: str, limit: int | None = None) -> list[int]:
        """Token ids of `text` (prefix not added), at most `limit`: the beginning is kept. Never empty: a text
        without a word is one unknown token, so that it has a direction too."""
        ...


def load(spec: ModelSpec) -> TokenCounter:
    """The tokenizer of a model. Raises ModelError where its file is missing or damaged."""
    try:
        with open(spec.tokenizer, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise ModelError(
            f"cannot read {spec.tokenizer}: {error.strerror}; install the model again"
        ) from error
    except UnicodeDecodeError as error:
        raise ModelError(f"{spec.tokenizer} is damaged ({error}); install the model again") from error
    try:
        tokenizer = Tokenizer.from_str(text)
    except Exception as error:  # all that the library raises is bare
        if type(error) is not Exception:
            raise
        raise ModelError(f"{spec.tokenizer} is damaged ({error}); install the model again") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # "[SEP]" in a source file is text
    if spec.split is not None:
        return _Words(tokenizer, re.compile(spec.split), spec.document_prefix)
    return _Whole(tokenizer, spec.document_prefix)


class _Words:
    """A bag of words: each word is tokenised on its own, once, and remembered.

    Equal to tokenising the words joined by blanks, since a BERT normaliser and pre-tokenizer never look
    across a blank; some four times faster.
    """

    def __init__(self, tokenizer: Tokenizer, split: re.Pattern[str], prefix: str) -> None:
        self._tokenizer = tokenizer
        self._words = split.findall
        self._prefix = prefix
        self._unknown = _unknown(tokenizer)
        self._memo: dict[str, tuple[int, ...]] = {}

    def count(self, text: str) -> int:
        word_ids = self._word_ids
        return sum([len(word_ids(word)) for word in self._words(self._prefix + text)])

    def count_many(self, texts: Iterable[str]) -> list[int]:
        return [self.count(text) for text in texts]

    def ids(self, text: str, limit: int | None = None) -> list[int]:
        known = self._memo
        found: list[int] = []
        for word in self._words(text):
            found += known.get(word) or self._word_ids(word)
        return found[:limit] or [self._unknown]

    def _word_ids(self, word: str) -> tuple[int, ...]:
        known = self._memo.get(word)
        if known is None:
            if len(self._memo) >= _MEMO_WORDS:
                self._memo.clear()
            known = self._memo[word] = tuple(self._tokenizer.encode(word, add_special_tokens=False).ids)
        return known


class _Whole:
    """Text as it stands, with the model's special tokens around it."""

    def __init__(self, tokenizer: Tokenizer, prefix: str) -> None:
        self._tokenizer = tokenizer
        self._prefix = prefix
        self._unknown = _unknown(tokenizer)

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode(self._prefix + text).ids)

    def count_many(self, texts: Iterable[str]) -> list[int]:
        return [len(e.ids) for e in self._tokenizer.encode_batch([self._prefix + t for t in texts])]

    def ids(self, text: str, limit: int | None = None) -> list[int]:
        encoding = self._tokenizer.encode(text)
        if limit is not None:
            special = self._tokenizer.num_special_tokens_to_add(False)
            plain = self._tokenizer.encode(text, add_special_tokens=False)
            if len(plain.ids) + special > limit:
                plain.truncate(max(limit - special, 0))
                encoding = self._tokenizer.post_process(plain)
        return list(encoding.ids) or [self._unknown]


def _unknown(tokenizer: Tokenizer) -> int:
    name = getattr(tokenizer.model, "unk_token", None)
    return (tokenizer.token_to_id(name) if name else None) or 0
