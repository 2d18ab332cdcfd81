"""Stage `descriptions` with a language model that the workers of a Dask cluster ask.

The questions are found by describing the buckets without a model, which takes little next to the answers. So a task is
questions in the order of the buckets, not a whole bucket: a budget is spent on the first few of them. The ordinary
stage comes last; it finds the answers in the cache, and asks what is left with the calls that are left.
"""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.contracts.llm import LlmUsage, StructuredPrompt
from rag_assets.descriptions.refinement import DescriptionRefiner, RefinedText
from rag_assets.index.cache import Cache
from rag_assets.index.locks import scratch_folder
from rag_assets.models import open_llm
from rag_assets.models.openai_compat.dry_run import CACHE_NAME, AnswersInMemory, DryRunLlmService
from rag_assets.models.openai_compat.faults import FaultCode, result_code
from rag_assets.models.openai_compat.usage import UsageMeter
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.descriptions import STAGE, Describer, describe_files, file_contexts, guarded
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.segments import read_segments
from rag_assets.pipeline.symbol_tables import PerClearanceTables, walled_surveys
from rag_assets.pipeline.versions import stage_version
from rag_assets.pipeline.workers.file_guard import Attempts, guard_files
from rag_assets.pipeline.workers.worker_pool import Broadcast, as_completed, broadcast, cluster_of, map_buckets

if TYPE_CHECKING:
    from rag_assets.pipeline.workers.dask_pool import DaskPool
    from rag_assets.settings import LlmSettings

QUESTIONS_OF_A_TASK = 20
"""What a killed worker loses at most: some cents, or half a minute of a local model."""

_BUCKETS_AT_ONCE = 16
"""Described before it is seen whether there are as many questions as may be asked."""

_STEP = "questions"
_STOPPED = result_code(FaultCode.STOPPED)
_CUT_OFF = "was cut off"


def refine_and_describe(build: IndexBuild, progress: Progress) -> StageReport:
    """`describe_files`; where there are a language model and a Dask cluster, its workers first ask what nobody has
    answered yet.

    Together they ask what one process would ask first with its `llm.max_calls`, and have at most `llm.max_concurrency`
    requests in flight. Work numbers are those of all processes: each call, token and price counts once; failures are
    those of this process, which asks again what a worker was not told. Raises ClusterError for a cluster that cannot do
    it; answers that were paid for are kept.
    """
    alone = build.settings.llm.provider == "none" or build.finished(STAGE, build.inputs_of(STAGE, "segments"))
    cluster = None if alone else cluster_of(build)
    if cluster is None:
        return describe_files(build, progress)
    asked = _ask_on(cluster, build)
    used = sum((one.usage for one in asked), LlmUsage())
    llm = build.settings.llm
    rest = llm.model_copy(update={"max_calls": max(0, llm.max_calls - used.calls)})
    report = describe_files(replace(build, settings=build.settings.model_copy(update={"llm": rest})), progress)
    work = Counter(report.work)
    work.update(replace(used, cached=-sum(len(one.answers) for one in asked), failures=()).numbers())
    return replace(
        report,
        work=dict(work),
        tables=report.tables | _workers_of(asked),
        problems=[*report.problems, *(f"Dask worker {one.host}: {one.problem}" for one in asked if one.problem)],
    )


@dataclass(frozen=True, slots=True)
class Questions:
    """A task: the questions `asked` with at most `calls` requests, `at_once` of them in flight. A worker that begins
    makes the file `begun`, so that the next one does not make the calls of a worker that died once more."""

    begun: Path
    calls: int
    at_once: int
    asked: list[StructuredPrompt]


@dataclass(frozen=True, slots=True)
class RefinementResult:
    """What came of a task: the answers by their key in the cache, what they cost, and why some are missing."""

    usage: LlmUsage
    answers: dict[bytes, bytes] = field(default_factory=dict)
    problem: str = ""
    host: str = field(default_factory=platform.node)
    process: int = field(default_factory=os.getpid)


