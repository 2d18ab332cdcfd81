"""An executor that gives every step of a run to a Dask cluster.

Not that of dagster-dask: it hands out all steps when the run begins, so it never executes those of a dynamic mapping,
and it knows neither retries nor pools. A worker starts one process per step, as Docker and Kubernetes do: the workers
of a cluster keep no memory, and a step may have worker processes of its own, which a thread of Dask's may not.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence

from dagster import (
    DagsterEvent,
    Executor,
    ExecutorDefinition,
    InitExecutorContext,
    executor,
    multiple_process_executor_requirements,
)
from dagster._core.execution.context.system import PlanOrchestrationContext
from dagster._core.execution.plan.plan import ExecutionPlan
from dagster._core.execution.retries import RetryMode
from dagster._core.executor.step_delegating import StepDelegatingExecutor
from dagster._core.executor.step_delegating.step_handler.base import (
    CheckStepHealthResult,
    StepHandler,
    StepHandlerContext,
)
from distributed import Client, Event, Future, LocalCluster

_POLL_SECONDS = 0.5  # between two looks at the events of the steps
_HEALTH_SECONDS = 10  # between two questions whether the process of a step is still there
_STOP_SECONDS = 30.0  # a step that is stopped may finish what it writes
_SHOWN = 2_000  # characters of the last words of a process


def dask_steps_executor(scheduler: str, max_concurrent: int) -> ExecutorDefinition:
    """Steps go to the cluster at `scheduler`, or to a local one of `max_concurrent` workers that lives as long as the
    run. `max_concurrent` 0: as many steps as the cluster takes."""

    @executor(name="dask", requirements=multiple_process_executor_requirements())
    def dask(_context: InitExecutorContext) -> Executor:
        return _DaskExecutor(DaskStepHandler(scheduler, max_concurrent), max_concurrent)

    return dask


class _DaskExecutor(StepDelegatingExecutor):
    """Closes what it opened when the run ends, however that is."""

    def __init__(self, handler: DaskStepHandler, max_concurrent: int) -> None:
        super().__init__(
            handler,
            retries=RetryMode.ENABLED,
            sleep_seconds=_POLL_SECONDS,
            check_step_health_interval_seconds=_HEALTH_SECONDS,
            max_concurrent=max_concurrent or None,
            should_verify_step=True,  # Dask gives the work of a lost worker to another: no step runs twice
        )
        self._handler = handler

    def execute(self, plan_context: PlanOrchestrationContext, execution_plan: ExecutionPlan) -> Iterator[DagsterEvent]:
        try:
            yield from super().execute(plan_context, execution_plan)
        finally:
            self._handler.close()


class DaskStepHandler(StepHandler):
    """Starts, watches and stops the steps of one run."""

    def __init__(self, scheduler: str, workers: int) -> None:
        super().__init__()
        self._scheduler = scheduler
        self._workers = workers
        self._client: Client | None = None
        self._local: LocalCluster | None = None
        self._running: dict[str, Future] = {}

    @property
    def name(self) -> str:
        return "DaskStepHandler"

    def launch_step(self, step_handler_context: StepHandlerContext) -> Iterator[DagsterEvent]:
        step = _step_of(step_handler_context)
        command = list(step_handler_context.execute_step_args.get_command_args())
        arguments = command[command.index("api") :]  # before it is where Dagster is on this machine
        name = _task_name(step_handler_context)
        # Not pure: a second attempt of a step is another task.
        self._running[step] = self._cluster().submit(run_step, arguments, name, key=name, pure=False)
        yield DagsterEvent.step_worker_starting(
            step_handler_context.get_step_context(step), message=f"Step {step} goes to Dask as {name}", metadata={}
        )

    def check_step_health(self, step_handler_context: StepHandlerContext) -> CheckStepHealthResult:
        future = self._running.get(_step_of(step_handler_context))
        if future is None or future.status in ("pending", "finished"):
            return CheckStepHealthResult.healthy()
        reason = str(future.exception()) if future.status == "error" else f"the Dask task is {future.status}"
        return CheckStepHealthResult.unhealthy(reason)

    def terminate_step(self, step_handler_context: StepHandlerContext) -> Iterator[DagsterEvent]:
        Event(_task_name(step_handler_context), client=self._cluster()).set()
        yield DagsterEvent.engine_event(
            step_handler_context.get_step_context(_step_of(step_handler_context)),
            "Stopping the process of the step",
        )

    def close(self) -> None:
        """Leaves the cluster; one of our own ends."""
        if self._client is not None:
            self._client.close()
        if self._local is not None:
            self._local.close()

    def _cluster(self) -> Client:
        if self._client is None:
            if not self._scheduler:
                self._local = LocalCluster(n_workers=self._workers, threads_per_worker=1, dashboard_address=None)
            self._client = Client(self._local or self._scheduler)
        return self._client


def run_step(arguments: Sequence[str], name: str) -> None:
    """On a Dask worker: executes one step in a process of its own. Raises RuntimeError with its last words.

    The events go to the storage of the Dagster instance, which the worker reaches as the run does.
    """
    stop = Event(name)
    with subprocess.Popen(
        [sys.executable, "-m", "dagster", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        said = b""
        while process.returncode is None:
            try:
                said = process.communicate(timeout=_POLL_SECONDS)[1]
            except subprocess.TimeoutExpired:
                if stop.is_set():
                    process.terminate()
                    said = _last_words(process)
    if process.returncode:
        text = said.decode(errors="replace")[-_SHOWN:]
        raise RuntimeError(f"the process of {name} ended with code {process.returncode}: {text}")


def _last_words(process: subprocess.Popen[bytes]) -> bytes:
    try:
        return process.communicate(timeout=_STOP_SECONDS)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[1]


def _step_of(context: StepHandlerContext) -> str:
    keys = context.execute_step_args.step_keys_to_execute
    assert keys is not None and len(keys) == 1, "the executor hands over one step at a time"
    return keys[0]


def _task_name(context: StepHandlerContext) -> str:
    """One per attempt."""
    step = _step_of(context)
    known = context.execute_step_args.known_state
    attempt = known.get_retry_state().get_attempt_count(step) if known is not None else 0
    return f"{context.execute_step_args.run_id}.{step}.{attempt}"
