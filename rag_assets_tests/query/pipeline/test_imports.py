"""What running pipelines loads: no orchestrator, and of the rest only what a turn uses."""

from __future__ import annotations

import pytest

from rag_assets_tests.query.test_imports import loaded


def test_a_plain_import_of_the_package_loads_nothing_heavy() -> None:
    assert loaded("import rag_assets.query.pipeline.services, rag_assets.query.pipeline.steps") == set()


@pytest.mark.parametrize("code", ["library.load('code_question_answering')", "library.names()"])
def test_loading_pipelines_needs_yaml_only(code: str) -> None:
    found = loaded(
        f"from rag_assets.query.pipeline.loading import PipelineLibrary\nlibrary = PipelineLibrary()\n{code}"
    )
    assert found == {"yaml"}


def test_the_engine_never_loads_the_orchestrator_or_a_database() -> None:
    code = "import rag_assets.query.pipeline.engine, rag_assets.query.pipeline.actions"
    assert loaded(code + ", rag_assets.query.pipeline.index_services") == set()


def test_a_search_loads_no_pipelines() -> None:
    code = "import sys, rag_assets.query\nassert not [name for name in sys.modules if 'query.pipeline' in name]"
    assert loaded(code) == set()
