"""Retrieval on repositories: documentation → code without it, and commit subject → the code that it changed.

usage: retrieval_bench.py [--most N] [--commits] REPOSITORY ...

Prints MRR@10 and recall@10 of each mode for each repository, and the share of queries with a test, a class, a
section or other prose above the answer, then the mean over repositories. The weights in
`ckvd/rank.py` were chosen on such queries over boltons, httpcore, jackson-core, logrus, mobx, mux, paramiko,
serde-json, tenacity, viper, websockets and zod.
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from statistics import fmean

from ckvd.place import place
from ckvd.rank import Mode
from ckvd.report.evaluate import Evaluation
from ckvd.report.labelled import on_commits, on_docstrings
from ckvd.session import index_once

MODES: tuple[Mode, ...] = ("hybrid", "keyword", "vector")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("repositories", nargs="+")
    parser.add_argument("--most", type=int, default=150, help="queries a repository (default: 150)")
    parser.add_argument("--commits", action="store_true", help="commit subjects too; needs the history")
    given = parser.parse_args()
    means: dict[tuple[str, Mode], list[float]] = defaultdict(list)
    for repository in given.repositories:
        where = place(repository, None)
        index_once(where)
        tasks = {"docstrings": on_docstrings(where, MODES, given.most)}
        if given.commits:
            tasks["commits"] = on_commits(where, MODES, given.most)
        for task, found in tasks.items():
            _show(os.path.basename(where.root), task, found, means)
    for (task, mode), values in means.items():
        print(f"{'mean':<14} {task:<10} {mode:<8} {len(values):>4} repositories  MRR@10 {fmean(values):.3f}")


def _show(name: str, task: str, found: Evaluation, means: dict[tuple[str, Mode], list[float]]) -> None:
    for group in found.groups:
        if group.unit == "all" and group.queries:
            mrr, recall = group.figures["mrr@10"], group.figures["recall@10"]
            means[task, group.mode].append(mrr.mean)
            above = ", ".join(f"{kind} {share:.2f}" for kind, share in group.above.items())
            print(
                f"{name:<14} {task:<10} {group.mode:<8} {group.queries:>4} queries  MRR@10 {mrr.mean:.3f}"
                f" [{mrr.low:.3f}, {mrr.high:.3f}]  recall@10 {recall.mean:.3f}  severed {group.severed}"
                f"  above: {above}",
                flush=True,
            )


if __name__ == "__main__":
    main()
