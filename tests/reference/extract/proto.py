"""Messages, enums, services and methods by protoc: paths on standard input, one JSON line a file on standard
output. The folder that imports start from is the nearest above a file that holds what the file imports.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import grpc_tools
from google.protobuf import descriptor_pb2
from grpc_tools import protoc

_IMPORT = re.compile(rb'^\s*import\s+(?:public\s+|weak\s+)?"([^"]+)"', re.MULTILINE)
KNOWN = str(Path(grpc_tools.__file__).parent / "_proto")


def root(path: Path) -> Path:
    wanted = [
        each.decode()
        for each in _IMPORT.findall(path.read_bytes())
        if not each.startswith(b"google/protobuf/")
    ]
    return next(
        (above for above in path.parents if all((above / each).is_file() for each in wanted)), path.parent
    )


def descriptors(above: Path, files: list[Path]) -> descriptor_pb2.FileDescriptorSet | None:
    """What protoc makes of some files below one folder, None if one of them has an error."""
    with tempfile.NamedTemporaryFile() as out:
        told = [str(path) for path in files]
        options = ["--include_source_info", f"--descriptor_set_out={out.name}", f"-I{above}", f"-I{KNOWN}"]
        if protoc.main(["protoc", *options, *told]):
            return None
        return descriptor_pb2.FileDescriptorSet.FromString(Path(out.name).read_bytes())


Places = dict[tuple[int, ...], tuple[int, int]]


def rows(of: descriptor_pb2.FileDescriptorProto) -> Iterator[dict[str, object]]:
    lines: Places = {}
    for location in of.source_code_info.location:
        span = location.span
        last = span[2] if len(span) == 4 else span[0]
        lines.setdefault(tuple(location.path), (span[0] + 1, last + 1))

    def row(names: list[str], path: tuple[int, ...]) -> dict[str, object]:
        return {"symbol": ".".join(names), "start": lines[path][0], "end": lines[path][1]}

    pending = [([], (4, i), message) for i, message in enumerate(of.message_type)]
    while pending:
        parents, path, message = pending.pop()
        if message.options.map_entry:
            continue
        is_group = any(f.type == f.TYPE_GROUP and f.type_name.endswith(message.name) for f in message.field)
        names = [*parents, message.name]
        yield row(names, path)
        if not is_group:
            pending += [(names, (*path, 3, i), inner) for i, inner in enumerate(message.nested_type)]
        for i, enum in enumerate(message.enum_type):
            yield row([*names, enum.name], (*path, 4, i))
    for i, enum in enumerate(of.enum_type):
        yield row([enum.name], (5, i))
    for i, service in enumerate(of.service):
        yield row([service.name], (6, i))
        for k, method in enumerate(service.method):
            yield row([service.name, method.name], (6, i, 2, k))


def main() -> None:
    together: dict[Path, list[Path]] = defaultdict(list)
    for line in sys.stdin:
        path = Path(line.rstrip("\n"))
        together[root(path)].append(path)
    for above, files in together.items():
        for batch in (files[i : i + 50] for i in range(0, len(files), 50)):
            made = descriptors(above, batch)
            read = dict.fromkeys(batch, made) if made else {p: descriptors(above, [p]) for p in batch}
            for path, found in read.items():
                name = path.relative_to(above).as_posix()
                own = next((f for f in found.file if f.name == name), None) if found else None
                answer = {"error": "protoc"} if own is None else {"rows": list(rows(own))}
                print(json.dumps({"path": str(path), **answer}))


if __name__ == "__main__":
    main()
