"""What a piece of SQL reads, writes, executes and uses, by the words before each name. One pass over its tokens.

No parser: clauses are recognised by their keywords, in any dialect. Left out are variables, temporary tables, common
table expressions, aliases, the tables of a trigger's rows, and what belongs to the system.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rag_assets.descriptions.facts.sql_keys import SqlForeignKey, foreign_keys_of, primary_key_of
from rag_assets.descriptions.facts.sql_tokens import Name, Token, expressions_of, matching, name_at, tokens_of, upper_at
from rag_assets.descriptions.facts.sql_words import (
    BEFORE_EVENTS,
    METHODS,
    NO_ALIAS,
    OBJECT_WORDS,
    REFERENTIAL_ACTIONS,
    RESERVED,
    ROWS_OF_TRIGGERS,
    STATEMENTS,
    SYSTEM_PREFIXES,
    SYSTEM_SCHEMAS,
    TABLE_FUNCTIONS,
    VALUE_FUNCTIONS,
    WRITE_MODIFIERS,
)


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

    `assigns_into` says that `SELECT … INTO x` fills a variable, as it does in the procedural languages of PostgreSQL,
    Oracle and MySQL, and not a new table. Never raises; linear in the text for all practical statements.
    """
    tokens = tokens_of(text)
    words = {token.upper for token in tokens}
    expressions = expressions_of(tokens) if "WITH" in words else frozenset[str]()
    reader = _Reader(tokens, own_symbol.lower(), assigns_into, expressions)
    reader.read()
    return SqlReferences(
        tuple(reader.reads.values()),
        tuple(reader.writes.values()),
        tuple(reader.executes.values()),
        tuple(reader.uses.values()),
        foreign_keys_of(tokens) if "REFERENCES" in words else (),
        primary_key_of(tokens) if "PRIMARY" in words else (),
        reader.on_table,
        reader.synonym_for,
    )


