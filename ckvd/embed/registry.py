"""Which embedding model a name or a folder means, and what must be known to run it. No ONNX here.

A model is a folder that holds `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`. What those do not
say is read from `model.toml` if there is one, else from the files that Hugging Face and sentence-transformers
put beside a model: `config.json`, `modules.json`, `1_Pooling/config.json`, `sentence_bert_config.json`,
`config_sentence_transformers.json` (`ckvd.embed.hugging_face`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from ckvd.embed import hugging_face
from ckvd.errors import ModelError

DEFAULT = "static-code-256"
HASH = "hash"
NONE = "none"
HASH_DIMENSIONS = 256
SHIPPED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")

Kind = Literal["static", "transformer", "hash", "none"]
Pooling = Literal["mean", "cls", "max", "last", "graph", "sqrt-count", "none"]

_POOLINGS: Mapping[Kind, tuple[Pooling, ...]] = {
    "static": ("sqrt-count",),
    "transformer": ("mean", "cls", "max", "last", "graph"),
}
"""What each kind can pool by, the usual first; `graph` is done by the ONNX graph itself."""
ONNX = ("model.onnx", os.path.join("onnx", "model.onnx"))
ONNX_DATA = ("_data", ".data")
"""What exporters append to the name of an ONNX file for the weights that they keep outside it."""
_QUANTISER = "int8-max/1"
"""Part of a model's identity: vectors stored by another rule do not compare. See `quantise`."""


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """All that decides a vector, besides the text.

    `limit` is in tokens of `tokenizer`, special tokens included; text beyond it is left out. `ceiling` is
    the highest limit that the model can take, None where any will do. `split` is a regular expression of the
    words that are tokenised one by one, or None for text as it stands. `embed_header` is what evaluation
    favours for `embedding.header` where the configuration leaves it open.
    """

    name: str
    kind: Kind
    dimensions: int
    limit: int
    pooling: Pooling
    onnx: str
    tokenizer: str
    digests: tuple[str, ...]
    """SHA-256 of the model's files, in the order of `files`."""
    data: tuple[str, ...] = ()
    """Files that hold weights of the ONNX graph outside it."""
    folder: str = ""
    """Where the model lies, empty for those that are built in. No part of what it is."""
    ceiling: int | None = None
    embed_header: bool = False
    split: str | None = None
    query_prefix: str = ""
    document_prefix: str = ""

    @property
    def has_vectors(self) -> bool:
        return self.kind != "none"

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of all that the model consists of, the tokenizer last."""
        return (*(path for path in (self.onnx,) if path), *self.data, self.tokenizer)

    @property
    def identity(self) -> str:
        """One line that differs whenever vectors may: vectors of equal identity share one space."""
        if self.kind == "none":
            return NONE
        facts = (
            *(self.kind, self.dimensions, self.limit, self.pooling, self.split),
            *(self.query_prefix, self.document_prefix, self.digests, _QUANTISER),
        )
        digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
        return f"{self.name} {self.dimensions}d {digest[:16]}"

    @property
    def tokenizer_key(self) -> str:
        """Differs whenever the tokens of some text may be counted otherwise."""
        return hashlib.sha256(
            json.dumps((self.digests[-1], self.split, self.document_prefix)).encode()
        ).hexdigest()[:16]

    def with_limit(self, limit: int) -> ModelSpec:
        """The same model cutting text at `limit` tokens; 0 leaves its own. ModelError above what it takes."""
        if limit == 0 or limit == self.limit:
            return self
        if limit < 0 or (self.ceiling is not None and limit > self.ceiling):
            raise ModelError(
                f"chunking.max_input_tokens is {limit}, but {self.name} takes at most {self.ceiling}"
            )
        return replace(self, limit=limit)


def resolve(model: str, base: str = ".") -> ModelSpec:
    """The model that `embedding.model` names: `hash`, `none`, a shipped or added name, or a folder (relative
    to `base`). Raises ModelError with a plain sentence where it is missing, incomplete or damaged.
    """
    if model in (HASH, NONE):
        shipped = resolve(DEFAULT)  # chunks are cut by the same tokenizer, so that switching re-cuts nothing
        return replace(
            shipped,
            name=model,
            kind="hash" if model == HASH else "none",
            dimensions=HASH_DIMENSIONS if model == HASH else 0,
            onnx="",
            folder="",
            pooling="sqrt-count" if model == HASH else "none",
            digests=shipped.digests[-1:],
        )
    for folder in (os.path.join(SHIPPED, model), os.path.join(added_folder(), model)):
        if model == os.path.basename(model) and os.path.isdir(folder):
            return _read(folder, model)
    folder = os.path.realpath(os.path.join(base, os.path.expanduser(model)))
    if os.path.isdir(folder):
        return _read(folder, os.path.basename(folder))
    raise ModelError(
        f"no embedding model '{model}': name one of {', '.join(names())}, "
        "or a folder with model.onnx and tokenizer.json"
    )


def recorded(identity: str, name: str, folder: str, limit: int) -> ModelSpec | None:
    """The model that an index has vectors of, as it was when they were made; None where it is gone or is
    another by now."""
    for where in dict.fromkeys((name, folder)):
        try:
            spec = resolve(where).with_limit(limit) if where else None
        except ModelError:
            continue
        if spec is not None and spec.identity == identity:
            return spec
    return None


def names() -> tuple[str, ...]:
    """The models that can be named: shipped, then added, then the two built in."""
    found = [
        name
        for folder in (SHIPPED, added_folder())
        for name in (sorted(os.listdir(folder)) if os.path.isdir(folder) else ())
        if not name.startswith(".") and os.path.isdir(os.path.join(folder, name))
    ]
    return (*dict.fromkeys(found), HASH, NONE)


def added_folder() -> str:
    """Where models that the user adds by name lie."""
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(data, "ckvd", "models")


def verify(spec: ModelSpec) -> None:
    """Hash the model's files again (some 10 ms for 10 MB); ModelError if one is not what the spec says."""
    for path, stated in zip(spec.files, spec.digests, strict=True):
        if _sha256(path) != stated:
            raise ModelError(
                f"{path} is damaged (its SHA-256 is not {stated[:12]}…): install ckvd or the model again"
            )


