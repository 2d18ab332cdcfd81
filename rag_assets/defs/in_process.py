"""Running the Dagster assets of one label in this process, with Dagster's own console kept quiet.

The Dagster instance that keeps runs, events and partitions: made in one step, opened for one command.
"""

from __future__ import annotations

import contextlib
import html
import re
import shutil
import signal
import sys
import threading
import uuid
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagster import (
    AssetCheckEvaluation,
    BetaWarning,
    DagsterEvent,
    DagsterInstance,
    DagsterInvalidInvocationError,
    DagsterRunStatus,
    ExecuteInProcessResult,
    MetadataValue,
    PreviewWarning,
    RunsFilter,
)

from rag_assets.defs.partitions import index_labels
from rag_assets.defs.scope import stage_of
from rag_assets.index.catalog.database import StorageError, databases_kept_open
from rag_assets.index.layout import IndexHome, dagster_instance_file, write_atomically
from rag_assets.pipeline.checks.generation_checks import GATE_CHECK
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.workers.process_pool import collecting_before_the_next

if TYPE_CHECKING:
    from dagster_shared.error import SerializableErrorInfo


@contextmanager
def open_instance(home: IndexHome) -> Iterator[DagsterInstance]:
    """The instance of a home; made when it is not there yet.

    Raises OSError naming its directory where its storage is full, read-only, damaged, incomplete or does not answer.
    """
    file = dagster_instance_file(home)
    directory = file.parent
    if not directory.exists():
        _make(directory, file.name)
    if not file.exists():  # somebody else's folder, or an empty one
        write_atomically(file, _template())
    try:
        with quiet(), databases_kept_open(directory), _opened(file) as instance:
            _require_complete(instance)
            yield instance
    except StorageError as error:
        raise OSError(f"{directory}: the storage of Dagster fails ({error.orig}); is the disk full?") from error
    except Exception as error:
        if not _is_without_server(error):
            raise
        said = str(getattr(error.__cause__, "orig", None) or error).strip().partition("\n")[0]
        raise OSError(
            f"{file}: the Postgres server of the storage of Dagster does not answer ({said}); is it up?"
        ) from None


def _is_without_server(error: Exception) -> bool:
    """Whether Dagster gave up asking its Postgres server; its package is loaded where the file names it."""
    postgres = sys.modules.get("dagster_postgres.utils")
    return postgres is not None and isinstance(error, postgres.DagsterPostgresException)


def _opened(file: Path) -> DagsterInstance:
    """Dagster would mirror what a run prints into files, with four processes for each run. A command prints on its own,
    so it does without, unless the file of the instance says where that shall go."""
    has_logs = re.search(r"^compute_logs:", file.read_text(encoding="utf-8"), re.MULTILINE)
    no_logs = {"module": "dagster.core.storage.noop_compute_log_manager", "class": "NoOpComputeLogManager"}
    return DagsterInstance.local_temp(str(file.parent), overrides={} if has_logs else {"compute_logs": no_logs})


def add_partition(home: IndexHome, label: str) -> None:
    """Adds the partition of a label to the instance. Raises OSError as `open_instance` does."""
    with open_instance(home) as instance:
        assert index_labels.name is not None
        instance.add_dynamic_partitions(index_labels.name, [label])


def delete_partitions(home: IndexHome, labels: list[str]) -> None:
    """Takes labels out of the instance, if there is one. Their past runs stay in its history."""
    if not dagster_instance_file(home).exists():
        return
    with open_instance(home) as instance:
        assert index_labels.name is not None
        for label in labels:
            instance.delete_dynamic_partition(index_labels.name, label)


def _make(directory: Path, file_name: str) -> None:
    """Makes the folder with its storage, in one rename: Dagster creates one table after the other, and never completes
    the storage that a killed process has begun."""
    making = directory.with_name(f"{directory.name}.{uuid.uuid4().hex}.tmp")
    try:
        write_atomically(making / file_name, _template())
        with quiet(), databases_kept_open(making), DagsterInstance.from_config(str(making)) as instance:
            instance.get_dynamic_partitions("any")  # each database is made when it is asked for the first time
            instance.get_runs(limit=1)
            instance.all_instigator_state()
        with contextlib.suppress(OSError):  # another process was faster
            making.replace(directory)
    except StorageError as error:
        raise OSError(f"{directory}: the storage of Dagster cannot be made ({error.orig})") from error
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _require_complete(instance: DagsterInstance) -> None:
    """Raises OSError for a storage that was begun and never completed."""
    try:
        instance.get_dynamic_partitions("any")
    except DagsterInvalidInvocationError as error:
        cause = str(error).split(",", maxsplit=1)[0]
        raise OSError(
            f"{instance.root_directory}: the storage of Dagster is incomplete ({cause}); "
            "delete that folder, which holds the history of runs and no index, and run it again"
        ) from error


