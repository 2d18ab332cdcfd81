"""The payloads of sections as an index gives them, to compare two builds of the same files."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from rag_assets.search.index import LabelIndex

_OF_THE_BUILD = frozenset(
    {
        "IndexLabel",
        "CommitSha",
        "IndexedUtc",
        "UpdatedUtc",
        "RepoBranch",
        "FullDocumentBlobUri",
        "SourceSliceBlobUri",
        "DescriptionBlobUri",
        "WorkTree",
    }
)
"""Fields that say which build a section is of, not what it is."""


def section_payloads(
    index: LabelIndex, paths: Collection[str], *, without: Collection[str] = ()
) -> dict[str, dict[str, Any]]:
    """Semantic id → the payload of the sections of some files, without what says which build they are of."""
    shard, scope = index.parts.shard(), replace(index.tenant, files=frozenset(paths))
    left_out = _OF_THE_BUILD.union(without)
    return {
        payload["SemanticId"]: {name: value for name, value in payload.items() if name not in left_out}
        for payload in shard.retrieve(list(shard.ids(scope)), scope).values()
    }
