"""What one tree and its database need: configuration, model, file system, permissions, locks, watches."""

from __future__ import annotations

import ctypes
import fcntl
import os
import platform
import shlex
import shutil
import stat

from ckvd.control import ask, continued, holder, named
from ckvd.errors import CkvdError, ConfigError, ModelError, NoIndexError, StoreError, misplaced
from ckvd.place import Place
from ckvd.report.findings import Finding
from ckvd.report.terminal import counted, number, size
from ckvd.worktree.mounts import silent_folders

ASK_S = 1.0
LOW_BYTES = 200 << 20
LIMITS = "/proc/sys/fs/inotify"
_WALKED = 1_000_000  # folders after which counting ends


def tree(where: Place) -> Finding:
    if where.tree.reason:
        remedy = "mend the repository, or git config --global --add safe.directory where git distrusts it"
        return Finding("tree", "bad", where.tree.reason, remedy)
    if not os.access(where.tree.path, os.R_OK | os.X_OK):
        return _barred("tree", where.root, "read", "u+rx")
    kind = "git worktree" if where.tree.git_dir is not None else "folder outside git"
    return Finding("tree", "ok", f"{where.root} ({kind})")


def configuration(where: Place) -> Finding:
    from ckvd import settings

    try:
        settings.load(where.tree.path)
    except ConfigError as e:
        return Finding("config", "bad", str(e), "mend ckv.yaml; a daemon goes on with the one before")
    found = os.path.exists(os.path.join(where.root, "ckv.yaml"))
    return Finding("config", "ok", "ckv.yaml" if found else "defaults; there is no ckv.yaml")


def model(where: Place) -> Finding:
    """Whether the model's files are those that they should be, and it makes a vector."""
    try:
        from ckvd.embed import embedder, registry
        from ckvd.settings import Settings

        spec = Settings.load(where.tree.path).model
        registry.verify(spec)
        if spec.has_vectors:
            embedder.load(spec).embed(["a line of words"])
    except ImportError as e:
        remedy = "pip install --force-reinstall onnxruntime tokenizers"
        return Finding("model", "bad", f"what runs it cannot be imported ({e})", remedy)
    except ConfigError:
        return Finding("model", "warn", "not looked at, for the configuration is wrong", "mend that first")
    except ModelError as e:
        return Finding("model", "bad", str(e), "install it again, or set embedding.model in ckv.yaml")
    return Finding("model", "ok", f"{spec.name}, {spec.dimensions} dimensions, {spec.limit} tokens")


def filesystem(where: Place, mountinfo: bytes | None = None) -> Finding:
    """Whether the file systems of the tree and the database tell of changes and can hold a database."""
    folder = _folder(where)
    if b"" in silent_folders(os.fsencode(folder), mountinfo):
        why = f"{folder} is on a network or shared file system, where SQLite's log is not safe"
        return Finding("file system", "bad", why, "put the database on a local disk with --db FILE")
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        return Finding("file system", "bad", f"{folder} is read-only", "pass --db FILE on one that is not")
    free = shutil.disk_usage(folder).free
    if free < LOW_BYTES:
        return Finding("file system", "bad", f"{size(free)} free on the disk of {folder}", "free some space")
    if polled := silent_folders(where.tree.path, mountinfo):
        some = "the tree" if b"" in polled else f"{len(polled)} folders of the tree"
        why = f"{some} cannot be watched and will be polled: a network or shared file system"
        return Finding("file system", "warn", why, "run ckvd where the disk is, if polling is too slow")
    return Finding("file system", "ok", f"local, {size(free)} free")