def _template() -> bytes:
    return files("rag_assets.defs").joinpath("dagster.yaml").read_bytes()


@contextmanager
def quiet() -> Iterator[None]:
    """Without Dagster's notes on its own beta interfaces: whoever runs a command cannot act on them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BetaWarning)
        warnings.simplefilter("ignore", PreviewWarning)
        yield


_OF_DAGSTER = "dagster/"  # metadata of a name that the UI knows
_COMMAND_TAG = "rag/command"  # runs of this command, which live and die with its process
_INTERRUPTED = "DagsterExecutionInterruptedError"
_CHECK_FAILED = "DagsterAssetCheckFailedError"
_SHOWN_EXAMPLES = 3
_MODULE = re.compile(r"^(?:\w+\.)+(?=\w+:)")  # of `package.module.SomeError: text`


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """What one asset check said of the stage `asset`; one of severity WARN stops nothing."""

    name: str
    asset: str
    passed: bool
    severity: str
    numbers: dict[str, int]
    examples: list[str]


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended. `failure` is for people and empty on success; `trace` is the whole story. `refused`: it failed
    because the promotion gate did not let the build through.

    `numbers_by_stage` are the counts in the metadata of the materializations; `checks` are all that were evaluated.
    """

    run_id: str
    failure: str = ""
    trace: str = ""
    interrupted: bool = False
    refused: bool = False
    seconds_by_stage: dict[str, float] = field(default_factory=dict)
    numbers_by_stage: dict[str, dict[str, int]] = field(default_factory=dict)
    checks: tuple[CheckOutcome, ...] = ()


def run_index_job(
    home: IndexHome,
    label: str,
    progress: Progress,
    *,
    config_file: Path | None,
    lexical_only: bool,
    commit: str,
    pinned: bool,
    is_head: bool,
    force: bool,
) -> RunOutcome:
    """Materializes every asset of `label` as one run of the job `index`.

    `commit` is what will be indexed, for the tag; `pinned` says whether discovery must be told so, `is_head` whether
    the ref names it now.
    """
    with quiet():  # loading the definitions warns too
        from rag_assets.defs.pipeline import pipeline_for
        from rag_assets.defs.resources import Workspace

        workspace = Workspace(
            config_file=str(config_file) if config_file else "", home=str(home.root), lexical_only=lexical_only
        )
        discovery = {"commit": commit if pinned else "", "force": force, "is_head": is_head}
        with collecting_before_the_next(), term_signal_kept(), open_instance(home) as instance:
            assert index_labels.name is not None
            instance.add_dynamic_partitions(index_labels.name, [label])
            end_dead_runs(instance, label)
            result = (
                pipeline_for(workspace.settings())
                .resolve_job_def("index")
                .execute_in_process(
                    instance=instance,
                    partition_key=label,
                    run_config={
                        "ops": {"discovered_files": {"config": discovery}},
                        "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
                    },
                    resources={"workspace": workspace, "progress": progress},
                    tags={"rag/label": label, "rag/commit": commit, _COMMAND_TAG: "true"},
                    raise_on_error=False,
                )
            )
            return outcome_of(result)


