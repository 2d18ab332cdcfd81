"""`rag-assets doctor`: what can be wrong with an installation, each with the command that repairs it."""

from __future__ import annotations

from typing import Annotated

import typer

from rag_assets.interfaces.cli.failures import FAILURE
from rag_assets.interfaces.cli.output import Style
from rag_assets.interfaces.cli.session import session_of

_STYLES: dict[str, Style] = {"ok": "good", "warn": "warn", "fail": "bad"}


def doctor(
    context: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False
) -> None:
    """Check the installation, the model, the configuration and every index. Exit code 1 when something fails."""
    from rag_assets.interfaces.cli.checkup import examine_all

    session = session_of(context)
    findings = []
    for finding in examine_all(session):
        findings.append(finding)
        if not as_json:
            session.output.line(
                (f"{finding.verdict:<5}", _STYLES[finding.verdict]), (f"{finding.name:<14} ", "bold"), finding.detail
            )
            if finding.repair:
                session.output.line(f"     {finding.repair}")
    failed = any(finding.verdict == "fail" for finding in findings)
    if as_json:
        session.output.json({"healthy": not failed, "checks": [finding.as_object() for finding in findings]})
    if failed:
        raise typer.Exit(FAILURE)
