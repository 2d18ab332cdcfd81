"""Repositories: the kind of storage with its evidence, the operations on it, sections and snippets."""

from __future__ import annotations

import pytest

from rag_assets.descriptions.kinds.service_like import RepositoryDescription
from rag_assets.languages.csharp.facts.storage import StorageKind
from rag_assets_tests.descriptions.behaving import (
    EXPECTED,
    keys_of,
    of_shop,
    only,
    points_of,
    sections_of,
    snippets_of,
)
from rag_assets_tests.descriptions.samples import knowledge_of


@pytest.mark.parametrize(("symbol", "storage"), EXPECTED["storage"].items(), ids=lambda value: value.rpartition(".")[2])
def test_storage_of_the_shop(symbol: str, storage: str) -> None:
    """The `storage` table of EXPECTED.yaml; whatever is known has its evidence."""
    found = of_shop(RepositoryDescription, symbol)
    assert found.storage == storage
    assert bool(found.storage_evidence) is (storage != "Unknown")


def repository(body: str, head: str = "class R : IR_Repository", usings: str = "") -> RepositoryDescription:
    return only(RepositoryDescription, f"{usings}\nnamespace N;\npublic {head}\n{{\n{body}\n}}\n")


@pytest.mark.parametrize(
    ("head", "body", "usings", "kind", "evidence"),
    [
        ("class R : DocumentDBRepoBase<Order>, IRRepo", "", "", "DocumentDb", "derives from DocumentDBRepoBase"),
        ("class R : TableStorageBase<Order>, IRRepo", "", "", "TableStorage", "derives from TableStorageBase"),
        ("class R : CloudFileStorage, IRRepo", "", "", "Blob", "derives from CloudFileStorage"),
        ("class R(IMongoCollection<Order> orders) : IRRepo", "", "", "DocumentDb", "holds IMongoCollection<Order>"),
        ("class R : IRRepo", "IAmazonS3 _s3;", "", "Blob", "holds IAmazonS3"),
        ("class R(IDbContextFactory<Db> db) : IRRepo", "", "", "Sql", "holds IDbContextFactory<Db>"),
        ("class R(AppDbContext db) : IRRepo", "", "", "Sql", "holds AppDbContext"),
        ("class R(Container c) : IRRepo", "", "using Microsoft.Azure.Cosmos;", "DocumentDb", "holds Container"),
        ("class R(Container c) : IRRepo", "", "using Autofac;", "Unknown", ""),
        ("class R : IRRepo", "void M() { new NpgsqlConnection(x); }", "", "Sql", "uses NpgsqlConnection"),
        ("class R : IRRepo", "", "using Dapper;", "Sql", "imports Dapper"),
        ("class R : IRRepo", "", "using DapperLike;", "Unknown", ""),
        ("class R : IRRepo", "readonly List<Order> _all = new();", "", "InMemory", "keeps List<Order>"),
        ("class InMemoryRRepository : IRRepository", "", "", "InMemory", "named InMemoryRRepository"),
        ("class R(HttpClient http) : IRRepo", "List<Order> _seen;", "", "ExternalApi", "holds HttpClient"),
        ("class R : IRRepo", '// new SqlConnection()\nstring s = "new SqlConnection(";', "", "Unknown", ""),
        ("class R(IThing thing) : IRRepo", "Task<List<Order>> All() => thing.All();", "", "Unknown", ""),
    ],
)
def test_evidence_of_storage(head: str, body: str, usings: str, kind: str, evidence: str) -> None:
    found = repository(body, head, usings)
    assert found.storage == kind
    assert (found.storage_evidence[0] if found.storage_evidence else "") == evidence


def test_base_classes_are_followed_through_the_label() -> None:
    """A base that another file declares, and a context that only its base class tells; a circle ends."""
    files = (
        ("base.cs", "namespace N; public class Base<T> : DocumentDBRepoBase<T> { }"),
        ("ctx.cs", "namespace N; public class Catalog : Db { } public class CatalogContext : DbContext { }"),
        ("circle.cs", "namespace N; public class X : Y { } public class Y : X { }"),
    )
    known = knowledge_of(*files)
    text = "namespace N; public class {head} : {base}, IRRepo {{ }}"
    derived = only(RepositoryDescription, text.format(head="R", base="Base<Order>"), knowledge=known)
    assert derived.storage_evidence == ("derives from Base → DocumentDBRepoBase",)
    held = only(RepositoryDescription, text.format(head="R(CatalogContext db)", base="Nobody"), knowledge=known)
    assert (held.storage, held.storage_evidence) == (StorageKind.SQL, ("holds CatalogContext",))
    assert only(RepositoryDescription, text.format(head="R", base="X"), knowledge=known).storage is StorageKind.UNKNOWN


