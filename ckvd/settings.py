"""What a tree's configuration and its model come to: the shell around `ckvd.config`."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
from dataclasses import asdict, dataclass

from ckvd import __version__, config_edit
from ckvd.config import FILE_NAME as FILE_NAME
from ckvd.config import Config, parse_config
from ckvd.embed import registry
from ckvd.embed.registry import ModelSpec
from ckvd.errors import ConfigError
from ckvd.languages import version
from ckvd.model import CutOptions

ANALYSIS_VERSION = 21
"""Grows when the same bytes would be cut otherwise: every file is then analysed anew."""

_LARGEST = 1 << 20  # bytes; a configuration is a page, and whatever is larger is something else


def load(root: str | bytes) -> Config:
    """The configuration of the tree at `root`, the defaults where it has no `ckv.yaml`.

    Raises `ConfigError` where the file is there and cannot be used: a symbolic link (none is followed),
    not a regular file, unreadable, over 1 MiB, not UTF-8, or not what `parse_config` takes.
    """
    path = os.path.join(os.fsencode(root), os.fsencode(FILE_NAME))
    try:
        # O_NONBLOCK: opening a FIFO must not wait for its writer.
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return Config()
    except OSError as error:
        if error.errno == errno.ELOOP:
            why = "is a symbolic link, and none is followed; put the file itself in its place"
        else:
            why = f"cannot be read ({error.strerror}); mend its permissions or remove it"
        raise ConfigError(f"{FILE_NAME} {why}.") from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)  # Python makes no file of a folder
        raise ConfigError(f"{FILE_NAME} is not a regular file; put a file in its place or remove it.")
    with open(fd, "rb") as file:
        try:
            data = file.read(_LARGEST + 1)
        except OSError as error:
            raise ConfigError(f"{FILE_NAME} cannot be read ({error.strerror}).") from error
    if len(data) > _LARGEST:
        raise ConfigError(f"{FILE_NAME} is over {_LARGEST} bytes; keep only configuration in it.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{FILE_NAME}, line {line}: this is not UTF-8; save the file as UTF-8.") from error
    return parse_config(text)


def use_model(root: bytes, name: str) -> ModelSpec:
    """Writes `embedding.model` into the tree's configuration once that model has shown that it works.

    Raises ModelError where it does not, ConfigError where the file cannot be read or edited.
    """
    from ckvd.embed import collection

    load(root)
    spec = registry.resolve(name, os.fsdecode(root))
    if spec.has_vectors:
        collection.check(spec)
    path = os.path.join(root, os.fsencode(FILE_NAME))
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
    except FileNotFoundError:
        text = ""
    edited = config_edit.set_key(text.removeprefix("\ufeff"), "embedding", "model", name)
    if edited != text:
        _replace(path, edited)
    return spec


def _replace(path: bytes, text: str) -> None:
    """Writes the file anew in one step, its mode kept."""
    folder, name = os.path.split(path)
    beside = os.path.join(folder, b".%s.%d.swp" % (name, os.getpid()))  # a name that no index has in it
    try:
        with open(beside, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            with contextlib.suppress(FileNotFoundError):
                os.chmod(file.fileno(), stat.S_IMODE(os.stat(path).st_mode))
        os.replace(beside, path)
    except OSError as error:
        why = f"{FILE_NAME} cannot be written ({error.strerror}); mend its permissions."
        raise ConfigError(why) from error


@dataclass(frozen=True, slots=True)
class Settings:
    """What the configuration and the model come to."""

    config: Config
    options: CutOptions
    model: ModelSpec

    @classmethod
    def load(cls, root: bytes) -> Settings:
        """Reads `ckv.yaml`. Raises ConfigError, or ModelError where the model that it names cannot be had."""
        config = load(root)
        model = registry.resolve(config.embedding.model, os.fsdecode(root))
        model = model.with_limit(config.chunking.max_input_tokens)
        return cls(config, config.cut_options(model.limit, model.embed_header), model)

    @property
    def key(self) -> str:
        """Changes when any file would be cut or counted otherwise."""
        model = self.model
        what = (
            *(__version__, ANALYSIS_VERSION, version.detection_key(), asdict(self.options)),
            *(model.digests[-1:], model.split, model.document_prefix, os.path.basename(model.tokenizer)),
        )
        return hashlib.blake2b(json.dumps(what).encode(), digest_size=12).hexdigest()