def permissions(where: Place) -> Finding:
    """Whether the database is the user's own, can be written, and is closed to others."""
    folder, own = _folder(where), os.path.basename(os.path.dirname(where.db)) == ".ckvd"
    if not os.access(folder, os.W_OK | os.X_OK):
        return _barred("permissions", folder, "written", "u+wx")
    expected = [(where.db, stat.S_ISREG, 0o600)]
    if own:
        expected.insert(0, (os.path.dirname(where.db), stat.S_ISDIR, 0o700))
    for path, is_kind, mode in expected:
        try:
            found = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        if not is_kind(found.st_mode):
            kind = "folder" if is_kind is stat.S_ISDIR else "regular file"
            return _of("permissions", misplaced(path, found.st_mode, kind))
        if found.st_uid != os.geteuid():
            return _foreign("permissions", path)
        if open_to := stat.S_IMODE(found.st_mode) & ~mode:
            why = f"{path} is open to others ({open_to:03o})"
            return Finding("permissions", "bad", why, f"chmod {mode:o} {shlex.quote(path)}")
        if not os.access(path, os.R_OK | os.W_OK):
            return _barred("permissions", path, "written", "u+rw")
    return Finding("permissions", "ok", "the database is yours alone" if own else "it can be written")


def _barred(name: str, path: str, done: str, change: str) -> Finding:
    """What cannot be read or written, and why; `change` is what chmod is to do to it."""
    if os.lstat(path).st_uid != os.geteuid():
        return _foreign(name, path)
    return Finding(name, "bad", f"{path} cannot be {done}", f"chmod {change} {shlex.quote(path)}")


def _foreign(name: str, path: str) -> Finding:
    what = "give a folder of your own" if name == "tree" else "pass another with --db"
    return Finding(name, "bad", f"{path} is another user's", f"run ckvd as that user, or {what}")


def writer(where: Place) -> Finding:
    """Who holds the lock, whether it answers, and whether locks work there."""
    name = "lock"
    if not _locks_work(_folder(where)):
        return Finding(name, "bad", "the file system has no locks (flock)", "pass --db FILE on a local disk")
    if wrong := _lock_is_wrong(where.places.lock):
        return wrong
    pid = holder(where.places)
    try:
        live = ask(where.places, {"op": "status"}, ASK_S)
    except (TimeoutError, CkvdError):
        who = f"pid {pid}" if pid else "a daemon"
        return Finding(name, "bad", f"{who} holds the database and does not answer", continued(pid))
    if live is not None:
        reason = (live.get("watch") or {}).get("reason")
        errors = [*live.get("errors", ()), *([f"watching is degraded: {reason}"] if reason else [])]
        if errors:
            said = f"the daemon (pid {live['pid']}) says: {errors[0]}"
            return Finding(name, "warn", said, f"see: {where.command('status')}")
        return Finding(name, "ok", f"held by the daemon, pid {live['pid']}, {live['state']}")
    if pid is not None:
        why = f"{named(pid)} writes the database without answering"
        return Finding(name, "warn", why, "an index run, or a daemon that starts; look again in a while")
    return Finding(name, "ok", "free; no daemon runs")


def _lock_is_wrong(path: str) -> Finding | None:
    """What keeps a writer from opening its lock, where that is there."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return None  # of a folder that cannot be read `permissions` tells
    if not stat.S_ISREG(mode):
        return _of("lock", misplaced(path, mode))
    if not os.access(path, os.R_OK | os.W_OK):
        return _barred("lock", path, "opened", "u+rw")
    return None


def _locks_work(folder: str) -> bool:
    """An flock of the folder itself: nothing needs to be written."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return True  # `permissions` says why
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(fd)
    return True


def index(where: Place) -> Finding:
    """Whether the database can be read and is sound."""
    try:
        from ckvd.report.snapshot import opened
        from ckvd.store.connection import damaged
    except ImportError as e:
        return Finding("index", "warn", f"not looked at ({e})", "mend SQLite first")
    try:
        with opened(where.db) as reader:
            found = reader.query("PRAGMA quick_check(1)")[0][0]
            revision, files = reader.revision, reader.query("SELECT count(*) FROM files")[0][0]
    except NoIndexError:
        return Finding("index", "warn", f"none yet at {where.db}", where.command("index"))
    except StoreError as e:
        return _of("index", e)
    if found != "ok":
        return _of("index", damaged(where.db, found))
    return Finding("index", "ok", f"revision {number(revision)}, {counted(files, 'file')}, sound")


def _of(name: str, error: StoreError) -> Finding:
    """What another command would say, its remedy apart."""
    why, _, remedy = " ".join(str(error).split()).rpartition("; ")
    return Finding(name, "bad", why, remedy)


