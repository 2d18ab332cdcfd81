"""The example shop as a real git repository, built once without a model; and tools to build small ones."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from rag_assets.index.layout import IndexHome, index_label
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings
from rag_assets_tests.generation_history import copy_sparse
from rag_assets_tests.git_repository import Repository

SHOP = Path(__file__).parents[2] / "examples" / "shop"
EXPECTED: dict[str, Any] = yaml.load((SHOP / "EXPECTED.yaml").read_bytes(), yaml.CSafeLoader)


@dataclass(frozen=True)
class Built:
    """A finished build, what its stages said, and the means to build again."""

    build: IndexBuild
    reports: dict[str, StageReport]
    settings: Settings
    repository: RepositorySettings
    source: Repository

    @property
    def label(self) -> str:
        return self.build.spec.index_label

    def again(self, **options: Any) -> Built:
        build, reports = run_stages(self.settings, self.label, self.repository, **options)
        return Built(build, {r.stage: r for r in reports}, self.settings, self.repository, self.source)


def lexical(home: Path) -> Settings:
    return Settings(home=home, embedder=EmbedderSettings(provider="lexical-only"))


def built(source: Repository, settings: Settings, **options: Any) -> Built:
    repository = RepositorySettings(**({"id": "shop", "location": str(source.path), "ref": "main"} | options))
    build, reports = run_stages(settings, index_label(repository.id, "main"), repository)
    return Built(build, {r.stage: r for r in reports}, settings, repository, source)


def new_build(folder: Path, files: Mapping[str, str | bytes], **configured: Any) -> Built:
    """A build without a model of a new repository with these files, and these settings."""
    source = Repository.new(folder / "source", files)
    return built(source, lexical(folder / "home"), **configured)


def candidate(original: Built, folder: Path) -> Built:
    """A copy of a build, not promoted for good, in a home that a test may damage."""
    home = IndexHome(shutil.copytree(original.build.home.root, folder / "home", copy_function=copy_sparse))
    copy = replace(original, build=replace(original.build, home=home))
    (copy.build.directory / "manifest.json").unlink()
    return copy


@pytest.fixture(scope="session")
def shop_source(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    path = tmp_path_factory.mktemp("shop") / "shop"
    shutil.copytree(SHOP, path)
    return Repository.new(path, {})


@pytest.fixture(scope="session")
def shop(shop_source: Repository, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The shop, indexed with the settings its EXPECTED.yaml names."""
    settings = lexical(tmp_path_factory.mktemp("home")).model_copy(update={"workers": 1})
    return built(shop_source, settings, **EXPECTED["repository"])


@pytest.fixture
def build_of(tmp_path: Path) -> Callable[..., Built]:
    """Commits files to a new repository and builds it without a model, with these settings of the repository."""

    return partial(new_build, tmp_path)
