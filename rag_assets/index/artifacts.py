"""Resolves the URIs of the backing artifacts: full document, source slice, description (IDX-070; C03–C07, C11).

A consumer sees a URI and gets text. Behind it, documents are content-addressed blobs, slices are character
ranges of them, and descriptions are rows of the generation's section table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from rag_assets.contracts.identity import BlobUri, content_hash, parse_uri
from rag_assets.errors import RagAssetsError
from rag_assets.index.blobs import BlobError, BlobStore
from rag_assets.index.generations import Generation
from rag_assets.index.layout import IndexHome
from rag_assets.index.parquet_parts import bucket_of, read_part, rows_with
from rag_assets.serialization import from_json


class ArtifactError(RagAssetsError):
    """A URI that this generation does not hold, or whose text is no longer what was indexed."""


class NotIndexed(ArtifactError):
    """A file that this generation does not hold; the text says why."""


class _Owner(msgspec.Struct):
    """The isolation boundary of a payload (B02)."""

    OrgId: str = ""
    ProjectId: str = ""


class _Described(msgspec.Struct):
    backing_artifact: str = ""


_BUCKETS = 32
"""Buckets whose descriptions stay in memory: at 64 files each at most some ten megabytes. The pieces of one question
come from up to twenty, and reading these took 40 ms of CPU time."""


class ArtifactStore:
    """The artifacts of one generation."""

    def __init__(self, home: IndexHome, generation: Generation) -> None:
        self._generation = generation
        self._blobs = BlobStore(home.blobs)
        self._described = lru_cache(maxsize=_BUCKETS)(self._sections)

    def resolve(self, uri: str) -> str:
        """The text of a URI, checked against its recorded hash (C03, C04, C06).

        Raises ArtifactError for what is no URI, for one of another label or tenant, for a document or a part of one
        that this generation does not have (any more), and for a text that is not what was indexed.
        """
        try:
            parsed = parse_uri(uri)
        except ValueError as error:
            raise ArtifactError(str(error)) from error
        if parsed.label != self._generation.manifest.index_label:
            raise ArtifactError(f"{uri} belongs to label {parsed.label}, not {self._generation.manifest.index_label}")
        try:
            return self._text(parsed, uri)
        except FileNotFoundError as error:
            gone = f"generation {self._generation.manifest.generation_id} has been deleted since it was opened"
            raise ArtifactError(f"{gone}: open the index again") from error

    def descriptions(self, uris: Iterable[str]) -> dict[str, str]:
        """URI → the description behind it, of those that this generation has. Raises ArtifactError for what is no URI,
        and TableDamaged."""
        wanted: dict[int, set[str]] = {}
        for uri in uris:
            try:
                wanted.setdefault(self._bucket(parse_uri(uri).path), set()).add(uri)
            except ValueError as error:
                raise ArtifactError(str(error)) from error
        found: dict[str, str] = {}
        for bucket, asked in wanted.items():
            rows, sections = self._described(bucket)
            known = [uri for uri in asked if uri in rows]
            found |= {uri: from_json(sections[rows[uri]].as_py(), _Described).backing_artifact for uri in known}
        return found

    def _sections(self, bucket: int) -> tuple[dict[str, int], Any]:
        """(description URI → row, the column of the sections) of a bucket."""
        points = read_part(self._directory, "qdrant_points", bucket, ["section_row", "description_uri"])
        rows = zip(points.column("description_uri").to_pylist(), points.column("section_row").to_pylist(), strict=True)
        return dict(rows), read_part(self._directory, "summary_sections", bucket, ["section"]).column("section")

    def description_uris(self, buckets: Iterable[int]) -> Iterator[str]:
        """The addresses of the descriptions that have a text. Raises TableDamaged."""
        for bucket in buckets:
            sections = read_part(self._directory, "summary_sections", bucket, ["section"]).column("section")
            points = read_part(self._directory, "qdrant_points", bucket, ["section_row", "description_uri"])
            for row in points.to_pylist():
                if from_json(sections[row["section_row"]].as_py(), _Described).backing_artifact.strip():
                    yield row["description_uri"]

    def _text(self, parsed: BlobUri, uri: str) -> str:
        if not parsed.suffix:
            return self._document(parsed.path)
        if parsed.suffix.startswith("slice."):
            return self._slice(self._row(parsed, "slice_uri", uri), uri)
        row = self._row(parsed, "description_uri", uri)
        return self._description(parsed.path, row["section_row"])

    def _document(self, path: str) -> str:
        try:
            return self._blobs.get(self._address(path))
        except BlobError as error:
            raise ArtifactError(f"{path}: {error}") from error

    def _address(self, path: str) -> str:
        """The address of the text of a file. Raises ArtifactError saying why it has none."""
        columns = ["path", "text_sha256", "reason"]
        table = read_part(self._directory, "discovered_files", self._bucket(path), columns)
        found = rows_with(table, "path", path)
        if found and found[0]["text_sha256"]:
            return str(found[0]["text_sha256"])
        here = f"{path} is not indexed in generation {self._generation.manifest.generation_id}"
        if found:
            raise NotIndexed(f"{here}: it is skipped as {found[0]['reason']}; see: rag-assets explain {path}")
        raise NotIndexed(f"{here}; it may have been moved or deleted since: find it again with rag-assets search")

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

    def _row(self, parsed: BlobUri, column: str, uri: str) -> dict[str, Any]:
        """The point that a derived URI belongs to, of the tenant and project of the generation."""
        table = read_part(
            self._directory, "qdrant_points", self._bucket(parsed.path), ["section_row", "payload", column]
        )
        found = rows_with(table, column, uri)
        manifest = self._generation.manifest
        if not found:
            self._address(parsed.path)  # says what became of the file, if that is the reason
            raise ArtifactError(
                f"{uri} is not in generation {manifest.generation_id}: the file has no such part (any more); "
                f"see: rag-assets explain {parsed.path}"
            )
        owner = from_json(found[0]["payload"], _Owner)
        if (owner.OrgId, owner.ProjectId) != (manifest.org_id, manifest.project_id):
            raise ArtifactError(f"{uri} belongs to another tenant or project than its generation")
        return found[0]

    @property
    def _directory(self) -> Path:
        return self._generation.directory

    def _bucket(self, path: str) -> int:
        return bucket_of(path, self._generation.manifest.bucket_count)
