"""Who asks, and so what may be seen: a clearance and an organisation, by the role of a token or of a local client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality
from rag_assets.errors import RagAssetsError
from rag_assets.suggestions import nearest


class RoleError(RagAssetsError):
    """A role that the configuration does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """`name` is that of the token, '' for the owner of the machine. An `org_id` of None sees every organisation.

    `folder` is where a local client works and `label` what it chose, both to know which index is meant. `work_tree`:
    files that differ from the indexed commit are read as they are there now. `knows_paths`: the caller works on this
    machine, so an error may say where a file of it is."""

    name: str = ""
    clearance: Confidentiality = DEFAULT_LEVEL
    org_id: str | None = None
    folder: Path | None = None
    label: str = ""
    work_tree: bool = False
    knows_paths: bool = False


def clearance_of(role: str | None, roles: Mapping[str, Confidentiality]) -> Confidentiality:
    """How far a role of the configuration sees; without one as far as everybody. Raises RoleError."""
    if role is None:
        return DEFAULT_LEVEL
    if role not in roles:
        known = nearest(role, roles, "there are") if roles else "; set roles in rag_assets.yaml"
        raise RoleError(f"no role {role!r} in the configuration{known}")
    return roles[role]
