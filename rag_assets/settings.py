"""The one typed configuration: `rag_assets.yaml` plus `RAG_ASSETS__…` environment variables.

Unknown keys are refused with the nearest valid name. Secrets are never settings: they come from the
environment only, where something needs them.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from rag_assets.config_file import DEFAULT_HOME, ConfigError, find_config, read_yaml, resolve_home
from rag_assets.contracts.kinds import Kind, checked_kind

ENV_PREFIX = "RAG_ASSETS__"
DEFAULT_ORG = "local"
MEBIBYTE = 1024 * 1024


def _no_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty")
    return value.strip()


Name = Annotated[str, AfterValidator(_no_blank)]
KindName = Annotated[Kind, AfterValidator(checked_kind)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DomainSettings(_Strict):
    """A business domain and what belongs to it (BusinessDomainKey, Domain, DomainSummary of the points)."""

    key: Name = Field(description="short identifier, the same in every repository")
    title: Name = Field(description="name for people")
    tagline: str = Field(default="", description="one line, part of what is embedded")
    description: str = Field(default="", description="a paragraph for people and models")
    paths: tuple[str, ...] = Field(default=(), description="globs over repository paths")
    namespaces: tuple[str, ...] = Field(default=(), description="globs over namespaces")


class RepositorySettings(_Strict):
    """One repository to index: where it is, which ref, what of it, and under which tenant."""

    id: Name = Field(description="what the repository is called in labels and commands")
    location: Name = Field(description="git URL, path of a git repository, plain directory, or source archive")
    ref: str | None = Field(default=None, description="branch or tag; default: what HEAD names")
    org: Name = Field(default=DEFAULT_ORG, description="organisation: the outer boundary of every search")
    org_namespace: str = Field(default="", description="organisation part of semantic ids; default: org")
    project: str = Field(default="", description="project within the organisation; default: the repository id")
    include: tuple[str, ...] = Field(default=(), description="globs of files to index; empty: all")
    exclude: tuple[str, ...] = Field(default=(), description="globs of files not to index")
    domains: tuple[DomainSettings, ...] = Field(default=(), description="business domains and what belongs to them")
    rule_packs: tuple[Name, ...] = Field(default=("generic",), description="rules that decide what kind a type is of")
    kinds: dict[str, KindName] = Field(default={}, description="path glob → kind, stronger than every rule")

    @property
    def organisation_namespace(self) -> str:
        return self.org_namespace or self.org

    @property
    def project_id(self) -> str:
        return self.project or self.id


class SourceLimits(_Strict):
    """What discovery refuses, with the reason shown for each file."""

    max_file_bytes: int = Field(default=MEBIBYTE, gt=0, description="larger files are skipped")
    max_line_length: int = Field(default=20_000, gt=0, description="characters; longer lines are machine-made")
    file_time_limit_seconds: float = Field(default=10.0, gt=0, description="for reading and decoding one file")
    network_timeout_seconds: float = Field(default=300.0, gt=0, description="for one clone or fetch")


class EmbedderSettings(_Strict):
    """The local embedding model, or none (`lexical-only`)."""

    provider: Literal["local", "lexical-only"] = Field(
        default="local", description="lexical-only indexes without vectors: keyword search works, meaning does not"
    )
    precision: Literal["int8", "fp32"] = Field(default="int8", description="fp32 is exact and about half as fast")
    threads: int = Field(default=0, ge=0, description="0: one per processor core")


class StoreSettings(_Strict):
    """The embedded vector store."""

    hnsw_from_points: int = Field(
        default=20_000, ge=0, description="smaller generations are scanned exactly, which is as fast and needs no build"
    )


class Settings(BaseSettings):
    """Everything rag_assets can be told. See `rag-assets init` for a commented file."""

    model_config = SettingsConfigDict(
        extra="forbid",
        frozen=True,
        env_prefix="RAG_ASSETS__",
        env_nested_delimiter="__",
        nested_model_default_partial_update=True,
    )

    home: Path = Field(
        default=Path(DEFAULT_HOME), description="indexes, caches and mirrors; relative to the configuration file"
    )
    repositories: tuple[RepositorySettings, ...] = Field(default=(), description="what to index")
    sources: SourceLimits = Field(default=SourceLimits(), description="what discovery refuses")
    embedder: EmbedderSettings = Field(default=EmbedderSettings(), description="the local embedding model")
    stores: StoreSettings = Field(default=StoreSettings(), description="the embedded vector store")
    workers: int = Field(default=0, ge=0, description="processes that parse and describe; 0: one per core, at most 4")

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

    def repository(self, repository_id: str) -> RepositorySettings:
        """Raises ConfigError naming near ids."""
        for repository in self.repositories:
            if repository.id == repository_id:
                return repository
        known = [repository.id for repository in self.repositories]
        near = difflib.get_close_matches(repository_id, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; configured: {', '.join(known) or 'none'}"
        raise ConfigError(f"no repository {repository_id!r} in the configuration{hint}")


def load_settings(config: Path | None = None) -> Settings:
    """Settings of `config` (default: found as `find_config` says) and the environment; `home` is absolute.

    Relative repository paths are relative to the configuration file. Raises ConfigError.
    """
    path = config or find_config()
    _refuse_unknown_variables()
    values = read_yaml(path) if path else {}
    try:
        settings = Settings(**values)
    except ValidationError as error:
        raise ConfigError(_explain(error, path)) from error
    base = path.resolve().parent if path else Path.cwd()
    repositories = tuple(
        repository.model_copy(
            update={
                "location": _absolute(repository.location, base),
                "rule_packs": tuple(_absolute_pack(pack, base) for pack in repository.rule_packs),
            }
        )
        for repository in settings.repositories
    )
    return settings.model_copy(update={"home": resolve_home(config=path), "repositories": repositories})


def _refuse_unknown_variables() -> None:
    """pydantic-settings ignores a misspelled variable; a setting that is silently not applied helps nobody."""
    valid = sorted(Settings.model_fields)
    for variable in sorted(name for name in os.environ if name.upper().startswith(ENV_PREFIX)):
        section = variable[len(ENV_PREFIX) :].lower().partition("__")[0]
        if section not in valid:
            near = difflib.get_close_matches(section, valid, n=1)
            hint = f"did you mean {_variable(near[0])}?" if near else f"valid: {', '.join(map(_variable, valid))}"
            raise ConfigError(f"environment: unknown variable {variable}; {hint}")


def _variable(section: str) -> str:
    return f"{ENV_PREFIX}{section.upper()}"


def _absolute(location: str, base: Path) -> str:
    """Local paths made absolute; URLs and scp-like locations (`git@host:path`) as they are."""
    if "://" in location:
        return location
    path = Path(location).expanduser()
    if path.is_absolute():
        return str(path)
    head = location.split("/", 1)[0]
    if ":" in head and not (base / path).exists():
        return location
    return str((base / path).resolve())


def _absolute_pack(pack: str, base: Path) -> str:
    """A rule pack of one's own is a file beside the configuration; the others are names."""
    return str((base / Path(pack).expanduser()).resolve()) if pack.endswith(".yaml") else pack


def _explain(error: ValidationError, path: Path | None) -> str:
    where = str(path) if path else "environment"
    lines = []
    for problem in error.errors():
        location = ".".join(str(part) for part in problem["loc"]) or "(top)"
        if problem["type"] == "extra_forbidden":
            lines.append(f"{where}: unknown key {location!r}{_nearest(problem['loc'])}")
        else:
            lines.append(f"{where}: {location}: {problem['msg'].removeprefix('Value error, ')}")
    return "\n".join(lines)


def _nearest(location: tuple[int | str, ...]) -> str:
    """`; did you mean 'exclude'?` for a misspelled key, or the list of valid ones."""
    model: Any = Settings
    for part in location[:-1]:
        if isinstance(part, str):
            model = _model_of(model.model_fields[part].annotation)
    valid = sorted(model.model_fields)
    near = difflib.get_close_matches(str(location[-1]), valid, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; valid keys: {', '.join(valid)}"


def _model_of(annotation: Any) -> Any:
    """The model class inside `Model`, `tuple[Model, ...]` or `Model | None`."""
    for inner in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            return inner
    return annotation
