"""Publishing what a label serves to the remote store of the settings, and pulling it into a home.

After a pull the shared cache has the vectors of the generation, so a build on a machine that has seen nothing but the
pull embeds only what the commit changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_assets.errors import MissingCommit, SourceError, WrongUsage
from rag_assets.index.freshness import remembered_repository
from rag_assets.index.generations import (
    Generation,
    GenerationError,
    active_generation,
    active_pointer,
    read_generation,
)
from rag_assets.index.layout import IndexHome, as_user_shares, record_if_whole, spelt_label, write_record
from rag_assets.index.parquet_parts import matrix, read_part
from rag_assets.index.remote.manifests import published_labels
from rag_assets.index.remote.objects import ObjectStore, RemoteError, open_remote
from rag_assets.index.remote.publishing import Published, publish
from rag_assets.index.remote.pulling import (
    NothingPublished,
    PublishedCommit,
    Pulled,
    nothing_published,
    published_commits,
    pull,
)
from rag_assets.pipeline.build import BuildError, IndexBuild
from rag_assets.pipeline.embeddings import STAGE, VECTORS, embedding_key
from rag_assets.settings import Settings
from rag_assets.sources.git.ancestors import git_dir_around, nearest_ancestor
from rag_assets.sources.git.git_refs import resolve
from rag_assets.sources.git.mirror import mirror_path
from rag_assets.sources.urls import is_remote

_NOTE = "published.json"
_DIGITS = 10
_FEWEST_DIGITS = 4
_LISTED = 8
_SHOWN_PROBLEMS = 3


def remote_of(settings: Settings) -> ObjectStore:
    """The store of `stores.remote`. Raises BuildError where none is configured, RemoteError without its package."""
    if not settings.stores.remote:
        raise BuildError("no remote store is configured; set stores.remote to s3://bucket/prefix or a folder")
    return open_remote(settings.stores.remote)


def publish_label(
    home: IndexHome, settings: Settings, label: str, *, run_id: str = "", force: bool = False, dry_run: bool = False
) -> Published:
    """Publishes what `label` serves; the caller holds the label. Raises RemoteError, BuildError, GenerationError."""
    serving = active_generation(home, label).manifest
    with as_user_shares():  # others pull from a folder that they may read
        done = publish(
            home,
            label,
            serving.generation_id,
            remote_of(settings),
            run_id=run_id or serving.run_id,
            keep=settings.retention.keep,
            force=force,
            dry_run=dry_run,
        )
    if not dry_run:
        _note(home, settings, label, done.generation_id)
    return done


def publish_served(build: IndexBuild, run_id: str) -> list[str]:
    """After a promotion: publishes what is served now, where a remote store is configured and has not got it yet.

    Returns what went wrong: the index is built and served here whether or not others get it, and the next run of the
    label tries again, also one that builds nothing.
    """
    home, settings, label = build.home, build.settings, build.spec.index_label
    if not settings.stores.remote or _published(home, settings, label) == build.spec.generation_id:
        return []
    try:
        publish_label(home, settings, label, run_id=run_id)
    except (RemoteError, GenerationError, OSError) as error:
        return [f"not published, others serve what they had: {error}; try again with: rag-assets publish {label}"]
    return []


@dataclass(frozen=True, slots=True)
class NearestPublished:
    """The published generation of a commit, or of the nearest ancestor that has one, `distance` commits before it.
    `problems` are generations that could not be looked at."""

    wanted: str
    found: PublishedCommit
    distance: int
    problems: tuple[str, ...]


def nearest_published(
    home: IndexHome, settings: Settings, commit: str, label: str | None, folder: Path
) -> NearestPublished:
    """Which published generation is for a commit: its own, else the one of its nearest ancestor that has one, by the
    history of the repository around `folder`, or of one that this home knows. A label that is not named is the one
    that has it. Raises NothingPublished naming what is published, MissingCommit, WrongUsage for an ambiguous commit."""
    published, problems = published_commits(remote_of(settings), label)
    there = {known.commit_sha for known in published}
    wanted = _named(commit, published)
    repository = _with_commit(home, wanted or commit, {known.label for known in published}, folder)
    if repository is not None:
        wanted = repository[1]
    near: tuple[str, int] | None = (wanted, 0) if wanted in there else None
    if near is None and repository is not None:
        near = nearest_ancestor(*repository, there)
    if near is None:
        listed = "; ".join(map(str, published[:_LISTED])) or "none that can be read"
        why = "no published commit is it or an ancestor of it"
        if repository is None:
            why = "it is not published, and no repository here has it, so nobody can say what its ancestors are"
        also = "".join(f"; {problem}" for problem in problems[:_SHOWN_PROBLEMS])
        raise NothingPublished(f"commit {commit}: {why}; published: {listed}{also}")
    commit_sha, distance = near
    of_commit = [known for known in published if known.commit_sha == commit_sha]
    labels = sorted({known.label for known in of_commit})
    if len(labels) > 1:
        raise WrongUsage(f"commit {commit_sha[:_DIGITS]} is published as {', '.join(labels)}; name one of them")
    return NearestPublished(wanted or commit, of_commit[0], distance, tuple(problems))


def published_label(settings: Settings, wanted: str | None) -> str:
    """The published label of that name, or the only one. Raises NothingPublished, WrongUsage where there are several
    to choose from."""
    store = remote_of(settings)
    labels = published_labels(store)
    if wanted in labels:
        return wanted
    found = wanted and spelt_label(labels, wanted)
    if found:
        return found
    if wanted is not None or not labels:
        raise nothing_published(store, wanted)
    if len(labels) > 1:
        raise WrongUsage(f"several labels are published; name one of them: {', '.join(labels)}")
    return labels[0]


def _named(commit: str, published: Sequence[PublishedCommit]) -> str:
    """The only published commit that begins like that; '' where there is none."""
    begins = sorted({known.commit_sha for known in published if known.commit_sha.startswith(commit.lower())})
    if len(commit) < _FEWEST_DIGITS or not begins:
        return ""
    if len(begins) > 1:
        raise WrongUsage(f"{commit} is ambiguous, it abbreviates {', '.join(begins[:_LISTED])}; give more digits")
    return begins[0]


def _with_commit(home: IndexHome, commit: str, labels: Iterable[str], folder: Path) -> tuple[Path, str] | None:
    """A repository at hand that has a commit, and its full id. Raises MissingCommit for one that is ambiguous there."""
    places = [folder]
    for label in sorted(labels):
        location = str(remembered_repository(home, label).get("location", ""))
        if location:
            places.append(mirror_path(home.mirrors, location) if is_remote(location) else Path(location))
    for git_dir in dict.fromkeys(git_dir_around(place) for place in places if place.is_dir()):
        if git_dir is None:
            continue
        try:
            return git_dir, resolve(git_dir, str(git_dir), commit, None).commit
        except MissingCommit as error:
            if "ambiguous" in str(error):
                raise
        except SourceError:
            continue
    return None


def pull_label(home: IndexHome, settings: Settings, label: str, generation_id: str = "") -> Pulled:
    """Fetches and serves what `label` serves in the remote store, or a generation that is published of it; the caller
    holds the label. Raises RemoteError."""
    done = pull(home, label, remote_of(settings), generation_id)
    if not done.unchanged:
        warm_cache(home, read_generation(home, label, done.generation_id))
        _note(home, settings, label, done.generation_id)
    return done


def begin_from_remote(home: IndexHome, settings: Settings, label: str) -> list[str]:
    """Before a build in a home that has nothing of the label: pulls what was published, so that only the difference is
    computed. Returns what went wrong: a build from nothing is slower and gives the same. The caller holds the label.
    """
    if not settings.stores.remote or active_pointer(home, label) is not None:
        return []
    try:
        pull_label(home, settings, label)
    except NothingPublished:
        return []
    except (RemoteError, OSError) as error:
        return [f"built from nothing, because what is published could not be pulled: {error}"]
    return []


def warm_cache(home: IndexHome, generation: Generation) -> None:
    """Puts the vectors of a generation where the next build looks for them."""
    manifest = generation.manifest
    if not manifest.dimension:
        return
    with VECTORS.open(home) as memo:
        for bucket in range(manifest.bucket_count):
            snippets = read_part(generation.directory, "summary_sections", bucket, ["finder_snippet"]).column(0)
            column = read_part(generation.directory, STAGE, bucket, ["vector"]).column(0).combine_chunks()
            vectors = matrix(column)
            keys = [embedding_key(manifest.embedding_model, text) for text in snippets.to_pylist()]
            memo.keep((key, vector.tobytes()) for key, vector in zip(keys, vectors, strict=True))


def _note(home: IndexHome, settings: Settings, label: str, generation_id: str) -> None:
    note = {"remote": settings.stores.remote, "generation_id": generation_id}
    write_record(_note_path(home, label), note)


def _published(home: IndexHome, settings: Settings, label: str) -> str | None:
    """The generation that this home published or pulled last; None where that was another store, or unknown."""
    note = record_if_whole(_note_path(home, label), dict[str, str]) or {}
    return note.get("generation_id") if note.get("remote") == settings.stores.remote else None


def _note_path(home: IndexHome, label: str) -> Path:
    return home.label(label) / _NOTE
