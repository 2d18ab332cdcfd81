"""Asking a generation the questions of a set, through the index that every user searches with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from time import perf_counter

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.contracts.retrieval import SearchPolicy
from rag_assets.errors import QueryError, RagAssetsError
from rag_assets.evaluation.metrics import METRICS_VERSION, depth, first_gains, mean, measure
from rag_assets.evaluation.questions import EvalQuestion, QuestionSet, is_symbol, split_target
from rag_assets.evaluation.tokens import estimated_tokens, line_reader, token_scores
from rag_assets.index.eval_records import Conditions, EvalRun, QuestionResult, RankedFile
from rag_assets.index.generations import Generation
from rag_assets.index.parquet_parts import read_all
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.search import Hit, SearchResult
from rag_assets.search.index import LabelIndex
from rag_assets.search.ranking import RANKING_VERSION

_SECTIONS_PER_FILE = 10
"""Sections asked for per ranked file. At k = 10 a search takes as many candidates as one for a page of hits, so both
rank alike; large files do not push the others out."""


class EvalError(RagAssetsError):
    """A generation that cannot be asked a question as its users would; the text says why and what to do."""


def run_questions(
    index: LabelIndex,
    questions: QuestionSet,
    k: int,
    *,
    subject: str = "",
    asked: Callable[[str], None] = lambda question_id: None,
) -> EvalRun:
    """Searches for every question that has an answer and measures the ranked distinct files (E24). `asked` is told each
    question that is done.

    Raises EvalError where a question cannot be asked, or not in the way the index is searched: numbers of a search
    that fell back to keywords, or was not reranked, must not decide anything. So it does where none has an answer.
    """
    if not questions.answerable:
        raise EvalError(f"{questions.name}: no question has an answer in {index.label}, so a search cannot be measured")
    present = visible_files(index.generation, index.clearance)
    read = line_reader(index, estimated_tokens)
    results = []
    mode = ""
    for question in questions.answerable:
        started = perf_counter()
        found = _search(index, question, k)
        mode = found.mode
        result = _result(question, found.hits, k, present, perf_counter() - started)
        if questions.has_spans:
            result = replace(result, scores=result.scores | token_scores(found, question, read))
        results.append(result)
        asked(question.id)
    return EvalRun(
        set=questions.name,
        fingerprint=questions.fingerprint,
        generation_id=index.manifest.generation_id,
        k=k,
        version=METRICS_VERSION,
        mode=mode,
        embedding_model=index.manifest.embedding_model,
        conditions=conditions_of(index.generation, index.parts.policy, index.clearance),
        metrics=mean(result.scores for result in results),
        results=tuple(results),
        subject=subject,
    )


def conditions_of(generation: Generation, policy: SearchPolicy, clearance: Confidentiality) -> Conditions:
    """How a generation is searched by a policy and up to a clearance, as its runs keep it."""
    return Conditions(
        ranking=RANKING_VERSION,
        mode=policy.mode.value,
        fusion=policy.fusion,
        dense_candidates=policy.dense_candidates,
        keyword_candidates=policy.keyword_candidates,
        alpha=policy.alpha,
        beta=policy.beta,
        reranker="" if policy.reranker is None else policy.reranker.model_id,
        clearance=(generation.manifest.levels.reached(clearance) or clearance).value,
    )


def visible_files(generation: Generation, clearance: Confidentiality) -> set[str]:
    """The paths of all files that the generation indexed and a clearance reaches for (E12)."""
    manifest = generation.manifest
    tables = read_all(generation.directory, "discovered_files", manifest.bucket_count, columns=["path", "outcome"])
    indexed = (row["path"] for table in tables for row in table.to_pylist() if row["outcome"] == "indexed")
    return {path for path in indexed if manifest.levels.visible(path, clearance)}


def ranked_files(hits: Iterable[Hit], targets: Mapping[str, tuple[str, str]]) -> list[tuple[Hit, frozenset[str]]]:
    """The distinct files of hits, in the order of their best sections: that section, and the targets that all
    sections of the file among the hits answer. `targets` are written → (kind, value)."""
    best: dict[str, Hit] = {}
    answers: dict[str, set[str]] = {}
    for hit in hits:
        best.setdefault(hit.path, hit)
        answers.setdefault(hit.path, set()).update(name for name, target in targets.items() if _is_answer(hit, *target))
    return [(hit, frozenset(answers[path])) for path, hit in best.items()]


def _search(index: LabelIndex, question: EvalQuestion, k: int) -> SearchResult:
    try:
        found = index.search(
            question.question,
            limit=depth(k) * _SECTIONS_PER_FILE,
            filters=SearchFilters(paths=question.paths, kinds=question.kinds, languages=question.languages),
            literal=True,  # a set says its conditions beside its questions
        )
    except QueryError as error:
        raise EvalError(f"question {question.id!r} cannot be asked of {index.label}: {error}") from error
    if found.mode is not found.requested_mode and not index.manifest.lexical_only:
        of_label = f"generation {index.manifest.generation_id} of {index.label}"
        raise EvalError(f"{of_label} cannot be measured: {'; '.join(found.warnings)}")
    if index.parts.policy.reranker is not None and found.hits and not any("rerank" in hit.scores for hit in found.hits):
        raise EvalError(f"question {question.id!r} of {index.label} cannot be measured: {'; '.join(found.warnings)}")
    return found


def _result(question: EvalQuestion, hits: Iterable[Hit], k: int, present: set[str], seconds: float) -> QuestionResult:
    targets = {target: split_target(target) for target in question.relevant}
    files = ranked_files(hits, targets)[: depth(k)]
    ranking = [answered for _, answered in files]
    gains = first_gains(ranking, frozenset(targets))
    paths = [value for kind, value in targets.values() if kind == "path"]  # a symbol may be absent for many reasons
    return QuestionResult(
        id=question.id,
        question=question.question,
        scores=measure(ranking, frozenset(targets), k),
        first_rank=next((rank for rank, gain in enumerate(gains, 1) if gain), 0),
        files=tuple(RankedFile(hit.path, hit.symbol, hit.point_id, round(hit.score, 6)) for hit, _ in files),
        seconds=round(seconds, 6),
        absent=tuple(path for path in paths if path not in present),
        tags=question.tags,
    )


def _is_answer(hit: Hit, kind: str, value: str) -> bool:
    if kind == "path":
        return hit.path == value
    if kind == "point":
        return hit.point_id == value.lower()
    if kind == "section":
        owner, _, key = value.rpartition("#")
        return hit.section_key == key and (hit.path == owner or is_symbol(hit.symbol, owner))
    return is_symbol(hit.symbol, value)
