"""What a chunk must say to be understood alone, on sources parsed and counted for real."""

from __future__ import annotations

import re

import pytest
from worked_texts import CACHE, PRORATION

from ckvd import languages, parse
from ckvd.chunk import cut, display_text, locate
from ckvd.embed import registry, tokenizer
from ckvd.model import Chunk, CutOptions

COUNT = tokenizer.load(registry.resolve(registry.DEFAULT)).count


def chunks_of(name: str, text: str, **options: int) -> dict[str, Chunk]:
    language = languages.get({"py": "python", "go": "go", "ts": "typescript"}[name.rpartition(".")[2]])
    source = text.encode()
    parsed = parse.parse(name, source, language)
    assert parsed.status == "ok"
    found = cut(name, source, parsed, "symbol", CutOptions(**options), COUNT)
    for symbol, chunk_id in zip(parsed.symbols, locate(parsed.symbols, found), strict=True):
        assert any(c.chunk_id == chunk_id and c.start <= symbol.start for c in found)
    return {c.chunk_id.partition("::")[2]: c for c in found}


def test_a_method_carries_the_invariant_of_its_class() -> None:
    chunks = chunks_of("render/cache.py", CACHE)
    method = chunks["TileCache._evict"]
    assert (
        display_text("render/cache.py", method.header_text, method.body, "#")
        == '''\
# render/cache.py
MAX_TILES = 512
@threadsafe(readers="lock-free")
class TileCache:
    """Tiles by position, and the positions of each layer.

    Invariant: a position leaves `_layers` before its tile leaves `_tiles`. Painters read without a
    lock, layer first, so a position without a tile is a crash in the middle of a frame.
    """
    unit = "tile"
# ---- chunk body ----
def _evict(self) -> None:
        while len(self._tiles) > MAX_TILES:
            position, handle = next(iter(self._tiles.items()))
            self._layers[handle.layer].discard(position)
            del self._tiles[position]'''
    )
    assert (method.grain, chunks["TileCache"].grain) == ("fine", "coarse")
    assert method.body in chunks["TileCache"].body
    assert "from render.handles import Handle" in chunks["TileCache.__init__"].header_text
    assert "Handle" not in method.header_text


def test_a_function_behind_a_long_preamble_is_whole() -> None:
    chunks = chunks_of("seats/proration.py", PRORATION)
    function = chunks["seat_delta"]
    assert PRORATION.index("def seat_delta") > 800
    assert function.body == PRORATION[PRORATION.index("def seat_delta") :].rstrip()
    assert (
        function.header_text
        == """\
from decimal import ROUND_HALF_EVEN, Decimal
from seats.calendar import term_of
from seats.models import Contract
# Below this the fee for the transfer is higher than the amount.
SMALLEST_CHARGE = 40"""
    )
    header = chunks["<file_header>"]
    assert (header.start, header.header) == (0, ())
    assert header.body.endswith("SMALLEST_CHARGE = 40")


def test_an_edit_of_a_method_leaves_its_class_itself_unchanged() -> None:
    before = chunks_of("a.py", CACHE)
    after = chunks_of("a.py", CACHE.replace("return sorted(self._layers)", "return list(self._layers)"))
    assert before["TileCache"].content_hash != after["TileCache"].content_hash
    assert before["TileCache"].own_hash == after["TileCache"].own_hash
    assert before["TileCache._evict"].content_hash == after["TileCache._evict"].content_hash
    assert before["TileCache.layers"].own_hash != after["TileCache.layers"].own_hash


@pytest.mark.parametrize("limit", [128, 256, 512])
def test_a_generated_function_is_cut_between_its_statements(limit: int) -> None:
    rows = [
        f'    table["{n:04x}"] = Entry({n}, name="field_{n}", offset={n * 8}, width={n % 7})'
        for n in range(550)
    ]
    text = "from schema import Entry\n\n\ndef fill(table):\n" + "\n".join(rows) + "\n    return table\n"
    chunks = chunks_of("generated.py", text, limit=limit)
    parts = [c for c in chunks.values() if c.symbol == "fill"]
    assert "".join(c.body for c in parts) == text[text.index("def fill") :].rstrip()
    assert len(parts) > 550 * 12 / limit
    assert {c.header_text for c in parts} == {"from schema import Entry\ndef fill(table):"}
    assert all(c.body.startswith(("def fill", "    table[")) for c in parts)
    assert min(c.tokens for c in parts[:-1]) > limit * 0.7
    assert max(c.tokens for c in parts) <= limit


def test_the_last_method_of_a_huge_class_has_its_own_chunk() -> None:
    methods = [
        f"    def step_{n}(self, order):\n"
        + "".join(f"        order.note({n}, {k}, self.rate)\n" for k in range(20))
        for n in range(43)
    ]
    text = 'class Desk:\n    """Takes orders."""\n\n    rate = 3\n\n' + "\n".join(methods)
    assert text.count("\n") > 900
    chunks = chunks_of("desk.py", text, limit=512)
    last = chunks["Desk.step_42"]
    assert (last.parts, last.body) == (1, methods[-1].strip())
    assert last.header_text == 'class Desk:\n    """Takes orders."""\n    rate = 3'
    outline = [c for c in chunks.values() if c.symbol == "Desk"]
    assert {c.rendering for c in outline} == {"outline"}
    joined = "".join(c.body for c in outline)
    assert re.findall(r"def (step_\d+)\(self, order\):\n        \.\.\.", joined) == [
        f"step_{n}" for n in range(43)
    ]
    assert (outline[0].start, outline[-1].end) == (0, len(text.rstrip()))


def test_go_names_its_package_and_the_imports_used() -> None:
    text = """\
package tiles

import (
	"errors"
	"fmt"
)

const most = 8

// Load reads one tile.
func Load(n int) error {
	if n > most {
		return errors.New("too many")
	}
	return nil
}
"""
    function = chunks_of("load.go", text)["Load"]
    assert function.body.startswith("// Load reads")
    lines = function.header_text.split("\n")
    assert lines[0] == "package tiles"
    assert '	"errors"' in lines
    assert lines[-1] == "const most = 8"
