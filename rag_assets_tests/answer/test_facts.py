"""Facts of the graph in an answer: each is told once, by its most telling name."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index, open_index
from rag_assets.answer.graph_facts import points_at
from rag_assets.index.layout import IndexHome
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import CommandLine, index_without_dagster, new_repository, opened_index

FILES = {
    "src/InvoiceWriter.cs": "namespace Shop;\npublic class InvoiceWriter { public void Write() { } }\n",
    "src/Maker.cs": "namespace Shop;\npublic class Maker\n{\n    public InvoiceWriter Make() => new();\n}\n",
    "src/Holder.cs": "namespace Shop;\npublic class Holder\n{\n    private InvoiceWriter? _kept;\n}\n",
}


@pytest.mark.rule("E19")
def test_what_creates_a_type_is_not_said_to_use_it_as_well(tmp_path: Path) -> None:
    with opened_index(tmp_path, FILES, "shop") as index:
        told = index.ask("who uses InvoiceWriter", options=AskOptions()).text
    lines = [line for line in told.splitlines() if line.startswith("- ")]
    assert sum("**Maker.Make**" in line for line in lines) == 1
    assert any("**Maker.Make** creates **InvoiceWriter**" in line for line in lines)
    assert any("uses **InvoiceWriter** in src/Holder.cs" in line for line in lines)


CONTRACT = {
    "src/IStore.cs": "namespace Shop;\npublic interface IStore { void Put(int id); void Drop(int id); }\n",
    "src/FileStore.cs": """namespace Shop;
public class FileStore : IStore
{
    public void Put(int id) { }
    public void Drop(int id) { }
}
""",
    "src/Zoo.cs": "namespace Shop;\npublic class Zoo(IStore store) { public void Feed() { store.Put(1); } }\n",
}


@pytest.mark.rule("E19")
def test_types_implement_a_type_and_who_calls_comes_before_who_implements(tmp_path: Path) -> None:
    with opened_index(tmp_path, CONTRACT, "shop") as index:
        of_type, of_member, callers = (
            [line.partition(" in ")[0] for line in index.ask(question, options=AskOptions()).text.splitlines()]
            for question in ("who implements IStore?", "what implements IStore.Put?", "who calls IStore.Put?")
        )
    assert [line for line in of_type if line.startswith("- ")] == ["- **FileStore** implements **IStore**"]
    assert "- **FileStore.Put** implements **IStore.Put**" in of_member
    assert [line for line in callers if line.startswith("- ")] == [
        "- **Zoo.Feed** calls **IStore.Put**",
        "- **FileStore.Put** implements **IStore.Put**",
    ]


def test_what_derives_from_a_base_that_implements_a_type_implements_it_too(tmp_path: Path) -> None:
    base = "namespace Shop;\npublic abstract class Kept : IStore { public void Put(int id) { } }\n"
    files = {
        **CONTRACT,
        "src/Kept.cs": base,
        "src/Boxes.cs": "namespace Shop;\npublic class Boxes : Kept { }\npublic class SmallBoxes : Boxes { }\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask("who implements IStore?", options=AskOptions()).text
    assert [line.partition(" in ")[0] for line in told.splitlines() if line.startswith("- ")] == [
        "- **Kept** implements **IStore**",
        "- **FileStore** implements **IStore**",
        "- **Boxes** inherits **Kept**",
        "- **SmallBoxes** inherits **Boxes**",
    ]


@pytest.mark.rule("E19")
def test_who_uses_an_interface_uses_the_type_that_alone_implements_it(tmp_path: Path) -> None:
    test = "namespace Shop;\npublic class FileStoreTests { [Fact] public void Puts() => new FileStore().Put(1); }\n"
    page = "@inject IStore Store\n@Store.Drop(2)\n"
    files = {**CONTRACT, "tests/FileStoreTests.cs": test, "src/Feed.razor": page}
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask("who uses FileStore?", options=AskOptions()).text
    lines = [line.partition(" in ")[0] for line in told.splitlines() if line.startswith("- ")]
    assert sorted(lines[:4]) == [
        "- **Feed.razor** calls **IStore.Drop**",
        "- **Feed.razor** uses **IStore**",
        "- **Zoo** is given **IStore**",
        "- **Zoo.Feed** calls **IStore.Put**",
    ]
    assert lines[4:] and all("FileStoreTests" in line for line in lines[4:])
    assert ": `@Store.Drop(2)`" in told


@pytest.mark.rule("E19")
def test_a_place_in_a_file_of_the_root_is_not_looked_up_in_its_namesakes(tmp_path: Path) -> None:
    """A path without a folder, as a filter, means the files of that name everywhere; a place means one."""
    files = {"README.md": "# Shop\n\nSells.\n\n\n\n\n\n\n", "docs/README.md": "# Guide\n\nRead.\n", **FILES}
    with opened_index(tmp_path, files, "shop") as index:
        asked = [("README.md", 1), ("docs/README.md", 1), ("src/Maker.cs", 4), ("README.md", 999), ("gone.cs", 1)]
        found = points_at(asked, index.parts.shard(), index.scope())
        paths = {place: index.get(point)["Path"] for place, point in found.items()}
    assert paths == {place: place[0] for place in asked[:3]}


@pytest.mark.rule("E19")
def test_a_fact_is_quoted_from_the_copy_that_it_names(tmp_path: Path) -> None:
    """Four services have the same file: the citation of a route is of the file that its line names."""
    api = (
        "namespace Shop;\n\npublic static class Api\n{\n    public static void Map(IEndpointRouteBuilder app)\n    {\n"
        '        app.MapGet("/orders", () => 1);\n        app.MapPost("/orders", () => 2);\n    }\n}\n'
    )
    home = IndexHome(tmp_path / "home")
    files = {f"{name}/Api.cs": api for name in ("one", "two", "three", "four")}
    index_without_dagster(home, new_repository(tmp_path / "shop", files), "shop")
    with open_index("shop@main", home=home.root) as index:
        found = index.ask("list all endpoints", options=AskOptions())
    told = [line.partition(" in ")[2].partition(":")[0] for line in found.text.splitlines() if line.startswith("- ")]
    assert told == ["four/Api.cs"] * 2 and {one.path for one in found.citations} == {"four/Api.cs"}


def test_the_tables_of_a_procedure_are_not_what_executes_it(tmp_path: Path) -> None:
    files = {
        "db/orders.sql": "CREATE TABLE dbo.Orders (Id int);\n",
        "db/report.sql": "CREATE PROCEDURE dbo.ReportOrders AS\nSELECT Id FROM dbo.Orders;\n",
        "db/nightly.sql": "CREATE PROCEDURE dbo.Nightly AS\nEXEC dbo.ReportOrders;\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        read = index.ask("which tables does dbo.ReportOrders read?", options=AskOptions()).text
        run = index.ask("which tables does dbo.Nightly use?", options=AskOptions()).text
    told = [line for line in read.splitlines() if line.startswith("- ")]
    assert len(told) == 1 and told[0].startswith("- **dbo.Orders** in db/report.sql:2: `SELECT Id FROM dbo.Orders;`")
    assert "**Executes:**\n- **dbo.ReportOrders** in db/nightly.sql:2" in run


BASKET = """\
namespace Shop;

