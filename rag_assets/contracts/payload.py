"""`RagVectorPayload`: the metadata contract of every point (IDX-025, B01–B23; IDX-070 fields, C02).

Writer and reader share this one type: `to_dictionary` writes, `from_dictionary` reads. A field that the
vector store must filter on is declared with `index=`; the stores create their payload indexes from that.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, Literal

from rag_assets.contracts.identity import DEFAULT_SECTION, build_semantic_id
from rag_assets.contracts.kinds import RagContentType
from rag_assets.contracts.result import InvokeResult, Message
from rag_assets.contracts.retrieval import DEFAULT_PRIORITY

NO_DOMAIN = "PAYLOAD.business-domain-key"
"""The warning about a point without a business domain: recommended, not enforced (B15)."""

DEFAULT_EMBEDDING_MODEL = "text-embedding-3-large"  # contract default (B12); the pipeline sets the real one (R22)
PayloadIndex = Literal["keyword", "integer", "datetime"]


def _indexed(kind: PayloadIndex, default: Any = "") -> Any:
    return field(default=default, metadata={"index": kind})


@dataclass(slots=True, kw_only=True)
class RagVectorPayload:
    """All IDX-025 fields under their own names, then the documented extensions. Times are aware UTC datetimes."""

    # identity and tenant isolation (§3.1)
    org_id: str = _indexed("keyword")  # organisation: the outer boundary of every search
    project_id: str = _indexed("keyword")  # the project within it; by default the repository
    doc_id: str = ""  # repository and path
    # business domain (§3.2)
    business_domain_key: str = _indexed("keyword")  # identifier of the domain, the same in every repository
    business_domain_area: str = _indexed("keyword")  # a part of the domain
    # semantic identity (§3.3)
    semantic_id: str = ""  # the point id is made of it (R2), so nothing needs to search for it
    # classification (§3.4)
    content_type_id: RagContentType = RagContentType.UNKNOWN  # what the file is for, as a number
    content_type: str = _indexed("keyword")  # the same by name: SourceCode, Policy, Schema …
    subtype: str = ""  # kind: Manager, Controller, Model …
    subtype_flavor: str = ""  # tells descriptions of one kind apart
    # section and chunk (§3.5)
    section_key: str = ""  # which section of the description: manager-members …
    part_index: int = 0  # from 1: a long section has parts
    part_total: int = 0  # how many
    # core metadata (§3.6)
    title: str = ""  # made of type, symbol, section and part
    language: str = _indexed("keyword")  # the human one: en-US …
    priority: int = DEFAULT_PRIORITY  # weighs in the ranking
    audience: str = _indexed("keyword")  # whom the file is for
    persona: str = _indexed("keyword")  # which role there
    stage: str = _indexed("keyword")  # when the file is needed: Incident …
    label_slugs: Sequence[str] = _indexed("keyword", ())  # tags by name
    label_ids: Sequence[str] = _indexed("keyword", ())  # tags by id
    # raw source pointers (§3.7, IDX-070)
    full_document_blob_uri: str = ""  # address of the whole text
    source_slice_blob_uri: str = ""  # address of the source of the section
    description_blob_uri: str = ""  # address of the description
    blob_version_id: str = ""  # sha256 of the whole text
    source_sha256: str = ""  # of the source of the section, which is checked when it is read
    line_start: int | None = None  # first line of the section; from 1
    line_end: int | None = None  # last line
    char_start: int | None = None  # first character of the section in the file
    char_end: int | None = None  # behind the last one
    symbol: str = _indexed("keyword")  # qualified name; of a document its path
    symbol_type: str = ""  # class, interface, table …
    html_anchor: str = ""  # of a heading
    pdf_pages: Sequence[int] = ()  # pages that the section covers
    # indexing and embedding (§3.8)
    index_version: int = 0  # of this contract
    embedding_model: str = ""  # what made the vector
    content_hash: str = ""  # sha256 of the source without blanks at line ends: equal texts are equal
    chunk_size_tokens: int | None = None  # of the embedded text
    overlap_tokens: int | None = None  # that it repeats of the part before
    content_len_chars: int | None = None  # of the source of the section
    indexed_utc: datetime | None = None  # of the text: the date of CommitSha (R29)
    updated_utc: datetime | None = _indexed("datetime", None)  # the same where it is known that the file changed then
    source_system: str = _indexed("keyword")  # where the repository is: GitHub …
    source_object_id: str = ""  # id that a document gives itself
    # source code (§3.9)
    repo: str = ""  # address without credentials, or name
    repo_branch: str = ""  # the ref that was indexed
    commit_sha: str = ""  # that gave the file this text; the generation names the commit it was built of (R29)
    path: str = _indexed("keyword")  # within the repository
    start_line: int | None = None  # the same as LineStart
    end_line: int | None = None  # the same as LineEnd
    # extensions: IDX-069 names that IDX-025 lacks (R5)
    org_namespace: str = ""  # first part of semantic ids
    repo_id: str = ""  # id of the repository in the configuration
    # extensions: IDX-070 names (R6, C02)
    domain: str = ""  # title of the domain
    kind: str = _indexed("keyword")  # the same as Subtype
    artifact: str = ""  # what the description is about: a qualified name or path
    primary_entity: str = ""  # the business entity it works on
    # extensions of this project
    index_label: str = _indexed("keyword")  # repository and ref: shop@main
    finder_snippet: str = ""  # the embedded text, stored in the record itself (C10)
    graph_node_keys: Sequence[str] = ()  # hit → node; the way back is a table of the graph, not a filter
    source_type: str = _indexed("keyword")  # code, sql, document, config, transcript
    code_language: str = _indexed("keyword")  # csharp, python …; Language is the human one (R25)
    confidentiality: str = _indexed("keyword")  # `contracts.confidentiality`
    source_title: str = ""  # what a citation calls a document with pages or a recording (E19)
    media_start: int | None = None  # whole seconds of a recording that the section covers (E03)
    media_end: int | None = None  # the last of them
    speakers: Sequence[str] = ()  # who speaks in it
    declared_names: Sequence[str] = _indexed("keyword", ())  # types and members, in lower case: what `symbol:` finds
    members: Sequence[str] = ()  # the outline of the section: `contracts.outline.SectionMember`

    def validate_for_index(
        self, now: datetime | None = None, *, requires_domain: bool = False
    ) -> InvokeResult[RagVectorPayload]:
        """Normalises in place and reports (IDX-025 §4; B14–B16). With `requires_domain` a point without a business
        domain is an error (B03).

        Any error means: do not index this point. `now` replaces the clock where `indexed_utc` is missing, so
        that pure code can stay pure (R20). Without it the wall clock is used, as the contract says.
        """
        warnings = self._normalise(now)
        errors = [
            Message(f"PAYLOAD.{name.replace('_', '-')}", f"{pascal_case(name)} is missing or empty")
            for name in ("org_id", "project_id", "doc_id")
            if not getattr(self, name).strip()
        ]
        if self.content_type_id == RagContentType.UNKNOWN:
            errors.append(Message("PAYLOAD.content-type-id", "ContentTypeId is Unknown"))
        if not self.semantic_id.strip():
            if self.doc_id.strip():
                self.semantic_id = build_semantic_id(self.doc_id, self.section_key, self.part_index)
                warnings.append(Message("PAYLOAD.semantic-id", "SemanticId was empty and has been generated"))
            else:
                errors.append(Message("PAYLOAD.semantic-id", "SemanticId is missing and there is no DocId to make one"))
        if requires_domain and not self.business_domain_key.strip():
            warnings = [warning for warning in warnings if warning.code != NO_DOMAIN]
            errors.append(Message(NO_DOMAIN, "BusinessDomainKey is empty; the repository has require_business_domain"))
        if errors:
            return InvokeResult.failure(errors, warnings)
        return InvokeResult.create(self, warnings)

    def _normalise(self, now: datetime | None) -> list[Message]:
        warnings: list[Message] = []

        def replace(name: str, value: object) -> None:
            warnings.append(Message(f"PAYLOAD.{name.replace('_', '-')}", f"{pascal_case(name)} was set to {value!r}"))
            setattr(self, name, value)

        if not self.section_key.strip():
            replace("section_key", DEFAULT_SECTION)
        if self.part_index < 1:
            replace("part_index", 1)
        if self.part_total < self.part_index:
            replace("part_total", self.part_index)
        if self.index_version <= 0:
            replace("index_version", 1)
        if not self.embedding_model.strip():
            replace("embedding_model", DEFAULT_EMBEDDING_MODEL)
        if self.indexed_utc is None:
            replace("indexed_utc", now or datetime.now(UTC))
        if not self.business_domain_key.strip():
            warnings.append(
                Message(
                    NO_DOMAIN,
                    "BusinessDomainKey is empty; a domain is strongly recommended",
                )
            )
        return warnings

    def to_dictionary(self) -> dict[str, Any]:
        """PascalCase keys; None, empty strings and empty collections left out; times as ISO 8601 "o" (B17)."""
        found: dict[str, Any] = {}
        for (_, key), value in zip(_key_names(), _all_values()(self), strict=True):
            if value is None or value == "":
                continue
            if type(value) is not str and type(value) is not int:  # most fields are one of these
                value = _plain(value)
                if value is None:
                    continue
            found[key] = value
        return found

    @classmethod
    def from_dictionary(cls, payload: Mapping[str, Any]) -> RagVectorPayload:
        """The inverse of `to_dictionary`. Keys this version does not know are ignored."""
        values: dict[str, Any] = {}
        for name, key in _key_names():
            if key not in payload:
                continue
            value = payload[key]
            if name in ("indexed_utc", "updated_utc"):
                value = parse_round_trip(value)
            elif name == "content_type_id":
                value = RagContentType(value)
            values[name] = value
        return cls(**values)

    def to_qdrant_point(self, point_id: str | int, embedding: Sequence[float]) -> QdrantPoint:
        """IDX-025 §6 (B18, B22). Raises ValueError on an empty or non-Qdrant id or an empty embedding."""
        if point_id == "" or point_id is None:
            raise ValueError("to_qdrant_point needs a point id")
        if isinstance(point_id, str):
            try:
                uuid.UUID(point_id)
            except ValueError:
                raise ValueError(f"a Qdrant point id is a UUID or an unsigned integer, not {point_id!r}") from None
        elif point_id < 0:
            raise ValueError(f"a Qdrant point id is a UUID or an unsigned integer, not {point_id!r}")
        if len(embedding) == 0:
            raise ValueError(f"point {point_id} has an empty embedding")
        return QdrantPoint(point_id, embedding, self.to_dictionary())


@dataclass(frozen=True, slots=True)
class QdrantPoint:
    """The form of a point that a vector store takes: primary key, dense vector, payload (B18)."""

    id: str | int
    vector: Sequence[float]
    payload: dict[str, Any]


def payload_indexes() -> dict[str, PayloadIndex]:
    """PascalCase key → index kind, for every field the stores must index."""
    return {
        pascal_case(f.name): f.metadata["index"] for f in dataclasses.fields(RagVectorPayload) if "index" in f.metadata
    }


@cache
def pascal_case(name: str) -> str:
    """`source_sha256` → `SourceSha256`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


@lru_cache(maxsize=256)  # all points of a file carry the date of one commit
def round_trip_time(moment: datetime) -> str:
    """.NET's round-trip format "o": seven decimals and `Z` (B17)."""
    utc = moment.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond:06d}0Z"


@lru_cache(maxsize=256)
def parse_round_trip(text: str) -> datetime:
    """The inverse of `round_trip_time`; digits beyond microseconds are cut."""
    head, _, fraction = text.removesuffix("Z").partition(".")
    moment = datetime.fromisoformat(head)
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.replace(microsecond=int((fraction + "000000")[:6]))


@cache
def _key_names() -> tuple[tuple[str, str], ...]:
    return tuple((f.name, pascal_case(f.name)) for f in dataclasses.fields(RagVectorPayload))


@cache
def _all_values() -> Callable[[RagVectorPayload], tuple[Any, ...]]:
    """A getter of all fields in order: half the time of reading them one by one."""
    return attrgetter(*(name for name, _ in _key_names()))


def _plain(value: Any) -> Any:
    """The JSON form of an enum, a time or a collection; None for a collection without elements."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, datetime):
        return round_trip_time(value)
    kept = [item for item in value if item is not None]
    return kept or None
