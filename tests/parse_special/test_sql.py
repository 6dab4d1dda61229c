"""SQL scripts of several dialects: their statements, symbols and damage."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from effort import grows_linearly
from hypothesis import given
from hypothesis import strategies as st

from ckvd import languages
from ckvd.model import Parsed, Symbol
from ckvd.parse import parse
from ckvd.parse.sql_split import split

SCRIPTS = Path(__file__).parent / "sql"


def parsed(source: bytes) -> Parsed:
    return parse("script.sql", source, languages.get("sql"))


def script(name: str) -> tuple[bytes, Parsed]:
    source = (SCRIPTS / f"{name}.sql").read_bytes()
    return source, parsed(source)


def lines(source: bytes, symbol: Symbol) -> tuple[int, int]:
    return source.count(b"\n", 0, symbol.start) + 1, source.count(b"\n", 0, symbol.end - 1) + 1


def test_a_migration_to_the_byte() -> None:
    source, result = script("0007_rooms")
    assert result.status == "ok"
    assert [(s.symbol, s.kind, *lines(source, s), s.start, s.end) for s in result.symbols] == [
        ("public.Room-List", "table", 3, 7, 41, 243),
        ("app.close_room", "function", 9, 17, 245, 544),
        ("app.close_room", "function", 19, 21, 546, 690),
        ("room_label_idx", "index", 29, 29, 835, 945),
        ("app.open_rooms", "view", 30, 30, 946, 1040),
        ("touch", "trigger", 31, 31, 1041, 1140),
    ]
    assert result.symbols[0].parents == ("public",)
    assert source[result.symbols[0].name_start :].startswith(b"Room-List")


EXPECTED = {
    "postgres": [
        ("app", "schema", 9, 9),
        ("app.mood", "type", 10, 10),
        ("app.std", "function", 11, 16),
        ("r1", "rule", 18, 18),
        ("app.===", "operator", 19, 19),
        ("et", "trigger", 20, 20),
        ("agg", "function", 21, 21),
        ("pol", "policy", 22, 22),
        ("mv", "view", 24, 24),
        ("ct", "trigger", 26, 26),
        ('Weird "name', "type", 27, 27),
        ("uuid-ossp", "extension", 28, 28),
        ("trigger", "table", 29, 29),
        ("pr", "procedure", 30, 30),
    ],
    "mysql": [
        ("users", "table", 4, 8),
        ("ins_u", "trigger", 9, 9),
        ("db1.doit", "procedure", 11, 18),
        ("f2", "function", 19, 20),
        ("nodelim", "procedure", 22, 26),
        ("e1", "event", 27, 27),
        ("one", "procedure", 28, 28),
        ("v1", "view", 29, 29),
    ],
    "tsql": [
        ("dbo.Order Lines", "table", 5, 8),
        ("dbo.usp_Get", "procedure", 11, 25),
        ("dbo.usp_Alt", "procedure", 27, 27),
        ("IX_a", "index", 29, 29),
        ("b", "table", 30, 30),
        ("c", "table", 31, 31),
        ("dbo.fn", "function", 33, 33),
        ("trg", "trigger", 35, 35),
    ],
    "oracle": [
        ("hr.emp_pkg", "package", 1, 4),
        ("hr.emp_pkg", "package", 6, 15),
        ("p2", "procedure", 17, 21),
        ("s1", "sequence", 23, 23),
        ("syn", "synonym", 24, 24),
        ("t_obj", "type", 27, 27),
    ],
    "oracle_plain": [("p2", "procedure", 1, 5), ("t3", "table", 6, 6)],
    "sqlite": [
        ("t1", "table", 3, 3),
        ("ft", "table", 4, 4),
        ("tr", "trigger", 5, 8),
        ("main.i1", "index", 9, 9),
    ],
    "dbt": [
        ("cents", "macro", 3, 5),
        ("{{ schema }}.orders", "table", 6, 6),
        ("${prefix}_users", "table", 7, 7),
    ],
}


@pytest.mark.parametrize("dialect", EXPECTED)
def test_dialects(dialect: str) -> None:
    source, result = script(dialect)
    assert result.status == "ok", result.detail
    assert [(s.symbol, s.kind, *lines(source, s)) for s in result.symbols] == EXPECTED[dialect]
    for symbol in result.symbols:
        assert source[symbol.start : symbol.start + 2].upper() in (b"CR", b"AL", b"{%", b"/*")
        assert symbol.name.split('"')[0].encode() in source[symbol.name_start : symbol.end]


def test_docs_signatures_and_the_setting_that_names_resolve_in() -> None:
    source, result = script("tsql")
    procedure = result.symbols[1]
    assert procedure.doc == "make it"
    assert source[procedure.lead :].startswith(b"/* make it */")
    assert procedure.signature == "CREATE OR ALTER PROCEDURE dbo.usp_Get @id int"
    assert [source[h.start : h.end] for h in result.header] == [b"USE [Shop]"]
    source, result = script("mysql")
    assert result.symbols[0].doc == "the users; of all"
    assert result.symbols[1].signature.startswith("CREATE DEFINER=`root`@`localhost` TRIGGER `ins_u` BEFORE")
    assert result.comment == "--"


def test_damage_costs_only_its_own_statements() -> None:
    source, result = script("broken")
    assert (result.status, result.reason) == ("partial", "syntax-errors")
    assert result.detail == "line 2, column 32: this quote has no end"
    assert [source[a:b].split(b"\n")[0] for a, b in result.damage] == [
        b"'oops);",
        b"$$ LANGUAGE plpgsql;",
        b"/* open",
    ]
    assert {s.name: s.clean for s in result.symbols} == {
        "a": True, "b": False, "c": True, "f": False, "g": True, "d": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("source", "symbols"),
    [
        (b"SELECT 'it\\'; CREATE TABLE a (x int);", ["a"]),  # a backslash is a character in the standard
        (b"INSERT INTO `t` VALUES ('it\\'s; CREATE TABLE no (');CREATE TABLE a (x int);", ["a"]),
        (b"SELECT 1 -- it's\n; CREATE TABLE a (x int)", ["a"]),
        (b"/* a */ /* b; */ CREATE TABLE a (x int)", ["a"]),
        (b"SELECT a$b$ FROM t; CREATE TABLE a (x int); SELECT c$b$", ["a"]),
        (b"BEGIN; CREATE TABLE a (x int); END;", ["a"]),
        (b"begin transaction; create table a (x int); commit;", ["a"]),
        (b"CREATE INDEX ON t (a); CREATE INDEX IF NOT EXISTS a ON t (a);", ["a"]),
        (b"CREATE TRIGGER t1 AFTER INSERT ON t BEGIN SELECT 1;\nCREATE TABLE a (x int);", ["t1", "a"]),
        (b"CREATE TABLE a (x int)\n\nCREATE TABLE b (x int)\n", ["a", "b"]),
        (b"GRANT\nCREATE ON DATABASE d TO u; EXPLAIN\nCREATE TABLE no AS SELECT 1;", []),
        (b"ALTER TABLE a ADD b int; DROP TABLE c; SELECT 'CREATE TABLE no (x int)';", []),
    ],
)
def test_what_hides_and_ends_a_statement(source: bytes, symbols: list[str]) -> None:
    result = parsed(source)
    assert [s.name for s in result.symbols] == symbols
    assert result.status == "ok"


def test_a_bracket_that_a_statement_leaves_open_is_damage() -> None:
    source = b"SELECT (1;\nCREATE TABLE x (a int;\nCREATE TABLE y (a int);\n" + b"SELECT 1 FROM t;\n" * 9
    result = parsed(source)
    assert (result.status, result.detail) == ("partial", "line 1, column 8: this bracket has no end")
    assert result.damage == ((7, 8), (26, 27))
    assert {s.name: s.clean for s in result.symbols} == {"x": False, "y": True}


@pytest.mark.parametrize(
    "source",
    [
        b"INSERT INTO t VALUES (':-(', \"a(\", `b(`, [c(d], $q$ ( $q$);",
        b"SELECT E'\\'(' FROM t;",
        b"SELECT q'[ it's ( ]' FROM dual;",
        b"SELECT 1) FROM t WHERE (2;",
        b"SELECT {% if a %}(1{% else %}(2{% endif %});",
        b"SELECT 1 -- (\n/* ( */;",
    ],
)
def test_a_bracket_in_a_quote_or_in_doubt_is_none(source: bytes) -> None:
    assert parsed(source).status == "ok"


def test_pieces_are_statements_then_inner_statements_then_columns() -> None:
    source, result = script("0007_rooms")
    table, function = result.symbols[:2]
    assert (table.start, table.end) in result.pieces(0, len(source))
    inner = [source[a:b] for a, b in result.pieces(function.start, function.end)]
    assert b"".join(inner) == source[function.start : function.end]
    assert inner[1].strip().startswith(b"IF NOT FOUND")
    columns = [source[a:b] for a, b in result.pieces(table.start, table.end)]
    assert columns[1].strip() == b"label text NOT NULL DEFAULT 'a;b -- not a comment',"


FRAGMENTS = st.sampled_from(
    ["CREATE TABLE t (a int)", ";", "\n", "'", '"', "$$", "$a$", "/*", "*/", "--", "BEGIN", "END", "CASE",
     " ", "GO\n", "DELIMITER //\n", "//", "\\g", "`", "[x]", "q'[", "{{", "}}", "{% macro m() %}", "AS", "(",
     ")", "CREATE", "é"]
)  # fmt: skip


@given(st.lists(FRAGMENTS).map("".join))
def test_any_script_has_an_outcome(text: str) -> None:
    source = text.encode()
    result = parsed(source)
    spans = split(source).statements
    assert all(a < b for a, b in spans)
    assert all(one[1] <= two[0] for one, two in pairwise(spans))
    assert len(split(source).code) == len(source)
    assert (result.status == "ok") == (not result.damage)
    starts = [s.start for s in result.symbols]
    assert starts == sorted(starts)
    for symbol in result.symbols:
        assert 0 <= symbol.lead <= symbol.start <= symbol.name_start < symbol.end <= len(source)
        assert symbol.name
    for start, end in [(0, len(source)), *((s.start, s.end) for s in result.symbols)]:
        pieces = result.pieces(start, end)
        assert all(start <= a < b <= end for a, b in pieces)
        assert all(one[1] <= two[0] for one, two in pairwise(pieces))


@pytest.mark.parametrize(
    "text",
    ["'", '"', "$$ ", "/*", "/* /* */ ", "BEGIN x ", "CREATE PROCEDURE p() BEGIN ", "q'[", "{{",
     "{% macro m() %}", "GO\n", "CREATE TABLE a\n", "[a", "';\n", "`a ", "\nCREATE FUNCTION f() AS $q$ ",
     "(", "([a", "($a$ $b$ "],
)  # fmt: skip
def test_repetition_takes_linear_time(text: str) -> None:
    assert grows_linearly(lambda size: parsed((text * size).encode()), 20_001)


def test_a_deleted_delimiter_leaves_the_other_symbols_alone() -> None:
    """Every delimiter of the sample scripts in turn: what does not hold it stays as it was, nearly always."""
    kept = total = 0
    for dialect in (*EXPECTED, "0007_rooms"):
        source, result = script(dialect)
        for at in (i for i, byte in enumerate(source) if byte in b"'\"`$();[]"):
            elsewhere = [s for s in result.symbols if not s.start <= at < s.end]
            expected = {(s.symbol, s.start - (s.start > at), s.end - (s.end > at)) for s in elsewhere}
            found = {(s.symbol, s.start, s.end) for s in parsed(source[:at] + source[at + 1 :]).symbols}
            kept += len(expected & found)
            total += len(expected)
    assert kept >= 0.97 * total


PACKAGE_BODY = """\
CREATE OR REPLACE PACKAGE BODY stock AS
  total NUMBER := 1;
  PROCEDURE add IS
    n NUMBER;
  BEGIN
    n := 1;
  END add;
END stock;
"""


@pytest.mark.parametrize(
    "mysql",
    [
        "CREATE TABLE `t` (a int) ENGINE=InnoDB COMMENT='it\\'s';\n",
        "DELIMITER //\nCREATE PROCEDURE p()\nBEGIN\n  SELECT 1;\nEND//\nDELIMITER ;\n",
        "CREATE PROCEDURE q() SELECT a AS b FROM `t`;\n",
    ],
)
@pytest.mark.parametrize("end", ["", "/\n"])
def test_a_package_body_is_whole_beside_statements_of_mysql(mysql: str, end: str) -> None:
    last = "CREATE TABLE z (a int);\n"
    for source in (mysql + PACKAGE_BODY + end + last, PACKAGE_BODY + end + mysql + last):
        result = parsed(source.encode())
        texts = {s.symbol: source[s.start : s.end] for s in result.symbols}
        assert texts["stock"] == PACKAGE_BODY.rstrip()
        assert texts["z"] == last.rstrip()
        assert len(texts) == 3
