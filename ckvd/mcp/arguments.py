"""What is said of a call whose arguments do not fit. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

_SHOWN = 60  # characters of a value


def unknown(tool: str, arguments: Collection[str], taken: Mapping[str, Sequence[str]]) -> str | None:
    """Of a tool or arguments that are not in `taken`, the arguments of each tool; None where all are."""
    if tool not in taken:
        return f"there is no tool {tool!r}; the tools are {_listed(taken)}"
    if other := [name for name in arguments if name not in taken[tool]]:
        return f"{tool} has no argument {_listed(other)}; it takes {_listed(taken[tool])}"
    return None


def wrong(tool: str, errors: Sequence[Any], taken: Sequence[str]) -> str:
    """One sentence of what validation found (as pydantic has it), the first of each argument."""
    first: dict[str, Any] = {}
    for error in errors:
        first.setdefault(str(error["loc"][0]), error)
    lacking = [name for name, error in first.items() if error["type"] == "missing"]
    said = [f"it needs {_listed(lacking)}, and takes {_listed(taken)}"] if lacking else []
    for name, error in first.items():
        if name not in lacking:
            value = repr(error["input"])
            value = value if len(value) <= _SHOWN else value[:_SHOWN] + "…"
            said.append(f"`{name}`: {error['msg'].replace('Input should', 'it must', 1)}, and was {value}")
    return f"{tool} cannot be called so: {'; '.join(' '.join(each.split()) for each in said)}"


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
