"""A daemon over a tree of broken, torn, random and deeply nested files in every language: it goes on, each of
them has one outcome, the list of failures says why, and a repaired file leaves it by itself."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from support import Ckvd, Tree

from ckvd.languages import get, names
from ckvd.parse import parse

sys.path.insert(0, str(Path(__file__).parents[1] / "parse"))

import fuzzed

PARTS = 8
"""The languages are taken in so many parts, each with a daemon of its own."""
DEEP = 2_000
LONG_S = 3_000
"""Seconds that a sync may take: some files use all the time that a parser is given."""
GIVEN_UP = ("timeout", "memory", "crashed")
SOUND = {"css": b"a {\n  b: c;\n}\n", "make": b"all: a\n\ttrue\n", "scss": b"a {\n  b: $c;\n}\n"}
"""Of the languages whose samples are damaged on purpose."""


def place(language: str, folder: str, number: int) -> str:
    """A path that is of the language by its name."""
    data = get(language)
    last = f"{number}.{data.suffixes[0]}" if data.suffixes else f"{number}/{data.filenames[0]}"
    return f"{folder}/{language}/{last}"


def sound(language: str) -> bytes:
    """A file of the language without an error."""
    path = place(language, "sound", 0)
    return SOUND.get(language) or next(
        t for t in fuzzed.samples()[language] if parse(path, t, get(language)).status == "ok"
    )


def hostile(language: str) -> Iterator[bytes]:
    rng = random.Random(f"daemon {language}")
    yield from fuzzed.broken(fuzzed.samples()[language], rng, 1)
    yield from islice(fuzzed.nested(language, DEEP), 0, None, 3)
    yield from (b"> " * 256, b"- " * 256, b"[" * 20 * DEEP)
    yield rng.randbytes(100_000).replace(b"\0", b" ")
    yield rng.randbytes(1_000)


def outcomes(tree: Tree) -> dict[str, tuple[str, str, str | None]]:
    found = tree.rows("SELECT path, strategy, parse_status, reason FROM files")
    assert len({path for path, *_ in found}) == len(found)
    return {path: (strategy, status, reason) for path, strategy, status, reason in found}


def listed(tree: Tree) -> dict[str, tuple[str | None, str | None]]:
    rows = tree.rows("SELECT path, reason, detail FROM failures")
    return {path: (reason, detail) for path, reason, detail in rows}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_a_daemon_outlives_a_tree_of_damage(part: int, tree: Tree, ckvd: Ckvd) -> None:
    languages = names()[part::PARTS]
    whole = {place(language, "sound", 0): sound(language) for language in languages}
    damaged = {
        place(language, "damaged", number): data
        for language in languages
        for number, data in enumerate(hostile(language))
    }
    own = {
        "ckv.yaml": "embedding:\n  model: none\nindex:\n  generated: full\n",
        ".gitattributes": "".join(f"damaged/{name}/** linguist-language={name}\n" for name in languages),
    }
    tree.write(own | whole)
    wait = ("--timeout", str(LONG_S))
    with ckvd.daemon(tree.root) as daemon:
        assert {outcomes(tree)[path][1] for path in whole} == {"ok"}
        assert listed(tree) == {}

        tree.write(damaged)
        ckvd("sync", tree.root, *wait, timeout=LONG_S + 60)
        assert daemon.poll() is None
        found, failures = outcomes(tree), listed(tree)
        assert set(found) == {*own, *whole, *damaged}
        assert {found[path] for path in whole} <= {("symbol", "ok", None), ("section", "ok", None)}
        for path in damaged:
            strategy, status, reason = found[path]
            assert reason in fuzzed.REASONS, path
            assert (strategy, status) == ("window", "failed") or reason not in GIVEN_UP, path
            assert (status in ("partial", "failed")) <= (path in failures), path
        assert not set(failures) & set(whole)
        for path, (reason, detail) in failures.items():
            assert reason, path
            assert detail, path
            assert "\n" not in detail, path
        said = ckvd("status", tree.root, "--failures").stdout
        assert [path for path in failures if path not in said] == []
        loose = tree.rows("SELECT count(*) FROM symbols WHERE chunk_id NOT IN (SELECT chunk_id FROM chunks)")
        assert loose == [(0,)]

        tree.write({path: whole[place(Path(path).parts[1], "sound", 0)] for path in damaged})
        ckvd("sync", tree.root, *wait, timeout=LONG_S + 60)
        assert daemon.poll() is None
        assert listed(tree) == {}
        assert {outcomes(tree)[path][1] for path in damaged} == {"ok"}
        assert tree.rows("PRAGMA integrity_check") == [("ok",)]
    log = (tree.root.parent / f"{tree.root.name}.daemon.log").read_text(errors="replace")
    assert "Traceback" not in log, log
