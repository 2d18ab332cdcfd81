"""Tokens of an authorization server: this one is a resource server (RFC 9728), and a verifier of the operator says what
a token allows.

The verifier is a `TokenVerifier` of the MCP SDK. Its scopes choose what a caller sees: `role:NAME` a role of the
configuration, `org:ID` an organisation. Without a scope for the organisation nothing is seen.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from mcp.server.auth.provider import TokenVerifier

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.errors import RagAssetsError
from rag_assets.serving.access import Caller
from rag_assets.settings.config_file import ConfigError
from rag_assets.settings.roles import clearance_of

_ROLE, _ORGANISATION = "role:", "org:"


class VerifierError(RagAssetsError):
    """A verifier that cannot be used; the text names it."""


@dataclass(frozen=True, slots=True)
class ExternalCallers:
    """Who the tokens of an authorization server are of. `metadata` says where such tokens are had."""

    verifier: TokenVerifier
    roles: Mapping[str, Confidentiality]
    metadata: dict[str, Any]

    async def find(self, token: str) -> Caller | None:
        """None for a token that the verifier does not accept, that has expired, is meant for another resource, or whose
        scopes name no organisation or a role that is not configured."""
        found = await self.verifier.verify_token(token)
        if found is None or (found.expires_at is not None and found.expires_at <= time.time()):
            return None
        if found.resource is not None and found.resource.rstrip("/") != str(self.metadata["resource"]).rstrip("/"):
            return None
        roles = [scope.removeprefix(_ROLE) for scope in found.scopes if scope.startswith(_ROLE)]
        organisations = [scope.removeprefix(_ORGANISATION) for scope in found.scopes if scope.startswith(_ORGANISATION)]
        if len(organisations) != 1 or len(roles) > 1:
            return None
        try:
            clearance = clearance_of(roles[0] if roles else None, self.roles)
        except ConfigError:
            return None
        return Caller(name=f"oauth:{found.subject or found.client_id}", clearance=clearance, org_id=organisations[0])


def external_callers(
    verifier: str, issuer: str, resource: str, roles: Mapping[str, Confidentiality]
) -> ExternalCallers:
    """By `package.module:factory`, which is called without arguments. Raises VerifierError."""
    module, _, name = verifier.partition(":")
    if not (module and name and issuer and resource):
        raise VerifierError("--token-verifier is MODULE:FACTORY, and needs --issuer and --resource beside it")
    try:
        made = getattr(import_module(module), name)()
    except (ImportError, AttributeError) as error:
        raise VerifierError(f"no verifier {verifier}: {error}; it must be importable by this Python") from error
    if not hasattr(made, "verify_token"):
        raise VerifierError(f"{verifier} made a {type(made).__name__}, which has no verify_token")
    return ExternalCallers(
        made, roles, {"resource": resource, "authorization_servers": [issuer], "bearer_methods_supported": ["header"]}
    )
