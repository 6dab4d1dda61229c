"""The models that can be used by name: which there are, what they are, and how one is added."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ckvd.embed import embedder, hugging_face, registry, tokenizer
from ckvd.embed.registry import ModelSpec
from ckvd.errors import ModelError, UsageError

Origin = Literal["shipped", "added", "built in", "folder"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_PROBE = "def evict(self): drop the oldest entry of the cache"
_BESIDE = ("config.json", "LICENSE", "LICENSE.txt", "NOTICE", "README.md")
"""Files that come along with an added model, besides those that it consists of."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One model of the list. `spec` is None where it cannot be used, and `problem` then says why."""

    name: str
    origin: Origin
    spec: ModelSpec | None
    problem: str = ""


def entries() -> list[Entry]:
    """All models that have a name, in the order of `registry.names`."""
    return [_entry(name) for name in registry.names()]


def _entry(name: str) -> Entry:
    origin = _origin(name)
    try:
        return Entry(name, origin, registry.resolve(name))
    except ModelError as error:
        return Entry(name, origin, None, str(error))


def _origin(name: str) -> Origin:
    if name in (registry.HASH, registry.NONE):
        return "built in"
    return "shipped" if os.path.isdir(os.path.join(registry.SHIPPED, name)) else "added"


def info(model: str, base: str) -> dict[str, Any]:
    """All that is known of a model, its files' hashes computed anew. Raises ModelError where it is missing,
    incomplete or damaged."""
    spec = registry.resolve(model, base)
    registry.verify(spec)
    said = hugging_face.table(os.path.join(spec.folder, "model.toml"), tomllib.loads) if spec.folder else {}
    provenance = dict(said.get("provenance", {}))
    return {
        "name": spec.name,
        "origin": _origin(model) if model in registry.names() else "folder",
        "kind": spec.kind,
        "dimensions": spec.dimensions,
        "limit": spec.limit,
        "ceiling": spec.ceiling,
        "pooling": spec.pooling,
        "query_prefix": spec.query_prefix,
        "document_prefix": spec.document_prefix,
        "embed_header": spec.embed_header,
        "identity": spec.identity,
        "licence": provenance.pop("license", None),
        "provenance": provenance,
        "files": [
            {"path": path, "bytes": os.stat(path).st_size, "sha256": digest}
            for path, digest in zip(spec.files, spec.digests, strict=True)
        ],
    }


def add(folder: str, name: str | None, given: Mapping[str, str | int], *, replace: bool = False) -> ModelSpec:
    """Copies the model in `folder` to where it can be used by name, once it has shown that it works.

    `given` are keys of `model.toml` that the folder does not answer or answers wrongly (pooling, prefixes,
    dimensions, limit). Raises UsageError for a name that cannot be, ModelError for a model that cannot.
    """
    folder = os.path.abspath(os.path.expanduser(folder))
    name = name if name is not None else os.path.basename(os.path.realpath(folder))
    _check_name(name, replace)
    if not os.path.isdir(folder):
        raise ModelError(f"{folder} is not a folder; name one with model.onnx and tokenizer.json in it")
    home = registry.added_folder()
    os.makedirs(home, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".adding-", dir=home) as scratch:
        made = os.path.join(scratch, name)
        try:
            _copy(folder, made, given)
            check(registry.resolve(made))
        except ModelError as error:
            raise ModelError(str(error).replace(made, folder)) from error
        target = os.path.join(home, name)
        if os.path.lexists(target):
            os.rename(target, os.path.join(scratch, "former"))
        os.rename(made, target)
    return registry.resolve(name)


def check(spec: ModelSpec) -> None:
    """Lets the model embed: ModelError unless that gives vectors that tell texts apart and do not depend on
    what was embedded before."""
    counter = tokenizer.load(spec)
    if counter.count(_PROBE) < 4:
        raise ModelError(f"the tokenizer of {spec.name} makes nothing of words: copy the model's own")
    model = embedder.load(spec)
    first, other, again = model.embed([_PROBE, "open a connection", _PROBE])
    if not np.array_equal(first, again):
        raise ModelError(
            f"{spec.name} gives one text different vectors at different times: export it for inference"
        )
    if float(first @ other) > 0.9999:
        raise ModelError(f"{spec.name} gives all texts the same vector: export it again, or state `pooling`")
    # A limit above what the graph takes fails here, not later; attention over more needs gigabytes.
    model.embed(["word " * min(spec.limit, 2048)])


def _check_name(name: str, replace: bool) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError(f"a model cannot be called {name!r}; give --name of letters, digits, '.', '_', '-'")
    if name in (registry.HASH, registry.NONE) or os.path.isdir(os.path.join(registry.SHIPPED, name)):
        raise UsageError(f"{name} is a model that comes with ckvd; give another --name")
    if os.path.lexists(os.path.join(registry.added_folder(), name)) and not replace:
        raise UsageError(f"there is a model {name} already; give another --name, or --replace")


def _copy(folder: str, made: str, given: Mapping[str, str | int]) -> None:
    """The files of the model, and a `model.toml` that answers all that must be known."""
    os.makedirs(made)
    said = hugging_face.table(os.path.join(folder, "model.toml"), tomllib.loads)
    read = {} if "kind" in said else hugging_face.facts(folder)
    facts = {"kind": "transformer", **read, **said, **given}
    for source, name in _sources(folder):
        try:
            shutil.copyfile(source, os.path.join(made, name))
        except OSError as error:
            raise ModelError(f"cannot copy {source}: {error.strerror}") from error
    facts.pop("files", None)
    _write(made, facts)
    spec = registry.resolve(made)
    facts["files"] = {
        os.path.basename(path): {"bytes": os.stat(path).st_size, "sha256": digest}
        for path, digest in zip(spec.files, spec.digests, strict=True)
    }
    _write(made, facts)


def _sources(folder: str) -> list[tuple[str, str]]:
    """What is copied, and under which name."""
    onnx = next((p for p in (os.path.join(folder, o) for o in registry.ONNX) if os.path.isfile(p)), None)
    found = [(os.path.join(folder, name), name) for name in ("tokenizer.json", *_BESIDE)]
    if onnx is not None:
        found += [(onnx + suffix, "model.onnx" + suffix) for suffix in ("", *registry.ONNX_DATA)]
    return [(path, name) for path, name in found if os.path.isfile(path)]


def _write(folder: str, facts: Mapping[str, Any]) -> None:
    with open(os.path.join(folder, "model.toml"), "w", encoding="utf-8") as file:
        file.write("\n".join(_toml(facts)) + "\n")


def _toml(facts: Mapping[str, Any], path: tuple[str, ...] = ()) -> list[str]:
    """Tables of strings, numbers and truth values as TOML, which strings in JSON's notation are too."""
    plain = {k: v for k, v in facts.items() if not isinstance(v, Mapping)}
    lines = [f"{_key(k)} = {json.dumps(v, ensure_ascii=False, default=str)}" for k, v in plain.items()]
    if path and lines:
        lines.insert(0, f"\n[{'.'.join(map(_key, path))}]")
    for key, value in facts.items():
        if isinstance(value, Mapping):
            lines += _toml(value, (*path, key))
    return lines


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)