def test_operations_are_calls_to_the_store() -> None:
    """On what holds it, or by names only such a store has; where, and whether they write; no query shaping."""
    found = repository(
        """
        public Task Save(Order o) { _db.Orders.Add(o); return _db.SaveChangesAsync(); }
        public Task<List<Order>> All() => _db.Orders.AsNoTracking().Where(o => o.Open).ToListAsync();
        public Order Raw() => Map(connection.QuerySingle<Order>("DELETE FROM Orders -- .ExecuteDelete()"));
        private Order Map(Order o) => o;
        """,
        "class R(ShopDbContext _db) : IRRepo",
    )
    assert [(o.member, o.call, o.writes, o.line) for o in found.storage_operations] == [
        ("Save", "Add", True, 6),
        ("Save", "SaveChangesAsync", True, 6),
        ("All", "ToListAsync", False, 7),
        ("Raw", "QuerySingle", False, 8),
    ]


def test_the_snippet_in_full() -> None:
    found = of_shop(RepositoryDescription, "Fernhill.Shop.Infrastructure.Repositories.CartRepo")
    snippets = snippets_of(found)
    assert list(snippets) == ["repository-overview", "repository-methods"]
    assert snippets["repository-overview"] == (
        "Domain: General\n\n"
        "Kind: Repository\n\n"
        "Artifact: Fernhill.Shop.Infrastructure.Repositories.CartRepo\n"
        "PrimaryEntity: CartDocument\n"
        "ImplementsInterface: ICartRepo\n"
        "StorageBackend: DocumentDb\n"
        "Operations: ReadItem, UpsertItem\n"
        "DependsOn: Container\n\n"
        "Purpose: Carts as documents in Cosmos DB; they expire by themselves after thirty days.\n"
        "Members: LoadAsync, StoreAsync"
    )
    assert "Task StoreAsync(CartDocument cart" in snippets["repository-methods"]
    assert "- Storage evidence: `holds Container`" in sections_of(found)[0].backing_artifact


@pytest.mark.parametrize(
    ("body", "keys"),
    [
        ("", ["repository-overview"]),
        ("int _x;", ["repository-overview"]),
        ("void M() { }", ["repository-overview", "repository-methods"]),
        (
            "void M() { } class Inner { void N() { } }",
            ["repository-overview", "repository-methods", "repository-members"],
        ),
        ("void M( { ] }", None),
    ],
    ids=["empty", "no methods", "methods", "nested", "broken"],
)
def test_sections_by_shape(body: str, keys: list[str] | None) -> None:
    found = repository(body, "class R : IRRepo")
    points_of(found)
    if keys is not None:
        assert keys_of(found) == keys


def test_three_hundred_methods() -> None:
    methods = "\n".join(f"public Task<Order> Get{i}Async(int id) => _db.Orders.FindAsync(id);" for i in range(300))
    found = repository(methods, "class R(ShopDbContext _db) : IRRepo")
    assert (len(found.methods), len(found.storage_operations)) == (300, 300)
    assert {point.payload.section_key for point in points_of(found)} == {"repository-overview", "repository-methods"}
    parts = [s for s in sections_of(found) if s.section_key == "repository-methods"]
    assert [p.part_index for p in parts] == list(range(1, len(parts) + 1))


@pytest.mark.parametrize(
    ("declared", "storage"),
    [
        ("public class Shop : DbContext { }", "Sql"),
        ("public class Shop : IdentityDbContext<User> { }", "Sql"),
        ("public class Shop : BillingDbContext { }", "Sql"),
        ("public partial class Shop { int x; } public partial class Shop : DbContext { }", "Sql"),
        ("public interface Shop : DbContext { }", "Unknown"),
        ("public class Shop : Store { }", "Unknown"),
    ],
)
def test_a_constructor_that_takes_a_declared_context(declared: str, storage: str) -> None:
    known = knowledge_of(("shop.cs", f"namespace N; {declared}"))
    text = "namespace N; public class R : IRRepo { public R(Shop shop) { } }"
    found = only(RepositoryDescription, text, knowledge=known)
    assert found.storage == storage
    assert found.storage_evidence == (("holds Shop",) if storage == "Sql" else ())
