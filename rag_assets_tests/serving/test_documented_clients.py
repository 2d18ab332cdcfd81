"""What docs/agents.md says to write into the configurations of clients, and the deployments of a server."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from rag_assets.cli import app

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs/agents.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(json|toml)\n(.*?)```", DOCS, re.DOTALL)


def servers(kind: str, text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text) if kind == "json" else tomllib.loads(text)
    (only,) = found.values()
    assert isinstance(only, dict)
    return only


@pytest.mark.parametrize(("kind", "text"), BLOCKS)
def test_every_client_starts_a_command_that_there_is(kind: str, text: str) -> None:
    ((name, server),) = servers(kind, text).items()
    assert name == server["command"] == "rag-assets"
    assert CliRunner().invoke(app, [*server["args"], "--help"]).exit_code == 0


def test_the_usual_clients_are_documented() -> None:
    assert len(BLOCKS) == 5
    assert all(f"**{name}" in DOCS for name in ("Claude Code", "VS Code", "Cursor", "Codex", "Visual Studio", "Rider"))


def test_the_deployment_runs_commands_that_there_are() -> None:
    deployment, service = yaml.safe_load_all((ROOT / "deploy/serve.k8s.yaml").read_text(encoding="utf-8"))
    containers = deployment["spec"]["template"]["spec"]["containers"]
    (serve,) = (one for one in containers if one["name"] == "serve")
    assert CliRunner().invoke(app, [*serve["command"][1:], "--help"]).exit_code == 0
    assert serve["securityContext"]["readOnlyRootFilesystem"] is True
    assert next(one for one in serve["volumeMounts"] if one["name"] == "home")["readOnly"] is True
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]
