"""`ckv.yaml`: what is taken, and the sentence that says what is not."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from ckvd.config import Config, parse_config
from ckvd.embed import registry
from ckvd.errors import ConfigError
from ckvd.model import CutOptions
from ckvd.settings import load

CONTRACT = {
    "chunking": {
        "file_header_lines": 50,
        "include_file_header": True,
        "include_file_full": False,
        "max_input_tokens": 0,
        "window_chars": 1200,
        "window_overlap": 0,
    },
    "embedding": {"model": "static-code-256", "prefix": "contextual", "header": None},
    "index": {"include": (), "exclude": (), "max_file_bytes": 8388608, "generated": "names"},
    "watch": {"debounce_ms": 20},
}


def test_keys_and_defaults_are_the_contract() -> None:
    assert dataclasses.asdict(Config()) == CONTRACT


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "{}", "chunking:\nindex:\n", "watch: {}"])
def test_nothing_said_is_the_default(text: str) -> None:
    assert parse_config(text) == Config()


def test_every_key_is_taken() -> None:
    given = {
        "chunking": {
            "file_header_lines": 7,
            "include_file_header": False,
            "include_file_full": True,
            "max_input_tokens": 256,
            "window_chars": 900,
            "window_overlap": 100,
        },
        "embedding": {"model": "./models/mine", "prefix": "raw", "header": True},
        "index": {
            "include": [".env", "*.pem"],
            "exclude": ["/vendor/"],
            "max_file_bytes": 1000,
            "generated": "full",
        },
        "watch": {"debounce_ms": 0},
    }
    config = dataclasses.asdict(parse_config(yaml.safe_dump(given)))
    config["index"] |= {key: list(config["index"][key]) for key in ("include", "exclude")}
    assert config == given


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("chunking:\n  window_chars: 5\n", 2, "chunking.window_chars"),
        ("chunking:\n  window_chars: '1200'\n", 2, "chunking.window_chars"),
        ("chunking:\n  window_chars: 1e3\n", 2, "chunking.window_chars"),
        ("chunking:\n  window_chars: 0x500\n", 2, "chunking.window_chars"),
        ("chunking:\n  file_header_lines: true\n", 2, "chunking.file_header_lines"),
        ("chunking:\n  max_input_tokens: 5\n", 2, "chunking.max_input_tokens"),
        ("chunking:\n\n  window_chars: 100\n  window_overlap: 51\n", 4, "chunking.window_overlap"),
        ("chunking:\n  include_file_header: 1\n", 2, "chunking.include_file_header"),
        ("chunking: 5\n", 1, "chunking"),
        ("chunking: []\n", 1, "chunking"),
        ("embedding:\n  model:\n", 2, "embedding.model"),
        ("embedding:\n  model: [a]\n", 2, "embedding.model"),
        ("embedding:\n  prefix: both\n", 2, "embedding.prefix"),
        ("embedding:\n  header: maybe\n", 2, "embedding.header"),
        ("index:\n  include: '*.py'\n", 2, "index.include"),
        ("index:\n  exclude:\n  - a\n  - 3\n", 4, "index.exclude[1]"),
        ("index:\n  max_file_bytes: 0\n", 2, "index.max_file_bytes"),
        ("index:\n  generated: none\n", 2, "index.generated"),
        ("watch:\n  debounce_ms: -1\n", 2, "watch.debounce_ms"),
        ("watch:\n  debounce_ms: 1\n  debounce_ms: 1\n", 3, "watch.debounce_ms"),
        ("watch: {}\nindex: {}\nwatch: {}\n", 3, "watch"),
        ("watch:\n  debounce: 1\n", 2, "watch.debounce"),
        ("wach:\n  debounce_ms: 1\n", 1, "wach"),
        ("\n\nwindow_chars: 900\n", 3, "window_chars"),
        ("1: 2\n", 1, "1"),
    ],
)
def test_a_bad_value_is_named_with_its_line(text: str, line: int, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(text)
    message = str(caught.value)
    assert message.startswith(f"ckv.yaml, line {line}: ")
    assert re.search(rf"(^|[ ]){re.escape(key)}($|[ ])", message)
    assert "\n" not in message
    assert message.endswith((".", "?"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("watch:\n\tdebounce_ms: 3\n", 2),
        ("watch: {debounce_ms: 3\n", 2),
        ("a: 'x\n", 2),
        ("---\nwatch: {}\n---\nwatch: {}\n", 3),
        ("# one\nwatch: \x01\n", 2),
        ("- watch\n", 1),
        ("watch\n", 1),
        ("? [watch]\n: 1\n", 1),
        ("watch: &x {}\nindex: *x\n", 2),
        ("\n" + "[" * 5000, 2),
        ("\n" + "{a: " * 5000, 2),
    ],
)
def test_what_is_no_configuration_is_named_with_its_line(text: str, line: int) -> None:
    with pytest.raises(ConfigError, match=rf"^ckv\.yaml, line {line}: [^\n]*$"):
        parse_config(text)


def test_a_slip_of_the_pen_is_answered_with_the_key_that_was_meant() -> None:
    with pytest.raises(ConfigError, match=r"windw_chars is unknown; did you mean chunking\.window_chars\?"):
        parse_config("chunking:\n  windw_chars: 900\n")
    with pytest.raises(ConfigError, match=r"did you mean watch\.debounce_ms\?"):
        parse_config("debounce_ms: 900\n")


@example('"\\x85\\n": 1')
@example("watch: {debounce_ms: '\x85'}")
@given(st.text(max_size=200) | st.text("chunking:embd{}[]\n -*&!'\"|>?%@#0157", max_size=80))
def test_any_text_gives_a_configuration_or_one_plain_sentence(text: str) -> None:
    message = None
    try:
        config = parse_config(text)
    except ConfigError as error:
        message = str(error)
    if message is None:
        assert isinstance(config, Config)
    else:
        assert re.fullmatch(r"ckv\.yaml, line \d+: .+[.?]", message)
        assert message.isprintable()


def test_cut_options_follow_the_configuration_and_the_model() -> None:
    assert Config().cut_options(512, False) == CutOptions()
    assert Config().cut_options(512, True).embed_header
    given = parse_config("chunking: {max_input_tokens: 2048}\nembedding: {header: false, prefix: raw}")
    options = given.cut_options(512, True)
    assert (options.limit, options.embed_header, options.prefix) == (2048, False, "raw")
    assert given.cut_options(128, True, ceiling=256).limit == 256


def test_load_reads_the_file_of_the_root(tmp_path: Path) -> None:
    assert load(str(tmp_path)) == Config()
    (tmp_path / "ckv.yaml").write_bytes(b"\xef\xbb\xbfwatch:\r\n  debounce_ms: 9\r\n")
    assert load(os.fsencode(tmp_path)).watch.debounce_ms == 9


def test_load_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("watch: {debounce_ms: 9}")
    (tmp_path / "ckv.yaml").symlink_to("elsewhere")
    with pytest.raises(ConfigError, match="symbolic link"):
        load(str(tmp_path))


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_load_takes_only_a_file(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "ckv.yaml")
    with pytest.raises(ConfigError, match="regular file"):
        load(str(tmp_path))


@pytest.mark.parametrize(
    ("data", "what"), [(b"a: 1\n# \xff\n", "line 2: this is not UTF-8"), (b"#" * (1 << 21), "over")]
)
def test_load_says_what_is_wrong_with_the_bytes(tmp_path: Path, data: bytes, what: str) -> None:
    (tmp_path / "ckv.yaml").write_bytes(data)
    with pytest.raises(ConfigError, match=what):
        load(str(tmp_path))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_load_says_that_it_may_not_read(tmp_path: Path) -> None:
    (tmp_path / "ckv.yaml").touch(mode=0)
    with pytest.raises(ConfigError, match="Permission denied"):
        load(str(tmp_path))


def test_the_default_model_is_the_one_that_ships() -> None:
    assert Config().embedding.model == registry.DEFAULT
