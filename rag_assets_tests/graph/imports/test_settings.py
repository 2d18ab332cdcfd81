"""`graph_import` of a repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets.settings import GraphImportSettings, RepositorySettings, load_settings
from rag_assets.settings.config_file import ConfigError


def loaded(folder: Path, text: str) -> RepositorySettings:
    path = folder / "rag_assets.yaml"
    path.write_text(f"repositories: [{{id: a, location: ., {text}}}]\n", encoding="utf-8")
    return load_settings(path).repositories[0]


def test_an_import_lies_beside_the_configuration(tmp_path: Path) -> None:
    found = loaded(tmp_path, "graph_import: {path: graphs/main.zip}").graph_import
    assert found == GraphImportSettings(path=tmp_path / "graphs" / "main.zip", format="roslyn", mode="merge")


def test_format_and_mode(tmp_path: Path) -> None:
    found = loaded(tmp_path, "graph_import: {path: index.scip, format: scip, mode: replace}").graph_import
    assert found is not None
    assert (found.format, found.mode) == ("scip", "replace")


def test_without_one_there_is_none(tmp_path: Path) -> None:
    assert loaded(tmp_path, "ref: main").graph_import is None


def test_where_it_lies_is_not_remembered(tmp_path: Path) -> None:
    """Neither in a generation nor with a label: a path of this machine belongs into neither."""
    assert "graph_import" not in loaded(tmp_path, "graph_import: {path: x}").model_dump(mode="json")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("graph_import: {path: x, format: lsif}", "graph_import.format"),
        ("graph_import: {path: x, mode: both}", "graph_import.mode"),
        ("graph_import: {mode: merge}", "graph_import.path"),
        ("graph_import: {path: x, fromat: scip}", "did you mean 'format'?"),
    ],
)
def test_a_wrong_one_is_explained(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, text)
    assert message in str(caught.value)
