"""Plans for how code is structured: what a folder holds, how declarations are declared and made, how one of them leads
to another. The planner loads this module for questions that may be about that."""

from __future__ import annotations

from rag_assets.answer.asked import Asked, Planned, answered, answered_or_absent, at_declarations, first_of, together
from rag_assets.answer.graph_facts import declares
from rag_assets.answer.question_analysis import Intent
from rag_assets.answer.structure.questions import (
    constructor_asked,
    created_asked,
    flow_asked,
    folder_asked,
    outdated_asked,
    shape_asked,
)

_OUTDATED_ABSENT = (
    "an index does not know which versions are the newest, or which have known holes; these do: "
    "dotnet list package --outdated (or --vulnerable), npm outdated, npm audit, pip-audit, cargo audit"
)


def structure_plan(asked: Asked) -> Planned | None:
    """What the first of these plans knows that is for the question."""
    text = asked.question.asking
    return next((known for plan in _PLANS if (known := plan(asked, text)) is not None), None)


def _folder(asked: Asked, text: str) -> Planned | None:
    """What a folder, a project or a namespace holds."""
    if asked.question.places or asked.wish.intent is Intent.OVERVIEW:
        return None
    wanted = folder_asked(text)
    if wanted is None or (any(asked.declared.values()) and not wanted.is_said):
        return None
    from rag_assets.answer.structure.folders import folder_facts

    return answered(asked, Intent.LIST, first_of(folder_facts(index, graph, wanted) for index, graph in asked.graphs))


def _shaped(asked: Asked, text: str) -> Planned | None:
    """What is declared with a modifier, with so many implementations or so many parameters."""
    if asked.wish.names:
        return None
    wanted = shape_asked(text)
    if wanted is None:
        return None
    from rag_assets.answer.structure.shapes import shaped

    known = together(shaped(index, graph, wanted) for index, graph in asked.graphs)
    return answered(asked, Intent.LIST, known) or Planned(asked.wish, absent=f"no {wanted.said} is known")


def _constructor(asked: Asked, text: str) -> Planned | None:
    """The constructors of a type, by what a question asks for: what it is given."""
    name = constructor_asked(text)
    if not name:
        return None
    from rag_assets.answer.structure.shapes import constructed

    return at_declarations(asked, [place for index, graph in asked.graphs for place in constructed(index, graph, name)])


def _flow(asked: Asked, text: str) -> Planned | None:
    """How one thing leads to another."""
    wanted = flow_asked(text)
    if wanted is None:
        return None
    from rag_assets.answer.structure.flows import flow_facts

    told = [flow_facts(index, graph, wanted) for index, graph in asked.graphs]
    return answered_or_absent(asked, told, first_of)


def _created(asked: Asked, text: str) -> Planned | None:
    """Where code makes an object of the type of a question."""
    name = created_asked(text)
    is_type = name in asked.wish.names or any(declares(graph, name, only_types=True) for _, graph in asked.graphs)
    if not name or not is_type:
        return None
    from rag_assets.answer.plans.usage import CREATING, senders_of

    return answered(asked, Intent.LIST, senders_of(asked.target, [name], CREATING))


def _outdated(asked: Asked, text: str) -> Planned | None:
    """That no index knows which packages are old."""
    return Planned(asked.wish, absent=_OUTDATED_ABSENT) if outdated_asked(text) else None


_PLANS = (_outdated, _folder, _shaped, _constructor, _flow, _created)
