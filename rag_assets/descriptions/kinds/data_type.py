"""`DataDescription`: types that carry data; each property is one line with what is special about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from rag_assets.contracts.graph import NodeType, symbol_key
from rag_assets.contracts.segment import MemberKind, Segment, Span
from rag_assets.descriptions.kind_builder import Facts
from rag_assets.descriptions.markdown import inline_code
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.languages.csharp.facts.properties import PropertyFact
from rag_assets.languages.csharp.simple_names import attribute_name
from rag_assets.languages.doc_summaries import first_paragraph
from rag_assets.languages.members import MemberRange
from rag_assets.sections import Block
from rag_assets.sections.snippet import path_words

_SAID_BY_KIND = frozenset({"Attribute", "AttributeUsage", "EntityDescription", "object", "Object"})
"""Bases and attributes whose content the lines of the kind already say."""

_DATA = (MemberKind.PROPERTY, MemberKind.FIELD)


@dataclass(kw_only=True)
class DataDescription(SymbolDescription):
    """`properties` are those of the whole type, positional parameters first; of a partial type those of all parts."""

    properties: tuple[PropertyFact, ...] = ()

    def finder_facts(self) -> list[tuple[str, str]]:
        attributes = dict.fromkeys(map(attribute_name, self.attributes))
        return [
            *self.kind_facts(),
            ("Inherits", ", ".join(base for base in self.base_types if base not in _SAID_BY_KIND)),
            ("Implements", ", ".join(self.interfaces)),
            ("Attributes", ", ".join(name for name in attributes if name not in _SAID_BY_KIND)),
            ("Path", path_words(self.path, self.fqn)),
        ]

    def kind_facts(self) -> list[tuple[str, str]]:
        """The lines of the snippet that only this kind has, before those of all data types."""
        return []

    def property_group(self) -> str:
        """The section that properties belong to, '' for the overview."""
        return ""

    def property_line(self, fact: PropertyFact) -> str:
        """How a property reads in a snippet."""
        return fact.line()

    def group_of(self, leaf: MemberRange) -> str:
        return self.property_group() if self._fact_of(leaf) is not None else ""

    def _fact_of(self, leaf: MemberRange) -> PropertyFact | None:
        if leaf.owner or leaf.member.kind not in _DATA or leaf.member.explicit_interface:
            return None
        return self._facts_by_name.get(leaf.member.name)

    @cached_property
    def _facts_by_name(self) -> dict[str, PropertyFact]:
        return {fact.name: fact for fact in self.properties if not fact.parameter}

    def _member_blocks(self, own_key: str) -> list[Block]:
        return [*self._parameter_blocks(), *super()._member_blocks(own_key)]

    def _member_block(self, leaf: MemberRange, tile: Span) -> Block:
        block = super()._member_block(leaf, tile)
        fact = self._fact_of(leaf)
        if fact is None:
            return block
        marks = ", ".join(fact.marks())
        markdown = f"{block.markdown}\n  {marks}" if marks else block.markdown
        return replace(block, text=self.property_line(fact), markdown=markdown)

    def _parameter_blocks(self) -> list[Block]:
        """The positional parameters; they stand in the declaration itself."""
        return [
            Block(
                text=self.property_line(fact),
                span=self.header,
                names=(fact.name,),
                node_keys=(symbol_key(self.code_language, f"{self.fqn}.{fact.name}", NodeType.PROPERTY),),
                markdown=_parameter_markdown(fact),
                group=self.property_group(),
            )
            for fact in self.properties
            if fact.parameter
        ]


def attribute_summary(segment: Segment, text: str) -> Facts:
    """What attributes say of a type, as the purpose of one without documentation."""
    return {} if first_paragraph(segment.doc) or not text else {"summary": text, "documented": True}


def _parameter_markdown(fact: PropertyFact) -> str:
    default = f" = {fact.default}" if fact.default else ""
    lines = [f"- {inline_code(f'{fact.type} {fact.name}{default}')}"]
    lines += [f"  {text}" for text in (fact.doc, ", ".join(fact.marks())) if text]
    return "\n".join(lines)
