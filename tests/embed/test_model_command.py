"""`ckvd model`: list, info, add, use; and what a change of model does to an index."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper
from support import Ckvd, Tree
from tiny_models import WORDS, transformer, wordpiece

from ckvd import cli
from ckvd.embed import collection, embedder, registry
from ckvd.errors import ModelError, UsageError
from ckvd.index import Index

CODE = {"a.py": "def read(file):\n    return file\n", "b.py": "def write(cache):\n    return cache\n"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where added models lie, in this process and in the commands that it starts."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "ckvd" / "models"


def run(*args: str | Path) -> str:
    result = CliRunner().invoke(cli.cli, ["model", *map(str, args)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def sentence_transformer(folder: Path) -> Path:
    """A folder as sentence-transformers saves one: pooling and prompts in files of their own."""
    transformer(folder)
    files: dict[str, Any] = {
        "modules.json": [
            {"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": 16, "pooling_mode_cls_token": True},
        "sentence_bert_config.json": {"max_seq_length": 24},
        "config_sentence_transformers.json": {"prompts": {"query": "read: ", "document": "the "}},
    }
    (folder / "1_Pooling").mkdir()
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    return folder


def int8_transformer(folder: Path) -> Path:
    """As dynamic quantisation writes an encoder: activations are scaled by the largest of the whole batch."""
    folder.mkdir()
    rng = np.random.default_rng(3)
    table = rng.standard_normal((len(WORDS), 16)).astype(np.float32)
    weight = rng.integers(-127, 127, (16, 16)).astype(np.int8)
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("DynamicQuantizeLinear", ["rows"], ["q", "q_scale", "q_zero"]),
        helper.make_node("MatMulInteger", ["q", "weight", "q_zero"], ["product"]),
        helper.make_node("Cast", ["product"], ["whole"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["whole", "q_scale"], ["last_hidden_state"]),
    ]
    ids = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "s"])
        for name in ("input_ids", "attention_mask")
    ]
    out = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["b", "s", 16])
    weights = [numpy_helper.from_array(table, "table"), numpy_helper.from_array(weight, "weight")]
    graph = helper.make_graph(nodes, "int8", ids, [out], weights)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9),
        str(folder / "model.onnx"),
    )
    wordpiece(8).save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text('{"hidden_size": 16, "max_position_embeddings": 32}')
    return folder


class TestAdd:
    def test_what_the_folder_says_is_kept_and_works_without_it(self, tmp_path: Path) -> None:
        folder = sentence_transformer(tmp_path / "bge")
        before = embedder.load(registry.resolve(str(folder))).embed(["file"])
        assert "bge: 16 dimensions, 24 tokens, pooled by cls" in run("add", folder)
        shutil.rmtree(folder)
        spec = registry.resolve("bge")
        assert (spec.query_prefix, spec.document_prefix, spec.pooling) == ("read: ", "the ", "cls")
        registry.verify(spec)
        assert (embedder.load(spec).embed(["file"]) == before).all()

    def test_what_it_does_not_say_is_given(self, tmp_path: Path) -> None:
        folder = transformer(tmp_path / "m", config={"max_position_embeddings": 32})
        with pytest.raises(ModelError, match="does not say its dimensions"):
            collection.add(str(folder), None, {})
        given = ("--dimensions", "16", "--pooling", "max", "--query-prefix", 'a "q": ', "--limit", "20")
        run("add", folder, "--name", "mine", *given)
        spec = registry.resolve("mine")
        assert (spec.dimensions, spec.pooling, spec.query_prefix, spec.limit) == (16, "max", 'a "q": ', 20)

    def test_a_quantised_model_gives_a_text_one_vector_in_any_company(self, tmp_path: Path) -> None:
        model = embedder.load(collection.add(str(int8_transformer(tmp_path / "q")), None, {}))
        texts = ["read file", "cache", "the cache a file ( write )"]
        assert model.embed(texts).tobytes() == b"".join(model.embed([t]).tobytes() for t in texts)

    def test_weights_outside_the_graph_come_along_and_are_part_of_what_it_is(self, tmp_path: Path) -> None:
        folder = transformer(tmp_path / "m")
        whole = onnx.load(str(folder / "model.onnx"))
        onnx.save(
            whole,
            str(folder / "model.onnx"),
            save_as_external_data=True,
            location="model.onnx_data",
            size_threshold=100,
        )
        spec = collection.add(str(folder), None, {})
        assert embedder.load(spec).embed(["file"]).shape == (1, 16)
        data = bytearray((folder / "model.onnx_data").read_bytes())
        data[3] ^= 64
        (folder / "model.onnx_data").write_bytes(data)
        assert registry.resolve(str(folder)).digests != spec.digests

    @pytest.mark.parametrize(
        ("damage", "message"),
        [
            (lambda f: (f / "model.onnx").write_bytes(b"\x08\x09"), "damaged or not for this onnxruntime"),
            (lambda f: (f / "model.onnx").unlink(), "has no model.onnx"),
            (lambda f: (f / "tokenizer.json").write_text("{"), r"tokenizer\.json is damaged"),
            (lambda f: (f / "config.json").write_text('{"hidden_size": 12}'), "does not say its limit"),
            (lambda f: (f / "modules.json").write_text("{}"), "not a list"),
        ],
    )
    def test_what_does_not_work_is_not_added(
        self, tmp_path: Path, home: Path, damage: Any, message: str
    ) -> None:
        folder = transformer(tmp_path / "m")
        damage(folder)
        with pytest.raises(ModelError, match=message) as raised:
            collection.add(str(folder), None, {})
        assert str(home) not in str(raised.value)
        assert os.listdir(home) == []

    def test_a_layer_after_pooling_must_be_in_the_graph(self, tmp_path: Path) -> None:
        dense = [{"idx": 2, "path": "2_Dense", "type": "sentence_transformers.models.Dense"}]
        outside, inside = transformer(tmp_path / "outside"), transformer(tmp_path / "inside", pooled=True)
        for folder in (outside, inside):
            (folder / "modules.json").write_text(json.dumps(dense))
        with pytest.raises(ModelError, match="does not pool"):
            collection.add(str(outside), None, {})
        assert collection.add(str(inside), None, {}).pooling == "graph"

    def test_a_limit_that_the_graph_cannot_take(self, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        transformer(folder)
        model = onnx.load(str(folder / "model.onnx"))
        model.graph.initializer.append(numpy_helper.from_array(np.zeros((8, 16), np.float32), "positions"))
        add = helper.make_node("Add", ["rows", "mean"], ["placed"])
        positions = helper.make_node("Add", ["placed", "positions"], ["last_hidden_state"])
        kept = [n for n in model.graph.node if n.output[0] in ("rows", "mean")]
        del model.graph.node[:]
        model.graph.node.extend([*kept, add, positions])
        onnx.save(model, str(folder / "model.onnx"))
        with pytest.raises(ModelError, match="cannot be run on"):
            collection.add(str(folder), None, {})

    def test_names(self, tmp_path: Path) -> None:
        folder = str(transformer(tmp_path / "m"))
        for name in ("hash", "none", registry.DEFAULT):
            with pytest.raises(UsageError, match="comes with ckvd"):
                collection.add(folder, name, {})
        with pytest.raises(UsageError, match="cannot be called"):
            collection.add(folder, "../x", {})
        collection.add(folder, "mine", {})
        with pytest.raises(UsageError, match="already"):
            collection.add(folder, "mine", {})
        other = collection.add(str(transformer(tmp_path / "n", seed=1)), "mine", {}, replace=True)
        assert registry.resolve("mine").identity == other.identity
        assert registry.names() == (registry.DEFAULT, "mine", "hash", "none")


def test_list_marks_the_tree_s_own_and_shows_what_is_broken(tree: Tree, tmp_path: Path, home: Path) -> None:
    run("add", transformer(tmp_path / "mine"))
    (home / "broken").mkdir()
    tree.write({"ckv.yaml": "embedding:\n  model: mine\n"})
    rows = {row["name"]: row for row in json.loads(run("list", "--root", tree.root, "--json"))}
    assert list(rows) == [registry.DEFAULT, "broken", "mine", "hash", "none"]
    assert [name for name, row in rows.items() if row["used"]] == ["mine"]
    assert "has no model.onnx" in rows["broken"]["problem"]
    assert (rows["mine"]["origin"], rows["mine"]["dimensions"]) == ("added", 16)
    shown = run("list", "--root", tree.root).splitlines()
    assert [line.split()[:2] for line in shown if line.startswith("*")] == [["*", "mine"]]


def test_info_reads_the_hashes_anew(tree: Tree, tmp_path: Path, home: Path) -> None:
    found = json.loads(run("info", "--root", tree.root, "--json"))
    assert (found["name"], found["licence"]) == (registry.DEFAULT, "Apache-2.0")
    assert found["provenance"]["base"]
    assert [len(f["sha256"]) for f in found["files"]] == [64, 64]
    assert "sha256" in run("info", "--root", tree.root)
    run("add", transformer(tmp_path / "mine"))
    data = bytearray((home / "mine" / "model.onnx").read_bytes())
    data[-1] ^= 1
    (home / "mine" / "model.onnx").write_bytes(data)
    with pytest.raises(ModelError, match="SHA-256"):
        collection.info("mine", str(tree.root))


class TestUse:
    def test_the_rest_of_the_configuration_stays(self, tree: Tree, tmp_path: Path) -> None:
        run("add", transformer(tmp_path / "mine"))
        tree.write({"ckv.yaml": "# ours\nwatch:\n  debounce_ms: 5\n"})
        os.chmod(tree.root / "ckv.yaml", 0o640)
        run("use", "mine", "--root", tree.root)
        text = (tree.root / "ckv.yaml").read_text()
        assert text == "# ours\nwatch:\n  debounce_ms: 5\nembedding:\n  model: mine\n"
        assert (tree.root / "ckv.yaml").stat().st_mode & 0o777 == 0o640
        assert sorted(os.listdir(tree.root)) == [".git", "ckv.yaml"]

    def test_one_that_does_not_work_leaves_the_tree_as_it_was(self, tree: Tree, home: Path) -> None:
        transformer(home / "torn")
        (home / "torn" / "model.onnx").write_bytes(b"")
        for name in ("torn", "nope"):
            with pytest.raises(ModelError):
                run("use", name, "--root", tree.root)
        assert not (tree.root / "ckv.yaml").exists()

    def test_a_running_daemon_embeds_anew(self, tree: Tree, tmp_path: Path, ckvd: Ckvd) -> None:
        ckvd("model", "add", transformer(tmp_path / "mine"))
        tree.write(CODE)
        with ckvd.daemon(tree.root):
            ckvd("sync", tree.root, "--vectors")
            ckvd("model", "use", "mine", "--root", tree.root)
            ckvd("sync", tree.root, "--vectors")
            assert tree.rows("SELECT value FROM meta WHERE key IN ('model', 'dimensions') ORDER BY key") == [
                (16,),
                ("mine",),
            ]
            found = json.loads(ckvd("embed", "file", "--root", tree.root, "--json").stdout)
            assert (found["model"], found["dimensions"]) == ("mine", 16)

    def test_the_old_vectors_answer_until_the_new_ones_are_in(
        self, tree: Tree, tmp_path: Path, ckvd: Ckvd
    ) -> None:
        """Also where the old model was a folder, which ckv.yaml names no more."""
        long = {"hidden_size": 16, "max_position_embeddings": 128}
        folder = transformer(tmp_path / "elsewhere", config=long)
        tree.write(
            {**CODE, "ckv.yaml": f"embedding:\n  model: {folder}\nchunking:\n  max_input_tokens: 64\n"}
        )
        ckvd("index", tree.root)
        run("use", "hash", "--root", tree.root)
        with Index(tree.root) as index:
            found = index.search("read a file", mode="vector")
        assert found.mode == "vector"
        assert found.hits
        said = json.loads(ckvd("embed", "file", "--root", tree.root, "--json").stdout)
        assert (said["model"], said["dimensions"]) == ("elsewhere", 16)
        shutil.rmtree(folder)
        with Index(tree.root) as index:
            assert index.search("read a file").mode == "keyword"
            with pytest.raises(ModelError, match="; run: ckvd index /"):
                index.search("read a file", mode="vector")
