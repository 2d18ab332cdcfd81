"""`rag-assets show`: what the index knows of one point: snippet, description, source and payload. `read` has
the text of any place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from rag_assets.api import Index, open_index
from rag_assets.cli.console import CommandError, Output, counted, short
from rag_assets.cli.options import AsJson, LabelOption, chosen_label, session_of
from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.contracts.identity import parse_uri, plain_symbol
from rag_assets.errors import QueryError
from rag_assets.index.freshness import remembered_repository
from rag_assets.index.generations import Generation, active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.search.outline import named_part
from rag_assets.search.source_lines import SourceLines

# `src/A.cs:12`, `src/A.cs:12-30` as `search` prints it
_PATH_AND_LINE = re.compile(r"(?P<path>.+):(?P<line>\d{1,9})(?:-\d+)?", re.DOTALL)
_DIGITS = re.compile(r"[0-9a-fA-F-]{4,36}")
_SCHEME = "rag://"
_SHOWN_SECTIONS = 8
_CONTEXT = 8  # lines on either side of the one that was asked for


class ShownPart(StrEnum):
    SNIPPET = "snippet"
    DESCRIPTION = "description"
    SOURCE = "source"
    PAYLOAD = "payload"
    ALL = "all"


def show(
    context: typer.Context,
    point: Annotated[
        str,
        typer.Argument(
            metavar="POINT",
            help="A point id or its first digits, a semantic id, path:line, Type.Member, or a rag:// address.",
        ),
    ],
    label: LabelOption = None,
    part: Annotated[ShownPart, typer.Option(help="What to show of it.")] = ShownPart.ALL,
    as_json: AsJson = False,
) -> None:
    """Show what the index knows of a point: snippet, description, source and payload; path:line marks the line.

    Example: rag-assets show src/Orders/RefundManager.cs:40 --part source
    """
    session = session_of(context)
    home = session.home()
    if point.startswith(_SCHEME) and label is None:
        label = _label_of(point)
    name = chosen_label(home, label)
    around: SourceLines | None = None
    with open_index(name, home=home.root, config=session.config_option, clearance=session.clearance()) as index:
        if point.startswith(_SCHEME):
            found: dict[str, Any] = {"uri": point, "text": index.resolve(point)}
        else:
            located = _located(index, point)
            payload = _payload(home, name, index, point, located)
            line = _line(session.output, located, payload)
            found = _parts(index, payload, part, line)
            if line is not None and "source" in found and not as_json:
                around = index.read(f"{found['path']}:{max(1, line - _CONTEXT)}-{line + _CONTEXT}")
    if as_json:
        session.output.json(found)
    elif "text" in found:
        session.output.text(found["text"])
    else:
        _show(session.output, found, around)


def _label_of(uri: str) -> str:
    try:
        return parse_uri(uri).label
    except ValueError as error:
        raise CommandError(str(error)) from error


def _located(index: Index, point: str) -> re.Match[str] | None:
    """The path and the line of a point that is written so. A semantic id looks like one of a path with colons."""
    found = _PATH_AND_LINE.fullmatch(point)
    if found is None or ":" not in found["path"][2:]:  # `C:\shop\A.cs:12` has another colon
        return found
    return found if found["path"] in index.parts.shard().values("Path", index.scope()) else None


def _payload(home: IndexHome, name: str, index: Index, point: str, located: re.Match[str] | None) -> dict[str, Any]:
    """The payload that `point` names. Raises CommandError or QueryError where it names none or several."""
    if located is None:
        is_id = ":" in point or _DIGITS.fullmatch(point) is not None
        if not is_id and (declared := _declared(index, point)) is not None:
            return index.get(payload_at(home, name, *declared, index.clearance)["SemanticId"])
        if re.search(r"[/\\.]", point) and ":" not in point:
            raise CommandError(
                f"{point!r} is no point; show a place in a file with its line, as {point}:1, or all that is known of "
                f"the file with: rag-assets explain {point}"
            )
        return index.get(point)

    found = payload_at(home, name, located["path"], int(located["line"]), index.clearance)
    return index.get(found["SemanticId"])


def _declared(index: Index, name: str) -> tuple[str, int] | None:
    """Where a member or a type is declared that is named as `OrderManager.Cancel`; None where nothing is."""
    try:
        lines = index.read(name)
    except QueryError:
        return None
    return (lines.path, lines.start_line) if lines.around is not None and lines.path != name else None


def _line(output: Output, located: re.Match[str] | None, payload: dict[str, Any]) -> int | None:
    """The line that a point names, None where it names none of this section: then it says that this is the nearest."""
    if located is None:
        return None
    if payload["StartLine"] <= int(located["line"]) <= payload["EndLine"]:
        return int(located["line"])
    output.note(f"line {located['line']} is in no section; this is the nearest one")
    return None


def _parts(index: Index, payload: dict[str, Any], part: ShownPart, line: int | None) -> dict[str, Any]:
    """The wanted parts of one point in the order of C11: snippet, description, source."""
    wanted = set(ShownPart) if part is ShownPart.ALL else {part}
    found: dict[str, Any] = {
        "path": payload["Path"],
        "start_line": payload["StartLine"],
        "end_line": payload["EndLine"],
        "line": line,
        "symbol": plain_symbol(payload.get("Symbol", "")),
        "name": _name(payload),
        "kind": payload.get("Kind", ""),
        "commit": payload.get("CommitSha", ""),
        "date": payload.get("IndexedUtc", ""),
        "index_commit": index.manifest.commit_sha,
    }
    if ShownPart.SNIPPET in wanted:
        found["snippet"] = payload.get("FinderSnippet", "")
    if ShownPart.DESCRIPTION in wanted:
        found["description"] = index.description(payload["DescriptionBlobUri"])
    if ShownPart.SOURCE in wanted:
        found["source"] = index.source_slice(payload["SourceSliceBlobUri"])
    if ShownPart.PAYLOAD in wanted:
        found["payload"] = payload
    return found


def _name(payload: Mapping[str, Any]) -> str:
    """What people call it: of a symbol in parts also which one it is."""
    lines = payload["StartLine"], payload["EndLine"]
    return named_part(payload.get("Symbol", ""), payload.get("PartIndex", 1), payload.get("PartTotal", 1), lines)


def _show(output: Output, found: dict[str, Any], around: SourceLines | None) -> None:
    output.line(
        (f"{found['path']}:{found['start_line']}-{found['end_line']}", "path"),
        "  ",
        (found["name"], "bold"),
        (f"  {found['kind']}  as of commit {short(found['commit'])}, {found['date'][:10]}", "dim"),
        (f"; index of commit {short(found['index_commit'])}", "dim"),
    )
    for name in (ShownPart.SNIPPET, ShownPart.DESCRIPTION, ShownPart.SOURCE):
        if name.value in found:
            output.line()
            output.line((f"--- {name.value}", "dim"))
            if name is ShownPart.SOURCE and around is not None:
                _show_marked(output, around, found["line"])
            else:
                output.text(found[name.value])
    if "payload" in found:
        output.line()
        output.line(("--- payload", "dim"))
        for key, value in found["payload"].items():
            if key != "FinderSnippet":  # shown above, and long
                output.line((f"{key}: ", "dim"), ", ".join(value) if isinstance(value, list) else str(value))


def _show_marked(output: Output, around: SourceLines, line: int) -> None:
    """The lines around the one that was asked for, numbered, with `>` before it."""
    width = len(str(around.end_line))
    for number, text in around.numbered:
        if number == line:
            output.line((f"> {number:>{width}}  {text}".rstrip(), "bold"))
        else:
            output.line(f"  {number:>{width}}  {text}".rstrip())
    for note in around.notes:
        output.line((note, "warn"))


def payload_at(home: IndexHome, label: str, path: str, line: int, clearance: Confidentiality) -> dict[str, Any]:
    """The payload of the smallest section around a line, else of the nearest one: directives and blank lines between
    declarations belong to no section. Raises CommandError for a file without sections, for one that `clearance` does
    not cover (E12, with the same text), and for a line behind the end of the file.

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


