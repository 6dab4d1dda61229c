"""Damage stays where it is: what it does not touch keeps its name and range, byte for byte."""

from __future__ import annotations

import random

import pytest
import tree_sitter as ts
from parse_support import parsed, sample

from ckvd.model import Parsed

DELIMITERS = b"(){}[]:;\"'"
COPIES = 12
MAIN = (
    "c", "cpp", "csharp", "go", "java", "javascript", "php", "python", "ruby", "rust", "tsx", "typescript",
)  # fmt: skip


def long_source(language: str, copies: int = COPIES) -> bytes:
    """The sample several times over, as a file of a usual length."""
    source = sample(language).read_bytes()
    first, _, rest = source.partition(b"\n")
    once = first + b"\n" if first.startswith((b"#!", b"<?php")) else b""
    return once + (rest if once else source).partition(b"__END__\n")[0] * copies


def survivors(language: str, source: bytes, at: int, whole: Parsed) -> tuple[int, int]:
    """Of the symbols around a deleted byte, how many stay exact; and how many there are."""
    untouched = {(s.symbol, s.start, s.end) for s in whole.symbols if not s.start <= at < s.end}
    broken = parsed(language, source[:at] + source[at + 1 :]).symbols
    after = {(s.symbol, s.start + (s.start >= at), s.end + (s.end > at)) for s in broken}
    return len(untouched & after), len(untouched)


def share_kept(language: str, deletions: int, seed: int = 7, copies: int = COPIES) -> float:
    source = long_source(language, copies)
    whole = parsed(language, source)
    assert whole.status == "ok"
    places = [i for i, byte in enumerate(source) if byte in DELIMITERS]
    chosen = random.Random(seed).choices(places, k=deletions)
    kept, there = map(sum, zip(*(survivors(language, source, at, whole) for at in chosen), strict=True))
    return kept / there


@pytest.mark.parametrize("language", MAIN)
def test_a_missing_delimiter_harms_little(language: str) -> None:
    assert share_kept(language, 25) >= 0.9


class Counted:
    """A parser that counts the bytes it is given."""

    parser = ts.Parser
    read = 0

    def __init__(self, grammar: ts.Language) -> None:
        self._own = self.parser(grammar)

    def parse(self, text: bytes) -> ts.Tree:
        Counted.read += len(text)
        return self._own.parse(text)


@pytest.mark.parametrize("language", MAIN)
def test_a_damaged_file_is_read_few_times_over(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = long_source(language)
    places = [i for i, byte in enumerate(source) if byte in DELIMITERS]
    chosen = random.Random(7).choices(places, k=8)
    monkeypatch.setattr(ts, "Parser", Counted)
    monkeypatch.setattr(Counted, "read", 0)
    for at in chosen:
        parsed(language, source[:at] + source[at + 1 :])
    assert 0 < Counted.read <= 4 * len(source) * len(chosen)


@pytest.mark.slow
@pytest.mark.parametrize("language", MAIN)
@pytest.mark.parametrize(("copies", "seed"), [(COPIES, 7), (1, 7), (1, 2026), (1, 31337)])
def test_two_hundred_missing_delimiters(language: str, copies: int, seed: int) -> None:
    assert share_kept(language, 200, seed, copies) >= 0.95


if __name__ == "__main__":
    from parse_support import TREE_SITTER

    for name in TREE_SITTER:
        if parsed(name, long_source(name)).status != "ok":
            continue
        print(f"{name:12} {100 * share_kept(name, 60):.1f} %", flush=True)
