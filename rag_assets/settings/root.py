"""All settings in one model, read from `rag_assets.yaml` and the environment; and the groups for storage, schedules,
evaluation and execution."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.contracts.llm import Profile
from rag_assets.settings.base import (
    AllowPlainHttp,
    Name,
    Strict,
    server_url,
    without_nothing,
)
from rag_assets.settings.config_file import (
    DEFAULT_HOME,
    ENV_PREFIX,
    HOME_VARIABLE,
    ConfigError,
    find_config,
    read_config,
    resolve_home,
)
from rag_assets.settings.models import EmbedderSettings, LlmSettings
from rag_assets.settings.repositories import GraphImportSettings, RepositorySettings, SourceLimits
from rag_assets.settings.search import AnswerSettings, SearchSettings
from rag_assets.settings.urls import object_store_url, refuse_unencrypted
from rag_assets.settings.validation_messages import Location
from rag_assets.settings.yaml_loader import InvalidFileError, Mark, Node, load_model
from rag_assets.suggestions import nearest


class StoreSettings(Strict):
    """The vector store (beside the index, or a Qdrant server), the catalog and the remote store."""

    vectors: Literal["embedded", "qdrant", "faiss"] = Field(
        default="embedded",
        description="qdrant: a server, key in QDRANT_API_KEY; faiss: beside the index, searched "
        "exactly, pip install 'rag-assets[faiss]'",
    )
    qdrant_url: Annotated[str, server_url("QDRANT_API_KEY")] = Field(
        default="", description="of the server: http://127.0.0.1:6333"
    )
    allow_plain_http: AllowPlainHttp = False
    qdrant_timeout_seconds: int = Field(default=30, gt=0, description="for one request to the server")
    catalog: Literal["none", "sqlite", "postgres"] = Field(
        default="none",
        description="durable copy of all chunks, to rebuild vectors from; postgres: URL in RAG_ASSETS_CATALOG_URL",
    )
    hnsw_from_points: int = Field(
        default=20_000,
        ge=0,
        description="smaller embedded generations are scanned exactly, which is as fast and needs no build",
    )

    remote: Annotated[str, AfterValidator(object_store_url)] = Field(
        default="",
        description="where indexes are published to and pulled from: s3://bucket/prefix, with the credentials of AWS "
        "clients and pip install 'rag-assets[s3]', or a folder, relative to the configuration file",
    )

    @model_validator(mode="after")
    def _can_be_used(self) -> StoreSettings:
        if self.vectors == "qdrant":
            if not self.qdrant_url:
                raise ValueError("vectors qdrant needs qdrant_url")
            refuse_unencrypted(self.qdrant_url, allowed=self.allow_plain_http)
        return self


class RetentionSettings(Strict):
    """How many old generations stay on disk. `rag-assets gc` removes documents and cache entries that nothing needs."""

    keep: int = Field(
        default=3,
        ge=1,
        description="generations per label; tagged ones stay in any case, and the previous one does unless "
        "`generations prune --served-only` deletes it",
    )


_OWNER = re.compile(r"team:.+|[\w.%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,7}", re.ASCII)  # what Dagster takes
_CRON_FIELDS = 5
DEFAULT_CRON = "0 2 * * *"
DEFAULT_TIMEZONE = "UTC"


def _web_address(value: str) -> str:
    parts = urlsplit(value.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise ValueError("must be an http or https URL without credentials")
    return value.strip().rstrip("/")


class AutomationSettings(Strict):
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
            from croniter import (  # 20 ms that the default saves; Dagster carries the same parser
                CroniterError,
                croniter,
            )

            try:
                if len(value.split()) != _CRON_FIELDS:
                    raise CroniterError
                croniter(value).get_next()  # a day that never comes is no schedule
            except CroniterError:
                raise ValueError(
                    f"{value!r} is not a cron schedule of five fields, for example '30 2 * * 1-5'"
                ) from None
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
        return _web_address(value)


class DagsterSettings(Strict):
    """How the assets stand in a Dagster deployment that has others too."""

    key_prefix: str = Field(
        default="rag",
        pattern=r"^([A-Za-z0-9_]+(/[A-Za-z0-9_]+)*)?$",
        description="in front of the keys of all assets, as rag/segments; parts are separated by /, empty: none",
    )
    owners: tuple[str, ...] = Field(
        default=(), description="who is asked about the assets: addresses, or teams as team:search"
    )
    code_url: str = Field(
        default="",
        description="address of this package on GitHub or GitLab, for links from the assets to their code; "
        "empty: to the files of this machine",
    )
    code_ref: str = Field(default="main", description="branch, tag or commit of code_url that runs")

    @field_validator("code_url")
    @classmethod
    def _is_on_a_forge(cls, value: str) -> str:
        if value and not ("github" in value or "gitlab" in value):
            raise ValueError("must be an address on GitHub or GitLab, as https://github.com/acme/rag-assets")
        return _web_address(value) if value else ""

    @field_validator("owners")
    @classmethod
    def _can_own(cls, owners: tuple[str, ...]) -> tuple[str, ...]:
        for owner in owners:
            if not _OWNER.fullmatch(owner):
                raise ValueError(f"{owner!r} is neither an address, as anna@example.org, nor a team, as team:search")
        return owners


Metric = Literal["recall", "hit", "mrr", "ndcg", "file_recall", "member_recall"]
Share = Annotated[float, Field(ge=0, le=1)]


class EvaluationSettings(Strict):
    """What to measure for a repository with an `eval_set`, and how the promotion gate decides."""

    k: int = Field(default=10, ge=1, le=100, description="how many ranked files recall and hit rate look at")
    tolerance: float = Field(
        default=0.05, ge=0, lt=1, description="share of a metric of the served build that a new one may lose"
    )
    metrics: tuple[Metric, ...] = Field(
        default=("recall",),
        min_length=1,
        description="what is compared: recall, hit, mrr, ndcg; with spans also file_recall, member_recall",
    )
    minimum: dict[Metric, Share] = Field(
        default={}, description="metric → value between 0 and 1 that every new build must reach, also the first"
    )
    answers: bool = Field(
        default=False, description="also ask every question for an answer, and measure that; never decides the gate"
    )
    answer_limit: int | None = Field(
        default=None, ge=1, description="how many questions at most are asked for an answer; default: all"
    )
    answered_share: float = Field(
        default=0.85, gt=0, le=1, description="share of the answerable that a calibrated threshold must not refuse"
    )
    judge: Profile | None = Field(
        default=None, description="which model of answer marks the answers: cheap, balanced, premium; default: none"
    )
    judge_rubric: Path | None = Field(
        default=None, description="prompt of the judge in place of the shipped one; relative to the configuration file"
    )
    gate: bool = Field(default=True, description="false: measure and show, but serve in any case")


_SCHEDULER_SCHEMES = ("tcp", "tls", "ucx", "ws", "wss")


class ExecutionSettings(Strict):
    """Who works on a build; see docs/scaling.md. `executor` is for Dagster runs, `workers` also for `rag-assets index`.

    The broker of Celery may hold a password: RAG_ASSETS_CELERY_BROKER and RAG_ASSETS_CELERY_BACKEND only.
    """

    executor: Literal["in_process", "multiprocess", "docker", "celery", "k8s"] = Field(
        default="in_process",
        description="of the steps of a run; the last three need their extra: pip install 'rag-assets[k8s]'",
    )
    workers: Literal["processes", "dask"] = Field(
        default="processes",
        description="who works on the buckets of a stage; dask needs: pip install 'rag-assets[dask]'",
    )
    dask_scheduler: str = Field(default="", description="tcp://host:8786; empty: a Dask cluster on this machine")

    @field_validator("dask_scheduler")
    @classmethod
    def _is_a_scheduler(cls, value: str) -> str:
        parts = urlsplit(value.strip())
        if value.strip() and (parts.scheme not in _SCHEDULER_SCHEMES or not parts.hostname or parts.password):
            raise ValueError(f"{value!r} is not the address of a Dask scheduler, for example tcp://scheduler:8786")
        return value.strip()


class Settings(BaseSettings):
    """All settings of rag_assets. `rag-assets init` writes a commented file."""

    model_config = SettingsConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        env_prefix=ENV_PREFIX,
        env_nested_delimiter="__",
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
    dagster: DagsterSettings = Field(default=DagsterSettings(), description="keys and owners of the Dagster assets")
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
                raise ValueError(
                    f"repository id {repository.id!r} is used twice; every repository of a home needs its own"
                )
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
        raise ConfigError(f"no repository {repository_id!r} in the configuration{nearest(repository_id, known)}")


def load_settings(config: Path | None = None) -> Settings:
    """Settings of `config` (default: found as `find_config` says) and the environment; `home` is absolute.

    Relative repository paths are relative to the configuration file. Raises ConfigError.
    """
    path = config or find_config()
    root = read_config(path) if path else Node({}, Mark("environment"))
    settings = _checked(root.plain, root, path.resolve().parent if path else Path.cwd(), _variable_mark)
    return settings.model_copy(update={"home": resolve_home(config=path)})


def settings_over(
    values: Mapping[str, Any],
    base: Path,
    *,
    config: Path | None,
    default_home: Path,
    mark: Callable[[Location], Mark],
) -> Settings:
    """Settings whose `values` are in another file than the configuration, which says what they leave out; the
    environment beats both. `mark` is the place of a value, `base` the folder of relative paths. Without a `home`
    anywhere it is `default_home`. Raises ConfigError.
    """
    below: dict[str, Any] = {}
    if config is not None:
        # repositories: those of `values`, or none
        below = load_settings(config).model_dump(exclude_unset=True, exclude={"repositories", "home"})
    root = Node({}, mark(()))
    settings = _checked(_laid_over(below, values), root, base, lambda at: _variable_mark(at) or mark(at))
    if os.environ.get(HOME_VARIABLE) or (config is not None and "home" not in values):
        home = resolve_home(config=config)
    else:
        home = resolve_home((base / settings.home.expanduser()) if "home" in values else default_home)
    return settings.model_copy(update={"home": home})


def _laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings key by key; of any other value that of `above`."""
    made = {**below, **above}
    for name in below.keys() & above.keys():
        if isinstance(below[name], Mapping) and isinstance(above[name], Mapping):
            made[name] = _laid_over(below[name], above[name])
    return made


