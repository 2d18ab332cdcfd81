"""Roles: how far whoever has one sees."""

from __future__ import annotations

from collections.abc import Mapping

from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality
from rag_assets.settings.config_file import ConfigError
from rag_assets.suggestions import nearest


def clearance_of(role: str | None, roles: Mapping[str, Confidentiality]) -> Confidentiality:
    """How far a role of the configuration sees; without one as far as everybody. Raises ConfigError."""
    if role is None:
        return DEFAULT_LEVEL
    if role not in roles:
        known = nearest(role, roles, "there are") if roles else "; set roles in rag_assets.yaml"
        raise ConfigError(f"no role {role!r} in the configuration{known}")
    return roles[role]
