"""What the parser's tests share: the golden samples and a rendering of what a parse gives."""

from __future__ import annotations

from pathlib import Path

from ckvd import parse
from ckvd.languages import get, names
from ckvd.model import Parsed

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"
TREE_SITTER = tuple(name for name in names() if get(name).grammar is not None)


def sample(language: str) -> Path:
    """The one input file in a language's golden folder."""
    (found,) = (p for p in (GOLDEN / language).iterdir() if p.name != "expected.txt")
    return found


def parsed(language: str, source: bytes, path: str | None = None) -> Parsed:
    return parse.parse(path or sample(language).name, source, get(language))


def render(result: Parsed, source: bytes) -> str:
    """Everything about a parse as text: one line a value, ranges as line numbers and the text's ends."""

    def shown(start: int, end: int) -> str:
        text = " ".join(source[start:end].decode().split())
        text = text if len(text) <= 60 else f"{text[:28]} … {text[-28:]}"
        first, last = source.count(b"\n", 0, start) + 1, source.count(b"\n", 0, end - 1) + 1
        return f"{first}-{last} {text}"

    lines = [f"status {result.status}"]
    lines += [f"damage {shown(*damage)}" for damage in result.damage]
    for item in result.header:
        lines.append(f"{item.kind} {','.join(sorted(item.names)) or '*'}: {shown(item.start, item.end)}")
    for symbol in result.symbols:
        marks = [
            *(["coarse"] if symbol.coarse else []),
            *(["chunk"] if symbol.chunked else []),
            *([] if symbol.clean else ["damaged"]),
        ]
        depth, scope = 0, symbol.scope
        while scope is not None:
            depth, scope = depth + 1, result.symbols[scope].scope
        pad = "  " * depth
        lines += [
            "",
            f"{pad}{symbol.kind} {symbol.symbol} ({' '.join(marks)})",
            f"{pad}| {shown(symbol.start, symbol.end)}",
            f"{pad}| {symbol.signature}",
        ]
        if symbol.doc:
            lines.append(f'{pad}| "{symbol.doc}"')
        if symbol.lead != symbol.start:
            lines.append(f"{pad}| lead {shown(symbol.lead, symbol.start)}")
        if symbol.body:
            lines.append(f"{pad}| body {shown(*symbol.body)}")
        lines += [f"{pad}| within {shown(item.start, item.end)}" for item in symbol.around]
        for item in symbol.head:
            names_ = f" {','.join(sorted(item.names))}" if item.names else ""
            lines.append(f"{pad}| gives {item.kind}{names_}: {shown(item.start, item.end)}")
    return "\n".join(lines) + "\n"
