"""`ResourceFileBuilder`: RESX files with keys, texts, comments, cultures, and the code that uses them."""

from __future__ import annotations

from collections import Counter

from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult, Message
from rag_assets.contracts.segment import SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.describing import describe_symbol
from rag_assets.descriptions.kinds.resource_file import ResourceFileDescription, resource_summary
from rag_assets.descriptions.resource_dictionary import family_of, resource_class_of
from rag_assets.descriptions.resource_usages import ResourceUsages

RESOURCE_LANGUAGE = "resx"


class ResourceFileBuilder:
    """Applies to RESX files; other resource formats are left to the general builder."""

    version = 1

    def __init__(self, usages: ResourceUsages) -> None:
        self._usages = usages

    @property
    def name(self) -> str:
        return "resource-file"

    @property
    def description(self) -> str:
        return (
            "RESX files: each entry with key, text, comment and culture, what the file lacks of its neutral culture, "
            "and the lines of code that use a key. Entries that are files or objects are named, their data is not read."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """One description per file. Keys that the file has twice are a warning."""
        segment = symbol_text.segment
        if (file_context.language_hint or segment.language) != RESOURCE_LANGUAGE:
            return InvokeResult.not_applicable()
        path = file_context.relative_path
        resource_class, culture = resource_class_of(path)
        family = family_of(path)
        keys = [member.name for member in segment.members if member.name]
        used = ((key, self._usages.of(family, key)) for key in dict.fromkeys(keys))
        neutral = resource_dictionary.keys_of(family, "") if culture else frozenset()
        found = describe_symbol(
            ResourceFileDescription,
            file_context,
            symbol_text,
            domain_catalog,
            summary=resource_summary(resource_class, culture, segment.members),
            resource_class=resource_class,
            culture=culture,
            cultures=tuple(other for other in resource_dictionary.cultures_of(family) if other != culture),
            missing=tuple(sorted(neutral.difference(keys))),
            usages=tuple((key, places) for key, places in used if places),
        )
        repeated = sorted(key for key, count in Counter(keys).items() if count > 1)
        warnings = [Message("RESX.repeated-key", f"{path} has the key {key} more than once") for key in repeated]
        return InvokeResult.create(found, warnings)
