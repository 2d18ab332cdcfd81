"""An open index: search it, look points up, read what is behind them."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rag_assets.config_file import resolve_home
from rag_assets.contracts.identity import point_id
from rag_assets.contracts.kinds import SubtypeKind, known_kind
from rag_assets.contracts.payload import with_generation
from rag_assets.query.fusion import Ranked
from rag_assets.query.parts import IndexParts
from rag_assets.query.results import Hit, Mode, QueryError, SearchResult, TermEvidence
from rag_assets.query.retrieval import Clock, retrieve
from rag_assets.stores.filters import SearchFilter
from rag_assets.stores.generations import Generation, GenerationError, active_generation
from rag_assets.stores.home import Home

if TYPE_CHECKING:
    from rag_assets.contracts.section import Embedder

_ID_PREFIX = re.compile(r"[0-9a-f-]{4,36}")  # fewer digits are ambiguous in any real index
_SHOWN = 5


def open_index(label: str, *, home: str | Path | None = None, config: Path | None = None) -> Index:
    """The active generation of a label, open for reading.

    Without `home` it is found as every command finds it. `config` is the configuration file that says where model and
    vector servers are; without it, it is found too. Raises GenerationError where the label has no usable index,
    naming the labels there are and the command that makes one.
    """
    found = Home(resolve_home(home, config=config))
    try:
        generation = active_generation(found, label)
    except ValueError as error:  # not a label at all
        raise GenerationError(str(error)) from error
    return Index(found, generation, config)


class Index:
    """One generation of one label. Safe to use from several threads; close it, or use it in a `with`.

    It goes on reading its own generation when another one becomes active.
    """

    def __init__(
        self, home: Home, generation: Generation, config: Path | None = None, *, embedder: Embedder | None = None
    ) -> None:
        """`config` as in `open_index`; with an `embedder`, which must be the one that made the vectors, it is not
        needed. Raises GenerationError where the generation lacks a part."""
        self.generation = generation
        self.manifest = generation.manifest
        self.label = generation.manifest.index_label
        self._parts = IndexParts(home, generation, config, embedder=embedder)

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        mode: Mode | str = Mode.HYBRID,
        path: str | Sequence[str] | None = None,
        kinds: Sequence[str] = (),
        languages: Sequence[str] = (),
        explain: bool = False,
    ) -> SearchResult:
        """The best `limit` sections for a question or for identifiers, within the tenant and project of the index.

        `path` is a path, folder or glob, or several; `kinds` are names of kinds in any case; `languages` are
        values of CodeLanguage. All are applied before the top k (R17). Where semantic search is impossible the
        keyword index answers alone, and `warnings` says so. Raises QueryError, VectorStoreError or
        KeywordIndexError.
        """
        clock = Clock()
        requested = _mode(mode)
        if not query.strip():
            raise QueryError("the query is empty; ask a question or name an identifier")
        if limit < 1:
            raise QueryError(f"limit must be at least 1, got {limit}")
        scope = self._scope(
            paths=(path,) if isinstance(path, str) else tuple(path or ()),
            kinds=tuple(self._kind(kind) for kind in kinds),
            languages=tuple(language.lower() for language in languages),
        )
        found = retrieve(self._parts, query, requested, scope, limit, clock)
        with clock.step("fetch"):
            payloads = self._payloads([ranked.id for ranked in found.ranked], scope)
        return SearchResult(
            query=query,
            hits=tuple(self._hit(ranked, payloads[ranked.id]) for ranked in found.ranked if ranked.id in payloads),
            mode=found.mode,
            requested_mode=requested,
            label=self.label,
            generation_id=self.manifest.generation_id,
            commit_sha=self.manifest.commit_sha,
            run_id=self.manifest.run_id,
            warnings=(*found.warnings, *self._why_missing(found.ranked, payloads, scope)),
            timings=clock.seconds(),
            terms=self._evidence(query) if explain else (),
            candidates=found.candidates if explain else {},
        )

    def get(self, identifier: str) -> dict[str, Any]:
        """The payload of a point, by its id, by a unique beginning of it, or by its SemanticId.

        Raises QueryError where there is none, or, naming the candidates, where the beginning is ambiguous.
        """
        shard, scope = self._parts.shard(), self._scope()
        wanted = identifier.strip().lower()
        if ":" in wanted:
            found = self._payloads([self._point_id(wanted)], scope)
        elif _is_uuid(wanted):
            found = self._payloads([wanted], scope)
        elif _ID_PREFIX.fullmatch(wanted):
            ids = sorted(known for known in shard.ids(scope) if known.startswith(wanted))
            if len(ids) > 1:
                shown = ", ".join(ids[:_SHOWN])
                raise QueryError(f"{identifier!r} is the beginning of {len(ids)} points: {shown}; give more digits")
            found = self._payloads(ids, scope)
        else:
            raise QueryError(f"not a point id (4 hex digits or more) or semantic id: {identifier!r}")
        for payload in found.values():
            return payload
        raise QueryError(f"no point {identifier!r} in {self.label} (generation {self.manifest.generation_id})")

    def _payloads(self, ids: Sequence[str], scope: SearchFilter) -> dict[str, dict[str, Any]]:
        """The payloads of points, whole: what all points of a generation share is kept with the generation."""
        commit, date = self.manifest.commit_sha, self.manifest.commit_date
        found = self._parts.shard().retrieve(ids, scope)
        return {key: with_generation(payload, commit, date) for key, payload in found.items()}

    def _point_id(self, semantic_id: str) -> str:
        known = self.manifest
        return point_id(known.org_id, known.project_id, known.repository_id, self.label, semantic_id)

    def source_slice(self, hit: Hit | str) -> str:
        """The source text behind a hit, or behind a slice URI. Raises ArtifactError."""
        return self.resolve(hit if isinstance(hit, str) else hit.slice_uri)

    def description(self, hit: Hit | str) -> str:
        """The description (markdown) behind a hit, or behind a description URI. Raises ArtifactError."""
        return self.resolve(hit if isinstance(hit, str) else hit.description_uri)

    def resolve(self, uri: str) -> str:
        """The text of any artifact URI of this generation. Raises ArtifactError."""
        return self._parts.artifacts().resolve(uri)

    def close(self) -> None:
        self._parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _scope(
        self, *, paths: tuple[str, ...] = (), kinds: tuple[str, ...] = (), languages: tuple[str, ...] = ()
    ) -> SearchFilter:
        return SearchFilter(
            org_id=self.manifest.org_id,
            project_id=self.manifest.project_id,
            label=self.label,
            paths=paths,
            kinds=kinds,
            languages=languages,
        )

    def _hit(self, ranked: Ranked, payload: Mapping[str, Any]) -> Hit:
        return Hit(
            path=payload.get("Path", ""),
            start_line=payload.get("StartLine", 0),
            end_line=payload.get("EndLine", 0),
            symbol=payload.get("Symbol", ""),
            kind=payload.get("Kind", ""),
            score=ranked.score,
            point_id=ranked.id,
            text=payload.get("FinderSnippet", ""),
            title=payload.get("Title", ""),
            section_key=payload.get("SectionKey", ""),
            part_index=payload.get("PartIndex", 1),
            part_total=payload.get("PartTotal", 1),
            semantic_id=payload.get("SemanticId", ""),
            code_language=payload.get("CodeLanguage", ""),
            commit_sha=payload.get("CommitSha", ""),
            document_uri=payload.get("FullDocumentBlobUri", ""),
            slice_uri=payload.get("SourceSliceBlobUri", ""),
            description_uri=payload.get("DescriptionBlobUri", ""),
            scores=ranked.scores,
            label=self.label,
            generation_id=self.manifest.generation_id,
            run_id=self.manifest.run_id,
        )

    def _evidence(self, query: str) -> tuple[TermEvidence, ...]:
        from rag_assets.stores.keyword.terms import query_terms

        find = self._parts.vocabulary().find
        found = [(term, find(term), weight) for term, weight in query_terms(query).items()]
        return tuple(TermEvidence(term, entry.sections if entry else 0, weight) for term, entry, weight in found)

    def _kind(self, name: str) -> str:
        """The spelling of a kind typed in any case: a built-in one, or one of a rule pack that the index has."""
        built_in = {kind.lower() for kind in SubtypeKind}
        present = () if name.lower() in built_in else self._parts.shard().values("Kind", self._scope())
        try:
            return str(known_kind(name, present))
        except ValueError as error:
            raise QueryError(str(error)) from error

    def _why_missing(
        self, ranked: Sequence[Ranked], payloads: Mapping[str, Mapping[str, Any]], scope: SearchFilter
    ) -> list[str]:
        """Why there are fewer hits than sections were found, or none at all."""
        if not ranked:
            return self._why_nothing(scope)
        lost = sum(candidate.id not in payloads for candidate in ranked)
        if not lost:
            return []
        left_out = f"{lost} of {len(ranked)} hits left out"
        return [f"{left_out}: the vector store has another text of them; run: rag-assets index --force"]

    def _why_nothing(self, scope: SearchFilter) -> list[str]:
        """Which condition has no section at all, and what there is instead."""
        shard, everything = self._parts.shard(), self._scope()
        reasons = []
        for name, key, wanted in (("kind", "Kind", scope.kinds), ("language", "CodeLanguage", scope.languages)):
            present = shard.values(key, everything) if wanted else {}
            if wanted and not present.keys() & set(wanted):
                reasons.append(
                    f"no section has {name} {' or '.join(wanted)}; there are: {', '.join(present) or 'none'}"
                )
        if scope.paths and not shard.count(self._scope(paths=scope.paths)):
            reasons.append(f"no indexed file matches {' or '.join(scope.paths)}")
        return reasons


def _mode(mode: Mode | str) -> Mode:
    try:
        return Mode(mode)
    except ValueError:
        raise QueryError(f"unknown mode {mode!r}; valid: {', '.join(Mode)}") from None


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False
