"""A short hash of everything that decides which texts discovery yields: part of every generation's identity."""

from __future__ import annotations

import hashlib

from rag_assets.sources.default_ignores import conventions_description
from rag_assets.sources.extraction import EXTRACTION_VERSION, extractors_description
from rag_assets.sources.secrets.redaction import rules_description

_DISCOVERY_VERSION = 10
"""Raise it when code of this package decides, decodes, masks or names languages in another way. The tables of
conventions and the rules for credentials are hashed by themselves."""

_DESCRIPTION = "\n".join(
    (
        str(_DISCOVERY_VERSION),
        str(EXTRACTION_VERSION),
        extractors_description(),
        conventions_description(),
        rules_description(),
    )
)
POLICY_FINGERPRINT = hashlib.sha256(_DESCRIPTION.encode()).hexdigest()[:16]
"""A change makes a new generation of every label."""
