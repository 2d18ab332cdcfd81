"""Entity Framework contexts with their synthetic repositories, entity configurations, and the coverage guardrail."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from rag_assets.contracts.description import SummaryFacts
from rag_assets.contracts.identity import disambiguated_symbol
from rag_assets.descriptions.ef_coverage import (
    EfCoverage,
    PersistedEntity,
    RepositoryEntry,
    coverage_facts,
    ef_coverage,
)
from rag_assets.descriptions.kinds.ef_context import EfContextDescription, EntityConfigurationDescription
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.languages.csharp.facts.partial_types import PartialTypes
from rag_assets_tests.descriptions.behaving import (
    EXPECTED,
    keys_of,
    of_shop,
    only,
    points_of,
    sections_of,
    shop,
    snippets_of,
)
from rag_assets_tests.descriptions.samples import described_file, file_context, knowledge_of, processor, segmented

CONTEXT = """\
using Microsoft.EntityFrameworkCore;
namespace Shop.Data;

public class Order { public int Id { get; set; } }

public class ShopContext : DbContext
{
    /// <summary>What customers bought.</summary>
    public DbSet<Order> Orders { get; set; }

    public DbSet<Vendor.Audit>? Audits => Set<Vendor.Audit>();

    protected override void OnModelCreating(ModelBuilder modelBuilder)
    {
        // modelBuilder.Entity<Ghost>().ToTable("Ghosts");
        var text = "modelBuilder.Entity<Phantom>()";
        modelBuilder.Entity<Order>(b => { b.ToTable("Orders", "sales"); b.OwnsMany(o => o.Lines).ToTable("Lines"); });
        modelBuilder.Entity(typeof(Outbox)).ToTable(name: "Outbox");
        modelBuilder.Entity<Plain>();
        modelBuilder.ApplyConfiguration(new PlainConfiguration());
    }
}
"""


def test_sets_and_tables_of_the_shop() -> None:
    """The `ef` table of EXPECTED.yaml; every entity resolves to its declaration."""
    expected = EXPECTED["ef"]
    found = of_shop(EfContextDescription, expected["context"])
    assert {db_set.name: db_set.entity for db_set in found.sets} == expected["sets"]
    assert all(db_set.entity_symbol.endswith(f".{db_set.entity}") for db_set in found.sets)
    order = of_shop(EntityConfigurationDescription, "Fernhill.Shop.Infrastructure.Data.OrderConfiguration")
    assert order.table == expected["tables"]["Order"]
    assert [owned.table for owned in order.owned] == [expected["tables"]["OrderLine"]]
    assert {m.entity: m.table for m in found.mappings} == {"OutboxEntry": expected["tables"]["OutboxEntry"]}
    assert found.configurations == ("assembly",)


def test_facts_come_from_code_not_from_comments_or_strings() -> None:
    found = only(EfContextDescription, CONTEXT)
    assert [(m.entity, m.table, m.evidence) for m in found.mappings] == [
        ("Order", "sales.Orders", "Entity<Order>()"),
        ("Outbox", "Outbox", "Entity<Outbox>()"),
        ("Plain", "", "Entity<Plain>()"),
    ]
    assert found.mappings[0].line == 17
    assert found.configurations == ("PlainConfiguration",)
    assert [(s.name, s.entity, s.entity_symbol) for s in found.sets] == [
        ("Orders", "Order", "Shop.Data.Order"),
        ("Audits", "Audit", ""),
    ]


def test_one_synthetic_repository_per_set() -> None:
    """Key, Artifact, graph nodes and the snippet in full; an unresolved entity gets no node of its own."""
    found = only(EfContextDescription, CONTEXT)
    assert keys_of(found) == ["ef-data-context-overview", "repository-overview"]
    entries = [s for s in sections_of(found) if s.section_key == "repository-overview"]
    assert [entry.symbol for entry in entries] == ["EfContext:ShopContext.Orders", "EfContext:ShopContext.Audits"]
    assert entries[0].section_normalized_text == (
        "Domain: General\n\n"
        "Kind: Repository\n\n"
        "Artifact: EfContext:ShopContext.Orders\n"
        "PrimaryEntity: Order\n"
        "StorageBackend: Sql\n"
        "Context: Shop.Data.ShopContext\n"
        "Table: sales.Orders\n"
        "Path: Code\n\n"
        "Purpose: What customers bought. Reads and writes Order through the set Orders of ShopContext."
    )
    assert entries[0].graph_node_keys == ("csharp:Shop.Data.ShopContext.Orders|DBSET", "csharp:Shop.Data.Order|ENTITY")
    assert entries[1].graph_node_keys == ("csharp:Shop.Data.ShopContext.Audits|DBSET",)
    assert entries[0].span.slice(CONTEXT).startswith("/// <summary>What customers bought.")
    assert "- Table: `sales.Orders`" in entries[0].backing_artifact


@pytest.mark.rule("A38", "R1")
def test_entries_become_points_that_are_told_apart() -> None:
    """Two parts of one context have the same sets without colliding: the suffix of the symbol (R1) is repeated."""
    ids: set[str] = set()
    for path in ("src/A.cs", "src/B.cs"):
        found = only(EfContextDescription, CONTEXT, path)
        found.symbol = disambiguated_symbol(found.symbol, path)
        points = points_of(found)
        assert [p.payload.kind for p in points] == ["EfDataContext", "Repository", "Repository"]
        assert points[1].payload.symbol == f"EfContext:ShopContext~{found.symbol.partition('~')[2]}.Orders"
        assert points[1].payload.artifact == "EfContext:ShopContext.Orders"
        assert points[1].payload.primary_entity == "Order"
        ids.update(point.payload.semantic_id for point in points)
        ids.update(point.payload.source_slice_blob_uri for point in points)
    assert len(ids) == 12


def test_contexts_with_one_name_are_told_by_their_namespaces() -> None:
    files = [("a.cs", CONTEXT), ("b.cs", CONTEXT.replace("Shop.Data", "Back.Data"))]
    found = only(EfContextDescription, CONTEXT, "a.cs", knowledge_of(*files))
    assert found.entry_name(found.sets[0]) == "EfContext:Shop.Data.ShopContext.Orders"


@pytest.mark.parametrize(
    ("base", "sets"),
    [
        ("IdentityDbContext<AppUser>", [("Users", "AppUser")]),
        ("IdentityDbContext<AppUser, AppRole, Guid>", [("Users", "AppUser"), ("Roles", "AppRole")]),
        ("IdentityDbContext<AppUser, IdentityRole, string>", [("Users", "AppUser")]),
        ("IdentityDbContext", []),
        ("IdentityDbContext<AppUser, AppRole>", []),  # no such overload
    ],
)
def test_identity_contexts_persist_what_they_are_given(base: str, sets: list[tuple[str, str]]) -> None:
    found = only(EfContextDescription, f"namespace N; class C : {base} {{ }}")
    assert [(s.name, s.entity) for s in found.sets if s.inherited] == sets
    assert found.identity_base == "IdentityDbContext"
    assert len(points_of(found)) == 1 + len(sets)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("class C : DbContext { public DbSet<A> X; public DbSet<B> x; }", ["X", "x"]),
        ("class C : DbContext { public DbSet<> X { get; } public DbSet Y { get; } }", []),
        (
            "class C<T> : DbContext where T : class { public DbSet<T> All { get; set; } public DbSet<A> As { get; } }",
            ["As"],
        ),
        ("class C : DbContext { public DbSet<A> X { get; set; } void M() { var x = ; } }", ["X"]),
        ("class C : DbContext { }", []),
        ("class C : DbContext { class N { public DbSet<A> X { get; set; } } }", []),
    ],
    ids=["case", "without entity", "type parameter", "broken", "empty", "nested"],
)
def test_odd_contexts(text: str, names: list[str]) -> None:
    found = only(EfContextDescription, f"namespace N;\n{text}\n")
    assert [db_set.name for db_set in found.sets] == names
    points_of(found)


@pytest.mark.rule("A14", "A18")
def test_a_class_that_holds_somebodys_set_is_no_context() -> None:
    """The builder does not apply (A14): the class is described as what it is."""
    outcome = described_file(
        "namespace N; class Repo<T> where T : class { private readonly DbSet<T> _set; void M() { } }"
    )
    assert type(outcome.descriptions[0]) is SymbolDescription


def test_a_context_with_three_hundred_sets() -> None:
    sets = "\n".join(f"public DbSet<E{i}> Set{i} {{ get; set; }}" for i in range(300))
    found = only(EfContextDescription, f"namespace N; class C : DbContext {{ {sets} }}")
    assert len(found.sets) == 300
    points = points_of(found)
    assert sum(p.payload.section_key == "repository-overview" for p in points) == 300
    assert all(s.snippet_tokens is not None and s.snippet_tokens <= 256 for s in sections_of(found))


def test_what_a_configuration_says() -> None:
    found = of_shop(EntityConfigurationDescription, "Fernhill.Shop.Infrastructure.Data.OrderConfiguration")
    assert [(r.navigation, r.cardinality, r.inverse) for r in found.relations] == [
        ("Customer", "ManyToOne", "Orders"),
        ("Invoice", "OneToOne", "Order"),
    ]
    assert (found.entity_symbol, found.subtype_flavor) == ("Fernhill.Shop.Domain.Orders.Order", "EntityMapping")
    assert "Relations: Order.Customer, Order.Invoice" in snippets_of(found)["configuration-overview"]
    assert len(points_of(found)) == 1


# the guardrail


def entity(name: str, symbol: str = "") -> PersistedEntity:
    return PersistedEntity(name, symbol, "[Table]", "a.cs", 3)


@pytest.mark.parametrize(
    ("persisted", "repository", "covered"),
    [
        (entity("Order"), RepositoryEntry("Order", "", "OrderRepository"), True),
        (entity("Order", "A.Order"), RepositoryEntry("Order", "", "OrderRepository"), True),
        (entity("Order"), RepositoryEntry("Order", "A.Order", "EfContext:C.Orders"), True),
        (entity("Order", "A.Order"), RepositoryEntry("Order", "A.Order", "EfContext:C.Orders"), True),
        (entity("Order", "B.Order"), RepositoryEntry("Order", "A.Order", "EfContext:C.Orders"), False),
        (entity("Order"), RepositoryEntry("OrderLine", "", "OrderLineRepository"), False),
    ],
    ids=["by name", "open repository", "open entity", "by symbol", "another Order", "another name"],
)
def test_what_covers_an_entity(persisted: PersistedEntity, repository: RepositoryEntry, covered: bool) -> None:
    found = ef_coverage([persisted], [repository])
    assert (len(found.covered), len(found.gaps)) == ((1, 0) if covered else (0, 1))


def coverage(text: str, path: str = "src/Shop/Code.cs") -> EfCoverage:
    return coverage_of(described_file(text, path).descriptions)


def coverage_of(descriptions: Iterable[SummaryFacts]) -> EfCoverage:
    found = coverage_facts(descriptions)
    return ef_coverage(found.entities, found.repositories)


@pytest.mark.parametrize(
    ("text", "gaps"),
    [
        ('namespace N; [Table("Orders")] public class Order { public int Id { get; set; } }', ["N.Order"]),
        ("namespace N; class C : IEntityTypeConfiguration<Order> { }", ["Order"]),
        ("namespace N; class C<T> : IEntityTypeConfiguration<T> { }", []),
        ("namespace N; class C : DbContext { void M(ModelBuilder b) { b.Entity<Order>(); } }", ["Order"]),
        ("namespace N; class C : DbContext { public DbSet<Order> Orders { get; } }", []),
        (
            "namespace N; [EntityDescription] public class Order : EntityBase { public int Id { get; set; } }",
            ["N.Order"],
        ),
        ("namespace N; public class Order : EntityBase { public int Id { get; set; } }", []),
        ("namespace N; [Table] public abstract class Base { public int Id { get; set; } }", []),
    ],
    ids=["table", "configuration", "open configuration", "model", "set", "lagovista", "anybody's base", "abstract"],
)
def test_what_is_persisted(text: str, gaps: list[str]) -> None:
    found = coverage(text)
    assert [gap.entity for gap in found.gaps] == gaps


@pytest.mark.parametrize(
    "repository",
    [
        "class OrderRepository : IOrderRepository { }",
        "class Store : RepositoryBase<Order>, IOrderStoreRepository { }",
        "interface IOrderRepository { Order Get(int id); }",
        "class OrderService : IOrderService { public OrderService(IRepository<Order> orders) { } }",
    ],
    ids=["by its name", "by its base", "contract only", "open repository that is asked for"],
)
def test_an_explicit_repository_closes_the_gap(repository: str) -> None:
    entity_text = "namespace N; [Table] public class Order { public int Id { get; set; } }"
    assert len(coverage(entity_text).gaps) == 1
    found = coverage(f"{entity_text}\npublic {repository}")
    assert not found.gaps
    assert [covered.entity for covered in found.covered] == ["N.Order"]


def test_a_gap_names_place_and_remedy() -> None:
    (gap,) = coverage("namespace N;\n[Table]\npublic class Order { public int Id { get; set; } }").gaps
    assert str(gap) == (
        "src/Shop/Code.cs:2 N.Order is persisted ([Table]) and has neither a repository nor a set in a context; "
        "add one, or name the repository after it"
    )


def test_a_table_of_another_language_needs_no_context() -> None:
    text = '@Table(name = "orders")\npublic class Order {\n    int id;\n}\n'
    assert coverage(text, "src/Order.java") == EfCoverage()


def test_tests_do_not_count() -> None:
    text = "namespace N.Tests; [Table] public class Order { public int Id { get; set; } }"
    assert coverage(text) == EfCoverage()


def test_every_entity_of_the_shop_is_covered_in_any_order() -> None:
    found = coverage_of(shop())
    assert found.gaps == ()
    by = {covered.entity: covered.by for covered in found.covered}
    assert "EfContext:ShopDbContext.Outbox" in by["Fernhill.Shop.Infrastructure.Data.OutboxEntry"]
    assert coverage_of(reversed(shop())) == found


def test_parts_of_a_context_keep_their_own_sets() -> None:
    """The base list is that of all parts; only the part that writes it persists the users of an Identity base."""
    files = [
        ("a.cs", "namespace N; public partial class C : IdentityDbContext<AppUser> { public DbSet<X> Xs { get; } }"),
        ("b.cs", "namespace N; public partial class C { public DbSet<Y> Ys { get; } }"),
    ]
    parts = PartialTypes((path, segment) for path, text in files for segment in segmented(text, path).segments)
    made = replace(processor(knowledge=knowledge_of(*files)), partial_types=parts)
    found = [
        made.describe_file(file_context(text, path), segmented(text, path)).descriptions[0] for path, text in files
    ]
    assert all(isinstance(description, EfContextDescription) for description in found)
    names = [[db_set.name for db_set in getattr(description, "sets", ())] for description in found]
    assert names == [["Xs", "Users"], ["Ys"]]


def test_sets_that_differ_in_case_only_have_an_entry_each() -> None:
    """Ids are lower case: the second symbol is told apart."""
    text = "class C : DbContext { public DbSet<A> Xs { get; } public DbSet<B> xs { get; } public DbSet<A> Ys { get; } }"
    found = only(EfContextDescription, f"namespace N; {text}")
    entries = [section for section in sections_of(found) if section.section_key == "repository-overview"]
    assert [entry.symbol for entry in entries] == ["EfContext:C.Xs", "EfContext:C.xs~2", "EfContext:C.Ys"]
    assert [entry.primary_entity for entry in entries] == ["A", "B", "A"]
    assert len(points_of(found)) == 4
