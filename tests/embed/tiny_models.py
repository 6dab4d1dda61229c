"""Tiny models, real ONNX with random weights, in the layouts that ckvd reads."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "read", "write", "file", "cache", "the", "a", "(", ")"]


def transformer(
    folder: Path,
    *,
    dimensions: int = 16,
    seed: int = 0,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask", "token_type_ids"),
    pooled: bool = False,
    config: dict[str, object] | None = None,
    truncate: int | None = 8,
) -> Path:
    """An encoder that gives each token the sum of its own row and the mean of all: company matters."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((len(WORDS), dimensions)).astype(np.float32)
    weights = [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.array([1]), "axis")]
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("ReduceMean", ["rows", "axis"], ["mean"], keepdims=1),
        helper.make_node("Add", ["rows", "mean"], ["last_hidden_state"]),
        helper.make_node("ReduceMean", ["last_hidden_state", "axis"], ["sentence_embedding"], keepdims=0),
    ]
    name, shape = (
        ("sentence_embedding", ["b", dimensions]) if pooled else ("last_hidden_state", ["b", "s", dimensions])
    )
    given = [helper.make_tensor_value_info(i, TensorProto.INT64, ["b", "s"]) for i in inputs]
    graph = helper.make_graph(
        nodes, "tiny", given, [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)], weights
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, str(folder / "model.onnx"))
    wordpiece(truncate).save(str(folder / "tokenizer.json"))
    settings = {"hidden_size": dimensions, "max_position_embeddings": 32, "model_type": "bert"}
    (folder / "config.json").write_text(json.dumps(settings if config is None else config))
    return folder


def wordpiece(truncate: int | None) -> Tokenizer:
    """A BERT tokenizer that truncates and pads, as exported ones do."""
    tokenizer = Tokenizer(models.WordPiece({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    if truncate:
        tokenizer.enable_truncation(truncate)
        tokenizer.enable_padding(length=truncate)
    return tokenizer
