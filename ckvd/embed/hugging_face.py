"""What the files that Hugging Face and sentence-transformers put beside a model say of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from ckvd.errors import ModelError

_POOLINGS = {
    "mean_tokens": "mean",
    "mean_sqrt_len_tokens": "mean",  # the same direction, and vectors are made of unit length
    "cls_token": "cls",
    "max_tokens": "max",
    "lasttoken": "last",
}
_OFFSET_POSITIONS = frozenset({"roberta", "xlm-roberta", "camembert", "mpnet"})
"""Types whose positions begin after the padding index: two of them are never used."""


def facts(folder: str) -> dict[str, Any]:
    """The keys of `model.toml` that the files of a folder answer. Raises ModelError where one is damaged."""
    config = _json(folder, "config.json")
    pooling = _json(folder, "1_Pooling", "config.json")
    found: dict[str, Any] = {}
    if how := _pooling(pooling):
        found["pooling"] = how
    dimensions = pooling.get("word_embedding_dimension") or config.get("hidden_size") or config.get("dim")
    after = _after_pooling(folder)
    if after is not None:
        found["pooling"] = "graph"
        dimensions = after.get("out_features") or dimensions
    if dimensions:
        found["dimensions"] = dimensions
    if positions := config.get("max_position_embeddings"):
        found["ceiling"] = positions - (2 if config.get("model_type") in _OFFSET_POSITIONS else 0)
    longest = _json(folder, "sentence_bert_config.json").get("max_seq_length") or found.get("ceiling")
    if longest:
        found["limit"] = longest
    return found | _prefixes(_json(folder, "config_sentence_transformers.json"))


def _pooling(config: dict[str, Any]) -> str | None:
    modes = [
        key.removeprefix("pooling_mode_")
        for key, on in config.items()
        if key.startswith("pooling_mode_") and on is True
    ]
    if not modes:
        return None
    return _POOLINGS.get(modes[0], modes[0]) if len(modes) == 1 else "+".join(modes)


def _after_pooling(folder: str) -> dict[str, Any] | None:
    """The configuration of a layer between pooling and unit length, which only the graph can have in it."""
    modules = table(os.path.join(folder, "modules.json"), json.loads, list)
    for module in modules:
        if isinstance(module, dict) and str(module.get("type", "")).endswith(".Dense"):
            return _json(folder, str(module.get("path", "")), "config.json")
    return None


def _prefixes(config: dict[str, Any]) -> dict[str, str]:
    prompts = config.get("prompts")
    if not isinstance(prompts, dict):
        return {}
    usual = prompts.get(config.get("default_prompt_name"))
    given = {
        "query_prefix": prompts.get("query") or usual,
        "document_prefix": prompts.get("document") or prompts.get("passage") or usual,
    }
    return {key: prompt for key, prompt in given.items() if isinstance(prompt, str) and prompt}


def _json(*parts: str) -> dict[str, Any]:
    found: dict[str, Any] = table(os.path.join(*parts), json.loads)
    return found


def table(path: str, parse: Callable[[str], Any], kind: type[Any] = dict) -> Any:
    """The table (or list, by `kind`) that a file holds, an empty one where there is no file. Raises
    ModelError where it cannot be read or holds something else."""
    try:
        with open(path, encoding="utf-8") as file:
            value = parse(file.read())
    except FileNotFoundError:
        return kind()
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:  # JSON, TOML and UTF-8 errors alike
        raise ModelError(f"{path} is damaged ({error})") from error
    if not isinstance(value, kind):
        what = "table of keys and values" if kind is dict else "list"
        raise ModelError(f"{path} is damaged (not a {what})")
    return value