public class Basket
{
    private readonly IPrices _prices;
    private readonly IShelf _shelf;

    public Basket(
        IPrices prices,
        IShelf shelf)
    {
        _prices = prices;
        _shelf = shelf;
    }

    public decimal Total() => _prices.Of(_shelf);
}
"""
BASKETS = {
    "src/Basket.cs": BASKET,
    "src/Prices.cs": "namespace Shop;\npublic interface IPrices { decimal Of(IShelf shelf); }\n"
    "public interface IShelf { }\n",
    "src/Checkout.cs": "namespace Shop;\npublic class Checkout\n{\n"
    "    public decimal Pay(Basket basket) => basket.Total();\n}\n",
    "src/Hub.cs": "namespace Shop;\npublic class Hub\n{\n"
    + "".join(f"    public int Spoke{number} {{ get; set; }}\n" for number in range(70))
    + "}\n",
    "src/Wheel.cs": "namespace Shop;\npublic class Wheel : Hub { public int Turn() => Spoke1; }\n",
    "src/Shape.cs": "namespace Shop;\npublic interface Shape { }\npublic class Square : Shape { }\n",
    "tests/BasketTests.cs": "using Xunit;\nnamespace Shop;\npublic class BasketTests\n{\n"
    "    [Fact]\n    public void Adds_up() => new Basket(null, null).Total();\n}\n",
    "docs/guide.md": "# Delivery\n\nWho uses Delivery? Nobody calls the warehouse.\n",
}


@pytest.fixture(scope="module")
def baskets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("baskets"), BASKETS, "shop") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "intent", "name", "told"),
    [
        ("who calls Basket?", "usage", "Basket", "- **Checkout.Pay** calls **Basket.Total**"),
        ("which tests cover Basket?", "tests", "Basket", "- **BasketTests.Adds_up** tests **Basket"),
        ("what does Basket depend on?", "dependencies", "Basket", "- **Basket** is given **IPrices**"),
        ("what implements Shape?", "implementations", "Shape", "- **Square** implements **Shape**"),
        ("what inherits from Hub?", "implementations", "Hub", "- **Wheel** inherits **Hub**"),
        ("who uses Hub?", "usage", "Hub", "- **Wheel** inherits **Hub**"),
        ("where is Basket used?", "usage", "Basket", "- **Checkout.Pay** calls **Basket.Total**"),
        ("Basket is used where, and who calls it?", "usage", "Basket", "- **Checkout.Pay** calls **Basket.Total**"),
        ("who calls Total?", "usage", "Total", "- **Checkout.Pay** calls **Basket.Total**"),
    ],
)
def test_a_capitalised_word_that_is_declared_is_a_name(
    baskets: Index, question: str, intent: str, name: str, told: str
) -> None:
    found = baskets.ask(question, options=AskOptions())
    assert (found.intent, found.read.wish.names) == (intent, (name,))
    assert told in found.text


@pytest.mark.parametrize(
    "question",
    ["Basket totals: who calls the warehouse?", "who uses Delivery?", "who calls Amsterdam?", "who calls basket?"],
    ids=["not the object", "a heading", "nothing", "small"],
)
def test_other_words_are_words(baskets: Index, question: str) -> None:
    assert baskets.ask(question, options=AskOptions()).read.wish.names == ()


def test_what_a_type_is_given_is_cited_at_its_parameter(baskets: Index) -> None:
    told = baskets.ask("what does Basket depend on?", options=AskOptions()).text
    assert "- **Basket** is given **IPrices** in src/Basket.cs:9: `IPrices prices,`" in told
    assert "- **Basket** is given **IShelf** in src/Basket.cs:10: `IShelf shelf)`" in told


def test_the_rest_of_a_long_list_is_listed_by_the_command_that_is_named(tmp_path: Path) -> None:
    """Around a node only the best edges of a hub are followed, and a name may have overloads."""
    calls = "".join(f"    public void Feed{at}() {{ _store.Put(1); _store.Put(2, 3); }}\n" for at in range(70))
    files = {
        "src/Store.cs": "public class Store { public void Put(int a) { } public void Put(int a, int b) { } }\n",
        "src/Zoo.cs": f"public class Zoo\n{{\n    private readonly Store _store = new();\n{calls}}}\n",
    }
    home = IndexHome(tmp_path / "home")
    index_without_dagster(home, new_repository(tmp_path / "shop", files), "shop")
    cli = CommandLine(home, tmp_path)
    note = next(line for line in cli.run("ask", "who calls Store.Put?").out.splitlines() if "list them with: " in line)
    listed = cli.run(*shlex.split(note.partition("list them with: rag-assets ")[2]), options=()).out
    assert sum("Zoo.Feed" in line for line in listed.splitlines()) == 70


@pytest.mark.parametrize(
    "question", ["where is IsOpen read?", "who uses Zoo.IsOpen?", "what breaks if I change Zoo.IsOpen?"]
)
def test_who_refers_to_a_property_uses_it(tmp_path: Path, question: str) -> None:
    files = {
        "src/Zoo.cs": "public class Zoo { public bool IsOpen { get; set; } }\n",
        "src/Gate.cs": "public class Gate(Zoo zoo)\n{\n    public bool LetIn() => zoo.IsOpen;\n}\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask(question, options=AskOptions()).text
    assert told.startswith("- **Gate.LetIn** refers to **Zoo.IsOpen** in src/Gate.cs:3")


@pytest.mark.parametrize(
    "question", ["where is shop.add_order used?", "where is the permission shop.add_order checked?"]
)
def test_templates_of_pages_name_what_they_use(tmp_path: Path, question: str) -> None:
    files = {
        "shop/views.py": 'def post(user):\n    return user.has_perm("shop.add_order")\n',
        "shop/templates/order.html": "<p>\n{% if perms.shop.add_order %}\n<b>Add</b>{% endif %}\n</p>\n",
        "docs/order.html": "<p>\nwhoever has shop.add_order may add orders\n</p>\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask(question, options=AskOptions()).text
    assert "in shop/templates/order.html:2: `{% if perms.shop.add_order %}`" in told
    assert "in shop/views.py:2" in told and "docs/order.html" not in told


def test_what_an_attribute_names_is_cited_there(tmp_path: Path) -> None:
    files = {
        "src/Ids.cs": 'public static class Ids { public const string Pay = "pay"; }\n',
        "src/PermissionAttribute.cs": "public class PermissionAttribute(string id) : System.Attribute { }\n",
        "src/Till.cs": "public class Till\n{\n    [Permission(Ids.Pay)]\n    [Obsolete]\n    void Open() { }\n}\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask("where is Ids.Pay used?", options=AskOptions()).text
    assert "**Till.Open** refers to **Ids.Pay** in src/Till.cs:3: `[Permission(Ids.Pay)]`" in told


MESSAGES = {
    "src/PlaceOrder.cs": "namespace Shop;\npublic record PlaceOrder(int Id) : IRequest<int>;\n",
    "src/PlaceOrderHandler.cs": """namespace Shop;
