"""Why a file is indexed as it is: kinds with evidence, builders tried, facts, sections and points, from the tables.

A file that the index left out is described for this answer only: what it would be if it were indexed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby
from typing import Any

import msgspec

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.contracts.description import SummaryFacts
from rag_assets.contracts.embedder import EmbeddingWindow
from rag_assets.contracts.identity import content_hash
from rag_assets.contracts.kinds import Classification
from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import Segment, walk_members
from rag_assets.contracts.source_file import SkippedFile, SkipReason
from rag_assets.descriptions.processor import FileOutcome, file_context
from rag_assets.descriptions.registry import import_installed_builders
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.errors import RagAssetsError
from rag_assets.index.generations import Generation
from rag_assets.index.labels import repository_of
from rag_assets.index.layout import IndexHome
from rag_assets.index.parquet_parts import bucket_of, read_rows
from rag_assets.languages.detection import detect_language
from rag_assets.models import embedding_window
from rag_assets.pipeline.build import IndexBuild, read_report, read_spec, refused_later
from rag_assets.pipeline.discovered_files import open_repository
from rag_assets.pipeline.symbol_tables import walled_surveys
from rag_assets.pipeline.versions import BUILD_STAGES
from rag_assets.segmentation import segment_file
from rag_assets.serialization import from_json
from rag_assets.settings import RepositorySettings, Settings
from rag_assets.sources.decoding import Binary, decode
from rag_assets.sources.discovery import line_count, named_by_interpreter
from rag_assets.sources.secrets.redaction import redact

_REPORTING_STAGES = ("descriptions", "qdrant_points")
_PLUMBING = frozenset({f.name for f in fields(SummaryFacts)} - {"domain_key"}) | frozenset(
    {"members", "tiles", "excerpts", "header", "span", "text"}
)
"""Fields of descriptions that say where something is stored, not what it is; members are listed by signature."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionExplanation:
    """A section; the identifiers and addresses are '' where it is no point."""

    section_key: str
    part_index: int
    part_total: int
    symbol: str
    kind: str
    line_start: int
    line_end: int
    tokens: int | None
    snippet: str
    graph_node_keys: tuple[str, ...] = ()
    point_id: str = ""
    semantic_id: str = ""
    document_uri: str = ""
    slice_uri: str = ""
    description_uri: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuilderExplanation:
    """What one builder made of a segment. `outcome` is described, not-applicable, no-builder or failed."""

    builder: str
    outcome: str
    messages: tuple[str, ...] = ()
    description_type: str = ""
    flavor: str = ""
    facts: dict[str, Any]
    member_names: tuple[str, ...] = ()
    sections: tuple[SectionExplanation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentExplanation:
    """A segment, its kind and what decided it. `symbol` is unique in the label, `fqn` as it is declared."""

    symbol: str
    fqn: str
    declaration: str
    line_start: int
    line_end: int
    kind: str
    reason: str
    rule: str
    pack: str
    evidence: tuple[str, ...]
    builders: tuple[BuilderExplanation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileExplanation:
    """`outcome` is indexed or skipped. `described_now` tells a description that was made for this answer, of a file
    that the index has none of; `note` says why there is none."""

    path: str
    label: str
    generation: str
    commit: str
    outcome: str
    reason: str = ""
    detail: str = ""
    language: str = ""
    lines: int = 0
    redacted_secrets: int = 0
    health: str = ""
    health_detail: str = ""
    masked: tuple[str, ...] = ()
    described_now: bool = False
    note: str = ""
    segments: tuple[SegmentExplanation, ...] = ()
    problems: tuple[str, ...] = ()


def explain_file(generation: Generation, path: str, clearance: Confidentiality) -> FileExplanation | None:
    """What the generation says of a file; None where its commit has no such file, and just so where `clearance` does
    not reach for it (E12)."""
    if not generation.manifest.levels.visible(path, clearance):
        return None
    import_installed_builders()
    rows = _Rows(generation, path)
    found = next(rows.of("discovered_files"), None)
    if found is None:
        return None
    parsed = next(rows.of("parsed_files"), {})
    stage, refused = refused_later(generation.directory).get(path, ("", None))
    if stage == "segments" and refused is not None:
        found |= {"outcome": "skipped", "reason": refused.reason.value, "detail": f"{stage}: {refused.detail}"}
    manifest = generation.manifest
    return FileExplanation(
        path=path,
        label=manifest.index_label,
        generation=manifest.generation_id,
        commit=manifest.commit_sha,
        outcome=found["outcome"],
        reason=found["reason"],
        detail=found["detail"],
        language=found["language"],
        lines=found["line_count"],
        redacted_secrets=found["redacted_secrets"],
        health=parsed.get("health", ""),
        health_detail=parsed.get("detail", ""),
        masked=tuple(parsed.get("masked", ())),
        segments=tuple(_segments(rows)),
        problems=tuple(_problems(generation, path)),
    )


def paths_of(generation: Generation, clearance: Confidentiality) -> Iterator[str]:
    """Every path of the commit, indexed or not, that `clearance` reaches for."""
    levels = generation.manifest.levels
    for bucket in range(generation.manifest.bucket_count):
        for row in read_rows(generation.directory, "discovered_files", bucket, ["path"]):
            if levels.visible(row["path"], clearance):
                yield row["path"]


def places_of(generation: Generation, name: str, clearance: Confidentiality) -> list[tuple[str, str]]:
    """(path, symbol) of the segments with this simple or fully qualified name, in any case, sorted; of files that
    `clearance` reaches for."""
    wanted, levels = name.lower(), generation.manifest.levels
    rows = (
        row
        for bucket in range(generation.manifest.bucket_count)
        for row in read_rows(generation.directory, "segments", bucket, ["path", "symbol"])
    )
    found = ((row["path"], row["symbol"]) for row in rows if wanted in names_of(row["symbol"]))
    return sorted(place for place in found if levels.visible(place[0], clearance))


def names_of(symbol: str) -> tuple[str, ...]:
    """What somebody may call ``Ns.Repo`1``, in lower case: with and without arity, qualified and simple."""
    qualified = symbol.lower()
    plain = qualified.partition("~")[0].partition("`")[0]
    return qualified, plain, plain.rpartition(".")[2]


def section_explanation(section: SummarySection, payload: dict[str, Any] | None, point_id: str) -> SectionExplanation:
    """A section and the payload of its point, None where there is no point."""
    stored = payload or {}
    return SectionExplanation(
        section_key=section.section_key,
        part_index=section.part_index,
        part_total=section.part_total,
        symbol=section.symbol,
        kind=section.kind,
        line_start=section.span.line_start,
        line_end=section.span.line_end,
        tokens=section.snippet_tokens,
        snippet=section.section_normalized_text,
        graph_node_keys=section.graph_node_keys,
        point_id=point_id,
        semantic_id=stored.get("SemanticId", ""),
        document_uri=stored.get("FullDocumentBlobUri", ""),
        slice_uri=stored.get("SourceSliceBlobUri", ""),
        description_uri=stored.get("DescriptionBlobUri", ""),
    )


def builder_explanation(
    builder: str,
    outcome: str,
    messages: Sequence[str],
    description: SummaryFacts | None,
    sections: tuple[SectionExplanation, ...],
) -> BuilderExplanation:
    return BuilderExplanation(
        builder=builder,
        outcome=outcome,
        messages=tuple(messages),
        description_type=type(description).__name__ if description is not None else "",
        flavor=description.subtype_flavor if description is not None else "",
        facts=facts_of(description) if description is not None else {},
        member_names=_member_names(description),
        sections=sections,
    )


def segment_explanation(
    segment: Segment, symbol: str, kind: Classification, builders: tuple[BuilderExplanation, ...]
) -> SegmentExplanation:
    return SegmentExplanation(
        symbol=symbol,
        fqn=segment.symbol,
        declaration=segment.kind,
        line_start=segment.span.line_start,
        line_end=segment.span.line_end,
        kind=str(kind.kind),
        reason=kind.reason,
        rule=kind.rule,
        pack=kind.pack,
        evidence=kind.evidence,
        builders=builders,
    )


def facts_of(description: SummaryFacts) -> dict[str, Any]:
    """The facts of a description as plain JSON; what is empty, false or only tells a place is left out."""
    found: dict[str, Any] = msgspec.to_builtins(description)
    facts = {name: value for name, value in found.items() if name not in _PLUMBING and value}
    if isinstance(description, SymbolDescription) and description.members:
        facts["members"] = [member.signature or member.name for member in description.members]
    return facts


def _member_names(description: SummaryFacts | None) -> tuple[str, ...]:
    if not isinstance(description, SymbolDescription):
        return ()
    return tuple(dict.fromkeys(member.name for member in walk_members(description.members) if member.name))


class _Rows:
    """The rows of one file in the tables of a generation, with their numbers in the bucket as `row`."""

    def __init__(self, generation: Generation, path: str) -> None:
        self._generation = generation
        self._path = path
        self._bucket = bucket_of(path, generation.manifest.bucket_count)

    def of(self, table: str) -> Iterator[dict[str, Any]]:
        rows = read_rows(self._generation.directory, table, self._bucket)
        return (row | {"row": number} for number, row in enumerate(rows) if row["path"] == self._path)


def _segments(rows: _Rows) -> Iterator[SegmentExplanation]:
    points = {row["section_row"]: row for row in rows.of("qdrant_points")}
    sections: dict[int, list[SectionExplanation]] = {}
    for row in rows.of("summary_sections"):
        section = from_json(row["section"], SummarySection)
        point = points.get(row["row"])
        payload = msgspec.json.decode(point["payload"]) if point else None
        explained = section_explanation(section, payload, point["point_id"] if point else "")
        sections.setdefault(row["description_row"], []).append(explained)
    described: dict[int, list[dict[str, Any]]] = {}
    for row in rows.of("descriptions"):
        described.setdefault(row["ordinal"], []).append(row)
    for row in rows.of("segments"):
        segment = from_json(row["segment"], Segment)
        attempts = described.get(row["ordinal"], [])
        if not attempts:
            continue
        first = attempts[0]
        kind = Classification(first["kind"], first["reason"], tuple(first["evidence"]), first["rule"], first["pack"])
        builders = tuple(_builder(attempt, tuple(sections.get(attempt["row"], ()))) for attempt in attempts)
        yield segment_explanation(segment, first["symbol"], kind, builders)


def _builder(row: dict[str, Any], sections: tuple[SectionExplanation, ...]) -> BuilderExplanation:
    description = None
    if row["description_type"]:
        description = from_json(row["description"], SummaryFacts.type_named(row["description_type"]))
    return builder_explanation(row["builder"], row["outcome"], row["messages"], description, sections)


def _problems(generation: Generation, path: str) -> Iterator[str]:
    """What the stages reported of this file: failures of builders, points that were refused, what it is too much
    for."""
    for stage in BUILD_STAGES:
        record = read_report(generation.directory, stage)
        if record is not None:
            own = (problem for problem in record.problems if problem.startswith((f"{path} ", f"{path}:")))
            yield from own if stage in _REPORTING_STAGES else ()
            yield from (f"{stage}: {file.detail}" for file in record.refused if file.path == path)


# --- a file that the index left out -----------------------------------------------------------------------------------

DESCRIBABLE = frozenset(
    {
        SkipReason.IGNORED,
        SkipReason.VENDORED,
        SkipReason.GENERATED,
        SkipReason.MINIFIED,
        SkipReason.LOCK_FILE,
        SkipReason.LINE_TOO_LONG,
    }
)
"""Texts that were left out by choice. What cannot be read, is no text or too large is not described here either."""


def describe_now(
    home: IndexHome, settings: Settings, generation: Generation, skipped: FileExplanation
) -> FileExplanation:
    """`skipped` with the description its file would have; its `note` says why, where that is impossible."""
    if SkipReason(skipped.reason) not in DESCRIBABLE:
        return replace(skipped, note="there is no text to describe")
    try:
        repository = repository_of(home, settings, generation.manifest.index_label)
        text, redacted = _text_of(home, settings, repository, generation.manifest.commit_sha, skipped.path)
        window = embedding_window(settings.embedder, home.cache)
    except (RagAssetsError, OSError) as error:
        return replace(skipped, note=f"it cannot be described now: {error}")
    build = IndexBuild(home, settings, read_spec(generation.directory))
    language = detect_language(named_by_interpreter(skipped.path, text))
    context = file_context(
        build.repository,
        build.spec.index_label,
        build.spec.git,
        skipped.path,
        text,
        content_hash(text),
        language,
        repository.location,
    )
    segmented = segment_file(text, skipped.path, language)
    try:
        survey = walled_surveys(build).of(skipped.path)
    except OSError as error:  # a home that may only be read, whose survey is not in the cache
        return replace(skipped, note=f"it cannot be described now: {error}")
    described = survey.processor(build.repository).describe_file(context, segmented)
    return replace(
        skipped,
        language=language,
        lines=line_count(text),
        redacted_secrets=redacted,
        health=segmented.health.value,
        health_detail=segmented.detail,
        masked=segmented.masked,
        described_now=True,
        segments=tuple(_described_segments(described, window)),
    )


def _described_segments(described: FileOutcome, window: EmbeddingWindow) -> Iterator[SegmentExplanation]:
    """One per segment, with all builders that were tried; sections have no points, as nothing is stored."""
    for _, group in groupby(described.outcomes, key=lambda outcome: outcome.segment.ordinal):
        outcomes = list(group)
        builders = tuple(
            builder_explanation(
                outcome.builder,
                outcome.outcome.value,
                [str(message) for message in outcome.messages],
                outcome.description,
                tuple(_sections(outcome.description, window)),
            )
            for outcome in outcomes
        )
        first = outcomes[0]
        yield segment_explanation(first.segment, first.segment.symbol, first.classification, builders)


def _sections(description: SummaryFacts | None, window: EmbeddingWindow) -> Iterator[SectionExplanation]:
    if description is not None:
        for section in description.use_window(window).build_summary_sections():
            yield section_explanation(section, None, "")


def _text_of(
    home: IndexHome, settings: Settings, repository: RepositorySettings, commit: str, path: str
) -> tuple[str, int]:
    """(redacted text, number of masked secrets) of a file of a commit. Raises RagAssetsError."""
    with open_repository(home, settings, repository, commit) as snapshot:
        entries = [entry for entry in snapshot.entries() if entry.path == path][:1]
        for _, content in snapshot.read(entries):
            if isinstance(content, SkippedFile):
                raise RagAssetsError(content.detail or content.reason.value)
            decoded = decode(content)
            if isinstance(decoded, Binary):
                raise RagAssetsError(decoded.detail)
            redaction = redact(decoded.text, path)
            return redaction.text, len(redaction.findings)
    raise RagAssetsError(f"{path} is not in commit {commit[:10]}")
