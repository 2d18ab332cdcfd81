"""SQL in the strings of languages without a resolver."""

from __future__ import annotations

import pytest

from rag_assets.contracts.graph import Relation
from rag_assets.graph.extract.sql_in_code import sql_in_code
from rag_assets.languages.detection import detect_language
from rag_assets.languages.sql.label_objects import SqlSymbols
from rag_assets_tests.effort import ends_within

from .made import NOTHING, file_of, shown, symbols_of

ROWS = [
    (
        "python",
        'def load(cur):\n    """select a from here"""\n    cur.execute("SELECT id FROM orders WHERE a = ?", 1)\n',
        ["ReadsFrom dbo.orders"],
    ),
    (
        "python",
        'def load(cur):\n    cur.execute(\n        "UPDATE stock "\n        "SET amount = amount - 1"\n    )\n',
        ["WritesTo dbo.stock"],
    ),
    (
        "python",
        "def load(name):\n    sql = f'''\n        INSERT INTO audit (what)\n        SELECT a FROM {name}\n    '''\n",
        ["WritesTo dbo.audit"],
    ),
    ("python", 'def load():\n    log.info("SELECT a FROM b")\n', []),
    ("python", "def load():\n    run('CREATE INDEX a ON `%s` (b)')\n    run(f'DELETE FROM \"{name}\"')\n", []),
    ("python", 'def load():\n    label = "Select one from the list"\n    # "SELECT a FROM b"\n', []),
    (
        "go",
        "package a\n\nfunc load() {\n\tdb.Query(`SELECT a\n\t\tFROM orders o JOIN notes n ON n.o = o.id`)\n}\n",
        ["ReadsFrom dbo.notes", "ReadsFrom dbo.orders"],
    ),
    (
        "java",
        'class A {\n  void load() {\n    jdbc.update("DELETE FROM carts " +\n        "WHERE id = ?", 1);\n  }\n}\n',
        ["WritesTo dbo.carts"],
    ),
    ("java", 'class A {\n  @Query("select o from Order o where o.id = ?1")\n  Order load();\n}\n', []),
    (
        "java",
        'class A {\n  @Query(value = "select * from orders where id = ?1", nativeQuery = true)\n  Order load();\n}\n',
        ["ReadsFrom dbo.orders"],
    ),
    (
        "java",
        'class A {\n  @Query("select o from Order o")\n  Order all();\n\n'
        '  @Query(value = "select * from orders", nativeQuery = true)\n  Order load();\n}\n',
        ["ReadsFrom dbo.orders"],
    ),
    ("java", 'class A {\n  void load() {\n    q("SELECT a FROM \\"user\\" u");\n  }\n}\n', ["ReadsFrom dbo.user"]),
    ("python", 'def load(cur):\n    cur.execute("SELECT a FROM log_{}".format(1))\n', []),
    ("python", 'def load():\n    logs_query = "SELECT a FROM logs"\n', ["ReadsFrom dbo.logs"]),
    (
        "vb",
        'Class A\n    Sub Load()\n        Dim cmd As New SqlCommand("SELECT a " & _\n            "FROM sales.Orders")\n'
        "    End Sub\nEnd Class\n",
        ["ReadsFrom sales.Orders"],
    ),
    (
        "php",
        '<?php\nclass A {\n  function load($db) {\n    $db->query("SELECT * FROM users WHERE a = \'" . $a . "\'");\n'
        "    $sql = <<<SQL\n      DELETE FROM sessions\n    SQL;\n  }\n}\n",
        ["ReadsFrom dbo.users", "WritesTo dbo.sessions"],
    ),
    (
        "ruby",
        "class A\n  def load\n    connection.execute(<<~SQL)\n      DELETE FROM tokens\n    SQL\n  end\nend\n",
        ["WritesTo dbo.tokens"],
    ),
    (
        "typescript",
        "export function load(db: Db) {\n  db.query(`SELECT * FROM invoices WHERE id = ${id}`);\n"
        "  db.run('CREATE TABLE a (b int)');\n}\n",
        ["ReadsFrom dbo.invoices", "SchemaChange dbo.a"],
    ),
]


