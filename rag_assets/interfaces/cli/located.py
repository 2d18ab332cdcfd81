"""From a place in a file, as compilers and editors write it, to the section that covers it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from rag_assets.interfaces.cli.failures import CommandError
from rag_assets.interfaces.freshness import remembered_repository
from rag_assets.stores.generations import Generation, active_generation
from rag_assets.stores.home import Home
from rag_assets.stores.tables import bucket_of, read_rows

_SHOWN_SECTIONS = 8


def payload_at(home: Home, label: str, path: str, line: int) -> dict[str, Any]:
    """The payload of the smallest section around a line. Raises CommandError naming the sections there are.

    `path` is relative to the repository, or to the current folder inside it, with either separator.
    """
    generation = active_generation(home, label)
    written = path.replace("\\", "/").removeprefix("./")
    for candidate in dict.fromkeys((written, _in_repository(home, label, path))):
        payloads = _payloads(generation, candidate)
        if payloads:
            return _around(payloads, candidate, line)
    raise CommandError(f"{written} has no section in the index of {label}; see: rag-assets status --skipped")


def _payloads(generation: Generation, path: str) -> list[dict[str, Any]]:
    bucket = bucket_of(path, generation.manifest.bucket_count)
    rows = read_rows(generation.directory, "qdrant_points", bucket, ["path", "payload"])
    return [msgspec.json.decode(row["payload"]) for row in rows if row["path"] == path]


def _around(payloads: list[dict[str, Any]], path: str, line: int) -> dict[str, Any]:
    covering = [payload for payload in payloads if payload["StartLine"] <= line <= payload["EndLine"]]
    if covering:
        return min(covering, key=lambda payload: (payload["EndLine"] - payload["StartLine"], payload["SemanticId"]))
    ranges = sorted((payload["StartLine"], payload["EndLine"]) for payload in payloads)
    shown = ", ".join(f"{start}-{end}" for start, end in ranges[:_SHOWN_SECTIONS])
    raise CommandError(f"no section of {path} covers line {line}; its sections are at lines {shown}")


def _in_repository(home: Home, label: str, path: str) -> str:
    """A path that was typed inside a checkout, as the repository names it; unchanged where it is outside."""
    location = Path(str(remembered_repository(home, label).get("location", "")))
    try:
        return Path(path).resolve().relative_to(location).as_posix()
    except ValueError:
        return path
