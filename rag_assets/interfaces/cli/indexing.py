"""What one `index` command does for each repository: find its commit, skip what is up to date, run, sum up."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from rag_assets.contracts.errors import ExpectedError
from rag_assets.contracts.source_file import GitRepoInfo
from rag_assets.interfaces.cli.failures import CommandError, describe
from rag_assets.interfaces.cli.offered_partition import offer
from rag_assets.interfaces.cli.output import short
from rag_assets.interfaces.cli.quality import gate_object
from rag_assets.interfaces.cli.session import Session
from rag_assets.interfaces.cli.summary import Result, summarize
from rag_assets.interfaces.cli.targets import chosen_repositories, refuse_takeover
from rag_assets.models.weights import locate_model, verify_tokenizer, verify_weights
from rag_assets.settings import RepositorySettings, Settings
from rag_assets.stages.active_index import how_to_serve
from rag_assets.stages.build import label_lock
from rag_assets.stages.discovered_files import open_repository, planned_generation
from rag_assets.stages.labels import label_of, register_label
from rag_assets.stages.standing import Standing, standing_of
from rag_assets.stores.candidates import candidate_id
from rag_assets.stores.generations import (
    GenerationError,
    active_generation,
    active_pointer,
    generation_directory,
    read_generation,
)
from rag_assets.stores.home import Home
from rag_assets.stores.integrity import missing_parts

_LOCK_WAIT_SECONDS = 0.5  # whoever only looks at a label holds it for an instant


@dataclass(frozen=True, slots=True)
class Request:
    """The options of the command."""

    ref: str | None = None
    commit: str | None = None
    identifier: str | None = None
    force: bool = False
    lexical_only: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """One label and the commit it will be built from."""

    label: str
    repository: RepositorySettings
    git: GitRepoInfo
    generation_id: str


def index_all(session: Session, named: Sequence[str], request: Request) -> Iterator[Result]:
    """Indexes one repository after the other; one that fails does not stop the next, an interrupt does.

    Errors that concern all of them (configuration, home) are raised.
    """
    settings = session.settings()
    if request.lexical_only:
        settings = settings.without_vectors()
    home = Home(settings.home)
    require_writable(home)
    for repository in chosen_repositories(settings, home, named, ref=request.ref, identifier=request.identifier):
        started = time.monotonic()
        label = repository.id
        try:
            label, ref = label_of(settings, repository)
            repository = repository.model_copy(update={"ref": ref})
            if label != f"{repository.id}@{ref}":
                session.output.note(f"{repository.id}@{ref} has the label {label}")
            refuse_takeover(settings, home, label, repository)
            planned = target_of(settings, home, label, repository, request.commit)
            result = _index(session, settings, home, planned, request)
        except Exception as error:
            if not isinstance(error, (ExpectedError, OSError)):
                raise
            said = describe(error)
            session.output.error(said if label in said else f"{label}: {said}")
            result = {"label": label, "status": "failed", "failure": said}
        yield result | {"seconds": round(time.monotonic() - started, 3)}
        if result["status"] == "interrupted":
            return


def require_writable(home: Home) -> None:
    """Raises OSError naming the home directory, before anything else has started."""
    home.root.mkdir(parents=True, exist_ok=True)
    probe = home.root / ".writable"
    probe.write_bytes(b"")
    probe.unlink()


def require_model(settings: Settings, home: Home) -> None:
    """Raises ModelMissing or ModelCorrupted: known now, not when half of the work is done."""
    if settings.embedder.provider == "local":
        files = locate_model()
        verify_weights(files, home.cache)
        verify_tokenizer(files, home.cache)


def require_questions(settings: Settings, repository: RepositorySettings) -> None:
    """Raises QuestionSetError for a question set that cannot be read: known now, not when all of the work is done."""
    for configured in settings.repositories:
        if configured.id == repository.id and configured.eval_set is not None:
            from rag_assets.evaluation.questions import load_questions

            load_questions(configured.eval_set)


def target_of(settings: Settings, home: Home, label: str, repository: RepositorySettings, commit: str | None) -> Target:
    """Resolves the commit; for a URL this fetches, and the run that follows needs no network any more."""
    with open_repository(home, settings, repository, commit) as snapshot:
        planned = planned_generation(home, settings, label, repository, snapshot)
        return Target(label, repository, snapshot.info, planned)


def _index(session: Session, settings: Settings, home: Home, planned: Target, request: Request) -> Result:
    label, commit = planned.label, short(planned.git.commit_sha)
    pointer = active_pointer(home, label)
    force = Standing.TO_BUILD, list[str]()
    standing, lost = force if request.force else standing_of(home, label, planned.generation_id)
    if standing is Standing.SET_ASIDE and pointer is not None:
        _offer(session, home, label)
        return _set_aside(session, home, planned, pointer.generation_id)
    if standing is Standing.DAMAGED:
        session.output.note(f"{label}: {', '.join(lost)} gone; building it again")
        request = replace(request, force=True)
    if standing is Standing.UP_TO_DATE:
        session.output.note(f"{label} is up to date: commit {commit} is indexed")
        _offer(session, home, label)
        return summarize(home, label, planned.generation_id, "up-to-date")
    require_model(settings, home)
    require_questions(settings, planned.repository)
    with label_lock(home, label, wait_seconds=_LOCK_WAIT_SECONDS):
        session.output.note(f"indexing {label} at {commit}{' without vectors' if request.lexical_only else ''}")
        if request.lexical_only and _has_vectors(home, label):
            session.output.note(f"{label} was indexed with vectors; searches find by keyword only from now on")
        register_label(home, label, planned.repository, planned.repository.ref or "")
        return _run(session, home, planned, request)


def _offer(session: Session, home: Home, label: str) -> None:
    """Shows a label that needs no run in the Dagster UI, too. An instance that fails takes nothing from the index."""
    try:
        offer(home, label)
    except OSError as error:
        session.output.warning(f"{label} is not shown in the Dagster UI: {error}")


def _set_aside(session: Session, home: Home, planned: Target, served: str) -> Result:
    """Nothing to do: somebody moved the label away from what this commit gives. The summary is of what is served.

    Raises CommandError where that cannot be served either.
    """
    label, wanted, commit = planned.label, planned.generation_id, short(planned.git.commit_sha)
    try:
        lost = missing_parts(home, read_generation(home, label, served))
    except GenerationError as error:
        lost = [str(error)]
    if lost:
        raise CommandError(
            f"{label} serves {served}, which somebody chose and which is damaged ({', '.join(lost)}); "
            f"for commit {commit} {how_to_serve(wanted)}"
        )
    session.output.note(
        f"{label} stays at {served}: somebody moved it away from commit {commit}; {how_to_serve(wanted)}"
    )
    return summarize(home, label, served, "set-aside")


def _has_vectors(home: Home, label: str) -> bool:
    try:
        return not active_generation(home, label).manifest.lexical_only
    except GenerationError:
        return False


def _refused(home: Home, label: str, run_id: str, failure: str) -> Result:
    """The build that the promotion gate did not let through, with its numbers."""
    built = candidate_id(home, label)
    return {
        "label": label,
        "status": "refused",
        "run_id": run_id,
        "failure": failure,
        "generation": built,
        "quality": gate_object(generation_directory(home, label, built)) if built else None,
    }


def _run(session: Session, home: Home, planned: Target, request: Request) -> Result:
    from rag_assets.interfaces.cli.dagster_run import run_index_job
    from rag_assets.interfaces.cli.progress import shown_progress

    with shown_progress(session.output) as progress:
        outcome = run_index_job(
            home,
            planned.label,
            progress,
            config_file=session.config(),
            lexical_only=request.lexical_only,
            commit=planned.git.commit_sha,
            pinned=planned.git.is_git,
            force=request.force,
        )
    if outcome.interrupted:
        session.output.note(f"interrupted; run the same command again and {planned.label} continues where it stopped")
        return {"label": planned.label, "status": "interrupted", "run_id": outcome.run_id}
    if outcome.failure:
        if session.debug:
            session.output.note(outcome.trace)
        session.output.error(f"{planned.label}: {outcome.failure}")
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
