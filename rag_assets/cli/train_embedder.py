"""`rag-assets train-embedder`: the table of word vectors goes on learning from one's own repositories."""

from __future__ import annotations

import dataclasses
import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.cli.console import FAILURE, CommandError, Output
from rag_assets.cli.options import (
    AsJson,
    CliSession,
    Force,
    check_new_file,
    chosen_label,
    complete_label,
    require_writable,
    session_of,
)
from rag_assets.index.freshness import remembered_repository
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome, as_user_shares, write_atomically

if TYPE_CHECKING:
    from rag_assets.contracts.confidentiality import Confidentiality
    from rag_assets.settings import Settings
    from rag_assets.training.own_table import LabelHistory, Trained


def train_embedder(
    context: typer.Context,
    labels: Annotated[
        list[str],
        typer.Option(
            "--from",
            metavar="LABEL",
            help="An index whose repository is learnt from. Repeatable.",
            autocompletion=complete_label,
        ),
    ],
    to: Annotated[Path | None, typer.Option(help="The file to write. Default: models/ID.bin in the home.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the random numbers; the same gives the same table.")] = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Train the embedder on your own repositories: on documentation, names and history of the indexed commits. It goes
    on from the configured table, and writes a new one only if that ranks held-out questions better. Needs the extra
    `training`.

    Example: rag-assets train-embedder --from shop
    """
    if find_spec("scipy") is None:
        raise CommandError("train-embedder needs scipy; run: pip install 'rag-assets[training]'")
    session = session_of(context)
    home, output = session.home(), session.output
    if to is not None:
        check_new_file(to, "--to", force=force)
    names = list(dict.fromkeys(chosen_label(home, label) for label in labels))
    require_writable(home)
    trained, content, model_id = _train(session, home, names, seed)
    path = to.resolve() if to is not None else home.own_table(model_id)
    fell = [kind.kind for kind in trained.kinds if kind.fell]
    if as_json:
        output.json(
            {
                "labels": names,
                "pairs": trained.pairs,
                "kinds": [dataclasses.asdict(kind) for kind in trained.kinds],
                "fell": fell,
                "better": trained.is_better,
                "model": model_id if trained.is_better else None,
                "file": str(path) if trained.is_better else None,
            }
        )
    else:
        _show(output, trained)
    if not trained.is_better:
        why = f"{', '.join(fell)} fell" if fell else "the mean of the kinds did not rise"
        output.error(f"the new table is not better by its vectors alone ({why}), so nothing is written")
        raise typer.Exit(FAILURE)
    if to is None:
        write_atomically(path, content)
    else:
        with as_user_shares():
            write_atomically(path, content)
    output.note(f"{model_id} is written; to use it, put into rag_assets.yaml:")
    output.note(f"  embedder: {{provider: static-code, table: {json.dumps(str(path), ensure_ascii=False)}}}")
    output.note(f"and index again, until when searches use the index that is there: {session.command()} index")


def _train(session: CliSession, home: IndexHome, names: list[str], seed: int) -> tuple[Trained, bytes, str]:
    """The new table and, if it is better, the content of its file and its model id."""
    # Start-up budget: numpy, scipy and parsers, not for --help and completion.
    from rag_assets.cli.index.progress import shown_progress
    from rag_assets.models.static_code.embedder import table_path, verify_table
    from rag_assets.models.static_code.table import OWN_MODEL_ID, header_of
    from rag_assets.training.own_table import train_own
    from rag_assets.training.table_file import encoded, read_table

    settings = session.settings()
    verify_table(home.cache, settings.embedder.table)
    start, entries = read_table(settings.embedder.table or table_path())
    clearance = session.clearance()
    histories = [_history(home, settings, clearance, name) for name in names]
    with shown_progress(session.output) as progress:
        trained = train_own(histories, start, entries, seed, progress)
    if not trained.is_better:
        return trained, b"", ""
    content = encoded(trained.table, entries, OWN_MODEL_ID)
    return trained, content, header_of(content)[0].model_id


def _history(home: IndexHome, settings: Settings, clearance: Confidentiality, name: str) -> LabelHistory:
    """Where the commit that a label serves lies. Raises CommandError, or SourceError where it is gone."""
    from rag_assets.index.labels import repository_of
    from rag_assets.sources.discovery import rules_of
    from rag_assets.sources.git.git_refs import Resolved, resolve
    from rag_assets.sources.git.git_snapshot import GitSnapshot
    from rag_assets.sources.git.mirror import update_mirror
    from rag_assets.sources.ignore import ignore_policy
    from rag_assets.sources.locations import LocationKind, location_of
    from rag_assets.training.own_table import LabelHistory

    manifest = active_generation(home, name).manifest
    location = str(remembered_repository(home, name).get("location", ""))
    if not location:
        raise CommandError(f"nobody knows here where the repository of {name} is; run: rag-assets index PATH_OR_URL")
    if not manifest.is_git:
        raise CommandError(f"{name} was not indexed from a git repository; train-embedder learns from one")
    place, commit = location_of(location), manifest.commit_sha
    if place.kind is LocationKind.URL:
        git_dir = update_mirror(
            location, home.mirrors, ref=None, commit=commit, timeout=settings.sources.network_timeout_seconds
        )
    else:
        resolve(place.git_dir, place.where, None, commit)
        git_dir = place.git_dir
    policy = ignore_policy(settings, repository_of(home, settings, name))
    snapshot = GitSnapshot(git_dir, place.where, Resolved(commit, commit), "", place.subdirectory)
    rules = rules_of(snapshot, policy, snapshot.entries())

    def may_learn(path: str) -> bool:
        return rules.refused_path(path) is None and manifest.levels.visible(path, clearance)

    below = f"{place.subdirectory}/" if place.subdirectory else ""
    return LabelHistory(label=name, git_dir=git_dir, commit=commit, may_learn=may_learn, below=below)


def _show(output: Output, trained: Trained) -> None:
    output.line((f"{'kind':<14}{'questions':>10}   {'vectors alone':<15}   with keywords", "dim"))
    for kind in trained.kinds:
        alone = f"{kind.dense_before:.3f} → {kind.dense_after:.3f}"
        both = f"{kind.blend_before:.3f} → {kind.blend_after:.3f}"
        output.line(
            f"{kind.kind:<14}{kind.questions:>10,}   ", (f"{alone:<15}", "bad" if kind.fell else "plain"), f"   {both}"
        )
    output.note(f"nDCG@10 of held-out questions, before → after learning from {trained.pairs:,} pairs")
