"""`EnumDescription`: the values of an enum, with numbers and documentation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from rag_assets.classification.facts import attribute_name
from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import Span
from rag_assets.descriptions.facts.enum_values import EnumValue
from rag_assets.descriptions.symbol import SymbolDescription
from rag_assets.sections import Block, code_sections
from rag_assets.sections.snippet import path_words
from rag_assets.sections.tiling import Leaf

VALUES = "enum-values"


@dataclass(kw_only=True)
class EnumDescription(SymbolDescription):
    """`flags` tells values that combine from alternatives; `underlying` is the number type where one is written."""

    values: tuple[EnumValue, ...] = ()
    flags: bool = False
    underlying: str = ""

    @property
    def section_prefix(self) -> str:
        return "enum"

    def finder_facts(self) -> list[tuple[str, str]]:
        attributes = [name for name in map(attribute_name, self.attributes) if name != "Flags"]
        return [
            ("Flags", "values combine" if self.flags else ""),
            ("Inherits", ", ".join(base for base in self.base_types if base != self.underlying)),
            ("Attributes", ", ".join(dict.fromkeys(attributes))),
            ("Path", path_words(self.path, self.fqn)),
        ]

    def group_of(self, leaf: Leaf) -> str:
        return "" if self._value_of(leaf) is None else "values"

    def build_summary_sections(self) -> list[SummarySection]:
        """One section with everything where it fits: an enum is its values. Else an overview and the values."""
        sections = super().build_summary_sections()
        values = [section for section in sections if section.section_key == VALUES]
        if len(values) != 1 or len(sections) != 2:
            return sections
        outline = self.outline()
        blocks = [replace(block, group="") for block in outline.blocks]
        together = code_sections(self.subject(), replace(outline, blocks=blocks), self.window)
        if len(together) != 1:
            return sections
        together[0].section_key = VALUES
        return together

    def _value_of(self, leaf: Leaf) -> EnumValue | None:
        return None if leaf.owner else self._values_by_name.get(leaf.member.name)

    @cached_property
    def _values_by_name(self) -> dict[str, EnumValue]:
        return {value.name: value for value in self.values}

    def _member_block(self, leaf: Leaf, tile: Span) -> Block:
        block = super()._member_block(leaf, tile)
        value = self._value_of(leaf)
        if value is None:
            return block
        first, *more = block.markdown.split("\n")
        if value.number is not None and value.expression != str(value.number):
            first = f"{first} = {value.number}"
        return replace(block, text=value.line(), markdown="\n".join([first, *more]))
