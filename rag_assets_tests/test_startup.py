"""What a command executes before it can answer: the start-up budgets, counted in a fresh process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import new_repository
from rag_assets_tests.search.small_index import LABEL, SHOP, build

SEARCH_MODULES = 40
"""Modules of `rag_assets` that a keyword search may execute. Most of the time of a cold search goes into imports."""

HEAVY = {"dagster", "openai", "pandas", "pyarrow", "sqlalchemy"}

_RUN = """
import json, sys
from rag_assets.cli import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> IndexHome:
    """An index whose repository is remembered, as after a build: a search compares it with the head."""
    made = IndexHome(tmp_path_factory.mktemp("startup"))
    repository = new_repository(tmp_path_factory.mktemp("shop") / "shop", {"a.cs": "class A;"})
    build(made, SHOP)
    (made.label(LABEL) / "label.json").write_text(json.dumps({"location": str(repository.path.resolve())}))
    return made


def executed(home: IndexHome, folder: Path, *arguments: str) -> tuple[str, list[str]]:
    """The standard output of a command, and the names of all modules that it imported."""
    command = [sys.executable, "-c", _RUN, "--home", str(home.root), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(done.stderr.splitlines()[-1])


def test_a_keyword_search_executes_few_modules(home: IndexHome, tmp_path: Path) -> None:
    shown, modules = executed(home, tmp_path, "search", "how is an order created", "--mode", "bm25", "--label", LABEL)
    assert "OrderService" in shown and "stale: indexed" in shown
    own = [name for name in modules if name.partition(".")[0] == "rag_assets"]
    assert len(own) <= SEARCH_MODULES, own
    assert not HEAVY & set(modules)


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import sys, rag_assets; print([name for name in sys.modules if name.startswith('rag_assets.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_can_be_imported() -> None:
    import rag_assets

    assert rag_assets.__version__
    for name in rag_assets.__all__:
        assert getattr(rag_assets, name) is not None
    errors = {value for name in rag_assets.__all__ if isinstance(value := getattr(rag_assets, name), type)}
    raised = {kind for kind in errors if issubclass(kind, BaseException)}
    assert raised and all(issubclass(kind, rag_assets.RagAssetsError) for kind in raised)
