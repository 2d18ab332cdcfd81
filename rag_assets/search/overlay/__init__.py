"""The dirty work tree over an immutable index: what differs from the indexed commit is found as it is now.

`LabelIndex.with_work_tree` lays a checkout over an index: the sections of changed files are masked, their new
ones are made in memory with words only, and everything else is read from the generation. docs/decisions has the why.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.contracts.embedder import EmbeddingWindow
from rag_assets.contracts.source_file import GitRepoInfo, SkippedFile, SkipReason
from rag_assets.errors import RagAssetsError, WorkTreeError
from rag_assets.index.freshness import ChangedFiles
from rag_assets.index.layout import read_record
from rag_assets.languages.detection import detect_language
from rag_assets.models import embedding_window, model_id
from rag_assets.models.lexical_only import MODEL_ID as LEXICAL_ONLY
from rag_assets.models.lexical_only import lexical_window
from rag_assets.models.static_code.embedder import MODEL_ID as STATIC_CODE
from rag_assets.models.static_code.embedder import static_window
from rag_assets.models.static_code.table import OWN_PREFIX
from rag_assets.search.overlay.points import OverlaidResources, OverlayPoints
from rag_assets.search.overlay.sections import (
    OverlayFile,
    SectionMaker,
    first_per_id,
    overlay_file,
    visible_shares,
)
from rag_assets.search.overlay.survey import IndexedShares, is_surveyed, symbol_table
from rag_assets.search.retrieve import OpenLabel
from rag_assets.serialization import from_plain
from rag_assets.settings import RepositorySettings, Settings, load_settings
from rag_assets.settings.config_file import config_of
from rag_assets.sources.discovery import DiscoveredText
from rag_assets.sources.file_version import files_of_work_tree, rules_of_work_tree
from rag_assets.sources.ignore import IGNORE_FILE, IgnorePolicy, ignore_policy
from rag_assets.sources.secrets import masked
from rag_assets.sources.urls import safe_path

MOST_FILES = 300
"""Of a work tree that are laid over an index: some seconds. Where more differ, another commit is checked out, and to
index it is worth it."""

_LARGEST_DOCUMENT = 2 << 20
"""Bytes of a PDF or a Word document that are read for a search."""

Fingerprint = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Overlay:
    """What a work tree lays over an index. `files` are as they are now, by path; `skipped` would not be in an index;
    `gone` are deleted. `masked` are the paths of all of them, `removed` those that the index has and the work tree has
    not, or not as a text that can be indexed."""

    root: Path
    files: Mapping[str, OverlayFile] = field(repr=False)
    skipped: Mapping[str, SkippedFile]
    gone: frozenset[str]
    removed: frozenset[str]

    @property
    def masked(self) -> frozenset[str]:
        return self.gone.union(self.files, self.skipped)

    def has_text(self, text_sha256: str) -> bool:
        return any(file.text_sha256 == text_sha256 for file in self.files.values())

    @property
    def count(self) -> int:
        """How many files differ for whoever searches."""
        return len(self.files) + len(self.removed)

    @property
    def counted(self) -> str:
        """`1 file`, `3 files`."""
        return f"{self.count} file{'s' * (self.count != 1)}"


@dataclass(frozen=True, slots=True)
class LaidOver:
    """A work tree over an index: what is searched, what the next look at the same work tree need not make again, and
    how the work tree was when it was `seen`."""

    overlay: Overlay
    parts: OverlaidResources
    shares: IndexedShares
    seen: Fingerprint


def fingerprint_of(changed: ChangedFiles) -> Fingerprint:
    """Equal for equal work trees, as far as names, sizes, times and inodes tell; costs a look at each changed file."""
    made = []
    for path in sorted(changed.paths):
        try:
            about = (changed.root / path).lstat()
            made.append((path, about.st_mtime_ns, about.st_size, about.st_ino))
        except OSError:
            made.append((path, 0, 0, 0))
    return tuple(made)


def laid_over(
    index: OpenLabel, changed: ChangedFiles, prefix: str, seen: Fingerprint, before: LaidOver | None
) -> LaidOver:
    """The changed files of a work tree over an index; what `before` knows is not made again. Raises WorkTreeError
    where there are too many of them, or the configuration lacks what the index was built with."""
    if len(changed.paths) > MOST_FILES:
        raise WorkTreeError(
            f"{len(changed.paths):,} files of {changed.root} differ from the indexed commit "
            f"{index.manifest.commit_sha[:10]}, and {MOST_FILES} at most are laid over an index; "
            f"run: rag-assets index {index.label}"
        )
    spec = _spec_of(index)
    repository = RepositorySettings(**spec["repository"])
    home, config = index.parts.configuration
    settings = load_settings(config_of(home.root, config))
    found = _read(index, changed, prefix, settings, repository, before)
    texts = {file.text_sha256: file.text for file in found.files.values()}
    shares = before.shares if before is not None else _shares(index)

    def text_of(text_sha256: str) -> str:
        return texts[text_sha256] if text_sha256 in texts else index.parts.document(text_sha256)

    levels = index.manifest.levels
    own = {path: file.share for path, file in found.files.items()}
    known = shares.names
    if any(is_surveyed(file.language) for file in found.files.values()):
        known = shares.whole

    @cache
    def survey(level: Confidentiality) -> Any:
        visible = visible_shares(known, own, found.gone.union(found.skipped), lambda path: levels.visible(path, level))
        return symbol_table(visible, repository, text_of, found.files)

    maker = SectionMaker(
        label=index.label,
        repository=repository,
        git=from_plain(spec["git"], GitRepoInfo),
        levels=levels,
        window=_window(index, settings),
        surveys=lambda path: survey(levels.of(path)),
    )
    points = OverlayPoints(first_per_id(maker.sections_of(found.files.values())), index.generation)
    parts = OverlaidResources(index.parts, points, texts, found.masked, index.tenant)
    return LaidOver(found, parts, shares, seen)


def _spec_of(index: OpenLabel) -> dict[str, Any]:
    """What the generation is a build of. Raises RecordDamaged, a RagAssetsError."""
    path = index.generation.directory / "build.json"
    try:
        return read_record(path, dict[str, Any])
    except OSError as error:
        raise WorkTreeError(
            f"{path} cannot be read: {error.strerror or error}; run: rag-assets index --force"
        ) from None


def _shares(index: OpenLabel) -> IndexedShares:
    return IndexedShares(index.generation.directory, index.manifest.bucket_count, index.parts.document)


def _read(
    index: OpenLabel,
    changed: ChangedFiles,
    prefix: str,
    settings: Settings,
    repository: RepositorySettings,
    before: LaidOver | None,
) -> Overlay:
    """The changed files that the reader may see."""
    policy = ignore_policy(settings, repository)
    policy = replace(policy, max_document_bytes=min(policy.max_document_bytes, _LARGEST_DOCUMENT))
    named = {safe_path(os.fsencode(path)): path in changed.gone for path in changed.paths}
    paths = {path: is_gone for (path, problem), is_gone in named.items() if not problem and index.may_read(path)}
    below = f"{prefix}/" if prefix else ""
    rules = rules_of_work_tree(changed.root, paths, policy, prefix=below)
    known = {} if before is None else before.overlay.files
    files: dict[str, OverlayFile] = {}
    skipped: dict[str, SkippedFile] = {}
    gone = {path for path, is_gone in paths.items() if is_gone}
    there = sorted(paths.keys() - gone)
    for path, found, modified in files_of_work_tree(changed.root, there, rules, policy, detect_language):
        if found is None:
            gone.add(path)
        elif isinstance(found, DiscoveredText):
            same = known.get(path)
            try:
                if same is None or same.text_sha256 != found.file.text_sha256:
                    same = overlay_file(path, found.text, found.file.language, found.file.redacted_secrets, modified)
                files[path] = replace(same, modified=modified)
            except Exception as error:  # of a parser, perhaps of another package
                skipped[path] = SkippedFile(path, SkipReason.CRASHED, masked(repr(error)))
        else:
            skipped[path] = found
    indexed = frozenset(index.parts.shard().values("Path", replace(index.tenant, files=frozenset(paths))))
    if any(path.rpartition("/")[2] == IGNORE_FILE for path in paths):
        newly = _newly_ignored(index, changed.root, policy, below)
        gone |= newly
        indexed |= newly
    return Overlay(changed.root, files, skipped, frozenset(gone), indexed - files.keys())


def _newly_ignored(index: OpenLabel, root: Path, policy: IgnorePolicy, prefix: str) -> set[str]:
    """Indexed files that the ignore files leave out as they are now."""
    listed = index.parts.shard().values("Path", index.tenant)
    rules = rules_of_work_tree(root, listed, policy, prefix=prefix)
    return {path for path in listed if rules.refused_path(path) is not None}


def _window(index: OpenLabel, settings: Settings) -> EmbeddingWindow:
    """The window that the sections of the index were cut for. Raises WorkTreeError where the configuration has another
    model: other sections would be found under the same names."""
    model = index.manifest.embedding_model
    if model == LEXICAL_ONLY:
        return lexical_window()
    if model == STATIC_CODE or model.startswith(OWN_PREFIX):
        return static_window(model)
    try:
        if model_id(settings.embedder) == model:
            return embedding_window(settings.embedder, index.parts.configuration[0].cache)
        cause = f"the configuration has {model_id(settings.embedder)}"
    except RagAssetsError as error:
        cause = str(error)
    raise WorkTreeError(
        f"the work tree cannot be cut as the index was, with {model}: {cause}; search with --no-overlay"
    )
