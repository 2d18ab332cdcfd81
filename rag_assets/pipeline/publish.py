"""Publishing what a label serves to the remote store of the settings, and pulling it into a home.

After a pull the shared cache has the vectors of the generation, so a build on a machine that has seen nothing but the
pull embeds only what the commit changed.
"""

from __future__ import annotations

from pathlib import Path

from rag_assets.index.generations import (
    Generation,
    GenerationError,
    active_generation,
    active_pointer,
    read_generation,
)
from rag_assets.index.layout import IndexHome, RecordDamaged, as_user_shares, read_record, write_record
from rag_assets.index.parquet_parts import matrix, read_part
from rag_assets.index.remote import (
    NothingPublished,
    ObjectStore,
    Published,
    Pulled,
    RemoteError,
    open_remote,
    publish,
    pull,
)
from rag_assets.pipeline.build import BuildError, IndexBuild
from rag_assets.pipeline.embeddings import STAGE, VECTORS, embedding_key
from rag_assets.settings import Settings

_NOTE = "published.json"


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


def pull_label(home: IndexHome, settings: Settings, label: str) -> Pulled:
    """Fetches and serves what `label` serves in the remote store; the caller holds the label. Raises RemoteError."""
    done = pull(home, label, remote_of(settings))
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
    try:
        note = read_record(_note_path(home, label), dict[str, str])
    except (FileNotFoundError, RecordDamaged):
        return None
    return note.get("generation_id") if note.get("remote") == settings.stores.remote else None


def _note_path(home: IndexHome, label: str) -> Path:
    return home.label(label) / _NOTE
