"""A file that a command writes: one that is there is overwritten with `--force` only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Force = Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")]


def check_new_file(target: Path, option: str, *, force: bool) -> None:
    """Before the work: nobody waits for a model to be told that a file is there. Raises BadParameter."""
    if target.is_dir():
        raise typer.BadParameter(f"{target} is a folder; name a file in it", param_hint=option)
    if not target.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {target.parent}", param_hint=option)
    if target.exists() and not force:
        raise typer.BadParameter(f"{target} exists; choose another name or add --force", param_hint=option)
