from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from tiny_models import transformer

from ckvd.embed import embedder, registry, tokenizer
from ckvd.errors import ModelError


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    shutil.copytree(Path(registry.SHIPPED) / registry.DEFAULT, folder)
    return folder


def test_the_shipped_model_is_whole_and_says_where_it_comes_from() -> None:
    spec = registry.resolve(registry.DEFAULT)
    registry.verify(spec)
    assert (spec.kind, spec.dimensions, spec.limit, spec.ceiling) == ("static", 256, 512, None)
    assert "Apache-2.0" in (Path(registry.SHIPPED) / registry.DEFAULT / "model.toml").read_text()


def test_hash_and_none_count_with_the_shipped_tokenizer_so_that_switching_recuts_nothing() -> None:
    shipped = registry.resolve(registry.DEFAULT)
    for name in ("hash", "none"):
        spec = registry.resolve(name)
        assert (spec.tokenizer_key, spec.limit, spec.embed_header) == (
            shipped.tokenizer_key,
            shipped.limit,
            shipped.embed_header,
        )
        registry.verify(spec)


def test_what_hugging_face_puts_beside_a_model_is_read(tmp_path: Path) -> None:
    folder = transformer(tmp_path / "bge")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps(
            {
                "word_embedding_dimension": 16,
                "pooling_mode_cls_token": True,
                "pooling_mode_mean_tokens": False,
            }
        )
    )
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 24}')
    prompts = {"prompts": {"query": "query: ", "document": "passage: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    spec = registry.resolve("bge", base=str(tmp_path))
    assert (spec.name, spec.kind, spec.pooling, spec.limit, spec.ceiling) == (
        "bge",
        "transformer",
        "cls",
        24,
        32,
    )
    assert (spec.query_prefix, spec.document_prefix) == ("query: ", "passage: ")


def test_model_toml_overrides_what_the_other_files_say(tmp_path: Path) -> None:
    folder = transformer(tmp_path / "m")
    (folder / "model.toml").write_text('pooling = "cls"\nlimit = 20\nembed_header = true\n')
    spec = registry.resolve(str(folder))
    assert (spec.pooling, spec.limit, spec.dimensions, spec.embed_header) == ("cls", 20, 16, True)


def test_an_onnx_folder_beside_the_tokenizer_is_found(tmp_path: Path) -> None:
    folder = transformer(tmp_path / "m")
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert embedder.load(registry.resolve(str(folder))).embed(["file"]).shape == (1, 16)


def test_a_folder_is_shown_as_plainly_as_it_can_be(tmp_path: Path) -> None:
    folder = transformer(tmp_path / "m")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=re.escape(f"the model folder {folder} has no tokenizer")):
        registry.resolve("./m/.", base=str(tmp_path))


def test_added_models_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    transformer(Path(registry.added_folder()) / "mine")
    assert registry.names() == (registry.DEFAULT, "mine", "hash", "none")
    assert registry.resolve("mine").name == "mine"


def test_a_limit_above_what_the_model_takes_is_refused(tmp_path: Path) -> None:
    spec = registry.resolve(str(transformer(tmp_path / "m")))
    assert spec.with_limit(0) is spec
    assert spec.with_limit(16).limit == 16
    with pytest.raises(ModelError, match="at most 32"):
        spec.with_limit(33)
    assert registry.resolve(registry.DEFAULT).with_limit(100_000).limit == 100_000


class TestIdentity:
    """Vectors of different models, limits, pooling, prefixes or files never share a space."""

    def test_another_model_of_equal_dimensions_differs(self, tmp_path: Path) -> None:
        one, other = (registry.resolve(str(transformer(tmp_path / str(s) / "m", seed=s))) for s in (1, 2))
        assert one.name == other.name
        assert one.dimensions == other.dimensions
        assert one.identity != other.identity

    def test_the_same_files_elsewhere_are_the_same_model(self, tmp_path: Path) -> None:
        one = registry.resolve(str(transformer(tmp_path / "a" / "m")))
        shutil.copytree(tmp_path / "a", tmp_path / "b")
        assert registry.resolve(str(tmp_path / "b" / "m")).identity == one.identity

    @pytest.mark.parametrize(
        "setting",
        [
            "limit = 16",
            'pooling = "cls"',
            'query_prefix = "q: "',
            'document_prefix = "d: "',
            "split = '[a-z]+'",
        ],
    )
    def test_each_setting_that_changes_vectors_changes_it(self, tmp_path: Path, setting: str) -> None:
        folder = transformer(tmp_path / "m")
        before = registry.resolve(str(folder))
        (folder / "model.toml").write_text(setting)
        after = registry.resolve(str(folder))
        assert after.identity != before.identity
        assert after.tokenizer == before.tokenizer

    def test_limit_from_the_configuration_changes_it(self) -> None:
        spec = registry.resolve(registry.DEFAULT)
        assert spec.with_limit(256).identity != spec.identity

    def test_it_names_the_model_and_its_dimensions(self) -> None:
        assert registry.resolve(registry.DEFAULT).identity.startswith("static-code-256 256d ")
        assert registry.resolve("none").identity == "none"


class TestDamage:
    """Every fault is one plain sentence that names the file and the remedy."""

    def test_unknown_name(self) -> None:
        with pytest.raises(
            ModelError, match="no embedding model 'nope': name one of static-code-256, hash, none"
        ):
            registry.resolve("nope")

    @pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
    def test_missing_file(self, shipped: Path, missing: str) -> None:
        (shipped / missing).unlink()
        with pytest.raises(ModelError, match=f"has no {missing}"):
            registry.resolve(str(shipped))

    @pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
    def test_truncated_file_of_a_stated_size(self, shipped: Path, name: str) -> None:
        data = (shipped / name).read_bytes()
        (shipped / name).write_bytes(data[: len(data) // 2])
        with pytest.raises(ModelError, match="is damaged"):
            registry.resolve(str(shipped))

    def test_changed_bytes_of_the_right_size(self, shipped: Path) -> None:
        data = bytearray((shipped / "model.onnx").read_bytes())
        data[5_000_000] ^= 1
        (shipped / "model.onnx").write_bytes(data)
        spec = registry.resolve(str(shipped))
        with pytest.raises(ModelError, match="SHA-256"):
            embedder.load(spec, verify=True)

    def test_truncated_onnx_of_a_folder(self, tmp_path: Path) -> None:
        folder = transformer(tmp_path / "m")
        data = (folder / "model.onnx").read_bytes()
        (folder / "model.onnx").write_bytes(data[: len(data) // 2])
        with pytest.raises(ModelError, match="damaged or not for this onnxruntime"):
            embedder.load(registry.resolve(str(folder)))

    @pytest.mark.parametrize("data", [b'{"version": "1.0", "tru', b"\xff\xfe", b"{}"])
    def test_damaged_tokenizer_of_a_folder(self, tmp_path: Path, data: bytes) -> None:
        folder = transformer(tmp_path / "m")
        (folder / "tokenizer.json").write_bytes(data)
        with pytest.raises(ModelError, match=r"tokenizer\.json is damaged"):
            tokenizer.load(registry.resolve(str(folder)))

    @pytest.mark.parametrize(
        ("toml", "message"),
        [
            ("kind = 'rnn'\ndimensions = 8\nlimit = 8", "kind is 'rnn'"),
            ("pooling = 'median'", "pools by 'median'"),
            ("split = '['", "not a regular expression"),
            ("limit = 'all'", "does not say its limit"),
            ("limit = ", "is damaged"),
        ],
    )
    def test_bad_model_toml(self, tmp_path: Path, toml: str, message: str) -> None:
        folder = transformer(tmp_path / "m")
        (folder / "model.toml").write_text(toml)
        with pytest.raises(ModelError, match=message):
            registry.resolve(str(folder))

    def test_dimensions_unknown(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match="does not say its dimensions: state"):
            registry.resolve(str(transformer(tmp_path / "m", config={"max_position_embeddings": 8})))

    def test_dimensions_other_than_stated(self, tmp_path: Path) -> None:
        folder = transformer(
            tmp_path / "m", dimensions=16, config={"hidden_size": 24, "max_position_embeddings": 8}
        )
        with pytest.raises(ModelError, match="gives 16 dimensions, not 24"):
            embedder.load(registry.resolve(str(folder)))

    def test_dimensions_without_whole_bytes_of_bits(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match="multiple of 8"):
            embedder.load(registry.resolve(str(transformer(tmp_path / "m", dimensions=12))))

    def test_inputs_that_ckvd_cannot_give(self, tmp_path: Path) -> None:
        folder = transformer(tmp_path / "m", inputs=("input_ids", "bbox"))
        with pytest.raises(ModelError, match="takes the inputs bbox, input_ids"):
            embedder.load(registry.resolve(str(folder)))

    def test_none_has_no_vectors(self) -> None:
        spec = registry.resolve("none")
        assert not spec.has_vectors
        with pytest.raises(ModelError, match="search by keyword"):
            embedder.load(spec)
