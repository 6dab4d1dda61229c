"""`ckvd editor`: where the plugins are, and that what it says works."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from support import Ckvd


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("nvim", ["plugin/ckvd.lua", "lua/ckvd/init.lua", "lua/ckvd/reader.lua"]),
        ("vscode", ["package.json", "extension.js", "reader.js"]),
    ],
)
def test_it_says_where_a_plugin_is(ckvd: Ckvd, name: str, files: list[str]) -> None:
    path = ckvd("editor", name, "--path").stdout.rstrip("\n")
    assert all((Path(path) / file).is_file() for file in files)
    assert ckvd("editor", name).stdout.startswith(f"{path}\n")


def test_an_editor_that_is_not_known(ckvd: Ckvd) -> None:
    done = ckvd("editor", "ed", code=2)
    assert "'nvim'" in done.stderr
    assert done.stdout == ""


def test_the_lines_for_init_lua_work(ckvd: Ckvd, tmp_path: Path) -> None:
    nvim = shutil.which("nvim")
    if nvim is None:
        pytest.skip("no nvim on PATH")
    lines = re.findall(r"^    (.*)$", ckvd("editor", "nvim").stdout, re.MULTILINE)
    (tmp_path / "nvim").mkdir()
    (tmp_path / "nvim" / "init.lua").write_text("\n".join(lines))
    done = subprocess.run(
        [nvim, "--headless", "-c", "echo exists(':CkvdOutline')", "-c", "qall!"],
        env=os.environ | {"XDG_CONFIG_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "2")


def test_the_line_for_vs_code_works(ckvd: Ckvd, tmp_path: Path) -> None:
    (line,) = re.findall(r"^    (.*)$", ckvd("editor", "vscode").stdout, re.MULTILINE)
    *_, target = shlex.split(line)
    (tmp_path / ".vscode" / "extensions").mkdir(parents=True)
    subprocess.run(["bash", "-c", line], env=os.environ | {"HOME": str(tmp_path)}, check=True)
    assert (tmp_path / target.removeprefix("~/") / "package.json").is_file()
