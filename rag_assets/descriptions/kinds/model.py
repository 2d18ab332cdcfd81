"""`ModelStructure`: what a model is made of: properties, keys, relationships, child objects."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.contracts.graph import NodeType, symbol_key
from rag_assets.contracts.segment import Span
from rag_assets.descriptions.facts.entity_attributes import NamedValue
from rag_assets.descriptions.facts.relationships import Relationship
from rag_assets.descriptions.kinds.data import DataDescription
from rag_assets.descriptions.markdown import inline_code
from rag_assets.sections import Block
from rag_assets.sections.tiling import leaves_of

PROPERTIES = "properties"
RELATIONSHIPS = "relationships"


@dataclass(kw_only=True)
class ModelStructure(DataDescription):
    """`title`, `help` and `about` are what attributes say of the model, texts of resources resolved. `urls` and
    `entity_values` are the arguments of `[EntityDescription]`, `entity_domain` its domain as written. [L]"""

    title: str = ""
    help: str = ""
    about: str = ""
    entity_domain: str = ""
    urls: tuple[NamedValue, ...] = ()
    entity_values: tuple[NamedValue, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    child_objects: tuple[str, ...] = ()

    @property
    def subtype_flavor(self) -> str:
        return "Structured"

    @property
    def section_prefix(self) -> str:
        return "model-structure"

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the properties that make the key."""
        return tuple(fact.name for fact in self.properties if fact.key)

    def property_group(self) -> str:
        return PROPERTIES

    def kind_facts(self) -> list[tuple[str, str]]:
        related = dict.fromkeys(found.target for found in self.relationships)
        return [
            ("Title", self.title),
            ("Help", self.help if self.help != self.summary else ""),
            ("Key", ", ".join(self.keys)),
            ("RelatedTo", ", ".join(related)),
            ("Routes", ", ".join(dict.fromkeys(url.value for url in self.urls))),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        texts = (("Title", self.title), ("Help", self.help), ("About", self.about), ("Domain", self.entity_domain))
        named = [(value.name, (value.value,)) for value in (*self.urls, *self.entity_values)]
        return [
            *((label, (text,)) for label, text in texts if text),
            ("Key", self.keys),
            ("Child objects", self.child_objects),
            *super().listed_facts(),
            *named,
        ]

    def extra_blocks(self) -> list[Block]:
        """One block per relationship, placed at its property; those of other parts of a partial type are theirs."""
        places = self._places()
        return [
            Block(
                text=found.line(),
                span=places[found.property],
                names=(found.property,),
                node_keys=(
                    symbol_key(self.code_language, f"{self.fqn}.{found.property}", NodeType.PROPERTY),
                    symbol_key(self.code_language, found.target_symbol, NodeType.TYPE),
                ),
                markdown=f"- {inline_code(found.target_symbol)}: {found.line()}",
                group=RELATIONSHIPS,
            )
            for found in self.relationships
            if found.property in places
        ]

    def _places(self) -> dict[str, Span]:
        own = zip(leaves_of(self.members), self.tiles, strict=True)
        places = {leaf.member.name: tile for leaf, tile in own if self._fact_of(leaf) is not None}
        return {**{fact.name: self.header for fact in self.properties if fact.parameter}, **places}