def ask(questions: Questions, llm: LlmSettings) -> RefinementResult:
    """Asks the questions of one task. Runs in a worker process.

    Where an earlier worker has begun and died, nothing is asked: all calls of the task count as made. Raises
    ConfigError for a key that cannot be sent, OSError where `begun` cannot be written.
    """
    try:
        questions.begun.open("xb").close()
    except FileExistsError:
        problem = f"{len(questions.asked)} questions: a worker {_CUT_OFF}"
        return RefinementResult(LlmUsage(calls=questions.calls), problem=problem)
    own = llm.model_copy(update={"max_calls": questions.calls, "max_concurrency": questions.at_once})
    answers = AnswersInMemory()
    threads = ThreadPoolExecutor(questions.at_once, thread_name_prefix="refine")
    with open_llm(own, lambda: answers) as service, threads as pool:
        for _ in pool.map(lambda prompt: service.complete(prompt, RefinedText), questions.asked):
            pass
        usage = service.usage()
    return RefinementResult(usage, answers.known, _unanswered(usage))


def shares(total: int, groups: int) -> list[int]:
    """`total` for so many groups: they differ by one at most, the larger ones first, and their sum is `total`. Pure."""
    return [total // groups + (number < total % groups) for number in range(groups)]


def _ask_on(cluster: DaskPool, build: IndexBuild) -> list[RefinementResult]:
    """Has the questions asked, and keeps the answers of each task as soon as it ends. Nobody is given more to ask once
    a worker has stopped asking a server that fails."""
    wanted, llm = _wanted(build), build.settings.llm
    tasks = -(-len(wanted) // QUESTIONS_OF_A_TASK)
    if tasks < 2:
        return []
    at_once = min(cluster.size, llm.max_concurrency, tasks)
    found: list[RefinementResult] = []
    with scratch_folder(build.home) as folder, Cache(build.home.cache, CACHE_NAME) as cache:

        def each() -> Iterator[partial[RefinementResult]]:
            start = 0
            for size, calls in zip(shares(len(wanted), tasks), shares(llm.max_calls, tasks), strict=True):
                if any(code == _STOPPED for one in found for code, _ in one.usage.failures):
                    return
                some = wanted[start : start + size]
                yield partial(ask, Questions(folder / str(start), calls, llm.max_concurrency // at_once, some), llm)
                start += size

        for _, one in as_completed(cluster, each(), at_once=at_once):
            cache.put_many(list(one.answers.items()))
            found.append(one)
    return found


def _wanted(build: IndexBuild) -> list[StructuredPrompt]:
    """The questions that the cache has no answer to, each once: the first `llm.max_calls` in table order."""
    most, seen, wanted = build.settings.llm.max_calls, set[bytes](), list[StructuredPrompt]()
    with Cache(build.home.cache, CACHE_NAME) as cache, broadcast(build, walled_surveys(build)) as surveys:
        for start in range(0, len(build.buckets), _BUCKETS_AT_ONCE):
            some = build.buckets[start : start + _BUCKETS_AT_ONCE]
            attempts = Attempts(build.directory, _STEP)
            for asked in map_buckets(_asked_in, build, surveys, buckets=some, attempts=attempts):
                known = cache.get_many(list(asked))
                wanted += [prompt for key, prompt in asked.items() if key not in known and key not in seen]
                seen |= asked.keys()
            if len(wanted) >= most:
                break
    return wanted[:most]


def _asked_in(build: IndexBuild, bucket: int, surveys: Broadcast[PerClearanceTables]) -> dict[bytes, StructuredPrompt]:
    """What describing a bucket asks the model, by the key of the answer. Runs in a worker process."""
    llm = build.settings.llm
    questions = DryRunLlmService(llm.model, AnswersInMemory(), UsageMeter(None), 0)
    describer = Describer(build, surveys.value, DescriptionRefiner(questions, llm.refine))
    segments = read_segments(build, bucket)
    with guard_files(build, Attempts(build.directory, _STEP), bucket, stage_version(STAGE)) as guard:
        for path, context in file_contexts(build, bucket).items():
            guarded(describer, guard, context, segments.get(path, []))
    return questions.asked


def _unanswered(usage: LlmUsage) -> str:
    """How many questions have no answer, by the codes of the reasons; empty where the calls were all that it lacked."""
    counts = [f"{code}: {count}" for code, count in usage.failures if code != result_code(FaultCode.BUDGET)]
    return f"questions without an answer ({', '.join(counts)})" if counts else ""


def _workers_of(asked: list[RefinementResult]) -> dict[str, list[dict[str, object]]]:
    """Who asked how often, for people."""
    calls: Counter[tuple[str, int]] = Counter()
    for one in asked:
        calls[one.host, one.process] += one.usage.calls
    rows = [{"host": host, "process": process, "calls": count} for (host, process), count in sorted(calls.items())]
    return {"workers": rows} if rows else {}
