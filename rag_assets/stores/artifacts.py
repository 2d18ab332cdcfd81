"""Resolves the URIs of the backing artifacts: full document, source slice, description (IDX-070; C03–C07, C11).

A consumer sees a URI and gets text. Behind it, documents are content-addressed blobs, slices are character
ranges of them, and descriptions are rows of the generation's section table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pyarrow.compute as pc

from rag_assets.contracts.artifacts import BlobUri, parse_uri
from rag_assets.contracts.errors import ExpectedError
from rag_assets.contracts.identity import content_hash
from rag_assets.stores.blobs import BlobError, BlobStore
from rag_assets.stores.generations import Generation
from rag_assets.stores.home import Home
from rag_assets.stores.tables import bucket_of, read_part


class ArtifactError(ExpectedError):
    """A URI that this generation does not hold, or whose text is no longer what was indexed."""


class ArtifactStore:
    """The artifacts of one generation."""

    def __init__(self, home: Home, generation: Generation) -> None:
        self._generation = generation
        self._blobs = BlobStore(home.blobs)

    def resolve(self, uri: str) -> str:
        """The text of a URI, checked against its recorded hash. Raises ArtifactError."""
        try:
            parsed = parse_uri(uri)
        except ValueError as error:
            raise ArtifactError(str(error)) from error
        if parsed.label != self._generation.manifest.index_label:
            raise ArtifactError(f"{uri} belongs to label {parsed.label}, not {self._generation.manifest.index_label}")
        if not parsed.suffix:
            return self._document(parsed.path)
        column = "slice_uri" if parsed.suffix.startswith("slice.") else "description_uri"
        row = self._row("qdrant_points", parsed, column, uri)
        if column == "slice_uri":
            return self._slice(row, uri)
        return self._description(parsed.path, row["section_row"])

    def _document(self, path: str) -> str:
        table = read_part(self._directory, "discovered_files", self._bucket(path), ["path", "text_sha256"])
        found = table.filter(pc.equal(table["path"], path)).to_pylist()
        if not found or not found[0]["text_sha256"]:
            raise ArtifactError(f"{path} is not indexed in generation {self._generation.manifest.generation_id}")
        try:
            return self._blobs.get(found[0]["text_sha256"])
        except BlobError as error:
            raise ArtifactError(f"{path}: {error}") from error

    def _slice(self, row: dict[str, Any], uri: str) -> str:
        payload = msgspec.json.decode(row["payload"])
        text: str = self._document(payload["Path"])[payload.get("CharStart", 0) : payload["CharEnd"]]
        if content_hash(text) != payload["SourceSha256"]:
            raise ArtifactError(
                f"{uri}: the stored slice does not match its recorded hash; run: rag-assets index --force"
            )
        return text

    def _description(self, path: str, section_row: int) -> str:
        table = read_part(self._directory, "summary_sections", self._bucket(path), ["section"])
        section = msgspec.json.decode(table.column("section")[section_row].as_py())
        return str(section["backing_artifact"])

    def _row(self, table_name: str, parsed: BlobUri, column: str, uri: str) -> dict[str, Any]:
        table = read_part(self._directory, table_name, self._bucket(parsed.path), ["section_row", "payload", column])
        found: list[dict[str, Any]] = table.filter(pc.equal(table[column], uri)).to_pylist()
        if not found:
            raise ArtifactError(f"{uri} is not in generation {self._generation.manifest.generation_id}")
        return found[0]

    @property
    def _directory(self) -> Path:
        return self._generation.directory

    def _bucket(self, path: str) -> int:
        return bucket_of(path, self._generation.manifest.bucket_count)
