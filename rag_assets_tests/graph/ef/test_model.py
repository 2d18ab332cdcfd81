"""Contexts, sets, entities and their tables (domain reference §5)."""

from __future__ import annotations

import pytest

from rag_assets.graph.extract.ef_model import ef_model
from rag_assets_tests.graph.chains import edges_by, files_of, nodes_by, symbols_of

CONTEXT = """
    namespace Shop;
    public class ShopContext : DbContext
    {
        public DbSet<Order> Orders { get; set; }
        public DbSet<Customer> People => Set<Customer>();
    }
"""
MODEL = """
    namespace Shop;
    public class Order
    {
        public int Id { get; set; } public Customer Buyer { get; set; } public List<Line> Lines { get; }
    }
    public class Customer { public int Id { get; set; } public string Name { get; set; } }
    public class Line { public int Id { get; set; } }
"""


def model(**more: str) -> dict[str, str]:
    texts = {"Data/ShopContext.cs": CONTEXT, "Model/Model.cs": MODEL}
    return texts | {f"Data/{name}.cs": text for name, text in more.items()}


def test_sets_and_entities_are_nodes() -> None:
    assert nodes_by(ef_model, model()) == [
        "csharp:Shop.Customer|ENTITY",
        "csharp:Shop.Order|ENTITY",
        "csharp:Shop.ShopContext.Orders|DBSET",
        "csharp:Shop.ShopContext.People|DBSET",
    ]


@pytest.mark.rule("D18")
def test_without_configuration_the_set_names_the_table() -> None:
    assert edges_by(ef_model, model(), "MapsTo") == [
        "Shop.Customer|ENTITY MapsTo Shop.Customer|TYPE resolved",
        "Shop.Customer|ENTITY MapsTo dbo.People|TABLE_OR_VIEW probable",
        "Shop.Order|ENTITY MapsTo Shop.Order|TYPE resolved",
        "Shop.Order|ENTITY MapsTo dbo.Orders|TABLE_OR_VIEW probable",
        "Shop.ShopContext.Orders|DBSET MapsTo Shop.Order|ENTITY resolved",
        "Shop.ShopContext.People|DBSET MapsTo Shop.Customer|ENTITY resolved",
    ]


CONFIGURATION = """
    namespace Shop;
    class OrderConfiguration : IEntityTypeConfiguration<Order>
    {
        public void Configure(EntityTypeBuilder<Order> b) { b.ToTable("PurchaseOrders", "sales"); b.HasMany<Line>(); }
    }
"""
ON_MODEL_CREATING = """
    namespace Shop;
    class OtherContext : DbContext
    {
        protected override void OnModelCreating(ModelBuilder m)
        {
            m.HasDefaultSchema("crm");
            m.Entity<Order>().ToTable("PurchaseOrders", "sales");
        }
    }
"""
STATIC_CONFIGURATION = """
    namespace Shop;
    static class Maps { static void Map(EntityTypeBuilder<Order> b) => b.ToTable("PurchaseOrders", schema: "sales"); }
"""


@pytest.mark.parametrize(
    "text",
    [CONFIGURATION, ON_MODEL_CREATING, STATIC_CONFIGURATION],
    ids=["configuration-class", "OnModelCreating", "method-with-builder"],
)
def test_a_named_table_takes_the_place_of_the_convention(text: str) -> None:
    found = [edge for edge in edges_by(ef_model, model(Maps=text), "MapsTo") if edge.startswith("Shop.Order|ENTITY")]
    assert found == [
        "Shop.Order|ENTITY MapsTo Shop.Order|TYPE resolved",
        "Shop.Order|ENTITY MapsTo sales.PurchaseOrders|TABLE_OR_VIEW resolved",
    ]


def test_a_table_may_be_named_after_the_entity() -> None:
    maps = "namespace Shop; static class M { static void Map(EntityTypeBuilder<Order> b) => b.ToTable(nameof(Order)); }"
    assert "Shop.Order|ENTITY MapsTo dbo.Order|TABLE_OR_VIEW resolved" in edges_by(ef_model, model(Maps=maps))


def test_a_table_that_sql_declares_has_its_own_key() -> None:
    texts = model() | {"db/orders.sql": "CREATE TABLE [dbo].[orders] (Id int)"}
    assert "Shop.Order|ENTITY MapsTo dbo.orders|TABLE probable" in edges_by(ef_model, texts)


