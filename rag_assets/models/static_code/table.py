"""The file of a static table. Its largest part is mapped, not read: a question touches a few rows of it.

Little-endian: `RASTATIC`, uint32 length of the header, the header (JSON), and, each at a multiple of 64 bytes, int8
rows (entries, dimension), float32 scale of each row, float32 weight of each entry in documents, and in questions,
uint16 related entries (entries, RELATED) with their uint8 nearness, and the entries as lines of text.
"""

from __future__ import annotations

import hashlib
import json
import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from rag_assets.models.model_files import ModelCorrupted, ModelMissing
from rag_assets.serialization import from_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAGIC = b"RASTATIC"
OWN_PREFIX = "static-code-own-"
OWN_MODEL_ID = OWN_PREFIX + "{digest}"
"""Of a table that `train-embedder` made; the digest is the first digits of its sha256, as many as the word has."""
FORMAT_VERSION = 2
RELATED = 16
"""Entries that are kept as related to one: those that an index does not have are passed over when it is asked."""
NEARNESS = 255  # of a nearness of 1, as it is stored
_MOST_ENTRIES = 1 << 16
_ALIGNMENT = 64  # a cache line; the widest vector load of any CPU
_LENGTH_BYTES = 4
_MAX_HEADER = 1 << 16
_DIGITS = len("{digest}")  # so that a header is as long before its digest is known
_REMEDY = """Delete the setting, which gives the table of the package, or make a table. Run:
  rag-assets train-embedder --from LABEL"""


RelatedWords = tuple["NDArray[np.uint16]", "NDArray[np.uint8]"]
"""`related` and `nearness` of a `StaticTable`."""


class TableHeader(msgspec.Struct, frozen=True, kw_only=True):
    """`dimensions` are those the rows may be cut to; `sha256` is of all that follows the header."""

    version: int
    model_id: str
    dimension: int
    entries: int
    dimensions: tuple[int, ...]
    tf_exponent: float
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticTable:
    """`rows` int8 (entries, dimension), a row times its scale is the vector; `document_weights` and `query_weights`
    float32 (entries,) above 0. `related` uint16 (entries, RELATED) are the words that mean about the same as an entry,
    the nearest first, `nearness` uint8 how near they are (0 to 1) times 255, 0 where there are no more."""

    header: TableHeader
    vocabulary: Sequence[str]
    rows: NDArray[np.int8]
    scales: NDArray[np.float32]
    document_weights: NDArray[np.float32]
    query_weights: NDArray[np.float32]
    related: NDArray[np.uint16]
    nearness: NDArray[np.uint8]

    def related_to(self, entry: int) -> list[tuple[str, float]]:
        """The words that mean about the same as an entry, with how near they are, the nearest first."""
        pairs = zip(self.related[entry].tolist(), self.nearness[entry].tolist(), strict=True)
        return [(self.vocabulary[word], near / NEARNESS) for word, near in pairs if near]


def open_table(path: Path, *, repair: str) -> StaticTable:
    """Maps the file; its sha256 is for the caller to check. Raises ModelCorrupted, with the command `repair`, for a
    file that is no table or ends early, OSError."""
    try:
        return _parsed(*header_of(content := _mapped(path)), content)
    except (ValueError, msgspec.DecodeError, msgspec.ValidationError) as error:
        raise ModelCorrupted(f"{path} is no table of vectors: {error}. Install it again:\n  {repair}") from error


def open_own_table(path: Path) -> StaticTable:
    """A table that `train-embedder` made, checked against the digest in its model id. Raises ModelMissing or
    ModelCorrupted with the command that helps."""
    try:
        about = path.stat()
        return _own_table(path, about.st_mtime_ns, about.st_size)
    except OSError as error:
        raise ModelMissing(f"embedder.table: {path}: {error.strerror}. {_REMEDY}") from error
    except (ValueError, msgspec.DecodeError, msgspec.ValidationError) as error:
        raise ModelCorrupted(f"embedder.table: {path} is no table of vectors: {error}. {_REMEDY}") from error


@lru_cache(maxsize=2)  # a build asks for its model id many times
def _own_table(path: Path, _modified: int, _size: int) -> StaticTable:
    header, start = header_of(content := _mapped(path))
    if hashlib.sha256(memoryview(content)[start:]).hexdigest() != header.sha256:
        raise ValueError("it is damaged: its sha256 is another than its header says")
    if header.model_id != OWN_PREFIX + header.sha256[:_DIGITS]:
        raise ValueError(f"train-embedder did not make {header.model_id}")
    return _parsed(header, start, content)


