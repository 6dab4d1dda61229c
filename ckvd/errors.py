"""The one error hierarchy. `ckvd.cli` alone turns these into a line on stderr and an exit code.

A failure of a single file is never an exception: it is a value (`model.Verdict`) in that file's row.
"""

import errno
import stat

_PASSING = (errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE)


class CkvdError(Exception):
    """Something the user must hear: `str(error)` is one plain sentence with the remedy."""

    exit_code = 1


class Stopped(Exception):  # noqa: N818 - not an error
    """The work was asked to end before it was done: what was committed stays, the next run goes on there."""


class UsageError(CkvdError):
    """The command line or the configuration is wrong."""

    exit_code = 2


class ConfigError(UsageError):
    """`ckv.yaml` holds an unknown key or a bad value; the message names the key and the line."""


class WorktreeError(CkvdError):
    """The root is missing, not a folder, bare, or cannot be read."""


class StoreError(CkvdError):
    """The database cannot be opened, is not ckvd's, or is full or unwritable."""


class PassingStoreError(StoreError):
    """What may pass: a disk that is full or fails, a file in use. A daemon waits until it has."""


class NoIndexError(StoreError):
    """There is no database yet, or one in which nothing was written."""


class NewerStoreError(StoreError):
    """The database was written by a later version of the contract."""


class DamagedStoreError(StoreError):
    """SQLite finds the database malformed; opening it anew with `verify` mends it or moves it aside."""


def refused(what: str, error: OSError, remedy: str) -> StoreError:
    """`what` (a clause) that the file system refused; where that may pass, PassingStoreError."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return PassingStoreError(f"{what}: the disk is full; free some space and try again")
    kind = PassingStoreError if error.errno in _PASSING else StoreError
    return kind(f"{what}: {error.strerror}; {remedy}")


def misplaced(path: str, mode: int, kind: str = "regular file") -> StoreError:
    """What stands at `path` (`mode` as `stat` has it) in the place of a file or folder of the index."""
    device = stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
    remedy = "pass another with --db" if device else "move it away, or pass another with --db"
    return StoreError(f"{path} is not a {kind}; {remedy}")


class ModelError(CkvdError):
    """The embedding model is missing, damaged or unknown."""


class ServiceError(CkvdError):
    """The systemd user service cannot be installed, removed or found here."""


class OutputError(CkvdError):
    """Standard output is closed, or what it goes to is full."""


class ExtraError(CkvdError):
    """The command needs a package of an extra that is not installed; the message names the extra."""


class LockedError(CkvdError):
    """Another process is the writer of this database; the message names its pid."""


class NoDaemonError(CkvdError):
    """A barrier was asked for and no daemon runs on this database."""

    exit_code = 3


class TimeoutExpired(CkvdError):  # noqa: N818 - the word of `subprocess`
    """A barrier was not reached in the time given."""

    exit_code = 4
