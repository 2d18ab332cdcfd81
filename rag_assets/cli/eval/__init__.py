"""`rag-assets eval`: the group of the commands about question sets. `eval LABEL` is `eval run LABEL`."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from rag_assets.cli.eval.compare import compare
from rag_assets.cli.eval.mine import mine
from rag_assets.cli.eval.report import report
from rag_assets.cli.eval.run import run
from rag_assets.cli.eval.tokens import tokens

_DEFAULT = "run"


class RunByDefault(TyperGroup):
    """`eval LABEL` is `eval run LABEL`, and so is `eval` alone; a label called like a command needs the long form."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ("--help", "-h")):
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


eval_app = typer.Typer(
    cls=RunByDefault,
    help="Measure how well an index answers. `eval LABEL` is `eval run LABEL`. No questions yet? `eval mine` makes "
    "some from the history of a repository.",
)

for command in (run, tokens, compare, mine, report):
    eval_app.command()(command)