def _checked(values: Mapping[str, Any], root: Node, base: Path, mark: Callable[[Location], Mark | None]) -> Settings:
    """The settings of a file in the folder `base`, with absolute paths, but for `home`. Raises ConfigError."""
    _refuse_unknown_variables()
    try:
        settings = load_model(Settings, values, root, mark=mark)
    except InvalidFileError as error:
        raise ConfigError(str(error)) from error
    except SettingsError as error:  # names the section, and its cause could show the value, which may be a secret
        section = next((name for name in Settings.model_fields if f'"{name}"' in str(error)), "")
        raise ConfigError(f"environment: {_variable(section)}: must be JSON, or set its parts one by one") from None
    beside = partial(_beside, base)
    answer, evaluation = settings.answer, settings.evaluation
    repositories = tuple(with_absolute_paths(repository, base) for repository in settings.repositories)
    replies = {"replies_file": str(beside(answer.replies_file)) if answer.replies_file else ""}
    remote = settings.stores.remote
    if remote and "://" not in remote:
        remote = (base / Path(remote).expanduser()).resolve().as_uri()
    made = {
        "stores": settings.stores.model_copy(update={"remote": remote}),
        "repositories": repositories,
        "packs": tuple(map(beside, settings.packs)),
        "answer": answer.model_copy(update={"pipeline": _file_or_name(answer.pipeline, base)} | replies),
        "embedder": settings.embedder.model_copy(update={"table": beside(settings.embedder.table)}),
        "evaluation": evaluation.model_copy(update={"judge_rubric": beside(evaluation.judge_rubric)}),
    }
    return settings.model_copy(update=made)


