"""A label with something of everything that files ask each other about, and random edits of it.

Edits know lines and words only, so that they reach what nobody has thought of: also code that no longer compiles.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

Texts = dict[str, str]
"""Path → text."""

LABEL: Texts = {
    "src/Shop/Shop.csproj": """<Project Sdk="Microsoft.NET.Sdk.Web">
  <PropertyGroup><ImplicitUsings>enable</ImplicitUsings><RootNamespace>Shop</RootNamespace></PropertyGroup>
  <ItemGroup>
    <ProjectReference Include="../Core/Core.csproj" />
    <PackageReference Include="Dapper" />
    <Using Include="Shop.Tools.Texting" Static="true" />
  </ItemGroup>
</Project>
""",
    "src/Core/Core.csproj": """<Project Sdk="Microsoft.NET.Sdk">
  <ItemGroup>
    <Using Include="Core.Money" Alias="Cash" />
  </ItemGroup>
</Project>
""",
    "src/Other/Other.csproj": """<Project Sdk="Microsoft.NET.Sdk"></Project>
""",
    "src/Shop/Pages/Cart.razor": """@page "/cart"
<Total Cents="1" />
<Other.Tools.Badge />
""",
    "src/Shop/Parts/Total.razor": """<p>@Cents</p>
@code { [Parameter] public Money Cents { get; set; } }
""",
    "src/Shop/Parts/Total.razor.cs": """namespace Shop.Parts;
public partial class Total { }
""",
    "src/Other/Badge.razor": """@namespace Other.Tools
<b />
""",
    "src/Shop/Globals.cs": """global using Core;
global using static Core.Clock;
global using Totals = Core.Money;
""",
    "src/Core/Money.cs": """namespace Core;
public partial struct Money
{
    public Money(int cents) { Cents = cents; }
    public Money(string text) : this(int.Parse(text)) { }
    public int Cents { get; set; }
    public Money Plus(Money other) => new Money(Cents + other.Cents);
    public Money Plus(int cents) => Plus(new Money(cents));
    public static Money operator +(Money one, Money other) => one.Plus(other);
}
public delegate Money Pricing(Order order);
public delegate Money Rounding();
public enum State { New, Paid, Sent }
""",
    "src/Core/Money.More.cs": """using Shop.Tools;
namespace Core;
public partial struct Money
{
    public Money Rounded(Rounding rounding) => rounding().Plus(this);
    public string Shown() => this.ToText();
}
public partial struct Money { public bool IsZero(int cents) => cents == 0; }
public partial struct Money { public bool IsZero(string text) => text == ""; }
""",
    "src/Core/Order.cs": """using System.Collections.Generic;
namespace Core;
public interface IEntity { int Id { get; } }
public interface IAggregateRoot { }
public abstract class Entity<TKey> : IEntity
{
    public int Id { get; set; }
    public virtual TKey Key() => default;
    public class Stamp { public int At { get; set; } }
    public class Stamp<T> { public T At { get; set; } }
}
public class Order : Entity<int>, IAggregateRoot
{
    public Order(Customer customer, Money total) { Buyer = customer; Total = total; }
    public Customer Buyer { get; set; }
    public Money Total { get; set; }
    public State State { get; set; }
    public List<OrderLine> Lines { get; set; }
    public override int Key() => Id;
    public void Pay(Money money) { Total = Total.Plus(money); State = State.Paid; }
    public Stamp Stamped() => new Stamp();
}
public class OrderLine : Entity<string> { public Order Order { get; set; } public Money Price { get; set; } }
public class Customer : Entity<int> { public string Name { get; set; } public Address Home { get; set; } }
public record Address(string Street, Customer Owner);
public class @event { public @event(int at) { } public int at; public void raise() { at = 1; } }
""",
    "src/Core/Clock.cs": """namespace Core;
public static class Clock
{
    public static int Now() => 1;
    public static int Later(this Order order) => order.Id + Now();
}
public static class Functions
{
    public static T Only<T>(this Repository<T> many) where T : Order => many.First();
    public static int Raised() { var e = new @event(1); e.raise(); return e.at; }
}
""",
    "src/Core/Repository.cs": """using Core.Storage;
namespace Core.Storage
{
    public interface IRepository<T> where T : Entity<int>
    {
        T Find(int id);
        void Save(T item);
    }
    public interface INotifier { void Tell(string text); }
}
namespace Core
{
    public class Repository<T> : IRepository<T> where T : Entity<int>
    {
        public virtual T Find(int id) => First();
        public void Save(T item) { item.Key(); }
        public T First() => default;
    }
}
""",
    "src/Shop/OrderService.cs": """using Core.Storage;
