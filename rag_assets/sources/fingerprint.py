"""What decides which texts discovery yields, as one short hash: part of every generation's identity."""

from __future__ import annotations

import hashlib

from rag_assets.sources.conventions import conventions_description
from rag_assets.sources.extraction import EXTRACTION_VERSION
from rag_assets.sources.secret_rules import rules_description

_DISCOVERY_VERSION = 2
"""Raise it when code of this package decides, decodes or masks otherwise than before; the tables of conventions and
rules, and the version of the rule library, count by themselves."""

_DESCRIPTION = f"{_DISCOVERY_VERSION}\n{EXTRACTION_VERSION}\n{conventions_description()}\n{rules_description()}"
POLICY_FINGERPRINT = hashlib.sha256(_DESCRIPTION.encode()).hexdigest()[:16]
"""A change of it makes a new generation of every label."""
