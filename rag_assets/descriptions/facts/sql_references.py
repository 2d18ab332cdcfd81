"""What a piece of SQL reads, writes, executes and uses, as facts of its description."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rag_assets.descriptions.facts.sql_keys import SqlForeignKey, foreign_keys_of, primary_key_of
from rag_assets.descriptions.facts.sql_mentions import mentions_in
from rag_assets.descriptions.facts.sql_tokens import tokens_of
from rag_assets.descriptions.facts.sql_uses import SqlMention, SqlUse


@dataclass(frozen=True, slots=True)
class SqlReferences:
    """Symbols (`schema.name`) in the order of their first mention; `uses` are sequences and user-defined types."""

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

    `assigns_into` as in `mentions_in`. Never raises; linear in the text for all practical statements.
    """
    tokens = tokens_of(text)
    words = {token.upper for token in tokens}
    by_use: dict[SqlUse, list[SqlMention]] = {}
    for mention in mentions_in(tokens, assigns_into=assigns_into):
        by_use.setdefault(mention.use, []).append(mention)

    def symbols(use: SqlUse) -> tuple[str, ...]:
        return _symbols(by_use.get(use, ()), own_symbol.lower())

    return SqlReferences(
        symbols(SqlUse.READS),
        symbols(SqlUse.WRITES),
        symbols(SqlUse.EXECUTES),
        symbols(SqlUse.USES),
        foreign_keys_of(tokens) if "REFERENCES" in words else (),
        primary_key_of(tokens) if "PRIMARY" in words else (),
        next(iter(symbols(SqlUse.ON)), ""),
        next(iter(symbols(SqlUse.SYNONYM_FOR)), ""),
    )


def _symbols(mentions: Iterable[SqlMention], own: str) -> tuple[str, ...]:
    """Each symbol once, as it was first written."""
    found: dict[str, str] = {}
    for mention in mentions:
        symbol = mention.name.symbol
        if symbol.lower() != own:
            found.setdefault(symbol.lower(), symbol)
    return tuple(found.values())
