"""The JSON of `search` and `read`, and of nodes and edges of the graph. Of hits it is small by default, because who
reads it pays for every token; with `--full` all there is."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import msgspec

from rag_assets.index.freshness import Freshness, FreshnessOf
from rag_assets.models.openai_compat.token_counting import estimate_tokens
from rag_assets.search import Hit, Question, SearchResult, Source
from rag_assets.search.outline import (
    Detail,
    Page,
    asked_stems,
    counts_by_folder,
    done_by,
    listed_members,
    named_part,
    signature_of,
    source_lines,
    within,
)

if TYPE_CHECKING:
    from rag_assets.contracts.graph import GraphEdge
    from rag_assets.graph.csr_graph import NodeLocation
    from rag_assets.search.compare_labels import ComparedSearch
    from rag_assets.search.source_lines import SourceLines


def search_object(result: SearchResult, freshness: FreshnessOf, page: Page, *, first_rank: int = 1) -> dict[str, Any]:
    """The object of `search --json`. `label` and what depends on it are null where several were searched. `stale` is
    null where the head of the ref is unknown."""
    made = _envelope(result, freshness, page)
    asked, hits, wanted = asked_stems(result.question), result.hits, page.detail or Detail.OUTLINE
    several = not result.label

    def object_of(at: int, detail: Detail) -> dict[str, Any]:
        return hit_object(at + first_rank, hits[at], detail, asked, page, label=several)

    details: list[Detail] | None = [wanted] * len(hits)
    if page.max_tokens is not None:
        room = page.max_tokens - _tokens(made)
        details = within(room, len(hits), wanted, lambda at, detail: _tokens(object_of(at, detail)))
    if details is None:
        folders = dict(counts_by_folder(hits))
        needed = _tokens(made) + sum(_tokens(object_of(at, Detail.PLACES)) for at in range(len(hits)))
        short = {"found": len(hits), "max_tokens_for_places": needed}
        whole = {**made, "hits": [], "folders": folders, **short}
        return whole if _tokens(whole) <= (page.max_tokens or 0) else {"hits": [], **short}
    return {**made, "hits": [object_of(at, detail) for at, detail in enumerate(details)]}


def _tokens(value: object) -> int:
    return estimate_tokens([json.dumps(value, ensure_ascii=False)])[0]


def _envelope(result: SearchResult, freshness: FreshnessOf, page: Page) -> dict[str, Any]:
    made: dict[str, Any] = {
        "query": result.query,
        "label": result.label or None,
        "mode": done_by(result),
        "commit": result.commit_sha or None,
        "stale": freshness[result.label].stale if result.label else None,
        "warnings": list(result.warnings),
        "known_words": result.known_words,
    }
    if page.full:
        made |= {
            "generation": result.generation_id or None,
            "run_id": result.run_id if result.label else None,
            "head": freshness[result.label].head or None if result.label else None,
            "understood": _question_object(result.question),
            "filters": {name: list(values) for name, values in result.filters.items()},
        }
    changed = any(known.changed_files for known in freshness.values()) or result.overlaid
    if page.full or not result.label or changed:
        made["sources"] = [
            _source_object(source, freshness[source.label], result.overlaid.get(source.label, 0))
            for source in result.sources
        ]
    if result.similar_to or page.full:
        asked = asked_stems(result.question)
        known = result.similar_to
        made["similar_to"] = hit_object(0, known, Detail.PLACES, asked, page, label=False) if known else None
    if page.explain:
        made["timings"] = {step: round(spent, 5) for step, spent in result.timings.items()}
        made["candidates"] = dict(result.candidates)
        made["terms"] = [asdict(term) for term in result.terms]
    return made


def compared_object(found: ComparedSearch, freshness: FreshnessOf, page: Page) -> dict[str, Any]:
    """The object of `search --compare --json`."""
    asked, detail = asked_stems(found.new.question), page.detail or Detail.OUTLINE

    def side(rank: int, hit: Hit | None) -> dict[str, Any] | None:
        return hit_object(rank, hit, detail, asked, page, label=False) if hit else None

    return {
        "query": found.old.query,
        "old": search_object(found.old, freshness, page),
        "new": search_object(found.new, freshness, page),
        "hits": [
            {"change": row.change, "old": side(row.old_rank, row.old), "new": side(row.new_rank, row.new)}
            for row in found.hits
        ],
    }


def hit_object(
    rank: int, hit: Hit, detail: Detail, asked: frozenset[str], page: Page, *, label: bool
) -> dict[str, Any]:
    """One hit; rank 0 for a section that was looked up and is none. `label` says whether it is told."""
    made: dict[str, Any] = {
        "rank": rank,
        "path": hit.path,
        "lines": list(hit.best_lines),
        "symbol": named_part(hit.symbol, 1, 1),
        "kind": hit.kind,
    }
    if label or page.full:
        made["label"] = hit.label
    if hit.work_tree or page.full:
        made["work_tree"] = hit.work_tree
    if page.full:
        lines = hit.start_line, hit.end_line
        made |= {
            "name": named_part(hit.symbol, hit.part_index, hit.part_total, lines),
            "start_line": hit.start_line,
            "end_line": hit.end_line,
            "section": hit.section_key,
            "part": [hit.part_index, hit.part_total],
            "score": round(hit.score, 6),
            "point_id": hit.point_id,
            "semantic_id": hit.semantic_id,
            "document_uri": hit.document_uri,
            "slice_uri": hit.slice_uri,
            "description_uri": hit.description_uri,
            "commit": hit.file_commit_sha,
            "date": hit.file_date,
            "text": hit.text,
        }
    if page.full or page.explain:
        made["score"] = round(hit.score, 6)
    if page.explain:
        made["scores"] = {name: round(value, 6) for name, value in hit.scores.items()}
    if detail in (Detail.SOURCE, Detail.SNIPPET):
        made["source"] = [[number, line] for number, line in source_lines(hit, detail, asked)]
    if detail is not Detail.PLACES:
        listed, left = listed_members(hit, max(rank, 1))
        made["members"] = [[one.start_line, one.end_line, signature_of(one)] for one in listed]
        if page.full:
            made["members"] = [asdict(one) for one in hit.members]
        made["more_members"] = left
    return made


def _source_object(source: Source, freshness: Freshness, overlaid: int) -> dict[str, Any]:
    return {
        "label": source.label,
        "generation": source.generation_id,
        "commit": source.commit_sha,
        "run_id": source.run_id,
        "head": freshness.head or None,
        "stale": freshness.stale,
        "changed_files": freshness.changed_files,
        "overlaid_files": overlaid,
    }


def _question_object(question: Question) -> dict[str, Any]:
    return {
        "kind": question.kind,
        "text": question.text,
        "phrases": list(question.phrases),
        "symbols": list(question.symbols),
        "places": [asdict(place) for place in question.places],
    }


def lines_object(found: SourceLines) -> dict[str, Any]:
    """The object of `read --json`."""
    return {
        "label": found.label,
        "path": found.path,
        "version": found.version,
        "commit": found.commit_sha or None,
        "language": found.language,
        "start_line": found.start_line,
        "end_line": found.end_line,
        "line_count": found.line_count,
        "shown_lines": found.shown_lines,
        "around": asdict(found.around) if found.around else None,
        "declared": [asdict(one) for one in found.declared],
        "masked_secrets": found.masked_secrets,
        "differs": found.differs,
        "notes": list(found.notes),
        "text": found.text,
    }


def place_object(place: NodeLocation) -> dict[str, Any]:
    """A place of a node in JSON."""
    return {"path": place.path, "start_line": place.line_start, "end_line": place.line_end}


def edge_object(edge: GraphEdge) -> dict[str, Any]:
    """An edge of the graph in JSON."""
    made: dict[str, Any] = msgspec.to_builtins(edge)
    return made
