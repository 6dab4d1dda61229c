from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckvd.config import parse_config
from ckvd.config_edit import set_key
from ckvd.errors import ConfigError

CASES = {
    "": "embedding:\n  model: hash\n",
    "# mine\n": "# mine\nembedding:\n  model: hash\n",
    "embedding:\n  prefix: raw  # why\n": "embedding:\n  model: hash\n  prefix: raw  # why\n",
    "embedding:\n    model: none   # words\n    prefix: raw\n": (
        "embedding:\n    model: hash   # words\n    prefix: raw\n"
    ),
    'embedding: {model: "x y"}\n': "embedding: {model: hash}\n",
    "embedding: {prefix: raw}\n": "embedding: {model: hash, prefix: raw}\n",
    "embedding: {}\n": "embedding: {model: hash}\n",
    "embedding:\nwatch:\n  debounce_ms: 5\n": "embedding:\n  model: hash\nwatch:\n  debounce_ms: 5\n",
    "embedding: # later\n": "embedding: # later\n  model: hash\n",
    "embedding:": "embedding:\n  model: hash\n",
    "{watch: {debounce_ms: 5}}": "{embedding: {model: hash}, watch: {debounce_ms: 5}}",
    "watch:\n  debounce_ms: 5": "watch:\n  debounce_ms: 5\nembedding:\n  model: hash\n",
    "watch:\r\n  debounce_ms: 5\r\n": "watch:\r\n  debounce_ms: 5\r\nembedding:\r\n  model: hash\r\n",
}


@pytest.mark.parametrize(("text", "edited"), CASES.items())
def test_only_the_value_changes(text: str, edited: str) -> None:
    assert set_key(text, "embedding", "model", "hash") == edited
    assert set_key(edited, "embedding", "model", "hash") == edited


@given(st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1).filter(str.strip))
def test_any_name_or_folder_comes_back_as_it_was_given(value: str) -> None:
    text = "# a\nembedding:\n  model: hash # b\n"
    try:
        edited = set_key(text, "embedding", "model", value)
    except ConfigError as error:
        assert "set embedding.model there" in str(error)  # noqa: PT017 - a character that YAML does not allow
        return
    assert parse_config(edited).embedding.model == value
    assert edited.endswith(" # b\n")


def test_a_wrong_configuration_is_left_alone() -> None:
    with pytest.raises(ConfigError, match="is unknown"):
        set_key("embeding:\n  model: hash\n", "embedding", "model", "hash")
    with pytest.raises(ConfigError, match=r"only a person can edit: set watch\.model there"):
        set_key("embedding:\n  model: hash\n...\n", "watch", "model", "hash")
