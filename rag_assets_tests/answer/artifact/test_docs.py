"""The page about artifacts names what there is, and its examples are true."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from rag_assets.answer.artifact.graph_columns import MOST_FOLDERS
from rag_assets.answer.artifact.survey import MOST_ENDPOINTS
from rag_assets.answer.artifact.templates import NOTHING_FOUND, TEMPLATES, Template
from rag_assets.qa.agents import Agent, AgentLibrary, Filters, Limits

PAGE = (Path(__file__).parents[3] / "docs" / "artifacts.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=lambda template: template.output)
def test_every_type_is_there_with_its_sections(template: Template) -> None:
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{template.output}` |")]
    assert ", ".join(section.title for section in template.sections) in row
    assert f"| {template.max_tokens:,}" in row


@pytest.mark.parametrize("record", [Agent, Filters, Limits])
def test_every_field_of_an_agent_is_there(record: type[msgspec.Struct]) -> None:
    names = [field.name for field in msgspec.structs.fields(record) if field.name != "file"]
    assert all(f"`{name}`" in PAGE or f"\n  {name}: " in PAGE for name in names)


def test_every_shipped_agent_is_there() -> None:
    assert all(f"`{name}`" in PAGE for name in AgentLibrary().names())
    assert f"*{NOTHING_FOUND}*" in PAGE


def test_the_page_has_the_numbers_of_the_survey() -> None:
    assert f"at most {MOST_FOLDERS} projects or folders" in PAGE
    assert f"More than {MOST_ENDPOINTS} endpoints" in PAGE


def test_the_example_is_an_agent(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(PAGE.partition("```yaml\n")[2].partition("```")[0], encoding="utf-8")
    assert AgentLibrary().load(tmp_path / "a.yaml").name == "auditor"


def test_the_program_imports_what_there_is() -> None:
    program = PAGE.rpartition("```python\n")[2].partition("```")[0]
    exec("\n".join(line for line in program.splitlines() if line.startswith("from ")), {})
    compile(program, "page", "exec")
