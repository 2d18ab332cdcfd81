"""`ConfigurationDescription`: types that configuration is bound to, and types that read it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rag_assets.descriptions.facts.properties import PropertyFact
from rag_assets.descriptions.kinds.data import DataDescription

MAX_DEFAULT = 60
"""Characters of a default value in a line of the snippet; what is longer is code, not a value."""


@dataclass(kw_only=True)
class ConfigurationDescription(DataDescription):
    """`section_names` are the names of configuration sections that the type states as constants, `read_keys` those that
    its code asks for by text, `bound_keys` the key of each settable property."""

    section_names: tuple[str, ...] = ()
    read_keys: tuple[str, ...] = ()
    bound_keys: tuple[str, ...] = ()

    def kind_facts(self) -> list[tuple[str, str]]:
        return [("ConfigurationSection", ", ".join(self.section_names)), ("ReadsKeys", ", ".join(self.read_keys))]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        facts = [("Section", self.section_names), ("Reads keys", self.read_keys), ("Bound keys", self.bound_keys)]
        return [*facts, *super().listed_facts()]

    def property_line(self, fact: PropertyFact) -> str:
        """`Shipping:FreeFrom: decimal = 60m — …`, as it stands in a settings file."""
        bound = len(self.section_names) == 1 and not fact.read_only
        name = f"{self.section_names[0]}:{fact.name}" if bound else fact.name
        value = fact.default if len(fact.default) <= MAX_DEFAULT else ""
        return replace(fact, name=name, type=f"{fact.type} = {value}" if value else fact.type).line()
