"""The generations of a label as a person sees them: what each is of, whether it can be served, and whether it is kept.

Always kept: what is served, what was served before it, what has a tag, and the build in progress. The rest is ranked
by how likely a person wants it back, and the first ones are kept until there are `keep` finished ones. Where a text
must go for good, only what is served, has a tag or is being built stays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

import msgspec

from rag_assets.index.disk_files import discard, size_on_disk
from rag_assets.index.eval_records import read_decision, read_runs
from rag_assets.index.generation_refs import tags_of
from rag_assets.index.generations import (
    GenerationError,
    active_pointer,
    all_generations,
    finished_generations,
    generation_directory,
    generations_directory,
    is_finished,
    pending_build_id,
    read_generation,
    read_pointer,
)
from rag_assets.index.layout import IndexHome, record_if_whole
from rag_assets.index.locks import HomeBusy, pointer_lock, serving_lock
from rag_assets.index.vectors import delete_stale_points, serve_points
from rag_assets.index.vectors.vector_api import VectorStoreError


@dataclass(frozen=True, slots=True)
class Pruned:
    """A generation that went, or would go in a dry run. `in_use`: an open file has kept it until the next time."""

    label: str
    generation_id: str
    bytes: int
    in_use: bool = False


def prune(
    home: IndexHome,
    label: str,
    keep: int,
    *,
    served_only: bool = False,
    damaged: str = "",
    dry_run: bool = False,
    later: bool = False,
) -> list[Pruned]:
    """Deletes the generations of `label` that are not worth keeping, oldest first; `later` as in `discard`. One that is
    known to be `damaged` goes unless it is served. `served_only` lets the previous one and those of `keep` go too.

    The caller holds the label, so no build resumes what goes. Who has one open on POSIX goes on reading it. Raises
    GenerationError, and deletes nothing, where pointer or tags are damaged; OSError for a read-only home.
    """
    choose = partial(superfluous, home, label, keep, served_only=served_only, damaged=damaged)
    if dry_run:
        return [_described(home, label, known) for known in choose()]
    found = []
    with pointer_lock(home, label):  # nobody activates or tags what is about to go
        for known in choose():
            gone = _described(home, label, known)
            done = discard(generation_directory(home, label, known), home.trash(label), later=later)
            found.append(gone if done else Pruned(label, known, gone.bytes, in_use=True))
    return found


def prune_servers(home: IndexHome, label: str) -> list[str]:
    """After the pointer has moved, or generations are gone: brings what others read of vector servers to what is
    served, and deletes what no generation needs.

    The caller holds the label. Returns, for people, what could not be done: an index that is served must not fail
    because of it.
    """
    problems = serve_in_servers(home, label)
    if problems:  # what they hold still may be of a generation that is gone
        return problems
    try:
        delete_stale_points(generations_directory(home, label))
    except (OSError, VectorStoreError) as error:
        return [f"points of deleted generations of {label} stay in the vector server until the next build: {error}"]
    return []


def serve_in_servers(home: IndexHome, label: str) -> list[str]:
    """After the pointer has moved: brings what others than we read of vector servers to what is served. Returns, for
    people, what could not be done."""
    folder = generations_directory(home, label)
    try:
        with serving_lock(home, label):
            pointer = active_pointer(home, label)
            serve_points(folder, pointer.generation_id if pointer else "")
    except (OSError, GenerationError, HomeBusy, VectorStoreError) as error:
        return [f"others than rag-assets do not see yet in the vector server what {label} serves: {error}"]
    return []


def superfluous(home: IndexHome, label: str, keep: int, *, served_only: bool = False, damaged: str = "") -> list[str]:
    """Ids that `prune` deletes, oldest first. A generation whose manifest cannot be read, or is of a newer version of
    this program, is left alone: whoever cannot read it cannot judge it."""
    pointer = read_pointer(home, label)
    if pointer is None:
        return []
    finished = finished_generations(home, label)
    always = {pointer.generation_id, pending_build_id(home, label)}
    always.update(tags_of(home, label).values())
    wanted = (*pointer.former[:1], *pointer.set_aside, *pointer.former[1:], *reversed(finished))
    ranked = [known for known in dict.fromkeys((pointer.generation_id, *wanted)) if known in finished]
    kept = always if served_only else always.union((pointer.previous_generation_id,), ranked[:keep])
    gone = {damaged} - {pointer.generation_id}
    return [known for known in finished if known in gone or (known not in kept and _is_readable(home, label, known))]


def _described(home: IndexHome, label: str, generation_id: str) -> Pruned:
    return Pruned(label, generation_id, size_on_disk(generation_directory(home, label, generation_id)))


def _is_readable(home: IndexHome, label: str, generation_id: str) -> bool:
    try:
        read_generation(home, label, generation_id)
    except GenerationError:
        return False
    return True


class GenerationState(StrEnum):
    """What a generation is to its label."""

    ACTIVE = "active"  # served
    PREVIOUS = "previous"  # where a rollback goes
    SET_ASIDE = "set-aside"  # a person moved the label away from it
    REFUSED = "refused"  # the promotion gate did not let it through
    FINISHED = "finished"
    CANDIDATE = "candidate"  # the build in progress, or the one that `index` continues
    UNFINISHED = "unfinished"  # an abandoned build
    DAMAGED = "damaged"  # its manifest cannot be read


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationEntry:
    """One generation. `bytes` are its own: the documents it shares with others are not in it. `points` is None for
    an unfinished one, `problem` says what is wrong with a damaged one or why one was refused. `metrics` are those of
    the newest run of each question set."""

    label: str
    generation_id: str
    state: GenerationState
    tags: tuple[str, ...]
    commit_sha: str = ""
    commit_date: str = ""
    embedding_model: str = ""
    points: int | None = None
    run_id: str = ""
    bytes: int
    problem: str = ""
    metrics: dict[str, dict[str, float]] = field(default_factory=dict)


class _Git(msgspec.Struct):
    commit_sha: str = ""
    commit_date: str = ""


class _Begun(msgspec.Struct):
    """What `build.json` says of a build that has not finished."""

    git: _Git = msgspec.field(default_factory=_Git)
    embedding_model: str = ""


def inventory(home: IndexHome, label: str) -> list[GenerationEntry]:
    """All generations of a label, newest commit first. Raises GenerationError for damaged tags; writes nothing."""
    tagged: dict[str, list[str]] = {}
    for name, generation_id in tags_of(home, label).items():
        tagged.setdefault(generation_id, []).append(name)
    states = _states(home, label)
    return [
        _entry(home, label, known, states.get(known), tuple(tagged.get(known, ())))
        for known in reversed(all_generations(home, label))
    ]


def _states(home: IndexHome, label: str) -> dict[str, GenerationState]:
    """The states that the pointer gives; a damaged pointer gives none."""
    pointer = active_pointer(home, label)
    if pointer is None:
        return {}
    states = dict.fromkeys(pointer.set_aside, GenerationState.SET_ASIDE)
    previous = next((known for known in pointer.former if is_finished(home, label, known)), None)
    if previous is not None:
        states[previous] = GenerationState.PREVIOUS
    return states | {pointer.generation_id: GenerationState.ACTIVE}


def _entry(
    home: IndexHome, label: str, known: str, state: GenerationState | None, tags: tuple[str, ...]
) -> GenerationEntry:
    directory = generation_directory(home, label, known)
    entry = partial(GenerationEntry, label=label, generation_id=known, tags=tags, bytes=size_on_disk(directory))
    if not is_finished(home, label, known):
        begun = record_if_whole(directory / "build.json", _Begun) or _Begun()
        return entry(
            state=GenerationState.CANDIDATE if known == pending_build_id(home, label) else GenerationState.UNFINISHED,
            commit_sha=begun.git.commit_sha,
            commit_date=begun.git.commit_date,
            embedding_model=begun.embedding_model,
        )
    try:
        manifest = read_generation(home, label, known).manifest
    except GenerationError as error:
        return entry(state=GenerationState.DAMAGED, problem=str(error))
    decision = read_decision(directory)
    refused = state is None and decision is not None and decision.refused
    return entry(
        state=state or (GenerationState.REFUSED if refused else GenerationState.FINISHED),
        commit_sha=manifest.commit_sha,
        commit_date=manifest.commit_date,
        embedding_model=manifest.embedding_model,
        points=manifest.counts.get("points"),
        run_id=manifest.run_id,
        problem=decision.reason if decision is not None and refused else "",
        metrics={run.set: run.metrics for run in read_runs(directory)},
    )