using Shop.Tools;
using Line = Core.OrderLine;
namespace Shop.Services;
public class OrderRepository : Repository<Order>
{
    public override Order Find(int id) => base.Find(id);
}
public partial class OrderService : INotifier
{
    private readonly IRepository<Order> _orders;
    private readonly ShopContext _db;
    private Pricing _pricing;
    public OrderService(IRepository<Order> orders, ShopContext db) { _orders = orders; _db = db; }
    public Order Place(Customer customer, int cents)
    {
        var order = new Order(customer, new Money(cents));
        order.Pay(new Totals("12"));
        _orders.Save(order);
        _db.Orders.Add(order);
        Tell(order.Total.ToText());
        return _orders.Find(order.Later());
    }
    public Money Priced(Order order) => _pricing(order).Plus(new Cash(1));
    public void Tell(string text) { Shout(text); var line = new Line(); line.Price.Plus(3); }
    public int Stamps(Order order) => order.Stamped().At + Now();
    public object All() => _db.Orders.Include(o => o.Lines).Where(o => o.State == State.Paid).ToList();
    public void Lose(string text) => _db.Database.ExecuteSqlRaw("DELETE FROM sales.Orders WHERE Id = 1");
}
""",
    "src/Shop/OrderService.Part.cs": """namespace Shop.Services;
public partial class OrderService
{
    public void Cancel(int id)
    {
        var order = Place(new Customer(), id);
        var where = new Address("street", order.Buyer).Owner.Home;
        order.Buyer.Home.Owner.Key();
        Tell(Resources.Texts.Cancelled);
        Only(order);
    }
    private void Only(Order order) => new Repository<Order>().Only().Pay(order.Total + order.Total);
}
""",
    "src/Shop/Tools/Texts.cs": """namespace Shop.Tools;
public static class Texting
{
    public static string ToText(this Money money) => Shout(money.Cents.ToString());
    public static string ToText(this Order order) => order.Total.ToText();
    public static string Shout(string text) => text;
}
public static class Wide
{
    public static string ToText(this object any) => "";
    public static T Or<T>(this T one, T other) => one;
}
""",
    "src/Shop/Data/ShopContext.cs": """namespace Shop.Services;
public class ShopContext : DbContext
{
    public DbSet<Order> Orders { get; set; }
    public DbSet<OrderLine> Lines => Set<OrderLine>();
    protected override void OnModelCreating(ModelBuilder builder)
    {
        builder.HasDefaultSchema("sales");
        builder.Entity<Customer>().ToTable("Buyers");
        builder.Entity<Order>().HasOne(o => o.Buyer);
        builder.ApplyConfiguration(new LineMapping());
    }
}
public class LineMapping : IEntityTypeConfiguration<OrderLine>
{
    public void Configure(EntityTypeBuilder<OrderLine> builder)
    {
        builder.ToTable("OrderLines", "sales");
        builder.OwnsOne(l => l.Price);
    }
}
""",
    "src/Shop/Web/BaseController.cs": """namespace Shop.Web;
public abstract class BaseController : ControllerBase
{
    [HttpGet("health")]
    public string Health() => "well";
    [HttpDelete("{id}")]
    public virtual void Remove(int id) { }
}
""",
    "src/Shop/Web/OrdersController.cs": """using Shop.Services;
namespace Shop.Web;
[Route("api/orders")]
public class OrdersController : BaseController
{
    private readonly OrderService _service;
    public OrdersController(OrderService service) { _service = service; }
    [HttpGet("{id}")]
    public Order Get(int id) => _service.Place(new Customer(), id);
    [HttpPost]
    public void Cancel(int id) { _service.Cancel(id); _service.Place(null, 1).Or(null).Pay(default); }
}
public class PlaceOrder : IRequest<Order> { public int Id { get; set; } }
public class PlaceOrderHandler : IRequestHandler<PlaceOrder, Order>
{
    public Order Handle(PlaceOrder request) => new OrderService(null, null).Place(null, request.Id);
}
public class Sender { public void Go(IMediator mediator) { mediator.Send(new PlaceOrder()); } }
""",
    "src/Shop/Program.cs": """using Core.Storage;
using Shop.Services;
var builder = WebApplication.CreateBuilder(args);
builder.Services.AddScoped<IRepository<Order>, OrderRepository>();
builder.Services.AddScoped<OrderService>();
var app = builder.Build();
app.MapGet("/orders/{id}", (int id, OrderService service) => service.Place(new Customer(), id));
app.Run();
""",
    "src/Other/Money.cs": """namespace Core;
