"""Turns repositories into texts: open a snapshot, discover its files, decode and redact them.

The names below are loaded on first use, so that reading the head of a repository does not load the modules of
indexing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_assets.sources.discovery import DiscoveredText, discover, is_lasting
    from rag_assets.sources.fingerprint import POLICY_FINGERPRINT
    from rag_assets.sources.git.git_refs import default_ref, remote_head
    from rag_assets.sources.ignore import IgnorePolicy
    from rag_assets.sources.open import open_snapshot
    from rag_assets.sources.secrets.redaction import Redaction, SecretFinding, redact
    from rag_assets.sources.snapshot import EntryKind, Snapshot, TreeEntry
    from rag_assets.sources.urls import default_repository_id, strip_credentials

__all__ = [
    "POLICY_FINGERPRINT",
    "DiscoveredText",
    "EntryKind",
    "IgnorePolicy",
    "Redaction",
    "SecretFinding",
    "Snapshot",
    "TreeEntry",
    "default_ref",
    "default_repository_id",
    "discover",
    "is_lasting",
    "open_snapshot",
    "redact",
    "remote_head",
    "strip_credentials",
]

_MODULES = {
    "discovery": ("DiscoveredText", "discover", "is_lasting"),
    "snapshot": ("EntryKind", "Snapshot", "TreeEntry"),
    "ignore": ("IgnorePolicy",),
    "git.git_refs": ("default_ref", "remote_head"),
    "open": ("open_snapshot",),
    "fingerprint": ("POLICY_FINGERPRINT",),
    "secrets.redaction": ("Redaction", "SecretFinding", "redact"),
    "urls": ("default_repository_id", "strip_credentials"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)
