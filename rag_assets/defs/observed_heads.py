"""Observations of the asset `repository`: which commit a ref names. The lineage of an index begins with them.

A run that asks the ref itself, the sensors and the schedule all note what they saw, if it is new.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from dagster import (
    AssetExecutionContext,
    AssetKey,
    AssetObservation,
    AssetRecordsFilter,
    DagsterInstance,
    EventLogRecord,
    MetadataValue,
)

from rag_assets.defs.automation.git_heads import LabelHead, remember, survey_heads
from rag_assets.defs.scope import REPOSITORY, AssetScope, key_beside
from rag_assets.errors import RagAssetsError
from rag_assets.index.labels import repository_of
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.build import IndexBuild
from rag_assets.pipeline.discovered_files import open_repository
from rag_assets.settings import RepositorySettings, Settings
from rag_assets.settings.config_file import ConfigError
from rag_assets.sources.forge_links import commit_page
from rag_assets.sources.urls import is_remote

DATA_VERSION = "dagster/data_version"
_IS_OURS = "dagster/data_version_is_user_provided"
_INPUT_VERSION = "dagster/input_data_version"
_INPUT_EVENT = "dagster/input_event_pointer"


def observation(
    key: AssetKey, label: str, commit: str, *, ref: str, remote_url: str, partitioned: bool = True
) -> AssetObservation:
    """What the ref of a label names: its commit, which is the data version; of a folder or an archive the hash of its
    content."""
    metadata: dict[str, Any] = {"label": label, "commit": commit, "ref": ref}
    page = commit_page(remote_url, commit) if remote_url else ""
    if page:
        metadata["commit page"] = MetadataValue.url(page)
    tags = {DATA_VERSION: commit, _IS_OURS: "true"}
    return AssetObservation(key, metadata=metadata, partition=label if partitioned else None, tags=tags)


def observation_of(scope: AssetScope, head: LabelHead) -> AssetObservation:
    location, partitioned = head.repository.location, scope.partitions is not None
    remote_url, ref = location if is_remote(location) else "", head.repository.ref or ""
    key = scope.key(REPOSITORY)
    return observation(key, head.label, head.commit, ref=ref, remote_url=remote_url, partitioned=partitioned)


def new_observations(
    instance: DagsterInstance,
    scope: AssetScope,
    heads: Iterable[LabelHead],
    before: Mapping[str, str] = MappingProxyType({}),
) -> list[AssetObservation]:
    """Of those heads that the last observation of their label does not have. `before` has the commits of labels that a
    former tick has seen, which costs no look at the instance."""
    key, partitioned = scope.key(REPOSITORY), scope.partitions is not None
    return [
        observation_of(scope, head)
        for head in heads
        if head.commit
        and before.get(head.label) != head.commit
        and _version(last_observation(instance, key, head.label if partitioned else None)) != head.commit
    ]


def last_observation(instance: DagsterInstance, key: AssetKey, label: str | None) -> EventLogRecord | None:
    """`label`: the partition, None without partitions."""
    wanted = AssetRecordsFilter(asset_key=key, asset_partitions=None if label is None else [label])
    return next(iter(instance.fetch_observations(wanted, limit=1).records), None)


def _version(record: EventLogRecord | None) -> str | None:
    seen = record.event_log_entry.asset_observation if record is not None else None
    return (seen.tags or {}).get(DATA_VERSION) if seen is not None else None


def input_tags(context: AssetExecutionContext, build: IndexBuild, *, is_head: bool) -> dict[str, str]:
    """Tags of a materialization that say which commit it was made of; where that `is_head` of the ref, it is observed
    first. Dagster itself looks at inputs before the step, and takes versions of partitions from materializations alone.
    """
    key, spec = key_beside(context, REPOSITORY), build.spec
    tags = {f"{_INPUT_VERSION}/{key.to_user_string()}": spec.git.commit_sha}
    if not is_head:
        return tags
    partitioned = context.assets_def.partitions_def is not None
    partition = spec.index_label if partitioned else None
    last = last_observation(context.instance, key, partition)
    if _version(last) != spec.git.commit_sha:
        seen = observation(
            key,
            spec.index_label,
            spec.git.commit_sha,
            ref=spec.ref,
            remote_url=spec.git.remote_url,
            partitioned=partitioned,
        )
        context.log_event(seen)
        last = last_observation(context.instance, key, partition)
    return tags | ({f"{_INPUT_EVENT}/{key.to_user_string()}": str(last.storage_id)} if last is not None else {})


def heads_of(settings: Settings, home: IndexHome, labels: Iterable[str]) -> tuple[list[LabelHead], list[str]]:
    """The heads of labels, and the reasons of those without one. Of a folder or an archive the head is the hash of its
    content."""
    repositories: dict[str, RepositorySettings] = {}
    problems: list[str] = []
    wanted = set(labels)
    for label in sorted(wanted):
        try:
            repository = repository_of(home, settings, label)
        except ConfigError as error:
            problems.append(str(error))
            continue
        repositories.setdefault(repository.id, repository)
        remember(home, (LabelHead(label, repository),))
    survey = survey_heads(settings.model_copy(update={"repositories": tuple(repositories.values())}), home)
    found: list[LabelHead] = []
    for head in survey.heads:
        if head.label in wanted:
            try:
                found.append(head if head.commit else replace(head, commit=_content(settings, home, head)))
            except RagAssetsError as error:
                problems.append(f"{head.label}: {error}")
    gone = [f"{gone.label}: {gone.reason}" for gone in survey.gone if gone.label in wanted]
    silent = [f"{silent.repository_id}: {silent.reason}" for silent in survey.unanswered]
    return found, problems + gone + silent


def _content(settings: Settings, home: IndexHome, head: LabelHead) -> str:
    with open_repository(home, settings, head.repository, None) as snapshot:
        return snapshot.info.commit_sha