public struct Money { public int Cents; public Money Plus(Money o) => o; public static Money Zero() => default; }
public class Cashier { public Money Take(Money money) => money.Plus(Money.Zero()); }
""",
    "tests/OrderTests.cs": """using Core;
using Shop.Services;
namespace Shop.Tests;
public class OrderServiceTests
{
    [Fact]
    public void Places() { Assert.NotNull(new OrderService(null, null).Place(new Customer(), 3)); }
    [Fact]
    public void Pays() { new Order(null, new Money(1)).Pay(new Money("2")); }
}
""",
    "db/orders.sql": """CREATE TABLE sales.Orders (Id INT PRIMARY KEY, BuyerId INT REFERENCES sales.Buyers (Id));
CREATE TABLE sales.OrderLines (Id INT, OrderId INT REFERENCES sales.Orders (Id));
""",
    "db/procedures.sql": """CREATE PROCEDURE sales.Totals AS SELECT * FROM sales.Orders JOIN OrderLines ON 1 = 1;
GO
CREATE VIEW sales.Open AS SELECT Id FROM Orders;
GO
CREATE TABLE sales.Buyers (Id INT);
""",
    "src/Shop/Resources/Texts.resx": """<root>
  <data name="Cancelled" xml:space="preserve"><value>Cancelled</value></data>
  <data name="Placed" xml:space="preserve"><value>Placed</value></data>
</root>
""",
    "src/Shop/Resources/Texts.de.resx": """<root>
  <data name="Cancelled" xml:space="preserve"><value>Storniert</value></data>
</root>
""",
    "tools/stats.py": """class Entry:
    def total(self): return self.count()
    def count(self) -> Order: return 1
class Order(Entry):
    kept: Entry = None
def sort_orders(entries): return sorted(entries)
""",
    "tools/report.py": """from tools.stats import Order, sort_orders
from . import stats
def report(entry: Order, kept):
    made = Order()
    made.count().total()
    kept.count()
    return entry.total(), sort_orders([entry]), stats.sort_orders([])
""",
    "web/money.ts": """export class Money {
  plus(other: Money): Money { return this.same(); }
  same(): Money { return this; }
}
export function zero(): Money { return new Money(); }
""",
    "web/page.ts": """import { Money, zero } from './money';
export class Page extends Money {
  show(): void { const sum = zero(); sum.plus(zero()).same(); this.same(); on('paid', zero); }
}
""",
    "docs/guide.md": """# Orders

Call `OrderService.Place` with a `Customer`; see `Money`, `sales.Orders` and [the code](../src/Core/Order.cs).

## Paying

