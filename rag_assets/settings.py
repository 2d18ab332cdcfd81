"""The one typed configuration: `rag_assets.yaml` plus `RAG_ASSETS__…` environment variables.

Unknown keys are refused with the nearest valid name. Secrets are never settings: they come from the
environment only, where something needs them.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from rag_assets.config_file import DEFAULT_HOME, ConfigError, find_config, read_yaml, resolve_home
from rag_assets.contracts.kinds import Kind, checked_kind
from rag_assets.server_urls import plain_server_url, refuse_unencrypted

ENV_PREFIX = "RAG_ASSETS__"
DEFAULT_ORG = "local"
DEFAULT_CRON = "0 2 * * *"
DEFAULT_TIMEZONE = "UTC"
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
    """The embedding model: the local one, one behind a server, or none (`lexical-only`). A key is never a setting."""

    provider: Literal["local", "openai-compatible", "lexical-only"] = Field(
        default="local",
        description="openai-compatible: a server, key in RAG_ASSETS_EMBEDDINGS_API_KEY; lexical-only: keyword search",
    )
    precision: Literal["int8", "fp32"] = Field(
        default="int8", description="of the local model; fp32 is exact and about half as fast"
    )
    threads: int = Field(default=0, ge=0, description="of the local model; 0: one per processor core")
    base_url: str = Field(default="", description="what /embeddings is appended to: http://127.0.0.1:11434/v1")
    model: str = Field(default="", description="as the server names it")
    allow_plain_http: bool = Field(
        default=False, description="send source and key unencrypted to a base_url that is not this machine"
    )
    dimension: int | None = Field(
        default=None, ge=1, le=65_536, description="to ask the server for; default: what its model has"
    )
    max_tokens: int = Field(
        default=512, ge=64, description="the longest text sent; longer sections are split (the server's model)"
    )
    tokenizer: Literal["estimate", "cl100k_base", "o200k_base"] = Field(
        default="estimate", description="how these are counted; all but estimate need: pip install 'rag-assets[openai]'"
    )
    batch_texts: int = Field(default=64, ge=1, le=2_048, description="texts of one request")
    batch_tokens: int = Field(default=16_000, ge=1, description="tokens of one request")
    max_concurrency: int = Field(default=4, gt=0, le=64, description="requests at a time")
    timeout_seconds: float = Field(default=60.0, gt=0, description="for one request of an index build")
    query_timeout_seconds: float = Field(
        default=5.0, gt=0, description="for embedding a question; after that, keywords answer alone"
    )
    price: float | None = Field(default=None, ge=0, description="per million tokens; for the cost shown")

    @field_validator("base_url")
    @classmethod
    def _is_a_plain_url(cls, value: str) -> str:
        return plain_server_url(value, "RAG_ASSETS_EMBEDDINGS_API_KEY")

    @model_validator(mode="after")
    def _can_be_used(self) -> EmbedderSettings:
        if self.provider == "openai-compatible":
            _require_server(self, self.provider)
        return self


class StoreSettings(_Strict):
    """Where the vectors are: beside the index, or in a Qdrant server."""

    vectors: Literal["embedded", "qdrant"] = Field(
        default="embedded", description="qdrant: a server, key in QDRANT_API_KEY, pip install 'rag-assets[qdrant]'"
    )
    qdrant_url: str = Field(default="", description="of the server: http://127.0.0.1:6333")
    allow_plain_http: bool = Field(
        default=False, description="send source and key unencrypted to a qdrant_url that is not this machine"
    )
    qdrant_timeout_seconds: int = Field(default=30, gt=0, description="for one request to the server")
    hnsw_from_points: int = Field(
        default=20_000,
        ge=0,
        description="smaller embedded generations are scanned exactly, which is as fast and needs no build",
    )

    @field_validator("qdrant_url")
    @classmethod
    def _is_a_plain_url(cls, value: str) -> str:
        return plain_server_url(value, "QDRANT_API_KEY")

    @model_validator(mode="after")
    def _can_be_used(self) -> StoreSettings:
        if self.vectors == "qdrant":
            if not self.qdrant_url:
                raise ValueError("vectors qdrant needs qdrant_url")
            refuse_unencrypted(self.qdrant_url, allowed=self.allow_plain_http)
        return self


class RetentionSettings(_Strict):
    """Which old generations stay on disk. Documents and cache entries that nothing needs go with `rag-assets gc`."""

    keep: int = Field(
        default=3, ge=1, description="generations per label; the previous one and tagged ones stay in any case"
    )


class AutomationSettings(_Strict):
    """When Dagster indexes on its own. The address of the failure webhook is a secret: RAG_ASSETS_WEBHOOK_URL only."""

    cron: str = Field(default=DEFAULT_CRON, description="when every label is indexed, as five cron fields")
    timezone: str = Field(default=DEFAULT_TIMEZONE, description="of the cron fields, for example Europe/Berlin")
    poll_seconds: int = Field(default=60, ge=30, description="how often the commit sensor asks the repositories")
    poll_timeout_seconds: float = Field(default=10.0, gt=0, le=30, description="for one answer to the commit sensor")
    stale_after_hours: float = Field(
        default=26.0,
        gt=0,
        description="a label without a successful run for longer is reported",
    )
    ui_url: str = Field(default="http://127.0.0.1:3000", description="of the Dagster UI, for links in notifications")

    @field_validator("cron")
    @classmethod
    def _is_a_schedule(cls, value: str) -> str:
        if value != DEFAULT_CRON:
            # The parser that will run it decides. It costs the import of dagster, which the default must not.
            from dagster._utils.schedules import is_valid_cron_string

            if not is_valid_cron_string(value):
                raise ValueError(f"{value!r} is not a cron schedule of five fields, for example '30 2 * * 1-5'")
        return value

    @field_validator("timezone")
    @classmethod
    def _is_a_time_zone(cls, value: str) -> str:
        if value != DEFAULT_TIMEZONE:
            try:
                ZoneInfo(value)
            except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # OSError: the name of a folder
                raise ValueError(f"{value!r} is not a time zone, for example Europe/Berlin") from error
        return value

    @field_validator("ui_url")
    @classmethod
    def _is_a_web_address(cls, value: str) -> str:
        parts = urlsplit(value.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
            raise ValueError("must be an http or https URL without credentials")
        return value.strip().rstrip("/")


class LlmSettings(_Strict):
    """The model that may write summaries of undocumented code. None by default; its key is never a setting."""

    provider: Literal["none", "openai-compatible"] = Field(
        default="none",
        description="who writes summaries of undocumented code; the key comes from RAG_ASSETS_LLM_API_KEY only",
    )
    base_url: str = Field(default="", description="what /chat/completions is appended to: http://127.0.0.1:11434/v1")
    model: str = Field(default="", description="as the server names it")
    allow_plain_http: bool = Field(
        default=False, description="send source and key unencrypted to a base_url that is not this machine"
    )
    refine: Literal["undocumented", "all"] = Field(
        default="undocumented", description="which symbols; all adds to what their authors wrote"
    )
    max_calls: int = Field(default=1_000, gt=0, description="requests per build; what is left is asked by a later one")
    max_concurrency: int = Field(default=4, gt=0, le=64, description="requests at a time")
    timeout_seconds: float = Field(default=60.0, gt=0, description="for one answer")
    price_in: float | None = Field(default=None, ge=0, description="per million prompt tokens; for the cost shown")
    price_out: float | None = Field(default=None, ge=0, description="per million answer tokens; for the cost shown")

    @field_validator("base_url")
    @classmethod
    def _is_a_plain_url(cls, value: str) -> str:
        return plain_server_url(value, "RAG_ASSETS_LLM_API_KEY")

    @model_validator(mode="after")
    def _can_be_used(self) -> LlmSettings:
        if self.provider != "none":
            _require_server(self, self.provider)
        return self


def _require_server(settings: EmbedderSettings | LlmSettings, provider: str) -> None:
    """Raises ValueError where a provider that is a server lacks its URL or model, or would get source unencrypted."""
    missing = [name for name in ("base_url", "model") if not getattr(settings, name).strip()]
    if missing:
        raise ValueError(f"provider {provider} needs {' and '.join(missing)}")
    refuse_unencrypted(settings.base_url, allowed=settings.allow_plain_http)


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
    embedder: EmbedderSettings = Field(default=EmbedderSettings(), description="the embedding model")
    llm: LlmSettings = Field(default=LlmSettings(), description="the model behind descriptions; without one: offline")
    stores: StoreSettings = Field(default=StoreSettings(), description="where the vectors are")
    retention: RetentionSettings = Field(default=RetentionSettings(), description="which old generations stay on disk")
    automation: AutomationSettings = Field(
        default=AutomationSettings(), description="the Dagster schedules and sensors"
    )
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
