"""`SqlObjectDescription`: a SQL object with its columns or parameters and what it reads, writes and executes."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.contracts.segment import Parameter
from rag_assets.descriptions.facts.sql_keys import SqlForeignKey
from rag_assets.descriptions.facts.sql_table import SqlColumn
from rag_assets.descriptions.text import TextDescription

SCRIPT = "script"


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
