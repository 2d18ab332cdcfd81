"""`rag-assets validate`: every stored point against the contract, as other programs find it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from rag_assets.cli.console import FAILURE, Output, Style, counted
from rag_assets.cli.options import AsJson, LabelArgument, chosen_label, session_of

if TYPE_CHECKING:
    from rag_assets.pipeline.validate import StoreVerdicts


def validate(context: typer.Context, label: LabelArgument = None, as_json: AsJson = False) -> None:
    """Check every stored point of an index against the payload contract, as another program reads it: the embedded
    shard, the collection of a Qdrant server, the catalog.

    Example: rag-assets validate shop@main
    """
    from rag_assets.pipeline.validate import validate as validated  # start-up budget: loaded when it runs

    session = session_of(context)
    home, output = session.home(), session.output
    found = validated(home, session.settings(), chosen_label(home, label, how="as rag-assets validate LABEL"))
    if as_json:
        output.json(
            {
                "label": found.label,
                "generation": found.generation_id,
                "violations": found.violations,
                "stores": [_store_object(store) for store in found.stores],
            }
        )
    else:
        output.line((found.label, "path"), f"  generation {found.generation_id}")
        for store in found.stores:
            _show(output, store)
    if found.violations:
        raise typer.Exit(FAILURE)


def _store_object(store: StoreVerdicts) -> dict[str, Any]:
    return {
        "store": store.store,
        "points": store.points,
        "declared": store.declared,
        "violations": store.violations,
        "rules": [
            {
                "rule": verdict.rule.text,
                "rows": list(verdict.rule.rows),
                "violations": verdict.violations,
                "examples": verdict.examples,
            }
            for verdict in store.verdicts
        ],
    }


def _show(output: Output, store: StoreVerdicts) -> None:
    broken = [verdict for verdict in store.verdicts if verdict.violations]
    style: Style = "bad" if store.violations else "good"
    output.line(
        f"{store.store}: {counted(store.points, 'point')}, {len(store.verdicts)} rules, ",
        (counted(store.violations, "violation"), style),
    )
    if store.points != store.declared:
        output.line((f"  {store.declared:,} points are declared, {store.points:,} are there", "bad"))
    for verdict in broken:
        output.line((f"  {verdict.violations:>7,}  ", "bad"), verdict.rule.text)
        for example in verdict.examples:
            output.line((f"           {example}", "dim"))