def test_the_table_attribute() -> None:
    texts = {"a.cs": '[Table("T1", Schema = "x")] public class A { public B Other { get; set; } } public class B { }'}
    assert edges_by(ef_model, texts) == [
        "A|ENTITY MapsTo A|TYPE resolved",
        "A|ENTITY MapsTo x.T1|TABLE_OR_VIEW resolved",
    ]


def test_links_lead_to_entities_only() -> None:
    texts = model(More="namespace Shop; class C2 : DbContext { public DbSet<Line> Lines { get; set; } }")
    assert edges_by(ef_model, texts, "References") == [
        "Shop.Order|ENTITY References Shop.Customer|ENTITY resolved",
        "Shop.Order|ENTITY References Shop.Line|ENTITY resolved",
    ]


def test_owned_types_are_stored_with_their_owner() -> None:
    maps = """
        namespace Shop;
        class OrderMap : IEntityTypeConfiguration<Order>
        {
            public void Configure(EntityTypeBuilder<Order> b)
            {
                b.OwnsOne(o => o.Buyer);
                b.OwnsMany(o => o.Lines, l => { l.ToTable("OrderLines"); });
            }
        }
    """
    texts = model(Map=maps) | {
        "Data/ShopContext.cs": CONTEXT.replace("DbSet<Customer> People => Set<Customer>();", "int N;")
    }
    found = edges_by(ef_model, texts, "MapsTo")
    assert "Shop.Customer|ENTITY MapsTo dbo.Orders|TABLE_OR_VIEW probable" in found
    assert "Shop.Line|ENTITY MapsTo dbo.OrderLines|TABLE_OR_VIEW resolved" in found


def test_a_hierarchy_has_the_table_of_its_root() -> None:
    texts = {
        "c.cs": "class C : DbContext { DbSet<Animal> Animals { get; set; } DbSet<Cat> Cats { get; set; } }",
        "m.cs": "class Animal { } class Cat : Animal { }",
    }
    assert "Cat|ENTITY MapsTo dbo.Animals|TABLE_OR_VIEW probable" in edges_by(ef_model, texts)


def test_an_identity_context_brings_its_own_tables() -> None:
    texts = {"c.cs": "class C : IdentityDbContext<AppUser> { } class AppUser : IdentityUser { }"}
    assert "AppUser|ENTITY MapsTo dbo.AspNetUsers|TABLE_OR_VIEW probable" in edges_by(ef_model, texts)


def test_a_store_of_documents_has_no_tables() -> None:
    texts = {"r.cs": "class NoteRepo : DocumentDBRepoBase<Note> { } class Note { }"}
    assert edges_by(ef_model, texts) == ["Note|ENTITY MapsTo Note|TYPE resolved"]


def test_an_interface_has_the_sets_of_the_context_behind_it() -> None:
    texts = {
        "i.cs": "interface IAppContext { DbSet<Note> Notes { get; } }",
        "c.cs": "class AppContext : DbContext, IAppContext { public DbSet<Note> Notes { get; set; } } class Note { }",
    }
    found = symbols_of(files_of(texts)).ef.set_of("IAppContext", "Notes")
    assert found is not None
    assert found.symbol == "AppContext.Notes"


def test_cycles_of_bases_and_contexts_end() -> None:
    texts = {
        "a.cs": "class AContext : BContext { public DbSet<X> Xs { get; set; } } class X : Y { }",
        "b.cs": "class BContext : AContext { DbSet<Y> Ys { get; set; } } class Y : X { public X Up { get; set; } }",
    }
    assert len(edges_by(ef_model, texts, "MapsTo")) == 6
    symbols = symbols_of(files_of(texts))
    assert symbols.ef.set_of("AContext", "Ys") is not None
    assert symbols.ef.set_of("AContext", "Zs") is None


@pytest.mark.parametrize("buckets", [1, 2, 3])
def test_answers_do_not_depend_on_the_order_of_declarations(buckets: int) -> None:
    files = files_of(model(Config=CONFIGURATION))
    one, other = symbols_of(files).ef, symbols_of(files[::-1], buckets).ef
    for symbol in ("Shop.Order", "Shop.Customer", "Shop.Line", "Nobody"):
        assert one.entity(symbol) == other.entity(symbol)
        assert one.links(symbol) == other.links(symbol)
    assert one.sets_named("Orders") == other.sets_named("Orders")
    assert one.context_names() == other.context_names() == ("ShopContext",)


@pytest.mark.parametrize("text", ["class C : DbContext { public DbSet<", "DbSet<> x", "class : DbContext {", ""])
def test_broken_code_gives_what_can_be_had(text: str) -> None:
    edges_by(ef_model, {"a.cs": text, **model()})