@pytest.mark.parametrize(("language", "text", "said"), ROWS)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_statements_in_strings_are_edges_of_the_member_that_has_them(
    language: str, text: str, said: list[str], line_end: str
) -> None:
    found = list(sql_in_code(file_of(text.replace("\n", line_end), f"src/a.{language}", language), NOTHING))
    assert [one.partition(" ")[2].replace("|TABLE_OR_VIEW", "") for one in shown(found)] == said
    assert all("load" in edge.source.lower() and "|METHOD" in edge.source for edge in found)


def test_a_reference_stands_on_the_line_that_names_it() -> None:
    text = 'def load(cur):\n    cur.execute(\n        "SELECT a "\n        "FROM orders"\n    )\n'
    (edge,) = sql_in_code(file_of(text, "src/a.py", "python"), NOTHING)
    assert edge.line == 4


def test_a_table_that_a_script_creates_is_the_one_that_is_meant() -> None:
    text = 'def load(cur):\n    cur.execute("SELECT a FROM Orders")\n'
    symbols: SqlSymbols = symbols_of("CREATE TABLE sales.orders (a int);")
    (edge,) = sql_in_code(file_of(text, "src/a.py", "python"), symbols)
    assert edge.target == "sales.orders|TABLE"


@pytest.mark.parametrize(
    "repeated", ['"SELECT a FROM b" ', '"SELECT ', "'''SELECT a FROM ", '"SELECT a FROM b" + ', "SELECT (", "<<SQL\n"]
)
@pytest.mark.parametrize("language", ["python", "vb", "php"])
def test_strings_that_never_end_take_linear_time(language: str, repeated: str) -> None:
    text = 'a = "SELECT a FROM b"\n' + repeated * (200_000 // len(repeated))
    file = file_of("a = 1\n", "src/a.py", "python")
    object.__setattr__(file, "language", language)
    object.__setattr__(file, "text", text)
    with ends_within(10):
        list(sql_in_code(file, NOTHING))


@pytest.mark.parametrize("repeated", ["\n", '"--', "\n--"])
def test_what_may_come_before_a_statement_takes_linear_time(repeated: str) -> None:
    file = file_of(repeated * (200_000 // len(repeated)), "src/a.py", "python")
    with ends_within(5):
        assert list(sql_in_code(file, NOTHING)) == []


def test_strings_of_many_members_take_linear_time() -> None:
    text = "".join(f'def f{at}():\n    return "SELECT a FROM t{at}"\n' for at in range(8_000))
    file = file_of(text, "src/a.py", "python")
    with ends_within(2):
        assert len(list(sql_in_code(file, NOTHING))) == 8_000


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        (
            "a.rb",
            "class A\n  def up\n    create_table :ships do |t| end # create_table :none\n  end\nend\n",
            ["dbo.ships"],
        ),
        ("a.py", 'def upgrade():\n    """As create_table("none")."""\n    op.create_table("ships")\n', ["dbo.ships"]),
        ("a.py", "def f():\n    log(\"call create_table('none') first\")\n", []),
        ("a.ts", "export function up(knex) {\n  knex.schema.createTable('port.ships', t => {});\n}\n", ["port.ships"]),
        ("a.ts", "export function up(knex) {\n  knex.schema.createTable(`ships_${year}`, t => {});\n}\n", []),
        ("a.php", "<?php\nclass A {\n  function up() {\n    Schema::create('tbl_' . $a, b());\n  }\n}\n", []),
    ],
)
def test_code_that_creates_a_table_by_its_whole_name_changes_the_schema(path: str, text: str, said: list[str]) -> None:
    edges = sql_in_code(file_of(text, path, detect_language(path)), NOTHING)
    assert [(one.relation, one.target) for one in edges] == [
        (Relation.SCHEMA_CHANGE, f"{name}|TABLE_OR_VIEW") for name in said
    ]
