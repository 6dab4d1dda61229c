"""`ckvd.Index`: the index from Python, read-only and typed."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, get_args

from ckvd.disk import seen
from ckvd.errors import ModelError, StoreError, UsageError
from ckvd.hit import Expand, Results
from ckvd.lookup import Filters
from ckvd.place import as_shown, near, place
from ckvd.rank import Mode
from ckvd.search import search
from ckvd.serving import Serving, model_of, serving
from ckvd.store.reader import ChunkRow, FileRow, Reader, SymbolInfo, open_reader
from ckvd.tell import Telling

if TYPE_CHECKING:
    from ckvd.embed.embedder import Embedder
    from ckvd.embed.tokenizer import TokenCounter
    from ckvd.lookup import Vector

Path = str | os.PathLike[str]

_CACHE_KIB = 64 << 10
"""Of the file that stay in memory, for each of the threads that search at once: the words of a large tree."""

HITS = 10
HITS_IN_BUDGET = 50
"""Hits that a search gives, or looks for room for, where it is not said how many."""


class Index:
    """The index of a working tree, for reading. Any number of threads may share one.

    It follows the file: what a daemon commits is seen by the next call, and a database that was replaced is
    opened anew. Close it, or use it as a context manager. Every method raises StoreError where the file
    cannot be read.

        with ckvd.Index("/path/to/repo") as index:
            for hit in index.search("evict the oldest entry").hits:
                print(hit.path, hit.start_line, hit.symbol)
    """

    def __init__(self, root: Path | None = None, *, db: Path | None = None) -> None:
        """`root` is a folder within the tree (default: the current one); `db` its database, where that lies
        elsewhere. Raises WorktreeError or StoreError where one of them is not there."""
        self._lock = threading.Lock()
        self._idle: list[_Open] = []
        self._closed = False
        self._embedders: dict[str, Embedder] = {}
        self._counters: dict[str, TokenCounter] = {}
        self._loading = threading.Lock()
        self.root, self.db = self._find(
            None if root is None else os.fspath(root), None if db is None else os.fspath(db)
        )
        with self._reader():
            pass

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file; calls under way in other threads still end well, later ones raise StoreError."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for opened in idle:
            opened.reader.close()

    def search(
        self,
        query: str,
        k: int | None = None,
        mode: Mode = "hybrid",
        *,
        language: str | None = None,
        kind: str | None = None,
        path: str | None = None,
        tests: bool | None = None,
        offset: int = 0,
        expand: Expand | None = None,
        budget: int | None = None,
    ) -> Results:
        """The hits `offset`..`offset + k`, best first, none overlapping another; 10 of them by default.

        `path` is a file, a folder or a glob whose `*` also crosses `/`; `tests` True or False gives tests
        alone or none. `expand` widens each hit to the class or the file around it. `budget` leaves of those
        hits (50 by default) the best that take at most so many tokens together, as the tokenizer of the
        index's model counts them; each header is then told once, and several methods of one class become
        the class where that takes no more.

        UsageError for an empty query, a language or a kind that there is not, and a value that an option does
        not take; ModelError in mode `vector` without vectors.
        """
        _check(mode, expand, {"k": (k, 1), "offset": (offset, 0), "budget": (budget, 1)})
        filters = Filters(_shown(language), _shown(kind), _shown(self._within(path)), tests)
        if k is None:
            k = HITS if budget is None else HITS_IN_BUDGET
        with self._reader() as reader:
            telling = None
            if expand is not None or budget is not None:
                count = self._counter(serving(reader)).count
                telling = Telling(count, self._file_text, expand, budget)
            return search(
                reader,
                query,
                k,
                mode,
                filters,
                self.embed_query,
                offset=offset,
                telling=telling,
                look=lambda reader, hits: seen(self.root, reader, hits),
                pieces=lambda model, texts: self._embedder(model).pieces(texts),
            )

    def _within(self, path: str | None) -> str | None:
        """A path as the index has it, where it is absolute and leads into the tree."""
        if path is None or not os.path.isabs(path) or not f"{path}/".startswith(f"{self.root}/"):
            return path
        return os.path.relpath(path, self.root)

    def embed_query(self, model: Serving, text: str) -> Vector:
        """The unit vector [dimensions] of a query by the model that serves the index.

        ModelError where that is neither a model of this installation nor the one that `ckv.yaml` names.
        """
        return self._embedder(model).embed_query(text)

    def _embedder(self, model: Serving) -> Embedder:
        with self._loading:
            embedder = self._embedders.get(model.identity)
            if embedder is None:
                from ckvd.embed import embedder as embedders

                embedder = self._embedders[model.identity] = embedders.load(
                    model_of(self.root, self.db, model)
                )
        return embedder

    def _counter(self, model: Serving | None) -> TokenCounter:
        """Of the model that serves; of the one that ships where that is not at hand."""
        identity = model.identity if model is not None else ""
        with self._loading:
            counter = self._counters.get(identity)
            if counter is None:
                from ckvd.embed import registry, tokenizer

                spec = None
                if model is not None:
                    with contextlib.suppress(ModelError):
                        spec = model_of(self.root, self.db, model)
                counter = tokenizer.load(spec or registry.resolve(registry.DEFAULT))
                self._counters[identity] = counter
        return counter

    def _file_text(self, file: FileRow) -> str:
        from ckvd.show import file_text

        return file_text(self.root, self.db, file)

    @property
    def revision(self) -> int:
        """Grows by one with each commit that changes rows."""
        with self._reader() as reader:
            return reader.revision

    def file(self, path: str) -> FileRow | None:
        """The row of a file, by its path as the views show it."""
        with self._reader() as reader:
            return reader.file(path)

    def symbols(self, path: str) -> list[SymbolInfo]:
        """The symbols of a file, in file order."""
        with self._reader() as reader:
            return reader.symbols(path)

    def chunk(self, chunk_id: str) -> ChunkRow | None:
        """One chunk with its header."""
        with self._reader() as reader:
            return reader.chunk(chunk_id)

    def chunks_at(self, path: str, line: int) -> list[ChunkRow]:
        """The chunks that hold a line, the smallest first."""
        with self._reader() as reader:
            return reader.chunks_at(path, line)

    def _find(self, root: str | None, db: str | None) -> tuple[str, str]:
        """The tree and its database. Git is asked only where the index at hand is not of the tree at hand."""
        found = near(root) if db is None else None
        if found is not None:
            self.root, self.db = found
            with contextlib.suppress(StoreError), self._reader() as reader:
                if reader.meta().get("root") == _shown(self.root):
                    return found
        where = place(root, db)
        return where.root, where.db

    @contextlib.contextmanager
    def _reader(self) -> Iterator[Reader]:
        """A connection for this call alone, to the file that is at the path now."""
        opened = self._take(_inode(self.db))
        try:
            yield opened.reader
        except BaseException:  # whatever ended the call passes on; its connection is not used again
            opened.reader.close()
            raise
        with self._lock:
            keep = not self._closed
            if keep:
                self._idle.append(opened)
        if not keep:
            opened.reader.close()

    def _take(self, inode: _Inode) -> _Open:
        with self._lock:
            if self._closed:
                raise StoreError("this index is closed; open another ckvd.Index")
            stale = [o for o in self._idle if o.inode != inode]
            self._idle = [o for o in self._idle if o.inode == inode]
            fit = self._idle.pop() if self._idle else None
        for old in stale:
            old.reader.close()
        return fit or _Open(open_reader(self.db, _CACHE_KIB), inode)


_Inode = tuple[int, int] | None


class _Open(NamedTuple):
    """A connection and the file that it is to."""

    reader: Reader
    inode: _Inode


def _inode(path: str) -> _Inode:
    try:
        found = os.stat(path)
    except OSError:  # what that means is for `open_reader` to say
        return None
    return found.st_dev, found.st_ino


def _check(mode: str, expand: str | None, numbers: dict[str, tuple[object, int]]) -> None:
    """Raises UsageError for what is no value of an option; `numbers` have the least that each takes."""
    if mode not in get_args(Mode):
        raise UsageError(f"there is no mode '{mode}'; the modes are {', '.join(get_args(Mode))}")
    if expand is not None and expand not in get_args(Expand):
        raise UsageError(f"expand is '{expand}'; it is one of {', '.join(get_args(Expand))}")
    for name, (value, least) in numbers.items():
        if value is not None and (not isinstance(value, int) or value < least):
            raise UsageError(f"{name} is {value!r}; give a whole number of {least} or more")


def _shown(text: str | None) -> str | None:
    return None if text is None else as_shown(text)
