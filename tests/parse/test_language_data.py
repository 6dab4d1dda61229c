"""One language file that is wrong costs its language alone, and status says so."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ckvd
from ckvd import languages
from ckvd.languages import LanguageDataError, version
from ckvd.languages.load import load

PACKAGE = Path(ckvd.__file__).parent
WRONG = {
    "lua": ("suffixes = [", "colour = 1\nsuffixes = [", "lua.toml: unknown key 'colour'"),
    "ruby": ("suffixes = [", "suffixes = ", "ruby.toml: "),
    "go": ("[symbols.type_alias]", "[symbols.type_nickname]", "the grammar has no node type 'type_nickname'"),
    "swift": ('grammar = "swift"', 'grammar = "swoft"', "there is no grammar 'swoft'"),
    "vue": ("suffixes = [", 'rivals = { vue = "view" }\nsuffixes = [', "there is no language 'view'"),
    "tsx": ('extends = "typescript"', 'extends = "tsx"', "'tsx' is no other language"),
}
FILES = {
    "a.lua": "function f() end\n",
    "a.rb": "def f\nend\n",
    "a.go": "package a\n\nfunc f() {}\n",
    "a.swift": "func f() {}\n",
    "a.vue": "<script>\nfunction f() {}\n</script>\n",
    "a.tsx": "function f() {}\n",
    "a.py": "def f(): pass\n",
    "a.ts": "function f() {}\n",
}


def run(package: Path, *args: str) -> str:
    """What a `ckvd` from that folder prints."""
    done = subprocess.run(
        [sys.executable, "-c", "from ckvd.cli import main; main()", *args],
        env={**os.environ, "PYTHONPATH": str(package)},
        cwd=package,  # the folder that `-c` looks in first
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of ckvd with several language files broken, each in its own way."""
    shutil.copytree(PACKAGE, tmp_path / "lib" / "ckvd", ignore=shutil.ignore_patterns("__pycache__"))
    for name, (old, new, _) in WRONG.items():
        file = tmp_path / "lib" / "ckvd" / "languages" / f"{name}.toml"
        text = file.read_text("utf-8")
        assert old in text
        file.write_text(text.replace(old, new, 1), "utf-8")
    return tmp_path / "lib"


def test_the_other_languages_go_on(package: Path, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    for path, text in FILES.items():
        (root / path).write_text(text)
    (root / "ckv.yaml").write_text("embedding:\n  model: none\n")
    run(package, "index", str(root))
    with sqlite3.connect(f"file:{root}/.ckvd/index.db?mode=ro", uri=True) as db:
        found = dict(db.execute("SELECT path, reason FROM files"))
        symbols = dict(db.execute("SELECT path, symbol FROM symbols"))
    db.close()
    assert found == {**dict.fromkeys(FILES, "language-data"), "a.py": None, "a.ts": None, "ckv.yaml": None}
    assert symbols == {"a.py": "f", "a.ts": "f", **{k: v for k, v in symbols.items() if k == "ckv.yaml"}}
    status: dict[str, Any] = json.loads(run(package, "status", str(root), "--json"))
    for name, (_, _, why) in WRONG.items():
        (line,) = (line for line in status["errors"] if line.startswith(f"{name} "))
        assert why in line
    assert "lua is not cut on syntax" in run(package, "status", str(root))
    assert "python" in run(package, "languages")


def test_all_files_that_ship_can_be_used() -> None:
    assert languages.problems() == {}


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ({"suffixes": "go"}, "'suffixes' is 'go', which is not a list of texts"),
        ({"sections": "yes"}, "'sections' is 'yes', which is not true or false"),
        ({"grammar": 1}, "'grammar' is 1, which is not a text"),
        ({"rivals": ["cpp"]}, "'rivals' is .*, which is not a table of texts"),
        ({"clues": {"h": "("}}, "'clues': '\\(' is no expression"),
        ({"signs": {"h": "("}}, "'signs': '\\(' is no expression"),
        ({"symbols": {"a": 1}}, "'symbols' is .*, which is not a table of rules"),
        ({"symbols": {"a": {"kind": "class", "name": 1}}}, "a: 'name' is 1"),
        ({"symbols": {"a": {"kind": "class", "name": "b", "when": {"c": 1}}}}, "a: 'when' is"),
        ({"problem": "none"}, "unknown key 'problem'"),
    ],
)
def test_a_value_of_the_wrong_type_is_named(data: dict[str, Any], complaint: str) -> None:
    with pytest.raises(LanguageDataError, match=f"^x.toml: {complaint}"):
        load("x.toml", {"name": "x", **data})


def test_a_language_that_holds_others_is_cut_anew_when_they_change(monkeypatch: pytest.MonkeyPatch) -> None:
    real = version._data

    def other(name: str) -> bytes:
        return real(name) + b"# changed" * (name == "cpp")

    def keys() -> dict[str, str]:
        version.key.cache_clear()
        return {name: version.key(name) for name in ("c", "cpp", "python", "html", "go")}

    before = keys()
    monkeypatch.setattr(version, "_data", other)
    after = keys()
    monkeypatch.undo()
    version.key.cache_clear()
    assert {name for name in before if before[name] != after[name]} == {"c", "cpp", "html"}
