"""The URIs of the backing artifacts of a point (IDX-070, C01–C06, C13; R3).

``rag://{label}/{path}`` names the full document; every asset of the file shares it, and indexing the file
again does not change it. Slices and descriptions are that URI plus a lower-case derived suffix.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote

SCHEME = "rag://"
_SAFE_IN_PATH = "/()[]+,=@!$"  # readable in terminals and logs; `#` and `?` must stay quoted


@dataclass(frozen=True, slots=True)
class BlobUri:
    """A parsed URI. `suffix` is empty for the full document, else `{kind}.{symbol}.{section}.{part}`."""

    label: str
    path: str
    suffix: str = ""


def document_uri(label: str, path: str) -> str:
    """FullDocumentBlobUri: case is kept (R3)."""
    return f"{SCHEME}{quote(label, safe='@')}/{quote(path, safe=_SAFE_IN_PATH)}"


def slice_uri(document: str, symbol: str, section_key: str, part_index: int) -> str:
    """SourceSliceBlobUri of one section."""
    return _derived(document, "slice", symbol, section_key, part_index)


def description_uri(document: str, symbol: str, section_key: str, part_index: int) -> str:
    """DescriptionBlobUri of one section."""
    return _derived(document, "description", symbol, section_key, part_index)


def _derived(document: str, kind: str, symbol: str, section_key: str, part_index: int) -> str:
    suffix = f"{kind}.{symbol}.{section_key}.{part_index}".lower().replace(" ", "_")
    return f"{document}#{quote(suffix, safe=_SAFE_IN_PATH + '`~')}"


def parse_uri(uri: str) -> BlobUri:
    """The parts of a URI that this module made. Raises ValueError for any other text."""
    if not uri.startswith(SCHEME):
        raise ValueError(f"not a {SCHEME} URI: {uri!r}")
    location, _, suffix = uri.removeprefix(SCHEME).partition("#")
    label, slash, path = location.partition("/")
    if not (label and slash and path):
        raise ValueError(f"not a {SCHEME} URI: {uri!r}")
    return BlobUri(unquote(label), unquote(path), unquote(suffix))
