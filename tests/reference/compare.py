"""Symbols against a language's own parser: recall and precision, exact in qualified name and lines.

    python tests/reference/compare.py --corpora FOLDER [--language L] [--show 20] [--markdown]
    python tests/reference/compare.py --language go PATH ...

The first form takes the code that `corpora.toml` names, the second any folders. All files count that the
reference reads without an error, whatever strategy ckvd chose for them. A row of the reference is found where
ckvd has one of the same qualified name and lines; twins need twins. What a reference needs is said where it
is missing, and that language is then left out.
"""

from __future__ import annotations

import argparse
import os
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from ckvd import languages
from ckvd.analyze import HEAD_BYTES, Job, analyze
from ckvd.languages.detect import detect
from ckvd.model import CutOptions

sys.path.insert(0, str(Path(__file__).parent))

from references import REFERENCES, Reference, ReferenceMissing, Row

HERE = Path(__file__).parent
ENOUGH = 20
"""Fewer files show nothing: the language is then listed as not done."""
LEFT_OUT = frozenset({".git", ".hg", ".svn", "node_modules"})
LARGEST = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Corpus:
    """Code with a name and a version, for some languages."""

    name: str
    version: str
    folder: Path
    languages: frozenset[str]


@dataclass(slots=True)
class Score:
    """How the rows of two sides agree. `missing` and `extra` hold what only one of them has, by file."""

    files: int = 0
    unread: int = 0
    wanted: int = 0
    found: int = 0
    given: int = 0
    right: int = 0
    missing: list[tuple[str, Row]] = field(default_factory=list)
    extra: list[tuple[str, Row]] = field(default_factory=list)

    def add(self, other: Score) -> None:
        for name in ("files", "unread", "wanted", "found", "given", "right"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.missing += other.missing
        self.extra += other.extra

    @property
    def recall(self) -> float:
        return self.found / self.wanted if self.wanted else 0.0

    @property
    def precision(self) -> float:
        return self.right / self.given if self.given else 0.0


def files_of(folder: Path, language: str) -> list[str]:
    """The regular files that ckvd takes for the language, in order."""
    found = []
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - LEFT_OUT)
        for name in names:
            path = os.path.join(at, name)
            if os.path.islink(path) or not os.path.isfile(path) or os.path.getsize(path) > LARGEST:
                continue
            with open(path, "rb") as file:
                taken = detect(os.path.relpath(path, folder), file.read(HEAD_BYTES))
            if taken is not None and taken.name == language:
                found.append(path)
    return sorted(found)


def by_ckvd(path: str) -> list[Row]:
    """The symbols of a file as the index has them."""
    with open(path, "rb") as file:
        job = Job(path.encode(), file.read(), "", CutOptions())
    return [
        Row(s.symbol, s.start_line, s.end_line, s.name_line, s.kind) for s in analyze(job, _tokens).symbols
    ]


def _tokens(text: str) -> int:
    return len(text) // 3


def compared(path: str, wanted: Sequence[Row], given: Sequence[Row], kinds: frozenset[str]) -> Score:
    """One file's score. Precision is over ckvd's symbols of the kinds that the reference knows."""
    score = Score(files=1, wanted=len(wanted))
    left: dict[str, list[Row]] = defaultdict(list)
    for row in given:
        left[row.symbol].append(row)
    matched = 0
    for want in wanted:
        hit = next((row for row in left[want.symbol] if want.agrees(row)), None)
        if hit is None:
            score.missing.append((path, want))
        else:
            left[want.symbol].remove(hit)
            matched += hit.kind in kinds
            score.found += 1
    score.extra = [(path, row) for rows in left.values() for row in rows if row.kind in kinds]
    score.right = matched
    score.given = matched + len(score.extra)
    return score


def scored(reference: Reference, files: Sequence[str], pool: ProcessPoolExecutor) -> Score:
    """The score over those of the files that the reference reads."""
    total = Score()
    read = dict(reference.read(files))
    total.unread = len(files) - len(read)
    paths = [path for path in files if path in read]
    for path, given in zip(paths, pool.map(by_ckvd, paths, chunksize=16), strict=True):
        total.add(compared(path, read[path], given, reference.kinds))
    return total


def corpora(folder: Path) -> Iterator[Corpus]:
    for row in tomllib.loads((HERE / "corpora.toml").read_text("utf-8"))["corpus"]:
        where = folder / row["folder"]
        yield Corpus(row["name"], str(row["version"]), where, frozenset(row["languages"]))


def line(language: str, reference: str, names: Iterable[str], score: Score, markdown: bool) -> str:
    done = score.files >= ENOUGH
    cells = [
        language,
        reference,
        ", ".join(names) or "none",
        f"{score.files:,}",
        f"{score.wanted:,}" if done else "",
        f"{100 * score.recall:.2f} %" if done else "not done",
        f"{100 * score.precision:.2f} %" if done else "not done",
    ]
    if markdown:
        return f"| {' | '.join(cells)} |"
    return (
        f"{cells[0]:12} {cells[5]:>9} {cells[6]:>9} {cells[4]:>9} symbols {cells[3]:>6} files"
        f" ({score.unread} not read) by {reference}: {cells[2]}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, help="folders, instead of the listed corpora")
    parser.add_argument("--corpora", type=Path, help="the folder in which the listed corpora are")
    parser.add_argument("--language", action="append", help="only these languages")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="the first N rows of each mismatch")
    parser.add_argument("--markdown", action="store_true", help="the rows of a Markdown table")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    if not given.paths and given.corpora is None:
        parser.error("give folders, or --corpora")
    listed = list(corpora(given.corpora)) if given.corpora else []
    chosen = given.language or [name for name in languages.names() if languages.get(name).parses]
    with ProcessPoolExecutor(given.workers) as pool:
        for language in chosen:
            reference = REFERENCES.get(language)
            if reference is None:
                print(line(language, "none", (), Score(), given.markdown), flush=True)
                continue
            mine = [c for c in listed if language in c.languages and c.folder.is_dir()]
            mine += [Corpus(p.name, "", p, frozenset()) for p in given.paths]
            total = Score()
            try:
                for corpus in mine:
                    total.add(scored(reference, files_of(corpus.folder, language), pool))
            except ReferenceMissing as error:
                print(f"{language}: {error}", file=sys.stderr)
                continue
            names = (f"{c.name} {c.version}".strip() for c in mine)
            print(line(language, reference.name, names, total, given.markdown), flush=True)
            for what, rows in (("missing", total.missing), ("extra", total.extra)):
                for path, row in rows[: given.show]:
                    print(f"  {what} {row} in {path}")
                if given.show and len(rows) > given.show:
                    print(f"  … {len(rows)} {what} in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
