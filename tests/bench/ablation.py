"""What each part of the embedded text is worth: docstring to code, with the docstrings cut out.

usage: ablation.py [--most N] FOLDER ...

Each folder is a package's source, of one that the embedding model was not trained on. A copy without its
documentation is indexed once for each variant, by a `ckv.yaml` of its own, and asked for functions by the
first sentence of theirs. Two figures, MRR@10: of the function's own chunk, and of any chunk that holds it
whole, as a class does. Intervals are 95 % by a bootstrap over queries; differences are of the same queries,
so that theirs are much narrower than those of the figures.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest import mock

from ckvd import rank
from ckvd.hit import Hit
from ckvd.index import Index
from ckvd.place import place
from ckvd.rank import Mode
from ckvd.report.evaluate import DEPTH, Case, score, truths
from ckvd.report.labelled import without_docs
from ckvd.session import index_once
from ckvd.store.reader import open_reader

MODES: tuple[Mode, ...] = ("vector", "hybrid")
RESAMPLES = 2000


@dataclass(frozen=True)
class Variant:
    """`ckv.yaml` in short. Without `coarse`, classes are taken out before ranking."""

    name: str
    prefix: str = "contextual"
    header: bool = False
    limit: int = 512
    coarse: bool = True

    @property
    def configuration(self) -> str:
        embedding = f"embedding:\n  prefix: {self.prefix}\n  header: {str(self.header).lower()}\n"
        return f"{embedding}chunking:\n  max_input_tokens: {self.limit}\n"


BASE = Variant("body and prefix line")
VARIANTS = (
    BASE,
    Variant("body alone", prefix="raw"),
    Variant("body and header", prefix="raw", header=True),
    Variant("body, header and prefix line", header=True),
    Variant("body and prefix line, no coarse units", coarse=False),
    Variant("body and prefix line, limit 256", limit=256),
    Variant("body and prefix line, limit 1,024", limit=1024),
    Variant("body and prefix line, limit 2,048", limit=2048),
)


@dataclass
class Ranks:
    """Reciprocal ranks, 0 of a miss, one a query: of the own chunk, and of any that holds the function."""

    own: list[float] = field(default_factory=list)
    holding: list[float] = field(default_factory=list)


Results = dict[tuple[Variant, Mode], Ranks]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=100, help="queries a package (default: 100)")
    given = parser.parse_args()
    results: Results = {(v, mode): Ranks() for v in VARIANTS for mode in MODES}
    for folder in given.folders:
        queries = measure(folder, given.most, results)
        print(f"{folder.name}: {queries} queries", flush=True)
    for line in table(results):
        print(line)


def measure(source: Path, most: int, results: Results) -> int:
    """Adds the ranks of one package to `results`; the number of its queries."""
    with tempfile.TemporaryDirectory(prefix="ckvd-bench-") as scratch:
        whole = place(str(source), f"{scratch}/whole.db")
        index_once(whole)
        tree = Path(scratch) / "tree"
        cases = without_docs(whole, str(tree), most)
        made = None
        for variant in VARIANTS:
            if variant.configuration != made:
                (tree / "ckv.yaml").write_text(variant.configuration)
                index_once(place(str(tree), None))
                made = variant.configuration
            with nullcontext() if variant.coarse else without_coarse():
                asked = ask(tree, cases, variant, results)
    return asked


def ask(tree: Path, cases: Sequence[Case], variant: Variant, results: Results) -> int:
    where = place(str(tree), None)
    asked = 0
    with Index(tree) as index, open_reader(where.db) as reader:
        for case in cases:
            right = truths(reader, case)
            if not right:
                continue
            asked += 1
            for mode in MODES:
                hits = index.search(case.query, DEPTH, mode).hits
                ranks = score(case, right, hits).ranks
                results[variant, mode].holding.append(1 / ranks[0] if ranks else 0.0)
                results[variant, mode].own.append(own(case, hits))
    return asked


def own(case: Case, hits: Sequence[Hit]) -> float:
    """The reciprocal rank of the first hit that is an answer's own chunk, or a part of it."""
    answers = {(answer["path"], answer["symbol"]) for answer in case.answers}
    return next((1 / n for n, hit in enumerate(hits, 1) if (hit.path, hit.symbol) in answers), 0.0)


@contextmanager
def without_coarse() -> Iterator[None]:
    order = rank.order

    def fine(query: Any, candidates: Any, bm25: Any, cosine: Any, named: Any, mode: Mode, close: Any) -> Any:
        kept = [c for c in candidates if c.grain == "fine"]
        ids = {c.id for c in kept}
        bm25, cosine, named, close = (
            {k: v for k, v in of.items() if k in ids} for of in (bm25, cosine, named, close)
        )
        return order(query, kept, bm25, cosine, named, mode, close)

    with mock.patch.object(rank, "order", fine):
        yield


def table(results: Results) -> Iterator[str]:
    """A Markdown table for each mode."""
    for mode in MODES:
        base = results[BASE, mode]
        yield f"\n{mode}, {len(base.own)} queries\n"
        yield "| embedded text | own chunk | difference | a chunk that holds it | difference |"
        yield "| --- | --- | --- | --- | --- |"
        for variant in VARIANTS:
            found = results[variant, mode]
            cells = []
            for of, against in ((found.own, base.own), (found.holding, base.holding)):
                cells.append(interval(of, "{:.3f}"))
                paired = [a - b for a, b in zip(of, against, strict=True)]
                cells.append("" if variant is BASE else interval(paired, "{:+.3f}"))
            yield f"| {variant.name} | {' | '.join(cells)} |"


def interval(values: Sequence[float], form: str) -> str:
    """The mean and the ends of its 95 % interval, by a percentile bootstrap of fixed seed."""
    chance = random.Random(0)
    means = sorted(fmean(chance.choices(values, k=len(values))) for _ in range(RESAMPLES))
    show: Callable[[float], str] = form.format
    low, high = means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES) - 1]
    return f"{show(fmean(values))} [{show(low)}, {show(high)}]"


if __name__ == "__main__":
    main()
