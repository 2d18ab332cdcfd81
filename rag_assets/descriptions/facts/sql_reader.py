"""The clauses of SQL that name objects, read in one pass over the tokens. See `sql_mentions` for what comes out.

No parser: clauses are recognised by their keywords, in any dialect. What is no statement is passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rag_assets.descriptions.facts import sql_definitions as definitions
from rag_assets.descriptions.facts.sql_tokens import LIST_TOKENS, Name, Token, matching, name_at, upper_at
from rag_assets.descriptions.facts.sql_uses import SqlMention, SqlUse
from rag_assets.descriptions.facts.sql_words import (
    BEFORE_EVENTS,
    CONDITION_ENDS,
    METHODS,
    NO_ALIAS,
    NOT_TABLES,
    REFERENTIAL_ACTIONS,
    RESERVED,
    ROWS_OF_TRIGGERS,
    STATEMENTS,
    TABLE_FUNCTIONS,
    VALUE_FUNCTIONS,
    WRITE_MODIFIERS,
)

_SOURCE = "FROM ("
"""In place of the word before a parenthesis: it holds a source of FROM."""


@dataclass(slots=True)
class Reader:
    """`openers` holds the word before each open parenthesis, `verb` how the statement began. `awaits_on` says that the
    table of a trigger is still to come, `grants` that a user follows the next FROM, not a table. `local` are temporary
    tables whose names do not say so, in lower case. `conditions` counts the joins whose ON is still to come, `commas`
    are the indexes of those that go on with the sources after the condition of a join."""

    tokens: Sequence[Token]
    assigns_into: bool = False
    found: list[SqlMention] = field(default_factory=list)
    aliases: set[str] = field(default_factory=set)
    local: set[str] = field(default_factory=set)
    openers: list[str] = field(default_factory=list)
    verb: str = ""
    awaits_on: bool = False
    grants: bool = False
    conditions: int = 0
    commas: set[int] = field(default_factory=set)

    def read(self) -> None:
        """Reads what begins at each token that may begin something; everything else is passed over here."""
        tokens, index = self.tokens, 0
        last = len(tokens) - 1
        while index <= last:
            kind, text, upper, _ = tokens[index]
            clause = _CLAUSES.get(upper)
            if clause is not None:
                index = max(clause(self, index), index + 1)
            elif kind == "variable":
                index = self._variable(index)
            elif kind != "sign":
                index = self._call(index) if index < last and tokens[index + 1].text == "." else index + 1
            else:
                if text == "(":
                    self.openers.append(self.upper(index - 1))
                if text == "," and index in self.commas:
                    index = self._sources(index + 1)
                    continue
                index += 1
                if text == ")" and self.openers and self.openers.pop() is _SOURCE:
                    index = self._after_derived(index)

    # clauses

    def _from(self, index: int) -> int:
        """FROM, JOIN, APPLY, USING: sources, with commas after FROM and USING."""
        word = self.upper(index)
        if word == "FROM" and not self._is_from_clause(index):
            return index + 1
        if word == "USING" and (self.verb not in ("MERGE", "DELETE") or self._is_list_of_columns(index + 1)):
            self._condition(index + 1)
            return index + 1  # of a join, an index, a policy, a conversion, prepared statements
        self.conditions += word == "JOIN" and self.upper(index - 1) not in ("CROSS", "NATURAL")
        return self._sources(index + 1, many=word in ("FROM", "USING"))

    def _sources(self, index: int, *, many: bool = True) -> int:
        """From the first source to behind the last; into a derived table, whose own FROM will be met."""
        while True:
            while self.upper(index) in ("LATERAL", "ONLY", "OUTER"):
                index += 1
            while self.upper(index) == "(":
                self.openers.append(_SOURCE)
                index += 1
                if self.upper(index) in ("SELECT", "VALUES", "WITH"):
                    return index
            index = self._source(index)
            if not many or self.upper(index) != ",":
                return index
            index += 1

    def _after_derived(self, index: int) -> int:
        """What follows the parenthesis of a source at `index`: its alias and columns, and perhaps more sources."""
        index = self._alias(index)
        if self.upper(index) == "(" and self._is_list_of_columns(index):
            index = matching(self.tokens, index)
        return self._sources(index + 1) if self.upper(index) == "," else index

    def _is_list_of_columns(self, index: int) -> bool:
        return self.upper(index) == "(" and self.upper(index + 1) not in ("SELECT", "VALUES", "WITH", "(")

    def _source(self, index: int) -> int:
        """One table, function or variable with its alias."""
        name = self.name(index)
        if name is None:
            if index < len(self.tokens) and self.tokens[index].kind == "variable":
                return self._alias(index + 1)
            return index
        if self.upper(name.end) == "(" and self.upper(name.end + 1) not in ("NOLOCK", "INDEX"):
            if name.parts[-1].lower() not in TABLE_FUNCTIONS and name.parts[-1].lower() not in METHODS:
                self.add(SqlUse.EXECUTES, name, index)
            return name.end  # its arguments are read like any text
        self.add(SqlUse.READS, name, index)
        return self._alias(name.end)

    def _alias(self, index: int) -> int:
        if self.upper(index) == "AS":
            index += 1
        token = self.tokens[index] if index < len(self.tokens) else None
        if token and (token.kind == "quoted" or (token.kind == "word" and token.upper not in NO_ALIAS)):
            self.aliases.add(token.text.strip('[]"`').lower())
            return index + 1
        return index

    def _write(self, index: int) -> int:
        """INSERT, UPDATE, DELETE, MERGE, TRUNCATE."""
        before = self.upper(index - 1)
        if before in BEFORE_EVENTS or (before == "ON" and self.upper(index + 1) in REFERENTIAL_ACTIONS):
            return index + 1
        verb = self.upper(index)
        index += 1
        while self.upper(index) in WRITE_MODIFIERS:
            top = self.upper(index) == "TOP"
            index += 1
            if top and self.upper(index) == "(":
                index = matching(self.tokens, index)
            elif top:
                index += 1
        name = self.name(index)
        if name is None or self.upper(index) == "STATISTICS" or (verb == "UPDATE" and self.upper(name.end) == "("):
            return index
        self.verb, self.awaits_on, self.conditions = verb, False, 0
        if name.is_qualified or verb not in ("UPDATE", "DELETE"):
            self.add(SqlUse.WRITES, name, index)
        else:
            meant, position = self._aliased(name, index)
            if meant is not None:
                self.add(SqlUse.WRITES, meant, position)
        return self._alias(name.end) if verb == "MERGE" else name.end

    def _into(self, index: int) -> int:
        """`SELECT … INTO t` and `OUTPUT … INTO t`; the INTO of INSERT and MERGE is read with them."""
        name = self.name(index + 1)
        if name is not None and not (self.assigns_into and not name.is_qualified) and not self._fetches(index):
            self.add(SqlUse.WRITES, name, index + 1)
            return name.end
        return index + 1

    def _execute(self, index: int) -> int:
        """EXEC, EXECUTE, CALL, with `@code =` and PostgreSQL's EXECUTE FUNCTION."""
        index += 1
        if self.upper(index) in ("FUNCTION", "PROCEDURE"):
            index += 1
        if index + 1 < len(self.tokens) and self.tokens[index].kind == "variable" and self.upper(index + 1) == "=":
            index += 2
        name = self.name(index)
        if name is None or self.upper(index) in ("AS", "IMMEDIATE"):  # WITH EXECUTE AS OWNER
            return index
        self.verb = "EXECUTE"
        self.add(SqlUse.EXECUTES, name, index)
        return name.end

    def _reference(self, index: int) -> int:
        """The target of a foreign key."""
        name = self.name(index + 1)
        if name is None:
            return index + 1
        self.add(SqlUse.REFERENCES, name, index + 1)
        return name.end

    def on(self, index: int) -> int:
        """The table of a trigger or an index: the first ON after its name; else perhaps the condition of a join."""
        if self.conditions and not self.awaits_on:
            self._condition(index + 1)
            return index + 1
        position = index + 2 if self.upper(index + 1) == "ONLY" else index + 1
        name = self.name(position)
        if not self.awaits_on or name is None:
            return index + 1
        self.awaits_on = False
        if self.upper(position) not in NOT_TABLES:
            self.add(SqlUse.ON, name, position)
        return name.end

    def _condition(self, index: int) -> None:
        """Marks the comma that ends the condition of a join: `FROM a JOIN b ON a.x = b.x, c`."""
        if not self.conditions:
            return
        self.conditions -= 1
        depth = 0
        for position in range(index, min(len(self.tokens), index + LIST_TOKENS)):
            word = self.upper(position)
            depth += (word == "(") - (word == ")")
            if depth < 0 or (depth == 0 and word in CONDITION_ENDS):
                break
            if depth == 0 and word == ",":
                self.commas.add(position)
                break

    def _for(self, index: int) -> int:
        """`CREATE SYNONYM x FOR y` and `NEXT VALUE FOR sequence`."""
        name = self.name(index + 1)
        if name is None:
            return index + 1
        if self.upper(index - 1) == "VALUE":
            self.add(SqlUse.USES, name, index + 1)
            return name.end
        if self.verb == "SYNONYM":
            self.verb = ""
            self.add(SqlUse.SYNONYM_FOR, name, index + 1)
            return name.end
        return index + 1

    def _variable(self, index: int) -> int:
        """`@Lines sales.OrderLineList`: a variable or parameter of a user-defined type."""
        position = index + 1
        if self.upper(position) == "AS":
            position += 1
        name = name_at(self.tokens, position)
        if name is not None and name.is_qualified and self.upper(name.end) != "(" and not self._is_alias(name):
            self.add(SqlUse.USES, name, position)
            return name.end
        return index + 1

    def _call(self, index: int) -> int:
        """`schema.function(…)` in an expression. Without schema it cannot be told from a built-in function."""
        if self.upper(index + 3) not in (".", "("):
            return index + 3  # `alias.column`
        name = name_at(self.tokens, index)
        if name is None:
            return index + 1
        called = name.is_qualified and self.upper(name.end) == "("
        if called and not self._is_alias(name) and name.parts[-1].lower() not in METHODS:
            self.add(SqlUse.EXECUTES, name, index)
        return name.end

    # what surrounds a token

    def upper(self, index: int) -> str:
        return upper_at(self.tokens, index)

    def name(self, index: int) -> Name | None:
        """The name at `index`, unless a reserved word or nothing stands there."""
        if self.upper(index) in RESERVED:
            return None
        return name_at(self.tokens, index)

    def add(self, use: SqlUse, name: Name, index: int, kind: str = "") -> None:
        self.found.append(SqlMention(use, name, self.tokens[index].start, kind))

    def _is_alias(self, name: Name) -> bool:
        return name.parts[0].lower() in self.aliases or name.parts[0].lower() in ROWS_OF_TRIGGERS

    def _is_from_clause(self, index: int) -> bool:
        if self.openers and self.openers[-1] in VALUE_FUNCTIONS:
            return False
        if self.grants:
            self.grants = False
            return False
        if self.upper(index - 1) == "DISTINCT" and self.upper(index - 2) in ("IS", "NOT"):
            return False
        return not self._fetches(index)

    def _fetches(self, index: int) -> bool:
        """`FETCH NEXT FROM cursor INTO @x`."""
        return any(self.upper(i) == "FETCH" for i in range(max(0, index - 5), index))

    def _aliased(self, name: Name, index: int) -> tuple[Name | None, int]:
        """The table that a target of UPDATE or DELETE means and where it stands: the target itself, unless the FROM of
        the statement gives its name as an alias. None where that is an alias of a variable or a derived table."""
        wanted = name.parts[0].lower()
        for position in range(name.end, len(self.tokens)):
            word = self.upper(position)
            if word in STATEMENTS or word == ";":
                break
            if word not in ("FROM", "JOIN", ",", ")"):
                continue
            source = self.name(position + 1) if word != ")" else None
            after = position + 1 if word == ")" else source.end if source is not None else position + 2
            after += self.upper(after) == "AS"
            is_alias = after < len(self.tokens) and self.tokens[after].text.strip('[]"`').lower() == wanted
            if not is_alias or self.upper(after + 1) in (".", "=", "("):
                continue
            is_variable = word != ")" and source is None and self.tokens[position + 1].kind == "variable"
            if source is not None:
                return source, position + 1
            if is_variable or (word == ")" and self.upper(after) not in NO_ALIAS):
                return None, index
        return name, index


_CLAUSES = {
    **dict.fromkeys(("FROM", "JOIN", "APPLY", "USING"), Reader._from),
    **dict.fromkeys(("INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE"), Reader._write),
    **dict.fromkeys(("EXEC", "EXECUTE", "CALL"), Reader._execute),
    **dict.fromkeys(("CREATE", "ALTER"), definitions.create),
    **dict.fromkeys(("REVOKE", "RESTORE"), definitions.grant),
    "COPY": definitions.copy,
    "DROP": definitions.drop,
    "INTO": Reader._into,
    "REFERENCES": Reader._reference,
    "ON": Reader.on,
    "FOR": Reader._for,
}