`Order.Pay` takes `Money`, `ToText` shows it.
""",
}  # fmt: skip

_WORD = re.compile(r"@?\b[A-Za-z_]\w*")
_LINES = (
    "using Core;", "using Shop.Tools;", "using Core.Storage;", "using static Core.Clock;", "using Money = Core.Order;",
    "global using Shop.Services;", "global using static Shop.Tools.Texting;", "global using Entity = Core.Money;",
    "namespace Shop.Services;", "namespace Core;", "namespace Other;",
    "public class Money { public Money(int cents) { } public int Cents; }", "public partial class Order { }",
    "public interface IRepository { }", "public class Repository<A, B> { }", "public delegate Order Rounding();",
    "public static class More { public static string ToText(this Order order) => null; }",
    "    public Order(Customer buyer) { }", "    public Money(Order order) { }", "    public int Pay(int cents) => 1;",
    "    public string Name;", "    public class Stamp { }", "    public DbSet<Customer> Buyers { get; set; }",
    '    <Using Include="Core.Storage" />', '    <ProjectReference Include="../Other/Other.csproj" />',
    '  <data name="Shipped" xml:space="preserve"><value>Shipped</value></data>',
    "CREATE TABLE dbo.Orders (Id INT);", "CREATE VIEW sales.Lines AS SELECT 1;", "// moved down", "",
    "See `Clock.Now` and `Customer`.",
    "def count(self): return 2", "    def total(self) -> Entry: return 3", "class Fresh(Entry): pass",
    "from tools.stats import Entry as Order", "export function same(): Money { return zero(); }",
)  # fmt: skip
_WORDS = (
    "static", "partial", "public", "abstract", "virtual", "override", "class", "interface", "struct", "record", "enum",
    "int", "string", "object", "Money", "Order", "Customer", "Entity", "Core", "Shop", "Fresh", "this",
    "count", "total", "Entry", "same", "zero", "self", "stats",
)  # fmt: skip
_FOLDERS = ("src/Shop", "src/Core", "src/Other", "src/Other/Web", "tests", "other", "src", "src/Shop/Web/Deep")


def edited(texts: Texts, random: Random) -> tuple[str, Texts]:
    """(what was done, the label after it)."""
    edit = random.choice(_EDITS)
    path = random.choice(sorted(texts))
    made = dict(texts)
    what = edit(made, path, random)
    return f"{edit.__name__.strip('_')} {path} {what}".strip(), made


def _line_added(texts: Texts, path: str, random: Random) -> str:
    lines = texts[path].split("\n")
    line = random.choice(_LINES)
    lines.insert(random.choice((0, random.randrange(len(lines)))), line)
    texts[path] = "\n".join(lines)
    return line


def _line_removed(texts: Texts, path: str, random: Random) -> str:
    lines = texts[path].split("\n")
    line = lines.pop(random.randrange(len(lines)))
    texts[path] = "\n".join(lines)
    return line


def _lines_swapped(texts: Texts, path: str, random: Random) -> str:
    lines = texts[path].split("\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    texts[path] = "\n".join(lines)
    return f"{one} {other}"


def _line_moved(texts: Texts, path: str, random: Random) -> str:
    line = _line_removed(texts, path, random)
    target = random.choice(sorted(texts))
    lines = texts[target].split("\n")
    lines.insert(random.randrange(len(lines)), line)
    texts[target] = "\n".join(lines)
    return f"{line} to {target}"


def _word_changed(texts: Texts, path: str, random: Random) -> str:
    """One word at one place."""
    places = list(_WORD.finditer(texts[path]))
    if not places:
        return ""
    at = random.choice(places)
    word = random.choice((*_WORDS, random.choice(places).group()))
    texts[path] = f"{texts[path][: at.start()]}{word}{texts[path][at.end() :]}"
    return f"{at.group()} is {word} at {at.start()}"


def _member_changed(texts: Texts, path: str, random: Random) -> str:
    """One word in the line of a member: most commits change no type, and so leave most answers as they were."""
    lines = texts[path].split("\n")
    members = [number for number, line in enumerate(lines) if line.startswith("    public ")]
    if not members:
        return ""
    number = random.choice(members)
    at = random.choice(list(_WORD.finditer(lines[number])))
    word = random.choice(_WORDS)
    lines[number] = f"{lines[number][: at.start()]}{word}{lines[number][at.end() :]}"
    texts[path] = "\n".join(lines)
    return f"{at.group()} is {word} in line {number + 1}"


def _word_added(texts: Texts, path: str, random: Random) -> str:
    places = list(_WORD.finditer(texts[path]))
    if not places:
        return ""
    at = random.choice(places).start()
    word = random.choice(_WORDS)
    texts[path] = f"{texts[path][:at]}{word} {texts[path][at:]}"
    return f"{word} at {at}"


def _word_removed(texts: Texts, path: str, random: Random) -> str:
    places = list(_WORD.finditer(texts[path]))
    if not places:
        return ""
    at = random.choice(places)
    texts[path] = f"{texts[path][: at.start()]}{texts[path][at.end() :]}"
    return f"{at.group()} at {at.start()}"


def _renamed(texts: Texts, path: str, random: Random) -> str:
    """A word of the file in all files, or in this one only."""
    words = sorted(set(_WORD.findall(texts[path])))
    if not words:
        return ""
    word, new = random.choice(words), random.choice((*_WORDS, "Fresh"))
    for other in sorted(texts) if random.random() < 0.5 else [path]:
        texts[other] = re.sub(rf"(?<![\w@]){re.escape(word)}\b", new, texts[other])
    return f"{word} is {new}"


def _file_moved(texts: Texts, path: str, random: Random) -> str:
    target = f"{random.choice(_FOLDERS)}/{path.rpartition('/')[2]}"
    texts[target] = texts.pop(path)
    return f"to {target}"


def _file_copied(texts: Texts, path: str, random: Random) -> str:
    target = f"{random.choice(_FOLDERS)}/{path.rpartition('/')[2]}"
    texts[target] = texts[path]
    return f"to {target}"


def _file_removed(texts: Texts, path: str, random: Random) -> str:
    if len(texts) > 1:
        del texts[path]
    return ""


def _file_is_back(texts: Texts, path: str, random: Random) -> str:
    known = random.choice(sorted(LABEL))
    texts[known] = LABEL[known]
    return known


_EDITS: tuple[Callable[[Texts, str, Random], str], ...] = (
    _line_added, _line_added, _line_removed, _line_removed, _lines_swapped, _line_moved, _word_changed, _word_changed,
    _word_changed, _member_changed, _member_changed, _member_changed, _word_added, _word_removed, _renamed,
    _file_moved, _file_copied, _file_removed, _file_is_back, _file_is_back,
)  # fmt: skip
