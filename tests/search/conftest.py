from __future__ import annotations

from pathlib import Path

import pytest
from search_support import make_index

from ckvd.index import Index

FILES = {
    "src/retry.py": '''import time


def retry_with_backoff(fn, attempts=5, base=0.1):
    """Call fn again after failures, waiting longer each time."""
    for n in range(attempts):
        try:
            return fn()
        except OSError:
            time.sleep(base * 2 ** n)
    raise TimeoutError
''',
    "locale/de.json": '{"retry_with_backoff": "Wiederholen", "retry": "retry with backoff"}\n',
    "tests/test_retry.py": """from src.retry import retry_with_backoff


def test_retry_with_backoff_retries_with_backoff():
    assert retry_with_backoff(lambda: 1) == 1


def test_retry_with_backoff_raises():
    pass
""",
    "vendor/retry.min.js": "function retryWithBackoff(a){return a}" * 30,
    "CHANGELOG.md": "# Changelog\n\n- retry with backoff added\n- retry with backoff fixed\n",
    "docs/retry.md": """# Retry with backoff

Retry with backoff: retry, backoff, retry backoff attempts. How retry with backoff works and why retry with \
backoff is good.

## Retry with backoff FAQ

Retry with backoff?
""",
    "ids.py": """class HTTPServerPool:
    def getHTTPResponseCode(self, userID2): return userID2


def atomic_write_json(path): return path


def parseXMLToDict(s): return s


SHIPPING_METHOD_ID = 1


def __init_subclass_hook__(): pass


def naïve_Größe(): pass
""",
    "cache/lru.py": '''"""Caches."""

from collections import OrderedDict

MAX_ENTRIES = 128


class ShardedLRUCache:
    """A cache that keeps what was used last, in shards."""

    def __init__(self, limit=MAX_ENTRIES):
        self._items = OrderedDict()
        self._limit = limit

    def get(self, key):
        self._items.move_to_end(key)
        return self._items[key]

    def put(self, key, value):
        self._items[key] = value
        self._items.move_to_end(key)
        if len(self._items) > self._limit:
            self._evict()

    def _evict(self):
        self._items.popitem(last=False)
''',
    "cache/store.go": """package cache

// Evict drops what expired.
func (s *Store) Evict(now int64) int {
	n := 0
	for k, v := range s.items {
		if v.deadline < now {
			delete(s.items, k)
			n++
		}
	}
	return n
}
""",
    "src/vec.cpp": """#include <vector>

int sum(const std::vector<int>& v) {
  int t = 0;
  for (int x : v) t += x;
  return t;
}
""",
}


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("search")
    make_index(folder, FILES)
    return folder


@pytest.fixture(scope="session")
def index(root: Path) -> Index:
    return Index(root)