def _refuse_unknown_variables() -> None:
    """pydantic-settings ignores a misspelled variable; a setting that is silently not applied helps nobody."""
    valid = sorted(Settings.model_fields)
    for variable in sorted(name for name in os.environ if name.upper().startswith(ENV_PREFIX)):
        section = variable[len(ENV_PREFIX) :].lower().partition("__")[0]
        if section not in valid:
            raise ConfigError(
                f"environment: unknown variable {variable}: no setting {section!r}{nearest(section, valid)}"
            )


def _variable(section: str) -> str:
    return f"{ENV_PREFIX}{section.upper()}"


def with_absolute_paths(repository: RepositorySettings, base: Path) -> RepositorySettings:
    """Its paths are relative to the folder `base`."""
    made: dict[str, Any] = {
        "location": _absolute_location(repository.location, base),
        "rule_packs": tuple(_file_or_name(pack, base) for pack in repository.rule_packs),
        "eval_set": _beside(base, repository.eval_set),
    }
    if repository.graph_import is not None:
        path = _beside(base, repository.graph_import.path)
        made["graph_import"] = repository.graph_import.model_copy(update={"path": path})
    return repository.model_copy(update=made)


def _beside(base: Path, path: Path | str | None) -> Path | None:
    """A path that is relative to the configuration file, made absolute."""
    return None if path is None else (base / Path(path).expanduser()).resolve()


def _absolute_location(location: str, base: Path) -> str:
    """Relative paths made absolute; URLs, scp-like locations (`git@host:path`) and absolute paths as they are."""
    path = Path(location).expanduser()
    if "://" in location or path.is_absolute():
        return location if "://" in location else str(path)
    if ":" in location.split("/", 1)[0] and not (base / path).exists():
        return location
    return str(_beside(base, path))


def _file_or_name(named: str, base: Path) -> str:
    """A rule pack or a pipeline of one's own is a file beside the configuration; the others are names."""
    return str(_beside(base, named)) if named.endswith((".yaml", ".yml")) else named


def _variable_mark(location: Location) -> Mark | None:
    """The variable that holds a setting, which beats the file; None where none does."""
    for end in range(len(location), 0, -1):
        name = ENV_PREFIX + "__".join(str(part) for part in location[:end])
        known = next((variable for variable in os.environ if variable.upper() == name.upper()), None)
        if known is not None:
            return Mark(f"environment: {known}")
    return None
