"""`rag-assets rebuild`: the vector index again, from the catalog alone."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.interfaces.cli.failures import CommandError
from rag_assets.interfaces.cli.labels import complete_label
from rag_assets.interfaces.cli.session import Session, session_of

if TYPE_CHECKING:
    from rag_assets.settings import Settings
    from rag_assets.stores.catalog.history import Tenant


def rebuild(
    context: typer.Context,
    named: Annotated[
        str | None,
        typer.Argument(
            metavar="[LABEL]",
            help="A label, or the id, path or URL of its repository. Default: the only label, or that of the current "
            "folder.",
            autocompletion=complete_label,
        ),
    ] = None,
    generation: Annotated[
        str | None, typer.Option("--generation", help="Id of the generation. Default: the one that is served.")
    ] = None,
    org: Annotated[str | None, typer.Option("--org", help="Organisation, where nothing else says it.")] = None,
    project: Annotated[str | None, typer.Option("--project", help="Project, where nothing else says it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Make the vectors of an index again from the catalog, also where its files or the whole home are lost. Needs
    neither the repository nor the model."""
    from rag_assets.interfaces.cli.progress import shown_progress
    from rag_assets.stages.rebuild import rebuild as rebuilt

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
                **{key: value for key, value in dataclasses.asdict(found).items() if key != "manifest"},
            }
        )
        return
    output.line((label, "path"), f" {manifest.generation_id}: {found.points:,} points rebuilt from the catalog")
    if found.documents:
        output.line(f"{found.documents:,} lost documents are back")
    if found.files:
        output.line(f"lost files are back: {', '.join(found.files)}")
    if not found.served:
        output.note(f"it is not served; serve it with: rag-assets generations activate {manifest.generation_id}")
    if found.still_missing:
        output.warning(
            f"not in the catalog and still gone: {', '.join(found.still_missing)}; search works, `show` has no "
            f"descriptions and finds no lines; all of it comes back with: rag-assets index {label} --force"
        )


def _label(session: Session, settings: Settings, named: str | None) -> str:
    """Also of a home that is lost: the catalog knows its labels. Raises CommandError saying what there is."""
    from rag_assets.interfaces.cli.labels import only_label
    from rag_assets.interfaces.cli.targets import label_typed
    from rag_assets.stores.catalog import open_catalog
    from rag_assets.stores.catalog.reading import labels_of

    home = session.home()
    with open_catalog(settings) as database:
        known = sorted({*labels_of(database), *home.known_labels()})
    if named is not None:
        return label_typed(settings, home, known, named)
    if not known:
        raise CommandError(f"nothing is indexed in {home.root}, and the catalog is empty; run: rag-assets index")
    return only_label(home, known, how="as rag-assets rebuild LABEL")


def _tenant(session: Session, settings: Settings, label: str, org: str | None, project: str | None) -> Tenant:
    """Whose label it is: as said, as configured or remembered, else the only tenant that has one of that name."""
    from rag_assets.config_file import ConfigError
    from rag_assets.stages.labels import repository_of
    from rag_assets.stores.catalog import open_catalog
    from rag_assets.stores.catalog.history import Tenant
    from rag_assets.stores.catalog.reading import tenants_of

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
            raise CommandError(f"the catalog has nothing of {label}; see: rag-assets catalog status") from None
        shown = ", ".join(f"{tenant.org_id}/{tenant.project_id}" for tenant in known)
        raise CommandError(f"{label} is of several tenants: {shown}; choose with --org and --project") from None
    return Tenant(repository.org, repository.project_id, label)
