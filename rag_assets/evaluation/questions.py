"""Question sets: what somebody wants to find, and where it is. Files of JSON or YAML, read strictly.

Two forms of others are translated first:

- *history*: one object a line with `id`, `query` and `relevant`; `repo` and `snapshot_rev` say of what, `type` and
  `leaky` divide the set, `commit` is the one whose subject the question is. `eval mine` writes it.
  `spans` are the lines that answer, as in our own form.
- *annotated*: an array of objects with `query`, `relevant`, `secondary` and `category`. The secondary answers count as
  much as the others, as in the numbers that are published for such sets.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, ValidationInfo, field_validator

from rag_assets.contracts.identity import plain_symbol
from rag_assets.errors import RagAssetsError
from rag_assets.settings.base import Name, Strict
from rag_assets.settings.validation_messages import kind_of
from rag_assets.settings.yaml_loader import (
    LIST_SUFFIXES,
    InvalidFileError,
    Mark,
    Node,
    Problem,
    load_model,
    read_items,
)
from rag_assets.suggestions import nearest

LEAKY, FAIR = "leaky", "non-leaky"
"""Tags of a question that names its answer, and of one that does not in a set that tells the two apart."""

_HISTORY = ("id", "query", "relevant", "repo", "snapshot_rev", "type", "leaky", "commit", "spans")
_ANNOTATED = ("query", "relevant", "secondary", "category", "spans")

Item = dict[Any, Any]


def is_foreign(item: Mapping[Any, Any]) -> bool:
    """True for an item of one of the forms above: theirs is a query, ours a question."""
    return "query" in item and "question" not in item


def keys_of(item: Mapping[Any, Any]) -> tuple[str, ...]:
    """The keys that the form of a foreign item has."""
    return _HISTORY if "id" in item else _ANNOTATED


def translated(item: Item, set_name: str, number: int) -> Item:
    """A foreign item in our own form; `number` is its place in the file, from 1, which names what has no id. Values
    are taken as they are: whoever reads our form says what is wrong with them."""
    made: Callable[[Item], Item] = _history if "id" in item else _annotated
    found = made(item) | {"question": item["query"]}
    return {"id": f"{set_name}#{number}"} | found


def _history(item: Item) -> Item:
    moved = {
        **{name: name for name in ("id", "relevant", "commit", "spans")},
        "repo": "repository",
        "snapshot_rev": "revision",
    }
    found = {ours: item[theirs] for theirs, ours in moved.items() if theirs in item}
    tags = [item["type"]] if "type" in item else []
    if "leaky" in item:
        tags.append(LEAKY if item["leaky"] is True else FAIR)
    return found | {"tags": tags}


def _annotated(item: Item) -> Item:
    answers = item.get("relevant")
    more = item.get("secondary", [])
    if isinstance(answers, list) and isinstance(more, list):
        answers = [*answers, *more]
    tags = [item["category"]] if "category" in item else []
    return {"relevant": answers, "tags": tags, "spans": item.get("spans", [])}


_SHOWN_PROBLEMS = 20
_TARGET = re.compile(r"(?P<kind>path|symbol|section|point):(?P<value>.+)", re.DOTALL)


class QuestionSetError(RagAssetsError):
    """A question set that cannot be used; the text names file, line and cause of everything that is wrong."""


@dataclass(frozen=True, slots=True, order=True)
class LineSpan:
    """Lines of a file that answer a question, 1-based and inclusive."""

    path: str
    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.path}:{self.start}-{self.end}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalQuestion:
    """A question and its answers (E24). `relevant` are targets as written: a repository path, `symbol:` and a fully
    qualified name, `section:` with a path or symbol, `#` and a section key, or `point:` and an id; a path may be
    written `path:…` too. `paths`, `kinds` and `languages` narrow the search as the options of `rag-assets search` do.

    A question that is not `answerable` has no answer in the index, and is only asked where answers are measured (E22).
    `spans` are the lines that answer, of one of the files, and `facts` literals in them, of which a right answer quotes
    one; without either nobody knows more than the file.
    `repository` and `revision` are what the question was written for, empty: any; `commit` is the one whose subject it
    is, empty: none."""

    id: str
    question: str
    relevant: tuple[str, ...]
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    repository: str = ""
    revision: str = ""
    commit: str = ""
    spans: tuple[LineSpan, ...] = ()
    facts: tuple[str, ...] = ()

    @property
    def answerable(self) -> bool:
        return bool(self.relevant)


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The questions of a file, in its order. `name` is that of the file without its ending."""

    name: str
    questions: tuple[EvalQuestion, ...]

    @property
    def answerable(self) -> tuple[EvalQuestion, ...]:
        """Those that have an answer: what a search is measured by."""
        return tuple(question for question in self.questions if question.answerable)

    @property
    def has_spans(self) -> bool:
        """Whether the lines that answer are known of every question that has an answer."""
        return bool(self.answerable) and all(question.spans for question in self.answerable)

    @property
    def fingerprint(self) -> str:
        """sha256 hex over what decides the metrics: neither the order of the questions nor their tags do."""
        canonical = [
            [
                *(q.id, q.question, sorted(q.relevant), sorted(q.paths), sorted(q.kinds), sorted(q.languages)),
                *([sorted(map(str, q.spans))] if q.spans else []),
                *([{"facts": sorted(q.facts)}] if q.facts else []),
            ]
            for q in sorted(self.questions, key=lambda question: question.id)
        ]
        return hashlib.sha256(json.dumps(canonical, ensure_ascii=False).encode()).hexdigest()


