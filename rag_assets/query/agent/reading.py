"""From a YAML file to an agent: every problem at once, each with file, line and the nearest valid name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import msgspec

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.contracts.kinds import Kind, known_kind
from rag_assets.contracts.llm import PROFILES
from rag_assets.languages import SourceType
from rag_assets.query.agent.agent import Agent, Filters, Limits
from rag_assets.query.artifact.output import OutputType
from rag_assets.query.pipeline.document import Entry
from rag_assets.query.pipeline.errors import Mark, PipelineError, Problem
from rag_assets.query.pipeline.reading import nearest, read_record

ROOT = "agent"

DeclaredKinds = Callable[[], Iterable[Kind]]
"""The kinds that rule packs add to the built-in ones; asked where an agent names one that is not built in."""

T = TypeVar("T", bound=msgspec.Struct)

_PARTS: Mapping[str, type[msgspec.Struct]] = {"filters": Filters, "limits": Limits}
_OF_THE_PROGRAM = "file"
_CLOSED: Mapping[str, tuple[str, ...]] = {
    "output_type": tuple(map(str, OutputType)),
    "model_profile": PROFILES,
    "source_types": tuple(map(str, SourceType)),
    "confidentiality": tuple(map(str, Confidentiality)),
}
"""Fields whose values are names of a closed set: a misspelt one is told the nearest."""


class AgentError(PipelineError):
    """An agent that cannot be used; `problems` as of a pipeline."""


def is_agent(document: Entry) -> bool:
    return document.is_mapping and ROOT in document.value


def read_agent(document: Entry, shown: str, declared_kinds: DeclaredKinds = tuple) -> Agent:
    """The agent of a file; `shown` is what messages call the file. Raises AgentError, and what `declared_kinds`
    raises."""
    if not is_agent(document):
        raise AgentError([Problem(Mark(shown, 1), f"no agent; its file begins with `{ROOT}:`")])
    problems = [
        Problem(other.mark, f"unknown key {name!r} beside `{ROOT}`; everything of an agent is below it")
        for name, other in document.value.items()
        if name != ROOT
    ]
    root = document.value[ROOT]
    if not root.is_mapping:
        keys = ", ".join(field.name for field in msgspec.structs.fields(Agent) if field.name != _OF_THE_PROGRAM)
        raise AgentError([Problem(root.mark, f"`{ROOT}` must have keys: {keys}"), *problems])
    entries: dict[str, Entry] = dict(root.value)
    if _OF_THE_PROGRAM in entries:
        misplaced = entries.pop(_OF_THE_PROGRAM)
        valid = [field.name for field in msgspec.structs.fields(Agent) if field.name != _OF_THE_PROGRAM]
        problems.append(Problem(misplaced.mark, f"agent: unknown key {_OF_THE_PROGRAM!r}{nearest('file', valid)}"))
    parts = {
        name: _part(record, name, entries.pop(name), problems) for name, record in _PARTS.items() if name in entries
    }
    filters = root.value.get("filters")
    if filters is not None and filters.is_mapping and "kinds" in filters.value:
        problems += _unknown_kinds(filters.value["kinds"], declared_kinds)
    found = _record(Agent, entries, root.mark, "agent", problems)
    if found is None or problems:
        raise AgentError(problems)
    return msgspec.structs.replace(found, **parts, file=shown)


def _part(record: type[msgspec.Struct], name: str, entry: Entry, problems: list[Problem]) -> msgspec.Struct | None:
    if not entry.is_mapping:
        keys = ", ".join(field.name for field in msgspec.structs.fields(record))
        problems.append(Problem(entry.mark, f"agent: {name} must have keys: {keys}"))
        return None
    return _record(record, entry.value, entry.mark, name, problems)


def _record(record: type[T], entries: Mapping[str, Entry], at: Mark, what: str, problems: list[Problem]) -> T | None:
    """As `read_record`, with the nearest value where one of a closed set is misspelt."""
    wrong = [problem for name, entry in entries.items() for problem in _misspelt(name, entry, what)]
    problems += wrong
    told = {problem.mark.line for problem in wrong}
    found: list[Problem] = []
    made = read_record(record, entries, at, what, found)
    problems += [problem for problem in found if problem.mark.line not in told]
    return made


def _misspelt(name: str, entry: Entry, what: str) -> Iterable[Problem]:
    if name not in _CLOSED:
        return
    for one in entry.value if entry.is_list else (entry,):
        if isinstance(one.value, str) and one.value not in _CLOSED[name]:
            yield Problem(one.mark, f"{what}: {name}: no {one.value!r}{nearest(one.value, _CLOSED[name])}")


def _unknown_kinds(entry: Entry, declared: DeclaredKinds) -> Iterable[Problem]:
    """In any case, as filters of a search have them."""
    for one in entry.value if entry.is_list else ():
        if not isinstance(one.value, str):
            continue  # of a wrong type, which was said
        try:
            known_kind(one.value)
        except ValueError:
            try:
                known_kind(one.value, declared())
            except ValueError as error:
                yield Problem(one.mark, f"filters: kinds: {error}")
