"""The model whose vectors answer: what the index says of it, and where it is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from ckvd.errors import CkvdError, ModelError
from ckvd.place import command

if TYPE_CHECKING:
    from ckvd.embed.registry import ModelSpec
    from ckvd.store.reader import Reader


class Serving(NamedTuple):
    """The model whose vectors answer now."""

    id: int
    identity: str
    name: str
    dimensions: int
    folder: str | None = None
    """Where it lay when the vectors were made; None in an index that an older ckvd made."""
    input_tokens: int | None = None


def serving(reader: Reader) -> Serving | None:
    """The model whose vectors answer, None where there is none yet."""
    rows = reader.query(
        "SELECT m.id, m.identity, m.name, m.dimensions, s.folder, s.input_tokens"
        " FROM model AS m LEFT JOIN model_source AS s USING (identity) WHERE m.serving"
    )
    return Serving(*rows[0]) if rows else None


def model_of(root: str, db: str, model: Serving) -> ModelSpec:
    """The model that serves a tree's index: from where it lay when the vectors were made, else the one
    that `ckv.yaml` names. ModelError where neither is it."""
    from ckvd.embed import registry

    known = registry.recorded(model.identity, model.name, model.folder or "", model.input_tokens or 0)
    if known is not None:
        return known  # without reading any configuration: the common case starts faster
    from ckvd.settings import Settings

    try:
        spec = Settings.load(os.fsencode(root)).model
    except CkvdError as error:
        raise ModelError(f"the index has vectors of {model.identity}, and {error}") from error
    if spec.identity != model.identity:
        said = f"the index has vectors of {model.identity}, ckv.yaml names {spec.identity}"
        raise ModelError(f"{said}; run: {command('index', db, root)}")
    return spec
