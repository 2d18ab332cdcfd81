"""What reading an index loads: the query path must start at once and never know the orchestrator."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rag_assets.index.layout import IndexHome
from rag_assets_tests.search.small_index import LABEL

ROOT = Path(__file__).parents[2]
HEAVY = (
    "dagster",
    "httpx",
    "httpx2",
    "numpy",
    "onnxruntime",
    "openai",
    "pyarrow",
    "pydantic",
    "qdrant_edge",
    "sqlalchemy",
    "tokenizers",
    "typer",
    "yaml",
)
SEARCH = f"""
import rag_assets
with rag_assets.open_index({LABEL!r}, home=sys.argv[1]) as index:
    assert index.search("OrderService", mode=sys.argv[2]).hits
"""


def loaded(code: str, *arguments: str) -> set[str]:
    """The heavy packages a fresh process has loaded after `code`."""
    script = f"import sys\n{code}\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    made = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    return set(made.stdout.split())


@pytest.mark.parametrize("code", ["import rag_assets", "import rag_assets.search", "from rag_assets import open_index"])
def test_importing_loads_nothing_heavy(code: str) -> None:
    assert loaded(code) == set()


def test_a_keyword_search_loads_the_engine_only(lexical_home: IndexHome) -> None:
    assert loaded(SEARCH, str(lexical_home.root), "bm25") <= {"qdrant_edge", "numpy"}


def test_a_hybrid_search_loads_the_model_and_no_more(shop_home: IndexHome) -> None:
    found = loaded(SEARCH, str(shop_home.root), "hybrid")
    assert found <= {"qdrant_edge", "numpy"}
