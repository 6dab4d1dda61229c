from __future__ import annotations

from pathlib import Path

import pytest
from index_states import build
from support import Ckvd, Tree


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory, ckvd: Ckvd) -> Tree:
    """The repository whose copies are put into a state; not to be changed."""
    return build(tmp_path_factory.mktemp("editors") / "it's a repo", ckvd)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Where a copy goes: a path with all that a shell, a URI or SQL could stumble over."""
    return tmp_path / 'it\'s a 100% "new" repo?#; $(x)'
