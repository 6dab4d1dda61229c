"""The systemd unit and the commands that put it in place."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import Ckvd

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


SYSTEMCTL = """#!/bin/sh
shift  # --user
echo "$@" >>"$PLAYED"
wants=$XDG_CONFIG_HOME/systemd/user/default.target.wants
for unit; do :; done
case $1 in
    enable) mkdir -p "$wants" && ln -s ../ckvd@.service "$wants/$unit" ;;
    disable) rm "$wants/$unit" ;;
    is-active) echo active ;;
    restart) test ! -e "$PLAYED.refuse" || { echo "Job for $unit failed." >&2; exit 1; } ;;
esac
"""


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user manager that is played: it listens, and its `systemctl` writes down what it is told."""
    for name in ("bin", "run/systemd", "config"):
        (tmp_path / name).mkdir(parents=True)
    for name, text in (("systemctl", SYSTEMCTL), ("ckvd", "#!/bin/sh\n")):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    log = tmp_path / "played"
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("PLAYED", str(log))
    monkeypatch.setattr("sys.argv", [str(tmp_path / "bin" / "ckvd")])
    with socket.socket(socket.AF_UNIX) as private:
        private.bind(str(tmp_path / "run" / "systemd" / "private"))
        private.listen()
        yield log


def test_install_list_and_remove(played: Path) -> None:
    unit = played.parent / "config" / "systemd" / "user" / "ckvd@.service"
    one, two = service.unit_name("/srv/one"), service.unit_name("/srv/two and more")

    assert one in service.install("/srv/one")
    assert played.read_text().splitlines() == [
        "daemon-reload",
        f"enable {one}",
        f"reset-failed {one}",
        f"restart {one}",
    ]
    assert f'ExecStart=:"{played.parent}/bin/ckvd" run -- %f\n' in unit.read_text()
    assert unit.stat().st_mode & 0o777 == 0o644

    service.install("/srv/two and more")
    assert service.list_units() == [f"active     /srv/one  {one}", f"active     /srv/two and more  {two}"]

    assert "/srv/one" in service.remove("/srv/one")
    assert unit.exists()
    service.remove("/srv/two and more")
    assert f"disable --now {two}" in played.read_text().splitlines()
    assert not unit.exists()
    assert service.list_units() == []


def test_the_service_of_a_tree_that_was_deleted_can_be_removed(
    played: Path, ckvd: Ckvd, tmp_path: Path
) -> None:
    root = tmp_path / "gone"
    root.mkdir()
    service.install(str(root))
    root.rmdir()
    assert ckvd("service", "remove", str(root)).stdout == f"ckvd no longer watches {root}.\n"
    assert service.list_units() == []
    assert "no service is installed" in ckvd("service", "remove", str(root), code=1).stderr


def test_what_systemd_says_is_passed_on(played: Path) -> None:
    Path(f"{played}.refuse").touch()
    with pytest.raises(
        ServiceError, match=r"restart .* failed: Job for .* failed\. \(see: journalctl --user"
    ):
        service.install("/srv/code")


def test_where_no_manager_runs_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    with pytest.raises(ServiceError, match=r"no systemd user manager runs here.*: ckvd run /srv/code$"):
        service.install("/srv/code")
    with pytest.raises(ServiceError, match="no service is installed for /srv/code"):
        service.remove("/srv/code")
    assert service.list_units() == []
    assert os.listdir(tmp_path) == []
