"""The words of SQL that tell a name from a clause, and an object of the user from one of the system."""

from __future__ import annotations

_RESERVED = (
    "ADD AFTER ALL ALTER AND AS BEFORE BEGIN BY CASE CHECK COLUMN CONSTRAINT CREATE CROSS DEFAULT DELETE DISABLE "
    "DISTINCT DROP ELSE ENABLE END EXCEPT EXEC EXECUTE EXISTS FOR FOREIGN FROM FULL GO GRANT GROUP HAVING IF IN INDEX "
    "INNER INSERT INSTEAD INTERSECT INTO IS JOIN KEY LEFT LIKE LIMIT MERGE NOT NULL OF ON OR ORDER OUTER OUTPUT "
    "PRIMARY REFERENCES RETURN RETURNING RIGHT SELECT SET TABLE THEN TO TRIGGER UNION UNIQUE UPDATE USING VALUES "
    "VIEW WHEN WHERE WHILE WITH"
)
RESERVED = frozenset(_RESERVED.split())
"""Words that no unquoted name is: after them a clause goes on, a name would not begin."""

_AFTER_SOURCES = (
    "APPLY COMMIT DECLARE FETCH NATURAL OFFSET OPTION PIVOT PRINT RAISERROR TABLESAMPLE THROW UNPIVOT WINDOW"
)
NO_ALIAS = RESERVED | frozenset(_AFTER_SOURCES.split())
"""What may follow a table and is not its alias."""

_CONDITIONS = "ALL AND CASE DISTINCT ELSE END EXISTS IN IS LEFT LIKE NOT NULL OR RIGHT THEN WHEN"
CONDITION_ENDS = (NO_ALIAS | {"SELECT", ";"}) - frozenset(_CONDITIONS.split())
"""What ends the condition of a join; LEFT and RIGHT are functions too, and the JOIN after them ends it."""

ROWS_OF_TRIGGERS = frozenset({"inserted", "deleted", "new", "old", "dual"})
SYSTEM_SCHEMAS = frozenset({"sys", "information_schema", "pg_catalog", "performance_schema"})
SYSTEM_DATABASES = frozenset({"master", "model", "msdb", "tempdb"})
SYSTEM_PREFIXES = ("sp_", "xp_", "pg_")
SYSTEM_TABLE_PREFIXES = ("pg_", "sqlite_")
"""Reserved by PostgreSQL and SQLite."""

_SYSTEM_TABLES = (
    "syscolumns syscomments sysconstraints sysforeignkeys sysindexes sysobjects sysprocesses systypes sysusers"
)
SYSTEM_TABLES = frozenset(_SYSTEM_TABLES.split())
"""Catalogs that are written without the schema they are in."""

_TABLE_FUNCTIONS = (
    "changetable containstable freetexttable generate_series json_array_elements json_each json_table "
    "json_to_recordset jsonb_array_elements jsonb_each jsonb_to_recordset opendatasource openjson openquery openrowset "
    "openxml regexp_split_to_table string_split unnest xmltable"
)
TABLE_FUNCTIONS = frozenset(_TABLE_FUNCTIONS.split())
"""Functions of the system that stand where a table may."""

_METHODS = "exist getancestor modify nodes parse query tostring value write"
METHODS = frozenset(_METHODS.split())
"""Methods of XML, CLR and hierarchy columns: `x.value('…')` calls no function of the database."""

VALUE_FUNCTIONS = frozenset({"EXTRACT", "SUBSTRING", "TRIM", "OVERLAY", "POSITION"})
"""`EXTRACT(day FROM x)`: FROM is no clause in their parentheses."""

_WRITE_MODIFIERS = "DELAYED FROM HIGH_PRIORITY IGNORE INTO LOW_PRIORITY ONLY OVERWRITE QUICK TABLE TOP"
WRITE_MODIFIERS = frozenset(_WRITE_MODIFIERS.split())
"""What may stand between INSERT, UPDATE … and the table."""

_STATEMENTS = "COMMIT DECLARE DELETE EXEC EXECUTE IF INSERT MERGE RETURN ROLLBACK TRUNCATE UPDATE WHILE"
STATEMENTS = frozenset(_STATEMENTS.split())
"""Where the FROM of a statement before can no longer follow."""

BEFORE_EVENTS = frozenset({"AFTER", "BEFORE", "OF", "FOR", "KEY", "OR", ","})
"""Before UPDATE or DELETE: an event (`AFTER UPDATE`) or a part of another statement (`ON DUPLICATE KEY UPDATE`)."""

REFERENTIAL_ACTIONS = frozenset({"CASCADE", "RESTRICT", "NO", "SET", "CURRENT_TIMESTAMP", "NOW"})
"""After `ON UPDATE`: an action, while `SET NOCOUNT ON UPDATE t` begins a statement."""

_OBJECT_WORDS = "DATABASE FUNCTION INDEX PROC PROCEDURE SCHEMA SEQUENCE STATISTICS SYNONYM TABLE TRIGGER TYPE VIEW"
OBJECT_WORDS = frozenset(_OBJECT_WORDS.split())
"""What CREATE, ALTER and DROP may be followed by and may concern tables."""

ALTERED = frozenset({"EXTERNAL", "FOREIGN", "MATERIALIZED"})
"""What may stand between ALTER and the kind of the object: `ALTER COLUMN c TYPE int` alters no type."""

CONDITIONS = frozenset({"CONCURRENTLY", "EXISTS", "IF", "NOT", "ONLY"})
"""What may stand between the kind of an object and its name."""

PRINCIPALS = frozenset({"LOGIN", "USER"})
"""`CREATE LOGIN x FROM WINDOWS`: no table follows."""

NOT_TABLES = frozenset({"ALL", "DATABASE", "SCHEMA", "SERVER"})
"""`CREATE TRIGGER … ON DATABASE`."""

AFTER_VIEW = frozenset(
    {"ALTER", "COMMENT", "CREATE", "DENY", "DROP", "EXEC", "EXECUTE", "GRANT", "INSERT", "PRINT", "REVOKE", "USE"}
)
"""Statements that end a view before them, for which a query needs none of these words."""

STATEMENT_STARTS = AFTER_VIEW | {
    *("BEGIN", "COMMIT", "DECLARE", "DELETE", "END", "IF", "MERGE", "ROLLBACK", "SET", "TRUNCATE", "UPDATE"),
}
"""What may begin a statement where a line begins."""

BLOCKS = {"BEGIN": 1, "CASE": 1, "END": -1}
BLOCK_ENDS = frozenset({"IF", "LOOP", "WHILE", "REPEAT", "FOR"})
"""After END: `END IF` closes no BEGIN."""

ALTER_ACTIONS = frozenset({"COLUMN", "CONSTRAINT", "INDEX", "PARTITION", "PRIMARY", "FOREIGN", "PERIOD"})
"""After ALTER and DROP in an ALTER TABLE: clauses of it."""

SET_ACTIONS = frozenset({"NULL", "DEFAULT", "("})
"""After SET in a table: `ON DELETE SET NULL`."""
