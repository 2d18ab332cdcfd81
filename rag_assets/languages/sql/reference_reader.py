"""Every reference to a database object in a piece of SQL, by the words before its name, in one pass over the tokens.

No parser: clauses are recognised by their keywords, in any dialect, and what is no statement is passed over. Left out
are variables, temporary tables, common table expressions, aliases, the tables of a trigger's rows, and what belongs to
the system.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from rag_assets.languages.sql import lexer
from rag_assets.languages.sql.lexer import (
    LIST_TOKENS,
    NO_ALIAS,
    NOT_TABLES,
    OBJECT_WORDS,
    ROWS_OF_TRIGGERS,
    ObjectName,
    Token,
    after_parenthesis,
    name_at,
    unreserved_name_at,
    upper_at,
)


class SqlUse(StrEnum):
    """What a statement does with the object it names."""

    READS = "reads"
    WRITES = "writes"
    EXECUTES = "executes"  # procedures, and functions wherever they are called
    USES = "uses"  # sequences and user-defined types
    ON = "on"  # of triggers and indexes
    REFERENCES = "references"  # of foreign keys
    SYNONYM_FOR = "synonym for"
    CREATES = "creates"  # whatever is not gone with the session
    ALTERS = "alters"
    DROPS = "drops"


class ObjectReference(NamedTuple):
    """`start` is the offset of the name in the text; `kind` what CREATE, ALTER or DROP call it: TABLE, VIEW …"""

    use: SqlUse
    name: ObjectName
    start: int
    kind: str = ""


def table_expressions(tokens: Sequence[Token]) -> dict[str, list[tuple[int, int]]]:
    """Name in lower case → ranges of the tokens where it means an expression, from its WITH to the end of the
    statement as far as a `;` or GO tells."""
    starts = [index for index, token in enumerate(tokens) if token.upper == "WITH"]
    found: dict[str, list[tuple[int, int]]] = {}
    if not starts:
        return found
    after = _after_parentheses(tokens)
    ends = [index for index, token in enumerate(tokens) if token.upper in (";", "GO")]
    for start in starts:
        next_end = bisect_right(ends, start)
        end = ends[next_end] if next_end < len(ends) else len(tokens)
        for name, _ in _expressions(tokens, start + 1 + (upper_at(tokens, start + 1) == "RECURSIVE"), after):
            found.setdefault(name, []).append((start, end))
    return found


def _expressions(tokens: Sequence[Token], index: int, after: dict[int, int]) -> Iterator[tuple[str, tuple[int, int]]]:
    """The expressions of a WITH by their names in lower case, each with the range of its query."""
    while True:
        name = name_at(tokens, index)
        if name is None:
            return
        position = after.get(name.end, name.end)
        if upper_at(tokens, position) != "AS":
            return
        while upper_at(tokens, position) in ("AS", "NOT", "MATERIALIZED"):
            position += 1
        if upper_at(tokens, position) != "(":
            return
        begin, position = position, after.get(position, len(tokens))
        yield name.parts[-1].lower(), (begin, position)
        if upper_at(tokens, position) != ",":
            return
        index = position + 1


def _after_parentheses(tokens: Sequence[Token]) -> dict[int, int]:
    """For each parenthesis that is closed, the index after the one that closes it."""
    found: dict[int, int] = {}
    openers: list[int] = []
    for index, token in enumerate(tokens):
        if token.upper == "(":
            openers.append(index)
        elif token.upper == ")" and openers:
            found[openers.pop()] = index + 1
    return found


_PROCEDURAL = re.compile(
    r"\$\w*\$|\bLANGUAGE\s+'?plpgsql\b|^[ \t]*DELIMITER\b|\bPACKAGE\s+BODY\b|%(?:ROW)?TYPE\b",
    re.IGNORECASE | re.MULTILINE,
)
_SOURCE = "FROM ("
"""In place of the word before a parenthesis: it holds a source of FROM."""

_HEAD_TOKENS = 10
"""Between CREATE and the kind of the object: `CREATE OR ALTER …`, `CREATE UNIQUE NONCLUSTERED INDEX`, DEFINER."""

_QUERIES = ("SELECT", "VALUES", "WITH")


def references_in(tokens: Sequence[Token], *, assigns_into: bool = False) -> list[ObjectReference]:
    """All references in text order, repeated ones too.

    `assigns_into` says that `SELECT … INTO x` fills a variable, as it does in the procedural languages of PostgreSQL,
    Oracle and MySQL, and not a new table. Never raises; linear for all practical statements.
    """
    expressions = table_expressions(tokens)
    reader = _Reader(tokens, assigns_into)
    reader.read()
    known = reader.found if not expressions else list(_through_expressions(reader.found, tokens, expressions))
    return [found for found in known if not _is_temporary(found, reader.local, expressions) and _is_own(found)]


def _through_expressions(
    known: Sequence[ObjectReference], tokens: Sequence[Token], expressions: dict[str, list[tuple[int, int]]]
) -> Iterator[ObjectReference]:
    """The references, and the write to the table of an expression that a statement changes: `WITH t AS (SELECT * FROM
    Orders) DELETE FROM t` deletes orders. Nothing of an expression of several tables."""
    after = _after_parentheses(tokens)
    for found in known:
        yield found
        name = found.name.parts[-1].lower()
        if found.use is not SqlUse.WRITES or found.name.is_qualified or name not in expressions:
            continue
        begun = [start for start, end in expressions[name] if start < found.name.end <= end]
        for start in begun[-1:]:
            queries = dict(_expressions(tokens, start + 1 + (upper_at(tokens, start + 1) == "RECURSIVE"), after))
            first, last = queries[name]
            read = {
                one.name.parts: one.name for one in known if one.use is SqlUse.READS and first < one.name.end <= last
            }
            if len(read) == 1:
                yield ObjectReference(SqlUse.WRITES, next(iter(read.values())), found.start)


def is_procedural(text: str) -> bool:
    """Whether a script is in a procedural language of PostgreSQL, Oracle or MySQL; see `assigns_into`."""
    return _PROCEDURAL.search(text) is not None


def _is_temporary(found: ObjectReference, local: set[str], expressions: dict[str, list[tuple[int, int]]]) -> bool:
    """A temporary table, a common table expression, a row of a trigger."""
    last = found.name.parts[-1].lower()
    if last.startswith("#"):
        return True
    if found.name.is_qualified:
        return False
    scopes = expressions.get(last, ())
    return last in ROWS_OF_TRIGGERS or last in local or any(start <= found.name.end <= end for start, end in scopes)


def _is_own(found: ObjectReference) -> bool:
    """An object of the database, not of the system."""
    *before, last = (part.lower() for part in found.name.parts)
    if before and (before[0] in lexer.SYSTEM_SCHEMAS or before[-1] in lexer.SYSTEM_SCHEMAS):
        return False
    if len(before) > 1 and before[-2] in lexer.SYSTEM_DATABASES:
        return False
    written_alone = not before or before[-1] in ("", "dbo")
    is_of_system = last in lexer.SYSTEM_TABLES or last.startswith(lexer.SYSTEM_TABLE_PREFIXES)
    return not (written_alone and is_of_system)


@dataclass(slots=True)
class _Reader:
    """Each clause takes the index of its keyword and returns where to go on.

    `openers` holds the word before each open parenthesis, `verb` how the statement began. `awaits_on` says that the
    table of a trigger is still to come, `grants` that a user follows the next FROM, not a table. `local` are temporary
    tables whose names do not say so, in lower case. `conditions` counts the joins whose ON is still to come, `commas`
    are the indexes of those that go on with the sources after the condition of a join.
    """

    tokens: Sequence[Token]
    assigns_into: bool = False
    found: list[ObjectReference] = field(default_factory=list)
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
            elif text == "," and index in self.commas:
                index = self._sources(index + 1)
            else:
                if text == "(":
                    self.openers.append(self.upper(index - 1))
                index += 1
                if text == ")" and self.openers and self.openers.pop() is _SOURCE:
                    index = self._after_derived(index)

    # sources

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

    def _is_from_clause(self, index: int) -> bool:
        if self.openers and self.openers[-1] in lexer.VALUE_FUNCTIONS:
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

    def _sources(self, index: int, *, many: bool = True) -> int:
        """From the first source to behind the last; into a derived table, whose own FROM will be met."""
        while True:
            index = self._past(index, ("LATERAL", "ONLY", "OUTER"))
            while self.upper(index) == "(":
                self.openers.append(_SOURCE)
                index += 1
                if self.upper(index) in _QUERIES:
                    return index
            index = self._source(index)
            if not many or self.upper(index) != ",":
                return index
            index += 1

    def _source(self, index: int) -> int:
        """One table, function or variable with its alias."""
        name = self.name(index)
        if name is None:
            return self._alias(index + 1) if self._is_variable(index) else index
        if self.upper(name.end) == "(" and self.upper(name.end + 1) not in ("NOLOCK", "INDEX"):
            called = name.parts[-1].lower()
            if called not in lexer.TABLE_FUNCTIONS and called not in lexer.METHODS:
                self.add(SqlUse.EXECUTES, name, index)
            return name.end  # its arguments are read like any text
        self.add(SqlUse.READS, name, index)
        return self._alias(name.end)

    def _after_derived(self, index: int) -> int:
        """What follows the parenthesis of a source at `index`: its alias and columns, and perhaps more sources."""
        index = self._alias(index)
        if self._is_list_of_columns(index):
            index = after_parenthesis(self.tokens, index)
        return self._sources(index + 1) if self.upper(index) == "," else index

    def _is_list_of_columns(self, index: int) -> bool:
        return self.upper(index) == "(" and self.upper(index + 1) not in (*_QUERIES, "(")

    def _alias(self, index: int) -> int:
        index += self.upper(index) == "AS"
        token = self.tokens[index] if index < len(self.tokens) else None
        if token and (token.kind == "quoted" or (token.kind == "word" and token.upper not in NO_ALIAS)):
            self.aliases.add(token.text.strip('[]"`').lower())
            return index + 1
        return index

    def _condition(self, index: int) -> None:
        """Marks the comma that ends the condition of a join: `FROM a JOIN b ON a.x = b.x, c`."""
        if not self.conditions:
            return
        self.conditions -= 1
        depth = 0
        for position in range(index, min(len(self.tokens), index + LIST_TOKENS)):
            word = self.upper(position)
            depth += (word == "(") - (word == ")")
            if depth < 0 or (depth == 0 and word in lexer.CONDITION_ENDS):
                break
            if depth == 0 and word == ",":
                self.commas.add(position)
                break

    # statements about rows

    def _write(self, index: int) -> int:
        """INSERT, UPDATE, DELETE, MERGE, TRUNCATE."""
        before = self.upper(index - 1)
        if before in lexer.BEFORE_EVENTS:
            return index + 1
        if before == "ON" and self.upper(index + 1) in lexer.REFERENTIAL_ACTIONS:
            return index + 1
        verb = self.upper(index)
        index += 1
        while self.upper(index) in lexer.WRITE_MODIFIERS:
            index += 1
            if self.upper(index - 1) == "TOP":
                index = after_parenthesis(self.tokens, index) if self.upper(index) == "(" else index + 1
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

    def _aliased(self, name: ObjectName, index: int) -> tuple[ObjectName | None, int]:
        """The table that a target of UPDATE or DELETE means and where it stands: the target itself, unless the FROM of
        the statement gives its name as an alias. None where that is an alias of a variable or a derived table."""
        wanted = name.parts[0].lower()
        for position in range(name.end, len(self.tokens)):
            word = self.upper(position)
            if word in lexer.STATEMENTS or word == ";":
                break
            if word not in ("FROM", "JOIN", ",", ")"):
                continue
            source = self.name(position + 1) if word != ")" else None
            after = position + 1 if word == ")" else source.end if source is not None else position + 2
            after += self.upper(after) == "AS"
            is_alias = after < len(self.tokens) and self.tokens[after].text.strip('[]"`').lower() == wanted
            if not is_alias or self.upper(after + 1) in (".", "=", "("):
                continue
            if source is not None:
                return source, position + 1
            if self.upper(after) not in NO_ALIAS if word == ")" else self._is_variable(position + 1):
                return None, index
        return name, index

    def _into(self, index: int) -> int:
        """`SELECT … INTO t` and `OUTPUT … INTO t`; the INTO of INSERT and MERGE is read with them."""
        name = self.name(index + 1)
        is_variable = name is not None and self.assigns_into and not name.is_qualified
        return index + 1 if is_variable or self._fetches(index) else self._named(SqlUse.WRITES, index + 1)

    def _execute(self, index: int) -> int:
        """EXEC, EXECUTE, CALL, with `@code =` and PostgreSQL's EXECUTE FUNCTION."""
        index += 1
        if self.upper(index) in ("FUNCTION", "PROCEDURE"):
            index += 1
        if self._is_variable(index) and self.upper(index + 1) == "=":
            index += 2
        if self.name(index) is None or self.upper(index) in ("AS", "IMMEDIATE"):  # WITH EXECUTE AS OWNER
            return index
        self.verb = "EXECUTE"
        return self._named(SqlUse.EXECUTES, index)

    def _copy(self, index: int) -> int:
        """PostgreSQL's `COPY t (a, b) FROM …` writes, `COPY t TO …` reads."""
        name = self.name(index + 1)
        if name is None:
            return index + 1
        after = after_parenthesis(self.tokens, name.end) if self.upper(name.end) == "(" else name.end
        if self.upper(after) not in ("FROM", "TO"):
            return index + 1
        self.add(SqlUse.WRITES if self.upper(after) == "FROM" else SqlUse.READS, name, index + 1)
        return after + 1

    # statements about objects

    def _create(self, index: int) -> int:
        """Past the name of what CREATE or ALTER define, or past the table of an index."""
        alters = self.upper(index) == "ALTER"
        for position in range(index + 1, min(index + _HEAD_TOKENS, len(self.tokens))):
            word = self.upper(position)
            if word in OBJECT_WORDS:
                return self._created(index, position, word)
            if word in (";", "CREATE", "DROP") or (alters and word not in lexer.ALTERED):
                break
            self.grants |= word in lexer.PRINCIPALS
        return index + 1

    def _created(self, index: int, position: int, kind: str) -> int:
        self.verb, self.awaits_on = kind, kind == "TRIGGER"
        position = self._past(position + 1, lexer.CONDITIONS)
        name = self.name(position)  # none of an index that PostgreSQL names itself
        if name is not None:
            if kind == "TABLE" and any(self.upper(i) in ("TEMP", "TEMPORARY") for i in range(index, position)):
                self.local.add(name.parts[-1].lower())
            else:
                use = SqlUse.ALTERS if self.upper(index) == "ALTER" else SqlUse.CREATES
                self.add(use, name, position, kind)
            position = name.end
        follows = self.upper(position)
        if kind == "INDEX" and follows == "ON":
            self.awaits_on = True
            return self._on(position)
        if (kind, follows) in (("STATISTICS", "ON"), ("TYPE", "FROM")):
            name = self.name(position + 1)
            return name.end if name is not None else position
        return position

    def _drop(self, index: int) -> int:
        """`DROP TABLE a, b`; `DROP INDEX i ON t` alters the table."""
        position = self._past(index + 1, ("TEMPORARY", "MATERIALIZED"))
        kind = self.upper(position)
        if kind not in OBJECT_WORDS:
            return index + 1  # a column or a constraint
        position = self._past(position + 1, lexer.CONDITIONS)
        while (end := self._named(SqlUse.DROPS, position, kind)) > position:
            position = end
            if self.upper(position) != ",":
                break
            position += 1
        table = self.name(position + 1) if self.upper(position) == "ON" else None
        if table is not None and self.upper(position + 1) not in NOT_TABLES:
            self.add(SqlUse.ALTERS, table, position + 1, "TABLE")
            return table.end
        return position

    def _grant(self, index: int) -> int:
        """REVOKE and RESTORE: their FROM has no table."""
        self.grants = True
        return index + 1

    def _reference(self, index: int) -> int:
        """The target of a foreign key."""
        return self._named(SqlUse.REFERENCES, index + 1)

    def _on(self, index: int) -> int:
        """The table of a trigger or an index: the first ON after its name; else perhaps the condition of a join."""
        if self.conditions and not self.awaits_on:
            self._condition(index + 1)
            return index + 1
        position = index + 1 + (self.upper(index + 1) == "ONLY")
        name = self.name(position)
        if not self.awaits_on or name is None:
            return index + 1
        self.awaits_on = False
        if self.upper(position) not in NOT_TABLES:
            self.add(SqlUse.ON, name, position)
        return name.end

    def _for(self, index: int) -> int:
        """`CREATE SYNONYM x FOR y` and `NEXT VALUE FOR sequence`."""
        if self.upper(index - 1) == "VALUE":
            return self._named(SqlUse.USES, index + 1)
        if self.verb != "SYNONYM" or self.name(index + 1) is None:
            return index + 1
        self.verb = ""
        return self._named(SqlUse.SYNONYM_FOR, index + 1)

    # expressions

    def _variable(self, index: int) -> int:
        """`@Lines sales.OrderLineList`: a variable or parameter of a user-defined type."""
        position = index + 1 + (self.upper(index + 1) == "AS")
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
        if called and not self._is_alias(name) and name.parts[-1].lower() not in lexer.METHODS:
            self.add(SqlUse.EXECUTES, name, index)
        return name.end

    # what stands at a token

    def upper(self, index: int) -> str:
        return upper_at(self.tokens, index)

    def name(self, index: int) -> ObjectName | None:
        return unreserved_name_at(self.tokens, index)

    def add(self, use: SqlUse, name: ObjectName, index: int, kind: str = "") -> None:
        self.found.append(ObjectReference(use, name, self.tokens[index].start, kind))

    def _named(self, use: SqlUse, index: int, kind: str = "") -> int:
        """Adds what is named at `index`. Returns the index after the name, `index` where none stands."""
        name = self.name(index)
        if name is None:
            return index
        self.add(use, name, index, kind)
        return name.end

    def _past(self, index: int, words: Collection[str]) -> int:
        while self.upper(index) in words:
            index += 1
        return index

    def _is_variable(self, index: int) -> bool:
        return index < len(self.tokens) and self.tokens[index].kind == "variable"

    def _is_alias(self, name: ObjectName) -> bool:
        return name.parts[0].lower() in self.aliases or name.parts[0].lower() in ROWS_OF_TRIGGERS


_CLAUSES = {
    **dict.fromkeys(("FROM", "JOIN", "APPLY", "USING"), _Reader._from),
    **dict.fromkeys(("INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE"), _Reader._write),
    **dict.fromkeys(("EXEC", "EXECUTE", "CALL"), _Reader._execute),
    **dict.fromkeys(("CREATE", "ALTER"), _Reader._create),
    **dict.fromkeys(("REVOKE", "RESTORE"), _Reader._grant),
    "COPY": _Reader._copy,
    "DROP": _Reader._drop,
    "INTO": _Reader._into,
    "REFERENCES": _Reader._reference,
    "ON": _Reader._on,
    "FOR": _Reader._for,
}
