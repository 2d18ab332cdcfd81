"""Requests, responses, results and messages; rows of list views [L]."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.contracts.segment import Segment
from rag_assets.descriptions.kind_builder import Facts, KindBuilder, Subject, TypeAwareBuilder, is_whole_type
from rag_assets.descriptions.kinds.data_type import DataDescription, attribute_summary
from rag_assets.identifiers import identifier_words
from rag_assets.languages.csharp.facts.entity_attributes import EntityFacts, NamedValue, entity_facts
from rag_assets.languages.csharp.facts.properties import properties_of
from rag_assets.languages.csharp.facts.type_names import parse_type
from rag_assets.languages.csharp.simple_names import simple_name


@dataclass(kw_only=True)
class ContractDescription(DataDescription):
    """A request, response, result or message. `flavor` is Command, Query or Event where name or base say so; `answer`
    is the type that its base says it is answered with (`IRequest<Order>` → `Order`)."""

    flavor: str = ""
    answer: str = ""

    @property
    def subtype_flavor(self) -> str:
        return self.flavor

    def kind_facts(self) -> list[tuple[str, str]]:
        return [("Flavor", self.flavor), ("AnsweredWith", self.answer)]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        facts = [("Flavor", self.flavor), ("Answered with", self.answer)]
        return [*((label, (text,)) for label, text in facts if text), *super().listed_facts()]


@dataclass(kw_only=True)
class SummaryListDescription(DataDescription):
    """A row of a list view of `primary_entity`. `title`, `help` and `urls` come from `[EntityDescription]`. [L]"""

    title: str = ""
    help: str = ""
    about: str = ""
    urls: tuple[NamedValue, ...] = ()

    def kind_facts(self) -> list[tuple[str, str]]:
        return [
            ("Title", self.title),
            ("Help", self.help if self.help != self.summary else ""),
            ("Routes", ", ".join(dict.fromkeys(url.value for url in self.urls))),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        texts = (("Title", self.title), ("Help", self.help), ("About", self.about))
        urls = [(url.name, (url.value,)) for url in self.urls]
        return [*((label, (text,)) for label, text in texts if text), *super().listed_facts(), *urls]


class ContractBuilder(KindBuilder):
    """Describes types of every language; their kind says what they are, name and base what for."""

    name = "contract"
    description = (
        "Requests, responses, results and messages: the data they carry with documentation, Command, Query or "
        "Event by base type or last word of the name, and the answer that a base like IRequest<T> states."
    )
    describes = ContractDescription
    applies = staticmethod(is_whole_type)

    def facts(self, subject: Subject) -> Facts:
        whole = subject.whole
        return {
            "properties": properties_of(whole, subject.texts),
            "flavor": flavor_of(whole),
            "answer": answer_of(whole),
        }


class SummaryListModelBuilder(TypeAwareBuilder):
    """Describes C# types that are rows of a list view; their entity is the one their name without Summary names."""

    name = "summary-list-model"
    description = (
        "Rows of list views: columns with types, texts and addresses of [EntityDescription] looked up in "
        "resources, and the entity that the name without Summary means where it is declared."
    )
    describes = SummaryListDescription
    applies = staticmethod(is_whole_type)

    def facts(self, subject: Subject) -> Facts:
        whole, texts = subject.whole, subject.texts
        entity = entity_facts(whole, texts) or EntityFacts()
        return {
            "properties": properties_of(whole, texts),
            "primary_entity": self._entity_of(whole),
            "title": entity.title,
            "help": entity.help,
            "about": entity.description,
            "urls": entity.urls,
            **attribute_summary(whole, texts.first_known(entity.description, entity.help)),
        }

    def _entity_of(self, segment: Segment) -> str:
        for ending in ("Summary", "SummaryData", "ListItem"):
            stem = segment.name.removesuffix(ending)
            if stem and stem != segment.name:
                found = self.declared_types.resolve(stem, segment.namespace, segment.usings, segment.language)
                if found is not None:
                    return found.name
        return ""


def flavor_of(segment: Segment) -> str:
    """Command, Query, Event or '': by a base type or interface, else by the last word of the name."""
    for base in segment.base_list:
        flavor = _FLAVORS.get(_last_word(simple_name(base)))
        if flavor:
            return flavor
    return _FLAVORS.get(_last_word(segment.name), "")


def answer_of(segment: Segment) -> str:
    """The type that a base says the message is answered with, as written; '' where none does."""
    for base in segment.base_list:
        found = parse_type(base)
        if found.name in _ANSWERED and found.arguments:
            return str(found.arguments[-1])
    return ""


def _last_word(name: str) -> str:
    words = identifier_words(name)
    return words[-1] if words else ""


_FLAVORS = {
    "Command": "Command",
    "Query": "Query",
    "Event": "Event",
    "Notification": "Event",
    "Args": "Event",  # EventArgs
}
_ANSWERED = frozenset({"IRequest", "ICommand", "IQuery", "IStreamRequest", "Request", "Command", "Query"})
"""Base types whose last type argument is the type of the answer."""
