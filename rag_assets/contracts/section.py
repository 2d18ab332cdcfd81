"""`SummarySection`: the atomic indexing unit, one section = one point (IDX-069 §6.3, A24–A26, A33)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.contracts.embedder import Embedder
from rag_assets.contracts.graph import WHOLE_FILES
from rag_assets.contracts.identity import (
    content_hash,
    declared_names,
    description_uri,
    normalized_content,
    plain_symbol,
    slice_uri,
)
from rag_assets.contracts.outline import SectionMember
from rag_assets.contracts.result import InvokeResult, Message
from rag_assets.contracts.segment import Span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag_assets.contracts.payload import RagVectorPayload

    Vectors = NDArray[np.float32]


@dataclass(slots=True, kw_only=True)
class SummarySection:
    """A finder snippet, the artifacts behind it and its place in the file (A25).

    `finder_snippet` is the only text that is embedded (C09); `backing_artifact` is the markdown that a model
    reads once the snippet is found. `span` is the source slice of this section. Parts of one section are
    numbered 1..part_total (B07, R19).
    """

    section_key: str
    symbol: str
    symbol_type: str
    finder_snippet: str
    backing_artifact: str
    span: Span
    part_index: int = 1
    part_total: int = 1
    kind: str = ""
    domain_key: str = ""
    embedding_model: str = ""
    primary_entity: str = ""
    names: tuple[str, ...] = ()  # declared names, a keyword field of their own
    members: tuple[SectionMember, ...] = ()  # in text order
    graph_node_keys: tuple[str, ...] = ()
    html_anchor: str = ""
    source_title: str = ""  # what a citation calls a document with pages or a recording (E19)
    pages: tuple[int, ...] = ()
    media_start: float | None = None  # seconds
    media_end: float | None = None
    speakers: tuple[str, ...] = ()
    source_text: str = ""  # the slice itself; set by the stage, never stored twice
    snippet_tokens: int | None = None
    overlap_tokens: int = 0  # of these, what the part before ends with
    vectors: Sequence[float] | None = None

    @property
    def section_normalized_text(self) -> str:
        """The embedded text, and the `RagPoint.contents` (A36, R4): the snippet without trailing blanks."""
        return "\n".join(line.rstrip() for line in self.finder_snippet.strip().splitlines())

    def create_embeddings(self, embedder: Embedder) -> InvokeResult[None]:
        """Embeds this section (A28). A wrong dimension or a non-finite vector is an error, not an exception."""
        try:
            vector = embedder.embed([self.section_normalized_text])[0]
        except (OSError, RuntimeError, ValueError) as error:
            return InvokeResult.failure([Message("EMBEDDER.failed", f"{self.symbol} {self.section_key}: {error}")])
        if len(vector) != embedder.dimension:
            text = f"{self.symbol} {self.section_key}: {len(vector)} dimensions, the model has {embedder.dimension}"
            return InvokeResult.failure([Message("EMBEDDER.dimension", text)])
        if not math.isfinite(float(vector.sum())):
            text = f"{self.symbol} {self.section_key}: a number of its vector is not finite"
            return InvokeResult.failure([Message("EMBEDDER.finite", text)])
        self.vectors = vector
        self.embedding_model = embedder.model_id
        return InvokeResult()

    def populate_rag_payload(self, payload: RagVectorPayload) -> None:
        """Fills in the metadata of the section; call it after the SemanticId is set (A33)."""
        text, content = self.section_normalized_text, normalized_content(self.source_text)
        payload.part_index = self.part_index
        payload.part_total = self.part_total
        payload.symbol = self.symbol
        payload.symbol_type = self.symbol_type
        payload.kind = self.kind
        payload.artifact = plain_symbol(self.symbol)
        payload.primary_entity = self.primary_entity
        payload.finder_snippet = text
        payload.graph_node_keys = self.graph_node_keys
        payload.html_anchor = self.html_anchor
        payload.source_title = self.source_title
        payload.pdf_pages = self.pages
        payload.media_start = None if self.media_start is None else int(self.media_start)
        payload.media_end = None if self.media_end is None else math.ceil(self.media_end)
        payload.speakers = self.speakers
        payload.members = tuple(member.encoded for member in self.members)
        payload.declared_names = declared_names(self.symbol, self.names, in_file=self.symbol_type not in WHOLE_FILES)
        payload.line_start = payload.start_line = self.span.line_start  # one value for both pairs (R7)
        payload.line_end = payload.end_line = self.span.line_end
        payload.char_start = self.span.char_start
        payload.char_end = self.span.char_end
        payload.source_sha256 = content_hash(self.source_text)
        payload.content_hash = content_hash(content)
        payload.content_len_chars = len(content)
        payload.chunk_size_tokens = self.snippet_tokens
        payload.overlap_tokens = self.overlap_tokens

    def slice_uri(self, document_uri: str) -> str:
        return slice_uri(document_uri, self.symbol, self.section_key, self.part_index)

    def description_uri(self, document_uri: str) -> str:
        return description_uri(document_uri, self.symbol, self.section_key, self.part_index)
