"""The simple rankings that benchmarks/retrieval.py compares with: what a reader could write in an afternoon."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]

from rag_assets import Index
from rag_assets.contracts.identity import document_uri
from rag_assets.evaluation.runs import visible_files
from rag_assets.identifiers import split_identifiers

RRF_K = 60  # Cormack, Clarke and Büttcher 2009


def whole_file_bm25(index: Index, suffix: str) -> Callable[[str], list[str]]:
    """BM25 (rank-bm25, its defaults) over the texts of whole files; terms are lower-case words of identifiers."""
    texts = texts_of(index, suffix)
    paths = sorted(texts)
    model = BM25Okapi([_terms(texts[path]) for path in paths])

    def ranked(question: str) -> list[str]:
        scores = model.get_scores(_terms(question))
        order = sorted(range(len(paths)), key=lambda at: (-scores[at], paths[at]))
        return [paths[at] for at in order if scores[at] > 0]

    return ranked


def fused(rankings: Sequence[Sequence[str]]) -> list[str]:
    """Reciprocal rank fusion; equal scores by path."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, path in enumerate(ranking, 1):
            scores[path] = scores.get(path, 0.0) + 1.0 / (RRF_K + rank)
    return sorted(scores, key=lambda path: (-scores[path], path))


def texts_of(index: Index, suffix: str) -> dict[str, str]:
    """Path → text of the files whose paths end with `suffix`, as they are indexed."""
    paths = (path for path in visible_files(index.generation, index.clearance) if path.endswith(suffix))
    return {path: index.resolve(document_uri(index.label, path)) for path in paths}


def _terms(text: str) -> list[str]:
    spaced = "".join(char if char.isalnum() else " " for char in split_identifiers(text))
    return spaced.lower().split()
