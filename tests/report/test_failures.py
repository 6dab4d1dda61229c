"""Failures shown with their source: where the caret stands, what is said, what is never read."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_rows import Rows, blob
from rich.cells import cell_len
from rich.console import Console
from support import Tree

from ckvd.model import Verdict
from ckvd.report import failures, status, terminal
from ckvd.report.failures import CHANGED, GONE, Excerpt, excerpt, source
from ckvd.report.remedy import done, remedy
from ckvd.report.values import Failure

BASE = Failure(
    path="a.py",
    path_bytes=b"a.py",
    language="python",
    strategy="symbol",
    parse_status="partial",
    reason="syntax-errors",
    detail="line 1, column 1: cannot be parsed",
    line=1,
    bytes=1,
    size=1,
    blob_oid="0" * 40,
    symbols=0,
    damage=(),
)


def failure(data: bytes, broken: bytes, **changes: Any) -> Failure:
    """A file of `data` whose damage is the first `broken` in it."""
    start = data.index(broken)
    line = data.count(b"\n", 0, start) + 1
    damage = ((start, start + len(broken)),)
    return replace(
        BASE, line=line, bytes=len(broken), size=len(data), blob_oid=blob(data), damage=damage, **changes
    )


def text_of(renderable: Any, width: int = 80) -> str:
    return terminal.rendered(Console(width=width, color_system=None), [renderable])


@pytest.mark.parametrize(
    ("data", "broken", "line", "text", "column", "length", "offset"),
    [
        (b"x = 1\ndef f(:\n", b":", 2, "def f(:", 6, 1, 6),
        ("é = (ü\n".encode(), "ü".encode(), 1, "é = (ü", 5, 1, 6),
        (b"a\r\nb b\r\n", b"b b\r", 2, "b b", 0, 4, 0),
        (b"\xef\xbb\xbfx = (\n", b"(", 1, "x = (", 4, 1, 7),
        (b"x = \xff(\n", b"(", 1, "x = \\xff(", 8, 1, 5),
        (b"a\x0cb (\n", b"(", 1, "a\x0cb (", 4, 1, 4),
        (b"last", b"t", 1, "last", 3, 1, 3),
    ],
)
def test_the_caret_stands_under_the_damage(
    data: bytes, broken: bytes, line: int, text: str, column: int, length: int, offset: int
) -> None:
    found = excerpt(data, failure(data, broken))
    assert found == Excerpt(line, text, column, length, ((line, line),), offset)


def test_damage_over_several_lines_is_marked_on_the_first() -> None:
    data = b"ok\nf(\n  a\n  b\nok\n"
    found = excerpt(data, failure(data, b"(\n  a\n  b"))
    assert found == Excerpt(2, "f(", 1, 1, ((2, 4),), 1)


def test_a_line_without_a_range_has_no_caret() -> None:
    assert excerpt(b"a\nb\nc\n", replace(BASE, line=2)) == Excerpt(2, "b")
    assert excerpt(b"a\n", replace(BASE, line=9)) == Excerpt(9, "")
    assert excerpt(b"a\n", replace(BASE, line=None)) is None


def test_utf_16_has_no_line_to_show() -> None:
    data = "class (".encode("utf-16")
    assert excerpt(data, replace(BASE, damage=((2, 4),))) is None


@given(st.binary(max_size=200), st.data())
def test_any_bytes_give_an_excerpt_that_can_be_shown(data: bytes, draw: st.DataObject) -> None:
    start = draw.draw(st.integers(0, len(data)))
    end = draw.draw(st.integers(start, len(data) + 1))
    found = excerpt(data, replace(BASE, damage=((start, end),), line=1))
    if found is None:
        return
    assert found.line == data.count(b"\n", 0, start) + 1
    shown = text_of(failures._Pointed(found), 40)
    assert all(cell_len(line) <= 40 for line in shown.split("\n"))
    assert not any(unicodedata.category(c) == "Cc" for c in shown if c != "\n")


def test_a_long_line_is_cut_around_the_damage(tree: Tree) -> None:
    data = b"x" * 5000 + b" BROKEN " + b"y" * 5000 + b"\n"
    f = failure(data, b"BROKEN")
    found = excerpt(data, f)
    assert found is not None
    line, carets, *_ = text_of(failures._Pointed(found)).split("\n")
    assert len(line) <= 80
    assert carets.index("^") == line.index("BROKEN")
    assert carets.count("^") == len("BROKEN")


def test_a_line_that_has_room_is_not_cut() -> None:
    data = b"x" * 66 + b"(\n"
    found = excerpt(data, failure(data, b"("))
    assert found is not None
    assert text_of(failures._Pointed(found), 72).split("\n")[0] == "1 │ " + "x" * 66 + "("
    cut = text_of(failures._Pointed(found), 70).split("\n")[0]
    assert cut.startswith("1 │ …")
    assert cut.endswith("(")
    assert len(cut) <= 70


@pytest.mark.parametrize("width", [20, 40, 80])
@pytest.mark.parametrize(
    "line", ["\t" * 30 + "漢字" * 60 + "(" + "漢" * 90, "a" * 200 + "(", "(" + "\t" * 80]
)
def test_a_line_of_wide_characters_and_tabs_fits(line: str, width: int) -> None:
    data = line.encode() + b"\n"
    found = excerpt(data, failure(data, b"("))
    assert found is not None
    shown, carets, *_ = text_of(failures._Pointed(found), width).split("\n")
    assert max(cell_len(shown), cell_len(carets)) <= width
    assert cell_len(shown[: shown.index("(")]) == carets.index("^")
    assert "…" in shown


def test_tabs_and_wide_characters_keep_the_caret_in_place() -> None:
    data = "\tname = '漢字' (\n".encode()
    found = excerpt(data, failure(data, b"("))
    assert found is not None
    line, carets, *_ = text_of(failures._Pointed(found)).split("\n")
    assert line == "1 │     name = '漢字' ("
    assert carets == "  │ " + " " * 18 + "^"


# -- from disk ------------------------------------------------------------------------------------


def test_a_file_that_changed_since_is_not_quoted(tree: Tree) -> None:
    data = b"def f(:\n"
    f = failure(data, b":")
    tree.write({"a.py": data})
    assert isinstance(source(bytes(tree.root), f), Excerpt)
    tree.write({"a.py": b"other\n"})
    assert source(bytes(tree.root), f) == CHANGED
    (tree.root / "a.py").unlink()
    assert source(bytes(tree.root), f) == GONE


def test_no_link_is_followed(tree: Tree) -> None:
    data = b"def f(:\n"
    tree.write({"other.py": data})
    (tree.root / "a.py").symlink_to("other.py")
    assert source(bytes(tree.root), failure(data, b":")) == CHANGED


def test_what_was_left_out_is_never_read(tree: Tree) -> None:
    secret = b"password = 'hunter2\n"
    rows = Rows(tree)
    rows.clean("a.py", "f")
    rows.left_out("locked.py", secret, "unreadable", "Permission denied")
    where = rows.store()
    found = status.collect(where)
    assert source(bytes(tree.root), found.data.failures[0]) is None
    told = status.as_json(found, failures=True)
    assert told["failures"][0]["path"] == "locked.py"
    assert told["failures"][0]["source"] is None
    assert "hunter2" not in str(told)
    assert "hunter2" not in text_of(failures.screen(bytes(tree.root), found.data.failures))


def test_the_screen_says_why_what_and_how(tree: Tree) -> None:
    rows = Rows(tree)
    rows.unclean(
        "src/x.py",
        b"def f(:\n    pass\n",
        Verdict("symbol", "partial", "syntax-errors", "line 1, column 7: ')' is missing", 1, 2, ((6, 8),)),
    )
    found = status.collect(rows.store())
    assert text_of(failures.screen(bytes(tree.root), found.data.failures)).split("\n") == [
        "src/x.py:1  partial  syntax-errors  python",
        "  1 │ def f(:",
        "    │       ^",
        "  why     line 1, column 7: ')' is missing",
        "  damage  2 bytes of 17, line 1",
        "  done    1 symbol kept; windows over the damage",
        "  mend    add the missing ')'; look for what is left open at or above this line",
        "",
    ]
    told = status.as_json(found, failures=True)["failures"][0]
    assert (told["source"], told["column"], told["lines"]) == ("def f(:", 6, [[1, 1]])
    assert told["done"] == "1 symbol kept; windows over the damage"
    assert told["mend"].startswith("add the missing ')'")


def test_damaged_places_in_one_line_are_one_line(tree: Tree) -> None:
    rows = Rows(tree)
    verdict = Verdict(
        "symbol", "partial", "syntax-errors", "line 1, column 3: ", 1, 3, ((2, 3), (4, 5), (8, 9))
    )
    rows.unclean("x.py", b"f((,(,\n\n(\n", verdict)
    found = status.collect(rows.store())
    assert "3 bytes of 10, lines 1, 3" in text_of(failures.screen(bytes(tree.root), found.data.failures))


def test_a_path_and_a_line_with_control_characters_are_shown_escaped(tree: Tree) -> None:
    name = "a\x1b[2J\n\u202e.py"
    data = b"x = \x1b]0;owned\x07 (\n"
    tree.write({name: data})
    f = failure(data, b"(", path=name, path_bytes=name.encode())
    shown = text_of(failures.screen(bytes(tree.root), [f]))
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert shown.split("\n")[0] == "a\\x1b[2J\\x0a\\u202e.py:1  partial  syntax-errors  python"
    assert "x = \\x1b]0;owned\\x07 (" in shown


def test_no_failure_is_good_news(tree: Tree) -> None:
    assert "clean" in text_of(failures.screen(bytes(tree.root), []))


# -- what is said ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "line", "said"),
    [
        ({}, "print 'x'", "Python 2"),
        ({}, "except OSError, e:", "Python 2"),
        ({}, "print('x')", "mend the syntax"),
        ({}, "<<<<<<< HEAD", "merge conflict"),
        ({"language": "javascript"}, "const a = {{ user }};", "template"),
        ({"language": "java"}, "<% if x %>", "template"),
        ({"language": "c"}, "FOREACH(a, b) {", "macro"),
        ({"language": "c"}, "#ifdef X", "preprocessor"),
        ({"language": "go"}, "FOREACH(a, b)", "mend the syntax"),
        ({"detail": "line 3, column 1: '}' is missing", "language": "go"}, "}", "add the missing '}'; look"),
        ({"detail": "line 3, column 1: '}' seems to be missing"}, "print 'x'", "add the missing '}'; look"),
        ({"detail": 'line 3, column 1: "\'" seems to be missing'}, None, 'add the missing "\'"; look'),
        ({"detail": "line 3, column 1: ';' is missing", "language": "c"}, "f()", "add the missing ';' here"),
        (
            {"detail": "line 1, column 7: 'number' is missing", "language": "json"},
            "[2,, ]",
            "a value is missing",
        ),
        ({"detail": "line 1, column 4: 'identifier' is missing"}, "def (", "a name is missing"),
        ({"detail": "line 1, column 4: this quote has no end", "language": "sql"}, "a 'b", "close what is"),
        ({"language": "erb", "path": "a.html.erb"}, "<% if x", "mend the syntax"),
        ({"language": "yaml", "path": "a.yaml.j2"}, "a: {{ x }}", "mend the syntax"),
        ({"language": "vue", "path": "a.vue"}, "<p>{{ x }}</p>", "mend the syntax"),
        ({"detail": "line 2, column 1: found a tab where spaces are needed"}, "\tb: 1", "indent with spaces"),
        ({"detail": "line 1, column 1: this is no JSON", "language": "jupyter"}, "x (", "another suffix"),
        ({"language": "jupyter", "path": "n.ipynb"}, "hello {{{", "left open"),
        ({"language": "go"}, "f(a, b", "left open"),
        ({"language": "ruby", "detail": "line 1, column 1: cannot be parsed from 'def f'"}, "def f", "'end'"),
        (
            {"language": "shell", "detail": "line 2, column 9: the file ends where more is expected"},
            "  echo 1",
            "left open above",
        ),
        (
            {"language": "make", "detail": "line 2, column 5: this line has no separator"},
            "    cc a.c",
            "a tab",
        ),
        ({"reason": "unreadable", "parse_status": "none"}, None, "chmod"),
        ({"reason": "encoding", "parse_status": "none"}, None, "UTF-8, or state its encoding (# -*- coding"),
        ({"reason": "encoding", "language": "scss"}, None, "(@charset"),
        ({"reason": "encoding", "language": "html"}, None, "(<meta charset"),
        ({"reason": "timeout", "parse_status": "failed"}, None, ".ckvignore"),
    ],
)
def test_the_remedy_fits_the_damage(changes: dict[str, Any], line: str | None, said: str) -> None:
    assert said in remedy(replace(BASE, **changes), line)


@pytest.mark.parametrize(
    "changes", [{"language": "c"}, {"language": None}, {"language": "python", "strategy": "skipped"}]
)
def test_an_encoding_is_stated_only_where_that_helps(changes: dict[str, Any]) -> None:
    assert remedy(replace(BASE, reason="encoding", **changes), None) == "save it as UTF-8"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"symbols": 12}, "12 symbols kept; windows over the damage"),
        ({"parse_status": "failed", "strategy": "window"}, "no symbols kept; windows over all else"),
        (
            {"reason": "minified", "parse_status": "failed", "strategy": "names"},
            "no symbols kept by name; the text of a minified file is not indexed",
        ),
        ({"reason": "crashed", "parse_status": "failed"}, "cut into windows"),
        ({"reason": "unreadable", "parse_status": "none"}, "listed without content"),
    ],
)
def test_what_was_done_instead(changes: dict[str, Any], said: str) -> None:
    assert said in done(replace(BASE, **changes))
