"""Roots, HEADs, listings: on real repositories, with git itself as the judge."""

from __future__ import annotations

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pygit2
import pytest
from support import Tree

from ckvd.errors import Stopped, WorktreeError
from ckvd.worktree.git import Attributes, Following, Head, Repo, end_all, find_root, process


def encoded(path: Path) -> bytes:
    return os.fsencode(path)


def repo_at(path: Path) -> Repo:
    return Repo(find_root(encoded(path)))


def judged(tree: Tree) -> list[bytes]:
    out = tree.git("ls-files", "--cached", "--others", "--exclude-standard", "-z")
    return sorted(os.fsencode(out).split(b"\0")[:-1])


@pytest.fixture
def no_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))


class TestRoot:
    def test_what_is_followed_is_what_the_root_is_by_now(self, folder: Tree) -> None:
        found = find_root(encoded(folder.root))
        folder.git("init", "-q")
        git = Following(found)
        assert git.head() == Head("refs/heads/main", None)
        assert not git.root_moved()
        shutil.rmtree(folder.root / ".git")
        assert git.root_moved()
        assert Following(git.tree).head() is None
        folder.root.rmdir()
        with pytest.raises(WorktreeError, match="name an existing folder"):
            Following(found)

    def test_climbs_to_the_worktree(self, tree: Tree) -> None:
        tree.write({"a/b/c.py": ""})
        root = find_root(encoded(tree.root / "a" / "b"))
        assert root.path == encoded(tree.root)
        assert root.git_dir == encoded(tree.root / ".git")
        assert root.reason is None

    def test_outside_git_it_is_the_folder_itself(self, folder: Tree) -> None:
        root = find_root(encoded(folder.root))
        assert (root.path, root.git_dir, root.reason) == (encoded(folder.root), None, None)

    def test_through_a_symlink(self, tree: Tree, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(tree.root)
        assert find_root(encoded(tmp_path / "link")).path == encoded(tree.root)

    def test_missing_and_not_a_folder(self, folder: Tree) -> None:
        folder.write({"file": ""})
        with pytest.raises(WorktreeError, match="No such file"):
            find_root(encoded(folder.root / "none"))
        with pytest.raises(WorktreeError, match="not a folder"):
            find_root(encoded(folder.root / "file"))

    @pytest.mark.parametrize("below", ["", "hooks"])
    def test_bare_repository(self, tree: Tree, tmp_path: Path, below: str) -> None:
        tree.commit()
        tree.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
        with pytest.raises(WorktreeError, match="no working tree"):
            find_root(encoded(tmp_path / "bare.git" / below))

    def test_inside_dot_git_and_a_bare_dot_git(self, tree: Tree) -> None:
        with pytest.raises(WorktreeError, match="no working tree"):
            find_root(encoded(tree.root / ".git" / "info"))
        tree.git("config", "core.bare", "true")
        with pytest.raises(WorktreeError, match="no working tree"):
            find_root(encoded(tree.root))

    def test_broken_dot_git_is_a_plain_root_and_never_the_outer_one(self, tree: Tree) -> None:
        tree.write({"outer.py": "", "bad/in.py": "", "loop/in.py": "", "empty/deep/in.py": ""})
        (tree.root / "bad" / ".git").write_text("gitdir: /no/such/dir\n")
        (tree.root / "loop" / ".git").symlink_to(".git")
        (tree.root / "empty" / ".git").touch()
        for name in ("bad", "loop", "empty", "empty/deep"):
            root = find_root(encoded(tree.root / name))
            assert root.path == encoded(tree.root / name.partition("/")[0])
            assert root.git_dir is None
            assert "not a valid git repository" in (root.reason or "")
        assert [p for p in repo_at(tree.root).listing().files if p.endswith(b".py")] == [
            *(b"bad/in.py", b"empty/deep/in.py", b"loop/in.py", b"outer.py")
        ]

    def test_separate_git_dir_and_a_symlinked_one(
        self, folder: Tree, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder.write({"gits/decoy.py": "", "work/a.py": "", "w2/b.py": ""})
        folder.git("init", "-q", "--separate-git-dir", "gits/r.git", "work")
        folder.git("init", "-q", "--separate-git-dir", "gits/r2.git", "w2")
        (folder.root / "w2" / ".git").unlink()
        (folder.root / "w2" / ".git").symlink_to("../gits/r2.git")
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
            monkeypatch.setenv(name, str(folder.root / "gits" / "r2.git"))
        for name, file in (("work", b"a.py"), ("w2", b"b.py")):
            repo = repo_at(folder.root / name)
            assert repo.path == encoded(folder.root / name)
            assert repo.listing().files == [file]

    def test_linked_worktree(self, tree: Tree, tmp_path: Path) -> None:
        first = tree.commit()
        tree.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
        repo = repo_at(tmp_path / "side")
        assert repo.path == encoded(tmp_path / "side")
        assert repo.common_dir == encoded(tree.root / ".git")
        assert repo.head() == Head("refs/heads/side", first)

    def test_unknown_extension_falls_back_and_says_why(self, tree: Tree) -> None:
        tree.git("config", "core.repositoryformatversion", "1")
        tree.git("config", "extensions.fooBar", "true")
        root = find_root(encoded(tree.root))
        assert (root.path, root.git_dir) == (encoded(tree.root), None)
        assert "unknown repository extension" in (root.reason or "")

    def test_sha256(self, tmp_path: Path) -> None:
        subprocess.run(["git", "init", "-q", "--object-format=sha256", tmp_path / "s"], check=True)
        tree = Tree(tmp_path / "s")
        tree.write({"a.py": "a"})
        commit = tree.commit()
        repo = repo_at(tree.root)
        assert repo.root.object_format == "sha256"
        assert repo.head() == Head("refs/heads/main", commit)
        assert repo.listing().files == [b"a.py"]

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
    def test_dubious_ownership_falls_back_and_says_why(self, tree: Tree) -> None:
        os.chown(tree.root, 12345, 12345)
        os.chown(tree.root / ".git", 12345, 12345)
        root = find_root(encoded(tree.root))
        assert root.git_dir is None
        assert "dubious ownership" in (root.reason or "")

    def test_working_tree_elsewhere(self, tree: Tree, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        tree.git("config", "core.worktree", str(tmp_path / "elsewhere"))
        assert "elsewhere" in (find_root(encoded(tree.root)).reason or "")


class TestHead:
    def test_follows_every_way_to_move_it(self, tree: Tree) -> None:
        repo = repo_at(tree.root)
        assert repo.head() == Head("refs/heads/main", None)
        first = tree.commit()
        assert repo.head() == Head("refs/heads/main", first)
        tree.git("checkout", "-q", "-b", "feat/x")
        second = tree.commit()
        assert repo.head() == Head("refs/heads/feat/x", second)
        tree.git("pack-refs", "--all")
        assert repo.head() == Head("refs/heads/feat/x", second)
        tree.git("checkout", "-q", "--detach")
        assert repo.head() == Head(None, second)
        tree.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
        tree.git("symbolic-ref", "HEAD", "refs/heads/alias")
        assert repo.head() == Head("refs/heads/alias", first)
        (tree.root / ".git" / "refs" / "heads" / "main").write_text(second + "\n")
        assert repo.head() == Head("refs/heads/alias", second)

    def test_libgit2_moves_it(self, tree: Tree) -> None:
        tree.commit()
        repo = repo_at(tree.root)
        other = pygit2.Repository(str(tree.root))
        who = pygit2.Signature("t", "t@example.org")
        commit = other.create_commit(
            "refs/heads/main", who, who, "two", other.index.write_tree(), [other.head.target]
        )
        assert repo.head() == Head("refs/heads/main", str(commit))

    def test_in_tables_it_is_asked_for_only_when_they_change(
        self, tree: Tree, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The files of a reftable repository, whose git here may be too old to read one."""
        tree.commit()
        repo = repo_at(tree.root)
        git = tree.root / ".git"
        (git / "reftable").mkdir()
        (git / "reftable" / "tables.list").write_text("one\n")
        (git / "HEAD").write_text("ref: refs/heads/.invalid\n")
        asked = [Head("refs/heads/main", "1" * 40), Head("refs/heads/main", "2" * 40)]
        monkeypatch.setattr(Repo, "_ask_head", lambda _repo: asked.pop(0))
        assert [repo.head() for _ in range(3)] == [Head("refs/heads/main", "1" * 40)] * 3
        (git / "reftable" / "tables.list").write_text("one\ntwo\n")
        assert [repo.head() for _ in range(3)] == [Head("refs/heads/main", "2" * 40)] * 3
        assert encoded(git / "reftable") in repo.control_folders()

    def test_odd_heads(self, tree: Tree) -> None:
        tree.commit()
        repo = repo_at(tree.root)
        long = "feat/" + "7" * 200
        tree.git("checkout", "-q", "-b", long)
        assert repo.head().ref == f"refs/heads/{long}"
        (tree.root / ".git" / "HEAD").write_bytes(b"ref: refs/heads/\xb1\n")
        assert repo.head() == Head("refs/heads/\\xb1", None)
        (tree.root / ".git" / "HEAD").write_bytes(b"ref: refs/../../../etc/hostname\n")
        assert repo.head().commit is None

    def test_reads_agree_with_git_after_packing_and_in_a_shallow_clone(
        self, tree: Tree, tmp_path: Path
    ) -> None:
        tree.write({"a.py": ""})
        tree.commit()
        tree.git("clone", "-q", "--depth", "1", tree.root.as_uri(), str(tmp_path / "shallow"))
        head = repo_at(tmp_path / "shallow").head()
        assert head == Head("refs/heads/main", tree.git("rev-parse", "HEAD"))


class TestListing:
    def test_equals_ls_files(self, tree: Tree) -> None:
        tree.write(
            {".gitignore": "*.log\n/out/\n", "a.py": "", "x.log": "", "out/kept.py": "", "out/no.py": ""}
        )
        tree.git("add", "-f", "out/kept.py")
        tree.write({'"quoted".py': "", "line\nbreak.py": "", "-dash": "", ":(glob)x": "", "ünï/ä b.py": ""})
        (tree.root / os.fsdecode(b"\xff.py")).touch()
        (tree.root / "link").symlink_to("out")
        listing = repo_at(tree.root).listing()
        assert sorted(listing.files) == judged(tree)
        assert listing.tracked == {b"out/kept.py"}

    @pytest.mark.parametrize("count", [1, 300])
    def test_narrowed_is_the_same_restricted(self, tree: Tree, count: int) -> None:
        tree.write(
            {".gitignore": "*.log\n", "d/a.py": "", "d/x.log": "", "e/[a]*.py": "", "e/ab.py": "", "f": ""}
        )
        wanted = [b"d", b"e/[a]*.py", b"gone/x", *(b"none%d" % i for i in range(count))]
        assert sorted(repo_at(tree.root).listing(wanted).files) == [b"d/a.py", b"e/[a]*.py"]

    def test_unmerged_paths_come_once(self, tree: Tree) -> None:
        tree.write({"a.py": "one\n"})
        tree.commit()
        tree.git("checkout", "-q", "-b", "x")
        tree.write({"a.py": "x\n"})
        tree.commit()
        tree.git("checkout", "-q", "main")
        tree.write({"a.py": "y\n"})
        tree.commit()
        subprocess.run(["git", "merge", "-q", "x"], cwd=tree.root, capture_output=True, check=False)
        assert repo_at(tree.root).listing().files == [b"a.py"]

    def test_submodules_are_in_by_their_own_rules_and_other_repositories_are_out(
        self, tree: Tree, tmp_path: Path
    ) -> None:
        library = Tree(tmp_path / "library")
        library.root.mkdir()
        library.git("init", "-q")
        library.write({"lib.py": "", ".gitignore": "*.tmp\n"})
        library.commit()
        tree.git("submodule", "--quiet", "add", str(library.root), "sub/lib")
        tree.write({"sub/lib/new.py": "", "sub/lib/x.tmp": "", "a.tmp": ""})
        (tree.root / "nested").mkdir()
        nested = Tree(tree.root / "nested")
        nested.git("init", "-q")
        nested.write({"n.py": ""})
        repo = repo_at(tree.root)
        listing = repo.listing()
        inside = [b"sub/lib/.gitignore", b"sub/lib/lib.py", b"sub/lib/new.py"]
        assert sorted(listing.files) == [b".gitmodules", b"a.tmp", *inside]
        assert listing.nested == [b"nested"]
        assert repo.listing([b"sub/lib/new.py", b"sub/lib/x.tmp", b"nested/n.py"]).files == [
            b"sub/lib/new.py"
        ]
        assert sorted(repo.listing([b"sub"]).files) == inside
        assert repo_at(tree.root / "sub" / "lib").path == encoded(tree.root / "sub" / "lib")
        tree.git("submodule", "--quiet", "deinit", "-f", "--all")
        assert sorted(repo.listing().files) == [b".gitmodules", b"a.tmp"]

    def test_a_repository_that_breaks_is_an_error_and_not_an_empty_tree(self, tree: Tree) -> None:
        tree.write({"a.py": ""})
        repo = repo_at(tree.root)
        shutil.rmtree(tree.root / ".git")
        with pytest.raises(WorktreeError):
            repo.listing()

    def test_without_the_git_binary(self, tree: Tree, no_git: None, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as restored:
            restored.setenv("PATH", os.defpath)
            tree.write({".gitignore": "*.log\nout/\n", "a.py": "", "x.log": ""})
            tree.write({"out/kept.py": "", "out/n.py": ""})
            tree.git("add", "-f", "out/kept.py", "x.log")
            expected = judged(tree)
        assert sorted(repo_at(tree.root).listing().files) == expected

    @pytest.mark.parametrize("place", ["out/.gitignore", ".git/info/exclude"])
    def test_a_fifo_where_git_reads_rules(
        self, tree: Tree, monkeypatch: pytest.MonkeyPatch, place: str
    ) -> None:
        """Git opens it, and waits for ever; it is ended, and everything else holds by the same rules."""
        tree.write({".gitignore": "*.log\nlost/\n", "d/.gitignore": "!x.log\n", "a.py": "", "x.log": ""})
        tree.write({"out/b.py": "", "d/x.log": "", "lost/c.py": "", "t.log": ""})
        tree.git("add", "-f", "t.log")
        exclude = tree.root / ".git" / "info" / "exclude"
        exclude.unlink()
        expected = judged(tree)
        os.mkfifo(tree.root / place)
        monkeypatch.setattr(process, "LONG_S", 0.05)
        repo = repo_at(tree.root)
        for paths in (None, {b"out"}):
            found = repo.listing(paths)
            files = sorted(set(found.files) - {place.encode()})
            assert files == [p for p in expected if paths is None or p.startswith(b"out/")]
            (path, note), *others = found.notes.items()
            assert others == []
            assert path.endswith(place.encode())
            assert "remove it" in note
        assert repo.tracked_but_ignored() == {b"t.log"}
        (tree.root / place).unlink()
        assert sorted(repo.listing().files) == expected
        assert repo.listing().notes == {}

    def test_a_fifo_where_git_reads_attributes(self, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
        tree.write({".gitattributes": "*.x linguist-language=Go\n", "a.x": "", "d/.gitattributes": ""})
        tree.commit()
        repo = repo_at(tree.root)
        (tree.root / "d" / ".gitattributes").unlink()
        os.mkfifo(tree.root / "d" / ".gitattributes")
        monkeypatch.setattr(process, "LONG_S", 0.05)
        assert repo.attributes([b"a.x", b"d/b.x"]) == {}
        (tree.root / "d" / ".gitattributes").unlink()
        assert repo.attributes([b"a.x"]) == {b"a.x": Attributes("Go", None)}

    def test_nothing_is_written_and_no_monitor_runs(self, tree: Tree) -> None:
        tree.write({"a.py": "", "spy.sh": "#!/bin/sh\ntouch ran\n"})
        (tree.root / "spy.sh").chmod(0o755)
        tree.commit()
        tree.git("config", "core.fsmonitor", str(tree.root / "spy.sh"))
        os.utime(tree.root / "a.py")
        before = (tree.root / ".git" / "index").stat()
        repo_at(tree.root).listing()
        after = (tree.root / ".git" / "index").stat()
        assert not (tree.root / "ran").exists()
        assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


class TestState:
    def test_changes_with_what_bears_on_a_listing_and_only_then(self, tree: Tree, tmp_path: Path) -> None:
        tree.write({"a.py": ""})
        tree.commit()
        tree.write({"x.log": ""})
        repo = repo_at(tree.root)
        last = repo.state()
        os.utime(tree.root / "a.py")
        tree.git("status")  # writes a new index, with the same names
        tree.git("branch", "other")
        tree.git("tag", "t")
        assert repo.state() == last
        (tree.root / ".git" / "info" / "exclude").write_text("*.log\n")
        assert repo.state().rules != last.rules
        last = repo.state()
        (tmp_path / "excludes").write_text("b*\n")
        tree.git("config", "core.excludesFile", str(tmp_path / "excludes"))
        assert repo.state().rules != last.rules
        last = repo.state()
        (tmp_path / "excludes").write_text("longer\n")
        assert repo.state().rules != last.rules
        last = repo.state()
        tree.git("add", "-f", "x.log")
        assert repo.state().tracked != last.tracked
        last = repo.state()
        tree.commit()
        assert repo.state().head != last.head

    def test_control_folders_hold_what_moves(self, tree: Tree) -> None:
        tree.commit()
        tree.git("checkout", "-q", "-b", "feat/x")
        folders = repo_at(tree.root).control_folders()
        git = encoded(tree.root / ".git")
        assert set(folders) == {git, git + b"/logs", git + b"/info", git + b"/refs/heads/feat"}

    def test_busy_while_the_index_is_locked_but_not_by_a_stale_lock(self, tree: Tree) -> None:
        repo = repo_at(tree.root)
        assert not repo.busy()
        lock = tree.root / ".git" / "index.lock"
        lock.touch()
        assert repo.busy()
        os.utime(lock, (1_000_000_000, 1_000_000_000))
        assert not repo.busy()


class TestAttributes:
    def test_linguist(self, tree: Tree) -> None:
        tree.write(
            {
                ".gitattributes": "*.inc linguist-language=PHP\n"
                "gen/** linguist-generated\nkeep/* -linguist-generated\n"
            }
        )
        tree.write({"a.inc": "", "gen/b.inc": "", "keep/c.py": "", "d.py": ""})
        repo = repo_at(tree.root)
        assert repo.attributes([b"a.inc", b"gen/b.inc", b"keep/c.py", b"d.py"]) == {
            b"a.inc": Attributes("PHP", None),
            b"gen/b.inc": Attributes("PHP", True),
            b"keep/c.py": Attributes(None, False),
        }

    def test_git_is_not_asked_where_nothing_speaks_of_linguist(
        self, tree: Tree, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tree.write({".gitattributes": "*.py text\n", "a.py": ""})
        repo = repo_at(tree.root)
        repo.listing()
        monkeypatch.setattr(Repo, "_git", lambda *_args, **_kw: pytest.fail("git was run"))
        assert repo.attributes([b"a.py"]) == {}

    def test_a_file_of_attributes_added_later(self, tree: Tree) -> None:
        tree.write({"a/x": ""})
        repo = repo_at(tree.root)
        repo.listing()
        tree.write({"a/.gitattributes": "x linguist-language=Go\n"})
        repo.listing([b"a/.gitattributes"])
        assert repo.attributes([b"a/x"]) == {b"a/x": Attributes("Go", None)}


def test_a_configuration_that_changes_while_git_reads_it(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.which("git")
    late = tmp_path / "late"
    late.write_text("[core]\n\texcludesFile = /later\n")
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "git"
    script.write_text(
        f'#!/bin/sh\n{real} "$@"\ndone=$?\ncase "$*" in *core.ignoreCase*)\n'
        f'[ -f {late} ] && mv {late} "$GIT_CONFIG_GLOBAL";; esac\nexit $done\n'
    )
    script.chmod(0o755)
    config = tmp_path / "gitconfig"
    config.write_text("[core]\n\texcludesFile = /sooner\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    repo = repo_at(tree.root)
    for _ in range(2):
        seen = repo.rules()[0]
    assert not late.exists()
    assert seen == b"/later"


def test_a_git_that_nobody_waits_for_any_more_is_ended(tree: Tree) -> None:
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(process.run, ("-c", "alias.wait=!sleep 600", "wait"), encoded(tree.root))
        while not asked.done():
            end_all()
        with pytest.raises(Stopped):
            asked.result()


def test_a_git_that_takes_long_to_read_what_it_is_fed(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LONG_S", 0.02)
    asked: list[None] = []
    slow = ("-c", "alias.slow=!sleep 0.2; wc -c", "slow")
    done = process.run(slow, encoded(tree.root), b"x" * 1_000_000, lambda: asked.append(None))
    assert int(done.stdout) == 1_000_000
    assert asked


def test_configuration_in_files_that_were_empty_or_missing(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, included = tmp_path / "gitconfig", tmp_path / "more"
    config.write_text("")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    repo = repo_at(tree.root)
    before = repo.rules()
    config.write_text("[include]\n\tpath = more\n")
    assert repo.rules() == before
    included.write_text("[core]\n\texcludesFile = /later\n")
    assert repo.rules()[0] == b"/later"
    included.write_text("")
    assert repo.rules() == before
    config.write_text('[includeIf "gitdir:/**"]\n\tpath = more\n')
    assert repo.rules() == before
    included.write_text("[core]\n\tignoreCase = true\n")
    assert repo.rules() != before


def test_configuration_behind_a_symlink_and_of_one_branch(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, link, more = tmp_path / "dotfile", tmp_path / "gitconfig", tmp_path / "more"
    target.write_text("")
    link.symlink_to(target)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(link))
    repo = repo_at(tree.root)
    plain = repo.rules()
    target.write_text(f'[includeIf "onbranch:two"]\n\tpath = {more}\n')
    more.write_text("[core]\n\texcludesFile = /later\n")
    assert repo.rules() == plain
    tree.git("symbolic-ref", "HEAD", "refs/heads/two")
    assert repo.rules()[0] == b"/later"
    tree.git("symbolic-ref", "HEAD", "refs/heads/three")
    assert repo.rules() == plain
