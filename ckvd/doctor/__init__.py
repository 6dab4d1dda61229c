"""`ckvd doctor`: looks at everything that ckvd stands on. Writes nothing into the tree."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from importlib import metadata

from ckvd import __version__
from ckvd.doctor import machine, site
from ckvd.errors import CkvdError
from ckvd.place import Place, place
from ckvd.report.findings import Finding, Findings

_PACKAGES = (
    *("apsw", "sqlite-vec", "tree-sitter", "tree-sitter-language-pack", "onnxruntime", "tokenizers"),
    *("numpy", "pygit2", "watchdog"),
)


def examine(root: str | None, db: str | None) -> Findings:
    """All findings; a tree that cannot be found leaves out what is to be looked at in it."""
    lines = [machine.python(), machine.sqlite(), machine.extension(), machine.grammars(), machine.git()]
    try:
        where = place(root, db)
    except CkvdError as e:
        return Findings((*lines, Finding("tree", "bad", str(e), "name a folder to index")), versions())
    return Findings((*lines, *_looked_at(where)), versions())


def _looked_at(where: Place) -> Iterator[Finding]:
    looks: tuple[Callable[[Place], Finding], ...] = (
        *(site.tree, site.configuration, site.model, site.filesystem, site.permissions),
        *(site.writer, site.index, site.inotify, site.service),
    )
    for look in looks:
        yield look(where)


def versions() -> dict[str, str]:
    """Of ckvd, Python, the system and the packages; `missing` for one that is not installed."""
    found = {
        "ckvd": __version__,
        "Python": platform.python_version(),
        platform.system(): f"{platform.release()} {platform.machine()}",
    }
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "missing"
    return found