def load_questions(path: Path) -> QuestionSet:
    """The set in a `.jsonl`, `.json`, `.yaml` or `.yml` file. Raises QuestionSetError listing everything wrong by
    line."""
    if path.suffix.lower() not in LIST_SUFFIXES and path.is_file():
        raise QuestionSetError(f"{path}: a question set is a {', '.join(LIST_SUFFIXES)} file")
    problems: list[Problem] = []
    questions: list[EvalQuestion] = []
    lines: dict[str, int] = {}
    try:
        items = read_items(path, problems)
    except InvalidFileError as error:
        raise QuestionSetError(f"{error}; make a question set with: rag-assets eval mine") from error
    for number, node in enumerate(items, 1):
        try:
            made = _question(node, path.stem, number)
        except InvalidFileError as error:
            problems += error.problems
            continue
        if made.id in lines:
            problems.append(Problem(node.mark, f"id {made.id!r} is that of line {lines[made.id]} already"))
        lines.setdefault(made.id, node.mark.line)
        questions.append(made)
    if not questions and not problems:
        problems.append(Problem(Mark(str(path)), "no questions in it"))
    if problems:
        told = [str(problem) for problem in InvalidFileError(problems).problems]
        left = len(told) - _SHOWN_PROBLEMS
        raise QuestionSetError("\n".join([*told[:_SHOWN_PROBLEMS], *([f"and {left} more"] if left > 0 else [])]))
    return QuestionSet(path.stem, tuple(questions))


def is_symbol(symbol: str, name: str) -> bool:
    """Whether a target names a symbol. Case is how people misremember names, not what tells two symbols apart."""
    return name.casefold() in (symbol.casefold(), plain_symbol(symbol).casefold())


def split_target(target: str) -> tuple[str, str]:
    """(kind, value) of a target: `path`, `symbol`, `section` or `point`."""
    found = _TARGET.fullmatch(target)
    return (found["kind"], found["value"]) if found else ("path", target)


