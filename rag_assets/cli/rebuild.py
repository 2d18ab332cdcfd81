"""`rag-assets rebuild`: the vector index again, from the catalog alone."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.cli.console import CommandError, named_counts
from rag_assets.cli.options import AsJson, CliSession, complete_label, only_label, session_of
from rag_assets.index.catalog import open_catalog
from rag_assets.settings.config_file import ConfigError

if TYPE_CHECKING:
    from rag_assets.index.catalog.history import Tenant
    from rag_assets.settings import Settings


def rebuild(
    context: typer.Context,
    named: Annotated[
        str | None,
        typer.Argument(
            metavar="LABEL",
            help="A label, or the id, path or URL of its repository. Default: the only label, or that of the current "
            "folder.",
            autocompletion=complete_label,
        ),
    ] = None,
    generation: Annotated[
        str | None, typer.Option("--generation", help="Id of the generation. Default: the one that is served.")
    ] = None,
    org: Annotated[
        str | None, typer.Option("--org", help="Organisation, if the configuration does not name it.")
    ] = None,
    project: Annotated[
        str | None, typer.Option("--project", help="Project, if the configuration does not name it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Rebuild an index from the catalog, even when its files or the whole home are lost: vectors, keywords, documents,
    descriptions and graph. Needs neither the repository nor the model.

    Example: rag-assets rebuild shop@main
    """
    # Start-up budget: --help and completion.
    from rag_assets.cli.index.progress import shown_progress
    from rag_assets.pipeline.rebuild import NOT_KEPT
    from rag_assets.pipeline.rebuild import rebuild as rebuilt

    session = session_of(context)
    settings, output = session.settings(), session.output
    label = _label(session, settings, named)
    tenant = _tenant(session, settings, label, org, project)
    with shown_progress(output) as progress:
        found = rebuilt(settings, tenant, progress, generation)
    manifest = found.manifest
    if as_json:
        output.json(
            {
                "label": label,
                "generation": manifest.generation_id,
                "commit": manifest.commit_sha,
                "not_kept": NOT_KEPT,
                **{key: value for key, value in dataclasses.asdict(found).items() if key != "manifest"},
            }
        )
        return
    output.line((label, "path"), f" {manifest.generation_id}: {found.points:,} points rebuilt from the catalog")
    if found.documents:
        output.line(f"{found.documents:,} lost documents are back")
    if found.files:
        folders = Counter(name.partition("/")[0] for name in found.files)
        output.line(f"lost files are back: {named_counts(folders)}")
    if not found.served:
        output.note(f"it is not served; serve it with: rag-assets generations activate {manifest.generation_id}")
    if found.still_missing:
        output.warning(
            f"still missing: {'; '.join(found.still_missing)}; it comes back with: rag-assets index {label} --force"
        )
    for lost in NOT_KEPT:
        output.note(f"not in the catalog: {lost}")


def _label(session: CliSession, settings: Settings, named: str | None) -> str:
    """The label to rebuild, also of a lost home: the catalog knows its labels. Raises CommandError with the known
    labels."""
    # Start-up budget: --help and completion.
    from rag_assets.cli.index.targets import label_typed
    from rag_assets.index.catalog.reader import labels_of

    home = session.home()
    with open_catalog(settings) as database:
        known = sorted({*labels_of(database), *home.known_labels()})
    if named is not None:
        return label_typed(settings, home, known, named)
    if not known:
        raise CommandError(f"nothing is indexed in {home.root}, and the catalog is empty; run: rag-assets index")
    return only_label(home, known, how="as rag-assets rebuild LABEL")


def _tenant(session: CliSession, settings: Settings, label: str, org: str | None, project: str | None) -> Tenant:
    """The tenant of the label: as typed, as configured or recorded, else the only one with a label of that name."""
    # Start-up budget: loaded when it runs, not for --help and completion.
    from rag_assets.index.catalog.history import Tenant
    from rag_assets.index.catalog.reader import tenants_of
    from rag_assets.index.labels import repository_of

    if org and project:
        return Tenant(org, project, label)
    if org or project:
        raise typer.BadParameter("--org and --project go together")
    try:
        repository = repository_of(session.home(), settings, label)
    except ConfigError:
        with open_catalog(settings) as database:
            known = tenants_of(database, label)
        if len(known) == 1:
            return known[0]
        if not known:
            raise CommandError(f"the catalog has no generation of {label}; see: rag-assets catalog status") from None
        shown = ", ".join(f"{tenant.org_id}/{tenant.project_id}" for tenant in known)
        raise CommandError(f"several tenants have a label {label}: {shown}; choose with --org and --project") from None
    return Tenant(repository.org, repository.project_id, label)