@contextmanager
def term_signal_kept() -> Iterator[None]:
    """Puts back what SIGTERM does. Dagster leaves it doing what SIGINT does, and in a script that starts us in the
    background that is nothing: `watch` could not be ended."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def end_dead_runs(instance: DagsterInstance, label: str) -> None:
    """Marks as failed what killed `index` commands left as started. The caller holds the label, so they are dead."""
    started = RunsFilter(statuses=[DagsterRunStatus.STARTED], tags={"rag/label": label, _COMMAND_TAG: "true"})
    for run in instance.get_runs(started):
        instance.report_run_failed(run, "the process of this run was killed; the next run has continued its work")


def outcome_of(result: ExecuteInProcessResult) -> RunOutcome:
    """What a person wants to know of a run that has ended."""
    events = result.all_events
    seconds_by_stage = {
        stage_of(event.step_key): event.step_success_data.duration_ms / 1000
        for event in events
        if event.is_step_success and event.step_key is not None
    }
    failed = next((event for event in events if event.is_step_failure), None)
    if result.success:
        return RunOutcome(
            result.run_id,
            seconds_by_stage=seconds_by_stage,
            numbers_by_stage=_numbers(events),
            checks=tuple(_checks(events)),
        )
    if failed is None:
        stopped = next((event for event in events if event.is_job_failure), None)
        error = stopped.job_failure_data.error if stopped is not None else None
        text = _said(error) if error else "the run ended without a result"
        return RunOutcome(result.run_id, text, error.to_string() if error else "", _is_interrupt(error))
    error = failed.step_failure_data.error
    return RunOutcome(
        result.run_id,
        failure=explained(failed, events),
        trace=error.to_string() if error else "",
        interrupted=_is_interrupt(error),
        refused=any(check.check_name == GATE_CHECK and not check.passed for check in _evaluations(events)),
        seconds_by_stage=seconds_by_stage,
    )


def _numbers(events: Sequence[DagsterEvent]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for event in events:
        if event.is_step_materialization and event.step_key is not None:
            found[stage_of(event.step_key)] = _integers(event.step_materialization_data.materialization.metadata)
    return found


def _integers(metadata: Mapping[str, MetadataValue[Any]]) -> dict[str, int]:
    values = {name: entry.value for name, entry in metadata.items()}
    return {name: n for name, n in values.items() if isinstance(n, int) and not name.startswith(_OF_DAGSTER)}


def _checks(events: Sequence[DagsterEvent]) -> list[CheckOutcome]:
    """Each check once, in the order of the run: where a stage was tried again its last verdict counts."""
    found: dict[tuple[str, str], CheckOutcome] = {}
    for check in _evaluations(events):
        asset = check.asset_key.path[-1]  # the prefix is for others of the deployment
        found[asset, check.check_name] = CheckOutcome(
            name=check.check_name,
            asset=asset,
            passed=check.passed,
            severity=check.severity.value,
            numbers=_integers(check.metadata),
            examples=_examples(check),
        )
    return list(found.values())


def _evaluations(events: Sequence[DagsterEvent]) -> list[AssetCheckEvaluation]:
    return [event.asset_check_evaluation_data for event in events if event.event_type_value == "ASSET_CHECK_EVALUATION"]


def _examples(check: AssetCheckEvaluation) -> list[str]:
    """The entries of the list that the metadata shows."""
    written = check.metadata.get("examples")
    return [html.unescape(line.removeprefix("- ")) for line in str(written.value).splitlines()] if written else []


def explained(failed: DagsterEvent, events: Sequence[DagsterEvent]) -> str:
    """What a person can act on, of a step that failed in the run of `events`: the text of an expected failure, the
    examples of a failed check, or the error."""
    data = failed.step_failure_data
    error = data.error
    if data.user_failure_data is not None and data.user_failure_data.description:
        return data.user_failure_data.description
    if error is not None and error.cls_name == _CHECK_FAILED:
        failures = [check for check in _evaluations(events) if check.blocking and not check.passed]
        if failures:
            return "; ".join(map(_failed_check, failures))
    return f"stage {stage_of(failed.step_key)}: {_said(error) if error else 'failed without an error'}"


def _failed_check(check: AssetCheckEvaluation) -> str:
    shown = _examples(check)[:_SHOWN_EXAMPLES]
    detail = f": {'; '.join(shown)}" if shown else ""
    return f"check {check.check_name} on {check.asset_key.path[-1]} failed{detail}; the old index stays active"


def _said(error: SerializableErrorInfo) -> str:
    """The error that our code raised, below what Dagster wraps around it: its class and its text."""
    while error.cause is not None and str(error.cls_name).startswith("Dagster"):
        error = error.cause
    return _MODULE.sub("", error.message.strip()) or str(error.cls_name)


def _is_interrupt(error: SerializableErrorInfo | None) -> bool:
    while error is not None:
        if error.cls_name in (_INTERRUPTED, "KeyboardInterrupt"):
            return True
        error = error.cause
    return False
