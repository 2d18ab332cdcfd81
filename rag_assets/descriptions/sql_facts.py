"""What a piece of SQL reads, writes, executes and uses, as facts of its description."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.languages.sql.keys import SqlForeignKey, foreign_keys_of, primary_key_of
from rag_assets.languages.sql.lexer import tokens_of
from rag_assets.languages.sql.reference_reader import references_in
from rag_assets.languages.sql.references import SqlUse


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
        if symbol.lower() != own:
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