public class PlaceOrderHandler : IRequestHandler<PlaceOrder, int>
{
    public Task<int> Handle(PlaceOrder command, CancellationToken token) => Task.FromResult(1);
}
""",
    "src/Shop.cs": """namespace Shop;
public class PlaceOrderController(IMediator mediator)
{
    public Task<int> PlaceOrder(int id) => mediator.Send(new PlaceOrder(id));
}
""",
}


@pytest.mark.parametrize(
    "question",
    ["who handles PlaceOrder?", "which handler handles the PlaceOrder command", "where is PlaceOrder handled?"],
)
def test_what_handles_a_message_is_told_first(tmp_path: Path, question: str) -> None:
    with opened_index(tmp_path, MESSAGES, "shop") as index:
        told = index.ask(question, options=AskOptions()).text
    assert told.startswith("- **PlaceOrderHandler.Handle** handles **PlaceOrder** in src/PlaceOrderHandler.cs:4")


def test_what_subscribes_to_a_message_receives_it(tmp_path: Path) -> None:
    files = {
        "src/OrderPaid.cs": "namespace Shop;\npublic record OrderPaid(int Id);\n",
        "src/Cashier.cs": "namespace Shop;\npublic class Cashier(IBus bus)\n{\n"
        "    public void Pay(int id) => bus.Publish(new OrderPaid(id));\n}\n",
        "src/Mailer.cs": "namespace Shop;\npublic class Mailer : Listener\n{\n"
        "    public override void Start() => Subscribe<OrderPaid>();\n"
        "    public override void Process(object message)\n    {\n"
        "        if (message is OrderPaid paid) Send(paid.Id);\n    }\n}\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask("who handles OrderPaid?", options=AskOptions()).text
    facts = [line.partition(": `")[0] for line in told.splitlines() if line.startswith("- **")]
    assert facts == [
        "- **Mailer.Start** receives **OrderPaid** in src/Mailer.cs:4",
        "- **Mailer.Process** receives **OrderPaid** in src/Mailer.cs:7",
    ]


def test_what_creates_a_type_by_its_constructor_is_told_once(tmp_path: Path) -> None:
    files = {
        "src/Store.cs": "public class Store\n{\n    public Store(int size) { }\n}\n",
        "src/Zoo.cs": "public class Zoo\n{\n    public object Open() => new Store(3);\n}\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask("who uses Store?", options=AskOptions()).text
    assert told.count("**Zoo.Open** creates **Store**") == 1


def test_an_extension_and_an_inherited_member_are_used_by_the_name_that_calls_write(tmp_path: Path) -> None:
    files = {
        "src/Zoo.cs": "namespace Shop;\npublic class Zoo : Place { }\npublic class Place { public void Close() { } }\n",
        "src/Extensions.cs": "namespace Shop;\npublic static class Extensions\n{\n"
        "    public static void Feed(this Zoo zoo) { }\n}\n",
        "src/Keeper.cs": "namespace Shop;\npublic class Keeper\n{\n    public void Work(Zoo zoo)\n    {\n"
        "        zoo.Feed();\n        zoo.Close();\n    }\n}\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        fed, closed, unknown = (index.ask(f"who calls Zoo.{name}?") for name in ("Feed", "Close", "Keepers"))
    assert fed.text.startswith("- **Keeper.Work** calls **Extensions.Feed** in src/Keeper.cs:6")
    assert closed.text.startswith("- **Keeper.Work** calls **Place.Close** in src/Keeper.cs:7")
    assert not {"cs", "md"} & set(unknown.suggestions)
