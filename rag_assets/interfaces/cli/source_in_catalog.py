"""The source of a point where the index was rebuilt from the catalog and has no tables to find it through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rag_assets.contracts.identity import content_hash, point_id
from rag_assets.interfaces.cli.session import Session

if TYPE_CHECKING:
    from rag_assets.query import Index


def source_in_catalog(session: Session, index: Index, payload: Mapping[str, Any]) -> str | None:
    """The slice, checked against its recorded hash (C04); None where no catalog has it. Raises CatalogError."""
    settings = session.settings()
    if settings.stores.catalog == "none":
        return None
    from rag_assets.stores.catalog import open_catalog
    from rag_assets.stores.catalog.history import Tenant
    from rag_assets.stores.catalog.reading import open_generation

    manifest = index.manifest
    tenant = Tenant(manifest.org_id, manifest.project_id, index.label)
    known = point_id(tenant.org_id, tenant.project_id, manifest.repository_id, index.label, payload["SemanticId"])
    with open_catalog(settings) as database:
        source = open_generation(database, tenant, manifest.generation_id).source(known)
    return source if source is not None and content_hash(source) == payload["SourceSha256"] else None
