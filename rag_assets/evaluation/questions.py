"""Question sets: what somebody wants to find, and where it is. Files of JSON or YAML, read strictly; the forms that
others use are translated first (`evaluation.importers`)."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_assets.contracts.errors import ExpectedError
from rag_assets.evaluation.importers import is_foreign, keys_of, translated
from rag_assets.evaluation.question_files import READERS

_SHOWN_PROBLEMS = 20
_KEYS = ("id", "question", "relevant", "answerable", "tags", "filters", "repository", "revision", "commit")
_REQUIRED = ("id", "question")
_FILTERS = ("path", "kinds", "languages")
_TARGET = re.compile(r"(?P<kind>path|symbol|section|point):(?P<value>.+)", re.DOTALL)

Problem = Callable[[str], None]


class QuestionSetError(ExpectedError):
    """A question set that cannot be used; the text names file, line and cause of everything that is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalQuestion:
    """A question and its answers (E24). `relevant` are targets as written: a repository path, `symbol:` and a fully
    qualified name, `section:` with a path or symbol, `#` and a section key, or `point:` and an id; a path may be
    written `path:…` too. `paths`, `kinds` and `languages` narrow the search as the options of `rag-assets search` do.

    A question that is not `answerable` has no answer in the index, and is only asked where answers are measured (E22).
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
    def fingerprint(self) -> str:
        """sha256 hex over what decides the metrics: neither the order of the questions nor their tags do."""
        canonical = [
            [q.id, q.question, sorted(q.relevant), sorted(q.paths), sorted(q.kinds), sorted(q.languages)]
            for q in sorted(self.questions, key=lambda question: question.id)
        ]
        return hashlib.sha256(json.dumps(canonical, ensure_ascii=False).encode()).hexdigest()


def load_questions(path: Path) -> QuestionSet:
    """The set in a `.jsonl`, `.json`, `.yaml` or `.yml` file. Raises QuestionSetError listing everything wrong by
    line."""
    read = READERS.get(path.suffix.lower())
    if read is None:
        raise QuestionSetError(f"{path}: a question set is a {', '.join(READERS)} file")
    text = _text(path)
    problems: list[str] = []
    questions: list[EvalQuestion] = []
    lines: dict[str, int] = {}
    for number, (line, item) in enumerate(read(path, text, problems), 1):

        def problem(said: str, line: int = line) -> None:
            problems.append(f"{path}:{line}: {said}")

        made = _question(item, path.stem, number, problem)
        if made is None:
            continue
        if made.id in lines:
            problems.append(f"{path}:{line}: id {made.id!r} is that of line {lines[made.id]} already")
        lines.setdefault(made.id, line)
        questions.append(made)
    if not questions and not problems:
        problems.append(f"{path}: no questions in it")
    if problems:
        left = len(problems) - _SHOWN_PROBLEMS
        more = [f"and {left} more"] if left > 0 else []
        raise QuestionSetError("\n".join([*problems[:_SHOWN_PROBLEMS], *more]))
    return QuestionSet(path.stem, tuple(questions))


def split_target(target: str) -> tuple[str, str]:
    """(kind, value) of a target: `path`, `symbol`, `section` or `point`."""
    found = _TARGET.fullmatch(target)
    return (found["kind"], found["value"]) if found else ("path", target)


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise QuestionSetError(
            f"{path}: there is no such question set; write it, or correct eval_set of the repository"
        ) from None
    except OSError as error:
        raise QuestionSetError(f"{path}: {error.strerror or error}") from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise QuestionSetError(f"{path}:{line}: not UTF-8 (byte 0x{raw[error.start]:02x}); save it as UTF-8") from error


def _question(item: Any, set_name: str, number: int, problem: Problem) -> EvalQuestion | None:
    """The question that an item describes, or None after saying what is wrong with it."""
    if not isinstance(item, dict):
        problem(f"expected an object with {', '.join(_KEYS[:3])}, found {type(item).__name__}")
        return None
    said: list[str] = []
    if is_foreign(item):
        said += _unknown(item, keys_of(item), "")
        item = translated(item, set_name, number)
    said += [*_unknown(item, _KEYS, ""), *(f"{key} is missing" for key in _REQUIRED if key not in item)]
    filters = item.get("filters", {})
    if isinstance(filters, dict):
        said += _unknown(filters, _FILTERS, "filters.")
    else:
        said.append(f"filters: expected an object with {', '.join(_FILTERS)}")
        filters = {}
    found = EvalQuestion(
        id=_word(item.get("id", "-"), "id", said),
        question=_word(item.get("question", "-"), "question", said),
        relevant=tuple(_target(entry, said) for entry in _words(item.get("relevant", []), "relevant", said)),
        tags=_words(item.get("tags", []), "tags", said),
        paths=_words(filters.get("path", []), "filters.path", said),
        kinds=_words(filters.get("kinds", []), "filters.kinds", said),
        languages=_words(filters.get("languages", []), "filters.languages", said),
        **{key: _word(item[key], key, said) for key in ("repository", "revision", "commit") if key in item},
    )
    said += _expectation(item, found.relevant)
    repeated = sorted({target for target in found.relevant if found.relevant.count(target) > 1})
    said += [f"relevant: {target} is there twice" for target in repeated]
    for text in said:
        problem(text)
    return None if said else found


def _expectation(item: dict[Any, Any], relevant: tuple[str, ...]) -> list[str]:
    """What is wrong with what an item expects: an answer somewhere, or, said with `answerable: false`, none."""
    answerable = item.get("answerable", True)
    if not isinstance(answerable, bool):
        return [f"answerable: expected true or false, found {answerable!r}"]
    if not answerable:
        return ["relevant: a question with answerable: false has no answers to name"] if relevant else []
    if relevant:
        return []
    if "relevant" not in item:
        return ["relevant is missing; a question that the index cannot answer has answerable: false instead"]
    return ["relevant: name at least one path, symbol:, section: or point:, or set answerable: false"]


def _unknown(item: dict[Any, Any], valid: tuple[str, ...], prefix: str) -> list[str]:
    made = []
    for key in item:
        if key not in valid:
            near = difflib.get_close_matches(str(key), valid, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"valid keys: {', '.join(valid)}"
            made.append(f"unknown key {f'{prefix}{key}'!r}; {hint}")
    return made


def _word(value: Any, name: str, said: list[str]) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool) and name == "id":
        return str(value)
    said.append(f"{name}: expected a text that is not empty, found {value!r}")
    return ""


def _words(value: Any, name: str, said: list[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        said.append(f"{name}: expected a list of texts, found {value!r}")
        return ()
    return tuple(_word(entry, name, said) for entry in value)


def _target(written: str, said: list[str]) -> str:
    """A target in its one form: paths as the repository writes them, without `path:`."""
    kind, value = split_target(written)
    if kind == "section" and not all(value.strip().rpartition("#")):
        said.append(f"relevant: {written!r} names no section; write section:PATH#KEY or section:SYMBOL#KEY")
    if kind != "path":
        return f"{kind}:{value.strip()}"
    path = value.strip().replace("\\", "/").removeprefix("./")
    if path.startswith("/") or path.endswith("/") or ".." in path.split("/"):
        said.append(f"relevant: {written!r} is not a file path relative to the repository")
    return path
