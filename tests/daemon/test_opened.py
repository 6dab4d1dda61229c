"""What the daemon opens, as the system sees it: the tree, its own folder, git's files, programs."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support import Ckvd, Tree
from waiting import wait_until

import ckvd as package

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace"),
]

CALL = re.compile(r"^\d+ +(\w+)\(([^\"\n]*(?:\"([^\"\n]*)\")?.*)$", re.MULTILINE)
PROGRAMS = ("/usr/", "/lib", "/etc/ld.so", "/proc/", "/sys/", "/dev/null", "/dev/urandom")
SETTINGS = ("/etc/gitconfig", "/etc/os-release", "/etc/localtime")


def test_nothing_else_is_opened_and_there_is_no_network(tree: Tree, ckvd: Ckvd, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("def secret(): pass\n")
    tree.write({"a.py": "def a(): pass\n", "b.md": "# B\n"})
    tree.commit()
    (tree.root / "link.py").symlink_to(outside / "secret.py")
    (tree.root / "folder").symlink_to(outside)
    log = tmp_path / "trace"
    command = ["strace", "-f", "-qq", "-s", "4096", "-o", str(log), "-e", "trace=open,openat,creat,socket"]
    home = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home" / "cache")}
    run = [*command, ckvd.executable, "run", str(tree.root)]
    lock = tree.db.with_name("index.db.lock")
    with subprocess.Popen(run, env=os.environ | home, cwd=tmp_path):
        wait_until(lambda: lock.exists() and lock.read_text().strip(), "the daemon", 120)
        try:
            ckvd("sync", str(tree.root), "--vectors")
            tree.write({"a.py": "def a2(): pass\n"})
            tree.commit()
            ckvd("sync", str(tree.root), "--vectors")
        finally:
            os.kill(int(lock.read_text()), signal.SIGTERM)
    calls = [(name, rest, path) for name, rest, path in CALL.findall(log.read_text(errors="replace"))]
    assert {rest.split(",")[0] for name, rest, _ in calls if name == "socket"} == {"AF_UNIX"}
    opened = {(path, rest) for name, rest, path in calls if name != "socket" and "ENOENT" not in rest}
    site = os.path.dirname(os.path.dirname(package.__file__))
    known = (str(tree.root), sys.prefix, sys.base_prefix, site, os.environ["GIT_CONFIG_GLOBAL"])
    known += (*PROGRAMS, *SETTINGS, *filter(None, sys.path))
    assert {path for path, _ in opened if path.startswith("/") and not path.startswith(known)} == set()
    written = {path for path, rest in opened if re.search("O_WRONLY|O_RDWR|O_CREAT", rest)}
    own = (f"{tree.db.parent}/", os.devnull)
    assert {path for path in written if not path.startswith(own)} == set()
