"""The packages of `packages.toml`, got by their registries' own clients, and the files in them."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).with_name("packages.toml")
LARGEST = 300_000
"""Bytes; a larger file is data or generated."""


@dataclass(frozen=True)
class Package:
    registry: str
    name: str
    version: str
    licence: str


def packages() -> list[Package]:
    """All of the list, in the order of registry and name."""
    table = tomllib.loads(LIST.read_text("utf-8"))
    found = [
        Package(registry, name, version, licence)
        for registry, licences in table.items()
        for licence, versions in licences.items()
        for name, version in versions.items()
    ]
    return sorted(found, key=lambda p: (p.registry, p.name))


def fetch(package: Package, into: Path) -> Path:
    """The package's archive in `into`, downloaded unless it lies there. Raises CalledProcessError where the
    registry does not have it."""
    folder = into / package.registry
    folder.mkdir(parents=True, exist_ok=True)
    known = _archive(package, folder)
    if known is None:
        subprocess.run(_command(package), cwd=folder, check=True, stdout=subprocess.DEVNULL)
        known = _archive(package, folder)
    if known is None:
        raise FileNotFoundError(f"{package.name} {package.version} did not arrive in {folder}")
    return known


def files(archive: Path) -> Iterator[tuple[str, bytes]]:
    """The regular files of an archive, path and content, in the order of their paths; none over LARGEST."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for info in sorted(wheel.infolist(), key=lambda i: i.filename):
                if not info.is_dir() and info.file_size <= LARGEST:
                    yield info.filename, wheel.read(info)
    elif archive.suffix == ".deb":
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as unpacked:
            assert unpacked.stdout is not None
            with tarfile.open(fileobj=unpacked.stdout, mode="r|") as opened:
                yield from sorted(_members(opened))
    else:
        with tarfile.open(archive) as opened:
            yield from sorted(_members(opened))


def _members(opened: tarfile.TarFile) -> Iterator[tuple[str, bytes]]:
    for member in opened:
        if member.isfile() and member.size <= LARGEST:
            content = opened.extractfile(member)
            assert content is not None
            yield member.name.removeprefix("./"), content.read()


def _command(p: Package) -> list[str]:
    if p.registry == "pypi":
        wheel = ("--no-deps", "--only-binary", ":all:", "--quiet", "--disable-pip-version-check")
        return [sys.executable, "-m", "pip", "download", *wheel, f"{p.name}=={p.version}"]
    if p.registry == "npm":
        return ["npm", "pack", "--ignore-scripts", "--silent", f"{p.name}@{p.version}"]
    return ["apt-get", "download", "--quiet", f"{p.name}={p.version}"]


def _archive(p: Package, folder: Path) -> Path | None:
    """The file that a client names after the package, each in its own way."""
    if p.registry == "pypi":
        names = (f for f in folder.glob("*.whl") if _plain(f.name.split("-")[0]) == _plain(p.name))
        return next((f for f in names if f.name.split("-")[1] == p.version), None)
    if p.registry == "npm":
        found = folder / f"{p.name.removeprefix('@').replace('/', '-')}-{p.version}.tgz"
        return found if found.exists() else None
    return next(iter(folder.glob(f"{p.name}_{p.version.replace(':', '%3a')}_*.deb")), None)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
