"""What descriptions of changed files must know of the rest of their label, from the tables of the generation.

What each unchanged file adds is read once for an index and kept; of a change only the changed files are looked at.
Texts say nothing of their label but the names that they declare, so their segments are not even decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.contracts.segment import Segment
from rag_assets.contracts.source_file import SkipReason
from rag_assets.descriptions.domain_catalog import DomainCollector
from rag_assets.descriptions.processor import (
    RESOURCES,
    USING_RESOURCES,
    GatheredFiles,
    LabelSymbolTable,
    SurveyedFile,
    SymbolCounter,
    is_project_file,
    put_together,
    resource_dictionary,
    surveyed_file,
)
from rag_assets.index.parquet_parts import read_part
from rag_assets.languages.csharp.facts.partial_types import may_have_parts
from rag_assets.languages.csharp.resource_usages import ResourceUse, UsageScanner
from rag_assets.languages.detection import SourceType, source_type
from rag_assets.serialization import from_json

if TYPE_CHECKING:
    from rag_assets.settings import RepositorySettings


def is_surveyed(language: str) -> bool:
    """Whether the segments of a language say something of other files, and its descriptions ask for it."""
    return language in (RESOURCES, *USING_RESOURCES) or source_type(language) is SourceType.CODE


@dataclass(frozen=True, slots=True)
class FileShare:
    """What one file adds to the survey of its label. `parts` are types that may have other parts."""

    text_sha256: str
    language: str
    symbols: tuple[tuple[str, str], ...] = ()
    surveyed: SurveyedFile | None = None
    parts: tuple[Segment, ...] = ()
    resources: tuple[Segment, ...] = ()
    generated: str = ""
    """Why a file that was left out may still hold parts of types."""


def share_of(
    path: str, text_sha256: str, language: str, segments: Sequence[Segment], text: Callable[[], str]
) -> FileShare:
    """`text` gives the file, and is asked for only where the segments do not say enough."""
    return FileShare(
        text_sha256,
        language,
        tuple((segment.kind, segment.symbol) for segment in segments),
        surveyed_file(path, segments, text) if segments and is_surveyed(language) else None,
        tuple(filter(may_have_parts, segments)),
        tuple(segments) if language == RESOURCES else (),
    )


@dataclass(frozen=True)
class IndexedShares:
    """What the files of a generation add. Never changes; read when it is first needed."""

    directory: Path
    buckets: int
    text_of: Callable[[str], str] = field(repr=False)

    @cached_property
    def whole(self) -> dict[str, FileShare]:
        """By path."""
        return self._read(is_surveyed)

    @cached_property
    def names(self) -> dict[str, FileShare]:
        """By path, what files declare alone: all that the description of a text asks for."""
        return self.__dict__.get("whole") or self._read(lambda language: False)

    def _read(self, telling: Callable[[str], bool]) -> dict[str, FileShare]:
        found: dict[str, FileShare] = {}
        for bucket in range(self.buckets):
            listed = read_part(
                self.directory, "discovered_files", bucket, ["path", "reason", "language", "text_sha256"]
            ).to_pylist()
            files = {row["path"]: row for row in listed}
            segments: dict[str, list[tuple[str, str, bytes]]] = {}
            columns = ["path", "symbol_type", "symbol", "segment"]
            for row in read_part(self.directory, "segments", bucket, columns).to_pylist():
                segments.setdefault(row["path"], []).append((row["symbol_type"], row["symbol"], row["segment"]))
            for path, file in files.items():
                found[path] = self._share(path, file, segments.get(path, []), telling)
        return found

    def _share(
        self, path: str, file: Mapping[str, str], rows: Sequence[tuple[str, str, bytes]], telling: Callable[[str], bool]
    ) -> FileShare:
        text_sha256, language = file["text_sha256"], file["language"]
        if file["reason"] == SkipReason.GENERATED and path.endswith(".cs"):
            return FileShare(text_sha256, language, generated=file["reason"])
        if not telling(language):
            return FileShare(text_sha256, language, tuple((kind, symbol) for kind, symbol, _ in rows))
        segments = [from_json(encoded, Segment) for _, _, encoded in rows]
        return share_of(path, text_sha256, language, segments, partial(self.text_of, text_sha256))


def symbol_table(
    shares: Mapping[str, FileShare],
    repository: RepositorySettings,
    text_of: Callable[[str], str],
    changed: Iterable[str],
) -> LabelSymbolTable:
    """The survey of a label whose files add `shares`. Where resource files are among the `changed`, the code is read
    for what uses their texts."""
    census, domains = SymbolCounter(), DomainCollector()
    counts: dict[tuple[str, str], int] = {}
    for share in shares.values():
        for kind, symbol in share.symbols:
            key = kind.lower(), symbol.lower()
            counts[key] = counts.get(key, 0) + 1
        if share.surveyed is not None:
            domains.merge(share.surveyed.domains)
    census.merge((kind, symbol, count) for (kind, symbol), count in counts.items())
    resources = {path: share.resources for path, share in shares.items() if share.resources}
    telling = [(path, share.surveyed) for path, share in sorted(shares.items()) if share.surveyed is not None]
    usages: list[ResourceUse] = []
    if any(path in resources for path in changed):
        scanner = UsageScanner(resource_dictionary(resources))
        for path, share in sorted(shares.items()):
            if share.language in USING_RESOURCES and share.text_sha256:
                usages += scanner.scan(path, text_of(share.text_sha256))
    gathered = GatheredFiles(
        census=census,
        domains=domains,
        declared=[known for _, surveyed in telling for known in surveyed.declared],
        claims=[claim for _, surveyed in telling for claim in surveyed.claims],
        parts=[(path, share.text_sha256, part) for path, share in sorted(shares.items()) for part in share.parts],
        resources=resources,
        usages=usages,
        generated={path: share.generated for path, share in sorted(shares.items()) if share.generated},
        project_files=[path for path in sorted(shares) if is_project_file(path)],
    )
    return put_together(gathered, repository, text_of)
