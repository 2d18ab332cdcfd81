"""A question from its text to its hits with all evidence, over one index or several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rag_assets.query.errors import QueryError
from rag_assets.query.finding import Found, find
from rag_assets.query.fusion import Ranked
from rag_assets.query.question import plain_question, understand
from rag_assets.query.results import Hit, Mode, SearchResult, Source, TermEvidence
from rag_assets.query.retrieval import Clock
from rag_assets.query.scope import Spellings, narrowed, said_filters
from rag_assets.stores.filters import UNNARROWED, Narrowing, SearchFilter

if TYPE_CHECKING:
    from rag_assets.query.parts import SearchParts
    from rag_assets.stores.generations import Manifest

_REPAIR = "run: rag-assets index --force"


def ask(
    query: str,
    parts: SearchParts,
    manifests: Mapping[str, Manifest],
    tenant: SearchFilter,
    *,
    limit: int,
    mode: Mode | str,
    options: Narrowing,
    explain: bool,
    literal: bool,
) -> SearchResult:
    """The best `limit` sections within `tenant` and `options`. `manifests` are those of the generations that `parts`
    reads, by label. A `literal` query is words only. Raises QueryError, ScopeError, VectorStoreError or
    KeywordIndexError."""
    clock = Clock()
    requested = _mode(mode)
    if limit < 1:
        raise QueryError(f"limit must be at least 1, got {limit}")
    question = plain_question(query) if literal else understand(query)
    spellings = Spellings(lambda: parts.shard().values("Kind", tenant))
    scope = narrowed(tenant, options, question, spellings)
    found = find(parts, question, requested, scope, limit, clock)
    hits = tuple(
        hit_of(ranked, found.payloads[ranked.id], manifests) for ranked in found.ranked if ranked.id in found.payloads
    )
    one = next(iter(manifests.values())) if len(manifests) == 1 else None
    return SearchResult(
        query=query,
        question=question,
        filters=said_filters(scope, question, _tenant_of(manifests)),
        sources=tuple(Source(m.index_label, m.generation_id, m.commit_sha, m.run_id) for m in manifests.values()),
        hits=hits,
        mode=found.mode,
        requested_mode=requested,
        label=one.index_label if one else "",
        generation_id=one.generation_id if one else "",
        commit_sha=one.commit_sha if one else "",
        run_id=one.run_id if one else "",
        warnings=(*found.warnings, *_why_missing(parts, found, scope, tenant)),
        timings=clock.seconds(),
        terms=_evidence(parts, question.text) if explain else (),
        candidates=found.candidates if explain else {},
    )


def hit_of(ranked: Ranked, payload: Mapping[str, Any], manifests: Mapping[str, Manifest]) -> Hit:
    """A candidate with what its payload and its generation say."""
    manifest = manifests[payload["IndexLabel"]]
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
        commit_sha=manifest.commit_sha,
        document_uri=payload.get("FullDocumentBlobUri", ""),
        slice_uri=payload.get("SourceSliceBlobUri", ""),
        description_uri=payload.get("DescriptionBlobUri", ""),
        scores=ranked.scores,
        label=manifest.index_label,
        generation_id=manifest.generation_id,
        run_id=manifest.run_id,
    )


def _tenant_of(manifests: Mapping[str, Manifest]) -> dict[str, tuple[str, ...]]:
    known = manifests.values()
    return {
        "org_id": tuple(sorted({manifest.org_id for manifest in known})),
        "project_id": tuple(sorted({manifest.project_id for manifest in known})),
        "label": tuple(sorted(manifests)),
    }


def _evidence(parts: SearchParts, text: str) -> tuple[TermEvidence, ...]:
    from rag_assets.stores.keyword.question_terms import question_terms

    entry = parts.vocabulary().find
    found = [(term, entry(term), weight) for term, weight in question_terms(text, entry).weights.items()]
    return tuple(TermEvidence(term, known.sections if known else 0, weight) for term, known, weight in found)


def _why_missing(parts: SearchParts, found: Found, scope: SearchFilter, tenant: SearchFilter) -> list[str]:
    """Why there are fewer hits than sections were found, or none at all."""
    if not found.ranked:
        return _why_nothing(parts, scope, tenant)
    lost = sum(candidate.id not in found.payloads for candidate in found.ranked)
    if not lost:
        return []
    left_out = f"{lost} of {len(found.ranked)} hits left out"
    return [f"{left_out}: the vector store has another text of them; {_REPAIR}"]


def _why_nothing(parts: SearchParts, scope: SearchFilter, tenant: SearchFilter) -> list[str]:
    """Which condition has no section at all, and what there is instead."""
    shard = parts.shard()
    reasons = []
    for narrowing in (scope, scope.within):
        for name, key, wanted in (
            ("kind", "Kind", narrowing.kinds),
            ("language", "CodeLanguage", narrowing.languages),
            ("source type", "SourceType", narrowing.source_types),
        ):
            present = shard.values(key, tenant) if wanted else {}
            if wanted and not present.keys() & set(wanted):
                there = ", ".join(present) or "none"
                reasons.append(f"no section has {name} {' or '.join(wanted)}; there are: {there}")
        if narrowing.paths and not shard.count(replace(tenant, paths=narrowing.paths)):
            reasons.append(f"no indexed file matches {' or '.join(narrowing.paths)}")
        if narrowing.symbols and not shard.count(replace(tenant, symbols=narrowing.symbols)):
            reasons.append(f"no section declares {' or '.join(narrowing.symbols)}")
    if not reasons and (scope.within, scope.excluded) != (UNNARROWED, UNNARROWED):
        reasons.append("no section fulfils all filters and has a word of the question")
    return reasons


def _mode(mode: Mode | str) -> Mode:
    try:
        return Mode(mode)
    except ValueError:
        raise QueryError(f"unknown mode {mode!r}; valid: {', '.join(Mode)}") from None