@dataclass(slots=True)
class _Reader:
    """`reads` … `uses` are symbols by their lower-case form. `openers` holds the word before each open parenthesis."""

    tokens: list[Token]
    own: str
    assigns_into: bool
    expressions: frozenset[str]
    reads: dict[str, str] = field(default_factory=dict)
    writes: dict[str, str] = field(default_factory=dict)
    executes: dict[str, str] = field(default_factory=dict)
    uses: dict[str, str] = field(default_factory=dict)
    on_table: str = ""
    synonym_for: str = ""
    aliases: set[str] = field(default_factory=set)
    openers: list[str] = field(default_factory=list)

    def read(self) -> None:
        """Reads what begins at each token that may begin something; everything else is passed over here."""
        tokens, index = self.tokens, 0
        last = len(tokens) - 1
        while index <= last:
            kind, text, upper = tokens[index]
            clause = _CLAUSES.get(upper)
            if clause is not None:
                index = max(clause(self, index), index + 1)
            elif kind == "variable":
                index = self._variable(index)
            elif kind != "sign":
                index = self._call(index) if index < last and tokens[index + 1].text == "." else index + 1
            else:
                if text == "(":
                    self.openers.append(self._upper(index - 1))
                elif text == ")" and self.openers:
                    self.openers.pop()
                index += 1

    # clauses

    def _from(self, index: int) -> int:
        """FROM, JOIN, APPLY, USING: sources, with commas after FROM and USING."""
        if self._upper(index) == "FROM" and not self._is_from_clause(index):
            return index + 1
        many = self._upper(index) in ("FROM", "USING")
        index += 1
        while True:
            while self._upper(index) in ("LATERAL", "ONLY", "OUTER"):
                index += 1
            if self._upper(index) == "(":
                return index  # a derived table: its own FROM will be met
            index = self._source(index)
            if not (many and self._upper(index) == ","):
                return index
            index += 1
            if self._upper(index) == "(":
                return index

    def _source(self, index: int) -> int:
        """One table, function or variable with its alias."""
        name = self._name(index)
        if name is None:
            if index < len(self.tokens) and self.tokens[index].kind == "variable":
                return self._alias(index + 1, "")
            return index
        if self._upper(name.end) == "(" and self._upper(name.end + 1) not in ("NOLOCK", "INDEX"):
            if name.parts[-1].lower() not in TABLE_FUNCTIONS and name.parts[-1].lower() not in METHODS:
                self._add(self.executes, name)
            return name.end  # its arguments are read like any text
        self._add(self.reads, name)
        return self._alias(name.end, name.symbol)

    def _alias(self, index: int, symbol: str) -> int:
        if self._upper(index) == "AS":
            index += 1
        token = self.tokens[index] if index < len(self.tokens) else None
        if token and (token.kind == "quoted" or (token.kind == "word" and token.upper not in NO_ALIAS)):
            self.aliases.add(token.text.strip('[]"`').lower())
            return index + 1
        return index

    def _write(self, index: int) -> int:
        """INSERT, UPDATE, DELETE, MERGE, TRUNCATE."""
        before = self._upper(index - 1)
        if before in BEFORE_EVENTS or (before == "ON" and self._upper(index + 1) in REFERENTIAL_ACTIONS):
            return index + 1
        verb = self._upper(index)
        index += 1
        while self._upper(index) in WRITE_MODIFIERS:
            top = self._upper(index) == "TOP"
            index += 1
            if top and self._upper(index) == "(":
                index = matching(self.tokens, index)
            elif top:
                index += 1
        name = self._name(index)
        if name is None or self._upper(index) == "STATISTICS" or (verb == "UPDATE" and self._upper(name.end) == "("):
            return index
        target = None if name.is_qualified else self._aliased(name, name.end)
        self._add(self.writes, target or name)
        return name.end

    def _into(self, index: int) -> int:
        """`SELECT … INTO t` and `OUTPUT … INTO t`; the INTO of INSERT and MERGE is read with them."""
        name = self._name(index + 1)
        if name is not None and not (self.assigns_into and not name.is_qualified) and not self._fetches(index):
            self._add(self.writes, name)
            return name.end
        return index + 1

    def _execute(self, index: int) -> int:
        """EXEC, EXECUTE, CALL, with `@code =` and PostgreSQL's EXECUTE FUNCTION."""
        index += 1
        if self._upper(index) in ("FUNCTION", "PROCEDURE"):
            index += 1
        if index + 1 < len(self.tokens) and self.tokens[index].kind == "variable" and self._upper(index + 1) == "=":
            index += 2
        name = self._name(index)
        if name is None or self._upper(index) == "AS":  # WITH EXECUTE AS OWNER
            return index
        self._add(self.executes, name)
        return name.end

    def _reference(self, index: int) -> int:
        """Past the target of a foreign key: `sql_keys` reads it."""
        name = self._name(index + 1)
        return name.end if name is not None else index + 1

    def _on(self, index: int) -> int:
        """The table of a trigger or an index: the first ON, before any statement."""
        name = self._name(index + 1)
        created = self._upper(0) in ("CREATE", "ALTER") and any(
            self._upper(i) in ("TRIGGER", "INDEX") for i in range(1, min(index, 8))
        )
        if created and not self.on_table and name is not None and not self.reads and not self.writes:
            self.on_table = name.symbol
            return name.end
        return index + 1

    def _for(self, index: int) -> int:
        """`CREATE SYNONYM x FOR y` and `NEXT VALUE FOR sequence`."""
        name = self._name(index + 1)
        if name is not None and self._upper(index - 1) == "VALUE":
            self._add(self.uses, name)
            return name.end
        if name is not None and any(self._upper(i) == "SYNONYM" for i in range(1, min(index, 6))):
            self.synonym_for = name.symbol
            return name.end
        return index + 1

    def _create(self, index: int) -> int:
        """Past the name of what is created or altered: it is no reference."""
        position = index + 1
        while position < min(index + 10, len(self.tokens)):
            if self._upper(position) in OBJECT_WORDS:
                name = self._name(position + 1) if self._upper(position + 1) not in ("IF", "CONCURRENTLY") else None
                return name.end if name is not None else position + 1
            position += 1
        return index + 1

    def _variable(self, index: int) -> int:
        """`@Lines sales.OrderLineList`: a variable or parameter of a user-defined type."""
        position = index + 1
        if self._upper(position) == "AS":
            position += 1
        name = name_at(self.tokens, position)
        if name is not None and name.is_qualified and self._upper(name.end) != "(" and not self._is_alias(name):
            self._add(self.uses, name)
            return name.end
        return index + 1

    def _call(self, index: int) -> int:
        """`schema.function(…)` in an expression. Without schema it cannot be told from a built-in function."""
        if self._upper(index + 3) not in (".", "("):
            return index + 3  # `alias.column`
        name = name_at(self.tokens, index)
        if name is None:
            return index + 1
        called = name.is_qualified and self._upper(name.end) == "("
        if called and not self._is_alias(name) and name.parts[-1].lower() not in METHODS:
            self._add(self.executes, name)
        return name.end

    # what surrounds a token

    def _upper(self, index: int) -> str:
        return upper_at(self.tokens, index)

    def _name(self, index: int) -> Name | None:
        """The name at `index`, unless a reserved word or nothing stands there."""
        if self._upper(index) in RESERVED:
            return None
        return name_at(self.tokens, index)

    def _add(self, found: dict[str, str], name: Name) -> None:
        first, last = name.parts[0].lower(), name.parts[-1].lower()
        if not name.is_qualified and (last in self.expressions or last in ROWS_OF_TRIGGERS):
            return
        if last.startswith("#"):
            return
        if first in SYSTEM_SCHEMAS or (name.parts[-2:-1] and name.parts[-2].lower() in SYSTEM_SCHEMAS):
            return
        if last.startswith(SYSTEM_PREFIXES) and found is self.executes:
            return
        if name.symbol.lower() != self.own:
            found.setdefault(name.symbol.lower(), name.symbol)

    def _is_alias(self, name: Name) -> bool:
        return name.parts[0].lower() in self.aliases or name.parts[0].lower() in ROWS_OF_TRIGGERS

    def _is_from_clause(self, index: int) -> bool:
        if self.openers and self.openers[-1] in VALUE_FUNCTIONS:
            return False
        if self._upper(index - 1) == "DISTINCT" and self._upper(index - 2) in ("IS", "NOT"):
            return False
        return not self._fetches(index)

    def _fetches(self, index: int) -> bool:
        """`FETCH NEXT FROM cursor INTO @x`."""
        return any(self._upper(i) == "FETCH" for i in range(max(0, index - 5), index))

    def _aliased(self, name: Name, index: int) -> Name | None:
        """The table that a target of UPDATE or DELETE means, where the FROM of the statement gives it that alias."""
        wanted = name.parts[0].lower()
        for position in range(index, len(self.tokens)):
            word = self._upper(position)
            if word in STATEMENTS or word == ";":
                return None
            if word in ("FROM", "JOIN", ","):
                source = self._name(position + 1)
                if source is None:
                    continue
                after = source.end + (self._upper(source.end) == "AS")
                if after < len(self.tokens) and self.tokens[after].text.strip('[]"`').lower() == wanted:
                    return source
        return None


_CLAUSES = {
    **dict.fromkeys(("FROM", "JOIN", "APPLY", "USING"), _Reader._from),
    **dict.fromkeys(("INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE"), _Reader._write),
    **dict.fromkeys(("EXEC", "EXECUTE", "CALL"), _Reader._execute),
    **dict.fromkeys(("CREATE", "ALTER"), _Reader._create),
    "INTO": _Reader._into,
    "REFERENCES": _Reader._reference,
    "ON": _Reader._on,
    "FOR": _Reader._for,
}
