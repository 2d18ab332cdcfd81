"""What one `index` command does for each repository: find its commit, skip what is up to date, run, sum up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TypeVar

from rag_assets.cli.console import CommandError, describe, short
from rag_assets.cli.index.summary import Result, summarize
from rag_assets.cli.index.targets import chosen_repositories, moved, refuse_takeover, stands_for
from rag_assets.cli.options import CliSession, require_writable
from rag_assets.cli.quality import gate_object
from rag_assets.contracts.source_file import GitRepoInfo
from rag_assets.errors import RagAssetsError
from rag_assets.evaluation.questions import load_questions
from rag_assets.index.generations import (
    GenerationError,
    active_generation,
    active_pointer,
    generation_directory,
    pending_build_id,
    read_generation,
)
from rag_assets.index.integrity import damage
from rag_assets.index.labels import label_of, register_label
from rag_assets.index.layout import IndexHome, dagster_instance_file, record_if_whole, write_record
from rag_assets.index.promotion import GenerationStatus, standing_of
from rag_assets.models import require_model
from rag_assets.pipeline.active_index import how_to_serve
from rag_assets.pipeline.build import label_lock
from rag_assets.pipeline.discovered_files import open_repository, planned_generation
from rag_assets.pipeline.workers.worker_pool import start_workers_for
from rag_assets.settings import RepositorySettings, Settings

T = TypeVar("T")

_INSTANCE_NOTE = "partition.json"
_LOCK_WAIT_SECONDS = 0.5  # readers hold the lock of a label for an instant only


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """The options of the command."""

    ref: str | None = None
    commit: str | None = None
    identifier: str | None = None
    force: bool = False
    lexical_only: bool = False


@dataclass(frozen=True, slots=True)
class IndexTarget:
    """One label and the commit it will be built from; `files` of it where nothing is known of them yet, else 0."""

    label: str
    repository: RepositorySettings
    git: GitRepoInfo
    generation_id: str
    files: int


@dataclass(frozen=True, slots=True)
class Failed:
    """A repository with which nothing could be done; the reason has been shown."""

    label: str
    failure: str


def for_each_repository(
    session: CliSession,
    named: Sequence[str],
    request: IndexRequest,
    work: Callable[[Settings, IndexHome, str, RepositorySettings], T],
) -> Iterator[T | Failed]:
    """The results of `work` for each repository and its label, in order; one that fails does not stop the next.

    Raises the errors that concern all of them (configuration, home).
    """
    settings = session.settings()
    if request.lexical_only:
        settings = settings.without_vectors()
    home = IndexHome(settings.home)
    require_writable(home)
    for repository in chosen_repositories(settings, home, named, ref=request.ref, identifier=request.identifier):
        label = repository.id
        try:
            label, ref = label_of(settings, repository)
            repository = repository.model_copy(update={"ref": ref})
            refuse_takeover(settings, home, label, repository)
            yield work(settings, home, label, repository)
        except (RagAssetsError, OSError) as error:
            said = describe(error) + moved(settings, repository, error)
            session.output.error(_about(label, said))
            yield Failed(label, said)


def index_all(session: CliSession, named: Sequence[str], request: IndexRequest) -> Iterator[Result]:
    """Indexes one repository after the other, up to one that is interrupted. Raises as `for_each_repository` does."""

    def indexed(settings: Settings, home: IndexHome, label: str, repository: RepositorySettings) -> Result:
        if label != (configured := f"{repository.id}@{repository.ref}"):
            session.output.note(f"{configured} has the label {label}")
        is_new = request.force or _is_first(home, label, repository)
        planned = target_of(settings, home, label, repository, request.commit, is_new=is_new)
        return _index(session, settings, home, planned, request)

    started = time.monotonic()
    for result in for_each_repository(session, named, request, indexed):
        if isinstance(result, Failed):
            result = {"label": result.label, "status": "failed", "failure": result.failure}
        yield result | {"seconds": round(time.monotonic() - started, 3)}
        if result["status"] == "interrupted":
            return
        started = time.monotonic()


def require_questions(settings: Settings, repository: RepositorySettings) -> None:
    """Raises QuestionSetError for an unreadable question set before the work starts."""
    for configured in settings.repositories:
        if configured.id == repository.id and configured.eval_set is not None:
            load_questions(configured.eval_set)


def target_of(
    settings: Settings,
    home: IndexHome,
    label: str,
    repository: RepositorySettings,
    commit: str | None,
    *,
    is_new: bool,
) -> IndexTarget:
    """Resolves the commit. Fetches a URL, so that the run itself needs no network. Files are counted if `is_new`."""
    with open_repository(home, settings, repository, commit) as snapshot:
        planned = planned_generation(home, settings, label, repository, snapshot)
        files = sum(1 for _ in snapshot.entries()) if is_new else 0
        return IndexTarget(label, repository, snapshot.info, planned, files)


def _index(
    session: CliSession, settings: Settings, home: IndexHome, planned: IndexTarget, request: IndexRequest
) -> Result:
    label, commit = planned.label, short(planned.git.commit_sha)
    pointer = active_pointer(home, label)
    force = GenerationStatus.TO_BUILD, list[str]()
    standing, lost = force if request.force else standing_of(home, label, planned.generation_id)
    if standing is GenerationStatus.SET_ASIDE and pointer is not None:
        _add_to_dagster(session, home, label)
        return _set_aside(session, home, planned, pointer.generation_id)
    if standing is GenerationStatus.DAMAGED:
        session.output.note(f"{label}: {'; '.join(lost)}; building it again")
    if standing is GenerationStatus.UP_TO_DATE:
        session.output.note(f"{label} is up to date: commit {commit} is indexed")
        register_label(home, label, planned.repository, planned.repository.ref or "")
        _add_to_dagster(session, home, label)
        return summarize(home, label, planned.generation_id, "up-to-date")
    require_model(settings.embedder, home.cache)  # before the work starts
    require_questions(settings, planned.repository)
    with label_lock(home, label, wait_seconds=_LOCK_WAIT_SECONDS):
        session.output.note(f"indexing {label} at {commit}{' without vectors' if request.lexical_only else ''}")
        if request.lexical_only and _has_vectors(home, label):
            session.output.note(f"{label} was indexed with vectors; searches find by keyword only from now on")
        start_workers_for(settings, planned.files)  # they import while this process does
        register_label(home, label, planned.repository, planned.repository.ref or "")
        return _run(session, home, planned, request)


def _add_to_dagster(session: CliSession, home: IndexHome, label: str) -> None:
    """Adds the partition of a label that needs no run to the Dagster instance. A failing instance is only a warning.

    The home remembers which instance has the partition, because opening an instance takes longer than an `index`
    without work. So a partition that a person deletes there stays deleted."""
    if (record_if_whole(home.label(label) / _INSTANCE_NOTE, dict[str, str]) or {}) == _instance_identity(home):
        return
    from rag_assets.defs.in_process import add_partition

    try:
        add_partition(home, label)
    except OSError as error:
        session.output.warning(f"{label} is not shown in the Dagster UI: {error}")
    else:
        _note_instance(home, label)


def _note_instance(home: IndexHome, label: str) -> None:
    """Remembers that the instance has the partition."""
    write_record(home.label(label) / _INSTANCE_NOTE, _instance_identity(home) or {})


def _instance_identity(home: IndexHome) -> dict[str, str] | None:
    """Identifies the instance, also against one that was created again in its place; None without an instance."""
    file = dagster_instance_file(home)
    try:
        made = file.stat()
    except OSError:
        return None
    return {"directory": str(file.parent.resolve()), "file": f"{made.st_ino} {made.st_mtime_ns}"}


def _set_aside(session: CliSession, home: IndexHome, planned: IndexTarget, served: str) -> Result:
    """The summary of the served generation, where a person chose it over the one of this commit.

    Raises CommandError where the served generation is damaged.
    """
    label, wanted, commit = planned.label, planned.generation_id, short(planned.git.commit_sha)
    try:
        lost = damage(home, read_generation(home, label, served))
    except GenerationError as error:
        lost = [str(error)]
    if lost:
        raise CommandError(
            f"{label} serves {served}, which somebody chose and which is damaged ({'; '.join(lost)}); "
            f"for commit {commit} {how_to_serve(wanted)}"
        )
    session.output.note(
        f"{label} stays at {served}: somebody moved it away from commit {commit}; {how_to_serve(wanted)}"
    )
    return summarize(home, label, served, "set-aside")


def _about(label: str, said: str) -> str:
    return said if label in said else f"{label}: {said}"


def _has_vectors(home: IndexHome, label: str) -> bool:
    try:
        return not active_generation(home, label).manifest.lexical_only
    except GenerationError:
        return False


def _is_first(home: IndexHome, label: str, repository: RepositorySettings) -> bool:
    """Whether no label of the repository is served yet, so that its files are not known."""
    if active_pointer(home, label) is not None:
        return False
    labels = (known for known in home.known_labels() if stands_for(home, known, repository))
    return all(active_pointer(home, known) is None for known in labels)


def _refused(home: IndexHome, label: str, run_id: str, failure: str) -> Result:
    """The build that the promotion gate did not let through, with its numbers."""
    built = pending_build_id(home, label)
    return {
        "label": label,
        "status": "refused",
        "run_id": run_id,
        "failure": failure,
        "generation": built,
        "quality": gate_object(generation_directory(home, label, built)) if built else None,
    }


def _run(session: CliSession, home: IndexHome, planned: IndexTarget, request: IndexRequest) -> Result:
    # Start-up budget: loaded when it runs, not for --help and completion.
    from rag_assets.cli.index.progress import shown_progress
    from rag_assets.defs.in_process import run_index_job

    with shown_progress(session.output) as progress:
        outcome = run_index_job(
            home,
            planned.label,
            progress,
            config_file=session.config(),
            lexical_only=request.lexical_only,
            commit=planned.git.commit_sha,
            pinned=planned.git.is_git,
            is_head=request.commit is None,
            force=request.force,
        )
    _note_instance(home, planned.label)
    if outcome.interrupted:
        session.output.note(f"interrupted; run the same command again and {planned.label} continues where it stopped")
        return {"label": planned.label, "status": "interrupted", "run_id": outcome.run_id}
    if outcome.failure:
        if session.debug:
            session.output.note(outcome.trace)
        session.output.error(_about(planned.label, outcome.failure))
        if outcome.refused:
            return _refused(home, planned.label, outcome.run_id, outcome.failure)
        session.output.note(f"the whole trace is in run {outcome.run_id}; rag-assets --debug index … prints it")
        return {
            "label": planned.label,
            "status": "failed",
            "run_id": outcome.run_id,
            "failure": outcome.failure,
        }
    pointer = active_pointer(home, planned.label)
    return summarize(
        home,
        planned.label,
        pointer.generation_id if pointer else planned.generation_id,  # a plain directory may have changed meanwhile
        "indexed",
        seconds_by_stage=outcome.seconds_by_stage,
        numbers_by_stage=outcome.numbers_by_stage,
        failed_checks=[asdict(check) for check in outcome.checks if not check.passed],
    )
