"""Agents from YAML: every field, and every mistake with its line and the nearest valid name."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets.answer.artifact.templates import OutputType
from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.languages.detection import SourceType
from rag_assets.qa.agents import (
    AUTHORS,
    MAX_PERSONA_CHARS,
    Agent,
    AgentError,
    AgentLibrary,
    Filters,
    Limits,
    UnknownAgent,
)

FULL = """\
agent:
  name: auditor
  description: Looks for risks
  persona: |
    You are an auditor.
  model_profile: premium
  output_type: pdr
  pipeline: artifact_generation
  actions: [fetch_for_sections, write_artifact]
  filters:
    kinds: [Service]
    paths: [src/]
    languages: [csharp]
    source_types: [code]
    confidentiality: public
  limits:
    max_tokens: 800
    max_context_tokens: 2000
    max_turn_loops: 1
    retrieval_top_k: 5
"""


def load(folder: Path, text: str) -> Agent:
    file = folder / "auditor.yaml"
    file.write_text(text, encoding="utf-8")
    return AgentLibrary().load(file)


@pytest.mark.rule("E15")
def test_every_field_is_read(tmp_path: Path) -> None:
    assert load(tmp_path, FULL) == Agent(
        name="auditor",
        description="Looks for risks",
        persona="You are an auditor.\n",
        model_profile="premium",
        output_type=OutputType.PDR,
        pipeline="artifact_generation",
        actions=("fetch_for_sections", "write_artifact"),
        filters=Filters(
            kinds=("Service",),
            paths=("src/",),
            languages=("csharp",),
            source_types=(SourceType.CODE,),
            confidentiality=Confidentiality.PUBLIC,
        ),
        limits=Limits(max_tokens=800, max_context_tokens=2000, max_turn_loops=1, retrieval_top_k=5),
        file=str(tmp_path / "auditor.yaml"),
    )


def test_a_name_and_a_persona_are_enough(tmp_path: Path) -> None:
    found = load(tmp_path, "agent: {name: a, persona: You help.}")
    assert (found.model_profile, found.output_type, found.runs_on()) == (
        "balanced",
        OutputType.ANSWER,
        "code_question_answering",
    )
    assert (
        load(tmp_path, "agent: {name: a, persona: You help., output_type: workflow}").runs_on() == "artifact_generation"
    )


@pytest.mark.parametrize(
    ("before", "after", "line", "said"),
    [
        ("persona:", "personna:", 4, "agent: unknown key 'personna'; did you mean 'persona'?"),
        ("persona:", "personna:", 1, "agent: 'persona' is missing"),
        ("premium", "premiun", 6, "model_profile: no 'premiun'; did you mean 'premium'?"),
        ("pdr", "prd", 7, "output_type: no 'prd'; did you mean 'pdr'?"),
        ("kinds", "kind", 11, "filters: unknown key 'kind'; did you mean 'kinds'?"),
        ("[Service]", "[Servise]", 11, "filters: kinds: unknown kind 'Servise'; did you mean Service?"),
        ("[Service]", "\n      - service\n      - Qqq", 13, "filters: kinds: unknown kind 'Qqq'; valid: "),
        ("[Service]", "Service", 11, "filters: kinds: expected `array`, got 'Service'"),
        ("[code]", "[kode]", 14, "filters: source_types: no 'kode'; did you mean 'code'?"),
        ("public", "publik", 15, "filters: confidentiality: no 'publik'; did you mean 'public'?"),
        ("max_tokens: 800", "max_tokens: many", 17, "limits: max_tokens: expected `int | null`, got 'many'"),
        ("max_tokens: 800", "max_tokens: 0", 17, "limits: max_tokens: expected `int` >= 16"),
        ("max_tokens: 800", "max_token: 800", 17, "limits: unknown key 'max_token'; did you mean 'max_tokens'?"),
        ("retrieval_top_k: 5", "retrieval_top_k: 500", 20, "retrieval_top_k: expected `int` <= 100"),
        ("name: auditor", "name: the auditor", 2, "agent: name: expected `str` matching"),
        ("name: auditor", "file: x", 2, "agent: unknown key 'file'"),
        ("agent:", "agents:", 1, "no agent; its file begins with `agent:`"),
        ("agent:", "other: 1\nagent:", 1, "unknown key 'other' beside `agent`"),
        ("  name: auditor", "  name: auditor\n  name: auditor", 3, "'name' is written twice"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, before: str, after: str, line: int, said: str) -> None:
    assert before in FULL
    with pytest.raises(AgentError if "twice" not in said else Exception) as caught:
        load(tmp_path, FULL.replace(before, after, 1))
    assert f"{tmp_path / 'auditor.yaml'}:{line}: " in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["agent: 1", "agent: [a]", "agent: {name: a, persona: b, filters: [x]}"])
def test_what_is_no_mapping(tmp_path: Path, text: str) -> None:
    with pytest.raises(AgentError, match="must have keys: "):
        load(tmp_path, text)


def test_a_persona_of_a_book_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="persona: expected `str` of length <= 4000"):
        load(tmp_path, f"agent: {{name: a, persona: {'x' * (MAX_PERSONA_CHARS + 1)}}}")


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(AgentError) as caught:
        load(tmp_path, FULL.replace("premium", "premiun").replace("kinds", "kind").replace("800", "many"))
    assert [problem.mark.line for problem in caught.value.problems] == [6, 11, 17]


def test_a_kind_of_a_rule_pack_is_one(tmp_path: Path) -> None:
    asked: list[str] = []

    def declared() -> list[str]:
        asked.append("packs")
        return ["Saga"]

    library = AgentLibrary([tmp_path], declared)
    (tmp_path / "a.yaml").write_text("agent: {name: a, persona: b, filters: {kinds: [service]}}", encoding="utf-8")
    assert library.load("a").filters.kinds == ("service",), "in any case, as filters have it"
    assert not asked, "packs are read for kinds that are not built in"
    (tmp_path / "a.yaml").write_text("agent: {name: a, persona: b, filters: {kinds: [Saga]}}", encoding="utf-8")
    assert library.load("a").filters.kinds == ("Saga",)
    (tmp_path / "a.yaml").write_text("agent: {name: a, persona: b, filters: {kinds: [Sago]}}", encoding="utf-8")
    with pytest.raises(AgentError, match=r"a\.yaml:1: filters: kinds: unknown kind 'Sago'; did you mean Saga\?"):
        library.load(tmp_path / "a.yaml")


class TestLibrary:
    def test_the_shipped_agents_write_every_type(self) -> None:
        library = AgentLibrary()
        assert library.problems() == ()
        assert {output: library.author(output).output_type for output in OutputType} == {
            output: output for output in OutputType
        }
        assert set(AUTHORS.values()) <= set(library.names())
        assert all(library.load(name).description for name in library.names())

    def test_an_agent_of_a_folder_takes_the_place_of_a_shipped_one(self, tmp_path: Path) -> None:
        (tmp_path / "a.yaml").write_text(
            "agent: {name: architect, persona: Mine., output_type: blueprint}", encoding="utf-8"
        )
        library = AgentLibrary([tmp_path])
        assert library.author(OutputType.BLUEPRINT).persona == "Mine."
        assert library.names()["architect"] == str(tmp_path / "a.yaml")

    def test_an_unknown_name_is_told_the_nearest_and_what_was_not_read(self, tmp_path: Path) -> None:
        (tmp_path / "a.yaml").write_text("agent: {name: a}", encoding="utf-8")
        (tmp_path / "b.yaml").write_text("pipeline: {name: b}", encoding="utf-8")
        with pytest.raises(UnknownAgent, match="did you mean 'architect'") as caught:
            AgentLibrary([tmp_path]).load("architekt")
        assert "a.yaml:1: agent: 'persona' is missing" in str(caught.value)
        assert "b.yaml" not in str(caught.value), "another kind of file"

    def test_two_agents_of_one_name_in_one_folder(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            (tmp_path / f"{name}.yaml").write_text("agent: {name: x, persona: y}", encoding="utf-8")
        with pytest.raises(AgentError, match=r"b\.yaml:1: agent 'x' is also in .*a\.yaml; rename one"):
            AgentLibrary([tmp_path]).load("x")

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(Exception, match="cannot be read: there is no such file"):
            AgentLibrary().load(tmp_path / "none.yaml")
