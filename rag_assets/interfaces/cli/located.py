"""From a place in a file, as compilers and editors write it, to the section that covers it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.contracts.payload import with_generation
from rag_assets.interfaces.cli.failures import CommandError
from rag_assets.interfaces.cli.output import counted
from rag_assets.interfaces.freshness import remembered_repository
from rag_assets.stores.generations import Generation, active_generation
from rag_assets.stores.home import Home
from rag_assets.stores.tables import bucket_of, read_rows

_SHOWN_SECTIONS = 8


def payload_at(home: Home, label: str, path: str, line: int, clearance: Confidentiality) -> dict[str, Any]:
    """The payload of the smallest section around a line, else of the nearest one: directives and blank lines between
    declarations belong to none. Raises CommandError for a file without sections, which is also what one is that
    `clearance` does not reach for (E12), and for a line behind its end.

    `path` is relative to the repository, or to the current folder inside it, with either separator.
    """
    generation = active_generation(home, label)
    candidates = repository_paths(home, label, path)
    for candidate in candidates:
        payloads = _payloads(generation, candidate) if generation.manifest.levels.visible(candidate, clearance) else []
        if payloads:
            return _nearest(payloads, candidate, line, _line_count(generation, candidate))
    raise CommandError(
        f"{candidates[0]} has no section in the index of {label}; see: rag-assets explain {candidates[0]}"
    )


def repository_paths(home: Home, label: str, path: str) -> tuple[str, ...]:
    """What a path that somebody typed may be called in the repository, the likeliest first."""
    written = path.replace("\\", "/")
    while written.startswith("./"):
        written = written[2:]
    return tuple(dict.fromkeys((written, _in_repository(home, label, path), _in_repository(home, label, written))))


def _payloads(generation: Generation, path: str) -> list[dict[str, Any]]:
    bucket = bucket_of(path, generation.manifest.bucket_count)
    rows = read_rows(generation.directory, "qdrant_points", bucket, ["path", "payload"])
    commit, date = generation.manifest.commit_sha, generation.manifest.commit_date
    return [with_generation(msgspec.json.decode(row["payload"]), commit, date) for row in rows if row["path"] == path]


def _nearest(payloads: list[dict[str, Any]], path: str, line: int, line_count: int) -> dict[str, Any]:
    if not 1 <= line <= max(line_count, *(payload["EndLine"] for payload in payloads)):
        ranges = sorted((payload["StartLine"], payload["EndLine"]) for payload in payloads)
        shown = ", ".join(f"{start}-{end}" for start, end in ranges[:_SHOWN_SECTIONS])
        raise CommandError(
            f"{path} has {counted(line_count, 'line')} and none is line {line}; its sections are at lines {shown}"
        )

    def distance(payload: dict[str, Any]) -> tuple[int, int, str]:
        start, end = payload["StartLine"], payload["EndLine"]
        return max(start - line, line - end, 0), end - start, payload["SemanticId"]

    return min(payloads, key=distance)


def _line_count(generation: Generation, path: str) -> int:
    bucket = bucket_of(path, generation.manifest.bucket_count)
    rows = read_rows(generation.directory, "discovered_files", bucket, ["path", "line_count"])
    return next((int(row["line_count"]) for row in rows if row["path"] == path), 0)


def _in_repository(home: Home, label: str, path: str) -> str:
    """A path that was typed inside a checkout, as the repository names it; unchanged where it is outside."""
    location = Path(str(remembered_repository(home, label).get("location", "")))
    try:
        return Path(path).resolve().relative_to(location).as_posix()
    except ValueError:
        return path
