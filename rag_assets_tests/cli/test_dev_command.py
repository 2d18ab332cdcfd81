"""`rag-assets dev` before it starts anything; `deploy/test_runs.py` has the running one."""

from __future__ import annotations

import re
import socket

import pytest

from rag_assets.cli.console import Output
from rag_assets.cli.dev import _environment
from rag_assets.cli.options import CliSession
from rag_assets.cli.watch import only_one
from rag_assets_tests.cli.conftest import CommandLine


def test_a_port_in_use_is_said_with_one_that_is_free(cli: CommandLine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = cli.run("dev", "--port", str(port))
    assert done.code == 1
    assert f"port {port} cannot be used (Address already in use); end the program that has it" in done.err
    (other,) = re.findall(r"rag-assets --home \S+ dev --port (\d+)", done.raw)
    assert int(other) != port


def test_a_home_has_one(cli: CommandLine) -> None:
    with only_one(cli.home, "dev"):
        done = cli.run("dev")
    assert done.code == 1
    assert re.search(r"process \d+ already runs `rag-assets dev` for ", done.err)


def test_a_wrong_configuration_is_said_before_anything_starts(cli: CommandLine) -> None:
    (cli.folder / "rag_assets.yaml").write_text("repositorys: []\n", encoding="utf-8")
    done = cli.run("dev")
    assert done.code == 1 and "repositorys" in done.err
    assert not cli.home.dagster.exists()


@pytest.mark.parametrize("named", ["", "https://dagster.example.org"])
def test_notifications_link_to_the_port_that_was_chosen(cli: CommandLine, named: str) -> None:
    """Unless the configuration says where the UI is."""
    config = cli.folder / "rag_assets.yaml"
    config.write_text(f"automation: {{ui_url: '{named}'}}" if named else "{}", encoding="utf-8")
    session = CliSession(cli.home.root, config, False, Output(color=False))
    found = _environment(session, cli.home.dagster, "http://127.0.0.1:3456")
    assert found.get("RAG_ASSETS__AUTOMATION__UI_URL") == (None if named else "http://127.0.0.1:3456")