def _read(folder: str, name: str) -> ModelSpec:
    entry = hugging_face.table(os.path.join(folder, "model.toml"), tomllib.loads)
    onnx = next((p for p in (os.path.join(folder, o) for o in ONNX) if os.path.isfile(p)), None)
    tokenizer = os.path.join(folder, "tokenizer.json")
    if onnx is None:
        raise ModelError(f"the model folder {folder} has no model.onnx: export the model to ONNX into it")
    data = tuple(path for path in (onnx + suffix for suffix in ONNX_DATA) if os.path.isfile(path))
    if not os.path.isfile(tokenizer):
        raise ModelError(f"the model folder {folder} has no tokenizer.json: copy the model's own into it")
    facts = entry if "kind" in entry else {**hugging_face.facts(folder), **entry}
    kind = cast(Kind, facts.get("kind", "transformer"))
    if kind not in _POOLINGS:
        raise ModelError(f"{folder}/model.toml: kind is '{kind}', must be one of {', '.join(_POOLINGS)}")
    pooling = cast(Pooling, facts.get("pooling", _POOLINGS[kind][0]))
    if pooling not in _POOLINGS[kind]:
        allowed = " or ".join(_POOLINGS[kind])
        raise ModelError(
            f"the model {name} pools by '{pooling}'; ckvd knows {allowed}: state one in {folder}/model.toml"
        )
    split = facts.get("split")
    if split is not None:
        _check_pattern(folder, split)
    return ModelSpec(
        name=name,
        kind=kind,
        dimensions=_positive(folder, facts, "dimensions"),
        limit=_positive(folder, facts, "limit"),
        pooling=pooling,
        onnx=onnx,
        tokenizer=tokenizer,
        digests=tuple(_digest(path, entry) for path in (onnx, *data, tokenizer)),
        data=data,
        folder=folder,
        ceiling=facts.get("ceiling"),
        embed_header=bool(facts.get("embed_header", False)),
        split=split,
        query_prefix=str(facts.get("query_prefix", "")),
        document_prefix=str(facts.get("document_prefix", "")),
    )


def _digest(path: str, entry: Mapping[str, Any]) -> str:
    """The file's SHA-256: as `model.toml` states it if the size agrees (`verify` reads it), else computed."""
    stated = entry.get("files", {}).get(os.path.basename(path))
    if stated is None:
        return _sha256(path)
    size = os.stat(path).st_size
    if size != stated["bytes"]:
        raise ModelError(
            f"{path} is damaged ({size:,} bytes, not {stated['bytes']:,}): install ckvd or the model again"
        )
    return str(stated["sha256"])


def _sha256(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"cannot read the model file {path}: {error.strerror}") from error


def _positive(folder: str, facts: Mapping[str, Any], key: str) -> int:
    value = facts.get(key)
    if not isinstance(value, int) or value < 1:
        raise ModelError(
            f"the model folder {folder} does not say its {key}: state `{key} = …` in {folder}/model.toml"
        )
    return value


def _check_pattern(folder: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ModelError(f"{folder}/model.toml: split is not a regular expression ({error})") from error
