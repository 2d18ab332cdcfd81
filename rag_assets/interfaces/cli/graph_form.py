"""In which form a walk over the graph is written: for people, as JSON or Mermaid, and as a picture in a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from rag_assets.interfaces.cli.failures import CommandError
from rag_assets.interfaces.cli.output import Output, short

if TYPE_CHECKING:
    from rag_assets.graph.diagram import Diagram
    from rag_assets.query import Index

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Form:
    """What a caller wants to see; for people where it is neither JSON nor Mermaid. Raises BadParameter for both."""

    as_json: bool
    as_mermaid: bool
    svg: Path | None

    def __post_init__(self) -> None:
        if self.as_json and self.as_mermaid:
            raise typer.BadParameter("choose one of --json and --mermaid")

    def write(
        self,
        output: Output,
        index: Index,
        found: T,
        diagram: Callable[[T], Diagram],
        as_object: Callable[[T], dict[str, Any]],
        show: Callable[[Output, T, str], None],
    ) -> None:
        """Writes what was found in `index`. Raises CommandError where the picture cannot be written."""
        if self.svg is not None:
            from rag_assets.graph.svg import svg

            write_picture(output, self.svg, svg(diagram(found)))
        if self.as_mermaid:
            from rag_assets.graph.diagram import mermaid

            output.text(mermaid(diagram(found)))
        elif self.as_json:
            output.json(origin(index) | as_object(found))
        else:
            show(output, found, footer(index))


def write_picture(output: Output, path: Path, drawn: str) -> None:
    """Raises CommandError."""
    try:
        path.write_text(drawn, encoding="utf-8", newline="\n")
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror or error}; name another file") from error
    output.note(f"drawn: {path}")


def origin(index: Index) -> dict[str, Any]:
    """What every JSON object begins with: where its graph is from."""
    known = index.manifest
    return {"label": index.label, "generation": known.generation_id, "commit": known.commit_sha}


def footer(index: Index) -> str:
    """The same as the last line for people."""
    return f"{index.label}  commit {short(index.manifest.commit_sha)}  generation {index.manifest.generation_id}"
