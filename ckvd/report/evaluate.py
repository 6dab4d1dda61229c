"""Retrieval quality on a labelled set: ranked hits and right answers → figures with their uncertainty.

A labelled set is JSON lines, each `{"query": …, "answers": [answer, …]}`, where an answer is
`{"chunk_id": …}`, `{"path": …, "symbol": …}` or `{"path": …, "lines": [first, last]}`. A hit counts for an
answer if it holds all of its lines, or if the two overlap by an intersection over union of 0.5 at least. One
that overlaps less has severed it, which is told apart from a plain miss. The outline of a large class holds
the class, but no body of its methods.
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ckvd.errors import UsageError
from ckvd.hit import Hit
from ckvd.rank import Mode, is_test
from ckvd.store.reader import Reader

DEPTH = 10
"""Hits looked at for each query."""
MIN_IOU = 0.5
RESAMPLES = 1000
"""Bootstrap samples of the queries behind each interval."""
METRICS = ("recall@1", "recall@5", "recall@10", "mrr@10", "ndcg@10")

Verdict = Literal["whole", "severed", "apart"]
Search = Callable[[str, Mode], Sequence[Hit]]
"""The first hits for a query, `DEPTH` of them at most."""


class Span(NamedTuple):
    """Lines `first`..`last` of a file, both included."""

    path: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Case:
    """A query and its right answers, each as the set has it."""

    query: str
    answers: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Truth:
    """Where a right answer lies, and the unit of the chunk that it is."""

    span: Span
    unit: str


@dataclass(frozen=True, slots=True)
class Score:
    """One query's result. `ranks` are those of the hits that count, from 1, one an answer found; `above` are
    the kinds of hit, as `prose` has them, that stand above the first of those."""

    query: str
    unit: str
    answers: int
    ranks: tuple[int, ...]
    severed: bool
    above: frozenset[str] = frozenset()

    def metrics(self) -> tuple[float, ...]:
        """In the order of METRICS. NDCG has gain 1 an answer (Järvelin and Kekäläinen, 2002)."""
        recalls = [sum(r <= k for r in self.ranks) / self.answers for k in (1, 5, 10)]
        gain = sum(1 / math.log2(r + 1) for r in self.ranks)
        ideal = sum(1 / math.log2(i + 2) for i in range(min(self.answers, DEPTH)))
        return *recalls, (1 / self.ranks[0] if self.ranks else 0.0), gain / ideal


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over queries and its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Group:
    """The queries of one mode, all of them or those whose answer is of one unit. `above` is the share of them
    that have a hit of some kind, as `prose` has them, above the answer, or no answer among the first hits."""

    mode: Mode
    unit: str
    queries: int
    severed: int
    figures: Mapping[str, Figure]
    above: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """`missing` are the queries left out because no answer of theirs is in the index."""

    groups: tuple[Group, ...]
    missing: tuple[str, ...]


def read_set(text: str) -> list[Case]:
    """The cases of a labelled set; UsageError names the line that is not one."""
    cases = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise UsageError(f"line {number} of the set is not JSON ({error})") from error
        answers = row.get("answers") if isinstance(row, dict) else None
        query = row.get("query") if isinstance(row, dict) else None
        if not (isinstance(query, str) and query.strip() and isinstance(answers, list) and answers):
            raise UsageError(f"line {number} of the set must have a query and a list of answers")
        if not all(map(_is_answer, answers)):
            raise UsageError(
                f"line {number} of the set: an answer has chunk_id, or path and symbol, or path and lines"
            )
        cases.append(Case(query, tuple(answers)))
    if not cases:
        raise UsageError("the set is empty; give lines of JSON with a query and its answers")
    return cases


def write_set(cases: Iterable[Case]) -> str:
    """The text that `read_set` reads."""
    rows = ({"query": c.query, "answers": list(c.answers)} for c in cases)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def truths(reader: Reader, case: Case) -> tuple[Truth, ...]:
    """Where the answers of a case lie in an index; what it does not have is left out."""
    return tuple(dict.fromkeys(t for answer in case.answers for t in _locate(reader, answer)))


def score(case: Case, right: Sequence[Truth], hits: Sequence[Hit]) -> Score:
    """Judges the first `DEPTH` hits; each answer is found once, by the first hit that counts for it."""
    left = list(right)
    ranks, severed, above = [], False, set()
    for rank, hit in enumerate(hits[:DEPTH], 1):
        span = Span(hit.path, hit.start_line, hit.end_line)
        outline = hit.rendering == "outline"
        verdicts = {t: judge(span, t.span, outline=outline) for t in left}
        found = [t for t, verdict in verdicts.items() if verdict == "whole"]
        ranks += [rank] * len(found)
        left = [t for t in left if t not in found]
        if not ranks and (kind := prose(hit)):
            above.add(kind)
        severed = severed or "severed" in verdicts.values()
    return Score(case.query, right[0].unit, len(right), tuple(ranks), severed and not ranks, frozenset(above))


def prose(hit: Hit) -> str | None:
    """What a hit is beside the code that may be wanted: `test`, `class` or its unit; None for code."""
    if is_test(hit.path):
        return "test"
    if hit.unit != "symbol":
        return hit.unit
    return "class" if hit.grain == "coarse" else None


def judge(hit: Span, answer: Span, *, outline: bool = False) -> Verdict:
    """Whether a hit gives an answer whole, cuts through it, or lies elsewhere; an `outline` leaves out what
    lies within it."""
    common = min(hit.last, answer.last) - max(hit.first, answer.first) + 1
    if hit.path != answer.path or common <= 0:
        return "apart"
    if outline and common < hit.last - hit.first + 1:
        return "severed"
    length = answer.last - answer.first + 1
    union = hit.last - hit.first + 1 + length - common
    return "whole" if common == length or common / union >= MIN_IOU else "severed"


def evaluate(reader: Reader, cases: Iterable[Case], search: Search, modes: Sequence[Mode]) -> Evaluation:
    """Runs every case in every mode. Raises what `search` raises."""
    scores: dict[Mode, list[Score]] = {mode: [] for mode in modes}
    missing = []
    for case in cases:
        right = truths(reader, case)
        if not right:
            missing.append(case.query)
            continue
        for mode in modes:
            scores[mode].append(score(case, right, search(case.query, mode)))
    return Evaluation(tuple(g for mode in modes for g in groups(mode, scores[mode])), tuple(missing))


def groups(mode: Mode, scores: Sequence[Score]) -> Iterator[Group]:
    """All queries as unit `all`, then those of each unit, if there are several."""
    units = sorted({s.unit for s in scores})
    for unit in ["all", *(units if len(units) > 1 else ())]:
        some = [s for s in scores if unit in ("all", s.unit)]
        above = Counter(kind for s in some for kind in s.above)
        shares = {kind: n / len(some) for kind, n in sorted(above.items())}
        yield Group(mode, unit, len(some), sum(s.severed for s in some), figures(some), shares)


def figures(scores: Sequence[Score]) -> dict[str, Figure]:
    """The mean of each metric over the queries, with a percentile bootstrap of fixed seed."""
    columns = list(zip(*(s.metrics() for s in scores), strict=True))
    chance = random.Random(0)  # the same interval for the same scores, always
    samples = [chance.choices(range(len(scores)), k=len(scores)) for _ in range(RESAMPLES)] if scores else []
    found = {}
    for name, column in zip(METRICS, columns, strict=False):
        means = sorted(sum(column[i] for i in sample) / len(sample) for sample in samples)
        low, high = means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES) - 1]
        found[name] = Figure(sum(column) / len(column), low, high)
    return found


def as_json(found: Evaluation) -> dict[str, Any]:
    """The document of `eval --json`; each figure is a mean and the ends of its 95 % interval."""
    return {
        "results": [
            {
                "mode": g.mode,
                "unit": g.unit,
                "queries": g.queries,
                "severed": g.severed,
                **{k: {"mean": f.mean, "low": f.low, "high": f.high} for k, f in g.figures.items()},
                "above": dict(g.above),
            }
            for g in found.groups
        ],
        "missing": list(found.missing),
    }


def _is_answer(answer: object) -> bool:
    if not isinstance(answer, dict):
        return False
    if isinstance(answer.get("chunk_id"), str):
        return True
    lines = answer.get("lines")
    ranged = isinstance(lines, list) and len(lines) == 2 and all(isinstance(n, int) for n in lines)
    return isinstance(answer.get("path"), str) and (isinstance(answer.get("symbol"), str) or ranged)


def _locate(reader: Reader, answer: Mapping[str, Any]) -> Iterator[Truth]:
    if "chunk_id" in answer:
        chunk = reader.chunk(answer["chunk_id"])
        if chunk is not None:
            yield Truth(Span(chunk.path, chunk.start_line, chunk.end_line), chunk.unit)
    elif "symbol" in answer:
        for s in reader.symbols(answer["path"]):
            if s.symbol == answer["symbol"]:
                chunk = reader.chunk(s.chunk_id)
                yield Truth(Span(s.path, s.start_line, s.end_line), chunk.unit if chunk else "symbol")
    elif reader.file(answer["path"]) is not None:
        first, last = answer["lines"]
        around = reader.chunks_at(answer["path"], first)
        yield Truth(Span(answer["path"], first, last), around[0].unit if around else "module")
