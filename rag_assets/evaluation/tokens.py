"""What an answer costs who reads it: tokens until the first file that answers, and until the member.

A page is read from the top. What is read of a hit is what `search` prints of it, so a hit costs what its rendering has
(`search.outline`), and an answer costs all that stands above it too. A member is reached where its lines are listed;
reading it is added. Beside the renderings, in the same run: no index at all, but grep for the words of the question and
reading the files that have the most of them.

Expected tokens are `NEVER` for what is not found, so that no ranking is better for finding less.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from statistics import fmean, median

from rag_assets.contracts.identity import document_uri
from rag_assets.evaluation.metrics import FILE_RECALL, MEMBER_RECALL, TOKENS, metric_name
from rag_assets.evaluation.questions import EvalQuestion, LineSpan, QuestionSet, split_target
from rag_assets.index.artifacts import ArtifactError
from rag_assets.index.eval_records import TokenCosts
from rag_assets.index.keyword.terms import FUNCTION_WORDS
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.languages.detection import detect_language
from rag_assets.models.openai_compat.token_counting import estimate_tokens
from rag_assets.search import Hit, SearchResult
from rag_assets.search.index import LabelIndex
from rag_assets.search.outline import Detail, asked_stems, lines_under, listed_lines, one_per_symbol, plain_text

BUDGETS = (500, 1_000, 2_000, 4_000)
NEVER = 32_000
"""Tokens of an answer that is not found: a context that is full."""
UNITS = 50
"""Hits that are read at most."""
_PAGE = 5
_WIDER = 3
"""A span is reached by a member of up to that many times its lines: a whole class that it lies in is no answer."""
_LEAST = 40  # lines that are always near enough
GREP = "grep and read"
_WHOLE_FILE = (1, 0)
_EVERY_LINE = (_WHOLE_FILE,)
"""Of a file that is read: whatever stands in it is reached."""

TokenCounter = Callable[[str], int]
Reader = Callable[[str, int, int], int]
"""The tokens of lines of a file."""


def estimated_tokens(text: str) -> int:
    """Without a vocabulary: 5 to 10 % more than cl100k_base counts in code."""
    return estimate_tokens([text])[0]


def line_reader(index: LabelIndex, count: TokenCounter) -> Reader:
    """What reading lines of the files of an index costs; of a file that has gone nothing."""
    lines = lru_cache(maxsize=64)(lambda path: _document(index, path).split("\n"))
    return lambda path, start, end: count("\n".join(lines(path)[start - 1 : end]))


def _document(index: LabelIndex, path: str) -> str:
    try:
        return index.resolve(document_uri(index.label, path))
    except ArtifactError:
        return ""


def token_scores(result: SearchResult, question: EvalQuestion, read: Reader) -> dict[str, float]:
    """The shares of the files and of the lines of a question that a page of `search` reaches (`metrics.TOKENS`)."""
    found = reached(units_of(result, Detail.SNIPPET, estimated_tokens), question, read)
    files = sum(tokens <= TOKENS[FILE_RECALL] for tokens in found.files) / max(found.relevant, 1)
    member = found.member is not None and found.member <= TOKENS[MEMBER_RECALL]
    return {metric_name(FILE_RECALL, 0): files, metric_name(MEMBER_RECALL, 0): float(member)}


@dataclass(frozen=True, slots=True)
class ReadUnit:
    """Something that is read: a file, what reading it costs, and the lines of the members that it points to."""

    path: str
    tokens: int
    members: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True, slots=True)
class TokensSpent:
    """Tokens until each relevant file, in the order of reading, and until the first span; None where it is not
    reached."""

    files: tuple[int, ...]
    relevant: int
    member: int | None
    page: int


def reached(units: Iterable[ReadUnit], question: EvalQuestion, read: Reader) -> TokensSpent:
    """What reading the units in their order reaches. Files are those that the question names by path, or by its
    spans."""
    paths = {value for kind, value in map(split_target, question.relevant) if kind == "path"}
    paths |= {span.path for span in question.spans}
    spent = page = 0
    files: dict[str, int] = {}
    member = None
    for at, unit in enumerate(units):
        spent += unit.tokens
        if at < _PAGE:
            page = spent
        if unit.path in paths:
            files.setdefault(unit.path, spent)
        if member is None:
            lines = next((lines for lines in unit.members if _answers(unit.path, lines, question.spans)), None)
            member = None if lines is None else spent + read(unit.path, *lines)
    return TokensSpent(tuple(files.values()), len(paths), member, page)


def _answers(path: str, lines: tuple[int, int], spans: Sequence[LineSpan]) -> bool:
    start, end = lines
    for span in spans:
        if lines == _WHOLE_FILE and span.path == path:
            return True
        near = end - start < max(_WIDER * (span.end - span.start + 1), _LEAST)
        if span.path == path and near and start <= span.end and span.start <= end:
            return True
    return False


def costs_of(name: str, found: Sequence[TokensSpent], *, has_spans: bool) -> TokenCosts:
    """The means over questions; those of members over the same questions, where they have spans."""
    members = [one.member for one in found] if has_spans else []
    reached_at = [NEVER if tokens is None else tokens for tokens in members]
    return TokenCosts(
        name=name,
        expected=round(fmean(one.files[0] if one.files else NEVER for one in found)),
        page=round(fmean(one.page for one in found)),
        recall={str(budget): _share(found, budget) for budget in BUDGETS},
        member_median=round(median(reached_at)) if reached_at else None,
        member_recall={str(budget): round(fmean(tokens <= budget for tokens in reached_at), 6) for budget in BUDGETS}
        if reached_at
        else {},
    )


def _share(found: Sequence[TokensSpent], budget: int) -> float:
    shares = (sum(tokens <= budget for tokens in one.files) / one.relevant for one in found if one.relevant)
    return round(fmean(shares), 6)


def units_of(result: SearchResult, detail: Detail, count: TokenCounter) -> Iterator[ReadUnit]:
    """The hits of a search as `search` prints them."""
    asked = asked_stems(result.question)
    for rank, hit in enumerate(one_per_symbol(result.hits)[:UNITS], 1):
        yield ReadUnit(
            hit.path, count(plain_text(hit, rank, detail, asked)) + 1, list(_pointed(hit, rank, detail, asked))
        )


def _pointed(hit: Hit, rank: int, detail: Detail, asked: frozenset[str]) -> Iterator[tuple[int, int]]:
    lines = list(lines_under(hit, rank, detail, asked))
    if any(line.is_source for line in lines) and hit.members:
        yield hit.members[0].start_line, hit.members[0].end_line
    yield from listed_lines(lines)


_WORD = re.compile(r"[^\W\d_]{2,}")


class Grep:
    """Files that are searched without an index: those that have the most different words of a question first, then
    those that have them most often. Read one after the other, whole."""

    def __init__(self, texts: dict[str, str], count: TokenCounter) -> None:
        self._texts = {path: text.lower() for path, text in texts.items()}
        self._tokens = cache(lambda path: count(texts[path]))

    def units(self, question: str) -> Iterator[ReadUnit]:
        words = sorted({word.lower() for word in _WORD.findall(question)} - FUNCTION_WORDS)
        ranked = []
        for path, text in self._texts.items():
            found = [text.count(word) for word in words]
            if any(found):
                ranked.append((-sum(map(bool, found)), -sum(found), path))
        spent = 0
        for _, _, path in sorted(ranked):
            if spent >= NEVER:
                return
            spent += self._tokens(path)
            yield ReadUnit(path, self._tokens(path), _EVERY_LINE)


def token_costs(
    index: LabelIndex,
    questions: QuestionSet,
    count: TokenCounter,
    files: Collection[str],
) -> tuple[TokenCosts, ...]:
    """What every rendering of `search` costs for the questions of a set that have an answer, and grep beside them,
    which may read the `files`."""
    read = line_reader(index, count)
    grep = Grep(_texts(index, questions, files), count)
    ways: dict[str, list[TokensSpent]] = {}
    for question in questions.answerable:
        filters = SearchFilters(paths=question.paths, kinds=question.kinds, languages=question.languages)
        found = index.search(question.question, limit=UNITS, filters=filters, literal=True, by_symbol=True)
        for detail in (Detail.OUTLINE, Detail.SNIPPET, Detail.SOURCE):
            units = units_of(found, detail, count)
            ways.setdefault(detail.value, []).append(reached(units, question, read))
        read_whole = grep.units(question.question)
        ways.setdefault(GREP, []).append(reached(read_whole, question, lambda path, start, end: 0))
    return tuple(costs_of(name, found, has_spans=questions.has_spans) for name, found in ways.items())


def _texts(index: LabelIndex, questions: QuestionSet, files: Collection[str]) -> dict[str, str]:
    """The texts of files, of the languages that the questions are narrowed to, where they all are."""
    languages = {language for question in questions.answerable for language in question.languages}
    narrowed = all(question.languages for question in questions.answerable)
    wanted = [path for path in sorted(files) if not narrowed or detect_language(path) in languages]
    return {path: text for path in wanted if (text := _document(index, path))}
