"""SQL objects with columns or parameters and what they read, write and execute, and loose statements."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_assets.contracts.segment import Parameter, Segment, SymbolText
from rag_assets.descriptions.kind_builder import Facts, KindBuilder, Subject
from rag_assets.descriptions.text_description import TextDescription
from rag_assets.languages.detection import SourceType
from rag_assets.languages.sql.columns import SqlColumn, SqlForeignKey, columns_of, foreign_keys_of, primary_key_of
from rag_assets.languages.sql.lexer import SYSTEM_PREFIXES, tokens_of
from rag_assets.languages.sql.reference_reader import SqlUse, is_procedural, references_in
from rag_assets.sections.documents import TextMember


@dataclass(frozen=True, slots=True)
class SqlReferences:
    """Symbols (`schema.name`) in the order of their first reference; `uses` are sequences and user-defined types."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    executes: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    foreign_keys: tuple[SqlForeignKey, ...] = ()
    primary_key: tuple[str, ...] = ()
    on_table: str = ""
    synonym_for: str = ""


def sql_references(text: str, own_symbol: str = "", *, assigns_into: bool = False) -> SqlReferences:
    """The references of one object or script; its own symbol is left out.

    `assigns_into` as in `references_in`. Never raises; linear in the text for all practical statements.
    """
    tokens = tokens_of(text)
    own = own_symbol.lower()
    by_use: dict[SqlUse, dict[str, str]] = {}  # each symbol once, as it was first written
    for found in references_in(tokens, assigns_into=assigns_into):
        symbol = found.name.symbol
        is_of_system = not found.name.is_qualified and symbol.lower().rpartition(".")[2].startswith(SYSTEM_PREFIXES)
        if symbol.lower() != own and not (found.use is SqlUse.EXECUTES and is_of_system):
            by_use.setdefault(found.use, {}).setdefault(symbol.lower(), symbol)

    def symbols(use: SqlUse) -> tuple[str, ...]:
        return tuple(by_use.get(use, {}).values())

    return SqlReferences(
        symbols(SqlUse.READS),
        symbols(SqlUse.WRITES),
        symbols(SqlUse.EXECUTES),
        symbols(SqlUse.USES),
        foreign_keys_of(tokens),
        primary_key_of(tokens),
        next(iter(symbols(SqlUse.ON)), ""),
        next(iter(symbols(SqlUse.SYNONYM_FOR)), ""),
    )


SCRIPT = "script"

_RETURNS = re.compile(
    r"\bRETURNS?\s+(TABLE\b|SETOF\s+[\w.\[\]\"]+|@\w+\s+TABLE\b|[\w.\[\]\"]+(?:\s*\([^()]*\))?)", re.IGNORECASE
)


@dataclass(kw_only=True)
class SqlObjectDescription(TextDescription):
    """`object_type` is table, view, procedure, function, trigger, type, sequence, synonym, index or script.

    Objects are named `schema.name`. `reads` … `uses` are what the text mentions, not what the database knows; `uses`
    are sequences and user-defined types. `doc` is the comment above the object, `signature` its head on one line.
    """

    object_type: str = ""
    schema: str = ""
    object_name: str = ""
    doc: str = ""
    signature: str = ""
    returns: str = ""
    columns: tuple[SqlColumn, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[SqlForeignKey, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    executes: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    on_table: str = ""
    synonym_for: str = ""

    @property
    def subtype_flavor(self) -> str:
        """`Table`, `Procedure` …"""
        return self.object_type.capitalize()

    def title_line(self) -> str:
        """`SqlObject: sales.PlaceOrder (procedure)`: what a later chunk of a long body no longer says."""
        if self.object_type == SCRIPT:
            return super().title_line()
        return f"{self.kind}: {self.fqn} ({self.object_type})"

    def listed_members(self) -> list[TextMember]:
        """The statement, then its parameters or columns."""
        listed = super().listed_members()
        if self.object_type == SCRIPT:
            return listed
        head = max(self.text.find(self.object_name), 0)
        parameters = []
        for parameter in self.parameters:
            found = self.text.find(parameter.name, head)
            if parameter.name and found >= 0:
                head = found + len(parameter.name)
                signature = f"{parameter.name} {parameter.type}".strip()
                parameters.append(TextMember(found, head, parameter.name, signature))
        return [TextMember(0, len(self.text), self.object_name, self.signature), *parameters, *listed]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        return [
            ("Object type", (self.object_type,) if self.object_type != SCRIPT else ()),
            ("Columns", tuple(f"{column.name} {column.type}".strip() for column in self.columns)),
            ("Parameters", tuple(f"{parameter.name} {parameter.type}".strip() for parameter in self.parameters)),
            ("Returns", (self.returns,) if self.returns else ()),
            ("Primary key", self.primary_key or tuple(c.name for c in self.columns if c.key == "primary")),
            ("Foreign keys", tuple(f"{', '.join(key.columns)} → {key.target}" for key in self.foreign_keys)),
            ("On", (self.on_table,) if self.on_table else ()),
            ("Synonym for", (self.synonym_for,) if self.synonym_for else ()),
            ("Reads", self.reads),
            ("Writes", self.writes),
            ("Executes", self.executes),
            ("Uses", self.uses),
        ]


class SqlObjectBuilder(KindBuilder):
    """Describes SQL of any dialect: each object, and the statements of a file that declare none."""

    name = "sql-object"
    description = (
        "SQL objects: type, schema and name, columns with keys and defaults or parameters, foreign keys, and the "
        "objects that the text reads, writes, executes and uses; found by the words before names, in any dialect."
    )
    describes = SqlObjectDescription
    applies = staticmethod(lambda subject: subject.source_type is SourceType.SQL)

    def facts(self, subject: Subject) -> Facts:
        segment = subject.segment
        text = _own_text(subject.text)
        is_script = segment.kind == SCRIPT
        found = sql_references(text, "" if is_script else segment.symbol, assigns_into=is_procedural(text))
        returns = _RETURNS.search(segment.signature) if segment.kind == "function" else None
        return {
            "object_type": segment.kind,
            "schema": segment.namespace,
            "object_name": segment.name,
            "doc": segment.doc,
            "signature": segment.signature,
            "returns": " ".join(returns[1].split()) if returns else "",
            "columns": () if is_script else columns_of(segment.members, found.primary_key, found.foreign_keys),
            "parameters": segment.parameters,
            "primary_key": found.primary_key,
            "foreign_keys": found.foreign_keys,
            "reads": found.reads,
            "writes": found.writes,
            "executes": found.executes,
            "uses": found.uses,
            "on_table": found.on_table,
            "synonym_for": found.synonym_for,
        }


def _own_text(symbol_text: SymbolText) -> str:
    """The text of an object; of a script only its statements, between which objects of their own may stand."""
    segment: Segment = symbol_text.segment
    if segment.kind != SCRIPT or not segment.members:
        return str(symbol_text)
    return "\n;\n".join(symbol_text.part(member.span) for member in segment.members)
