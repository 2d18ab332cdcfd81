"""`rag-assets cite check`: whether the places that documents cite hold what the documents say of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from rag_assets.answer.cited_places import CheckedPlace, PlaceChecker
from rag_assets.api import open_index
from rag_assets.cli.console import FAILURE, CommandError, Output, counted, short
from rag_assets.cli.options import AsJson, LabelOption, chosen_label, session_of
from rag_assets.index.freshness import remembered_repository
from rag_assets.sources.decoding import Binary, decode

_STDIN = "-"
_MOST_BYTES = 20_000_000  # longer than any document that a person or a model writes

cite_app = typer.Typer(no_args_is_help=True, help="Check the citations of documents.")


@cite_app.callback()
def _group() -> None:
    """Check the citations of documents."""


@cite_app.command()
def check(
    context: typer.Context,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]...", help="Documents, such as docs/design.md; - or none: standard input."),
    ] = None,
    label: LabelOption = None,
    as_json: AsJson = False,
) -> None:
    """Check every path:line and path:line-line, with @commit or without, and the text quoted beside it.

    A place without a commit is checked as it is indexed. Exit code 1 when something is wrong.

    Example: rag-assets cite check docs/design.md
    """
    session = session_of(context)
    home = session.home()
    name = chosen_label(home, label)
    texts = {file: _text(file) for file in dict.fromkeys(files or [_STDIN])}
    root = str(remembered_repository(home, name).get("location", ""))
    with open_index(name, home=home.root, config=session.config_option, clearance=session.clearance()) as index:
        checker = PlaceChecker(index, root)
        found = {file: checker.check(text, _folder(file, root)) for file, text in texts.items()}
        commit = index.manifest.commit_sha
    wrong = sum(one.problem is not None for places in found.values() for one in places)
    if as_json:
        places = [as_object(file, one) for file, known in found.items() for one in known]
        session.output.json({"label": name, "commit": commit, "wrong": wrong, "places": places})
    else:
        _show(session.output, found)
        count = sum(map(len, found.values()))
        said = f"{counted(count, 'place')}, {wrong} wrong" if count else "no place is cited"
        session.output.line((f"{said}  {name}  commit {short(commit)}", "dim"))
    if wrong:
        raise typer.Exit(FAILURE)


def _text(file: str) -> str:
    """The text of a document. Raises CommandError, OSError."""
    if file == _STDIN:
        return sys.stdin.read(_MOST_BYTES)
    path = Path(file)
    if path.is_dir():
        raise CommandError(f"{file} is a folder; name its documents, such as {file.rstrip('/')}/*.md")
    if path.stat().st_size > _MOST_BYTES:
        raise CommandError(f"{file} is too large for a document: {path.stat().st_size:,} bytes")
    found = decode(path.read_bytes())
    if isinstance(found, Binary):
        raise CommandError(f"{file} is no text: {found.detail}")
    return found.text


def _folder(file: str, root: str) -> str:
    """The folder of a document in the repository; '' where it is in none."""
    if file == _STDIN or not root:
        return ""
    try:
        found = Path(file).resolve().parent.relative_to(root).as_posix()
    except ValueError:
        return ""
    return "" if found == "." else found


def _show(output: Output, found: dict[str, list[CheckedPlace]]) -> None:
    for file, places in found.items():
        for one in places:
            if one.problem is None:
                continue
            where = "stdin" if file == _STDIN else file
            output.line((f"{where}:{one.cited.line}", "path"), f"  {one.cited.written}  ", (one.problem, "bad"))
            if one.detail:
                output.line((f"    {one.detail}", "dim"))
            if one.now:
                output.line((f"    now {one.now}", "dim"))


def as_object(file: str, checked: CheckedPlace) -> dict[str, Any]:
    """One place of `cite check --json`."""
    cited = checked.cited
    return {
        "file": file,
        "line": cited.line,
        "written": cited.written,
        "path": checked.path,
        "start_line": cited.start,
        "end_line": cited.end,
        "commit": cited.commit or None,
        "symbol": cited.symbol or None,
        "quotes": list(cited.quotes),
        "problem": checked.problem,
        "detail": checked.detail or None,
        "now": checked.now or None,
    }
