"""Versions of points in a Qdrant server, as databases keep versions of rows (MVCC).

The generations of a label have increasing sequence numbers. A version of a point is visible from its sequence `Born`
until before its sequence `Died`, if it has one. A build of sequence n only adds versions born at n and gives `Died` = n
to versions that have none, so it changes nothing for readers of any earlier sequence, and a build that was killed is a
sequence that nobody reads. What a new build begins with is what has no `Died`, whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import Any

from rag_assets.index.vectors.server.client_calls import QdrantServer
from rag_assets.index.vectors.server.schema import BORN, COLLECTION_PREFIX, DIED, LABEL_KEY

_SCROLL_BATCH = 10_000  # points of one answer: 2 MB with the few fields that are asked for


def of_label(key: str) -> Any:
    """The condition that holds for all versions of all points of a label."""
    from qdrant_client import models

    return models.FieldCondition(key=LABEL_KEY, match=models.MatchValue(value=key))


def visible(key: str, sequence: int, *conditions: Any) -> Any:
    """The filter for what a reader of `sequence` sees of a label, and which meets the conditions."""
    from qdrant_client import models

    born = _range(BORN, lte=sequence)
    return models.Filter(must=[of_label(key), born, *conditions], must_not=[_range(DIED, lte=sequence)])


def unseen(key: str, kept: Collection[int]) -> Any:
    """The filter for the versions of a label that no reader of one of the sequences `kept` sees."""
    from qdrant_client import models

    if not kept:
        return models.Filter(must=[of_label(key)])
    ordered = sorted(kept)
    before, after = _range(DIED, lte=ordered[0]), _range(BORN, gt=ordered[-1])
    between = [models.Filter(must=[_range(BORN, gt=a), _range(DIED, lte=b)]) for a, b in pairwise(ordered)]
    return models.Filter(must=[of_label(key)], should=[before, after, *between])


def delete_unseen(server: QdrantServer, key: str, kept: Mapping[str, Collection[int]]) -> int:
    """Deletes the versions of a label that nobody sees, in every embedding space. `kept`: collection → sequences of
    the generations that stay. Returns how many there were. Raises VectorStoreError; then the same again goes on."""
    deleted = 0
    for collection in server.call("read", "get_collections").collections:
        name = collection.name
        if not name.startswith(COLLECTION_PREFIX):
            continue
        condition = unseen(key, kept.get(name, ()))
        found = int(server.call("read", "count", collection_name=name, count_filter=condition, exact=True).count)
        if found:
            # Waits: a later build must not begin with points that are about to go.
            server.call("written", "delete", collection_name=name, points_selector=condition, wait=True)
        deleted += found
    return deleted


def settle(server: QdrantServer, collection: str, key: str) -> None:
    """Returns when the server has done what it was sent before, also where nobody waited for the answer: it works in
    order, so it is asked to delete what does not exist."""
    from qdrant_client import models

    nothing = models.Filter(must=[of_label(key), _range(BORN, lt=0)])
    server.call("written", "delete", collection_name=collection, points_selector=nothing, wait=True)


def scroll(server: QdrantServer, collection: str, condition: Any, fields: list[str]) -> Iterator[dict[str, Any]]:
    """These payload fields of every point that meets the condition."""
    offset: Any = None
    while True:
        records, offset = server.call(
            "read",
            "scroll",
            collection_name=collection,
            scroll_filter=condition,
            limit=_SCROLL_BATCH,
            offset=offset,
            with_payload=fields,
            with_vectors=False,
        )
        yield from (record.payload for record in records)
        if offset is None:
            return


def _range(key: str, **bounds: int) -> Any:
    from qdrant_client import models

    return models.FieldCondition(key=key, range=models.Range(**bounds))
