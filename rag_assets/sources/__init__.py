"""Repositories into texts: open a snapshot, discover its files, decode and redact them.

The names below are loaded on first use, so that asking for the head of a repository does not load what only
indexing needs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_assets.sources.discovery import DiscoveredText, discover, is_lasting
    from rag_assets.sources.entries import Entry, EntryKind, Snapshot
    from rag_assets.sources.errors import (
        CorruptArchive,
        EmptyRepository,
        GitNotFound,
        LocationError,
        MissingCommit,
        MissingRef,
        SourceError,
        SourceUnreachable,
    )
    from rag_assets.sources.fingerprint import POLICY_FINGERPRINT
    from rag_assets.sources.heads import default_ref, remote_head
    from rag_assets.sources.ignore import IgnorePolicy
    from rag_assets.sources.opening import open_snapshot
    from rag_assets.sources.secrets import Finding, Redaction, redact
    from rag_assets.sources.urls import default_repository_id, strip_credentials

__all__ = [
    "POLICY_FINGERPRINT",
    "CorruptArchive",
    "DiscoveredText",
    "EmptyRepository",
    "Entry",
    "EntryKind",
    "Finding",
    "GitNotFound",
    "IgnorePolicy",
    "LocationError",
    "MissingCommit",
    "MissingRef",
    "Redaction",
    "Snapshot",
    "SourceError",
    "SourceUnreachable",
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
    "entries": ("Entry", "EntryKind", "Snapshot"),
    "errors": (
        "CorruptArchive",
        "EmptyRepository",
        "GitNotFound",
        "LocationError",
        "MissingCommit",
        "MissingRef",
        "SourceError",
        "SourceUnreachable",
    ),
    "ignore": ("IgnorePolicy",),
    "heads": ("default_ref", "remote_head"),
    "opening": ("open_snapshot",),
    "fingerprint": ("POLICY_FINGERPRINT",),
    "secrets": ("Finding", "Redaction", "redact"),
    "urls": ("default_repository_id", "strip_credentials"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)
