"""Enums: their values with numbers and documentation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import MemberRange, Span
from rag_assets.descriptions.kind_builder import Facts, KindBuilder, Subject, is_code
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.languages.csharp.binder.type_syntax import attribute_name, simple_name
from rag_assets.languages.csharp.facts.enum_values import EnumValue, enum_values
from rag_assets.sections.code import code_sections
from rag_assets.sections.snippet import Block, path_words

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

    def group_of(self, leaf: MemberRange) -> str:
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

    def _value_of(self, leaf: MemberRange) -> EnumValue | None:
        return None if leaf.owner else self._values_by_name.get(leaf.member.name)

    @cached_property
    def _values_by_name(self) -> dict[str, EnumValue]:
        return {value.name: value for value in self.values}

    def _member_block(self, leaf: MemberRange, tile: Span) -> Block:
        block = super()._member_block(leaf, tile)
        value = self._value_of(leaf)
        if value is None:
            return block
        first, *more = block.markdown.split("\n")
        if value.number is not None and value.expression != str(value.number):
            first = f"{first} = {value.number}"
        return replace(block, text=value.line(), markdown="\n".join([first, *more]))


class EnumBuilder(KindBuilder):
    """Describes enums of every language that have values."""

    name = "enum"
    description = (
        "Enums: every value with its number, written, implied or computed from flags and other values, its "
        "documentation and the text that people see."
    )
    describes = EnumDescription
    applies = staticmethod(is_code)

    def facts(self, subject: Subject) -> Facts | None:
        segment = subject.segment
        if segment.kind not in ("enum", "class"):
            return None
        base = simple_name(segment.base_list[0]) if segment.kind == "enum" and segment.base_list else ""
        return {
            "values": enum_values(subject.text, subject.texts),
            "flags": any(attribute_name(attribute) == "Flags" for attribute in segment.attributes),
            "underlying": base,
        }
