"""Whatever happens to a store, it is sound after each step and equals one built from nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from made_files import Class, Function, result, skipped
from store_support import dump, embed, faults, put

from ckvd.model import FileResult, Verdict
from ckvd.store.writer import Trust, Writer, open_writer

PATHS = (b"a.py", b"b.py", b"d/a.py", b"\xff.py")
FUNCTIONS = st.builds(
    Function, st.sampled_from(["f", "getHTTPCode", "g_h"]), st.sampled_from(["1", "22", "é"])
)
CLASSES = st.builds(
    Class,
    st.sampled_from(["K", "HTTPPool"]),
    st.lists(FUNCTIONS, max_size=3).map(tuple),
    st.sampled_from(["One.", "Two is longer."]),
)
VERDICTS = st.sampled_from(
    [Verdict("symbol", "ok"), Verdict("symbol", "partial", "syntax-errors", "l. 1", 1, 3)]
)
CUT = st.builds(
    lambda path, parts, verdict, prefix: result(path, *parts, verdict=verdict, prefix=prefix),
    st.sampled_from(PATHS),
    st.lists(FUNCTIONS | CLASSES, max_size=5),
    VERDICTS,
    st.sampled_from("pq"),
)
FILES = CUT | st.builds(skipped, st.sampled_from(PATHS), st.sampled_from(["binary", "unreadable"]))
MODELS = {"a 8d": ("a", 8), "b 8d": ("b", 8), None: ("none", 0)}


class Store(RuleBasedStateMachine):
    """A store beside the plain dictionary of what should be in it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.db = Path(self.folder.name) / "index.db"
        self.files: dict[bytes, FileResult] = {}
        self.model: str | None = None
        self.writer = open_writer(str(self.db))
        self.writer.set_model(None)

    def teardown(self) -> None:
        self._equals_a_fresh_one()
        self.writer.close()
        self.folder.cleanup()

    @rule(files=st.lists(FILES, min_size=1, max_size=3, unique_by=lambda f: f.path), data=st.data())
    def one_pass(self, files: list[FileResult], data: st.DataObject) -> None:
        there = sorted(self.files.keys() - {f.path for f in files})
        gone = data.draw(st.lists(st.sampled_from(there), unique=True, max_size=2)) if there else []
        before, rows = self.writer.revision, dump(self.db)
        revision = put(self.writer, *files, gone=gone)
        self.files = {p: f for p, f in self.files.items() if p not in gone} | {f.path: f for f in files}
        # One more if and only if some row is another one.
        if revision is None:
            assert self.writer.revision == before
            assert dump(self.db) == rows
        else:
            assert revision == self.writer.revision == before + 1

    @precondition(lambda self: self.files)
    @rule()
    def the_same_again(self) -> None:
        assert put(self.writer, *self.files.values()) is None

    @rule(most=st.integers(1, 5) | st.just(1 << 30))
    def some_vectors(self, most: int) -> None:
        if self.model is not None:
            embed(self.writer, self.model, most)

    @rule(model=st.sampled_from(list(MODELS)))
    def another_model(self, model: str | None) -> None:
        self.model = model
        self.writer.set_model(model, *MODELS[model])

    @rule()
    def upkeep(self) -> None:
        assert self.writer.maintain() is None

    @rule(trust=st.sampled_from([Trust.FULL, Trust.CHECKED]))
    def reopen(self, trust: Trust) -> None:
        self.writer.close()
        self.writer = open_writer(str(self.db), trust)
        self.writer.set_model(self.model, *MODELS[self.model])
        assert set(self.writer.files()) == set(self.files)

    @invariant()
    def sound(self) -> None:
        assert faults(self.db) == []

    def _equals_a_fresh_one(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            fresh = Path(folder) / "index.db"
            with open_writer(str(fresh)) as other:
                _build(other, self.model, self.files)
                want = dump(fresh)
        have = dump(self.db)
        if self.writer.pending():
            for rows in (want, have):
                del rows["vectors"]
                rows["chunks"] = [row[:-2] + row[-1:] for row in rows["chunks"]]  # without `embedded`
        assert have == want


def _build(writer: Writer, model: str | None, files: dict[bytes, FileResult]) -> None:
    writer.set_model(model, *MODELS[model])
    put(writer, *files.values())
    if model is not None:
        embed(writer, model)


TestStore = Store.TestCase
TestStore.settings = settings(max_examples=12, stateful_step_count=12, deadline=None)
