"""What every stage asset shares: labels, locks, data versions, metadata, and runs of several labels (backfills).

Dagster knows one outcome per step. So a step of a run of several labels succeeds for those that got through, and notes
the others as observations of their asset ("failed: …", to be seen in the UI at that asset and label). The steps after
it leave those out, and the last ones fail, naming every label, the stage it failed at, and why.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from dagster import (
    AssetCheckEvaluation,
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetExecutionContext,
    AssetMaterialization,
    AssetObservation,
    DagsterEventType,
    DataVersion,
    Failure,
    MaterializeResult,
    Output,
)

from rag_assets.defs.observed_heads import DATA_VERSION
from rag_assets.defs.partitions import COMMIT_TAG, LABEL_TAG, partition_name
from rag_assets.defs.resources import SettingsSource
from rag_assets.defs.retries import (
    DELAYS_SECONDS,
    fail_or_retry,
    is_transient,
    text_without_secrets,
    without_secrets,
)
from rag_assets.defs.scope import REPOSITORY, AssetScope, accepted_warnings, key_beside, op_beside
from rag_assets.defs.stage_metadata import markdown_list, stage_metadata
from rag_assets.errors import RagAssetsError, SourceError
from rag_assets.index.database import is_disk_full
from rag_assets.index.labels import label_of, other_source, register_label
from rag_assets.index.layout import IndexHome, index_label
from rag_assets.pipeline.build import IndexBuild, StageReport, candidate_build, label_lock
from rag_assets.pipeline.checks.generation_checks import CHECKS
from rag_assets.pipeline.checks.memoized_checks import CheckResult
from rag_assets.pipeline.progress import Progress, Silent
from rag_assets.pipeline.workers.process_pool import release_memory
from rag_assets.pipeline.workers.worker_pool import beside
from rag_assets.settings.config_file import ConfigError

OWN_EVENTS = {"__source_asset_observation__": True}
"""Metadata of a result whose materializations were logged one by one. Dagster logs none for an output that has it; else
it would report the labels that failed as materialized too, as it has one event for all of a step."""

_FAILED = "failed"
_MOST_TEXT = 2_000  # characters of an error kept in the event log


@dataclass(frozen=True, slots=True)
class LabelFailure:
    """A label that dropped out of a run."""

    label: str
    stage: str
    reason: str

    def __str__(self) -> str:
        reason = self.reason if self.label in self.reason else f"{self.label}: {self.reason}"
        return f"{reason} (stage {self.stage})"


def failed_so_far(context: AssetExecutionContext) -> list[LabelFailure]:
    """The labels that dropped out at earlier steps of this run."""
    found = []
    noted_here = context.instance.get_records_for_run(context.run.run_id, of_type=DagsterEventType.ASSET_OBSERVATION)
    for record in noted_here.records:
        event = record.event_log_entry.dagster_event
        if event is None:
            continue
        noted = event.asset_observation_data.asset_observation
        if _FAILED in noted.metadata and noted.partition is not None:
            found.append(LabelFailure(noted.partition, noted.asset_key.path[-1], str(noted.metadata[_FAILED].value)))
    return found


def note_failures(context: AssetExecutionContext, failures: list[LabelFailure]) -> None:
    """For the steps after this one, and for whoever looks at the asset."""
    for failure in failures:
        text = failure.reason[:_MOST_TEXT]
        context.log_event(
            AssetObservation(asset_key=context.asset_key, partition=failure.label, metadata={_FAILED: text})
        )


def note_materialization(
    context: AssetExecutionContext, label: str, version: str, metadata: dict[str, Any], inputs: Mapping[str, str]
) -> None:
    """One label is done with a stage: its own event, with its own data version."""
    code_version = context.assets_def.code_versions_by_key.get(context.asset_key)
    tags = {DATA_VERSION: version, "dagster/data_version_is_user_provided": "true", **inputs}
    if code_version is not None:
        tags["dagster/code_version"] = code_version
    context.log_event(AssetMaterialization(asset_key=context.asset_key, partition=label, metadata=metadata, tags=tags))


def is_last_step(context: AssetExecutionContext) -> bool:
    """True where no step of this run comes after this one."""
    layer = context.job_def.asset_layer
    in_this_run = context.run.asset_selection or layer.executable_asset_keys
    return not (layer.asset_graph.get(context.asset_key).child_keys & in_this_run)


def failure_of(failures: list[LabelFailure]) -> Failure:
    """How the run ends: every label that failed, and why. A retry of this step would not bring them back."""
    return Failure(description="\n".join(map(str, failures)), allow_retries=False)


Work = Callable[[str], tuple[IndexBuild, StageReport]]
Results = Iterator[MaterializeResult[None] | AssetCheckResult]
Extra = Callable[[IndexBuild], dict[str, Any]]
"""What the UI shows of a build beside the report of its stage."""

Inputs = Callable[[IndexBuild], dict[str, str]]
"""Tags of a materialization that say what it was made of, where Dagster does not know that."""

LOCK_WAIT_SECONDS = 10.0  # steps of one run follow each other at once; longer means another run has the label
_FREE_SPACE = "free some space (rag-assets gc, rag-assets generations prune), then run it again"
_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_SAID = 3  # examples of a failed check beside its verdict; its metadata has them all
_DISCOVERY = "discovered_files"
_LABEL = "label"  # in the metadata of assets without partitions


def check_specs(asset: str, scope: AssetScope) -> list[AssetCheckSpec]:
    """The checks that run with the materialization of `asset`."""
    with accepted_warnings():
        return [
            AssetCheckSpec(
                name=name,
                asset=scope.key(asset),
                blocking=blocking,
                description=(check.__doc__ or "").strip(),
                partitions_def=scope.partitions,  # else what the last run said, of any label, stands for all of them
            )
            for name, (owner, blocking, check) in CHECKS.items()
            if owner == asset
        ]


def nothing_else(build: IndexBuild) -> dict[str, Any]:
    return {}


def materialize_labels(
    context: AssetExecutionContext,
    workspace: SettingsSource,
    progress: Progress,
    work: Work,
    extra: Extra = nothing_else,
    inputs: Inputs = nothing_else,
) -> Results:
    """Runs `work` for every label of the run and reports what came of each.

    What a later attempt can heal is tried again with growing delays (`defs.retries`). In a run of several labels one
    that fails drops out and the others go on; the run fails at its end and names it (`defs.stage_asset`).
    """
    partitioned = context.assets_def.partitions_def is not None
    if partitioned and not context.has_partition_key and len(context.partition_keys) > 1:
        yield from _materialize_several(context, workspace, progress, work, extra, inputs)
        return
    label = ""
    try:
        label = context.partition_key if partitioned else label_without_partitions(context, workspace)
        _tag_run(context, {LABEL_TAG: label})
        build, report = _work_on(workspace, label, work)
    except Exception as error:
        _fail_or_retry(context, progress, error, _named(workspace, label, error))
    _tag_run(context, {LABEL_TAG: label, COMMIT_TAG: build.spec.git.commit_sha})
    checked = _evaluate(report.stage, build)
    yield MaterializeResult(
        metadata=({} if partitioned else {_LABEL: label})
        | stage_metadata(build, report, partial(key_beside, context))
        | extra(build),
        data_version=DataVersion(report.output),
        tags=inputs(build),
    )
    for name, result in checked.items():  # as part of the result Dagster would look each up twice
        yield AssetCheckResult(
            asset_key=context.asset_key,
            check_name=name,
            passed=result.passed,
            severity=AssetCheckSeverity.ERROR if CHECKS[name][1] else AssetCheckSeverity.WARN,
            description=_outcome(result),
            metadata=_shown(result),
        )


def _materialize_several(
    context: AssetExecutionContext,
    workspace: SettingsSource,
    progress: Progress,
    work: Work,
    extra: Extra,
    inputs: Inputs,
) -> Results:
    stage = context.asset_key.path[-1]
    before = failed_so_far(context)
    out = {failure.label for failure in before}
    done: dict[str, tuple[IndexBuild, StageReport]] = {}
    errors: dict[str, Exception] = {}
    for label in context.partition_keys:
        if label not in out:
            try:
                done[label] = _work_on(workspace, label, work)
            except Exception as error:  # even a defect that one label shows must not cost the others their index
                errors[label] = error
    for label, met in errors.items():
        if is_transient(met) and context.retry_number < len(DELAYS_SECONDS):
            _fail_or_retry(context, progress, met, _of_label(label, _said(workspace, met)))
    failures = [LabelFailure(label, stage, _said(workspace, met)) for label, met in errors.items()]
    checked = {label: _evaluate(stage, build) for label, (build, _) in done.items()}
    for label, results in checked.items():
        reasons = _blocking_failures(results)
        if reasons:
            failures.append(LabelFailure(label, stage, "; ".join(reasons)))
    note_failures(context, failures)
    for label, (build, report) in done.items():
        note_materialization(
            context,
            label,
            report.output,
            stage_metadata(build, report, partial(key_beside, context)) | extra(build),
            inputs(build),
        )
    for label, results in checked.items():
        _note_checks(context, label, results)
    everyone = before + failures
    if len(everyone) == len(context.partition_keys) or (everyone and is_last_step(context)):
        raise failure_of(everyone) from next(map(without_secrets, errors.values()), None)
    yield MaterializeResult(metadata=OWN_EVENTS)
    yield from _said_already(context)


def observed_labels(context: AssetExecutionContext, workspace: SettingsSource) -> Sequence[str]:
    """The labels whose heads are to be observed: those of the run, or all."""
    if context.assets_def.partitions_def is None:
        try:
            return [label_without_partitions(context, workspace)]
        except Exception as error:
            _fail_or_retry(context, Silent(), error, _named(workspace, "", error))
    if context.has_partition_key or context.has_partition_key_range:
        return list(context.partition_keys)
    return list(context.instance.get_dynamic_partitions(partition_name()))


def label_without_partitions(context: AssetExecutionContext, workspace: SettingsSource) -> str:
    """The label of the one repository of the settings. Without a `ref` only discovery asks git what its HEAD names; the
    assets after it take the label that discovery has materialized. Raises ConfigError where it has not yet, SourceError
    where git does not answer."""
    settings, home = workspace.settings(), workspace.index_home()
    (repository,) = settings.repositories
    if context.asset_key.path[-1] not in (_DISCOVERY, REPOSITORY):
        if repository.ref is not None:
            return index_label(repository.id, repository.ref)
        discovery = key_beside(context, _DISCOVERY)
        event = context.instance.get_latest_materialization_event(discovery)
        noted = event.asset_materialization.metadata.get(_LABEL) if event and event.asset_materialization else None
        if noted is None:
            raise ConfigError(
                f"the label of {repository.id} is not known; materialize {discovery.to_user_string()} first"
            )
        return str(noted.value)
    label, ref = label_of(settings, repository)
    old = other_source(home, label, repository)
    if old:
        raise ConfigError(
            f"{label} in {home.root} already stands for {old}; name another `id` in the `repository` of the component, "
            f"or remove the old index with: rag-assets --home {home.root} reset {label}"
        )
    home.make_for_owner()
    register_label(home, label, repository, ref)
    return label


def _work_on(workspace: SettingsSource, label: str, work: Work) -> tuple[IndexBuild, StageReport]:
    try:
        with label_lock(workspace.index_home(), label, wait_seconds=LOCK_WAIT_SECONDS):
            return work(label)
    finally:
        release_memory()


def _fail_or_retry(context: AssetExecutionContext, progress: Progress, error: Exception, text: str = "") -> NoReturn:
    def waiting(reason: str, seconds: float) -> None:
        context.log.warning(f"{reason}; tried again in {seconds:.0f} s")
        progress.waiting(reason, seconds)

    fail_or_retry(error, context.retry_number, text, waiting=waiting)


def _named(workspace: SettingsSource, label: str, error: Exception) -> str:
    """The words of an expected error with its label; nothing for a defect, which speaks through its trace."""
    text = _expected(workspace, error)
    return _of_label(label, text) if text and label else text


def _of_label(label: str, text: str) -> str:
    return text if label in text else f"{label}: {text}"


def _said(workspace: SettingsSource, error: Exception) -> str:
    return text_without_secrets(_expected(workspace, error) or f"{type(error).__name__}: {error}")


def _expected(workspace: SettingsSource, error: Exception) -> str:
    """What a person can act on, empty for a defect."""
    if isinstance(error, SourceError):
        return workspace.explained(error)
    if isinstance(error, OSError) and (error.errno in _DISK_FULL or is_disk_full(str(error))):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}; {_FREE_SPACE}"
    return str(error) if isinstance(error, RagAssetsError) else ""


def _tag_run(context: AssetExecutionContext, tags: dict[str, str]) -> None:
    """Makes runs of the UI findable by the same tags as those of schedules, and the commit the one that was read."""
    if context.asset_key.path[-1] == _DISCOVERY and not tags.items() <= context.run.tags.items():
        context.instance.add_run_tags(context.run.run_id, tags)


def candidate(context: AssetExecutionContext, workspace: SettingsSource, label: str) -> IndexBuild:
    """The build that this run works on; one that another run started only if this run did not start its own."""
    own = context.run.run_id if _has_discovery(context) else None
    settings = workspace.settings()
    return candidate_build(IndexHome(settings.home), settings, label, of_run=own)


def _has_discovery(context: AssetExecutionContext) -> bool:
    """False for a part of the assets, and for the repetition of a run from the step that failed."""
    run, key = context.run, key_beside(context, _DISCOVERY)
    steps = run.step_keys_to_execute
    return key in (run.asset_selection or context.job_def.asset_layer.executable_asset_keys) and (
        steps is None or op_beside(context, _DISCOVERY) in steps
    )


def _evaluate(stage: str, build: IndexBuild) -> dict[str, CheckResult]:
    """What the checks of a stage say. Every second one is made beside the others, where a worker process is at hand; a
    single one would only be waited for."""
    checks = {name: partial(check, build) for name, (owner, _, check) in CHECKS.items() if owner == stage}
    names = list(checks)
    begun = {name: beside(checks[name]) for name in names[::2] if len(names) > 1}
    here = {name: check() for name, check in checks.items() if name not in begun}
    return {name: here[name] if name in here else begun[name]() for name in names}


def _blocking_failures(results: dict[str, CheckResult]) -> list[str]:
    failed = [(name, result) for name, result in results.items() if CHECKS[name][1] and not result.passed]
    return [f"check {name} failed: {'; '.join(result.examples[:3]) or result.numbers}" for name, result in failed]


def _note_checks(context: AssetExecutionContext, label: str, results: dict[str, CheckResult]) -> None:
    """What the checks say of one label of several, as its own events. A result of the step would stop all labels: the
    label that failed has dropped out already."""
    for name, result in results.items():
        blocking = CHECKS[name][1]
        evaluation = AssetCheckEvaluation(
            asset_key=context.asset_key,
            check_name=name,
            passed=result.passed,
            severity=AssetCheckSeverity.ERROR if blocking else AssetCheckSeverity.WARN,
            description=_outcome(result),
            metadata=_shown(result),
            blocking=blocking,
            partition=label,
        )
        context.log_event(evaluation)


def _said_already(context: AssetExecutionContext) -> Any:
    """The outputs of the checks of the step, without a result, which would be one of no label."""
    wanted = set(context.op_execution_context.selected_output_names)
    names = [spec.get_python_identifier() for spec in context.assets_def.check_specs]
    return [Output(None, output_name=name) for name in names if name in wanted]


def _outcome(result: CheckResult) -> str:
    """What the UI shows beside the verdict: of a failure the reasons and the last line, which says what to do."""
    if result.passed:
        return result.description
    if not result.examples:
        return f"it does not hold that {result.description}"
    kept = result.examples
    if len(kept) > _SAID + 1:
        kept = [*kept[:_SAID], "…", kept[-1]]
    return "; ".join(kept)


def _shown(result: CheckResult) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    if result.examples:
        shown["examples"] = markdown_list(result.examples)
    return shown | result.numbers