def _texts(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _id(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _target(written: str) -> str:
    """A target in its one form: paths as the repository writes them, without `path:`."""
    kind, value = split_target(written)
    if kind == "section" and not all(value.strip().rpartition("#")):
        raise ValueError(f"{written!r} names no section; write section:PATH#KEY or section:SYMBOL#KEY")
    if kind != "path":
        return f"{kind}:{value.strip()}"
    path = value.strip().replace("\\", "/").removeprefix("./")
    if path.startswith("/") or path.endswith("/") or ".." in path.split("/"):
        raise ValueError(f"{written!r} is not a file path relative to the repository")
    return path


_SPAN = re.compile(r"(?P<path>.+?):(?P<start>\d{1,9})(?:-(?P<end>\d{1,9}))?")


def _span(written: Any) -> Any:
    """A span in its one form: `src/A.cs:12-40` as text, or a mapping with path, start and end (or `lines`: both)."""
    if isinstance(written, str):
        found = _SPAN.fullmatch(written.strip())
        if found is None:
            raise ValueError(f"{written!r} names no lines; write PATH:FIRST-LAST")
        return {"path": found["path"], "start": int(found["start"]), "end": int(found["end"] or found["start"])}
    if isinstance(written, dict) and isinstance(lines := written.get("lines"), list) and len(lines) == 2:
        return {"path": written.get("path"), "start": lines[0], "end": lines[1]}
    return written


class _Span(Strict):
    path: Annotated[Name, AfterValidator(_target)]
    start: int = Field(ge=1)
    end: int = Field(ge=1)

    @field_validator("end")
    @classmethod
    def _is_in_order(cls, end: int, info: ValidationInfo) -> int:
        if end < info.data.get("start", 1):
            raise ValueError("the last line is before the first")
        return end


Spans = Annotated[tuple[Annotated[_Span, BeforeValidator(_span)], ...], BeforeValidator(_texts)]
Names = Annotated[tuple[Name, ...], BeforeValidator(_texts)]
Targets = Annotated[tuple[Annotated[Name, AfterValidator(_target)], ...], BeforeValidator(_texts)]


class _Filters(Strict):
    path: Names = ()
    kinds: Names = ()
    languages: Names = ()


class _Item(Strict):
    """A question as a file has it. `answerable` stands before what is expected of it. `kind` is the first of the tags:
    what sort of question it is."""

    id: Annotated[Name, BeforeValidator(_id)]
    question: Name
    answerable: StrictBool = True
    relevant: Targets = Field(default=(), validate_default=True)
    kind: Name = ""
    tags: Names = ()
    filters: _Filters = _Filters()
    repository: Name = ""
    revision: Name = ""
    commit: Name = ""
    spans: Spans = ()
    facts: Names = ()

    @field_validator("spans", "facts")
    @classmethod
    def _is_of_an_answer(cls, known: tuple[Any, ...], info: ValidationInfo) -> tuple[Any, ...]:
        if known and info.data.get("answerable") is False:
            raise ValueError("a question with answerable: false has no answer to describe")
        return known

    @field_validator("relevant")
    @classmethod
    def _is_expected(cls, relevant: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        answerable = info.data.get("answerable")  # None where it is wrong itself
        if answerable is False and relevant:
            raise ValueError("a question with answerable: false has no answers to name")
        if answerable and not relevant:
            raise ValueError(
                "name at least one path, symbol:, section: or point:, or set answerable: false where the index has no "
                "answer"
            )
        repeated = sorted({target for target in relevant if relevant.count(target) > 1})
        if repeated:
            raise ValueError(f"{', '.join(repeated)} is there twice")
        return relevant


def _question(node: Node, set_name: str, number: int) -> EvalQuestion:
    """The question that an item describes. Raises InvalidFileError."""
    if not node.is_mapping:
        text = f"must be a mapping with id, question, relevant, found {kind_of(node.plain)}"
        raise InvalidFileError([Problem(node.mark, text)])
    values, unknown = node.plain, []
    if is_foreign(values):
        valid = keys_of(values)
        unknown = [
            Problem(entry.mark, f"unknown key {key!r}{nearest(key, valid)}")
            for key, entry in node.value.items()
            if key not in valid
        ]
        values = translated(values, set_name, number)
    try:
        item = load_model(_Item, values, node)
    except InvalidFileError as error:
        raise InvalidFileError([*unknown, *error.problems]) from error
    if unknown:
        raise InvalidFileError(unknown)
    filters = item.filters
    return EvalQuestion(
        id=item.id,
        question=item.question,
        relevant=item.relevant,
        tags=tuple(dict.fromkeys((item.kind, *item.tags) if item.kind else item.tags)),
        paths=filters.path,
        kinds=filters.kinds,
        languages=filters.languages,
        repository=item.repository,
        revision=item.revision,
        commit=item.commit,
        spans=tuple(LineSpan(span.path, span.start, span.end) for span in item.spans),
        facts=item.facts,
    )
