"""What lines of models say that no declaration tells: the choices of a field, of Rails (`enum :status, …`), Django
(`choices=`) and JavaScript (`enum: […]`, `DataTypes.ENUM`); and the models of Mongoose and Sequelize."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rag_assets.answer.graph_facts import GraphFact
from rag_assets.answer.plans.code_lines import MOST_READ, lines_of, points_with, product_of
from rag_assets.answer.question_analysis import listed_noun, name_roots, root, roots_of, telling_words
from rag_assets.answer.question_kinds import asks_values_of, values_called
from rag_assets.search import CodePlace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_assets.search.index import LabelIndex

_CHOICES = re.compile(
    r"^\s*enum[ (](?::(?P<field>\w+),|(?P<more>\w+): [\[{%])|\b(?P<other>\w+)\s*[:=].{0,80}\bENUM\("
    r"|->enum\(\s*[\"'](?P<key>\w+)|\bchoices\s*=\s*[\[(]|^\s*enum:\s*\[|\bDataTypes\.ENUM\b"
)
_FIELD = re.compile(r"^\s*(?P<name>\w+)\s*(?::\s*\{|=\s*[\w.]*Field\()")
_OWNER = re.compile(r"^\s*(?:class |(?:const|let|var|export const) )(?P<name>\w+)")
_MOST_ABOVE = 12  # lines between the name of a field and its choices
_SAYS_NOTHING = roots_of("allowed can chosen different exist field have model possible selected set take user")
_MODEL = re.compile(
    r"\.define\(\s*[\"'](?P<name>\w+)[\"']|^(?:export )?(?:const|let|var) (?P<of>\w+?)_?[sS]chema\b.*\bSchema\b"
    r"|\bclass (?P<own>\w+) extends (?:\w+\.)?Model\b"
)


def choices_at(index: LabelIndex, question: str) -> list[CodePlace]:
    """The fields whose choices a question asks for, by their names and those of what they are in."""
    last = asks_values_of(question)
    noun, rest = listed_noun(question)
    about = {root(word) for word, _ in telling_words(f"{noun.rpartition(' ')[0]} {rest}")} - _SAYS_NOTHING
    found = list[CodePlace]()
    likely = product_of(points_with("enum choices ENUM DataTypes", index, MOST_READ), index) if last else {}
    for path, lines in sorted(lines_of(index, {one["Path"] for one in likely.values()}).items()):
        for at, text in lines.items():
            if (choice := _CHOICES.search(text)) is None:
                continue
            above = range(at, at - _MOST_ABOVE, -1)
            line, field = next(((one, said) for one in above if (said := _FIELD.match(lines.get(one, "")))), (at, None))
            name = next(filter(None, choice.groups()), "") or (field["name"] if field is not None else "")
            held = (one["name"] for near in range(at, 0, -1) if (one := _OWNER.match(lines.get(near, ""))))
            own = roots_of(name)
            around = own | roots_of(f"{next(held, '')} {path.rpartition('/')[2].partition('.')[0]}")
            if not own.isdisjoint(values_called(last)) and about <= around:
                found.append(CodePlace(path, at if choice.lastgroup else line))
    return found


def models_of_scripts(index: LabelIndex, owner: Sequence[str] = ()) -> list[GraphFact]:
    """The models of Mongoose and Sequelize, where defined; those called as an owner, where their fields begin."""
    found: dict[str, GraphFact] = {}
    likely = product_of(points_with("mongoose Schema sequelize define extends Model init", index, MOST_READ), index)
    for path, lines in sorted(lines_of(index, {one["Path"] for one in likely.values()}).items()):
        for at, text in lines.items():
            said = _MODEL.search(f"{text} {lines.get(at + 1, '').strip()}") if path.endswith((".js", ".ts")) else None
            if said is not None and said.start() < len(text):
                name = next(filter(None, said.groups()))
                below = (one for one in range(at + 1, at + _MOST_ABOVE) if _FIELD.match(lines.get(one, "")))
                line = next(below, at) if owner else at
                if not owner or [*owner] == name_roots(name):
                    name = f"{name[0].upper()}{name[1:]}"
                    found.setdefault(name, GraphFact(name, "", "", path, line, certain=True, is_comment=True))
    return [*found.values()]
