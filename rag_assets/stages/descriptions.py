"""Stage `descriptions`: the kind of every segment, and the facts that its builders read from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from rag_assets.classification import Classifier
from rag_assets.contracts.artifacts import document_uri
from rag_assets.contracts.description import SummaryFacts
from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.contracts.segment import ParseHealth, Segment, SegmentedFile
from rag_assets.contracts.source_file import DocumentIdentity, IndexFileContext
from rag_assets.descriptions import Outcome, SegmentOutcome, SourceFileProcessor, SymbolCensus, default_registry
from rag_assets.descriptions.domain_catalog import ConfiguredDomainCatalog, Domain
from rag_assets.descriptions.identity import final_symbols
from rag_assets.descriptions.resource_dictionary import StaticResourceDictionary
from rag_assets.stages.build import IndexBuild, StageReport
from rag_assets.stages.labels import repository_of
from rag_assets.stages.progress import Progress
from rag_assets.stages.rows import DESCRIPTIONS
from rag_assets.stages.segments import indexed_files, read_segments
from rag_assets.stages.versions import stage_version
from rag_assets.stores.blobs import BlobStore
from rag_assets.stores.tables import digest_files, read_rows, write_part

STAGE = "descriptions"
_RESOURCE_LANGUAGE = "resx"
_SHOWN_PROBLEMS = 200


def describe_files(build: IndexBuild, progress: Progress) -> StageReport:
    """Classifies and describes every segment. A builder's failure is a row with its reason, not an exception."""
    inputs = build.inputs_of(STAGE, "segments")
    done = build.finished(STAGE, inputs)
    if done is not None:
        return done
    progress.begin(STAGE, build.required("discovered_files").counts["indexed"], "files")
    census, resources = _survey(build)
    processor = _processor(build, resources)
    outcomes: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    problems = [
        f"{found.path}: resource {found.resource_class}.{found.key} ({found.culture or 'neutral'}) has two values"
        for found in resources.collisions
    ]
    parts: list[Path] = []
    for bucket in build.buckets:
        segments = read_segments(build, bucket)
        rows: list[dict[str, Any]] = []
        for path, context in file_contexts(build, bucket).items():
            found = segments.get(path, [])
            symbols = dict(zip([s.ordinal for s in found], final_symbols(found, path, census), strict=True))
            described = processor.describe_file(context, SegmentedFile(tuple(found), ParseHealth.OK))
            for outcome in described.outcomes:
                outcomes[outcome.outcome.value] += 1
                kinds[outcome.classification.kind.value] += 1
                rows.append(_row(path, outcome, symbols[outcome.segment.ordinal]))
                if outcome.outcome is Outcome.FAILED:
                    problems += [f"{path} {outcome.segment.symbol}: {message}" for message in outcome.messages]
            progress.advance(1, path)
        columns = {name: [row[name] for row in rows] for name in DESCRIPTIONS.names}
        parts.append(write_part(build.directory, STAGE, bucket, DESCRIPTIONS, columns))
    progress.end(f"{outcomes['described']} descriptions")
    other = kinds[SubtypeKind.OTHER.value]
    report = StageReport(
        stage=STAGE,
        version=stage_version(STAGE),
        inputs=inputs,
        output=digest_files(parts, build.directory),
        counts={
            "descriptions": outcomes["described"],
            "not_applicable": outcomes["not-applicable"],
            "no_builder": outcomes["no-builder"],
            "failed": outcomes["failed"],
            "kind_other": other,
            "symbols_with_several_parts": len(census.repeated()),
        },
        tables={"kinds": [{"kind": kind, "segments": count} for kind, count in kinds.most_common()]},
        problems=problems[:_SHOWN_PROBLEMS],
    )
    return build.finish(report)


def file_contexts(build: IndexBuild, bucket: int) -> dict[str, IndexFileContext]:
    """Path → all that later code may know of a file, in path order. Texts come from the blob store (A03)."""
    blobs = BlobStore(build.home.blobs)
    repository = build.repository
    label = build.spec.index_label
    location = repository_of(build.home, build.settings, label).location
    found: dict[str, IndexFileContext] = {}
    for row in indexed_files(build, bucket):
        path = row["path"]
        identity = DocumentIdentity(
            org_id=repository.org,
            org_namespace=repository.organisation_namespace,
            project_id=repository.project_id,
            repo_id=repository.id,
            doc_id=f"{repository.id}/{path}",
        )
        found[path] = IndexFileContext(
            full_path=f"{location}/{path}",
            relative_path=path,
            contents=blobs.get(row["text_sha256"]),
            git=build.spec.git,
            identity=identity,
            index_label=label,
            blob_uri=document_uri(label, path),
            blob_id=row["blob_id"],
            source_sha256=row["text_sha256"],
            language_hint=row["language"],
        )
    return found


def _survey(build: IndexBuild) -> tuple[SymbolCensus, StaticResourceDictionary]:
    """What a description must know of the whole label: which names occur twice, and the resource texts."""
    census = SymbolCensus()
    resource_files: dict[str, list[Segment]] = {}
    for bucket in build.buckets:
        for path, segments in read_segments(build, bucket).items():
            census.add(segments)
            if segments[0].language == _RESOURCE_LANGUAGE:
                resource_files[path] = segments
    resources = StaticResourceDictionary()
    for path in sorted(resource_files):
        resources.add_file(path, resource_files[path])
    return census, resources


def _processor(build: IndexBuild, resources: StaticResourceDictionary) -> SourceFileProcessor:
    repository = build.repository
    domains = [Domain(**domain.model_dump()) for domain in repository.domains]
    classifier = Classifier(repository.rule_packs, kinds=repository.kinds)
    return SourceFileProcessor(classifier, default_registry(), ConfiguredDomainCatalog(domains), resources)


def _row(path: str, outcome: SegmentOutcome, symbol: str) -> dict[str, Any]:
    description = outcome.description
    if description is not None:
        description.symbol = symbol
    return {
        "path": path,
        "ordinal": outcome.segment.ordinal,
        "symbol": symbol,
        "kind": outcome.classification.kind.value,
        "reason": outcome.classification.reason,
        "evidence": list(outcome.classification.evidence),
        "rule": outcome.classification.rule,
        "pack": outcome.classification.pack,
        "outcome": outcome.outcome.value,
        "messages": [str(message) for message in outcome.messages],
        "builder": outcome.builder,
        "description_type": type(description).__name__ if description is not None else "",
        "description": msgspec.json.encode(description) if description is not None else b"",
    }


def read_descriptions(build: IndexBuild, bucket: int) -> Iterator[tuple[int, int, SummaryFacts]]:
    """(row, segment ordinal, description) of every described segment of a bucket, in table order."""
    rows = read_rows(build.directory, STAGE, bucket, ["ordinal", "description_type", "description"])
    for number, row in enumerate(rows):
        if row["description_type"]:
            kind = SummaryFacts.type_named(row["description_type"])
            yield number, row["ordinal"], msgspec.json.decode(row["description"], type=kind)
