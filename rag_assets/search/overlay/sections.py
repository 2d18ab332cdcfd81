"""From the changed files of a work tree to sections as an index would have them, but without vectors.

A file goes through the same functions as in a build: found, decoded, redacted, segmented, classified, described and cut
with the configuration that the index was built with. Nothing is written.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from rag_assets.contracts.description import SummaryFacts
from rag_assets.contracts.embedder import EmbeddingWindow
from rag_assets.contracts.identity import content_hash
from rag_assets.contracts.segment import ParseHealth, Segment, SegmentedFile
from rag_assets.contracts.source_file import GitRepoInfo, IndexFileContext
from rag_assets.descriptions.processor import (
    LabelSymbolTable,
    SourceFileProcessor,
    file_context,
    final_symbols,
)
from rag_assets.errors import RagAssetsError
from rag_assets.index.keyword.bm25f import keyword_fields
from rag_assets.index.vectors.filters import PathClearance
from rag_assets.models.lexical_only import LexicalOnly
from rag_assets.search import WORK_TREE
from rag_assets.search.overlay.survey import FileShare, share_of
from rag_assets.segmentation import segment_file
from rag_assets.settings import RepositorySettings
from rag_assets.sources.secrets import masked
from rag_assets.sources.snapshot import utc_iso

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class OverlayFile:
    """A file of the work tree as a reader may see it. `modified` is in seconds since 1970."""

    path: str
    text: str
    text_sha256: str
    language: str
    masked_secrets: int
    modified: float
    segments: tuple[Segment, ...]

    @property
    def share(self) -> FileShare:
        """What it adds to the survey of its label."""
        return share_of(self.path, self.text_sha256, self.language, self.segments, lambda: self.text)


def overlay_file(path: str, text: str, language: str, masked_secrets: int, modified: float) -> OverlayFile:
    """A text with its segments."""
    segments = segment_file(text, path, language).segments
    return OverlayFile(path, text, content_hash(text), language, masked_secrets, modified, segments)


@dataclass(frozen=True, slots=True)
class OverlaySection:
    """A section with the id and the payload that its point would have, and its keyword fields."""

    id: str
    payload: dict[str, Any]
    fields: Mapping[str, str]


@dataclass(frozen=True)
class SectionMaker:
    """How the files of a label become sections. `git` is what the generation is of, `surveys` gives what may be told of
    the label in the description of a file."""

    label: str
    repository: RepositorySettings
    git: GitRepoInfo
    levels: PathClearance
    window: EmbeddingWindow
    surveys: Callable[[str], LabelSymbolTable]

    def sections_of(self, files: Iterable[OverlayFile]) -> Iterator[OverlaySection]:
        """The sections of all files. A symbol that cannot be described has none, as in a build."""
        processors: dict[int, SourceFileProcessor] = {}
        for file in files:
            survey = self.surveys(file.path)
            if id(survey) not in processors:
                processors[id(survey)] = survey.processor(self.repository)
            git = replace(self.git, commit_sha="", commit_date=utc_iso(file.modified), is_dated=True)
            context = file_context(
                self.repository, self.label, git, file.path, file.text, file.text_sha256, file.language
            )
            try:
                yield from list(self._sections_of(file, context, processors[id(survey)], survey))
            except RagAssetsError:
                raise
            except Exception as error:  # one file must not hold an answer back; a build would leave it out too
                _log.warning("%s is left out of the work tree: %s", file.path, masked(repr(error)))

    def _sections_of(
        self, file: OverlayFile, context: IndexFileContext, processor: SourceFileProcessor, survey: LabelSymbolTable
    ) -> Iterator[OverlaySection]:
        described = processor.describe_file(context, SegmentedFile(file.segments, ParseHealth.OK))
        named = final_symbols(file.segments, file.path, survey.census)
        symbols = dict(zip([segment.ordinal for segment in file.segments], named, strict=True))
        for outcome in described.outcomes:
            if outcome.description is not None:
                outcome.description.symbol = symbols[outcome.segment.ordinal]
                yield from self._sections(outcome.description, file)

    def _sections(self, description: SummaryFacts, file: OverlayFile) -> Iterator[OverlaySection]:
        description.confidentiality = self.levels.of(file.path).value
        sections = description.use_window(self.window).build_summary_sections()
        for section in sections:
            section.source_text = section.span.slice(file.text)
        description.use_sections(sections).require_domain(self.repository.require_business_domain)
        description.create_embeddings(LexicalOnly())  # a point must have a vector; nobody ranks by this one
        for section, result in zip(sections, description.build_rag_points(), strict=True):
            if result.value is not None:
                payload = msgspec.json.decode(msgspec.json.encode(result.value.payload.to_dictionary()))
                snippet, body = section.section_normalized_text, section.source_text
                fields = keyword_fields(section.names, file.path, snippet, body)
                yield OverlaySection(result.value.point_id, {**payload, WORK_TREE: True}, fields)


def visible_shares(
    shares: Mapping[str, FileShare], changed: Mapping[str, FileShare], gone: Iterable[str], sees: Callable[[str], bool]
) -> dict[str, FileShare]:
    """What the files of a label add now, of those that some readers may see."""
    now = {**shares, **changed}
    for path in gone:
        now.pop(path, None)
    return {path: share for path, share in now.items() if sees(path)}


def first_per_id(sections: Iterable[OverlaySection]) -> Sequence[OverlaySection]:
    """As a store has them: one point has one id."""
    return list({section.id: section for section in sections}.values())
