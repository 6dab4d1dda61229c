"""Each language's sample gives exactly the symbols, header and heads that its golden file says.

Run this file as a program to write the golden files anew after a change that is meant.
"""

from __future__ import annotations

import pytest
from parse_support import GOLDEN, parsed, render, sample

LANGUAGES = sorted(folder.name for folder in GOLDEN.iterdir())


@pytest.mark.parametrize("language", LANGUAGES)
def test_sample(language: str) -> None:
    source = sample(language).read_bytes()
    expected = (GOLDEN / language / "expected.txt").read_text("utf-8")
    assert render(parsed(language, source), source) == expected


if __name__ == "__main__":
    for name in LANGUAGES:
        text = sample(name).read_bytes()
        (GOLDEN / name / "expected.txt").write_text(render(parsed(name, text), text), "utf-8")
