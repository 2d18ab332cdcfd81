"""`GeneralDescriptionBuilder`: the facts of any segment; no kind is silently without points."""

from __future__ import annotations

from rag_assets.descriptions.kind_builder import Facts, KindBuilder, Subject, is_text
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.descriptions.text_description import TextDescription


class GeneralDescriptionBuilder(KindBuilder):
    """Describes what a segment declares by the facts of segmentation; applies to every symbol of every kind."""

    name = "general"
    description = (
        "Any kind: names, documentation, base types, dependencies and members with signatures of code; "
        "headings and text of documents. Takes the declaration as it is and infers nothing."
    )
    applies = staticmethod(lambda subject: True)

    def description_type(self, subject: Subject) -> type[SymbolDescription] | type[TextDescription]:
        return TextDescription if is_text(subject, subject.segment) else SymbolDescription

    def facts(self, subject: Subject) -> Facts:
        return {}
