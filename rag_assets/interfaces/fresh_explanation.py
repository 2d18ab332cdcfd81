"""A file that the index left out, described for this answer only: what it would be if it were indexed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from rag_assets.contracts.description import SummaryFacts
from rag_assets.contracts.errors import ExpectedError
from rag_assets.contracts.identity import content_hash
from rag_assets.contracts.section import EmbeddingWindow
from rag_assets.contracts.source_file import SkippedFile, SkipReason
from rag_assets.decoders import from_json
from rag_assets.descriptions import FileOutcome
from rag_assets.interfaces.explanation import (
    FileExplanation,
    SectionExplanation,
    SegmentExplanation,
    builder_explanation,
    section_explanation,
    segment_explanation,
)
from rag_assets.languages import detect_language
from rag_assets.models import embedding_window
from rag_assets.segmentation import segment_file
from rag_assets.settings import RepositorySettings, Settings
from rag_assets.sources.decoding import Binary, decode
from rag_assets.sources.discovery import line_count
from rag_assets.sources.secrets import redact
from rag_assets.stages.build import BuildSpec, IndexBuild
from rag_assets.stages.descriptions import file_context
from rag_assets.stages.discovered_files import open_repository
from rag_assets.stages.label_survey import walled_surveys
from rag_assets.stages.labels import repository_of
from rag_assets.stores.generations import Generation
from rag_assets.stores.home import Home

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


def describe_now(home: Home, settings: Settings, generation: Generation, skipped: FileExplanation) -> FileExplanation:
    """`skipped` with the description its file would have; its `note` says why, where that is impossible."""
    if SkipReason(skipped.reason) not in DESCRIBABLE:
        return replace(skipped, note="there is no text to describe")
    try:
        repository = repository_of(home, settings, generation.manifest.index_label)
        text, redacted = _text_of(home, settings, repository, generation.manifest.commit_sha, skipped.path)
        window = embedding_window(settings.embedder, home.cache)
    except (ExpectedError, OSError) as error:
        return replace(skipped, note=f"it cannot be described now: {error}")
    build = _build_of(home, settings, generation)
    language = detect_language(skipped.path)
    context = file_context(build, repository.location, skipped.path, text, content_hash(text), language)
    segmented = segment_file(text, skipped.path, language)
    try:
        survey = walled_surveys(build).of(skipped.path)
    except OSError as error:  # a home that may only be read, whose survey is not in the cache
        return replace(skipped, note=f"it cannot be described now: {error}")
    described = survey.processor(build).describe_file(context, segmented)
    return replace(
        skipped,
        language=language,
        lines=line_count(text),
        redacted_secrets=redacted,
        health=segmented.health.value,
        health_detail=segmented.detail,
        masked=segmented.masked,
        described_now=True,
        segments=tuple(_segments(described, window)),
    )


def _segments(described: FileOutcome, window: EmbeddingWindow) -> Iterator[SegmentExplanation]:
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


def _text_of(home: Home, settings: Settings, repository: RepositorySettings, commit: str, path: str) -> tuple[str, int]:
    """(redacted text, number of masked secrets) of a file of a commit. Raises ExpectedError."""
    with open_repository(home, settings, repository, commit) as snapshot:
        entries = [entry for entry in snapshot.entries() if entry.path == path][:1]
        for _, content in snapshot.read(entries):
            if isinstance(content, SkippedFile):
                raise ExpectedError(content.detail or content.reason.value)
            decoded = decode(content)
            if isinstance(decoded, Binary):
                raise ExpectedError(decoded.detail)
            redaction = redact(decoded.text, path)
            return redaction.text, len(redaction.findings)
    raise ExpectedError(f"{path} is not in commit {commit[:10]}")


def _build_of(home: Home, settings: Settings, generation: Generation) -> IndexBuild:
    spec = from_json((generation.directory / "build.json").read_bytes(), BuildSpec)
    return IndexBuild(home, settings, spec)
