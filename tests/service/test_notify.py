"""The daemon's words to systemd, heard by a socket that plays systemd's."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from ckvd.notify import Notifier


class Manager:
    """The service manager's end: a datagram socket that collects messages."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("\0" + address[1:] if address[0] == "@" else address)
        self._socket.setblocking(False)

    def heard(self) -> list[str]:
        """What has been sent since the last call: a datagram is here when its sender goes on."""
        messages = []
        while True:
            try:
                messages.append(self._socket.recv(4096).decode())
            except BlockingIOError:
                return messages

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manager]:
    made = Manager(str(tmp_path / "notify") if request.param == "path" else f"@ckvd-test-{uuid.uuid4()}")
    yield made
    made.close()


def test_a_life(manager: Manager) -> None:
    with Notifier(manager.address, watchdog_s=60) as notifier:
        notifier.ready()
        notifier.status("watching\n 3 files")
        notifier.alive()
        notifier.stopping()
    assert manager.heard() == ["READY=1", "STATUS=watching 3 files", "WATCHDOG=1", "STOPPING=1"]


def test_the_same_status_is_said_once(manager: Manager) -> None:
    with Notifier(manager.address) as notifier:
        for text in ("indexing", "indexing", "watching", "indexing"):
            notifier.status(text)
    assert manager.heard() == ["STATUS=indexing", "STATUS=watching", "STATUS=indexing"]


def test_pings_keep_within_the_interval(manager: Manager, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 100.0
    monkeypatch.setattr("time.monotonic", lambda: clock)
    sent_at = []
    with Notifier(manager.address, watchdog_s=20) as notifier:
        for _ in range(61):  # a minute of one sign of life a second
            notifier.alive()
            sent_at += [clock] * len(manager.heard())
            clock += 1
    assert sent_at == [100.0 + 5 * n for n in range(13)]


def test_no_ping_without_a_watchdog(manager: Manager) -> None:
    with Notifier(manager.address) as notifier:
        notifier.alive()
        notifier.ready()
    assert manager.heard() == ["READY=1"]


def test_the_environment_is_read_once_and_not_passed_on(manager: Manager) -> None:
    environ = {
        "NOTIFY_SOCKET": manager.address,
        "WATCHDOG_USEC": "30000000",
        "WATCHDOG_PID": str(os.getpid()),
        "HOME": "/",
    }
    with Notifier.from_environ(environ) as notifier:
        assert notifier.watchdog_s == 30
        notifier.ready()
    assert manager.heard() == ["READY=1"]
    assert environ == {"HOME": "/"}


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"WATCHDOG_USEC": "30000000"},
        {"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"},
        {"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "soon"},
        {"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "0"},
    ],
)
def test_a_watchdog_that_is_not_ours_is_none(environ: dict[str, str]) -> None:
    with Notifier.from_environ(environ) as notifier:
        assert notifier.watchdog_s is None


@pytest.mark.parametrize("address", [None, "", "vsock:2:1234", "/nowhere/at/all", f"/{'x' * 300}"])
def test_no_one_who_listens_is_no_error(address: str | None) -> None:
    with Notifier(address, watchdog_s=1) as notifier:
        notifier.ready()
        notifier.status("watching")
        notifier.alive()
        notifier.stopping()


def test_a_manager_that_does_not_read_does_not_stop_the_daemon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ckvd.notify._SEND_S", 0.01)
    manager = Manager(str(tmp_path / "notify"))
    holds = int(Path("/proc/sys/net/unix/max_dgram_qlen").read_text()) + 1
    with Notifier(manager.address) as notifier:
        for count in range(holds + 3):
            notifier.status(f"{count} files")
        assert manager.heard() == [f"STATUS={count} files" for count in range(holds)]
        notifier.status(f"{holds + 2} files")  # the one that was dropped last is not taken for sent
        assert manager.heard() == [f"STATUS={holds + 2} files"]
    manager.close()
