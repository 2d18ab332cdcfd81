"""The source of a section: the slice of its document that the payload of its point names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def section_source(payload: Mapping[str, Any], document: Callable[[str], str]) -> str:
    """'' where the payload names no document. `document` gives the text at an address; raises what that raises."""
    address = payload.get("BlobVersionId", "")
    if not address or "CharEnd" not in payload:
        return ""
    return document(address)[payload.get("CharStart", 0) : payload["CharEnd"]]
