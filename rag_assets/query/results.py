"""What a search returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rag_assets.contracts.retrieval import Mode
from rag_assets.query.question import Question

__all__ = ["Hit", "Mode", "SearchResult", "Source", "TermEvidence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One section of the index, with all that is needed to cite it. Lines are 1-based and inclusive.

    `score` is the cosine in semantic mode, and the sum of `from_meaning` and `from_words` after rescoring (D14) and
    reciprocal rank fusion (D16). Else it is the sum of what speaks for the file, as `scores` has it (`from_words`,
    `from_meaning`, `from_file_name`, `from_past`), times what counts it less (`side_code`: tests and the like;
    `next_section`: not the best one of the file). `scores` also has the raw `dense` (cosine) and `bm25` (BM25F) of the
    section, each also `…_normalised` to 0..1 within the candidates of this search; a side that did not find the section
    is absent. `keyword` is the BM25 score among the candidates that were rescored. `rerank` is what the reranking model
    said, which then makes the score (E11). `place` is 1 where the question names the line, 1/2 for the next place that
    it names, and so on. `text` is the finder snippet.
    """

    path: str
    start_line: int
    end_line: int
    symbol: str
    kind: str
    score: float
    point_id: str
    text: str
    title: str
    section_key: str
    part_index: int
    part_total: int
    semantic_id: str
    code_language: str
    commit_sha: str
    document_uri: str
    slice_uri: str
    description_uri: str
    scores: Mapping[str, float]
    label: str
    generation_id: str
    run_id: str


@dataclass(frozen=True, slots=True)
class TermEvidence:
    """A term of the question: how many sections hold it (0: none) and its weight in the question."""

    term: str
    sections: int
    weight: float


@dataclass(frozen=True, slots=True)
class Source:
    """A generation that was searched."""

    label: str
    generation_id: str
    commit_sha: str
    run_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Hits, best first, and how they were found. `mode` is the one really used; `warnings` say why it differs from
    `requested_mode`. `question` is how the query was understood, `filters` what every hit fulfils: name → alternatives,
    with a `-` before the name what no hit is. `timings` are seconds per step. `terms` and `candidates` are filled by
    `explain`. `label`, `generation_id`, `commit_sha` and `run_id` are '' where several labels were searched; `sources`
    has them one by one."""

    query: str
    question: Question
    filters: Mapping[str, tuple[str, ...]]
    sources: tuple[Source, ...]
    hits: tuple[Hit, ...]
    mode: Mode
    requested_mode: Mode
    label: str
    generation_id: str
    commit_sha: str
    run_id: str
    warnings: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    terms: tuple[TermEvidence, ...] = ()
    candidates: Mapping[str, int] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, rank: int) -> Hit:
        return self.hits[rank]
