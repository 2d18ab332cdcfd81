"""Who decides a setting of a pipeline: the call, the agent, the configuration, the pipeline file, the default."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_assets.models.openai_compat.token_counting import estimate_tokens
from rag_assets_tests.cli.conftest import CommandLine, Indexed
from rag_assets_tests.models.llm.model_server import ModelServer
from rag_assets_tests.qa.http_model import Script, prompt_text

QUESTION = "What does OrderService do with orders and invoices?"
INVENTED = "Elephants carry quantum hamburgers to Neptune."

PIPELINE = """\
pipeline:
  name: own
  extends: code_question_answering
  settings:
    max_context_tokens: 80
    retrieval_top_k: 2
    citation_policy: drop
    default_mode: bm25
"""
AGENT = "agent:\n  name: brief\n  persona: You are brief.\n  pipeline: own\n  limits: {retrieval_top_k: 1}\n"


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def configured(indexed: Indexed, folder: Path, model: ModelServer, **answer: Any) -> CommandLine:
    """A configuration file with an `answer` section, and the pipeline and the agent beside it."""
    settings = {"answer": {"base_url": model.url, "balanced": {"model": "m"}, "retries": 0, **answer}}
    for name, text in (
        ("rag_assets.yaml", json.dumps(settings)),
        ("pipelines/own.yaml", PIPELINE),
        ("agents/brief.yaml", AGENT),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return CommandLine(indexed.cli.home, folder)


def scripted(model: ModelServer) -> Script:
    """A model with one true sentence, and one that it invents."""

    def answer(asked: Any) -> str:
        known = asked.user.split('<evidence id="')[1].partition('"')[0]
        return f"[Answer:] Orders are what it is about [chunk: {known}]. {INVENTED}"

    return Script(model, router="[BM25:] orders invoices", context_summary="Orders.", answer=answer)


def context_of(script: Script) -> str:
    read = prompt_text(script.asked("answer")[-1])
    return read.partition("<data-evidence-")[2].partition("\n")[2].partition("\n</data-evidence-")[0]


@pytest.mark.rule("F01", "D02", "D03")
def test_a_pipeline_file_holds_beside_a_configuration_that_does_not_name_its_settings(
    indexed: Indexed, tmp_path: Path, model: ModelServer
) -> None:
    cli, script = configured(indexed, tmp_path, model), scripted(model)
    found = cli.run("ask", QUESTION, "--pipeline", "own", "--json").json
    assert INVENTED.rstrip(".") not in found["answer"] and "[unverified]" not in found["answer"]
    assert 0 < estimate_tokens([context_of(script)])[0] <= 80 and found["context_tokens"] <= 80
    assert sum(piece["origin"] == "hit" for piece in found["evidence"]) <= 2


@pytest.mark.rule("F01", "D02", "D03")
def test_the_configuration_holds_over_the_pipeline_file(indexed: Indexed, tmp_path: Path, model: ModelServer) -> None:
    cli, script = configured(indexed, tmp_path, model, max_context_tokens=4_000, unsupported="flag"), scripted(model)
    found = cli.run("ask", QUESTION, "--pipeline", "own", "--json").json
    assert "[unverified]" in found["answer"]
    assert estimate_tokens([context_of(script)])[0] > 80


def effective(cli: CommandLine, *arguments: str) -> dict[str, tuple[Any, str, str]]:
    """Setting → (value, who says it, where)."""
    told = cli.run("pipeline", "show", *arguments, "--effective", "--json").json
    return {
        name: (value, told["origins"][name]["layer"], told["origins"][name]["at"])
        for name, value in told["settings"].items()
    }


@pytest.mark.rule("F01")
def test_every_value_is_shown_with_who_says_it(indexed: Indexed, tmp_path: Path, model: ModelServer) -> None:
    cli = configured(indexed, tmp_path, model, max_chunks=9, threshold=0.25)
    file = tmp_path / "pipelines" / "own.yaml"
    shown = effective(cli, "own")
    assert shown["max_context_tokens"] == (80, "pipeline", f"{file}:5")
    assert shown["max_history_tokens"] == (1_500, "pipeline", "rag_assets:code_question_answering.yaml:14")
    assert shown["answer_prefix_strict"] == (True, "default", "")
    assert shown["retrieval_top_k"] == (9, "configuration", "answer.max_chunks")
    assert shown["weak_below"] == (0.25, "configuration", "answer.threshold")
    assert shown["default_mode"] == ("bm25", "pipeline", f"{file}:8")
    assert effective(cli, "own", "--agent", "brief")["retrieval_top_k"] == (1, "agent", "brief")
    assert effective(cli, "--agent", "brief", "--limit", "4")["retrieval_top_k"] == (4, "call", "")
    lines = cli.run("pipeline", "show", "own", "--effective").out.splitlines()
    assert "  retrieval_top_k: 9  configuration, answer.max_chunks" in lines
    assert "  answer_prefix_strict: True  default" in lines


@pytest.mark.rule("F01")
def test_a_call_holds_over_the_agent(indexed: Indexed, tmp_path: Path, model: ModelServer) -> None:
    cli = configured(indexed, tmp_path, model, max_chunks=9)
    offline = AGENT.replace("pipeline: own", "pipeline: code_question_answering_offline")
    (tmp_path / "agents" / "brief.yaml").write_text(offline, encoding="utf-8")

    def hits(*options: str) -> int:
        found = cli.run("ask", "orders and invoices of the shop", "--agent", "brief", "--json", *options).json
        return sum(piece["origin"] == "hit" for piece in found["evidence"])

    assert hits() == 1 < hits("--limit", "4")


@pytest.mark.rule("F01")
def test_a_mode_that_the_configuration_names_holds_although_it_is_the_default(
    indexed: Indexed, tmp_path: Path, model: ModelServer
) -> None:
    cli = configured(indexed, tmp_path, model)
    (tmp_path / "rag_assets.yaml").write_text("search: {limit: 7}\n", encoding="utf-8")
    assert effective(cli, "own")["default_mode"][:2] == ("bm25", "pipeline")
    (tmp_path / "rag_assets.yaml").write_text("search: {mode: hybrid}\n", encoding="utf-8")
    assert effective(cli, "own")["default_mode"] == ("hybrid", "configuration", "search.mode")
    assert cli.run("ask", QUESTION, "--pipeline", "own", "--offline", "--json").json["mode"] == "bm25", "none is built"


def test_without_a_name_it_is_the_pipeline_that_ask_runs(indexed: Indexed, tmp_path: Path, model: ModelServer) -> None:
    cli = configured(indexed, tmp_path, model)
    assert cli.run("pipeline", "show", "--effective", "--json").json["pipeline"] == "code_question_answering"
    (tmp_path / "rag_assets.yaml").write_text("answer: {pipeline: own}\n", encoding="utf-8")
    assert cli.run("pipeline", "show", "--effective", "--json").json["pipeline"] == "own"
    (tmp_path / "rag_assets.yaml").unlink()
    shown = cli.run("pipeline", "show", "--effective", "--json").json
    assert shown["pipeline"] == "code_question_answering_offline"
    assert cli.run("pipeline", "show").code == 2