def inotify(where: Place, limits: str = LIMITS) -> Finding:
    """Whether the system's limits let every folder be watched."""
    if platform.system() != "Linux":
        return Finding("inotify", "ok", "not used on this system")
    try:
        most = {n: _limit(limits, n) for n in ("max_user_watches", "max_user_instances")}
    except (OSError, ValueError) as e:
        return Finding("inotify", "bad", f"its limits cannot be read ({e})", "use a kernel with inotify")
    watches, instances = most["max_user_watches"], most["max_user_instances"]
    set_now = _watched(where)
    folders = _folders(where) if set_now is None else set_now
    if folders > watches:
        why = (
            f"{number(folders)} folders, fs.inotify.max_user_watches is {number(watches)}: the rest is polled"
        )
        return Finding("inotify", "bad", why, _raise("max_user_watches", folders * 2))
    fd = ctypes.CDLL(None, use_errno=True).inotify_init1(os.O_CLOEXEC)
    if fd < 0 or instances < 1:
        why = f"no instance is left of fs.inotify.max_user_instances ({number(instances)})"
        return Finding("inotify", "bad", why, _raise("max_user_instances", max(512, instances * 2)))
    os.close(fd)
    # A daemon's own number is that of `ckvd status`, and has git's folders too.
    which = "with files to watch" if set_now is None else "watched"
    shown = f"{counted(folders, 'folder')} {which}, {number(watches)} allowed, {number(instances)} instances"
    if folders * 2 > watches:
        remedy = _raise("max_user_watches", folders * 4)
        return Finding("inotify", "warn", f"{shown}: other programs use them too", remedy)
    return Finding("inotify", "ok", shown)


def _raise(limit: str, to: int) -> str:
    return f"sudo sysctl fs.inotify.{limit}={to} (and in /etc/sysctl.d/ for good)"


def _limit(limits: str, name: str) -> int:
    with open(os.path.join(limits, name), encoding="ascii") as file:
        return int(file.read())


def _watched(where: Place) -> int | None:
    """Folders that a daemon watches now; None where none says."""
    try:
        live = ask(where.places, {"op": "status"}, ASK_S)
    except (TimeoutError, CkvdError):
        return None  # `lock` says why
    return ((live or {}).get("watch") or {}).get("watches")


_INDEXED = "SELECT count(DISTINCT rtrim(path, replace(path, '/', ''))) FROM files"


def _folders(where: Place) -> int:
    """Folders to be watched: those with indexed files, or without an index all but `.git` and `.ckvd`."""
    try:
        from ckvd.report.snapshot import opened

        with opened(where.db) as reader:
            return int(reader.query(_INDEXED)[0][0])
    except (ImportError, StoreError):
        pass  # `sqlite` and `index` say why, where it is not that there is none yet
    count = 0
    for _, names, _ in os.walk(where.tree.path):
        names[:] = [name for name in names if name not in (b".git", b".ckvd")]
        count += 1
        if count >= _WALKED:
            break
    return count


def service(where: Place) -> Finding:
    """The user service of this tree, if there is one."""
    from ckvd import service as units

    found = units.examine(where.root)
    if found is None:
        return Finding("systemd", "ok", "no service for this tree; 'ckvd service install' makes one")
    if found.missing:
        why = f"{found.unit} starts {found.missing}, which is not there"
        return Finding("systemd", "bad", why, "ckvd service install")
    if found.state is None:
        remedy = "log in with a session of systemd, or keep 'ckvd run' running by other means"
        return Finding("systemd", "warn", f"{found.unit} is installed, and no user manager runs", remedy)
    if found.state not in ("active", "activating", "reloading"):
        remedy = f"journalctl --user --unit '{found.unit}' says why; then ckvd service install"
        return Finding("systemd", "bad", f"{found.unit} is {found.state}", remedy)
    return Finding("systemd", "ok", f"{found.unit} is {found.state}")


def _folder(where: Place) -> str:
    """The database's folder, or the nearest above it that is there."""
    folder = os.path.dirname(where.db)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder
