"""`rag-assets status`: what every label serves, how old it is, what was left out and why."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import Annotated, Any

import typer

from rag_assets.cli.console import Output, counted, named_counts, said_graph, short, size
from rag_assets.cli.options import AsJson, CliSession, complete_label, session_of
from rag_assets.cli.quality import format_runs, gate_object, measured
from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.errors import RagAssetsError
from rag_assets.index.disk_files import size_on_disk
from rag_assets.index.freshness import freshness_of, remembered_repository, uncommitted
from rag_assets.index.generations import (
    ActivePointer,
    Generation,
    GenerationError,
    active_generation,
    active_pointer,
    generation_directory,
    is_finished,
    pending_build_id,
    read_generation,
)
from rag_assets.index.layout import IndexHome, label_named
from rag_assets.models import model_id

_KEY_WIDTH = 13
_SHOWN_DUPLICATES = 20


def status(
    context: typer.Context,
    label: Annotated[
        str | None, typer.Option("--label", "-l", help="Only this one. Default: all.", autocompletion=complete_label)
    ] = None,
    skipped: Annotated[bool, typer.Option("--skipped", help="List every file left out, with its reason.")] = False,
    duplicates: Annotated[
        bool, typer.Option("--duplicates", help="List sections with the same text, the longest first.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show every index: commit against head, counts, skipped files, size, the run that made it.

    Example: rag-assets status --skipped
    """
    session = session_of(context)
    home = session.home()
    labels = home.known_labels() if label is None else [label_named(home.known_labels(), label)]
    found = [describe_label(home, name, session.clearance(), with_skipped=skipped) for name in labels]
    for name, entry in zip(labels, found, strict=True):
        if "commit" in entry:
            entry["other_configuration"] = _built_otherwise(session, name)
    if duplicates:
        for name, entry in zip(labels, found, strict=True):
            entry["duplicates"] = _duplicates(home, name, session.clearance())
    if as_json:
        session.output.json({"home": str(home.root), "labels": found})
    elif not found:
        session.output.line(f"nothing is indexed in {home.root}; run: {session.command()} index")
    else:
        for number, entry in enumerate(found):
            if number:
                session.output.line()
            _show(session.output, entry)


def describe_label(
    home: IndexHome, label: str, clearance: Confidentiality, *, with_skipped: bool = False
) -> dict[str, Any]:
    """The object of one label in `status --json`; changed and skipped files are those that `clearance` may see.

    `problem` says what is damaged, and the next command; the fields of an unreadable generation are absent.
    """
    # Start-up budget: loaded when it runs, not for --help and completion.
    from rag_assets.index.parquet_parts import TableDamaged
    from rag_assets.pipeline.build import BuildError, label_holder

    pointer = active_pointer(home, label)
    found: dict[str, Any] = {
        "label": label,
        "location": remembered_repository(home, label).get("location", ""),
        "active": pointer.generation_id if pointer else None,
        "building_by": label_holder(home, label),
        "unfinished": _unfinished(home, label),
        "refused": _refused(home, label, pointer.generation_id if pointer else ""),
        "bytes": size_on_disk(home.label(label)),
    }
    try:
        generation = active_generation(home, label)
    except GenerationError as error:
        return found | {"problem": str(error)}
    manifest = generation.manifest
    freshness = freshness_of(home, manifest, clearance)
    found |= {
        "ref": manifest.ref,
        "commit": manifest.commit_sha,
        "commit_date": manifest.commit_date,
        "built_at": manifest.built_at,
        "head": freshness.head or None,
        "head_unknown": freshness.reason or None,
        "stale": freshness.stale,
        "changed_files": freshness.changed_files,
        "run_id": manifest.run_id,
        "embedding_model": manifest.embedding_model,
        "lexical_only": manifest.lexical_only,
        "capabilities": list(manifest.capabilities),
        "retrieval_modes": list(generation.retrieval_modes),
        "counts": manifest.counts,
        "parse_health": manifest.parse_health,
        "quality": measured(generation.directory),
        "set_aside": _set_aside(home, label, pointer, freshness.head) if freshness.stale else None,
    }
    try:
        found["skipped_by_reason"] = _skipped_by_reason(generation)
        if with_skipped:
            from rag_assets.pipeline.skipped_files import skipped_files  # start-up budget: as above

            found["skipped"] = skipped_files(generation, clearance)
    except (BuildError, TableDamaged) as error:  # what is left is served all the same
        found |= {"skipped_by_reason": {}, "problem": str(error)}
    return found


def _duplicates(home: IndexHome, label: str, clearance: Confidentiality) -> list[dict[str, Any]]:
    # Start-up budget: loaded when it runs, not for --help and completion.
    from rag_assets.index.parquet_parts import TableDamaged
    from rag_assets.pipeline.duplicates import duplicates

    try:
        return [asdict(found) for found in duplicates(active_generation(home, label), clearance)]
    except (GenerationError, TableDamaged, FileNotFoundError):  # `status` says by itself what is wrong with it
        return []


def _unfinished(home: IndexHome, label: str) -> str | None:
    """The generation of an unfinished build, if there is one."""
    candidate = pending_build_id(home, label)
    if candidate is None:
        return None
    directory = generation_directory(home, label, candidate)
    return candidate if directory.is_dir() and not (directory / "manifest.json").is_file() else None


def _refused(home: IndexHome, label: str, served: str) -> dict[str, Any] | None:
    """The decision about the newest build, if the promotion gate refused it and nobody chose to serve it."""
    built = pending_build_id(home, label)
    if built is None or built == served or not is_finished(home, label, built):
        return None
    gate = gate_object(generation_directory(home, label, built))
    return gate if gate is not None and gate["verdict"] == "refused" else None


def _set_aside(home: IndexHome, label: str, pointer: ActivePointer | None, head: str) -> str | None:
    """The generation of the head, if a person has moved the label away from it: builds do not serve it again."""
    for known in pointer.set_aside if pointer else ():
        with suppress(GenerationError):
            if read_generation(home, label, known).manifest.commit_sha == head:
                return known
    return None


def _built_otherwise(session: CliSession, label: str) -> bool:
    """Whether the configuration of today, levels of confidentiality included, or this version of the package would
    build another index of the same commit. False for what is not configured, as the index of a component, and where
    today's cannot be read: `config check` tells that."""
    # Start-up budget: --help and completion.
    from rag_assets.index.labels import repository_of
    from rag_assets.pipeline.versions import config_hash

    home, settings = session.home(), session.settings()
    try:
        manifest = active_generation(home, label).manifest  # may be gone since it was described
        if manifest.lexical_only:
            settings = settings.without_vectors()
        repository = repository_of(home, settings, label)
        wanted = config_hash(settings, repository, model_id(settings.embedder))
    except (RagAssetsError, OSError):
        return False
    is_configured = any(configured.id == repository.id for configured in settings.repositories)
    return is_configured and wanted != manifest.config_hash


def _skipped_by_reason(generation: Generation) -> dict[str, int]:
    # Start-up budget: --help and completion.
    from rag_assets.cli.index.summary import skipped_by_reason, stage_reports

    return skipped_by_reason(stage_reports(generation.directory))


def _show(output: Output, entry: dict[str, Any]) -> None:
    output.line((entry["label"], "path"), f"  {entry['location']}")
    if "problem" in entry:
        output.line(("  ", "plain"), (entry["problem"], "warn"))
    if "commit" in entry:
        _show_generation(output, entry)
    if entry.get("other_configuration"):
        output.line(
            ("  built with another configuration or version", "warn"),
            "; to serve that of today: ",
            f"rag-assets index {entry['label']}",
        )
    if entry["building_by"]:
        output.line(f"  being indexed by {entry['building_by']}")
    elif entry["unfinished"]:
        again = f"continues with: rag-assets index {entry['label']}"
        output.line((f"  an unfinished build of {entry['unfinished']} {again}", "warn"))
    if entry["refused"]:
        gate = entry["refused"]
        output.line((f"  the promotion gate refused {gate['generation_id']}: {gate['reason']}", "warn"))
        output.line(f"  serve it anyway with: rag-assets generations activate {gate['generation_id']}")
    if entry.get("set_aside"):
        output.line((f"  somebody moved the label away from {entry['set_aside']}, the build of the head", "warn"))
        output.line(f"  serve it with: rag-assets generations activate {entry['set_aside']}")
    for row in entry.get("skipped", ()):
        output.line(f"  {row['reason']:<14} {row['path']}", (f"  {row['detail']}", "dim"))
    if "duplicates" in entry:
        _show_duplicates(output, entry["duplicates"])


def _show_duplicates(output: Output, found: list[dict[str, Any]]) -> None:
    output.line(f"  {counted(len(found), 'text')} in several places")
    for duplicate in found[:_SHOWN_DUPLICATES]:
        for number, place in enumerate(duplicate["places"]):
            at = f"{place['path']}:{place['start_line']}-{place['end_line']}"
            output.line("  = " if number else "    ", (at, "path"), (f"  {place['symbol']}", "dim"))
    if len(found) > _SHOWN_DUPLICATES:
        output.line(("  ", "dim"), f"and {len(found) - _SHOWN_DUPLICATES:,} more; --json lists them")


def _show_generation(output: Output, entry: dict[str, Any]) -> None:
    counts = entry["counts"]
    skipped = f" ({named_counts(entry['skipped_by_reason'])})" if entry["skipped_by_reason"] else ""
    head = {
        True: f"stale, head is {short(entry['head'] or '')}",
        False: "fresh",
        None: f"head unknown ({entry['head_unknown']})",
    }
    changed = uncommitted(entry["changed_files"])
    rows = (
        ("commit", f"{short(entry['commit'])} of {entry['commit_date']}, {head[entry['stale']]}{changed}"),
        ("files", f"{counts['files']:,} indexed, {counts['skipped_files']:,} skipped{skipped}"),
        ("parse health", named_counts(entry["parse_health"])),
        ("content", f"{counts['segments']:,} segments, {counts['sections']:,} sections, {counts['points']:,} points"),
        ("graph", said_graph(counts.get("graph_nodes", 0), counts.get("graph_edges", 0))),
        ("model", "none: keyword search only" if entry["lexical_only"] else entry["embedding_model"]),
        ("modes", ", ".join(entry["retrieval_modes"])),
        ("quality", format_runs(entry["quality"])),
        ("generation", f"{entry['active']}, built {entry['built_at']}"),
        ("run", entry["run_id"]),
        ("size", size(entry["bytes"])),
    )
    for name, value in rows:
        if value:
            output.line((f"  {name:<{_KEY_WIDTH}}", "dim"), value)
