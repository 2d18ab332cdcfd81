"""Who asks, and so what may be seen: a clearance and an organisation, by the role of a token or of a local client."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality


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


@dataclass(frozen=True, slots=True)
class Calling:
    """How a client wants to be served: as whom, with structured content beside the text or not, and whether it may
    start runs that index."""

    caller: Caller
    structured: bool = False
    may_index: bool = False


calling: ContextVar[Calling] = ContextVar("calling")
"""Of a local connection."""

SCOPE_KEY = "rag_assets.calling"
"""Where the HTTP application leaves it in the scope of a request."""
