"""Evaluates search on a labelled set, or on one made from the repository: its docstrings, its commits."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence

from ckvd import languages
from ckvd.config import FILE_NAME
from ckvd.errors import WorktreeError
from ckvd.hit import Hit
from ckvd.index import Index
from ckvd.indexer import Indexer
from ckvd.parse import encoding
from ckvd.place import Place, place
from ckvd.rank import Mode, is_test
from ckvd.report import labels
from ckvd.report.boundaries import FUNCTION_KINDS
from ckvd.report.evaluate import DEPTH, Case, Evaluation, Score, Truth, evaluate, groups, score, truths
from ckvd.session import indexing
from ckvd.store.reader import Reader, open_reader
from ckvd.worktree.git import process


def on_set(where: Place, cases: Sequence[Case], modes: Sequence[Mode]) -> Evaluation:
    """Evaluates the place's index as it stands. Raises StoreError where there is none, ModelError in mode
    `vector` without vectors."""
    with Index(where.root, db=where.db) as index, open_reader(where.db) as reader:
        return evaluate(reader, cases, lambda query, mode: _hits(index, query, mode), modes)


def on_docstrings(where: Place, modes: Sequence[Mode], most: int) -> Evaluation:
    """Cuts the documentation out of a copy of the tree, indexes that, and asks for functions by the first
    sentence of theirs: at most `most`, evenly over the tree, none in tests. Needs an index of the tree."""
    with _scratch() as folder:
        cases = without_docs(where, folder, most)
        with _indexed(folder) as ix:
            _pass(ix)
        return on_set(place(folder, None), cases, modes)


def without_docs(where: Place, folder: str, most: int) -> list[Case]:
    """Writes the indexed files under a new `folder` without their documentation, and `ckv.yaml`; at most
    `most` cases that ask for a function by the first sentence of its own."""
    described = _copy_without_docs(where, folder)
    queries = labels.few_answers(d for d in described if not is_test(d.path))
    return [
        Case(sentence, tuple({"path": d.path, "symbol": d.symbol} for d in some))
        for sentence, some in _evenly(list(queries.items()), most)
    ]


def on_commits(where: Place, modes: Sequence[Mode], most: int) -> Evaluation:
    """Asks for the functions that a commit changed by its subject, in an index of its parent.

    Of the latest `most` commits with a subject that tells, those that change few functions; oldest first,
    from each parent to the next as a daemon would. Raises WorktreeError outside git.
    """
    scores: dict[Mode, list[Score]] = {mode: [] for mode in modes}
    with _scratch() as folder:
        for case, right in at_commits(where, folder, most):
            with Index(folder) as index:
                for mode in modes:
                    scores[mode].append(score(case, right, _hits(index, case.query, mode)))
    return Evaluation(tuple(g for mode in modes for g in groups(mode, scores[mode])), ())


def at_commits(
    where: Place, folder: str, most: int, prepare: Callable[[str], None] = lambda _: None
) -> Iterator[tuple[Case, tuple[Truth, ...]]]:
    """The cases of `on_commits`, each while a clone in a new `folder` is at the commit's parent and its index
    up to date. `prepare` is called with the folder between the two."""
    _git(where.tree.path, "clone", "--quiet", "--shared", "--no-checkout", os.fsencode(where.root), folder)
    tree = os.fsencode(folder)
    telling = _telling(tree, most)
    prepare(folder)  # for the configuration, which the indexer reads once
    with _indexed(folder) as ix:
        for commit, query in telling:
            changed = labels.changed_lines(_git(tree, *_DIFF, f"{commit}~", commit))
            if not 1 <= len(changed) <= labels.MAX_FILES:
                continue
            _git(tree, "checkout", "--quiet", "--force", "--detach", f"{commit}~")
            prepare(folder)
            _pass(ix)
            with open_reader(place(folder, None).db) as reader:
                answers = _functions(reader, changed)
                case = Case(
                    query, tuple({"path": p, "symbol": s} for p, some in answers.items() for s in some)
                )
                right = truths(reader, case)
            if 1 <= len(right) <= labels.MAX_ANSWERS:
                yield case, right


_DIFF = ("diff", "-U0", "--no-color", "--no-ext-diff", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/")


def _hits(index: Index, query: str, mode: Mode) -> Sequence[Hit]:
    return index.search(query, DEPTH, mode).hits


@contextlib.contextmanager
def _scratch() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="ckvd-eval-") as folder:
        yield os.path.join(folder, "tree")


@contextlib.contextmanager
def _indexed(folder: str) -> Iterator[Indexer]:
    with indexing(place(folder, None)) as ix:
        yield ix


def _pass(ix: Indexer) -> None:
    ix.bring_up_to_date(None)
    while ix.vectors.make(0.5):
        pass


def _copy_without_docs(where: Place, folder: str) -> list[labels.Described]:
    """Writes the indexed files under `folder`, and the configuration; what the functions in them do."""
    described: list[labels.Described] = []
    os.makedirs(folder)
    with contextlib.suppress(FileNotFoundError):
        shutil.copy(os.path.join(where.root, FILE_NAME), folder)
    with open_reader(where.db) as reader:
        files = [f for f in reader.files() if f.strategy != "skipped"]
    for file in files:
        try:
            with open(os.path.join(where.tree.path, file.path_bytes), "rb") as source:
                data = source.read()
        except OSError:
            continue  # gone since: the set is made of what is there
        language = languages.get(file.language) if file.language else None
        decoded = encoding.decode(data, file.language)
        if language is not None and language.parses and isinstance(decoded, encoding.Decoded):
            data, some = labels.cut_docs(file.path, decoded.text, language)
            described += some
        target = os.path.join(os.fsencode(folder), file.path_bytes)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as copy:
            copy.write(data)
    return described


def _telling(tree: bytes, most: int) -> list[tuple[str, str]]:
    """The latest commits with one parent and a subject that tells, oldest first."""
    log = _git(tree, "log", "--no-merges", "--min-parents=1", "--format=%H%x00%s%x00", "HEAD")
    fields = [field.decode("utf-8", "replace").strip() for field in log.split(b"\0")]
    found = []
    for commit, subject in zip(fields[::2], fields[1::2], strict=False):
        query = labels.subject_query(subject)
        if query is not None:
            found.append((commit, query))
        if len(found) == most:
            break
    return found[::-1]


def _functions(reader: Reader, changed: dict[bytes, list[tuple[int, int]]]) -> dict[str, list[str]]:
    """The innermost functions, none in tests, that changed lines touch, by path."""
    found = {}
    for raw, ranges in changed.items():
        path = raw.decode("utf-8", "backslashreplace")
        if not is_test(path):
            functions = [
                (s.symbol, s.start_line, s.end_line) for s in reader.symbols(path) if s.kind in FUNCTION_KINDS
            ]
            found[path] = labels.innermost(functions, ranges)
    return found


def _evenly(
    items: list[tuple[str, list[labels.Described]]], most: int
) -> list[tuple[str, list[labels.Described]]]:
    """At most `most` of them, at equal steps."""
    if len(items) <= most:
        return items
    return [items[i * len(items) // most] for i in range(most)]


def _git(cwd: bytes, *arguments: str | bytes) -> bytes:
    done = process.run(arguments, cwd)
    if done.returncode:
        raise WorktreeError(f"git {os.fsdecode(arguments[0])}: {process.complaint(done.stderr)}")
    return done.stdout
