"""What any tree needs of this machine and installation. A package that cannot be imported is a finding."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

from ckvd.report.findings import Finding

OLDEST, NEWEST = (3, 11), (3, 14)
_REINSTALL = "pip install --force-reinstall"
_BAD_TREE_SITTER = "0.26.0"
"""It frees trees that are still in use."""


def python(version: tuple[int, ...] = sys.version_info[:3]) -> Finding:
    shown = f"{'.'.join(map(str, version))} ({sys.implementation.name}) at {sys.executable}"
    if version[:2] < OLDEST:
        return Finding("python", "bad", shown, f"ckvd needs Python {_dotted(OLDEST)} or later; install one")
    if version[:2] > NEWEST:
        return Finding("python", "warn", shown, f"ckvd was tested up to {_dotted(NEWEST)}")
    return Finding("python", "ok", shown)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def sqlite() -> Finding:
    """Whether ckvd's own SQLite has the full-text index and JSON."""
    try:
        import apsw
    except ImportError as e:
        return Finding("sqlite", "bad", f"apsw cannot be imported ({e})", f"{_REINSTALL} apsw")
    db = apsw.Connection(":memory:")
    try:
        db.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='trigram'); SELECT json('[]')").fetchall()
    except apsw.Error as e:
        why = f"SQLite {apsw.sqlite_lib_version()} lacks a part ({e})"
        return Finding("sqlite", "bad", why, f"{_REINSTALL} apsw")
    finally:
        db.close()
    return Finding("sqlite", "ok", f"{apsw.sqlite_lib_version()} with full-text search")


def extension() -> Finding:
    """Whether sqlite-vec can be loaded and computes."""
    try:
        import apsw
        import sqlite_vec
    except ImportError as e:
        return Finding("extension", "bad", f"sqlite-vec cannot be imported ({e})", f"{_REINSTALL} sqlite-vec")
    db = apsw.Connection(":memory:")
    try:
        db.enable_load_extension(True)
        db.load_extension(sqlite_vec.loadable_path())
        version, distance = db.execute(
            "SELECT vec_version(), vec_distance_hamming(vec_bit(x'0f'), vec_bit(x'00'))"
        ).fetchall()[0]
    except (apsw.Error, AttributeError) as e:
        why = f"sqlite-vec cannot be loaded ({e})"
        return Finding("extension", "bad", why, f"{_REINSTALL} sqlite-vec (search falls back to words)")
    finally:
        db.close()
    if distance != 4:
        return Finding(
            "extension", "bad", f"sqlite-vec {version} computes wrongly", f"{_REINSTALL} sqlite-vec"
        )
    return Finding("extension", "ok", f"sqlite-vec {version}")


def grammars() -> Finding:
    """Whether each language's grammar loads and has all the node types that its data names."""
    try:
        from ckvd import languages
        from ckvd.languages.schema import LanguageDataError
        from ckvd.parse import parse
    except ImportError as e:
        remedy = f"{_REINSTALL} tree-sitter tree-sitter-language-pack"
        return Finding("grammars", "bad", f"the grammars cannot be imported ({e})", remedy)
    if metadata.version("tree-sitter") == _BAD_TREE_SITTER:
        remedy = "pip install 'tree-sitter!=0.26.0'"
        return Finding("grammars", "bad", f"tree-sitter {_BAD_TREE_SITTER} crashes", remedy)
    broken = []
    for name in languages.names():
        try:
            parse(f"empty.{name}", b"", languages.get(name))
        except (LanguageDataError, LookupError, ImportError, OSError) as e:
            broken.append(f"{name} ({e})")
    if broken:
        remedy = f"{_REINSTALL} tree-sitter-language-pack; then ckvd from its source ({_REINSTALL} .)"
        return Finding("grammars", "bad", f"not usable: {', '.join(broken)}", remedy)
    return Finding("grammars", "ok", f"{len(languages.names())} languages")


def git() -> Finding:
    """Whether git and libgit2 are there."""
    from ckvd.worktree.git import process

    if not process.available():
        remedy = "install git, so that its rules on what belongs to a tree are followed exactly"
        return Finding("git", "bad", "git is not on the PATH", remedy)
    said = subprocess.run(["git", "version"], capture_output=True, text=True, check=False)
    if said.returncode:
        why = " ".join(said.stderr.split()) or f"exit {said.returncode}"
        return Finding("git", "bad", f"git cannot run: {why}", "mend the installation of git")
    return Finding("git", "ok", said.stdout.strip().removeprefix("git version "))
