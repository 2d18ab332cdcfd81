"""From a reply of `/embeddings` to unit vectors in the order of the texts, or to the reason why not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from rag_assets.decoders import from_json
from rag_assets.model_server.api_key import ApiKey
from rag_assets.model_server.faults import Code, Fault
from rag_assets.model_server.refusal import DETAIL_CHARS, is_json, refusal, text_of
from rag_assets.model_server.transport import Reply

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

SECTION = "embedder"
_SMALLEST = 1e-12
"""The largest number of a vector that still has a direction; models give lengths around 1."""

_Count = Annotated[int, msgspec.Meta(ge=0)]


class _Item(msgspec.Struct):
    embedding: list[float]
    index: int


class _Usage(msgspec.Struct):
    prompt_tokens: _Count | None = None
    total_tokens: _Count | None = None


class _Embeddings(msgspec.Struct):
    data: list[_Item] = []
    usage: _Usage | None = None
    error: Any = None


@dataclass(frozen=True, slots=True)
class Answer:
    """(n, dimension) float32 of unit length, and the tokens the server counted; None where it does not say."""

    vectors: Vectors
    tokens: int | None


def read_vectors(reply: Reply, texts: int, key: ApiKey) -> Answer | Fault:
    """The vectors of a request with that many texts, sorted by `index` and normalised.

    A fault where a text has no vector or two, where lengths differ, or where a vector is not finite or zero.
    """
    if not 200 <= reply.status < 300:
        return refusal(reply, key, section=SECTION)
    if not is_json(reply.content_type):
        kind = key.masked(reply.content_type)[:DETAIL_CHARS] or "no content type"
        return Fault(Code.CONTENT_TYPE, f"the reply is {kind}, not JSON; is {SECTION}.base_url an API?")
    try:
        found = from_json(reply.body, _Embeddings)
    except msgspec.DecodeError as error:
        return _malformed(f"no list of embeddings: {key.masked(str(error))[:DETAIL_CHARS]}")
    if not found.data and found.error:
        return _malformed(f"an error: {key.masked(text_of(found.error))[:DETAIL_CHARS]}")
    problem = _disorder(found.data, texts)
    if problem:
        return _malformed(problem)
    used = found.usage or _Usage()
    tokens = used.total_tokens if used.prompt_tokens is None else used.prompt_tokens
    vectors = _unit_vectors(sorted(found.data, key=lambda item: item.index))
    return vectors if isinstance(vectors, Fault) else Answer(vectors, tokens)


def _disorder(items: list[_Item], texts: int) -> str:
    """What is wrong with the number of items, their indexes or their lengths; empty where nothing is."""
    if len(items) != texts:
        return f"{len(items)} embeddings for {texts} texts"
    if {item.index for item in items} != set(range(texts)):
        return f"embeddings whose indexes are not 0 to {texts - 1}"
    lengths = sorted({len(item.embedding) for item in items})
    if len(lengths) > 1 or not lengths[0]:
        return f"embeddings of {' and '.join(map(str, lengths))} dimensions"
    return ""


def _unit_vectors(items: list[_Item]) -> Vectors | Fault:
    import numpy as np

    rows = np.array([item.embedding for item in items], np.float64)
    if not np.isfinite(rows).all():
        return _malformed("an embedding with NaN or infinity")
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if largest.min() <= _SMALLEST:
        return _malformed("an embedding of zeros")
    scaled = rows / largest  # squares of very large numbers are not finite
    unit: Vectors = (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _malformed(what: str) -> Fault:
    return Fault(Code.MALFORMED, f"the reply has {what}")
