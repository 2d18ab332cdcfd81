"""The language model's part of `descriptions` shared out. What is exchanged: the questions of a group and how many
calls it may make (`.questions.json`), the answers by their key in the cache (`.answers.msgpack`), and a byte for every
call (`.calls`), written before it is made, so that nobody who was cut off has spent anything that is not counted.

The plan finds the questions by describing the buckets without a model, which takes little next to the answers. So a
group is questions in the order of the buckets, not whole buckets: a budget is spent on the first few of them.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rag_assets.contracts.llm import StructuredPrompt, StructuredTextLlmService
from rag_assets.decoders import from_json, from_msgpack
from rag_assets.descriptions.refinement import DescriptionRefiner, RefinedText
from rag_assets.llm import open_llm
from rag_assets.llm.answer_cache import CACHE_NAME
from rag_assets.llm.recorded import QuestionList, RecordedAnswers, unanswered
from rag_assets.stages.build import IndexBuild, StageReport
from rag_assets.stages.descriptions import STAGE, Describer, describe_files, file_contexts
from rag_assets.stages.fan_out.exchange import (
    Group,
    GroupWork,
    folder_of,
    forget_exchange,
    forget_exchanges,
    free_work_file,
    note_work,
    with_groups,
    work_of,
)
from rag_assets.stages.label_survey import WalledSurveys, walled_surveys
from rag_assets.stages.progress import Progress
from rag_assets.stages.segments import read_segments
from rag_assets.stages.workers import Broadcast, broadcast, map_buckets
from rag_assets.stores.cache import Cache
from rag_assets.stores.home import write_atomically

if TYPE_CHECKING:
    from rag_assets.settings import LlmSettings

ANSWERS_OF_A_FILE = 20
"""What a killed worker loses at most, besides what is in flight: some cents, or half a minute of a local model."""

_BUCKETS_AT_ONCE = 16
"""Described before the plan looks whether it has as many questions as may be asked."""

_QUESTIONS, _ANSWERS, _CALLS = ".questions.json", ".answers.msgpack", ".calls"
_CUT_OFF = "was cut off"
_SUMMED = ("llm_prompt_tokens", "llm_completion_tokens", "llm_seconds", "llm_cost")


@dataclass(frozen=True, slots=True)
class Questions:
    """What a group asks: with at most `calls` requests, `at_a_time` of them in flight."""

    calls: int
    at_a_time: int
    asked: list[StructuredPrompt]


def plan_groups(build: IndexBuild, *, most: int, least: int, concurrent: int) -> list[Group]:
    """At most `most` groups of at least `least` questions that nobody has answered, and the files they start from.

    Together they ask what one process would ask first with its `llm.max_calls`. `concurrent` groups work at a time (0:
    all of them) and share `llm.max_concurrency`; each has at least one request in flight. What an earlier attempt has
    paid for is gathered first; other exchanges of the label are removed. The caller holds the label.
    """
    finished = build.finished(STAGE, build.inputs_of(STAGE, "segments")) is not None
    if not finished:
        gather(build)
    forget_exchanges(build, STAGE)
    llm = build.settings.llm
    if finished or llm.provider == "none":
        return []
    wanted = _wanted(build)
    count = min(most, len(wanted) // least)
    if count < 2:
        return []
    at_a_time = max(1, llm.max_concurrency // min(count, concurrent or count))
    groups: list[Group] = []
    start = 0
    for size, calls in zip(shares(len(wanted), count), shares(llm.max_calls, count), strict=True):
        group = Group(start, start + size - 1, size)
        asked = Questions(calls, at_a_time, wanted[start : start + size])
        write_atomically(folder_of(build, STAGE) / f"{group.name}{_QUESTIONS}", msgspec.json.encode(asked))
        groups.append(group)
        start += size
    return groups


def shares(total: int, groups: int) -> list[int]:
    """`total` for so many groups: they differ by one at most, the larger ones first, and their sum is `total`. Pure."""
    return [total // groups + (number < total % groups) for number in range(groups)]


def refine_group(folder: Path, name: str, llm: LlmSettings) -> GroupWork:
    """Asks what the group `name` wants to know, apart from what an earlier attempt was told, within its calls.

    A question without an answer is left to the step that gathers, and counted in `error`; what the service does after
    repeated failures, stop asking, it does for this group. Raises FileNotFoundError where the build was taken over by
    another, OSError for a folder that cannot be written.
    """
    questions = from_json((folder / f"{name}{_QUESTIONS}").read_bytes(), Questions)
    spent = _calls_in(folder, name)
    own = llm.model_copy(update={"max_calls": max(0, questions.calls - spent), "max_concurrency": questions.at_a_time})
    answers = RecordedAnswers(_answers_in(folder))
    with _counted(folder / f"{name}{_CALLS}") as count, open_llm(own, answers, note_call=count) as service:
        attempt = _Attempt(folder, name, service, answers)
        attempt.note(_CUT_OFF)  # until it says otherwise
        pool = ThreadPoolExecutor(questions.at_a_time, thread_name_prefix="refine")
        try:
            for done in as_completed([pool.submit(service.complete, asked, RefinedText) for asked in questions.asked]):
                done.result()
                if answers.waiting >= ANSWERS_OF_A_FILE:
                    attempt.note(_CUT_OFF)
        finally:
            pool.shutdown(cancel_futures=True)
            work = attempt.note(unanswered(service.usage()))
    return work


class _Attempt:
    """One attempt at a group: what it has been told, and at what price, is in files before it goes on."""

    def __init__(self, folder: Path, group: str, service: StructuredTextLlmService, answers: RecordedAnswers) -> None:
        self._folder, self._group, self._service, self._answers = folder, group, service, answers
        self._record = free_work_file(folder, group)
        self._started = time.monotonic()
        self._made = 0

    def note(self, error: str) -> GroupWork:
        new = self._answers.taken()
        if new:
            _keep_answers(self._folder, new)
        self._made += len(new)
        used = self._service.usage()
        spent = {name: value for name, value in used.numbers().items() if name in ("llm_calls", *_SUMMED)}
        seconds = round(time.monotonic() - self._started, 3)
        work = GroupWork(self._group, self._made, used.cached, seconds=seconds, spent=spent, error=error)
        note_work(self._record, work)
        return work


def gather(build: IndexBuild) -> list[GroupWork]:
    """Takes the answers of all groups into the shared cache, and says who asked. Also those of groups that were cut
    off."""
    folder = folder_of(build, STAGE)
    with Cache(build.home.cache, CACHE_NAME) as cache:
        cache.put_many(list(_answers_in(folder).items()))
    return work_of(folder)


def describe_gathered(build: IndexBuild, progress: Progress) -> StageReport:
    """The ordinary stage after all groups: it asks for what is left, with the calls that are left.

    Work numbers are those of the run in all: each call, token and price is in them once. Failures are those of this
    step, which asks again what a group was not told.
    """
    groups = gather(build)
    calls = _calls_in(folder_of(build, STAGE))
    llm = build.settings.llm
    rest = llm.model_copy(update={"max_calls": max(0, llm.max_calls - calls)})
    report = describe_files(replace(build, settings=build.settings.model_copy(update={"llm": rest})), progress)
    forget_exchange(build, STAGE)
    more: dict[str, int | float] = {"llm_calls": calls, "llm_cached": -sum(group.texts for group in groups)}
    for name in _SUMMED:
        if any(name in group.spent for group in groups):
            more[name] = sum(group.spent.get(name, 0) for group in groups)
    return with_groups(report, groups, more)


def _wanted(build: IndexBuild) -> list[StructuredPrompt]:
    """The questions that the cache has no answer to, each once: the first `llm.max_calls` in table order."""
    most, seen, wanted = build.settings.llm.max_calls, set[bytes](), list[StructuredPrompt]()
    with Cache(build.home.cache, CACHE_NAME) as cache, broadcast(build, walled_surveys(build)) as surveys:
        for start in range(0, len(build.buckets), _BUCKETS_AT_ONCE):
            some = build.buckets[start : start + _BUCKETS_AT_ONCE]
            for asked in map_buckets(_asked_in, build, surveys, buckets=some):
                known = cache.get_many(list(asked))
                wanted += [prompt for key, prompt in asked.items() if key not in known and key not in seen]
                seen |= asked.keys()
            if len(wanted) >= most:
                break
    return wanted[:most]


def _asked_in(build: IndexBuild, bucket: int, surveys: Broadcast[WalledSurveys]) -> dict[bytes, StructuredPrompt]:
    """What describing a bucket asks the model, by the key of the answer. Runs in a worker process."""
    llm = build.settings.llm
    questions = QuestionList(llm.model)
    describer = Describer(build, surveys.value, DescriptionRefiner(questions, llm.refine))
    segments = read_segments(build, bucket)
    for path, context in file_contexts(build, bucket).items():
        describer.describe(context, segments.get(path, []))
    return questions.asked


def _keep_answers(folder: Path, answers: Mapping[bytes, bytes]) -> None:
    data = msgspec.msgpack.encode(list(answers.items()))
    write_atomically(folder / f"{hashlib.sha256(data).hexdigest()}{_ANSWERS}", data)


def _answers_in(folder: Path) -> dict[bytes, bytes]:
    """What any group was told. A file that lost a part of itself counts for nothing: its questions are asked again."""
    found: dict[bytes, bytes] = {}
    for path in sorted(folder.glob(f"*{_ANSWERS}")):
        with contextlib.suppress(msgspec.DecodeError):
            found.update(from_msgpack(path.read_bytes(), list[tuple[bytes, bytes]]))
    return found


@contextlib.contextmanager
def _counted(path: Path) -> Iterator[Callable[[], object]]:
    """Counts the calls of a group, over all attempts and whatever happens to them."""
    with path.open("ab", buffering=0) as file:
        yield lambda: file.write(b".")


def _calls_in(folder: Path, group: str = "*") -> int:
    """Calls that a group has made, or all of them."""
    return sum(path.stat().st_size for path in folder.glob(f"{group}{_CALLS}"))
