"""What asking loads: no settings, no HTTP client and no table reader where nothing is configured."""

from __future__ import annotations

from rag_assets.index.layout import IndexHome
from rag_assets_tests.search.test_imports import loaded

ASK = """
import rag_assets
with rag_assets.open_index("shop@main", home=sys.argv[1]) as index:
    assert not index.ask("What does RefundPolicy do?").abstained
"""
SEARCH = """
import rag_assets
with rag_assets.open_index("shop@main", home=sys.argv[1]) as index:
    assert index.search("RefundPolicy").hits
assert not [name for name in sys.modules if name.startswith("rag_assets.answer.")]
"""


def test_a_question_without_a_model_loads_the_engine_only(shop_home: IndexHome) -> None:
    """And YAML, for the pipeline."""
    assert loaded(ASK, str(shop_home.root)) <= {"qdrant_edge", "numpy", "yaml"}


def test_a_search_loads_nothing_of_answers(shop_home: IndexHome) -> None:
    assert loaded(SEARCH, str(shop_home.root)) <= {"qdrant_edge", "numpy"}
