"""semble behind lines of JSON, for `compare.py`; run by a Python that has semble, and needs nothing of ckvd.

    {"index": FOLDER}              → true
    {"search": TEXT, "most": N}    → [[path, first line, last line], …]

The model is the one that ckvd ships, written as model2vec holds one: the same table and words, but a text is
the mean over all tokens, where ckvd takes each once, by the square root of its count.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from model2vec import StaticModel
from semble import SembleIndex
from tokenizers import Regex, Tokenizer, normalizers

SHIPPED = Path(__file__).parents[2] / "ckvd" / "embed" / "models"


def main() -> None:
    (folder,) = SHIPPED.iterdir()
    with tempfile.TemporaryDirectory(prefix="ckvd-bench-") as scratch:
        exported(folder).save_pretrained(scratch)
        index: Any = None
        for line in sys.stdin:
            request = json.loads(line)
            if "index" in request:
                index = SembleIndex.from_path(request["index"], model_path=scratch)
                answer: Any = True
            else:
                found = index.search(request["search"], top_k=request["most"])
                answer = [[r.chunk.file_path, r.chunk.start_line, r.chunk.end_line] for r in found]
            print(json.dumps(answer), flush=True)


def exported(folder: Path) -> StaticModel:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    # What ckvd's own splitting does before the tokenizer sees a text: borders inside of compound names.
    borders = normalizers.Replace(Regex(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_"), " ")
    tokenizer.normalizer = normalizers.Sequence([borders, tokenizer.normalizer])
    tokenizer.post_processor = None
    table = weights(folder / "model.onnx")
    for token, row in tokenizer.get_vocab().items():
        if not token.removeprefix("##").isalnum():
            table[row] = 0  # punctuation is no word to ckvd
    return StaticModel(table, tokenizer, normalize=True)


def weights(path: Path) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The table of the ONNX file, read by its own layout: [tokens, dimensions] of int8 and a scale a row."""
    found = {}
    for field, value in _fields(path.read_bytes()):
        if field == 7:  # the graph
            for inner, tensor in _fields(value):
                if inner == 5:  # an initializer: dimensions, name, raw data
                    parts = list(_fields(tensor))
                    name = next(v for f, v in parts if f == 8).decode()
                    found[name] = next((v for f, v in parts if f == 9), b"")
    scale = np.frombuffer(found["scale"], np.float32)
    table = np.frombuffer(found["table"], np.int8).reshape(len(scale), -1)
    return table.astype(np.float32) * scale[:, None]


def _fields(data: bytes) -> Any:
    """Number and content of the length-delimited fields of a protocol buffer."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == 2:
            length, at = _varint(data, at)
            yield key >> 3, data[at : at + length]
            at += length
        elif key & 7 == 0:
            _, at = _varint(data, at)
        else:
            at += 4 if key & 7 == 5 else 8


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


if __name__ == "__main__":
    main()
