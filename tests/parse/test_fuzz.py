"""Whatever a file holds, it gets one outcome from the real pool of workers, and the pool goes on."""

from __future__ import annotations

import random
from itertools import islice

import fuzzed
import pytest

from ckvd.languages import names
from ckvd.workers import Limits

SMALL = Limits(cpu_s=5.0)


def check(files: list[tuple[str, bytes]], limits: Limits) -> None:
    """All of them get an outcome with nothing wrong about it, and a sound file behind them is `ok`."""
    seen = 0
    for language, data, result in fuzzed.run([*files, ("python", b"def f(): pass\n")], limits):
        seen += 1
        assert fuzzed.faults(data, result) == [], (language, len(data), data[:200])
        if data == b"def f(): pass\n":
            assert [s.symbol for s in result.symbols] == ["f"]
    assert seen == len(files) + 1


def test_a_share_of_broken_files_in_every_language() -> None:
    found = fuzzed.samples()
    files = [
        (language, data[:2000])
        for language in names()
        for data in islice(fuzzed.broken(found[language], random.Random(f"share {language}"), 1), 5)
    ]
    check(files, SMALL)


def test_what_kills_a_process_costs_that_file_alone() -> None:
    killers = [("markdown", b"> " * 256), ("yaml", b"- " * 256), ("kotlin", b'"${' * 3000)]
    check(killers, SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("language", names())
def test_broken_and_nested_files(language: str) -> None:
    texts = fuzzed.samples()[language]
    rng = random.Random(language)
    files = [*fuzzed.broken(texts, rng, 12), *fuzzed.nested(language, fuzzed.DEEP)]
    files.append(rng.randbytes(1 << 20).replace(b"\0", b"a"))
    check([(language, data) for data in files], SMALL)


@pytest.mark.parametrize("language", names())
def test_there_is_a_sample_and_something_that_nests(language: str) -> None:
    assert fuzzed.samples()[language]
    assert fuzzed.NESTS[language]
