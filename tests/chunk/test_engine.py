"""The same for sources of every language, on their real parse and counted by the real tokenizer."""

from __future__ import annotations

from pathlib import Path

import pytest
from chunk_toy import LIMITS, check

from ckvd import languages, parse
from ckvd.chunk import cut, locate
from ckvd.embed import registry, tokenizer
from ckvd.model import Chunk, CutOptions

SAMPLES = Path(__file__).parents[1] / "parse"
BY_SUFFIX = {suffix: name for name in languages.names() for suffix in languages.get(name).suffixes}
COUNT = tokenizer.load(registry.resolve(registry.DEFAULT)).count


def sources() -> list[Path]:
    """The sample sources whose language parses, by suffix."""
    paths = sorted(p for p in SAMPLES.rglob("*") if p.is_file())
    return [p for p in paths if (name := BY_SUFFIX.get(p.suffix[1:])) and languages.get(name).parses]


def cut_file(path: Path, options: CutOptions) -> tuple[Chunk, ...]:
    source = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    language = languages.get(BY_SUFFIX[path.suffix[1:]])
    parsed = parse.parse(path.name, source, language)
    strategy = "window" if parsed.status == "failed" else "section" if language.sections else "symbol"
    chunks = cut(path.name, source, parsed, strategy, options, COUNT)
    check(source, chunks, options)
    ids = {c.chunk_id for c in chunks}
    assert ids.issuperset(locate(parsed.symbols, chunks))
    return chunks


@pytest.mark.parametrize("path", sources(), ids=lambda p: "/".join(p.parts[-3:]))
def test_sample(path: Path) -> None:
    for limit in LIMITS:
        for embed_header in (False, True):
            cut_file(path, CutOptions(limit=limit, embed_header=embed_header, include_file_full=True))


def test_every_language_has_a_sample() -> None:
    assert {BY_SUFFIX[p.suffix[1:]] for p in sources()} >= {
        "python",
        "go",
        "rust",
        "typescript",
        "java",
        "cpp",
    }


def test_this_project_itself() -> None:
    for path in sorted(Path(parse.__file__).parents[1].rglob("*.py")):
        cut_file(path, CutOptions(limit=256))


def test_decorators_and_nesting() -> None:
    path = SAMPLES / "cases" / "python-decorators-nesting" / "deco.py"
    chunks = {c.chunk_id.removeprefix("deco.py::"): c for c in cut_file(path, CutOptions())}
    lines = path.read_text().split("\n")
    for name in ("Money.cents", "Money.cents#2", "Money.add", "Money.add#2", "Money.add#3", "conditional#2"):
        assert name in chunks
    assert (chunks["before"].end_line, chunks["fetch"].start_line) == (7, 10)
    leaf = chunks["fetch.inner.Local.run.leaf"]
    for name in ("def fetch", "def inner", "class Local", "def run"):
        assert any(name in line for line in leaf.header_text.split("\n"))
    assert leaf.body.split("\n")[0].strip() == lines[leaf.start_line - 1].strip()
