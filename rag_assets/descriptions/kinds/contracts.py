"""What travels between parts of a system: requests, responses, results, messages, rows of lists."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.descriptions.facts.entity_attributes import NamedValue
from rag_assets.descriptions.kinds.data import DataDescription


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
