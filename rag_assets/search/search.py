"""One search, from the text of a question to its hits with all evidence: parse, filter, retrieve and rank, read."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from rag_assets.contracts.confidentiality import levels_up_to
from rag_assets.contracts.retrieval import Mode
from rag_assets.errors import REBUILD, QueryError, WrongQuestion
from rag_assets.index.generations import Manifest
from rag_assets.index.keyword.terms import query_terms, word_terms
from rag_assets.index.keyword.vocabulary import KeywordIndexError, QueryVector, question_terms
from rag_assets.index.vectors.filters import METADATA, Period, SearchFilters, SearchScope
from rag_assets.printable import abridged
from rag_assets.search import WORK_TREE, Hit, Question, SearchResult, Source, TermEvidence
from rag_assets.search.fusion import Ranked
from rag_assets.search.members import MOST_READ, with_members
from rag_assets.search.outline import of_first_symbols, one_per_symbol, symbol_of
from rag_assets.search.query_parser import plain_question, understand
from rag_assets.search.ranking.signals import QueryType, declarations, query_type
from rag_assets.search.retrieve import Clock, SearchResources, retrieve

_SECTIONS_PER_SYMBOL = 3
"""Sections that are kept per hit where each symbol has one; of more candidates than these."""
_LEAST_KEPT = 30
"""Of these at least: the lines to read first of a hit do not depend on how many other hits are wanted."""

_MOST_LISTED = 5_000
"""Sections whose payloads are read to put them in order: half a second."""

_SLASH = re.compile("/")
_NAME = re.compile(r"\w{6,60}")
_MESSAGE = re.compile(r"\S+(?:\s+\S+){2,29}|[A-Z][A-Z\d]*(?:_[A-Z\d]+)+|\w+(?:[-.]\w+)+")
"""What code may have in quotes: three words and more, or a name in the manner of constants, headers and keys."""
_FRAGMENT = re.compile(r"\w\(|\w[])]? ?(?:[-+*/|&?]?=|[=!<>]=|=>|->) ?\S|\._\w|^(?:this|self)\.\w")
_PROSE = re.compile(r"\b[a-z]+ [a-z]+ [a-z]+\b")
_LONGEST_FRAGMENT = 200
_FILLED_IN = re.compile(r"[\d:\"'<({\[]|\.$")
_BEGINNINGS = (4, 3)
"""Words of a message before the first value in it."""
_ENDS = " .!?:,;…\"'"
_MOST_FIRST = 3
_SLIP = re.compile(r"[\W_]")
_ALMOST = 0.9  # of equal letters, for a name that somebody has written wrongly
_ALIKE = 0.8  # of equal characters, for a path that somebody has written wrongly
_SHOWN_FOLDERS = 12

_DATED = SearchFilters(since=datetime.fromtimestamp(0, UTC))
"""Whatever has a date: git has none before."""

_FILTER_NAMES = {
    "paths": "path",
    "kinds": "kind",
    "languages": "lang",
    "source_types": "source_type",
    "symbols": "symbol",
    **{name: known.name for name, known in METADATA.items()},
}
"""Field of `SearchFilters` → its name in a question and in a result."""


def search(
    query: str | Question,
    parts: SearchResources,
    manifests: Mapping[str, Manifest],
    tenant: SearchScope,
    *,
    filters: SearchFilters,
    limit: int | None,
    mode: Mode | str | None,
    explain: bool,
    literal: bool = False,
    similar: bool = False,
    by_symbol: bool = False,
    members: bool = True,
    overlaid: Mapping[str, int] = MappingProxyType({}),
) -> SearchResult:
    """One search of the generations that `parts` reads; `manifests` are theirs, by label. `tenant` is what may be seen
    of them; with `similar` as in `search.index.Searchable.similar`, else as in its `search`. `overlaid` as in
    `SearchResult`."""
    clock = Clock()
    requested = parts.policy.mode if mode is None else mode_of(mode)
    if limit is None:
        limit = parts.policy.limit
    if limit < 1:
        raise WrongQuestion(f"limit must be at least 1, got {limit}")
    kept = max(limit * _SECTIONS_PER_SYMBOL, _LEAST_KEPT) if by_symbol else limit
    parse = plain_question if literal else understand
    question = parse(query) if isinstance(query, str) else query
    if not literal and _NAME.fullmatch(question.text) and not question.phrases:  # answers read slips themselves
        question = _respelled(question, parts, tenant)

    def declared_kinds() -> Mapping[str, int]:
        return parts.shard().values("Kind", tenant)

    scope = replace(
        tenant.narrowed(filters.normalized(declared_kinds), question.wanted.normalized(declared_kinds)),
        excluded=question.excluded.normalized(declared_kinds),
    )
    if similar:
        found = _similar(parts, question, requested, scope, tenant, limit, kept, clock)
    else:
        found = _found(parts, question, requested, scope, limit, kept, clock)
    hits = tuple(
        hit_of(ranked, found.payloads[ranked.id], manifests) for ranked in found.ranked if ranked.id in found.payloads
    )
    read = frozenset(hit.point_id for hit in hits[:MOST_READ])
    if by_symbol:
        hits = tuple(of_first_symbols(hits, limit))
    if members:
        with clock.step("members"):
            hits = with_members(hits, found.payloads, question, parts, read=read, by_meaning=found.by_meaning)
    if by_symbol:
        hits = tuple(one_per_symbol(hits))
    one = next(iter(manifests.values())) if len(manifests) == 1 else None
    return SearchResult(
        query=question.typed,
        question=question,
        filters=_described(scope, question, manifests.values()),
        sources=tuple(Source(m.index_label, m.generation_id, m.commit_sha, m.run_id) for m in manifests.values()),
        hits=hits,
        mode=found.mode,
        requested_mode=requested,
        label=one.index_label if one else "",
        generation_id=one.generation_id if one else "",
        commit_sha=one.commit_sha if one else "",
        run_id=one.run_id if one else "",
        warnings=(
            *found.warnings,
            *_without_vectors(found, overlaid),
            *_undated(parts, scope),
            *_why_missing(parts, question, found, scope, tenant),
        ),
        overlaid=overlaid,
        known_words=found.known_words,
        timings=clock.seconds(),
        terms=_evidence(parts, question.text, found.terms, tenant) if explain else (),
        candidates=found.candidates if explain else {},
        similar_to=hit_of(Ranked(found.similar_to, 1.0, {}), found.payloads[found.similar_to], manifests)
        if found.similar_to in found.payloads
        else None,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """`payloads` lacks what the store has another text of. `mode` and `warnings` as in `SearchResult`. `by_meaning`:
    the embedding of the question was asked for. `known_words`: a section of the scope has a word of the question.
    `terms`: what keywords were searched with."""

    ranked: list[Ranked]
    payloads: Mapping[str, Mapping[str, Any]]
    mode: Mode
    warnings: tuple[str, ...]
    candidates: dict[str, int]
    similar_to: str = ""
    by_meaning: bool = False
    known_words: bool = True
    terms: QueryVector | None = None


def _similar(
    parts: SearchResources,
    question: Question,
    mode: Mode,
    scope: SearchScope,
    tenant: SearchScope,
    limit: int,
    kept: int,
    clock: Clock,
) -> _Found:
    """The sections nearest to the one at the place; where that has no vector, its words are searched and a warning says
    why, as the policy says (D17)."""
    from rag_assets.search.similar import nearest, section_vector  # start-up budget: few questions ask for it

    place = question.only_place
    if place is None:
        raise WrongQuestion(f"what is similar to {question.typed!r}? Write one file and line, as src/Orders.cs:42")
    with clock.step("places"):
        section = section_vector(place, parts, tenant)
    if isinstance(section, str):
        said = f"nothing similar can be found: {section}"
        if parts.policy.on_missing == "fail":
            raise QueryError(said)
        found = _found(parts, question, mode, scope, limit, kept, clock)
        return replace(found, warnings=(f"{said}; its words were searched", *found.warnings))
    with clock.step("dense"):
        ranked = nearest(section, parts, scope, kept)
    with clock.step("fetch"):
        payloads = parts.shard().retrieve([section.id, *(one.id for one in ranked)], tenant)
    return _Found(ranked, payloads, Mode.SEMANTIC, question.notes, {"dense": len(ranked)}, section.id)


def _found(
    parts: SearchResources, question: Question, mode: Mode, scope: SearchScope, limit: int, kept: int, clock: Clock
) -> _Found:
    """The best `kept` sections of the scope, of the candidates for `limit` hits. Sections that the question
    names by file and line come first. Where no section has its phrases, they are searched as words, and a
    warning says so."""
    warnings: list[str] = list(question.notes)
    if not question.text:
        return _listed(parts, mode, scope, limit, kept, warnings, clock)
    if mode is not Mode.BM25:
        parts.embedder()  # loads while phrases are looked up
    if question.phrases:
        with clock.step("phrases"):
            scope = _with_phrases(parts, question, scope, warnings)
    reranker = parts.policy.reranker
    wide = limit if reranker is None else max(limit, reranker.candidates)
    retrieved = retrieve(parts, question.text, mode, scope, wide, clock, max(wide, kept))
    ranked = retrieved.ranked
    warnings += retrieved.warnings
    if reranker is not None:
        from rag_assets.search.reranking import reranked  # start-up budget: off by default

        with clock.step("rerank"):
            texts = parts.shard().retrieve([one.id for one in ranked], scope)
            ranked, problems = reranked(question.text, ranked, texts, reranker)
        warnings += problems
        ranked = ranked[:kept]
    is_blended = retrieved.terms is not None and parts.policy.fusion == "blend"
    if is_blended and not (question.phrases or question.places):
        if _is_fragment(question.text):
            with clock.step("written"):
                ranked = _writing_first(parts, question.text.strip(), ranked, scope, kept)
        elif _MESSAGE.fullmatch(question.text.strip()):
            with clock.step("quoted"):
                ranked = _quoting_first(parts, question.text, ranked, scope, kept)
    if any(place.line for place in question.places):
        from rag_assets.search.line_references import sections_at  # start-up budget: few questions name a line

        with clock.step("places"):
            ranked = _places_first(ranked, sections_at(question.places, parts.shard(), scope), kept)
    with clock.step("fetch"):
        payloads = parts.shard().retrieve([candidate.id for candidate in ranked], scope)
    by_meaning = retrieved.mode is not Mode.BM25
    terms = retrieved.terms
    known = terms is None or (retrieved.candidates["bm25"] > 0 and bool(terms.said))
    return _Found(
        ranked,
        payloads,
        retrieved.mode,
        tuple(warnings),
        retrieved.candidates,
        by_meaning=by_meaning,
        known_words=known,
        terms=terms,
    )


def _listed(
    parts: SearchResources, mode: Mode, scope: SearchScope, limit: int, kept: int, warnings: list[str], clock: Clock
) -> _Found:
    """What fulfils the filters of a question without words, in the order of paths and lines; there is no score. Of one
    symbol no more sections than `kept` has for each hit: a type in a hundred parts leaves room for the next."""
    shard = parts.shard()
    with clock.step("list"):
        ids = sorted(shard.ids(scope))
        if len(ids) > _MOST_LISTED:
            warnings.append(f"{len(ids):,} sections fulfil the filters, {_MOST_LISTED:,} of them were put in order")
        payloads = shard.retrieve(ids[:_MOST_LISTED], scope)
        order = sorted(payloads, key=lambda known: (*_place_of(payloads[known]), known))
        if kept > limit:
            counts: Counter[tuple[str, str, str]] = Counter()
            order = [known for known in order if _counted(counts, payloads[known]) <= _SECTIONS_PER_SYMBOL]
        order = order[:kept]
    ranked = [Ranked(identifier, 0.0, {}) for identifier in order]
    return _Found(ranked, {known: payloads[known] for known in order}, mode, tuple(warnings), {})


def _counted(counts: Counter[tuple[str, str, str]], payload: Mapping[str, Any]) -> int:
    """Which section of its symbol this is, from 1."""
    label, path, _ = _place_of(payload)
    symbol = label, path, symbol_of(payload.get("Symbol", ""))
    counts[symbol] += 1
    return counts[symbol]


def _place_of(payload: Mapping[str, Any]) -> tuple[str, str, int]:
    return payload.get("IndexLabel", ""), payload.get("Path", ""), payload.get("StartLine", 0)


def _with_phrases(parts: SearchResources, question: Question, scope: SearchScope, warnings: list[str]) -> SearchScope:
    from rag_assets.search.phrases import MOST_READ, points_with  # start-up budget: few questions have a phrase

    found = points_with(question.phrases, parts, scope)
    said = " and ".join(f'"{phrase}"' for phrase in question.phrases)
    warnings += [f'"{phrase}" was looked for in the {MOST_READ:,} likeliest sections only' for phrase in found.cut]
    if not found.ids:
        warnings.append(f"no section has {said} as it is written; its words were searched instead")
        return scope
    return replace(scope, ids=found.ids)


def _quoting_first(
    parts: SearchResources, text: str, ranked: list[Ranked], scope: SearchScope, kept: int
) -> list[Ranked]:
    """First what has a text in quotes that is neither question nor task: who types a message or a key as code writes it
    looks for that. What declares a name stays before what has it as a text."""
    if query_type(text, is_name=False) in (QueryType.QUESTION, QueryType.TASK):
        return ranked
    from rag_assets.index.blobs import BlobError  # start-up budget: not of every search
    from rag_assets.search.phrases import quoting

    words = text.split() if _FILLED_IN.search(text) else []
    beginnings = [" ".join(words[:size]).strip(_ENDS) for size in _BEGINNINGS if size < len(words)]
    try:
        found = quoting(text.strip(_ENDS), parts, scope)
        while not found and beginnings:  # code has something else for the values of a message
            begun = quoting(beginnings.pop(0), parts, scope, begins=True)
            found = begun if len(begun) <= _MOST_FIRST else []
    except BlobError:  # a document has gone, which reading it says
        return ranked
    best = [one.id for one in ranked[:_MOST_FIRST]] if _NAME.fullmatch(text) else []
    if not found or declarations(text, parts.shard().places(best, scope), parts.shard().retrieve(best, scope)):
        return ranked
    order = {one.id: at for at, one in enumerate(ranked)}
    first = sorted(found, key=lambda one: (order.get(one, len(order)), one))[:_MOST_FIRST]
    return _places_first(ranked, dict.fromkeys(first), kept)


def _is_fragment(text: str) -> bool:
    """Whether a text is a piece of code: `socket._meta`, `item.Save(user`, `data.timeout = 0`."""
    return len(text) <= _LONGEST_FRAGMENT and _FRAGMENT.search(text) is not None and _PROSE.search(text) is None


def _writing_first(
    parts: SearchResources, text: str, ranked: list[Ranked], scope: SearchScope, kept: int
) -> list[Ranked]:
    """First what has a piece of code as it is written; of a call without its owner what declares the name stays."""
    from rag_assets.index.blobs import BlobError  # start-up budget: not of every search
    from rag_assets.search.phrases import writing

    if query_type(text, is_name=False) in (QueryType.QUESTION, QueryType.TASK):
        return ranked
    best = [one.id for one in ranked[:_MOST_FIRST]]
    if declarations(text.partition("(")[0], parts.shard().places(best, scope), parts.shard().retrieve(best, scope)):
        return ranked
    try:
        found = writing(text, parts, scope)
    except BlobError:  # a document has gone, which reading it says
        return ranked
    order = {one.id: at for at, one in enumerate(ranked)}
    first = sorted(found, key=lambda one: (not found[one], order.get(one, len(order)), one))[:_MOST_FIRST]
    return _places_first(ranked, dict.fromkeys(first), kept)


def _respelled(question: Question, parts: SearchResources, tenant: SearchScope) -> Question:
    """A name with a word that is nowhere as the declared name that has almost the same letters."""
    try:
        if all(map(parts.vocabulary().find, word_terms(question.text))):
            return question
    except KeywordIndexError:  # which the search says
        return question
    names = {_SLIP.sub("", name).lower(): name for name in sorted(parts.shard().values("DeclaredNames", tenant))}
    near = difflib.get_close_matches(_SLIP.sub("", question.text).lower(), names, 1, _ALMOST)
    if not near:
        return question
    meant = names[near[0]]
    note = f"no word is like one in {question.text}; {meant} was searched"
    return replace(question, text=meant, symbols=(meant,), notes=(*question.notes, note))


def _places_first(ranked: Sequence[Ranked], named: Mapping[str, object], limit: int) -> list[Ranked]:
    """The named sections in the order in which they are named, with the score of the best, then the others."""
    best = ranked[0].score if ranked else 1.0
    scores = {candidate.id: candidate.scores for candidate in ranked}
    first = [
        Ranked(identifier, best, {**scores.get(identifier, {}), "place": 1 / at})
        for at, identifier in enumerate(named, 1)
    ]
    return [*first, *(candidate for candidate in ranked if candidate.id not in named)][:limit]


def hit_of(ranked: Ranked, payload: Mapping[str, Any], manifests: Mapping[str, Manifest]) -> Hit:
    """A candidate with what its payload and its generation say."""
    manifest = manifests[payload["IndexLabel"]]
    work_tree = bool(payload.get(WORK_TREE))  # nothing is written of it that an address could lead to
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
        commit_sha="" if work_tree else manifest.commit_sha,
        file_commit_sha=payload.get("CommitSha", ""),
        file_date=payload.get("IndexedUtc", ""),
        document_uri="" if work_tree else payload.get("FullDocumentBlobUri", ""),
        slice_uri="" if work_tree else payload.get("SourceSliceBlobUri", ""),
        description_uri="" if work_tree else payload.get("DescriptionBlobUri", ""),
        work_tree=work_tree,
        scores=ranked.scores,
        label=manifest.index_label,
        generation_id=manifest.generation_id,
        run_id=manifest.run_id,
        best_lines=(payload.get("StartLine", 0), payload.get("EndLine", 0)),
    )


def _described(scope: SearchScope, question: Question, manifests: Collection[Manifest]) -> dict[str, tuple[str, ...]]:
    """What a result says of its filters: the tenant, the levels that may be seen, and every filter with its
    alternatives."""
    described = {
        "org_id": tuple(sorted({manifest.org_id for manifest in manifests})),
        "project_id": tuple(sorted({manifest.project_id for manifest in manifests})),
        "label": tuple(sorted(manifest.index_label for manifest in manifests)),
        "confidentiality": tuple(level.value for level in levels_up_to(scope.clearance)),
    }
    for sign, filters in (*(("", known) for known in scope.required), ("-", scope.excluded)):
        for field, name in _FILTER_NAMES.items():
            values = getattr(filters, field)
            if values:
                before = described.get(sign + name)
                described[sign + name] = values if before is None else (*before, "and", *values)
    for name, moment in (("since", scope.changed.since), ("before", scope.changed.before)):
        if moment is not None:
            described[name] = (moment.astimezone(UTC).isoformat().replace("+00:00", "Z"),)
    if question.phrases:
        described["phrase"] = question.phrases
    return described


def _only_period(period: Period) -> SearchFilters:
    return SearchFilters(since=period.since, before=period.before)


def _evidence(
    parts: SearchResources, text: str, searched: QueryVector | None, tenant: SearchScope
) -> tuple[TermEvidence, ...]:
    """The terms of a question with the sections of the tenant that hold them. A vocabulary is that of all sections, so
    what only others than the visible ones say is neither counted nor told as another form of a word or related to it
    (E12)."""
    try:
        terms = parts.vocabulary()
    except KeywordIndexError:  # the search said so where it needed it
        return ()
    shard, own = parts.shard(), query_terms(text)
    most = shard.count()
    found = []
    for term, weight in (question_terms(text, terms) if searched is None else searched).weights.items():
        known = terms.find(term)
        sections = len(shard.sparse([known.index], [1.0], tenant, most)) if known is not None else 0
        if sections or term in own:
            found.append(TermEvidence(term, sections, weight))
    return tuple(found)


def _why_missing(
    parts: SearchResources, question: Question, found: _Found, scope: SearchScope, tenant: SearchScope
) -> list[str]:
    """Why there are fewer hits than sections were found, or none at all."""
    if not found.ranked:
        return _why_nothing(parts, question, scope, tenant)
    lost = sum(candidate.id not in found.payloads for candidate in found.ranked)
    if not lost:
        return []
    left_out = f"{lost} of {len(found.ranked)} hits left out"
    return [f"{left_out}: the vector store has another text of them; {REBUILD}"]


def _without_vectors(found: _Found, overlaid: Mapping[str, int]) -> list[str]:
    """What the vector search cannot find of a work tree."""
    count = sum(overlaid.values())
    if not count or found.mode not in (Mode.SEMANTIC, Mode.SEMANTIC_RERANK):
        return []
    files = "1 file of the work tree has" if count == 1 else f"{count:,} files of the work tree have"
    return [f"{files} no vectors, so what is found by meaning alone is not in them; use mode hybrid or bm25"]


def _undated(parts: SearchResources, scope: SearchScope) -> list[str]:
    """What a period leaves out because nobody knows when it was changed: the past of git that was read ends before, or
    there is none."""
    if not scope.changed:
        return []
    shard, anytime = parts.shard(), scope.undated()
    lost = shard.count(anytime) - shard.count(anytime.narrowed(_DATED))
    return [f"{lost:,} sections were left out: it is not known when they were changed"] if lost else []


def _near_folders(wanted: Sequence[str], paths: Collection[str]) -> str:
    """`; did you mean src/Orders/?` for a folder or file that is written wrongly, else what the first folders are."""
    known = dict.fromkeys(path[: slash.end()] for path in paths for slash in _SLASH.finditer(path))
    near = [found for one in wanted for found in difflib.get_close_matches(one, [*known, *paths], n=1, cutoff=_ALIKE)]
    if near:
        return f"; did you mean {' or '.join(near)}?"
    return f"; there are: {abridged([one for one in known if one.count('/') == 1], _SHOWN_FOLDERS)}"


def _why_nothing(parts: SearchResources, question: Question, scope: SearchScope, tenant: SearchScope) -> list[str]:
    """Which condition has no section at all, and what there is instead."""
    shard = parts.shard()
    reasons = []
    for filters in scope.required:
        for name, key, wanted in (
            ("kind", "Kind", filters.kinds),
            ("language", "CodeLanguage", filters.languages),
            ("source type", "SourceType", filters.source_types),
        ):
            present = shard.values(key, tenant) if wanted else {}
            if wanted and not present.keys() & set(wanted):
                there = ", ".join(present) or "none"
                reasons.append(f"no section has {name} {' or '.join(wanted)}; there are: {there}")
        if filters.paths and not shard.count(tenant.narrowed(SearchFilters(paths=filters.paths))):
            near = _near_folders(filters.paths, shard.values("Path", tenant))
            reasons.append(f"no indexed file matches {' or '.join(filters.paths)}{near}")
        if filters.symbols and not shard.count(tenant.narrowed(SearchFilters(symbols=filters.symbols))):
            reasons.append(f"no section declares {' or '.join(filters.symbols)}")
        for name, known in METADATA.items():
            written = getattr(filters, name)
            if written and not shard.count(tenant.narrowed(SearchFilters(**{name: written}))):
                there = (
                    ", ".join(sorted({value for key in known.keys for value in shard.values(key, tenant)})) or "none"
                )
                reasons.append(f"no section has {known.name} {' or '.join(written)}; there are: {there}")
    if scope.changed and not shard.count(tenant.narrowed(_only_period(scope.changed))):
        reasons.append("no section is known to have been changed in that period")
    if not reasons and (tenant.required or question.wanted or question.excluded):
        reasons.append("no section fulfils all filters and has a word of the question")
    return reasons


def mode_of(mode: Mode | str) -> Mode:
    """Raises WrongQuestion."""
    try:
        return Mode(mode)
    except ValueError:
        raise WrongQuestion(f"unknown mode {mode!r}; valid: {', '.join(Mode)}") from None
