"""All settings of rag_assets, in one model."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.settings.answering import AnswerSettings
from rag_assets.settings.automation import AutomationSettings
from rag_assets.settings.base import Name, without_nothing
from rag_assets.settings.config_file import DEFAULT_HOME, ENV_PREFIX, ConfigError
from rag_assets.settings.evaluation import EvaluationSettings
from rag_assets.settings.execution import ExecutionSettings
from rag_assets.settings.graph import GraphImportSettings
from rag_assets.settings.models import EmbedderSettings, LlmSettings
from rag_assets.settings.repositories import RepositorySettings, SourceLimits
from rag_assets.settings.search import SearchSettings
from rag_assets.settings.stores import RetentionSettings, StoreSettings


class Settings(BaseSettings):
    """All settings of rag_assets. `rag-assets init` writes a commented file."""

    model_config = SettingsConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        env_prefix=ENV_PREFIX,
        env_nested_delimiter="__",
        nested_model_default_partial_update=True,
    )

    home: Path = Field(
        default=Path(DEFAULT_HOME), description="indexes, caches and mirrors; relative to the configuration file"
    )
    repositories: tuple[RepositorySettings, ...] = Field(default=(), description="what to index")
    roles: dict[Name, Confidentiality] = Field(
        default={}, description="role → the highest confidentiality its members find; without a role: internal"
    )
    sources: SourceLimits = Field(default=SourceLimits(), description="what discovery refuses")
    embedder: EmbedderSettings = Field(default=EmbedderSettings(), description="the embedding model")
    llm: LlmSettings = Field(default=LlmSettings(), description="the model behind descriptions; without one: offline")
    stores: StoreSettings = Field(default=StoreSettings(), description="where the vectors are")
    search: SearchSettings = Field(default=SearchSettings(), description="how questions are answered")
    answer: AnswerSettings = Field(default=AnswerSettings(), description="how ask answers; without a model: quotes")
    packs: tuple[Path, ...] = Field(
        default=(), description="folders of pipelines, beside the folder pipelines; relative to the configuration file"
    )
    retention: RetentionSettings = Field(default=RetentionSettings(), description="which old generations stay on disk")
    evaluation: EvaluationSettings = Field(
        default=EvaluationSettings(), description="how well a build must answer before it is served"
    )
    automation: AutomationSettings = Field(
        default=AutomationSettings(), description="the Dagster schedules and sensors"
    )
    execution: ExecutionSettings = Field(default=ExecutionSettings(), description="who executes the steps of a run")
    workers: int = Field(default=0, ge=0, description="processes that parse and describe; 0: one per core, at most 4")

    @model_validator(mode="before")
    @classmethod
    def _nothing_is_the_default(cls, values: Any) -> Any:
        return without_nothing(cls, values)

    @field_validator("repositories")
    @classmethod
    def _ids_are_unique(cls, repositories: tuple[RepositorySettings, ...]) -> tuple[RepositorySettings, ...]:
        seen: set[str] = set()
        for repository in repositories:
            if repository.id in seen:
                raise ValueError(f"repository id {repository.id!r} is used twice")
            seen.add(repository.id)
        return repositories

    @model_validator(mode="after")
    def _domains_are_unique(self) -> Settings:
        for repository in self.repositories:
            keys = [domain.key for domain in repository.domains]
            repeated = sorted({key for key in keys if keys.count(key) > 1})
            if repeated:
                raise ValueError(f"repository {repository.id}: domain keys used twice: {', '.join(repeated)}")
        return self

    @model_validator(mode="after")
    def _the_judge_has_a_model(self) -> Settings:
        profile, answer = self.evaluation.judge, self.answer
        if profile is None or answer.replies == "replay":  # where what it said is in the recording
            return self
        if not (answer.base_url and answer.model_of(profile).model):
            raise ValueError(f"evaluation.judge {profile} needs answer.base_url and answer.{profile}.model")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return env_settings, init_settings  # the environment beats the file

    def without_vectors(self) -> Settings:
        """These settings with keyword search only (`--lexical-only`)."""
        embedder = self.embedder.model_copy(update={"provider": "lexical-only"})
        return self.model_copy(update={"embedder": embedder})

    def graph_import_of(self, repository_id: str) -> GraphImportSettings | None:
        """The imported graph of a repository; None without one, or for a repository that is not configured."""
        return next((known.graph_import for known in self.repositories if known.id == repository_id), None)

    def repository(self, repository_id: str) -> RepositorySettings:
        """Raises ConfigError naming near ids."""
        for repository in self.repositories:
            if repository.id == repository_id:
                return repository
        known = [repository.id for repository in self.repositories]
        near = difflib.get_close_matches(repository_id, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; configured: {', '.join(known) or 'none'}"
        raise ConfigError(f"no repository {repository_id!r} in the configuration{hint}")
