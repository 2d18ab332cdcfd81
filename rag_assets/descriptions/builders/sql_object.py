"""`SqlObjectBuilder`: tables, views, routines and the other objects of SQL files, and their loose statements."""

from __future__ import annotations

import re

from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import Segment, SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.describing import describe_text
from rag_assets.descriptions.facts.sql_mentions import is_procedural
from rag_assets.descriptions.facts.sql_references import sql_references
from rag_assets.descriptions.facts.sql_table import columns_of
from rag_assets.descriptions.kinds.sql_object import SCRIPT, SqlObjectDescription
from rag_assets.languages import SourceType, source_type

_RETURNS = re.compile(
    r"\bRETURNS?\s+(TABLE\b|SETOF\s+[\w.\[\]\"]+|@\w+\s+TABLE\b|[\w.\[\]\"]+(?:\s*\([^()]*\))?)", re.IGNORECASE
)


class SqlObjectBuilder:
    """Applies to SQL of any dialect."""

    version = 1

    @property
    def name(self) -> str:
        return "sql-object"

    @property
    def description(self) -> str:
        return (
            "SQL objects: type, schema and name, columns with keys and defaults or parameters, foreign keys, and the "
            "objects that the text reads, writes, executes and uses; found by the words before names, in any dialect."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """One description per object, and one for the statements of a file that declare none."""
        segment = symbol_text.segment
        if source_type(file_context.language_hint or segment.language) is not SourceType.SQL:
            return InvokeResult.not_applicable()
        text = _own_text(symbol_text)
        is_script = segment.kind == SCRIPT
        own = "" if is_script else segment.symbol
        found = sql_references(text, own, assigns_into=is_procedural(text))
        returns = _RETURNS.search(segment.signature) if segment.kind == "function" else None
        described = describe_text(
            SqlObjectDescription,
            file_context,
            symbol_text,
            domain_catalog,
            object_type=segment.kind,
            schema=segment.namespace,
            object_name=segment.name,
            doc=segment.doc,
            signature=segment.signature,
            returns=" ".join(returns[1].split()) if returns else "",
            columns=() if is_script else columns_of(segment.members, found.primary_key, found.foreign_keys),
            parameters=segment.parameters,
            primary_key=found.primary_key,
            foreign_keys=found.foreign_keys,
            reads=found.reads,
            writes=found.writes,
            executes=found.executes,
            uses=found.uses,
            on_table=found.on_table,
            synonym_for=found.synonym_for,
        )
        return InvokeResult.create(described)


def _own_text(symbol_text: SymbolText) -> str:
    """The text of an object; of a script only its statements, between which objects of their own may stand."""
    segment: Segment = symbol_text.segment
    if segment.kind != SCRIPT or not segment.members:
        return str(symbol_text)
    start = segment.span.char_start
    slices = (symbol_text[m.span.char_start - start : m.span.char_end - start] for m in segment.members)
    return "\n;\n".join(slices)
