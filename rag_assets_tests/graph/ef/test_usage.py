"""Who reads and writes entities."""

from __future__ import annotations

import pytest

from rag_assets.graph.extract.ef_access import ef_usage
from rag_assets_tests.graph.chains import edges_by

SHOP = {
    "Data/ShopContext.cs": """
        namespace Shop;
        public class ShopContext : DbContext
        {
            public DbSet<Order> Orders { get; set; }
            public DbSet<Line> Lines { get; set; }
        }
    """,
    "Model.cs": """
        namespace Shop;
        public class Order : IAggregateRoot { public int Id { get; set; } public List<Line> Items { get; } }
        public class Line { public int Id { get; set; } public Order Owner { get; set; } }
    """,
}


def uses(body: str, members: str = "private readonly ShopContext _db;", base: str = "", others: str = "") -> list[str]:
    """`reads Orders`, `writes Line?`: what a method with this body does; `?` for probable. `others`: more types."""
    text = f"namespace Shop; class Service{base} {{ {members} public async Task Do(int id, Order order) {{ {body} }} }}"
    found = []
    for edge in edges_by(ef_usage, SHOP | {"Service.cs": text, "Others.cs": f"namespace Shop; {others}"}):
        source, relation, target, confidence = edge.rsplit(" ", 3)
        assert source == "Shop.Service.Do(int,Order)|METHOD"
        name = target.rpartition("|")[0].rpartition(".")[2]
        verb = {"ReadsFrom": "reads", "WritesTo": "writes"}[relation]
        found.append(f"{verb} {name}{'?' if confidence == 'probable' else ''}")
    return sorted(found)


@pytest.mark.rule("D18")
@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return _db.Orders.Where(o => o.Id == id).ToList();", ["reads Orders"]),
        ("return from o in _db.Orders select o;", ["reads Orders"]),
        ("_db.Lines.Add(new Line());", ["writes Lines"]),
        ("await this._db.Lines.Where(l => l.Id == id).ExecuteDeleteAsync();", ["writes Lines"]),
        ("_db.Orders.Remove(order);", ["writes Line?", "writes Orders"]),
        ("_db.Update(order);", ["writes Line?", "writes Orders"]),
        ("_db.Add(new Line { Id = id });", ["writes Lines"]),
        ("_db.Set<Line>().AddRange(many);", ["writes Lines"]),
        ("_db.Set<Line>().Count();", ["reads Lines"]),
        ("await _db.FindAsync<Line>(id);", ["reads Lines"]),
        ("_db.Orders.Include(o => o.Items).First();", ["reads Line?", "reads Orders"]),
        ("var o = await _db.Orders.FindAsync(id); _db.Entry(o).State = EntityState.Modified;",
         ["reads Orders", "writes Line?", "writes Orders"]),
        ("_db.Entry(order).Collection(o => o.Items).Load();", ["reads Line?", "reads Orders"]),
        ("var l = await _db.Lines.FirstAsync(); l.Id = 1; await _db.SaveChangesAsync();",
         ["reads Lines", "writes Lines?"]),
        ("var a = _db.Orders.Any() && _db.Lines.Any(); _db.SaveChanges();", ["reads Lines", "reads Orders"]),
        ("// _db.Orders.Add(order);", []),
        ('Log("_db.Orders.Add(order)");', []),
        ("_db.Database.Migrate();", []),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)  # fmt: skip
def test_sets_of_a_context(body: str, found: list[str]) -> None:
    assert uses(body) == found


