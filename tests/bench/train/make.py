"""Makes the model that ships, on the processor alone: half an hour of one core, downloads aside.

    python tests/bench/train/make.py WORK [--from FOLDER] [--steps N] [--processes N]

Needs scipy and onnx beside ckvd, the clients `pip`, `npm` and `apt-get` (with Debian 12's lists) and
`dpkg-deb`. WORK gets the archives, what is mined of each package, and `model` with `model.onnx` and
`tokenizer.json`; what `model.toml` says of these is printed. Archives and what is mined are not made again.

Training goes on from the table of the model in FOLDER, by default the one that ckvd has now, with frequent
words of code as further entries; such a word begins as what its pieces were together. `packages.toml` names
all that is trained on, with licences. What is measured on, in README and for the choice of weights, is not
among them, and files that look like copies of it are passed over.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import fit
import numpy as np
import onnx
import pairs
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

from ckvd.embed import registry

WORDS, SEEN = 8000, 20
"""Words that get an entry of their own at most, and times that each must occur."""
STEPS, BATCH, RATE = 1500, 512, 5e-4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path)
    shipped = Path(registry.SHIPPED) / registry.DEFAULT
    parser.add_argument("--from", dest="start", type=Path, default=shipped, help="where the start lies")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--processes", type=int, default=2, help="for mining (default: 2)")
    given = parser.parse_args()
    pairs.mine(given.work / "archives", given.work / "mined", given.processes)
    table, tokenizer = begin(given.start, given.work / "mined")
    words = Tokenizer.from_str(json.dumps(tokenizer))
    mined = fit.load(given.work / "mined", lambda word: words.encode(word, add_special_tokens=False).ids)
    print(f"{len(mined)} records, of {len(mined.said)} something is said; {len(table)} entries", flush=True)
    trained = fit.train(
        table,
        mined,
        steps=given.steps,
        rate=RATE,
        size=BATCH,
        tell=lambda step, loss, _: print(f"step {step}: loss {loss:.4f}", flush=True),
    )
    write(given.work / "model", trained, tokenizer)


def begin(start: Path, mined: Path) -> tuple[fit.Floats, dict[str, Any]]:
    """The first table [entries, dimensions] and the tokenizer that goes with it."""
    found = {i.name: numpy_helper.to_array(i) for i in onnx.load(start / "model.onnx").graph.initializer}
    table = found["table"].astype(np.float32) * found["scale"].reshape(-1, 1)
    tokenizer = json.loads((start / "tokenizer.json").read_text("utf-8"))
    known = Tokenizer.from_file(str(start / "tokenizer.json"))
    vocabulary = tokenizer["model"]["vocab"]
    rows = [table]
    for word in frequent(mined, vocabulary):
        vocabulary[word] = len(vocabulary)
        rows.append(table[known.encode(word, add_special_tokens=False).ids].sum(axis=0, keepdims=True))
    return np.concatenate(rows), tokenizer


def frequent(mined: Path, vocabulary: dict[str, int]) -> list[str]:
    """The most frequent words that are no entry yet."""
    counts: Counter[str] = Counter()
    for path in sorted(mined.glob("*.npz")):
        found = np.load(path)
        flat = np.concatenate([found[name] for name in ("body", "query", "doc")])
        for word, count in zip(found["words"], np.bincount(flat, minlength=len(found["words"])), strict=True):
            counts[str(word).lower()] += int(count)
    fit_ = (
        word
        for word, count in counts.most_common()
        if count >= SEEN and word not in vocabulary
        if word.isascii() and word.isalpha() and 2 < len(word) <= 24
    )
    return [word for word, _ in zip(fit_, range(WORDS), strict=False)]


def write(target: Path, table: fit.Floats, tokenizer: dict[str, Any]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    onnx.save(graph(table), target / "model.onnx")
    (target / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), "utf-8")
    for name in ("model.onnx", "tokenizer.json"):
        data = (target / name).read_bytes()
        print(f'[files."{name}"]\nbytes = {len(data)}\nsha256 = "{hashlib.sha256(data).hexdigest()}"\n')


def graph(table: fit.Floats) -> onnx.ModelProto:
    """The table as int8 with a scale a row; `input_ids` and `weights` [batch, tokens] to unit vectors."""
    scale = np.abs(table).max(axis=1, keepdims=True) / 127
    codes = np.round(table / np.maximum(scale, 1e-12)).astype(np.int8)
    weights = {
        "table": codes,
        "scale": scale[:, 0].astype(np.float32),
        "middle": np.array([1]),
        "last": np.array([-1]),
        "least": np.float32(1e-12).reshape(()),
    }
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["codes"]),
        helper.make_node("Cast", ["codes"], ["rows"], to=TensorProto.FLOAT),
        helper.make_node("Gather", ["scale", "input_ids"], ["scales"]),
        helper.make_node("Mul", ["scales", "weights"], ["factors"]),
        helper.make_node("Unsqueeze", ["factors", "middle"], ["row"]),
        helper.make_node("MatMul", ["row", "rows"], ["sums"]),
        helper.make_node("Squeeze", ["sums", "middle"], ["sum"]),
        helper.make_node("ReduceL2", ["sum", "last"], ["norm"], keepdims=1),
        helper.make_node("Max", ["norm", "least"], ["length"]),
        helper.make_node("Div", ["sum", "length"], ["embedding"]),
    ]
    shape = ["batch", "tokens"]
    made = helper.make_graph(
        nodes,
        "static",
        [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, shape),
            helper.make_tensor_value_info("weights", TensorProto.FLOAT, shape),
        ],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", table.shape[1]])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    return model


if __name__ == "__main__":
    main()
