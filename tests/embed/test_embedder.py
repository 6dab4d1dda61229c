from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import transformer

from ckvd.embed import embedder, registry
from ckvd.embed.embedder import Embedder

TEXTS = [
    "def evict(self): self._items.popitem()",
    "",
    "()",
    "Read a file and return its lines.",
    "getHTTPResponseCode " * 700,
    "class Cache:\n    limit = 3\n",
    "naïve Größe 中文",
]


@pytest.fixture(scope="module", params=["static", "hash", "transformer", "pooled"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    if request.param == "static":
        return embedder.load(registry.resolve(registry.DEFAULT))
    if request.param == "hash":
        return embedder.load(registry.resolve("hash"))
    folder = transformer(tmp_path_factory.mktemp("m"), pooled=request.param == "pooled")
    return embedder.load(registry.resolve(str(folder)))


def test_vectors_are_float32_of_unit_length_also_for_empty_text(model: Embedder) -> None:
    vectors = model.embed(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), model.spec.dimensions)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert model.embed([]).shape == (0, model.spec.dimensions)


@settings(max_examples=30, deadline=None)
@given(order=st.permutations(range(len(TEXTS))), size=st.integers(1, len(TEXTS)))
def test_a_vector_depends_on_its_own_text_alone(model: Embedder, order: list[int], size: int) -> None:
    alone = np.concatenate([model.embed([t]) for t in TEXTS])
    together = model.embed([TEXTS[i] for i in order[:size]])
    assert together.tobytes() == alone[order[:size]].tobytes()


def test_text_beyond_the_limit_is_left_out(model: Embedder) -> None:
    limit = model.spec.limit
    assert (model.embed(["cache " * limit + "read"]) == model.embed(["cache " * limit + "write"])).all()


@pytest.mark.parametrize("threads", [2, 4])
def test_the_number_of_threads_changes_no_bit(tmp_path: Path, threads: int) -> None:
    for spec in (registry.resolve(registry.DEFAULT), registry.resolve(str(transformer(tmp_path / "m")))):
        one, many = embedder.load(spec), embedder.load(spec, threads)
        assert one.embed(TEXTS).tobytes() == many.embed(TEXTS).tobytes()


def test_meaning_is_found_by_the_shipped_model() -> None:
    model = embedder.load(registry.resolve(registry.DEFAULT))
    documents = model.embed(
        [
            "def evict(self):\n    self._items.popitem(last=False)",
            "def connect(host, port):\n    return socket.create_connection((host, port))",
            "def parse_yaml(text):\n    return yaml.safe_load(text)",
        ]
    )
    for query, best in [
        ("open a TCP connection", 1),
        ("load configuration", 2),
        ("drop the oldest cache entry", 0),
    ]:
        assert (documents @ model.embed_query(query)).argmax() == best


def test_query_and_document_prefixes_are_applied(tmp_path: Path) -> None:
    folder = transformer(tmp_path / "m")
    plain = embedder.load(registry.resolve(str(folder)))
    (folder / "model.toml").write_text('query_prefix = "the "\ndocument_prefix = "a "')
    prefixed = embedder.load(registry.resolve(str(folder)))
    assert (prefixed.embed_query("file") == plain.embed_query("the file")).all()
    assert (prefixed.embed(["file"])[0] == plain.embed_query("a file")).all()


def test_cls_pooling_takes_the_first_token(tmp_path: Path) -> None:
    folder = transformer(tmp_path / "m")
    mean = embedder.load(registry.resolve(str(folder))).embed(["read file"])
    (folder / "model.toml").write_text('pooling = "cls"')
    cls = embedder.load(registry.resolve(str(folder))).embed(["read file"])
    assert not np.allclose(mean, cls)


def test_hash_vectors_are_fixed_for_all_time() -> None:
    vector = embedder.load(registry.resolve("hash")).embed_query("cache")
    assert [(i, vector[i]) for i in np.flatnonzero(vector)] == [(19, -1.0)]


WATCHED = """
import os
from ckvd.embed import embedder, registry
import numpy  # brings threads of its own
before = set(os.listdir("/proc/self/task"))
embedder.load(registry.resolve(registry.DEFAULT)).embed(["a text"])
print(len(set(os.listdir("/proc/self/task")) - before))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_a_model_at_work_starts_no_thread_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """onnxruntime's reports to its makers do both, before they open a connection."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "ORT_"))} | {
        "HOME": str(tmp_path)
    }
    done = subprocess.run(
        [sys.executable, "-c", WATCHED], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "0\n"
    assert [*tmp_path.rglob("*")] == []
