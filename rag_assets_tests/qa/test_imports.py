"""What running pipelines loads: no orchestrator, and of the rest only what a turn uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets_tests.search.test_imports import loaded


def test_a_plain_import_of_the_package_loads_nothing_heavy() -> None:
    assert loaded("import rag_assets.qa.services, rag_assets.qa.definition.steps") == set()


@pytest.mark.parametrize("code", ["library.load('code_question_answering')", "library.names()"])
def test_loading_pipelines_needs_yaml_only(code: str) -> None:
    found = loaded(f"from rag_assets.qa.definition.loader import PipelineLibrary\nlibrary = PipelineLibrary()\n{code}")
    assert found == {"yaml"}


def test_the_engine_never_loads_the_orchestrator_or_a_database() -> None:
    code = "import rag_assets.qa.engine, rag_assets.qa.actions"
    assert loaded(code + ", rag_assets.qa.services") == set()


def test_a_search_loads_no_pipelines() -> None:
    code = (
        "import sys, rag_assets.search\nassert not [name for name in sys.modules if name.startswith('rag_assets.qa')]"
    )
    assert loaded(code) == set()


def test_conversations_and_the_log_in_a_file_need_no_database_library(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\n"
        "from rag_assets.index.layout import IndexHome as Home\n"
        "from rag_assets.history.conversations import open_conversations\n"
        "from rag_assets.history.query_log import LogFilter as Wanted, open_query_log\n"
        "home = Home(Path(sys.argv[1]))\n"
        "with open_conversations(home) as history, open_query_log(home) as log:\n"
        "    assert history.sessions('ann') == log.asked(Wanted()) == ()"
    )
    assert loaded(code, str(tmp_path)) == set()
