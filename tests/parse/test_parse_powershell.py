"""PowerShell's declarations are found whatever stands between them, and what is broken is still seen."""

from __future__ import annotations

import pytest
from parse_support import parsed

from ckvd.model import Parsed

AFTER = "function After { 2 }\n"


def names(result: Parsed) -> list[str]:
    return [symbol.symbol for symbol in result.symbols if symbol.kind == "function"]


@pytest.mark.parametrize(
    "statement",
    [
        "Import-Module $PSScriptRoot/lib/x.psm1, y -Force",
        "Get-Module A, B | Remove-Module",
        "$text = 'it''s {'",
        '$text = "a ""{"" $(Get-It "}" (1)) `" {"',
        "$text = @'\nfunction Inside {\n'@",
        '$text = @"\n} $(x "{")\n"@',
        "git log --format=%h#no-comment",
        "<# { #> $x = 1 # {",
        "$block = { }, { param($Path) Get-Content -Path $Path }",
        "@{ function = 1; class = 'b' } | Out-Null",
        "Write-It a `\n  function b",
        "switch -Regex ($x) { '^a' { 1 } default { 2 } }",
        "${a {b} = 1",
    ],
)
def test_a_statement_hides_nothing(statement: str) -> None:
    source = f"function Before {{\n    {statement}\n}}\n{statement}\n{AFTER}"
    result = parsed("powershell", source.encode())
    assert (result.status, names(result)) == ("ok", ["Before", "After"])
    assert source.encode()[result.symbols[-1].start :].decode() == AFTER


@pytest.mark.parametrize(
    "broken", ["if ($x) {", "if ($x { 1 }", "1 }", "Get-It (1", '$x = "', "$x = '", "Get-It ('a)"]
)
def test_a_missing_delimiter_costs_its_own_function(broken: str) -> None:
    first = "function First { Get-Module A, B }\n"
    source = f"{first}function Torn {{\n    {broken}\n}}\n{AFTER}"
    result = parsed("powershell", source.encode())
    assert result.status == "partial"
    kept = {s.symbol: source[s.start : s.end] for s in result.symbols if s.clean}
    assert kept["First"] == first.rstrip()
    assert kept["After"] == AFTER.rstrip()


@pytest.mark.parametrize("source", [b"# nothing\r\n\r\n", b"<# a #>\n# b\n", b"\n"])
def test_comments_alone_are_no_error(source: bytes) -> None:
    assert parsed("powershell", source).status == "ok"


def test_the_same_with_and_without_what_the_grammar_cannot_read() -> None:
    plain = b"""using module Shelves
$script:Limit = 3

# Gets it.
function Get-It {
    <# .SYNOPSIS
       Gets it all. #>
    param([string] $Name)
    function Inner($y) { $y }
}
class Crate {
    [string] $Name = 'x'
    Crate([string] $n) { $this.Name = $n }
}
enum Colour { Red = 1; Blue }
Describe 'Get-It' { It 'works' { Get-It } }
"""
    odd = plain + b"Get-Module A, B | Remove-Module\n"
    assert parsed("powershell", odd).symbols == parsed("powershell", plain).symbols
    assert parsed("powershell", odd).header == parsed("powershell", plain).header


SUITE = """Describe 'Crates' -Tag 'a', 'b' {{
    It 'moves <Name>' -ForEach @(
        @{{ Name = 'a'; Code = {{ 1 }} }}
        @{{ Name = 'b'; Code = {{ 2 }} }}
    ) {{
        Move-Crate $Name
    }}
    It 'sorts' {{
        {torn}
    }}
    It "empty" {{ }}
    Context "far" {{
        It 'is far' {{ $x | Should -Be 1, 2 }}
    }}
}}
"""
TESTS = ["Crates", "Crates.moves <Name>", "Crates.sorts", "Crates.far", "Crates.far.is far"]


def suites(result: Parsed) -> list[str]:
    return [symbol.symbol for symbol in result.symbols if symbol.kind == "test"]


def test_suites_are_found_by_their_titles() -> None:
    result = parsed("powershell", SUITE.format(torn="Sort-Crate $x").encode())
    assert (result.status, suites(result)) == ("ok", TESTS)


@pytest.mark.parametrize("torn", ["if ($x) { Sort-Crate", "Sort-Crate 'x"])
def test_a_torn_test_leaves_the_suite_around_it(torn: str) -> None:
    result = parsed("powershell", SUITE.format(torn=torn).encode())
    assert result.status == "partial"
    assert {*TESTS} - {"Crates.sorts"} <= {*suites(result)}


def test_a_string_is_not_taken_to_end_where_another_begins() -> None:
    source = "It 'first { Get-It }\nfunction Lost { 1 }\nIt 'second' { Get-It }\n"
    result = parsed("powershell", source.encode())
    assert result.status != "ok"
    assert names(result) == ["Lost"]


def test_two_torn_strings_are_not_one() -> None:
    source = 'function A {\n    $x = "\n}\nfunction B { 1 }\nfunction C {\n    $y = "\n}\nfunction D { 1 }\n'
    result = parsed("powershell", (source + "Get-Module A, B\n").encode())
    assert result.status == "partial"
    assert {"B", "D"} <= {*names(result)}
