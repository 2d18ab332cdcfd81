"""From a YAML file to an agent: every problem at once, each with file, line and the nearest valid name."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rag_assets.contracts.kinds import Kind, known_kind
from rag_assets.qa.agents.agent import Agent
from rag_assets.settings.yaml_loader import InvalidFileError, Node, Problem, load_struct, under_key

ROOT = "agent"

DeclaredKinds = Callable[[], Iterable[Kind]]
"""The kinds that rule packs add to the built-in ones; asked where an agent names one that is not built in."""


class AgentError(InvalidFileError):
    """An agent that cannot be used."""


def is_agent(document: Node) -> bool:
    return document.is_mapping and ROOT in document.value


def read_agent(document: Node, shown: str, declared_kinds: DeclaredKinds = tuple) -> Agent:
    """The agent of a file; `shown` is what messages call the file. Raises AgentError, and what `declared_kinds`
    raises."""
    problems: list[Problem] = []
    try:
        root = under_key(document, ROOT, problems)
    except InvalidFileError as error:
        raise AgentError(error.problems) from error
    found = load_struct(Agent, root, ROOT, problems, file=shown)
    filters = root.value.get("filters") if root.is_mapping else None
    if filters is not None and filters.is_mapping and "kinds" in filters.value:
        problems += _unknown_kinds(filters.value["kinds"], declared_kinds)
    if found is None or problems:
        raise AgentError(problems)
    return found


def _unknown_kinds(entry: Node, declared: DeclaredKinds) -> Iterable[Problem]:
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
