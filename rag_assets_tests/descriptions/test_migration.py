"""What descriptions of migrations say of tables and columns."""

from __future__ import annotations

import pytest

from rag_assets.descriptions.kinds.ef_context import MigrationDescription
from rag_assets_tests.descriptions.behaving import sections_of, snippets_of, stored_and_read
from rag_assets_tests.descriptions.label import label_of

CORE = """\
namespace Shop.Migrations;

public partial class AddOrders : Migration
{
    protected override void Up(MigrationBuilder migrationBuilder)
    {
        migrationBuilder.CreateTable(
            name: "Orders",
            schema: "sales",
            columns: table => new
            {
                Id = table.Column<int>(type: "int", nullable: false)
                    .Annotation("SqlServer:Identity", "1, 1"),
                CustomerId = table.Column<int>(nullable: false)
            },
            constraints: table =>
            {
                table.PrimaryKey("PK_Orders", x => x.Id);
                table.ForeignKey(name: "FK", column: x => x.CustomerId, principalTable: "Customers",
                    principalColumn: "Id");
            });

        migrationBuilder.CreateIndex(name: "IX_Orders", table: "Orders", column: "CustomerId");
        migrationBuilder.AddColumn<string>(name: "Nick", table: "Customers", nullable: true);
        migrationBuilder.AddColumn<string>(name: "Phone", table: "Customers", nullable: true);
        migrationBuilder.RenameColumn(name: "Mail", table: "Customers", newName: "EMail");
        migrationBuilder.DropTable(name: "Leads");
        migrationBuilder.Sql("UPDATE Customers SET Nick = Name");
    }

    protected override void Down(MigrationBuilder migrationBuilder) => migrationBuilder.DropTable("Never");
}
"""


def described(text: str) -> MigrationDescription:
    found = label_of({"src/Migrations/M.cs": text}).first("src/Migrations/M.cs")
    assert isinstance(found, MigrationDescription)
    return found


@pytest.mark.rule("F07", "F14")
def test_a_migration_says_which_tables_and_columns_it_changes() -> None:
    found = described(CORE)
    assert found.summary == (
        "Creates sales.Orders; drops Leads; adds Nick, Phone to Customers; renames Mail of Customers to EMail."
    )
    assert found.tables() == ("sales.Orders", "Orders", "Customers", "Leads")
    (snippet,) = snippets_of(found).values()
    assert (
        "creates sales.Orders (Id, CustomerId); adds a foreign key from sales.Orders (CustomerId) to Customers\n"
        "adds an index to Orders (CustomerId)\n"
        "adds Nick, Phone to Customers\n"
        "renames Mail of Customers to EMail\n"
        "drops Leads\n"
        "runs SQL\n"
    ) in snippet
    assert "Never" not in snippet.partition("void Down")[0]


@pytest.mark.rule("F14")
def test_what_a_migration_changes_leads_to_its_node_in_the_graph() -> None:
    (section,) = sections_of(stored_and_read(described(CORE)))
    assert "csharp:Shop.Migrations.AddOrders|MIGRATION" in section.graph_node_keys
    assert "csharp:Shop.Migrations.AddOrders|TYPE" in section.graph_node_keys


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('CreateTable("dbo.Orders", c => new { Id = c.Int(), Name = c.String() });', "Creates dbo.Orders."),
        ('AddColumn("dbo.Orders", "Nick", c => c.String());', "Adds Nick to dbo.Orders."),
        ('RenameTable("Old", "New");', "Renames Old to New."),
        ('Create.Table("Orders").WithColumn("Id").AsInt32();', "Creates Orders."),
        ('Create.Column("Nick").OnTable("Orders").AsString();', "Adds Nick to Orders."),
        ('Delete.Column("Nick").FromTable("Orders");', "Drops Nick from Orders."),
        ('Rename.Column("Nick").OnTable("Orders").To("Name");', "Renames Nick of Orders to Name."),
        ('Create.ForeignKey("FK").FromTable("Orders").ForeignColumn("A").ToTable("People").PrimaryColumn("Id");',
         "Adds a foreign key from Orders (A) to People."),
        ('Create.Index("IX").OnTable("Orders").OnColumn("Id");', "Adds an index to Orders (Id)."),
        ('Alter.Table("Orders").AddColumn("Nick").AsString();', "Alters Orders."),
        ('Insert.IntoTable("Orders").Row(new { Id = 1 });', "Inserts rows into Orders."),
        ('Sql("DROP TABLE X");', "Runs SQL."),
    ],
)  # fmt: skip
def test_other_dialects_say_the_same(body: str, said: str) -> None:
    text = f"class M1 : DbMigration {{ public override void Up() {{ {body} }} }}"
    assert described(text).summary == said


@pytest.mark.parametrize("text", ["class M : Migration { void Up() { Log(1); } }", "class M : Migration { }"])
def test_a_migration_that_changes_nothing_known_is_still_described(text: str) -> None:
    assert not described(text).operations and snippets_of(described(text))
