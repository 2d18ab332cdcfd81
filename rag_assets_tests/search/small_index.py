"""Small real generations: a shard, a keyword index and a manifest, as the stages write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rag_assets.contracts.confidentiality import Confidentiality, may_see
from rag_assets.contracts.embedder import Embedder
from rag_assets.contracts.identity import content_hash, declared_names, point_id
from rag_assets.index.blobs import BlobStore
from rag_assets.index.generations import Manifest, generation_directory, level_folder, promote, write_manifest
from rag_assets.index.keyword.bm25f import (
    TermFrequencies,
    assigned_indices,
    count_terms,
    hashes_of,
    statistics_of,
    weights,
)
from rag_assets.index.keyword.vocabulary import write_vocabulary
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.qdrant_edge.writer import ShardWriter
from rag_assets.index.vectors.vector_api import StoredPoint

LABEL = "shop@main"


@dataclass(frozen=True)
class Section:
    path: str
    symbol: str
    kind: str
    purpose: str
    body: str = ""
    language: str = "csharp"
    org: str = "acme"
    project: str = "shop"
    label: str = LABEL
    id: str = ""
    level: str = "internal"
    content: str = ""  # of its hash
    changed: str = ""  # when, as payloads have it

    @property
    def snippet(self) -> str:
        return f"Kind: {self.kind}\nArtifact: {self.symbol}\nPurpose: {self.purpose}"

    @property
    def text(self) -> str:
        """Of its document, all of which is its slice."""
        return f"{self.snippet}\n{self.body}\n"

    @property
    def semantic_id(self) -> str:
        return f"{self.org}:{self.project}:shop:class:{self.symbol}:overview:1".lower()

    @property
    def point_id(self) -> str:
        return self.id or point_id(self.org, self.project, "shop", self.label, self.semantic_id)

    def payload(self) -> dict[str, Any]:
        return {
            "OrgId": self.org,
            "ProjectId": self.project,
            "DocId": self.path,
            "IndexLabel": self.label,
            "SemanticId": self.semantic_id,
            "Path": self.path,
            "Symbol": self.symbol,
            "Kind": self.kind,
            "CodeLanguage": self.language,
            "SectionKey": "overview",
            "PartIndex": 1,
            "PartTotal": 1,
            "Title": f"class: {self.symbol} - overview (Chunk 1 of 1)",
            "FinderSnippet": self.snippet,
            "StartLine": 3,
            "EndLine": 30,
            "CharStart": 0,
            "CharEnd": len(self.text),
            "BlobVersionId": content_hash(self.text),
            "SourceSha256": content_hash(self.text),
            "CommitSha": "c" * 40,
            "FullDocumentBlobUri": f"rag://{LABEL}/{self.path}",
            "SourceSliceBlobUri": f"rag://{LABEL}/{self.path}#slice.{self.symbol.lower()}.overview.1",
            "DescriptionBlobUri": f"rag://{LABEL}/{self.path}#description.{self.symbol.lower()}.overview.1",
            "ContentHash": self.content or self.symbol,
            "Confidentiality": self.level,
            "DeclaredNames": list(declared_names(self.symbol)),
            **({"UpdatedUtc": self.changed} if self.changed else {}),
        }


SHOP = [
    Section(
        "src/Refunds/RefundPolicy.cs",
        "Shop.Refunds.RefundPolicy",
        "Service",
        "Limits how much money a customer gets back for a returned parcel.",
    ),
    Section(
        "src/Orders/OrderService.cs",
        "Shop.Orders.OrderService",
        "Service",
        "Creates, changes and cancels orders.",
        "await repository.SaveAsync(order);",
    ),
    Section(
        "src/Orders/IOrderRepository.cs",
        "Shop.Orders.IOrderRepository",
        "Interface",
        "Stores orders and reads them back.",
    ),
    Section("src/Orders/Order.cs", "Shop.Orders.Order", "Model", "An order with its lines."),
    Section(
        "src/Mail/SmtpClientFactory.cs", "Shop.Mail.SmtpClientFactory", "Other", "Opens connections to the mail server."
    ),
    Section("tests/OrderServiceTests.cs", "Shop.Tests.OrderServiceTests", "Test", "Cancelling an order twice fails."),
    Section(
        "db/orders.sql",
        "dbo.Orders",
        "SqlObject",
        "Table of orders.",
        "CREATE TABLE dbo.Orders (Id int)",
        language="sql",
    ),
    Section("docs/mail.md", "Sending mail", "Markdown", "How letters reach a customer.", language="markdown"),
]

FOREIGN = [
    replace(SHOP[1], org="globex"),
    replace(SHOP[1], project="site"),
    replace(SHOP[1], label="shop@next"),
]


def points_of(sections: Sequence[Section], embedder: Embedder | None = None) -> list[StoredPoint]:
    """The points of sections, whose keyword weights know these sections only."""
    return _indexed(sections, embedder)[0]


def _indexed(
    sections: Sequence[Section], embedder: Embedder | None
) -> tuple[list[StoredPoint], TermFrequencies, dict[str, int]]:
    counts = count_terms(
        [{"names": s.symbol, "path": s.path, "snippet": s.snippet, "body": s.body or s.purpose} for s in sections]
    )
    statistics = statistics_of(counts)
    indices = assigned_indices(hashes_of(statistics.document_frequencies))[0]
    sparse = weights(counts, statistics.average_lengths(), indices)
    dense = embedder.embed([s.snippet for s in sections]) if embedder else np.zeros((len(sections), 0), np.float32)
    points = [StoredPoint(s.point_id, dense[row], sparse[row], s.payload()) for row, s in enumerate(sections)]
    return points, counts, indices


def build(
    home: IndexHome,
    sections: Sequence[Section] = SHOP,
    *,
    embedder: Embedder | None = None,
    label: str = LABEL,
    generation_id: str = "2026-01-01_main_cccccccc_123456",
    **changes: Any,
) -> Manifest:
    """Writes, finishes and promotes a generation; without an embedder it is a lexical one."""
    directory = generation_directory(home, label, generation_id)
    points, counts, indices = _indexed(sections, embedder)
    dimension = embedder.dimension if embedder else 0
    writer = ShardWriter(directory / "shard", dimension)
    writer.upsert(points)
    writer.finish()
    for section in sections:
        BlobStore(home.blobs).put(section.text)
    values: dict[str, Any] = {
        "generation_id": generation_id,
        "index_label": label,
        "repository_id": "shop",
        "org_id": "acme",
        "project_id": "shop",
        "remote_url": "",
        "ref": "main",
        "commit_sha": "c" * 40,
        "commit_date": "2026-01-01T00:00:00Z",
        "is_git": True,
        "config_hash": "123456",
        "embedding_model": embedder.model_id if embedder else "lexical-only",
        "dimension": dimension,
        "lexical_only": embedder is None,
        "stage_versions": {},
        "counts": {"points": len(sections)},
        "capabilities": ("dense", "keyword") if embedder else ("keyword",),
        "run_id": "run-1",
        "confidential_paths": {f"{section.level}/**": Confidentiality(section.level) for section in sections},
    }
    manifest = Manifest(**{**values, **changes})
    for level in manifest.levels.all:
        seen = np.array([may_see(level, Confidentiality(section.level)) for section in sections])
        write_vocabulary(
            level_folder(directory / "keyword", level, manifest.levels), statistics_of(counts, seen), indices
        )
    write_manifest(directory, manifest)
    promote(home, label, generation_id, "run-1")
    return manifest
