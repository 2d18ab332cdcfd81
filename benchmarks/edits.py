"""Edits a repository as its authors do: a statement more in the body of a method, and a method more.

The second is there because bodies are not in what is embedded: without it no edit would ask for a new embedding.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec
from history import Commit, git, write_history

from rag_assets.contracts.segment import Member, MemberKind, Segment
from rag_assets.index.blobs import BlobStore
from rag_assets.index.generations import Generation
from rag_assets.index.layout import IndexHome
from rag_assets.index.parquet_parts import read_rows

_OPENING = ")\n    {\n"  # of a method in a file-scoped namespace; enough files have one
_OPENING_IN_BLOCK = ")\n        {\n"
_STATEMENT = "            _ = nameof(System);\n"
_METHOD = (
    "/// <summary>Counts what has been measured.</summary>\n        public static int CountMeasured() => 1;\n\n        "
)


class Method(NamedTuple):
    """Where a method and its body begin in the text of its file."""

    text: str
    start: int
    body: int


def methods_of(home: IndexHome, generation: Generation) -> dict[str, Method]:
    """Path → the first method with a body, of the C# files of a generation that have one."""
    blobs = BlobStore(home.blobs)
    found: dict[str, Method] = {}
    for bucket in range(generation.manifest.bucket_count):
        files = read_rows(generation.directory, "discovered_files", bucket, ["path", "text_sha256", "redacted_secrets"])
        addresses = {row["path"]: row["text_sha256"] for row in files if not row["redacted_secrets"]}
        for row in read_rows(generation.directory, "segments", bucket, ["path", "language", "segment"]):
            if row["language"] != "csharp" or row["path"] in found or row["path"] not in addresses:
                continue
            text = blobs.get(addresses[row["path"]])
            segment = msgspec.json.decode(row["segment"], type=Segment)
            methods = [method for member in segment.members if (method := _method(member, text))]
            if methods:
                found[row["path"]] = methods[0]
    return found


def edit(repository: Path, parent: str, branch: str, methods: Mapping[str, Method]) -> None:
    """A commit on top of the branch `parent`, as the head of `branch`, that changes these methods."""
    put = [
        (path, text[:start] + _METHOD + text[start:body] + _STATEMENT + text[body:])
        for path, (text, start, body) in methods.items()
    ]
    later = int(git(repository, "show", "--no-patch", "--format=%ct", parent)) + 1
    commit = Commit(name="edit", branch=branch, parent=f"refs/heads/{parent}^0", put=put)
    write_history(repository, [commit], first_time=later)


def texts_of(generation: Generation, paths: Collection[str]) -> int:
    """How many different texts of these files are embedded."""
    texts: set[str] = set()
    for bucket in range(generation.manifest.bucket_count):
        rows = read_rows(generation.directory, "summary_sections", bucket, ["path", "finder_snippet"])
        texts.update(row["finder_snippet"] for row in rows if row["path"] in paths)
    return len(texts)


def _method(member: Member, text: str) -> Method | None:
    """None for what is no method, and for one whose body does not begin on a line of its own."""
    if member.kind is not MemberKind.METHOD:
        return None
    source, start = member.span.slice(text), member.span.char_start
    for opening in (_OPENING, _OPENING_IN_BLOCK):
        if opening in source:
            return Method(text, start, start + source.index(opening) + len(opening))
    return None
