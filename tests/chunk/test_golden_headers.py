"""One header in every language: what its most deeply nested chunk is told about its surroundings.

A missing or changed `headers/LANGUAGE.txt` fails; its first line names the chunk. Sources are those of the
parser's golden tests, and in `sources/` those of languages that these do not have. Where a declaration says
all by its name, as in data, the header is empty.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from chunk_toy import words

from ckvd import languages, parse
from ckvd.chunk import cut
from ckvd.languages.detect import detect
from ckvd.model import Chunk, CutOptions

GOLDEN = Path(__file__).parents[1] / "parse" / "golden"
SOURCES = Path(__file__).parent / "sources"
HEADERS = Path(__file__).parent / "headers"
SCOPED = Path(__file__).parent / "scoped"


def source_of(language: str) -> tuple[Path, bytes]:
    folder = GOLDEN / language
    for path in sorted((folder if folder.is_dir() else SOURCES).iterdir()):
        data = path.read_bytes()
        found = detect(path.name, data)
        if found is not None and found.name == language:
            return path, data
    raise AssertionError(f"add a source in {language} to {SOURCES}")


def deepest(language: str) -> Chunk:
    """The chunk with most scopes around it, of these one whose header is not its own line, the longest."""
    return deepest_of(language, *source_of(language))


def deepest_of(language: str, path: Path, data: bytes) -> Chunk:
    known = languages.get(language)
    parsed = parse.parse(path.name, data, known)
    chunks = cut(path.name, data, parsed, "section" if known.sections else "symbol", CutOptions(), words)
    named = [c for c in chunks if c.symbol is not None] or list(chunks)
    return max(named, key=lambda c: (len(c.parents), c.body not in c.header_text, len(c.header_text)))


@pytest.mark.parametrize("language", languages.names())
def test_header(language: str) -> None:
    chunk = deepest(language)
    shown = f"{chunk.chunk_id}\n{chunk.header_text}\n"
    assert shown == (HEADERS / f"{language}.txt").read_text("utf-8")


@pytest.mark.parametrize(
    "path", sorted(p for p in SCOPED.iterdir() if p.suffix != ".txt"), ids=lambda p: str(p.name)
)
def test_a_function_is_told_its_imports_constants_and_scopes(path: Path) -> None:
    """Used and unused imports, a constant, a documented type with its attributes, heritage and values."""
    data = path.read_bytes()
    language = detect(path.name, data)
    assert language is not None
    chunk = deepest_of(language.name, path, data)
    assert chunk.kind in ("function", "method", "rpc")
    assert f"{chunk.chunk_id}\n{chunk.header_text}\n" == path.with_name(f"{path.name}.txt").read_text("utf-8")
