"""README's table of retrieval: several searches on the same questions with the same right answers.

    python tests/bench/compare.py [--most N] [--commits REPOSITORY ...] [--encoder FOLDER] [--semble PYTHON]
        [--save FILE] [--add FILE ...] [FOLDER ...]

The worktree of every FOLDER is asked, once, for its functions by the first sentence of their documentation,
which is cut out of the copy that is indexed; every REPOSITORY for the functions that a commit changed, by
its subject, in the tree of its parent. Tests are left out of all trees. What was found is saved after each
tree and added to what other runs have, so that several processors share the work. The searches:

- FTS5's own bm25 over the same chunks, each word of the query, no weights; ckvd's search by words
- the shipped vectors alone; hybrid; hybrid with the header in the embedded text
- --encoder: the vectors of another model in a folder, such as MiniLM's
- --semble: the package of that name in the environment of that Python, on the shipped model as model2vec
  holds one (its own default is fetched from the net when it runs)

Intervals are 95 %, by a bootstrap over queries; the last column is the difference to FTS5 over the same ones.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, cast

import apsw

from ckvd.hit import Hit
from ckvd.index import Index
from ckvd.indexer import Indexer
from ckvd.place import place
from ckvd.rank import Mode, is_test
from ckvd.report.evaluate import DEPTH, Case, Truth, score, truths
from ckvd.report.labelled import at_commits, without_docs
from ckvd.session import index_once, indexing
from ckvd.store.reader import open_reader

RESAMPLES = 2000
FTS5 = "FTS5's bm25 alone"
TASKS = ("docstrings", "commits")

Search = Callable[[str], Sequence[Hit]]
Ranks = dict[tuple[str, str], list[float]]
"""By task and name of the search, the reciprocal rank of each query, 0 for a miss."""


@dataclass(frozen=True)
class Found:
    """As much of a hit as judging needs."""

    path: str
    start_line: int
    end_line: int
    rendering: str = "source"
    unit: str = "symbol"
    grain: str = "fine"


@dataclass(frozen=True)
class Variant:
    """An index beside the tree's own: `embedding` of ckv.yaml, and how it is asked."""

    name: str
    embedding: str
    mode: Mode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--commits", nargs="*", type=Path, default=[], metavar="REPOSITORY")
    parser.add_argument("--most", type=int, default=60, help="queries of a folder, commits looked at")
    parser.add_argument("--save", type=Path, help="where to write the ranks that were found")
    parser.add_argument("--add", nargs="*", type=Path, default=[], help="ranks that other runs saved")
    parser.add_argument("--encoder", type=Path, help="folder of another model")
    parser.add_argument("--semble", type=Path, help="a Python that has the package semble")
    given = parser.parse_args()
    variants = [Variant("hybrid, header embedded", "header: true", "hybrid")]
    if given.encoder:
        encoder = given.encoder.resolve()
        variants.append(Variant(f"{encoder.name}, vectors alone", f"model: {encoder}", "vector"))
    ranks: Ranks = defaultdict(list)
    with ExitStack() as stack:
        semble = stack.enter_context(Semble(given.semble)) if given.semble else None
        for folder in dict.fromkeys(Path(place(str(folder), None).root) for folder in given.folders):
            on_docstrings(folder, given.most, variants, semble, ranks)
            report(folder, "docstrings", ranks, given.save)
        for folder in given.commits:
            on_commits(folder, given.most, variants, semble, ranks)
            report(folder, "commits", ranks, given.save)
    for saved in given.add:
        for task, name, found in json.loads(saved.read_text()):
            ranks[task, name] += found
    print("\n".join(table(ranks)))


def report(folder: Path, task: str, ranks: Ranks, save: Path | None) -> None:
    print(f"{folder.name}: {len(ranks[task, FTS5])} queries so far", flush=True)
    if save:
        save.write_text(json.dumps([[*key, found] for key, found in ranks.items()]))


def on_docstrings(
    source: Path, most: int, variants: Sequence[Variant], semble: Semble | None, ranks: Ranks
) -> None:
    with tempfile.TemporaryDirectory(prefix="ckvd-bench-") as scratch:
        whole = place(str(source), f"{scratch}/whole.db")
        tree = f"{scratch}/tree"
        with indexing(whole) as indexer:
            indexer.bring_up_to_date(None)  # its files are wanted, not its vectors
        cases = without_docs(whole, tree, most)
        leave_out_tests(tree)
        (Path(tree) / "ckv.yaml").unlink(missing_ok=True)
        index_once(place(tree, None))
        with Searches(tree, variants, semble) as searches:
            searches.update()
            with open_reader(place(tree, None).db) as reader:
                judged = [(case, truths(reader, case)) for case in cases]
            for case, right in judged:
                if right:
                    searches.ask("docstrings", case, right, ranks)


def on_commits(
    source: Path, most: int, variants: Sequence[Variant], semble: Semble | None, ranks: Ranks
) -> None:
    with tempfile.TemporaryDirectory(prefix="ckvd-bench-") as scratch:
        tree = f"{scratch}/tree"
        searches: Searches | None = None
        try:
            for case, right in at_commits(place(str(source), None), tree, most, leave_out_tests):
                if searches is None:
                    searches = Searches(tree, variants, semble)
                searches.update()
                searches.ask("commits", case, right, ranks)
        finally:
            if searches is not None:
                searches.close()


