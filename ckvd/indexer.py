"""The one place that orders the pipeline: scan, read, analyse, plan, apply in one transaction."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from ckvd import __version__
from ckvd.admit import admit
from ckvd.analyze import Job
from ckvd.errors import Stopped, WorktreeError
from ckvd.known import Catalogue, Known
from ckvd.languages import version
from ckvd.metrics import Metrics
from ckvd.model import FileResult, Stamp, display_path
from ckvd.passing import Progress
from ckvd.plan import FilePlan, plan_file
from ckvd.settings import Settings
from ckvd.store.writer import Writer
from ckvd.vectors import VectorMaker
from ckvd.workers import Pool
from ckvd.worktree.git import Attributes, Following, Root
from ckvd.worktree.scan import Entry, Scan, scan

BATCH_CHUNKS = 50_000
"""Chunks that one transaction takes at most once the index exists: a branch switch is one revision."""

FIRST_BATCH_CHUNKS = 4_000
"""The same while the index is first built, so that readers see it grow and a restart loses little."""


@dataclass(slots=True)
class _Batch:
    """What the next transaction will hold."""

    plans: list[FilePlan]
    touched: dict[bytes, Known] = field(default_factory=dict)
    chunks: int = 0

    def clear(self) -> None:
        self.plans.clear()
        self.touched.clear()
        self.chunks = 0


@dataclass
class Indexer:
    """Keeps a store true to a tree. Not thread-safe: one thread owns it, its store and its passes."""

    git: Following
    writer: Writer
    pool: Pool
    settings: Settings
    own_files: frozenset[bytes]
    """The database and what lies beside it, where they are inside the tree."""
    should_stop: Callable[[], bool] = lambda: False
    tick: Callable[[], None] = lambda: None
    """Called again and again: a sign of life for whoever watches."""
    progress: Progress = field(default_factory=Progress)
    scan_s: float = 0.0
    """Seconds that the last pass took to find out what to read."""

    def __post_init__(self) -> None:
        self._noted: dict[bytes, str] = {}
        self.take_store(self.writer)

    def take_store(self, writer: Writer) -> None:
        """Takes what is known from a store: at the start, and when it was made anew."""
        self.writer = writer
        self.metrics = Metrics(writer)
        self._known = Catalogue(
            {
                path: Known(f.stamp, f.read_ns, f.cut_key, f.blob_oid, f.language)
                for path, f in writer.files().items()
            }
        )
        self.use(self.settings)

    def use(self, settings: Settings) -> None:
        """Takes a configuration: the next full pass cuts anew what it touches."""
        self.settings = settings
        self._base_key = settings.key
        self._cut_keys: dict[tuple[str | None, Attributes | None, str, bool, bool], str] = {}
        self.pool.use(settings.model)
        self.vectors = VectorMaker(self.writer, settings, self.metrics)
        self.writer.set_meta({"ckvd_version": __version__, "root": display_path(self.root)})

    @property
    def tree(self) -> Root:
        return self.git.tree

    @property
    def root(self) -> bytes:
        return self.tree.path

    @property
    def _root_notes(self) -> list[str]:
        """Why the root is not taken as a git worktree, where one would expect it."""
        return [self.tree.reason] if self.tree.reason else []

    # -- rows ---------------------------------------------------------------------------------------

    def bring_up_to_date(self, dirty: frozenset[bytes] | None, changed: int = 0) -> int | None:
        """One pass over the dirty paths, or over the whole tree for None; the new revision, None if equal.

        `changed` is the number of files that are known to differ, for `Progress` until the look has told.
        Raises Stopped soon after `should_stop` says so, WorktreeError when the root is gone, StoreError when
        the file cannot be written.
        """
        self.progress.scan(changed)
        if dirty is None:
            self.git.follow_git()  # before the look, so that what changes meanwhile is noticed
        repo = self.git.repo
        found = scan(self.root, repo, self.settings.config, self.own_files, only=dirty, alive=self._alive)
        attributes = repo.attributes(found.entries.keys()) if repo else {}
        todo = self._select(found, dirty, attributes)
        gone = self._known.gone(found)
        self.scan_s = time.monotonic() - self.progress.began
        self.progress.index(len(todo), len(gone))
        revision = None
        if todo or gone:
            revision = self._apply(found, todo, gone, attributes)
        self.progress.phase = ""
        self._note(found)
        if revision is None:
            self.note_head()
        return revision

    def _note(self, found: Scan) -> None:
        """Keeps in `meta` what a look has met besides files; of all that it did not cover, what was known."""
        self._noted = {
            path: note for path, note in self._noted.items() if not found.covers(path)
        } | found.notes
        notes = (note for _, note in sorted(self._noted.items()))
        self.writer.set_meta({"notes": json.dumps([*self._root_notes, *notes])})

    def _alive(self) -> None:
        if self.should_stop():
            raise Stopped
        self.tick()

    def note_head(self) -> None:
        """Notes in `meta` where git's HEAD is."""
        self.writer.set_head(self.git.head())

    def note_sync(self) -> None:
        """Notes in `meta` that the whole tree was compared just now because someone asked."""
        self.writer.set_meta({"last_sync": datetime.now(UTC).isoformat(timespec="seconds")})

    def _select(
        self, found: Scan, dirty: frozenset[bytes] | None, attributes: dict[bytes, Attributes]
    ) -> list[bytes]:
        todo = []
        for path, entry in found.entries.items():
            known = self._known.get(path)
            if (
                known is None
                or (dirty is not None and path in dirty)
                or entry.stamp != known.stamp
                or known.stamp.racy(known.read_ns)
                or known.cut_key != self._cut_key(known.language, attributes.get(path), entry)
            ):
                todo.append(path)
        # Small files first: a huge one never stands in front of all others.
        todo.sort(key=lambda p: (found.entries[p].stamp.size, p))
        return todo

    def _cut_key(self, language: str | None, attributes: Attributes | None, entry: Entry) -> str:
        """Says what the rows of a file stand on besides its bytes."""
        too_large = entry.stamp.size > self.settings.config.index.max_file_bytes
        place = language, attributes, self.tree.object_format, entry.included, too_large
        key = self._cut_keys.get(place)
        if key is None:
            parts = (
                self._base_key,
                version.key(language) if language else "",
                f"{attributes.language}/{attributes.generated}" if attributes else "",
                self.tree.object_format,
                f"{entry.included}/{too_large}",
            )
            key = hashlib.blake2b("\0".join(parts).encode(), digest_size=12).hexdigest()
            self._cut_keys[place] = key
        return key

    def _apply(
        self,
        found: Scan,
        todo: list[bytes],
        gone: list[bytes],
        attributes: dict[bytes, Attributes],
    ) -> int | None:
        most = BATCH_CHUNKS if self._known else FIRST_BATCH_CHUNKS
        batch = _Batch([])
        for path in gone:
            self._alive()
            batch.plans.append(plan_file(self.writer.load(path), None))
        revision, analysed, began = None, 0, time.monotonic()
        for result in self._results(found, todo, attributes, batch):
            batch.plans.append(plan_file(self.writer.load(result.path), result))
            batch.chunks += len(result.chunks)
            analysed += 1
            self.progress.chunks += len(result.chunks)
            if batch.chunks >= most:
                revision = self._flush(batch) or revision
        revision = self._flush(batch) or revision
        if revision is not None:
            self.metrics.indexed(analysed, time.monotonic() - began)
        return revision

    def _flush(self, batch: _Batch) -> int | None:
        self.tick()
        if any(plan.removed for plan in batch.plans) and not os.path.isdir(self.root):
            raise WorktreeError(f"{display_path(self.root)} is missing; its rows stay until it is back")
        revision = self.writer.apply(batch.plans, batch.touched, self.git.head())
        self._known.update(batch.touched, [plan.path for plan in batch.plans if plan.removed])
        self.progress.pending -= len(batch.plans)
        batch.clear()
        return revision

    def _results(
        self, found: Scan, todo: list[bytes], attributes: dict[bytes, Attributes], batch: _Batch
    ) -> Iterator[FileResult]:
        """The results of the files whose rows may change; what was read goes into `batch.touched`.

        A file whose bytes are those of its rows gets a fresh stamp and no result.
        """
        ready: deque[FileResult] = deque()
        read_of: dict[bytes, tuple[Stamp, int]] = {}

        def jobs() -> Iterator[Job]:
            for path in todo:
                self._alive()
                self.progress.files += 1
                attribute = attributes.get(path)
                now = time.time_ns()
                got = admit(
                    self.root, path, found.entries[path], self.settings.config, self.tree.object_format
                )
                if got is None:
                    batch.plans.append(plan_file(self.writer.load(path), None))
                    continue
                if isinstance(got, FileResult):
                    # What hindered the reading may pass without a trace in the file's stamp.
                    passing = got.verdict.reason == "unreadable"
                    read_of[path] = found.entries[path].stamp, 0 if passing else now
                    ready.append(got)
                    continue
                known = self._known.get(path)
                if (
                    known is not None
                    and known.blob_oid == got.blob_oid
                    and known.cut_key == self._cut_key(known.language, attribute, found.entries[path])
                ):
                    known = replace(known, stamp=got.stamp, read_ns=now)
                    batch.touched[path] = known
                    self.progress.pending -= 1
                    continue
                read_of[path] = got.stamp, now
                yield Job(
                    path,
                    got.data or b"",
                    got.blob_oid,
                    self.settings.options,
                    attribute.language if attribute else None,
                    attribute.generated if attribute else None,
                )

        def finish(result: FileResult) -> FileResult:
            stamp, read_ns = read_of.pop(result.path)
            entry = found.entries[result.path]
            key = self._cut_key(result.language, attributes.get(result.path), entry)
            batch.touched[result.path] = Known(stamp, read_ns, key, result.blob_oid, result.language)
            return result

        for result in self.pool.run(jobs(), self._alive):
            yield finish(result)
            while ready:
                yield finish(ready.popleft())
        while ready:
            yield finish(ready.popleft())
