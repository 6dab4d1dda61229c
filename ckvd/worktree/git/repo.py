"""One git worktree: what it lists, where its HEAD is, and what decides about both."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator

from ckvd.errors import WorktreeError
from ckvd.model import Stamp, display_path
from ckvd.worktree.git import attributes, process
from ckvd.worktree.git.attributes import Attributes
from ckvd.worktree.git.configuration import Configuration
from ckvd.worktree.git.fifos import NOTE, FifoError, Fifos
from ckvd.worktree.git.listing import Index, Listing, Tracked, complaints, index_of, parsed
from ckvd.worktree.git.refs import Head, Refs
from ckvd.worktree.git.root import Root, common_dir, content, find_git_dir, is_repository
from ckvd.worktree.git.state import State
from ckvd.worktree.ignore import Ignore
from ckvd.worktree.paths import any_above, as_seen_from, folders_of, name
from ckvd.worktree.read import stamp_at
from ckvd.worktree.walk import walk

_MANY = 200
"""Paths beyond which one listing of everything is cheaper than so many pathspecs."""
_log = logging.getLogger(__name__)


class Repo:
    """A git worktree with its checked-out submodules. Cheap to make; not for several threads at once."""

    def __init__(self, root: Root) -> None:
        """Raises WorktreeError for a plain folder."""
        if root.git_dir is None:
            raise WorktreeError(
                f"{display_path(root.path)} is not a git worktree; index it as a plain folder"
            )
        self.root = root
        self.path = root.path
        self.git_dir = root.git_dir
        self.common_dir = common_dir(root.git_dir)
        self._refs = Refs(self.git_dir, self.common_dir)
        self._configuration = Configuration(self.path, self.git_dir)
        self._fifos = Fifos(self.path, b".gitignore", self.ignore, self._ignore_sources)
        self._attribute_fifos = Fifos(self.path, b".gitattributes", self.ignore, self._attribute_sources)
        self._last_index: Index | None = None
        self._told_head: tuple[object, Head] | None = None
        self._opened: dict[bytes, Repo] = {}
        self._attribute_files: set[bytes] | None = None

    # Listing

    def listing(self, paths: Iterable[bytes] | None = None) -> Listing:
        """What `git ls-files --cached --others --exclude-standard` names here and in checked-out submodules.

        `paths` (files or folders) narrow it. Raises WorktreeError where git fails.
        """
        found = Listing()
        wanted = None if paths is None else set(paths)
        todo: list[tuple[bytes, Repo, set[bytes] | None]] = [(b"", self, wanted)]
        while todo:
            prefix, repo, wanted = todo.pop()
            if wanted is not None and b"" in wanted:
                wanted = None
            links = repo._list(prefix, wanted, found)
            for link in sorted(links):
                inside = None if wanted is None else as_seen_from(link, wanted)
                if inside is None or inside:
                    submodule = repo._submodule(link)
                    if submodule is not None:
                        todo.append((prefix + link + b"/", submodule, inside))
        self._remember_attribute_files(found, whole=paths is None)
        return found

    def _list(self, prefix: bytes, wanted: set[bytes] | None, found: Listing) -> Collection[bytes]:
        """Add this repository's own paths to `found`; return its gitlinks."""
        if not process.available():
            return self._list_without_git(prefix, wanted, found)
        stamp = self._index_stamp()
        pathspecs = sorted(wanted) if wanted is not None and len(wanted) <= _MANY else []
        command = "ls-files", "-s", "-o", "-t", "--exclude-standard", "-z", "--"
        try:
            output, grumble = self._ruled(self._fifos, *command, *pathspecs)
        except FifoError as met:
            found.notes[os.path.join(prefix, met.path)] = NOTE
            return self._list_without_git(prefix, wanted, found)
        found.notes.update((prefix + folder, why) for folder, why in complaints(grumble).items())
        held, others = parsed(output)
        tracked = held.paths
        if not pathspecs:
            self._last_index = index_of(stamp, held)
            if wanted is not None:
                tracked = [path for path in tracked if any_above(path, wanted)]
                others = [path for path in others if any_above(path.rstrip(b"/"), wanted)]
        found.files += [prefix + path for path in tracked]
        found.tracked.update(prefix + path for path in tracked)
        found.files += [prefix + path for path in others if not path.endswith(b"/")]
        found.nested += [prefix + path[:-1] for path in others if path.endswith(b"/")]
        return self._index().links

    def _list_without_git(
        self, prefix: bytes, wanted: set[bytes] | None, found: Listing
    ) -> Collection[bytes]:
        tracked, links, _ = self._read_index()
        inside = folders_of(tracked)

        def is_other(folder: bytes) -> bool:
            return os.path.relpath(folder, self.path) not in inside and is_repository(folder)

        walked = walk(self.path, self.ignore(), is_other, prune=links.__contains__)
        for path in sorted({*tracked, *walked.files}):
            if wanted is None or any_above(path, wanted):
                found.files.append(prefix + path)
        found.tracked.update(prefix + path for path in tracked if wanted is None or any_above(path, wanted))
        found.nested += [prefix + path for path in walked.nested if wanted is None or any_above(path, wanted)]
        found.notes.update((prefix + folder, why) for folder, why in walked.notes.items())
        return links

    def _index(self) -> Index:
        stamp = self._index_stamp()
        if self._last_index is None or self._last_index.stamp != stamp:
            self._last_index = index_of(stamp, self._read_index())
        return self._last_index

    def _read_index(self) -> Tracked:
        if process.available():
            return parsed(self._git("ls-files", "-s", "-t", "-z")[0])[0]
        import pygit2  # slow to import, and needed only here

        index = pygit2.Repository(os.fsdecode(self.git_dir)).index
        modes = {os.fsencode(entry.path): entry.mode for entry in index}
        links = {path for path, mode in modes.items() if mode == pygit2.enums.FileMode.COMMIT}
        return Tracked(sorted(modes.keys() - links), links, [])

    def tracked_but_ignored(self) -> frozenset[bytes]:
        """What is in the index though ignore rules match it, submodules included."""
        found: set[bytes] = set()
        for prefix, repo in self._with_submodules():
            found.update(prefix + path for path in repo._tracked_but_ignored())
        return frozenset(found)

    def _tracked_but_ignored(self) -> list[bytes]:
        if process.available():
            with contextlib.suppress(FifoError):
                output, _ = self._ruled(self._fifos, "ls-files", "-c", "-i", "--exclude-standard", "-z")
                return process.records(output)
        ignore = self.ignore()
        return [path for path in self._read_index().paths if ignore.ignored(path)]

    def tracked_folders(self) -> frozenset[bytes]:
        """All folders that hold anything in an index, submodules included. For git, a folder that holds a
        tracked file is never a repository of its own."""
        known = self._with_submodules()
        return frozenset(prefix + folder for prefix, repo in known for folder in repo._index().folders)

    def submodules(self) -> Iterator[tuple[bytes, Repo]]:
        """Checked-out submodules at any depth: the path from this root, and the repository."""
        todo: list[tuple[bytes, Repo]] = [(b"", self)]
        while todo:
            prefix, repo = todo.pop()
            for link in sorted(repo._index().links):
                submodule = repo._submodule(link)
                if submodule is not None:
                    yield prefix + link, submodule
                    todo.append((prefix + link + b"/", submodule))

    def _submodule(self, link: bytes) -> Repo | None:
        folder = os.path.join(self.path, link)
        if os.path.realpath(folder) != folder:  # a symlink in its place, or above it
            return None
        git_dir = find_git_dir(folder)
        if git_dir is None:
            return None
        known = self._opened.get(link)
        if known is None or known.git_dir != git_dir:
            known = self._opened[link] = Repo(Root(folder, git_dir, self.root.object_format))
        return known

    def _with_submodules(self) -> list[tuple[bytes, Repo]]:
        """This repository and its submodules, each with what its paths begin with."""
        return [(b"", self), *((path + b"/", repo) for path, repo in self.submodules())]

    # HEAD, and what else decides

    def head(self) -> Head:
        return self._refs.head() or self._head_from_git()

    def _head_from_git(self) -> Head:
        stamps = self._refs.table_stamps()
        if self._told_head is None or self._told_head[0] != stamps:
            self._told_head = (stamps, self._ask_head())
        return self._told_head[1]

    def _ask_head(self) -> Head:
        name = process.run(self._located("symbolic-ref", "-q", "HEAD"), self.path).stdout.strip()
        commit = process.run(self._located("rev-parse", "-q", "--verify", "HEAD"), self.path).stdout.strip()
        return Head(display_path(name) or None, display_path(commit) or None)

    def state(self) -> State:
        """What decides about the index now; a few stats unless something has changed."""
        rules = tuple(repo._index().rules for _, repo in self._with_submodules())
        return State(self.head(), self.tracked(), (*rules, *self.rules()))

    def tracked(self) -> tuple[tuple[bytes, bytes], ...]:
        """The names in git's index and in those of submodules, as `State.tracked` has them."""
        known = self._with_submodules()
        return tuple((prefix.rstrip(b"/"), repo._index().names) for prefix, repo in known)

    def rules(self) -> tuple[object, ...]:
        """What configuration and the rules outside the tree come to, as `State.rules` has it."""
        names = (b"/info/exclude", b"/info/attributes")
        own = (stamp_at(repo.common_dir + name) for _, repo in self._with_submodules() for name in names)
        return (*self._configuration.rules(), *own)

    def control_folders(self) -> list[bytes]:
        """Absolute folders to watch, not what lies below them, to notice that `state` may have changed."""
        folders = [self.git_dir, self.git_dir + b"/logs", self.common_dir, self.common_dir + b"/info"]
        folders += [self._refs.folder() or self.git_dir, *self._refs.table_folders()]
        for _, submodule in self.submodules():
            folders += [submodule.git_dir, submodule.common_dir + b"/info"]
        return [folder for folder in dict.fromkeys(folders) if os.path.isdir(folder)]

    def busy(self, bound_s: float = 10.0) -> bool:
        """Whether git is rewriting the tree just now: `index.lock` is there and younger than `bound_s`.

        The lock's time is that of the command's start, so a lock left by a crash soon counts for nothing.
        """
        lock = stamp_at(self.git_dir + b"/index.lock")
        return lock is not None and abs(time.time_ns() - lock.mtime_ns) < bound_s * 1e9

    def ignore(self) -> Ignore:
        """The ignore rules of this repository alone, read anew; for what must not cost a process."""
        sources = [content(path) for path in self._ignore_sources()]
        ignore_case = self._configuration.ignore_case()
        return Ignore(self.path, (b".gitignore",), sources, ignore_case=ignore_case)

    def _ignore_sources(self) -> tuple[bytes, bytes]:
        """The files of rules for the whole tree, the weakest first."""
        return (self._configuration.excludes(), self.common_dir + b"/info/exclude")

    # Attributes

    def attributes(self, paths: Collection[bytes]) -> dict[bytes, Attributes]:
        """linguist's attributes of those of `paths` that have any. Where no `.gitattributes` of the last full
        listing, or added since, speaks of linguist, git is not asked."""
        if not paths or not process.available() or not self._mentions_linguist():
            return {}
        found: dict[bytes, Attributes] = {}
        left = set(paths)
        # Reversed, a submodule comes before the repository around it.
        for prefix, repo in sorted(self._with_submodules(), key=lambda known: known[0], reverse=True):
            own = sorted(path for path in left if path.startswith(prefix))
            left.difference_update(own)
            if own:
                feed = b"".join(path[len(prefix) :] + b"\0" for path in own)
                command = "check-attr", "-z", "--stdin", *attributes.NAMES
                try:
                    output, _ = repo._ruled(repo._attribute_fifos, *command, feed=feed)
                except FifoError as met:
                    _log.warning("%s; no attributes hold meanwhile", met)
                    continue
                found.update((prefix + path, said) for path, said in attributes.parse(output))
        return found

    def _remember_attribute_files(self, listing: Listing, *, whole: bool) -> None:
        found = {path for path in listing.files if name(path) == b".gitattributes"}
        if whole:
            self._attribute_files = found
        elif self._attribute_files is not None:
            self._attribute_files |= found

    def _mentions_linguist(self) -> bool:
        if self._attribute_files is None:
            self.listing()
        inside = (os.path.join(self.path, path) for path in self._attribute_files or ())
        return any(b"linguist-" in content(path) for path in (*inside, *self._attribute_sources()))

    def _attribute_sources(self) -> tuple[bytes, bytes]:
        return (self.common_dir + b"/info/attributes", self._configuration.attributes())

    # The binary

    def _index_stamp(self) -> Stamp | None:
        return stamp_at(self.git_dir + b"/index")

    def _located(self, *arguments: str | bytes) -> tuple[str | bytes, ...]:
        return (b"--git-dir=" + self.git_dir, b"--work-tree=" + self.path, *arguments)

    def _ruled(self, fifos: Fifos, *arguments: str | bytes, feed: bytes = b"") -> tuple[bytes, bytes]:
        """The same for a command that opens each of the files that `fifos` is about; raises FifoError."""
        fifos.check()
        return self._git(*arguments, feed=feed, waiting=fifos.find)

    def _git(
        self, *arguments: str | bytes, feed: bytes = b"", waiting: Callable[[], None] = lambda: None
    ) -> tuple[bytes, bytes]:
        """What git prints, and what it grumbles about."""
        done = process.run(self._located(*arguments), self.path, feed, waiting)
        if done.returncode:
            why = process.complaint(done.stderr)
            raise WorktreeError(f"git cannot read {display_path(self.path)}: {why}")
        return done.stdout, done.stderr
