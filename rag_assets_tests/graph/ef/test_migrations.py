"""Migrations: which tables they change."""

from __future__ import annotations

import pytest

from rag_assets.graph.extract.ef_model import ef_migrations
from rag_assets_tests.graph.chains import edges_by, nodes_by

CORE = """
    namespace Shop.Migrations;
    public partial class AddOrders : Migration
    {
        protected override void Up(MigrationBuilder migrationBuilder)
        {
            migrationBuilder.CreateTable(
                name: "Orders",
                schema: "sales",
                columns: table => new { Id = table.Column<int>() },
                constraints: table =>
                {
                    table.ForeignKey(name: "FK", column: x => x.Id, principalTable: "Customers", principalColumn: "Id");
                });
            migrationBuilder.AddColumn<string>(name: "Nick", table: "Customers", nullable: true);
            migrationBuilder.RenameTable(name: "Old", newName: "New");
            migrationBuilder.DropIndex("IX_A", "Plain");
        }
        protected override void Down(MigrationBuilder migrationBuilder) => migrationBuilder.DropTable("Never");
    }
"""


def test_what_up_does_changes_tables() -> None:
    found = edges_by(ef_migrations, {"a.cs": CORE}, "SchemaChange")
    assert [edge.split()[2] for edge in found] == [
        "dbo.Customers|TABLE_OR_VIEW",
        "dbo.New|TABLE_OR_VIEW",
        "dbo.Old|TABLE_OR_VIEW",
        "dbo.Plain|TABLE_OR_VIEW",
        "sales.Orders|TABLE_OR_VIEW",
    ]


def test_foreign_keys_between_tables() -> None:
    assert edges_by(ef_migrations, {"a.cs": CORE}, "ForeignKey") == [
        "sales.Orders|TABLE_OR_VIEW ForeignKey dbo.Customers|TABLE_OR_VIEW resolved"
    ]


def test_a_migration_is_a_node_and_its_class() -> None:
    assert nodes_by(ef_migrations, {"a.cs": CORE}) == ["csharp:Shop.Migrations.AddOrders|MIGRATION"]
    assert edges_by(ef_migrations, {"a.cs": CORE}, "MapsTo") == [
        "Shop.Migrations.AddOrders|MIGRATION MapsTo Shop.Migrations.AddOrders|TYPE resolved"
    ]


@pytest.mark.parametrize(
    ("body", "tables"),
    [
        ('CreateTable("dbo.Orders", c => new { Id = c.Int() }).ForeignKey("dbo.People", t => t.Id);', {"Orders"}),
        ('AddColumn("dbo.Orders", "Nick", c => c.String());', {"Orders"}),
        ('Create.Table("Orders").WithColumn("Id").AsInt32();', {"Orders"}),
        ('Create.Index("IX").OnTable("Orders").OnColumn("Id");', {"Orders"}),
        ("CreateTable(Name, c => new { });", set()),
        ('Sql("DROP TABLE X");', set()),
        ('Log.Table("Orders");', set()),
    ],
    ids=["ef6-create", "ef6-column", "fluent-table", "fluent-index", "computed-name", "sql", "no-operation"],
)
def test_other_dialects(body: str, tables: set[str]) -> None:
    text = f"class M1 : DbMigration {{ public override void Up() {{ {body} }} }}"
    found = edges_by(ef_migrations, {"a.cs": text}, "SchemaChange")
    assert {edge.split()[2].removeprefix("dbo.").removesuffix("|TABLE_OR_VIEW") for edge in found} == tables


def test_ef6_names_the_principal_in_the_chain() -> None:
    body = 'CreateTable("dbo.Orders", c => new { }).PrimaryKey(t => t.Id).ForeignKey("dbo.People", t => t.Id);'
    text = f"class M1 : DbMigration {{ public override void Up() {{ {body} }} }}"
    assert edges_by(ef_migrations, {"a.cs": text}, "ForeignKey") == [
        "dbo.Orders|TABLE_OR_VIEW ForeignKey dbo.People|TABLE_OR_VIEW resolved"
    ]


@pytest.mark.parametrize(
    "text", ["class M : Migration { }", "class M : Migration { void Up( }", "class M : Migration;"]
)
def test_broken_migrations_stay_nodes(text: str) -> None:
    assert nodes_by(ef_migrations, {"a.cs": text}) == ["csharp:M|MIGRATION"]
