"""Texts to unit vectors through onnxruntime.

Every text runs through the session alone and unpadded: the kernels choose their summation order by shape,
and a dynamically quantised model even its scales by the batch, so in company a vector would change with its
neighbours, and an index kept up to date would differ from a fresh one. Threads run several texts at once,
never one text on several, so their number changes no bit either.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ckvd.embed import registry
from ckvd.embed import tokenizer as tokenizers
from ckvd.embed.registry import ModelSpec
from ckvd.errors import ModelError

Vector = NDArray[np.float32]

_OUTPUTS = ("sentence_embedding", "embedding", "last_hidden_state", "token_embeddings")
"""Names of the output to take, best first; else the first one."""


class Embedder(Protocol):
    """A model at work. Safe to call from several threads."""

    @property
    def spec(self) -> ModelSpec: ...

    def embed(self, texts: Sequence[str]) -> Vector:
        """Unit vectors [len(texts), dimensions] of documents; each depends on its own text alone."""
        ...

    def embed_query(self, text: str) -> Vector:
        """The unit vector [dimensions] of a query."""
        ...

    def pieces(self, texts: Sequence[str], /) -> tuple[list[list[int]], Vector] | None:
        """The distinct tokens of each text, as rows of a table of their unit vectors [n, dimensions]; None
        of a model in which a token has no vector of its own."""
        ...


def load(spec: ModelSpec, threads: int = 1, *, verify: bool = False) -> Embedder:
    """The model ready to run, on at most `threads` threads; `verify` reads its files' hashes first.

    Raises ModelError where the model is damaged, lacks what its kind needs, or is `none`.
    """
    if spec.kind == "none":
        raise ModelError(
            "there are no vectors: embedding.model is 'none'; name a model in ckv.yaml, or search by keyword"
        )
    if spec.kind == "hash":
        return HashEmbedder(spec)
    if spec.dimensions % 8:
        raise ModelError(
            f"the model {spec.name} has {spec.dimensions} dimensions; ckvd needs a multiple of 8"
        )
    if verify:
        registry.verify(spec)
    return _Static(spec) if spec.kind == "static" else _Transformer(spec, threads)


class _Onnx(ABC):
    """What the kinds share: a session of one thread without an arena, its inputs and output checked."""

    takes: frozenset[str]

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self._tokenizer = tokenizers.load(spec)
        self._session = _session(spec)
        inputs = {i.name for i in self._session.get_inputs()}
        outputs = [o.name for o in self._session.get_outputs()]
        if not inputs or not inputs <= self.takes:
            raise ModelError(
                f"the model {spec.name} takes the inputs {', '.join(sorted(inputs))}; "
                f"ckvd can give {', '.join(sorted(self.takes))}: see kind in its model.toml"
            )
        self._inputs = inputs
        self._output = [next((name for name in _OUTPUTS if name in outputs), outputs[0])]
        self._types = {
            i.name: np.int32 if "int32" in i.type else np.int64 for i in self._session.get_inputs()
        }
        self._run(self._tokenizer.ids("probe"))

    def embed(self, texts: Sequence[str]) -> Vector:
        out = np.empty((len(texts), self.spec.dimensions), np.float32)
        for row, text in enumerate(texts):
            out[row] = self._one(self.spec.document_prefix + text)
        return out

    def embed_query(self, text: str) -> Vector:
        return self._one(self.spec.query_prefix + text)

    def pieces(self, _: Sequence[str], /) -> tuple[list[list[int]], Vector] | None:
        return None

    def _one(self, text: str) -> Vector:
        vector = self._run(self._tokenizer.ids(text, self.spec.limit))
        return vector / max(float(np.linalg.norm(vector)), 1e-12)

    def _run(self, ids: list[int]) -> Vector:
        """The vector [dimensions] of token ids, not yet of unit length."""
        try:
            output = self._session.run(self._output, self._feeds(ids))[0]
        except _failures() as error:
            raise ModelError(
                f"the model {self.spec.name} cannot be run on {len(ids)} tokens ({_first_line(error)}): "
                "state a lower `limit` in its model.toml, or export it again"
            ) from error
        if output.ndim == 3:  # [1, tokens, dimensions]; unpadded, so that no mask is needed
            output = self._pooled(output.astype(np.float32))
        if output.ndim != 2 or output.shape[1] != self.spec.dimensions:
            raise ModelError(
                f"the model {self.spec.name} gives {output.shape[-1]} dimensions, "
                f"not {self.spec.dimensions}: correct `dimensions` in its model.toml"
            )
        vector: Vector = output[0].astype(np.float32)
        if not np.isfinite(vector).all():
            raise ModelError(f"the model {self.spec.name} gives numbers that are not finite: export it again")
        return vector

    def _pooled(self, output: Vector) -> Vector:
        """From [1, tokens, dimensions] to [1, dimensions]."""
        match self.spec.pooling:
            case "cls":
                return output[:, 0]
            case "last":
                return output[:, -1]
            case "max":
                return np.asarray(output.max(axis=1))
            case "graph":
                raise ModelError(
                    f"the graph of {self.spec.name} does not pool, as it should: export pooling and what "
                    "comes after it too, or state `pooling` in its model.toml"
                )
            case _:
                return np.asarray(output.mean(axis=1))

    @abstractmethod
    def _feeds(self, ids: list[int]) -> dict[str, NDArray[Any]]:
        """What the session takes for the ids of one text."""


class _Static(_Onnx):
    """A table of token vectors, summed: each distinct token once, weighted by its count's square root."""

    takes = frozenset({"input_ids", "weights"})

    def _feeds(self, ids: list[int]) -> dict[str, NDArray[Any]]:
        distinct, counts = np.unique(np.array(ids, np.int64), return_counts=True)
        return {"input_ids": distinct[None], "weights": np.sqrt(counts, dtype=np.float32)[None]}

    def pieces(self, texts: Sequence[str], /) -> tuple[list[list[int]], Vector]:
        known: dict[int, int] = {}
        rows = []
        for text in texts:
            ids = dict.fromkeys(self._tokenizer.ids(text, self.spec.limit))
            rows.append([known.setdefault(i, len(known)) for i in ids])
        if not known:
            return rows, np.empty((0, self.spec.dimensions), np.float32)
        feeds: dict[str, NDArray[Any]] = {
            "input_ids": np.array([*known], np.int64)[:, None],
            "weights": np.ones((len(known), 1), np.float32),
        }
        return rows, _unit_rows(self._session.run(self._output, feeds)[0])