def _mapped(path: Path) -> Any:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if path.stat().st_size else b""


def _parsed(header: TableHeader, start: int, content: Any) -> StaticTable:
    if header.version != FORMAT_VERSION:
        raise ValueError(f"format {header.version}, this version reads {FORMAT_VERSION}")

    def array(dtype: str, *shape: int) -> NDArray[Any]:
        nonlocal start
        start = _aligned(start)
        count = int(np.prod(shape))
        found: NDArray[Any] = np.frombuffer(content, dtype, count, start).reshape(shape)
        start += found.nbytes
        return found

    rows = array("|i1", header.entries, header.dimension)
    scales, document_weights, query_weights = (array("<f4", header.entries) for _ in range(3))
    related, nearness = (array(dtype, header.entries, RELATED) for dtype in ("<u2", "|u1"))
    vocabulary = bytes(content[_aligned(start) :]).decode().split("\n")
    if len(vocabulary) != header.entries:
        raise ValueError(f"{len(vocabulary)} words for {header.entries} rows")
    return StaticTable(
        header=header,
        vocabulary=vocabulary,
        rows=rows,
        scales=scales,
        document_weights=document_weights,
        query_weights=query_weights,
        related=related,
        nearness=nearness,
    )


def quantised(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """int8 rows and the float32 scale of each: a row times its scale is the vector, about."""
    largest = np.abs(vectors).max(axis=1)
    scales = np.where(largest > 0, largest / 127, 1).astype("<f4")
    return np.rint(vectors / scales[:, None]).astype("|i1"), scales


def encoded(
    vocabulary: Sequence[str],
    rows: NDArray[np.int8],
    scales: NDArray[np.float32],
    document_weights: NDArray[np.float32],
    query_weights: NDArray[np.float32],
    related: RelatedWords,
    *,
    model_id: str,
    dimensions: Sequence[int],
    tf_exponent: float,
) -> bytes:
    """The content of a file: `rows` and `scales` as `quantised` makes them, `related` as a `StaticTable` has
    them; `model_id` may be OWN_MODEL_ID. The same input gives the same bytes. Raises ValueError for a
    vocabulary that has a word twice, or more than 65,536."""
    entries, dimension = rows.shape
    if entries > _MOST_ENTRIES:
        raise ValueError(f"{entries} entries, a table has {_MOST_ENTRIES} at most")
    if len(set(vocabulary)) != entries:
        raise ValueError(f"{len(set(vocabulary))} different words for {entries} vectors")
    weights = (document_weights.astype("<f4"), query_weights.astype("<f4"))
    arrays: list[NDArray[Any]] = [rows, scales, *weights, *related]
    # Padding depends on where a part begins, and so on the length of the header; the digest's is known.
    about = {
        "dimension": dimension,
        "dimensions": list(dimensions),
        "entries": entries,
        "model_id": model_id,
        "sha256": "0" * 64,
        "tf_exponent": tf_exponent,
        "version": FORMAT_VERSION,
    }
    start = len(MAGIC) + _LENGTH_BYTES + len(_encoded(about))
    body = bytearray()
    for part in [*(array.tobytes() for array in arrays), "\n".join(vocabulary).encode()]:
        body += bytes(_aligned(start + len(body)) - start - len(body)) + part
    digest = hashlib.sha256(body).hexdigest()
    header = _encoded(about | {"sha256": digest, "model_id": model_id.replace("{digest}", digest[:_DIGITS])})
    return MAGIC + len(header).to_bytes(_LENGTH_BYTES, "little") + header + body


def header_of(content: Any) -> tuple[TableHeader, int]:
    """And where it ends."""
    begin = len(MAGIC) + _LENGTH_BYTES
    if len(content) < begin or content[: len(MAGIC)] != MAGIC:
        raise ValueError("it does not begin as one")
    end = begin + int.from_bytes(content[len(MAGIC) : begin], "little")
    if end > min(len(content), _MAX_HEADER):
        raise ValueError("its header is longer than the file")
    return from_json(bytes(content[begin:end]), TableHeader), end


def _encoded(about: dict[str, Any]) -> bytes:
    return json.dumps(about, sort_keys=True, separators=(",", ":")).encode()


def _aligned(position: int) -> int:
    return -(-position // _ALIGNMENT) * _ALIGNMENT