@pytest.mark.parametrize(
    ("members", "body", "found"),
    [
        ("IDbContextFactory<ShopContext> _f;", "using var c = _f.CreateDbContext(); c.Lines.Add(x);", ["writes Lines"]),
        ("IServiceProvider _p;", "var c = _p.GetRequiredService<ShopContext>(); c.Lines.Add(x);", ["writes Lines"]),
        ("", "var c = new ShopContext(o); c.Lines.Any();", ["reads Lines"]),
        ("ShopContext Make() => null;", "var c = Make(); c.Lines.Any();", ["reads Lines"]),
        ("Services s; class Services { public ShopContext Context { get; } }", "s.Context.Lines.Add(x);",
         ["writes Lines"]),
        ("void Use(Action<ShopContext> use) { }", "Use(c => c.Lines.Any());", ["reads Lines"]),
        ("(int, ShopContext) Pair() => default;", "var (n, c) = Pair(); c.Lines.Any();", ["reads Lines"]),
        ("DbSet<Line> _lines;", "_lines.Add(x);", ["writes Line"]),
        ("", "dbContext.Lines.Any();", ["reads Lines?"]),
        ("HttpContext context;", "context.Lines.Any();", []),
        ("", "thing.Lines.Any();", []),
    ],
    ids=["factory", "service-locator", "constructed", "own-method", "property-path", "lambda",
         "deconstructed", "held-set", "name-of-a-context",
         "other-context", "anything"],
)  # fmt: skip
def test_ways_to_a_context(members: str, body: str, found: list[str]) -> None:
    assert uses(body, members) == found


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("await _orders.AddAsync(order);", ["writes Line?", "writes Order?"]),
        ("await _orders.GetByIdAsync(id);", ["reads Order?"]),
        ("await _orders.AnyAsync(x);", ["reads Order?"]),
        ("_orders.Configure();", []),
    ],
)
@pytest.mark.parametrize(
    "declared",
    ["IRepository<Order> _orders;", "IOrderRepository _orders;"],
    ids=["generic", "derived-from-generic"],
)
def test_repositories_of_an_entity(declared: str, call: str, found: list[str]) -> None:
    interfaces = "public interface IRepository<T> { } public interface IOrderRepository : IRepository<Order> { }"
    assert uses(call, declared, others=interfaces) == found


def test_the_lambda_of_a_registration_gets_no_service() -> None:
    """`p` is the provider: its calls are none of the repository."""
    interfaces = "public interface IRepository<T> { } public interface IOrderRepository : IRepository<Order> { }"
    body = "_s.AddScoped<IOrderRepository>(p => p.GetRequiredService<SqlOrders>());"
    assert uses(body, "IServiceCollection _s;", others=interfaces) == []


def test_a_domain_class_is_stored_as_the_entity_that_extends_it() -> None:
    texts = {
        "a.cs": "namespace Domain; class Note { } interface INoteRepo : IRepo<Note> { } interface IRepo<T> { }",
        "b.cs": "namespace Data; class Note : Domain.Note { } class C : DbContext { DbSet<Note> Notes { get; } }",
        "c.cs": "namespace Domain; class S { INoteRepo _notes; void Do() { _notes.GetById(1); } }",
    }
    assert edges_by(ef_usage, texts) == ["Domain.S.Do()|METHOD ReadsFrom Data.Note|ENTITY probable"]


def test_calls_of_a_store_on_its_base() -> None:
    assert uses("await UpsertDocumentAsync(order);", "", " : DocumentDBRepoBase<Line>") == ["writes Line?"]
    assert (
        uses("await Helper(order); GetHelp();", "void Helper(Order o) { } void GetHelp() { }", " : EfRepository<Line>")
        == []
    )
    assert uses("ListResponse<Line> all = null; if (Count < id) { }", "", " : EfRepository<Line>") == []


def test_a_specification_is_about_its_entity_and_what_it_includes() -> None:
    text = """
        namespace Shop;
        class OrderWithLines : Specification<Order>
        {
            public OrderWithLines(int id) { Query.Where(o => o.Id == id).Include(o => o.Items); }
        }
    """
    assert edges_by(ef_usage, SHOP | {"Spec.cs": text}) == [
        "Shop.OrderWithLines.OrderWithLines(int)|METHOD ReadsFrom Shop.Line|ENTITY probable",
        "Shop.OrderWithLines|TYPE References Shop.Order|ENTITY resolved",
    ]


@pytest.mark.parametrize("body", ["_db.Orders.Where((((", "_db.Set<<<>>", "_db.", "_db.Orders" + ".A(" * 3_000])
def test_broken_code_ends(body: str) -> None:
    uses(body)