def _unit_rows(vectors: NDArray[Any]) -> Vector:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)


class _Transformer(_Onnx):
    """A BERT-like encoder, pooled here or in its graph."""

    takes = frozenset({"input_ids", "attention_mask", "token_type_ids"})

    def __init__(self, spec: ModelSpec, threads: int) -> None:
        self._threads = threads
        super().__init__(spec)

    def embed(self, texts: Sequence[str]) -> Vector:
        if self._threads == 1 or len(texts) < 2:
            return super().embed(texts)
        from concurrent.futures import ThreadPoolExecutor  # which few need, and which takes a while

        with ThreadPoolExecutor(self._threads) as pool:
            return np.stack(list(pool.map(lambda text: self._one(self.spec.document_prefix + text), texts)))

    def _feeds(self, ids: list[int]) -> dict[str, NDArray[Any]]:
        given = {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": [0] * len(ids)}
        return {name: np.array([given[name]], self._types[name]) for name in self._inputs}


class HashEmbedder:
    """No model at all: words hashed to signed dimensions. Deterministic everywhere; for tests."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self._tokenizer = tokenizers.load(spec)

    def embed(self, texts: Sequence[str]) -> Vector:
        return (
            np.stack([self.embed_query(text) for text in texts])
            if texts
            else np.empty((0, self.spec.dimensions), np.float32)
        )

    def pieces(self, _: Sequence[str], /) -> None:
        return None

    def embed_query(self, text: str) -> Vector:
        vector = np.zeros(self.spec.dimensions, np.float32)
        for token in self._tokenizer.ids(text, self.spec.limit):
            digest = int.from_bytes(hashlib.blake2b(str(token).encode(), digest_size=8).digest(), "little")
            vector[(digest >> 1) % self.spec.dimensions] += 1.0 if digest & 1 else -1.0
        norm = float(np.linalg.norm(vector))
        if norm == 0:  # all cancelled out
            vector[0] = norm = 1.0
        return vector / np.float32(norm)


def _runtime() -> Any:
    """onnxruntime, which from 1.29 on reports to its makers over the network unless it is told not to before
    it is loaded, and keeps a file about that in the user's cache."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    return onnxruntime


def _session(spec: ModelSpec) -> Any:
    ort = _runtime()
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    # An arena keeps the largest text's buffers for good, and a pattern per input shape.
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    options.log_severity_level = 4
    if not os.path.isfile(spec.onnx):
        raise ModelError(f"the model file {spec.onnx} is gone: install the model again")
    try:
        return ort.InferenceSession(spec.onnx, options, providers=["CPUExecutionProvider"])
    except _failures() as error:
        raise ModelError(
            f"the model file {spec.onnx} is damaged or not for this onnxruntime ({_first_line(error)})"
        ) from error


def _failures() -> tuple[type[Exception], ...]:
    """What onnxruntime raises of a graph that it cannot load or run."""
    state = _runtime().capi.onnxruntime_pybind11_state

    return (
        *(state.Fail, state.InvalidProtobuf, state.InvalidGraph, state.InvalidArgument, state.NoSuchFile),
        *(state.NotImplemented, state.RuntimeException),
    )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
