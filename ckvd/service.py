"""Puts the systemd user service in place: one template unit, one enabled instance a worktree."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from importlib.resources import files

from ckvd.errors import ServiceError

TEMPLATE = "ckvd@.service"
_WANTS = "default.target.wants"
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:_.")
_LONGEST = 255  # bytes of a unit's name, UNIT_NAME_MAX of systemd
_SYSTEMCTL_S = 400.0  # longer than the unit's own time to start


def escape_path(path: bytes) -> str:
    r"""`path` as `systemd-escape --path` has it: no outer `/`, `/` to `-`, other bytes to ``\xNN``."""
    parts = [part for part in path.split(b"/") if part]
    if not parts:
        return "-"
    plain = b"/".join(parts)
    return "".join(
        "-" if byte == 0x2F else chr(byte) if byte in _PLAIN and (byte != 0x2E or index) else f"\\x{byte:02x}"
        for index, byte in enumerate(plain)
    )


def unescape_path(name: str) -> bytes:
    """What `escape_path` was given, with a leading `/`."""
    if name == "-":
        return b"/"
    plain = os.fsencode(name.replace("-", "/"))
    return b"/" + re.sub(rb"\\x([0-9a-f]{2})", lambda match: bytes([int(match[1], 16)]), plain)


def unit_name(root: str | bytes) -> str:
    """The instance for the worktree at `root`. Raises `ServiceError` where systemd's names are too short."""
    path = os.path.abspath(os.fsencode(root))
    name = TEMPLATE.replace("@", f"@{escape_path(path)}")
    if len(name) > _LONGEST:
        raise ServiceError(
            f"systemd takes no unit name over {_LONGEST} bytes, which {_shown(path)} needs;"
            " move the folder to a shorter path."
        )
    return name


def unit_text(executable: str) -> str:
    """The template unit that starts `executable`, an absolute path.

    Raises `ServiceError` for a path that systemd takes for no command (quotes, backslash, controls).
    """
    if not executable.isprintable() or set(executable) & set("\"'\\"):
        raise ServiceError(
            f"systemd starts nothing with such a path: {executable!r}; install ckvd elsewhere."
        )
    quoted = executable.replace("%", "%%")
    shipped = (files("ckvd") / "systemd" / TEMPLATE).read_text("utf-8")
    return re.sub(r"(?m)^(ExecStart=:)\S+", lambda match: f'{match[1]}"{quoted}"', shipped)


def install(root: str | bytes) -> str:
    """Writes the unit, enables and starts it for `root`; says in words what was done.

    Raises `ServiceError`, nothing being left behind, where no systemd user manager runs or ckvd's own command
    is not found, and with systemd's words where the service does not start.
    """
    name = unit_name(root)
    shown = _shown(_root_of(name))
    if not _manager_runs():
        raise ServiceError(
            "no systemd user manager runs here, so nothing was installed; keep this running by other"
            " means, such as your session's start-up programs or another process supervisor:"
            f" ckvd run {shlex.quote(shown)}"
        )
    folder = _folder()
    _replace(os.path.join(folder, TEMPLATE), unit_text(_executable()))
    _systemctl("daemon-reload")
    _systemctl("enable", name)
    _run("reset-failed", name)
    # A restart, so that an instance of an older installation does not go on.
    _systemctl("restart", name, hint=f"see: journalctl --user --unit '{name}'")
    return (
        f"ckvd now watches {shown} and starts with your session ({name});"
        " `loginctl enable-linger` lets it start with the machine."
    )


def remove(root: str | bytes) -> str:
    """Stops and disables the instance for `root`, and takes the unit away with its last instance.

    Raises `ServiceError` where there is no such instance.
    """
    name = unit_name(root)
    shown = _shown(_root_of(name))
    folder = _folder()
    link = os.path.join(folder, _WANTS, name)
    if not os.path.lexists(link):
        raise ServiceError(f"no service is installed for {shown}; `ckvd service list` shows those that are.")
    running = _manager_runs()
    if running:
        _systemctl("disable", "--now", name)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(link)
    if not _instances():
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, TEMPLATE))
    if running:
        _systemctl("daemon-reload")
    index = "; its index stays in .ckvd" if os.path.isdir(_root_of(name)) else ""
    return f"ckvd no longer watches {shown}{index}."


