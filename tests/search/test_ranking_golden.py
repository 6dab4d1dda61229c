"""What a search over a small pinned tree gives, in order, so that a change of weights shows what it moves.

Run this file as a program to write `ranking.txt` anew after a change that is meant.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from search_support import make_index

from ckvd.index import Index
from ckvd.rank import Mode

HERE = Path(__file__).parent
GOLDEN = HERE / "ranking.txt"
MODES: tuple[Mode, ...] = ("keyword", "hybrid")
DEPTH = 4
QUERIES = (
    # names, whole and in part, in any style
    *("_evict_expired", "JobQueue", "evict", "job queue", "ROUND_HALF_EVEN", "std::vector", "getJobStatus"),
    *(
        "get job status",
        "JobQueue.push",
        "sendHeartbeats",
        "x-request-id",
        "C++",
        "jobs/cron.py",
        "RetryPolicy",
    ),
    # what a function does
    *("evict the oldest job when the queue is full", "how long to wait before the next attempt"),
    *("retry with backoff", "next time that a cron expression allows", "round to whole cents"),
    *("poll until a job has finished", "keep telling the server that the worker is alive"),
    *("write a job to the database", 'the "ring buffer" that overwrites', "bring the tables up to date"),
    # what a class is
    *("a priority queue of jobs", "jobs that failed for good", "decides whether to run a failed job again"),
    *("HTTP client of the service", "where jobs are kept across restarts"),
    # prose and tests, where they are asked for
    *("design of heartbeats", "test that expired jobs are evicted", "changelog"),
    # as a ticket puts it
    "heartbeats stop after the connection was lost, so that the jobs of a worker are run twice",
)


def corpus() -> dict[str, str]:
    """The files of `corpus.txt` by their path."""
    parts = (HERE / "corpus.txt").read_text("utf-8").split("==== ")[1:]
    return {path: text.rstrip("\n") + "\n" for path, _, text in (part.partition("\n") for part in parts)}


def ranking(index: Index, query: str) -> str:
    """The first hits of each mode, as the golden file has them."""
    lines = [query]
    for mode in MODES:
        lines.append(f"  {mode}")
        lines += [f"    {hit.chunk_id}" for hit in index.search(query, DEPTH, mode).hits]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def pinned(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("ranking")
    make_index(folder, corpus())
    return Index(folder)


@pytest.mark.parametrize("query", QUERIES)
def test_ranking(pinned: Index, query: str) -> None:
    golden = {part.partition("\n")[0]: part + "\n" for part in GOLDEN.read_text("utf-8").split("\n\n")}
    assert ranking(pinned, query) == golden[query].rstrip("\n") + "\n"


def test_every_golden_is_of_a_query() -> None:
    assert [part.partition("\n")[0] for part in GOLDEN.read_text("utf-8").split("\n\n")] == list(QUERIES)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        make_index(Path(folder), corpus())
        with Index(folder) as index:
            GOLDEN.write_text("\n".join(ranking(index, query) for query in QUERIES), "utf-8")
