"""The page about pipelines names what there is, and its examples are true."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from rag_assets.qa.actions import BUILT_IN
from rag_assets.qa.definition.loader import PipelineLibrary
from rag_assets.qa.definition.steps import PipelineSettings
from rag_assets.qa.prompts import DATA, FACTS

PAGE = (Path(__file__).parents[2] / "docs" / "pipelines.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("field", msgspec.structs.fields(PipelineSettings), ids=lambda field: field.name)
def test_every_setting_is_there_with_its_default(field: msgspec.structs.FieldInfo) -> None:
    (row,) = [line for line in PAGE.splitlines() if line.startswith("|") and f"`{field.name}`" in line.split("|")[1]]
    if isinstance(field.default, bool):
        assert f"| {str(field.default).lower()} |" in row
    elif isinstance(field.default, int | float):
        assert re.search(rf"\b{field.default:g}\b", row.split("|")[2])
    elif isinstance(field.default, str) and field.default:
        assert str(field.default) in row.split("|")[2]


@pytest.mark.parametrize("action", BUILT_IN, ids=lambda action: action.name)
def test_every_action_is_there_with_its_parameters(action) -> None:  # type: ignore[no-untyped-def]
    rows = [line for line in PAGE.splitlines() if line.startswith("|") and f"`{action.name}`" in line]
    assert rows
    for field in msgspec.structs.fields(action.parameters):
        assert any(field.name in row for row in rows)


def test_every_pipeline_and_name_of_a_prompt_is_there() -> None:
    assert all(f"`{name}`" in PAGE for name in PipelineLibrary().names())
    assert all(f"`{{{name}}}`" in PAGE for name in DATA | FACTS)


def test_the_example_is_a_pipeline(tmp_path: Path) -> None:
    example = PAGE.partition("```yaml\n")[2].partition("```")[0]
    (tmp_path / "shop.yaml").write_text(example, encoding="utf-8")
    assert PipelineLibrary().load(tmp_path / "shop.yaml").settings.active_index == "shop@main"


def test_the_program_of_the_page_imports_what_there_is() -> None:
    program = PAGE.rpartition("```python\n")[2].partition("```")[0]
    imports = [line for line in program.splitlines() if line.startswith("from ")]
    assert len(imports) > 5
    exec("\n".join(imports), {})
    compile(program, "page", "exec")
