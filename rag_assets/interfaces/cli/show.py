"""`rag-assets show`: everything behind one point: what was found, its description, its source, its payload."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

import typer

from rag_assets.interfaces.cli.failures import CommandError
from rag_assets.interfaces.cli.labels import chosen_label, complete_label
from rag_assets.interfaces.cli.output import Output, short
from rag_assets.interfaces.cli.session import session_of
from rag_assets.interfaces.cli.source_in_catalog import source_in_catalog
from rag_assets.query import Index, open_index
from rag_assets.stores.home import Home

# `src/A.cs:12`, `src/A.cs:12-30` as `search` prints it; a semantic id has more colons.
_PATH_AND_LINE = re.compile(r"(?P<path>(?:[A-Za-z]:)?[^:]+):(?P<line>\d+)(?:-\d+)?")
_SCHEME = "rag://"


class Part(StrEnum):
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
            metavar="POINT", help="A point id or its first digits, a semantic id, path:line, or a rag:// address."
        ),
    ],
    label: Annotated[
        str | None,
        typer.Option("--label", "-l", help="Which index. Default: as for search.", autocompletion=complete_label),
    ] = None,
    part: Annotated[Part, typer.Option(help="What to show of it.")] = Part.ALL,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Show a point: snippet, description, source slice and payload."""
    session = session_of(context)
    home = session.home()
    if point.startswith(_SCHEME) and label is None:
        label = _label_of(point)
    name = chosen_label(session, home, label)
    with open_index(name, home=home.root, config=session.config_option, clearance=session.clearance()) as index:
        if point.startswith(_SCHEME):
            found: dict[str, Any] = {"uri": point, "text": index.resolve(point)}
        else:
            payload = _payload(home, name, index, point)
            _say_nearest(session.output, point, payload)
            found = _parts(index, payload, part, lambda: source_in_catalog(session, index, payload))
    if as_json:
        session.output.json(found)
    elif "text" in found:
        session.output.text(found["text"])
    else:
        _show(session.output, found)


def _label_of(uri: str) -> str:
    from rag_assets.contracts.artifacts import parse_uri

    try:
        return parse_uri(uri).label
    except ValueError as error:
        raise CommandError(str(error)) from error


def _payload(home: Home, name: str, index: Index, point: str) -> dict[str, Any]:
    """The payload of what the user named. Raises CommandError or QueryError where it is nothing or ambiguous."""
    located = _PATH_AND_LINE.fullmatch(point)
    if located is None:
        return index.get(point)
    from rag_assets.interfaces.cli.located import payload_at

    found = payload_at(home, name, located["path"], int(located["line"]), index.clearance)
    return index.get(found["SemanticId"])


def _say_nearest(output: Output, point: str, payload: dict[str, Any]) -> None:
    located = _PATH_AND_LINE.fullmatch(point)
    if located is not None and not payload["StartLine"] <= int(located["line"]) <= payload["EndLine"]:
        output.note(f"line {located['line']} is in no section; this is the nearest one")


def _parts(index: Index, payload: dict[str, Any], part: Part, elsewhere: Callable[[], str | None]) -> dict[str, Any]:
    """The wanted parts of one point, most telling first (C11: snippet, then description, then source).

    `elsewhere` gives the source of a rebuilt index, which has no tables; it has no descriptions then.
    """
    from rag_assets.stores.artifacts import ArtifactError

    wanted = set(Part) if part is Part.ALL else {part}
    found: dict[str, Any] = {
        "path": payload["Path"],
        "start_line": payload["StartLine"],
        "end_line": payload["EndLine"],
        "symbol": payload.get("Symbol", ""),
        "kind": payload.get("Kind", ""),
        "commit": payload.get("CommitSha", ""),
    }
    if Part.SNIPPET in wanted:
        found["snippet"] = payload.get("FinderSnippet", "")
    try:
        if Part.DESCRIPTION in wanted:
            found["description"] = index.description(payload["DescriptionBlobUri"])
        if Part.SOURCE in wanted:
            found["source"] = index.source_slice(payload["SourceSliceBlobUri"])
    except ArtifactError:
        source = elsewhere() if Part.SOURCE in wanted else None
        if source is None:
            raise
        found["source"] = source
    if Part.PAYLOAD in wanted:
        found["payload"] = payload
    return found


def _show(output: Output, found: dict[str, Any]) -> None:
    output.line(
        (f"{found['path']}:{found['start_line']}-{found['end_line']}", "path"),
        "  ",
        (found["symbol"], "bold"),
        (f"  {found['kind']}  commit {short(found['commit'])}", "dim"),
    )
    for name in (Part.SNIPPET, Part.DESCRIPTION, Part.SOURCE):
        if name.value in found:
            output.line()
            output.line((f"--- {name.value}", "dim"))
            output.text(found[name.value])
    if "payload" in found:
        output.line()
        output.line(("--- payload", "dim"))
        for key, value in found["payload"].items():
            if key != "FinderSnippet":  # shown above, and long
                output.line((f"{key}: ", "dim"), ", ".join(value) if isinstance(value, list) else str(value))
