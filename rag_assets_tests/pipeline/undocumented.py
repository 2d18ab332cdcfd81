"""A label whose code nobody has documented, and a model that says the same to the same question."""

from __future__ import annotations

import json
from pathlib import Path

from rag_assets.index.labels import register_label
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.build import IndexBuild
from rag_assets.pipeline.discovered_files import discover_files
from rag_assets.pipeline.progress import Silent
from rag_assets.pipeline.segments import segment_files
from rag_assets.settings import EmbedderSettings, ExecutionSettings, LlmSettings, RepositorySettings, Settings
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.models.llm.model_server import Asked, ModelServer, Reply, answering

QUESTIONS = 120
"""One for each file; their files make two buckets."""


def undocumented(folder: Path) -> Repository:
    made = Repository.new(folder)
    code = "public class Bill{0} {{ public void Cancel(int id) {{ }} }}\n"
    made.commit({f"src/Bill{number}.cs": code.format(number) for number in range(QUESTIONS)})
    return made


def asked_about(asked: Asked) -> str:
    """The name of the class that a question is about."""
    return str(json.loads(asked.user.split("\n", 1)[1].rsplit("\n", 1)[0])["name"])


def of_that_class(asked: Asked) -> Reply:
    return answering({"summary": f"{asked_about(asked)} lets a clerk withdraw what was sent in error.", "details": ""})


def asking(server: ModelServer, **options: object) -> LlmSettings:
    given = {"provider": "openai-compatible", "base_url": server.url, "model": "small", "timeout_seconds": 10}
    return LlmSettings.model_validate(given | {"price_in": 1.0, "price_out": 2.0} | options)


def with_segments(
    source: Repository, home: Path, llm: LlmSettings, execution: ExecutionSettings, name: str = "shop"
) -> IndexBuild:
    """A label that is ready to be described."""
    lexical = EmbedderSettings(provider="lexical-only")
    settings = Settings(home=home, workers=1, llm=llm, embedder=lexical, execution=execution)
    repository = RepositorySettings(id=name, location=str(source.path), ref="main")
    label = f"{name}@main"
    register_label(IndexHome(home), label, repository, "main")
    build, _ = discover_files(IndexHome(home), settings, label, repository, Silent())
    segment_files(build, Silent())
    return build


def tables(build: IndexBuild) -> dict[str, bytes]:
    parts = {path.name: path.read_bytes() for path in sorted((build.directory / "descriptions").iterdir())}
    return parts | {"data version": build.required("descriptions").output.encode()}
