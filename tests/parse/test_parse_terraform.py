"""Addresses of Terraform blocks where a label is empty."""

from __future__ import annotations

import pytest

from ckvd import languages
from ckvd.parse import parse


@pytest.mark.parametrize(
    ("source", "names"), [(b'm "" {\n}\n', ["m"]), (b'resource "" "x" {\n}\n', ["x"]), (b'"" {\n}\n', [])]
)
def test_an_empty_label_names_nothing(source: bytes, names: list[str]) -> None:
    assert [s.symbol for s in parse("a.tf", source, languages.get("terraform")).symbols] == names
