"""A question from its text to its hits with all evidence, over one index or several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rag_assets.contracts.errors import REBUILD
from rag_assets.query.errors import WrongQuestion
from rag_assets.query.finding import Found, find
from rag_assets.query.fusion import Ranked
from rag_assets.query.question import Question, plain_question, understand
from rag_assets.query.results import Hit, Mode, SearchResult, Source, TermEvidence
from rag_assets.query.retrieval import Clock
from rag_assets.query.scope import Spellings, narrowed, said_filters
from rag_assets.stores.filters import UNNARROWED, Narrowing, SearchFilter
from rag_assets.stores.periods import ALWAYS, Period

if TYPE_CHECKING:
    from rag_assets.query.parts import SearchParts
    from rag_assets.stores.generations import Manifest

_EVER = Period(since=datetime.fromtimestamp(0, UTC))
"""All that has a date: git has none before."""


def ask(
    query: str | Question,
    parts: SearchParts,
    manifests: Mapping[str, Manifest],
    tenant: SearchFilter,
    *,
    limit: int | None,
    mode: Mode | str | None,
    options: Narrowing,
    changed: Period,
    explain: bool,
    literal: bool,
) -> SearchResult:
    """The best `limit` sections within `tenant`, `options` and `changed`; without `limit` or `mode`, as the policy
    says. `manifests` are those of the generations that `parts` reads, by label. A `literal` query is words only; one
    that was read before is taken as it is. Raises QueryError, ScopeError, VectorStoreError or KeywordIndexError."""
    clock = Clock()
    policy = parts.policy
    requested = policy.mode if mode is None else mode_of(mode)
    if limit is None:
        limit = policy.limit
    if limit < 1:
        raise WrongQuestion(f"limit must be at least 1, got {limit}")
    read = plain_question if literal else understand
    question = read(query) if isinstance(query, str) else query
    spellings = Spellings(lambda: parts.shard().values("Kind", tenant))
    scope = narrowed(tenant, options, changed, question, spellings)
    found = find(parts, question, requested, scope, limit, clock)
    hits = tuple(
        hit_of(ranked, found.payloads[ranked.id], manifests) for ranked in found.ranked if ranked.id in found.payloads
    )
    one = next(iter(manifests.values())) if len(manifests) == 1 else None
    return SearchResult(
        query=question.typed,
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
        warnings=(*found.warnings, *_undated(parts, scope), *_why_missing(parts, found, scope, tenant)),
        timings=clock.seconds(),
        terms=_evidence(parts, question.text, tenant) if explain else (),
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


def _evidence(parts: SearchParts, text: str, tenant: SearchFilter) -> tuple[TermEvidence, ...]:
    """The terms of a question with the sections of the tenant that hold them. A vocabulary is that of all sections, so
    what only others than the visible ones say is neither counted nor told as another form of a word (E12)."""
    from rag_assets.stores.keyword.question_terms import question_terms
    from rag_assets.stores.keyword.terms import query_terms
    from rag_assets.stores.keyword.vocabulary import KeywordIndexError

    try:
        terms = parts.vocabulary()
    except KeywordIndexError:  # the search said so where it needed it
        return ()
    shard, own = parts.shard(), query_terms(text)
    found = []
    for term, weight in question_terms(text, terms).weights.items():
        known = terms.find(term)
        sections = len(shard.sparse([known.index], [1.0], tenant, known.sections)) if known is not None else 0
        if sections or term in own:
            found.append(TermEvidence(term, sections, weight))
    return tuple(found)


def _why_missing(parts: SearchParts, found: Found, scope: SearchFilter, tenant: SearchFilter) -> list[str]:
    """Why there are fewer hits than sections were found, or none at all."""
    if not found.ranked:
        return _why_nothing(parts, scope, tenant)
    lost = sum(candidate.id not in found.payloads for candidate in found.ranked)
    if not lost:
        return []
    left_out = f"{lost} of {len(found.ranked)} hits left out"
    return [f"{left_out}: the vector store has another text of them; {REBUILD}"]


def _undated(parts: SearchParts, scope: SearchFilter) -> list[str]:
    """What a period leaves out because nobody knows when it was changed: the past of git that was read ends before, or
    there is none."""
    if not scope.changed:
        return []
    shard = parts.shard()
    lost = shard.count(replace(scope, changed=ALWAYS)) - shard.count(replace(scope, changed=_EVER))
    return [f"{lost:,} sections were left out: it is not known when they were changed"] if lost else []


def _why_nothing(parts: SearchParts, scope: SearchFilter, tenant: SearchFilter) -> list[str]:
    """Which condition has no section at all, and what there is instead."""
    shard = parts.shard()
    reasons = []
    for narrowing in (scope, scope.view, scope.within):
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
    if scope.changed and not shard.count(replace(tenant, changed=scope.changed)):
        reasons.append("no section is known to have been changed in that period")
    if not reasons and (scope.view, scope.within, scope.excluded) != (UNNARROWED,) * 3:
        reasons.append("no section fulfils all filters and has a word of the question")
    return reasons


def mode_of(mode: Mode | str) -> Mode:
    """Raises WrongQuestion."""
    try:
        return Mode(mode)
    except ValueError:
        raise WrongQuestion(f"unknown mode {mode!r}; valid: {', '.join(Mode)}") from None