def list_units() -> list[str]:
    """A line for each installed instance: its state in systemd's word, its root, its unit."""
    running = _manager_runs()
    return [
        f"{_state(name) if running else 'unknown':<10} {_shown(_root_of(name))}  {name}"
        for name in _instances()
    ]


@dataclass(frozen=True, slots=True)
class Installed:
    """An instance: systemd's word for its state, None where no user manager runs, and what it is to start
    where that is `missing`."""

    unit: str
    state: str | None
    missing: str | None


def examine(root: str | bytes) -> Installed | None:
    """The instance for `root`, None where there is none."""
    path = os.path.abspath(os.fsencode(root))
    name = TEMPLATE.replace("@", f"@{escape_path(path)}")
    if name not in _instances():
        return None
    try:
        with open(os.path.join(_folder(), TEMPLATE), encoding="utf-8", errors="surrogateescape") as file:
            started = re.search(r'(?m)^ExecStart=:"?([^"\n]*?)"?(?: |$)', file.read())
    except OSError:
        return Installed(name, None, TEMPLATE)
    executable = started[1] if started else TEMPLATE
    executable = executable.replace("%h", os.path.expanduser("~")).replace("%%", "%")
    missing = None if os.access(executable, os.X_OK) else executable
    return Installed(name, _state(name) if _manager_runs() else None, missing)


def _instances() -> list[str]:
    try:
        names = os.listdir(os.path.join(_folder(), _WANTS))
    except FileNotFoundError:
        return []
    before, after = TEMPLATE.split("@")
    return sorted(name for name in names if name.startswith(f"{before}@") and name.endswith(after))


def _root_of(name: str) -> bytes:
    before, after = TEMPLATE.split("@")
    return unescape_path(name[len(before) + 1 : -len(after)])


def _shown(path: bytes) -> str:
    return path.decode("utf-8", "backslashreplace")


def _folder() -> str:
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(config, "systemd", "user")


def _runtime() -> str:
    return os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"


def _manager_runs() -> bool:
    """Whether a user manager listens on its private socket, to which `systemctl --user` speaks."""
    if shutil.which("systemctl") is None:
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as private:
        try:
            private.connect(os.path.join(_runtime(), "systemd", "private"))
        except OSError:
            return False
    return True


def _executable() -> str:
    """The `ckvd` command as it was called, else that of this environment."""
    called = sys.argv[0]
    beside = os.path.join(sysconfig.get_path("scripts"), "ckvd")
    candidates = [os.path.abspath(called)] if os.path.basename(called) == "ckvd" and "/" in called else []
    for path in (*candidates, beside, shutil.which("ckvd")):
        if path and os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.abspath(path)
    raise ServiceError("the ckvd command is not found; install the package with pip and run that command.")


def _replace(path: str, text: str) -> None:
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", errors="surrogateescape", dir=folder, prefix=".ckvd-", delete=False
        ) as file:
            file.write(text)
            os.fchmod(file.fileno(), 0o644)
        os.replace(file.name, path)
    except OSError as error:
        raise ServiceError(
            f"the unit cannot be written to {path} ({error.strerror}); mend the folder's permissions."
        ) from error


def _systemctl(*args: str, hint: str = "") -> None:
    done = _run(*args)
    if done.returncode:
        said = " ".join(done.stderr.split()) or f"exit {done.returncode}"
        raise ServiceError(
            f"systemctl --user {' '.join(args)} failed: {said}" + (f" ({hint})" if hint else "")
        )


def _state(name: str) -> str:
    return _run("is-active", name).stdout.strip() or "unknown"


def _run(*args: str) -> subprocess.CompletedProcess[str]:
    environ = os.environ | {"XDG_RUNTIME_DIR": _runtime(), "SYSTEMD_COLORS": "0"}
    try:
        return subprocess.run(
            ["systemctl", "--user", *args],
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SYSTEMCTL_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ServiceError(
            f"systemctl --user {' '.join(args)} gave no answer in {_SYSTEMCTL_S:.0f} s."
        ) from error
