"""One header in every language: what its most deeply nested chunk is told about its surroundings.

A missing or changed `headers/LANGUAGE.txt` fails; its first line names the chunk.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from chunk_toy import words

from ckvd import languages, parse
from ckvd.chunk import cut
from ckvd.model import Chunk, CutOptions

GOLDEN = Path(__file__).parents[1] / "parse" / "golden"
HEADERS = Path(__file__).parent / "headers"
DATA = {"hcl", "json", "terraform", "toml", "yaml"}
"""Languages whose declarations are told apart by their names alone."""
SUFFIXES = {name: languages.get(name).suffixes for name in languages.names()}


def deepest(language: str) -> Chunk:
    """The chunk with most scopes around it, of these the one with the longest header."""
    suffixes = SUFFIXES[language]
    (path,) = [p for p in (GOLDEN / language).iterdir() if p.suffix[1:] in suffixes]
    source = path.read_bytes()
    parsed = parse.parse(path.name, source, languages.get(language))
    chunks = cut(path.name, source, parsed, "symbol", CutOptions(), words)
    return max((c for c in chunks if c.unit == "symbol"), key=lambda c: (len(c.parents), len(c.header_text)))


@pytest.mark.parametrize("language", sorted({p.name for p in GOLDEN.iterdir() if p.is_dir()} - DATA))
def test_header(language: str) -> None:
    chunk = deepest(language)
    shown = f"{chunk.chunk_id}\n{chunk.header_text}\n"
    assert shown == (HEADERS / f"{language}.txt").read_text("utf-8")
