"""How identifiers fall apart into words: one pure function for what is indexed and for what is asked.

FTS5's `unicode61` already separates at `_` and at everything that is no letter or digit. What it cannot
see are the borders inside `getHTTPResponseCode`; `words` gives those parts, for a column of their own.
"""

from __future__ import annotations

import re
from functools import lru_cache

VERSION = 1
"""Raised with any change of `split` or `words`: indexes made with another one derive their words anew."""

_RUN = re.compile(r"[^\W_]+")


def split(identifier: str) -> tuple[str, ...]:
    """The words of an identifier, lower-case, in order.

    Borders: `_` and all that is no letter or digit; lower to upper case (`maxBytes`); the last capital of a
    run that goes on in lower case (`HTTPServer` is `http server`, but `userIDs` is `user ids`); between
    letters and digits (`utf8` is `utf 8`).
    """
    return tuple(word for run in _RUN.findall(identifier) for word in _split_run(run))


def words(text: str) -> str:
    """The parts of all compound identifiers of a text, blank-separated, each distinct identifier once.

    Order is that of first appearance, so that a phrase of parts matches as a phrase. Runs that are a single
    word are left out: the text's own column has them.
    """
    out: list[str] = []
    for run in dict.fromkeys(_RUN.findall(text)):
        if run.islower() and run.isalpha():
            continue  # most are, and need no look-up
        parts = _split_run(run)
        if len(parts) > 1:
            out += parts
    return " ".join(out)


@lru_cache(maxsize=1 << 16)
def _split_run(run: str) -> tuple[str, ...]:
    """Splits a run of letters and digits."""
    if run.isalpha() and run.islower():
        return (run,)  # most are one word, and letter by letter is slow
    borders = [i for i in range(1, len(run)) if _is_border(run, i)]
    return tuple(run[a:b].lower() for a, b in zip([0, *borders], [*borders, len(run)], strict=True))


def _is_border(run: str, i: int) -> bool:
    before, here = run[i - 1], run[i]
    if before.isalpha() != here.isalpha():
        return True
    if here.isupper():
        # The last capital of a run begins the next word, unless what follows is the plural of an acronym.
        return not before.isupper() or (run[i + 1 : i + 2].islower() and not _is_plural(run, i + 1))
    return False


def _is_plural(run: str, i: int) -> bool:
    """Whether `run[i]` is the `s` of `IDs`: after two capitals and before no other lower-case letter."""
    return run[i] == "s" and run[i - 2 : i].isupper() and not run[i + 1 : i + 2].islower()
