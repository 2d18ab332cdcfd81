"""Facts of the graph in an answer: each is told once, by its most telling name."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets import open_index
from rag_assets.answer.graph_facts import points_at
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.qa.ask_options import AskOptions
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings
from rag_assets_tests.cli.conftest import new_repository

FILES = {
    "src/InvoiceWriter.cs": "namespace Shop;\npublic class InvoiceWriter { public void Write() { } }\n",
    "src/Maker.cs": "namespace Shop;\npublic class Maker\n{\n    public InvoiceWriter Make() => new();\n}\n",
    "src/Holder.cs": "namespace Shop;\npublic class Holder\n{\n    private InvoiceWriter? _kept;\n}\n",
}


@pytest.mark.rule("E19")
def test_what_creates_a_type_is_not_said_to_use_it_as_well(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", embedder=EmbedderSettings(provider="lexical-only"))
    repository = RepositorySettings(id="shop", location=str(new_repository(tmp_path / "shop", FILES).path), ref="main")
    run_stages(settings, "shop@main", repository)
    with open_index("shop@main", home=settings.home) as index:
        told = index.ask("who uses InvoiceWriter", options=AskOptions()).text
    lines = [line for line in told.splitlines() if line.startswith("- ")]
    assert sum("**Maker.Make**" in line for line in lines) == 1
    assert any("**Maker.Make** creates **InvoiceWriter**" in line for line in lines)
    assert any("uses **InvoiceWriter** in src/Holder.cs" in line for line in lines)


@pytest.mark.rule("E19")
def test_a_place_in_a_file_of_the_root_is_not_looked_up_in_its_namesakes(tmp_path: Path) -> None:
    """A path without a folder, as a filter, means the files of that name everywhere; a place means one."""
    files = {"README.md": "# Shop\n\nSells.\n\n\n\n\n\n\n", "docs/README.md": "# Guide\n\nRead.\n", **FILES}
    settings = Settings(home=tmp_path / "home", embedder=EmbedderSettings(provider="lexical-only"))
    repository = RepositorySettings(id="shop", location=str(new_repository(tmp_path / "shop", files).path), ref="main")
    run_stages(settings, "shop@main", repository)
    with open_index("shop@main", home=settings.home) as index:
        asked = [("README.md", 1), ("docs/README.md", 1), ("src/Maker.cs", 4), ("README.md", 999), ("gone.cs", 1)]
        found = points_at(asked, index.parts.shard(), index.scope())
        paths = {place: index.get(point)["Path"] for place, point in found.items()}
    assert paths == {place: place[0] for place in asked[:3]}
