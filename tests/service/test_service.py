"""The systemd unit and the commands that put it in place."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckvd import service
from ckvd.errors import ServiceError

ODD_PATHS = [
    b"/",
    b"//srv///code/",
    b"/home/me/my project",
    b"/.hidden/..dots/a.b",
    "/é/日本".encode(),
    b"/dash-ed/under_score:colon",
    b"/a$b%c\"d'e\\f",
]


@given(st.binary(max_size=60).filter(lambda path: b"\0" not in path))
def test_escaping_a_path_loses_nothing(path: bytes) -> None:
    escaped = service.escape_path(path)
    assert re.fullmatch(r"[A-Za-z0-9:_.\\-]+", escaped)
    assert service.unescape_path(escaped) == b"/" + b"/".join(part for part in path.split(b"/") if part)


@pytest.mark.skipif(not shutil.which("systemd-escape"), reason="no systemd-escape")
def test_escaping_is_that_of_systemd() -> None:
    said = subprocess.run(["systemd-escape", "--path", "--", *ODD_PATHS], capture_output=True, check=True)
    assert [service.escape_path(path) for path in ODD_PATHS] == said.stdout.decode().split()


def test_a_path_too_long_for_a_unit_is_said() -> None:
    with pytest.raises(ServiceError, match="shorter path"):
        service.unit_name("/" + "long/" * 60)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze")
@pytest.mark.parametrize("folder", ["bin", "my bin", "per%cent", "dol$lar", "ünï"])
def test_systemd_finds_no_fault_in_the_unit(tmp_path: Path, folder: str) -> None:
    executable = tmp_path / folder / "ckvd"
    executable.parent.mkdir()
    executable.write_text("#!/bin/sh\n")
    executable.chmod(0o755)
    unit = tmp_path / service.unit_name("/srv/my code")
    unit.write_text(service.unit_text(str(executable)))
    # It exits 0 on unknown keys: its stderr is the verdict.
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", unit], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze")
def test_the_verdict_would_show_a_fault(tmp_path: Path) -> None:
    unit = tmp_path / service.unit_name("/srv/code")
    unit.write_text(service.unit_text("/bin/true").replace("WatchdogSec", "WatchdogSecs"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", unit], capture_output=True, text=True, check=False
    )
    assert "WatchdogSecs" in done.stderr


@pytest.mark.parametrize("path", ['/q"uote/ckvd', "/q'uote/ckvd", "/back\\slash/ckvd", "/new\nline/ckvd"])
def test_a_command_that_systemd_would_not_take_is_said(path: str) -> None:
    with pytest.raises(ServiceError, match="install ckvd elsewhere"):
        service.unit_text(path)


def test_where_no_manager_runs_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    with pytest.raises(ServiceError, match=r"no systemd user manager runs here.*`ckvd run /srv/code`"):
        service.install("/srv/code")
    with pytest.raises(ServiceError, match="no service is installed for /srv/code"):
        service.remove("/srv/code")
    assert service.list_units() == []
    assert os.listdir(tmp_path) == []
