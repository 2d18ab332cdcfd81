"""The query path: from a question to hits with evidence. `search.search` parses a question, `search.retrieve` finds
candidates, and `search.ranking` puts them in order.

It never imports the orchestrator or what answers questions (`rag_assets.api` does), and loads numpy, the vector engine
and the model only when a search needs them.

Here are the nouns of a search: the question as it was understood, the hits, and the result that has both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rag_assets.contracts.retrieval import Mode
from rag_assets.index.vectors.filters import NO_FILTERS, SearchFilters

WORK_TREE = "WorkTree"
"""The field of a payload whose text is in a work tree and in no commit."""


class QuestionKind(StrEnum):
    """What a question looks like."""

    PROSE = "prose"
    SYMBOL = "symbol"  # identifiers and nothing else
    PATH = "path"  # files and nothing else
    ERROR = "error"  # an error message or a stack trace


@dataclass(frozen=True, slots=True)
class CodePlace:
    """A file as somebody wrote it, with `/`, and a line; 0 where none is named."""

    path: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question as it was understood.

    `typed` is the question without pasted marks, `text` what is searched for; '' where there are only filters. All
    `phrases` must occur as they are written. Sections must fulfil all fields of `wanted` and none of `excluded`.
    `symbols` are the names and `places` the files that the text mentions. `notes` say what could have been meant
    otherwise. `asks` is the part of a long text that asks, where not all of it does, and `pasted` has the names of the
    code beside it, the most telling first.
    """

    typed: str
    text: str
    kind: QuestionKind
    phrases: tuple[str, ...] = ()
    wanted: SearchFilters = NO_FILTERS
    excluded: SearchFilters = NO_FILTERS
    symbols: tuple[str, ...] = ()
    places: tuple[CodePlace, ...] = ()
    notes: tuple[str, ...] = ()
    asks: str = ""
    pasted: tuple[str, ...] = ()

    @property
    def asking(self) -> str:
        """The words that ask, as they were typed, without filters."""
        return self.asks or (self.text if self.wanted or self.excluded else self.typed)

    @property
    def only_place(self) -> CodePlace | None:
        """The file and line, where the question has no other word and no phrase."""
        place = self.places[0] if len(self.places) == 1 and not self.phrases else None
        return place if place is not None and place.line and len(self.text.split()) == 1 else None


@dataclass(frozen=True, slots=True)
class MemberHit:
    """A member of a section, or the section itself where none says anything of the question: what an outline shows of
    it. Lines are 1-based and inclusive, those of its documentation among them. `score` is 0 to 1, and more for a member
    that the question names; it compares members, not hits."""

    name: str
    signature: str
    start_line: int
    end_line: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One section of the index, with all that is needed to cite it. Lines are 1-based and inclusive.

    `score` by mode: the mean of the cosines `outline` and `passage` times `demotion`, or the cosine alone where the
    model is slow (semantic); `dense_weighted` + `sparse_weighted` (semantic_rerank, D14, and reciprocal rank fusion,
    D16); else what speaks for the file (`dense_weighted`, `sparse_weighted`, `filename_boost`, `history_boost`,
    `breadth_boost`, added up) times what speaks against it (`demotion` for tests, samples, benchmarks and documents,
    `same_file_decay` for a section that is not the best of its file).

    `scores` has these parts, and the raw scores of the section: `dense` (cosine) and `bm25` (BM25F), each also as
    `…_normalised`, scaled to 0..1 within the candidates of this search. A search that did not find the section adds no
    score. `keyword` is the BM25 score among the candidates that semantic_rerank scored, `rerank` the score of the
    reranking model, which then decides (E11). `place` is 1 where the question names the line, 1/2 for the second line
    that it names, and so on. `text` is the finder snippet.

    `members` are those of the section that fit the question best, best first, at least one (`search.members`),
    of the `member_count` that it covers. `best_lines` are the lines to read first: those of the best member, or the
    part of it that says the most. `source` is the text of these lines as it was indexed, very long lines cut; '' where
    it was not read.

    `commit_sha` is the commit that the generation was built of, `file_commit_sha` the one that gave the file its text,
    on `file_date` (ISO 8601); both have the section on these lines. A hit of the `work_tree` has neither, and no
    addresses: its text is in no commit, and `file_date` is when the file was written.
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
    file_commit_sha: str
    file_date: str
    document_uri: str
    slice_uri: str
    description_uri: str
    scores: Mapping[str, float]
    label: str
    generation_id: str
    run_id: str
    members: tuple[MemberHit, ...] = ()
    member_count: int = 0
    best_lines: tuple[int, int] = (0, 0)
    source: str = ""
    work_tree: bool = False


@dataclass(frozen=True, slots=True)
class TermEvidence:
    """A term of the question: in how many sections it occurs (0: in none), and its weight in the question."""

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
    has them one by one. `similar_to` is the section that `similar` was asked about.
    `known_words` is False where no section that may be found has any word of the question, so that its meaning alone
    has found the hits. `overlaid` says by label how many files of a work tree lie over the index."""

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
    known_words: bool = True
    timings: Mapping[str, float] = field(default_factory=dict)
    terms: tuple[TermEvidence, ...] = ()
    candidates: Mapping[str, int] = field(default_factory=dict)
    similar_to: Hit | None = None
    overlaid: Mapping[str, int] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, rank: int) -> Hit:
        return self.hits[rank]
