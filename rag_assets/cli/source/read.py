"""`rag-assets read`: the text of a place with line numbers. What the index knows of it is the business of `show`."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from rag_assets.api import open_index
from rag_assets.cli.console import NOTHING_FOUND
from rag_assets.cli.options import AsJson, LabelOption, WithOverlay, chosen_label, session_of, with_overlay
from rag_assets.cli.source.show import repository_paths
from rag_assets.errors import PlaceError, WrongQuestion
from rag_assets.index.layout import IndexHome
from rag_assets.search.index import LabelIndex
from rag_assets.search.result_objects import lines_object
from rag_assets.search.source_lines import SourceLines

_PATH_AND_REST = re.compile(r"(?P<path>(?:[A-Za-z]:)?[^:@]+)(?P<rest>.*)", re.DOTALL)


def read(
    context: typer.Context,
    place: Annotated[
        str,
        typer.Argument(
            metavar="PLACE",
            help="A file, lines of it (src/A.cs:12-40), a symbol (Order.Refund, src/A.cs:Refund) or a point id; "
            "with @COMMIT behind it as --commit.",
        ),
    ],
    label: LabelOption = None,
    commit: Annotated[
        str, typer.Option(help="The text of this commit (an id, a branch, HEAD~1). Default: as indexed.")
    ] = "",
    work_tree: Annotated[bool, typer.Option("--work-tree", help="The text in the work tree, as it is now.")] = False,
    max_tokens: Annotated[
        int,
        typer.Option(min=0, help="At most so many tokens: else an outline, else the first lines. Default: all lines."),
    ] = 0,
    overlay: WithOverlay = None,
    as_json: AsJson = False,
) -> None:
    """Read a place with line numbers and the symbol around it. Exit code 4 when there is no such place.

    Example: rag-assets read src/Orders/RefundManager.cs:40-60
    """
    session = session_of(context)
    home = session.home()
    name = chosen_label(home, label)
    with open_index(name, home=home.root, config=session.config_option, clearance=session.clearance()) as index:
        read_from: LabelIndex = index
        if not commit and not work_tree:
            read_from = with_overlay(index, overlay, is_named=label is not None, output=session.output)
        try:
            found = _read(home, read_from, place, commit, work_tree, max_tokens)
        except PlaceError as error:
            session.output.error(str(error))
            raise typer.Exit(NOTHING_FOUND) from None
    if as_json:
        session.output.json(lines_object(found))
        return
    head, *lines = found.rendered()
    session.output.line((head, "path"))
    for line in lines:
        session.output.line((session.output.told(line), "warn") if line in found.notes else line)


def _read(home: IndexHome, index: LabelIndex, place: str, commit: str, work_tree: bool, max_tokens: int) -> SourceLines:
    """The place as it was typed, else relative to the current folder. Raises what `Index.read` does."""
    parts = _PATH_AND_REST.fullmatch(place)
    paths = repository_paths(home, index.label, parts["path"]) if parts else ()
    first: PlaceError | WrongQuestion | None = None
    for written in dict.fromkeys((place, *(f"{path}{parts['rest']}" for path in paths if parts))):
        try:
            return index.read(written, commit=commit, work_tree=work_tree, max_tokens=max_tokens)
        except (PlaceError, WrongQuestion) as error:
            first = first or error
    assert first is not None
    raise first
