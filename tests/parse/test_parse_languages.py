"""A language is one TOML file and one golden folder; every name in it exists in its grammar."""

from __future__ import annotations

from importlib import resources

import pytest
from parse_support import GOLDEN, TREE_SITTER

from ckvd import languages
from ckvd.languages import LanguageDataError, get, names
from ckvd.languages.load import extended, load
from ckvd.parse.table import table

MINIMAL = {"name": "x", "grammar": "python"}


@pytest.mark.parametrize("language", TREE_SITTER)
def test_every_node_type_and_field_exists_in_the_grammar(language: str) -> None:
    compiled = table(get(language))
    assert compiled.actions
    assert compiled.declarations


@pytest.mark.parametrize("language", TREE_SITTER)
def test_has_a_golden_folder(language: str) -> None:
    assert (GOLDEN / language / "expected.txt").is_file()


def test_no_golden_folder_is_left_over() -> None:
    assert {p.name for p in GOLDEN.iterdir()} <= set(names())


def test_names_are_those_of_the_files() -> None:
    files = {f.name for f in resources.files(languages).iterdir() if f.name.endswith(".toml")}
    assert files == {f"{name}.toml" for name in names()}
    assert all(get(name).name == name for name in names())


def test_no_two_languages_claim_one_suffix() -> None:
    claimed = [suffix for name in names() for suffix in get(name).suffixes]
    assert sorted(claimed) == sorted(set(claimed))


def test_comment_begins_with_punctuation() -> None:
    assert all(get(name).comment and not get(name).comment[0].isalnum() for name in TREE_SITTER)


@pytest.mark.parametrize(
    ("symbols", "complaint"),
    [
        ({"function_definition": {"name": "name"}}, "'kind' is missing"),
        ({"function_definition": {"kind": "function"}}, "exactly one of 'name' and 'hook'"),
        ({"function_definition": {"kind": "function", "name": "name", "colour": 1}}, "unknown key 'colour'"),
        (
            {"function_definition": {"kind": "function", "name": "name", "chunk": "often"}},
            "'chunk' is 'often'",
        ),
    ],
)
def test_a_wrong_rule_is_named(symbols: dict[str, object], complaint: str) -> None:
    with pytest.raises(LanguageDataError, match=f"x.toml: function_definition: .*{complaint}"):
        load("x.toml", {**MINIMAL, "symbols": symbols})


@pytest.mark.parametrize(
    ("symbols", "complaint"),
    [
        ({"function": {"kind": "function", "name": "name"}}, "no node type 'function'"),
        ({"function_definition": {"kind": "function", "name": "title"}}, "no field 'title'"),
        ({"function_definition": {"kind": "function", "name": "@titel"}}, "no node type 'titel'"),
        ({"function_definition": {"kind": "function", "hook": "titel"}}, "no hook 'titel'"),
    ],
)
def test_a_name_that_the_grammar_lacks_is_named(symbols: dict[str, object], complaint: str) -> None:
    with pytest.raises(LanguageDataError, match=complaint):
        table(load("x.toml", {**MINIMAL, "symbols": symbols}))


def test_a_language_says_only_where_it_differs() -> None:
    base = {"grammar": "a", "symbols": {"f": {"kind": "function"}, "g": {"kind": "class"}}}
    merged = extended(base, {"grammar": "b", "symbols": {"g": [], "h": {"kind": "type"}}})
    assert merged["grammar"] == "b"
    assert merged["symbols"] == {"f": {"kind": "function"}, "g": [], "h": {"kind": "type"}}
