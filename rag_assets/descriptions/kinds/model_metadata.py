"""`ModelMetadata`: how a model appears to people: the fields of its forms and their order. [L]"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rag_assets.contracts.segment import Span
from rag_assets.descriptions.facts.entity_attributes import FormField, FormLayout
from rag_assets.descriptions.markdown import inline_code
from rag_assets.descriptions.symbol import SymbolDescription
from rag_assets.sections import Block
from rag_assets.sections.tiling import Leaf, leaves_of

FIELDS = "fields"
LAYOUTS = "layouts"


@dataclass(kw_only=True)
class ModelMetadata(SymbolDescription):
    """`title`, `help` and `about` of the model and the texts of its fields are resolved; a key without text stands
    for itself. `unresolved` are the warnings about such keys."""

    title: str = ""
    help: str = ""
    about: str = ""
    fields: tuple[FormField, ...] = ()
    layouts: tuple[FormLayout, ...] = ()
    unresolved: tuple[str, ...] = ()

    @property
    def subtype_flavor(self) -> str:
        return "Metadata"

    @property
    def section_prefix(self) -> str:
        return "model-metadata"

    def finder_facts(self) -> list[tuple[str, str]]:
        labels = (found.label for found in self.fields if found.says_more())
        return [
            ("Title", self.title),
            ("Help", self.help if self.help != self.summary else ""),
            ("FieldLabels", ", ".join(dict.fromkeys(labels))),
            ("Layouts", ", ".join(layout.name for layout in self.layouts)),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        texts = (("Title", self.title), ("Help", self.help), ("About", self.about))
        unresolved = [("Unresolved text", (text,)) for text in self.unresolved]
        return [*((label, (text,)) for label, text in texts if text), *unresolved]

    def group_of(self, leaf: Leaf) -> str:
        if leaf.owner:
            return ""
        if leaf.member.name in {found.property for found in self.fields}:
            return FIELDS
        return LAYOUTS if leaf.member.name in {layout.method for layout in self.layouts} else ""

    def _member_blocks(self, own_key: str) -> list[Block]:
        """Fields and layouts only: what else the class declares is told by its structure."""
        fields = {found.property: found for found in self.fields}
        layouts = {layout.method: layout for layout in self.layouts}
        blocks: list[Block] = []
        for leaf, tile in zip(leaves_of(self.members), self.tiles, strict=True):
            if leaf.owner:
                continue
            name = leaf.member.name
            if name in fields and leaf.member.attributes:
                blocks.append(self._field_block(leaf, tile, fields[name]))
            elif name in layouts and not leaf.member.parameters:
                block = self._member_block(leaf, tile)
                line = layouts[name].line()
                blocks.append(replace(block, text=line, markdown=f"- {line}", group=LAYOUTS))
        return blocks

    def _field_block(self, leaf: Leaf, tile: Span, found: FormField) -> Block:
        block = self._member_block(leaf, tile)
        lines = [f"- {inline_code(found.property)}: {found.type}", f"  {found.line()}"]
        lines += [f"  {value.name}: {inline_code(value.value)}" for value in found.values if value.value]
        return replace(block, text=found.line(), markdown="\n".join(lines), group=FIELDS)
