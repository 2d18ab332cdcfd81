"""LLM refinement on the real path: a model server on loopback, whole builds, faults, the cache, off by default."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from rag_assets.index.parquet_parts import read_rows
from rag_assets.settings import LlmSettings, Settings
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.models.llm.model_server import ModelServer, answering, failing
from rag_assets_tests.pipeline.conftest import Built, built, lexical

FILES = {
    "src/A.cs": "namespace Shop;\n\npublic class Invoice\n{\n    public void Cancel(int id) { }\n}\n",
    "src/B.cs": "namespace Shop;\n\n/// <summary>Books a payment.</summary>\npublic class Payment\n{\n"
    "    public void Book(int id) { }\n}\n",
    "docs/guide.md": "# Guide\n\nHow to pay.\n",
}
WRITTEN = {"summary": "Lets a clerk withdraw a bill that was sent in error.", "details": "Cancel takes the number."}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as made:
        yield made


@pytest.fixture
def source(tmp_path: Path) -> Repository:
    return Repository.new(tmp_path / "source", FILES)


def asking(home: Path, server: ModelServer, **options: object) -> Settings:
    llm = LlmSettings(provider="openai-compatible", base_url=server.url, model="small", **options)  # type: ignore[arg-type]
    return lexical(home).model_copy(update={"llm": llm})


def snippets(made: Built) -> dict[str, str]:
    rows = [row for bucket in made.build.buckets for row in read_rows(made.build.directory, "qdrant_points", bucket)]
    found = [msgspec.json.decode(row["payload"]) for row in rows]
    return {payload["Path"]: payload["FinderSnippet"] for payload in found}


@pytest.mark.rule("A15", "A16")
def test_undocumented_code_gets_a_purpose(tmp_path: Path, source: Repository, server: ModelServer) -> None:
    server.script(answering(WRITTEN))
    made = built(source, asking(tmp_path / "home", server))
    found = snippets(made)
    assert f"Purpose: {WRITTEN['summary']}" in found["src/A.cs"]
    assert "Purpose: Books a payment." in found["src/B.cs"], "what an author wrote stays"
    assert [json.loads(asked.user.split("\n", 1)[1].rsplit("\n", 1)[0])["name"] for asked in server.asked] == [
        "Invoice"
    ]
    report = made.reports["descriptions"]
    assert report.work["llm_calls"] == 1
    assert report.work["llm_prompt_tokens"] > 0
    assert report.tables["refinement"] == [{"outcome": "refined", "symbols": 1}]


def test_the_same_question_is_not_asked_twice(tmp_path: Path, source: Repository, server: ModelServer) -> None:
    server.script(answering(WRITTEN))
    first = built(source, asking(tmp_path / "home", server))
    forced = first.again(force=True)
    assert len(server.asked) == 1
    assert forced.reports["descriptions"].work["llm_cached"] == 1
    assert snippets(forced) == snippets(first)


@pytest.mark.rule("A17")
def test_a_server_that_fails_costs_nothing_but_the_text(
    tmp_path: Path, source: Repository, server: ModelServer
) -> None:
    server.script(*[failing(500)] * 4)
    made = built(source, asking(tmp_path / "home", server))
    plain = built(source, lexical(tmp_path / "plain"))
    assert snippets(made) == snippets(plain)
    assert sum(row["warnings"] for row in made.reports["descriptions"].tables["warnings by rule"]) >= 1
    assert made.reports["descriptions"].work["llm_failures"] >= 1


def test_another_choice_is_another_generation(tmp_path: Path, source: Repository, server: ModelServer) -> None:
    server.script(*[answering(WRITTEN)] * 4)
    plain = built(source, lexical(tmp_path / "home"))
    refined = built(source, asking(tmp_path / "home", server))
    everything = built(source, asking(tmp_path / "home", server, refine="all"))
    ids = {made.build.spec.generation_id for made in (plain, refined, everything)}
    assert len(ids) == 3
    assert f"Purpose: {WRITTEN['summary']}" in snippets(everything)["src/B.cs"]


def test_without_a_model_nothing_is_asked(tmp_path: Path, source: Repository) -> None:
    made = built(source, lexical(tmp_path / "home"))
    assert made.reports["descriptions"].work.keys() == {"described", "from_cache"}
    assert "refinement" not in made.reports["descriptions"].tables