def repository_paths(home: IndexHome, label: str, path: str) -> tuple[str, ...]:
    """The repository paths that a typed path can mean, the likeliest first."""
    written = path.replace("\\", "/")
    while written.startswith("./"):
        written = written[2:]
    known = written, _in_repository(home, label, path), _in_repository(home, label, written)
    return tuple(dict.fromkeys((*known, path)))  # a name can have a `\` of its own


def _payloads(generation: Generation, path: str) -> list[dict[str, Any]]:
    return [msgspec.json.decode(row["payload"]) for row in _rows(generation, "qdrant_points", path, "payload")]


def _nearest(payloads: list[dict[str, Any]], path: str, line: int, line_count: int) -> dict[str, Any]:
    if not 1 <= line <= max(line_count, *(payload["EndLine"] for payload in payloads)):
        ranges = sorted((payload["StartLine"], payload["EndLine"]) for payload in payloads)
        shown = ", ".join(f"{start}-{end}" for start, end in ranges[:_SHOWN_SECTIONS])
        raise CommandError(
            f"{path} has {counted(line_count, 'line')}, so there is no line {line}; its sections are at lines {shown}"
        )

    def distance(payload: dict[str, Any]) -> tuple[int, int, str]:
        start, end = payload["StartLine"], payload["EndLine"]
        return max(start - line, line - end, 0), end - start, payload["SemanticId"]

    return min(payloads, key=distance)


def _line_count(generation: Generation, path: str) -> int:
    return next((int(row["line_count"]) for row in _rows(generation, "discovered_files", path, "line_count")), 0)


def _rows(generation: Generation, table: str, path: str, column: str) -> list[dict[str, Any]]:
    """The rows of a file in a table."""
    from rag_assets.index.parquet_parts import bucket_of, read_rows  # start-up budget: a point is shown without tables

    bucket = bucket_of(path, generation.manifest.bucket_count)
    try:
        rows = read_rows(generation.directory, table, bucket, ["path", column])
    except FileNotFoundError as error:
        label = generation.manifest.index_label
        raise CommandError(
            f"{label}: table {table} is gone, so no line can be found; run: rag-assets index {label} --force, or, "
            f"with a catalog: rag-assets rebuild {label}"
        ) from error
    return [row for row in rows if row["path"] == path]


def _in_repository(home: IndexHome, label: str, path: str) -> str:
    """The repository path of a path inside a checkout; a path outside stays as it is."""
    location = Path(str(remembered_repository(home, label).get("location", "")))
    try:
        return Path(path).resolve().relative_to(location).as_posix()
    except ValueError:
        return path