def leave_out_tests(tree: str) -> None:
    for folder, _, names in os.walk(tree):
        if ".git" in Path(folder).relative_to(tree).parts:
            continue
        for name in names:
            path = os.path.join(folder, name)
            if is_test(os.path.relpath(path, tree)):
                os.remove(path)


class Searches:
    """All searches over one tree, whose own index is kept up to date by others."""

    def __init__(self, tree: str, variants: Sequence[Variant], semble: Semble | None) -> None:
        self._tree, self._semble = tree, semble
        self._stack = ExitStack()
        self._beside: list[Indexer] = []
        self._searches: dict[str, Search] = {}
        index = self._stack.enter_context(Index(tree))
        self._fts: apsw.Connection | None = None
        self._searches[FTS5] = self._by_fts5
        self._searches["ckvd, words alone"] = _by(index, "keyword")
        self._searches["ckvd, vectors alone"] = _by(index, "vector")
        self._searches["ckvd, hybrid"] = _by(index, "hybrid")
        scratch = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="ckvd-bench-"))
        for n, variant in enumerate(variants):
            where = place(tree, f"{scratch}/{n}.db")
            configuration = Path(tree) / "ckv.yaml"
            configuration.write_text(f"embedding:\n  {variant.embedding}\n")
            indexer = self._stack.enter_context(indexing(where))
            configuration.unlink()
            _bring(indexer)
            beside = self._stack.enter_context(Index(tree, db=where.db))
            self._beside.append(indexer)
            self._searches[variant.name] = _by(beside, variant.mode)
        if semble is not None:
            self._searches["semble on the shipped model"] = semble.search

    def __enter__(self) -> Searches:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._fts is not None:
            self._fts.close()
        self._stack.close()

    def update(self) -> None:
        """Takes the tree as it is now."""
        for indexer in self._beside:
            _bring(indexer)
        if self._fts is not None:
            self._fts.close()
        self._fts = fts5(place(self._tree, None).db)
        if self._semble is not None:
            self._semble.index(self._tree)

    def ask(self, task: str, case: Case, right: Sequence[Truth], ranks: Ranks) -> None:
        for name, search in self._searches.items():
            found = score(case, right, search(case.query)).ranks
            ranks[task, name].append(1 / found[0] if found else 0.0)

    def _by_fts5(self, query: str) -> Sequence[Hit]:
        assert self._fts is not None
        words = dict.fromkeys(word.lower() for word in words_of(query))
        match = " OR ".join(f'"{word}"' for word in words)
        rows = self._fts.execute(
            "SELECT path, first, last, rendering FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
            (match, DEPTH),
        )
        return cast(Sequence[Hit], [Found(*row) for row in rows])


def words_of(query: str) -> list[str]:
    """The runs of letters and digits of a query."""
    return "".join(c if c.isalnum() or c == "_" else " " for c in query).split()


def _bring(indexer: Indexer) -> None:
    indexer.bring_up_to_date(None)
    while indexer.vectors.make(0.5):
        pass


def _by(index: Index, mode: Mode) -> Search:
    return lambda query: index.search(query, DEPTH, mode).hits


def fts5(db: str) -> apsw.Connection:
    """The chunks of an index under plain FTS5, in memory."""
    made = apsw.Connection(":memory:")
    made.execute(
        "CREATE VIRTUAL TABLE words USING"
        " fts5(symbol, path, body, first UNINDEXED, last UNINDEXED, rendering UNINDEXED)"
    )
    with open_reader(db) as reader, made:
        rows = reader.query(
            "SELECT symbol, path, body, start_line, end_line, rendering FROM chunks ORDER BY id"
        )
        made.executemany("INSERT INTO words VALUES(?, ?, ?, ?, ?, ?)", rows)
    return made


class Semble:
    """The other search in a process of its own, by `semble_search.py`."""

    def __init__(self, python: Path) -> None:
        self._python = python

    def __enter__(self) -> Semble:
        program = Path(__file__).with_name("semble_search.py")
        self._process = subprocess.Popen(
            [self._python, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)

    def index(self, tree: str) -> None:
        self._say({"index": tree})

    def search(self, query: str) -> Sequence[Hit]:
        return cast(Sequence[Hit], [Found(*row) for row in self._say({"search": query, "most": DEPTH})])

    def _say(self, request: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        reply = self._process.stdout.readline()
        if not reply:
            sys.exit("semble_search.py ended; see what it said above")
        return json.loads(reply)


def table(ranks: Ranks) -> Iterator[str]:
    """A Markdown table of MRR@10."""
    for task in TASKS:
        if base := ranks.get((task, FTS5)):
            yield f"\n| {task}, {len(base)} queries | MRR@10 | against FTS5 |"
            yield "| --- | --- | --- |"
            for (of, name), found in ranks.items():
                if of == task:
                    against = interval([a - b for a, b in zip(found, base, strict=True)], "{:+.3f}")
                    share = f" ({fmean(found) / fmean(base) - 1:+.0%})" if any(base) else ""
                    last = "" if name == FTS5 else against + share
                    yield f"| {name} | {interval(found, '{:.3f}')} | {last} |"


def interval(values: Sequence[float], form: str) -> str:
    """The mean and the ends of its 95 % interval, by a percentile bootstrap of fixed seed."""
    chance = random.Random(0)
    means = sorted(fmean(chance.choices(values, k=len(values))) for _ in range(RESAMPLES))
    low, high = means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES) - 1]
    return f"{form.format(fmean(values))} [{form.format(low)}, {form.format(high)}]"


if __name__ == "__main__":
    main()
