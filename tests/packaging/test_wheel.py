"""What the wheel holds, and that it runs without the checkout."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest
from support import Ckvd

PACKAGE = Path(__file__).parents[2] / "ckvd"


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_all_that_the_package_reads(names: set[str]) -> None:
    data = {
        path.relative_to(PACKAGE.parent).as_posix()
        for pattern in (
            "languages/*.toml",
            "store/*.sql",
            "report/*.html",
            "embed/models/**/*",
            "editors/**/*",
        )
        for path in PACKAGE.glob(pattern)
        if path.is_file()
    }
    assert {path.rsplit(".", 1)[-1] for path in data} >= {"toml", "sql", "html", "onnx", "json", "lua", "js"}
    wanted = {
        "ckvd/py.typed",
        "ckvd/LICENSE",
        "ckvd/LICENSE.Apache-2.0",
        "ckvd/NOTICE",
        "ckvd/systemd/ckvd@.service",
    }
    assert (data | wanted) - names == set()


def test_the_wheel_holds_nothing_else(names: set[str]) -> None:
    assert {name.split("/")[0].split("-")[0] for name in names} == {"ckvd"}
    assert [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".db"))] == []


def test_the_licences_are_named_in_its_metadata(wheel: Path, names: set[str]) -> None:
    (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
    with zipfile.ZipFile(wheel) as archive:
        lines = archive.read(metadata).decode().splitlines()
    assert "License-Expression: MIT" in lines
    assert {line for line in lines if line.startswith("License-File: ")} == {
        f"License-File: ckvd/{name}" for name in ("LICENSE", "LICENSE.Apache-2.0", "NOTICE")
    }


def test_the_wheel_runs_alone(environment: Path, installed: Ckvd, tmp_path: Path) -> None:
    where = subprocess.run(
        [environment / "bin" / "python", "-c", "import ckvd; print(ckvd.__file__)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(where.stdout.strip()).is_relative_to(environment)
    shown = installed("--help", cwd=tmp_path).stdout
    for command in ("index", "run", "sync", "status", "search", "embed", "show", "report", "service"):
        assert f"\n  {command} " in shown
        assert "Usage: ckvd " in installed(command, "--help", cwd=tmp_path).stdout


def test_the_wheel_installs_its_own_service_or_says_what_to_do(
    installed: Ckvd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    said = installed("service", "install", tmp_path, code=1)
    assert said.stdout == ""
    assert said.stderr.startswith("ckvd: no systemd user manager runs here")
    assert f": ckvd run {tmp_path}" in said.stderr
