"""Tables that attributes of types name, in languages without a resolver."""

from __future__ import annotations

import pytest

from rag_assets.graph.extract.registry import mapped_types
from rag_assets_tests.effort import ends_within
from rag_assets_tests.graph.chains import edges_by

ROWS = [
    ("A.java", '@Entity\n@Table(indexes = @Index(name = "ix", columnList = "a"))\npublic class A { }', "dbo.A"),
    ("A.java", '@Entity\n@Table(indexes = {@Index(name = "ix")}, name = "as")\npublic class A { }', "dbo.as"),
    ("A.java", '@Entity\n@Table(name = "\\"order\\"", schema = "s")\npublic class A { }', "s.order"),
    ("A.kt", '@Entity(indices = [Index(value = ["a"], name = "ix")])\ndata class A(val a: Int)', "dbo.A"),
    ("a.ts", "@Entity({ orderBy: { name: 'ASC' } })\nexport class A { a: number }", "dbo.A"),
    ("a.ts", "@Entity('as', { orderBy: { name: 'ASC' }, schema: 's' })\nexport class A { a: number }", "s.as"),
    ("a.ts", "@Entity({ schema: 's', name: 'as' })\nexport class A { a: number }", "s.as"),
    (
        "A.php",
        "<?php\n#[ORM\\Entity]\n#[ORM\\Table(\n    indexes: [new ORM\\Index(name: 'ix')],\n    name: 'as',\n)]\n"
        "class A\n{\n}",
        "dbo.as",
    ),
]


@pytest.mark.parametrize(("path", "text", "table"), ROWS)
def test_a_type_is_in_the_table_that_it_names_itself_and_not_in_an_index_of_it(
    path: str, text: str, table: str
) -> None:
    (found,) = (edge for edge in edges_by(mapped_types, {path: text + "\n"}) if "|TABLE" in edge)
    assert f" {table}|" in found


@pytest.mark.parametrize("repeated", ["(", "{ name: ", "'a', ", '"', "\\"])
def test_what_an_attribute_is_given_is_read_in_bounded_time(repeated: str) -> None:
    with ends_within(20):
        edges_by(mapped_types, {"a.ts": f"@Entity({repeated * 20_000})\nexport class A {{ a: number }}\n"})
