"""The embedded text and the text for a reader."""

from __future__ import annotations

from dataclasses import replace

import pytest
from chunk_toy import words

from ckvd.chunk import display_text, embed_text, marker_line, prefix_line
from ckvd.chunk.text import fit_header
from ckvd.model import CutOptions, Segment

HEADER = (
    Segment("package", "package store"),
    Segment("import", "import io"),
    Segment("import", "import one.very.long.name.of.a.module.far.away"),
    Segment("remark", "# So many."),
    Segment("constant", "const MOST = 12"),
    Segment("doc", "# A store.\n# It keeps what it is given until the end."),
    Segment("signature", "class Store {"),
    Segment("member", "    size = 1"),
)


@pytest.mark.parametrize(
    ("row", "line"),
    [
        (("go", "server.go", "file_header", None, "module"), "language: go. file: server.go. file header."),
        (
            ("markdown", "docs/x.md", "section", "why-sqlite-vec", "section"),
            "language: markdown. file: docs/x.md. section: why-sqlite-vec.",
        ),
        (
            ("go", "server.go", "symbol", "Server.Listen", "method"),
            "language: go. file: server.go. symbol: Server.Listen (Method).",
        ),
        (("python", "a.py", "module", None, "module"), "language: python. file: a.py. module code."),
        (("go", "a.go", "names", None, "names"), "language: go. file: a.go. names."),
        (("go", "a.go", "file", None, "file"), "language: go. file: a.go. whole file."),
        ((None, "LICENSE", "window", None, "window"), "file: LICENSE. window."),
        (
            ("js", "a\nb.js", "symbol", "it works\n  twice", "test"),
            "language: js. file: a b.js. symbol: it works twice (Test).",
        ),
    ],
)
def test_prefix_line(row, line: str) -> None:
    assert prefix_line(*row) == line


@pytest.mark.parametrize(
    ("comment", "line"),
    [
        ("#", "# ---- chunk body ----"),
        ("//", "// ---- chunk body ----"),
        ("<!--", "<!-- ---- chunk body ---- -->"),
        ("/*", "/* ---- chunk body ---- */"),
        ("{{/*", "{{/* ---- chunk body ---- */}}"),
    ],
)
def test_marker_is_a_comment(comment: str, line: str) -> None:
    assert marker_line(comment) == line


def embedded(**changes: object) -> str:
    options = CutOptions(**changes)  # type: ignore[arg-type]
    return embed_text(
        language="toy",
        path="a.toy",
        unit="symbol",
        symbol="Store.put",
        kind="method",
        header=HEADER,
        body="put() {}",
        comment="//",
        options=options,
        count=words,
    )


def test_embedded_text() -> None:
    line = "language: toy. file: a.toy. symbol: Store.put (Method)."
    assert embedded() == f"{line}\n\nput() {{}}"
    header = "\n".join(s.text for s in HEADER)
    assert embedded(embed_header=True) == f"{line}\n\n{header}\n// ---- chunk body ----\nput() {{}}"
    assert embedded(prefix="raw") == "put() {}"


def test_text_for_a_reader() -> None:
    assert display_text("a.toy", "class Store {", "put() {}", "//") == (
        "// a.toy\nclass Store {\n// ---- chunk body ----\nput() {}"
    )
    assert display_text("a.md", "", "Text", "<!--") == "<!-- a.md -->\n<!-- ---- chunk body ---- -->\nText"


def test_what_leaves_a_header_first() -> None:
    def left(share: int) -> list[str]:
        return fit_header(HEADER, share, words).split("\n")

    whole = [line for s in HEADER for line in s.text.split("\n")]
    assert left(100) == whole
    steps = [left(share) for share in range(60, 4, -1)]
    assert all(words("\n".join(kept)) <= share for share, kept in zip(range(60, 4, -1), steps, strict=True))
    assert all("class Store {" in kept for kept in steps)
    gone = {
        line: next(n for n, kept in enumerate(steps) if line not in kept)
        for line in whole
        if line not in left(5)
    }
    order = sorted(gone, key=gone.__getitem__)
    assert order[:2] == ["import one.very.long.name.of.a.module.far.away", "import io"]
    assert order.index("# So many.") < order.index("const MOST = 12") < order.index("package store")
    assert order[-1] == "# A store."
    assert left(8) == ["# A store.", "class Store {"]


def test_a_signature_too_long_keeps_its_beginning() -> None:
    signature = Segment("signature", "def f(" + ", ".join(f"arg{n}" for n in range(300)) + "):")
    kept = fit_header((Segment("doc", "# Doc."), signature), 40, words)
    assert signature.text.startswith(kept)
    assert 35 <= words(kept) <= 40


def test_a_long_path_and_name_do_not_crowd_out_the_body() -> None:
    arguments = {
        "language": "toy",
        "unit": "symbol",
        "kind": "test",
        "header": (),
        "comment": "#",
        "count": words,
    }
    options = CutOptions(limit=128)
    path, symbol = "deep/" * 200 + "a.toy", "it works " * 300 + "at last"
    text = embed_text(path=path, symbol=symbol, body="body", options=options, **arguments)  # type: ignore[arg-type]
    assert words(text) <= 64
    assert "a.toy. symbol:" in text
    assert "at last (Test)." in text
    assert replace(options, limit=128) == options
