"""The generic rule pack against the table of the domain reference §1: kind, evidence and order (A09)."""

from __future__ import annotations

import pytest

from rag_assets.classification.classifier import Classifier, FileFacts
from rag_assets.contracts.kinds import SubtypeKind
from rag_assets_tests.classification.samples import classified, segments_of

K = SubtypeKind

CSHARP = [
    ("test-attribute-on-member", "class Sums { [Fact] public void Adds() {} }", K.TEST, "attribute: Fact on Adds"),
    ("test-attribute-qualified", "[NUnit.TestFixtureAttribute] class Sums {}", K.TEST, "attribute: TestFixture"),
    ("test-attribute-in-nested", "class A { class B { [Theory] void T(int i) {} } }", K.TEST, "attribute: Theory on T"),
    ("test-name", "class OrderTests { void M() {} }", K.TEST, "name: OrderTests"),
    ("test-namespace", "namespace A.UnitTests.Helpers; class B { void M() {} }", K.TEST, "namespace part: UnitTests"),
    ("not-a-test-word", "class Latest { void M() {} }", K.OTHER, "declaration: class"),
    ("exception", "class NotFound : Shop.BaseException { }", K.EXCEPTION, "base type: BaseException"),
    ("interface", "interface IOrders { }", K.INTERFACE, "declaration: interface"),
    ("enum", "enum Status { Open }", K.ENUM, "declaration: enum"),
    ("attribute", "class KeyAttribute : System.Attribute { }", K.CODE_ATTRIBUTE, "base type: Attribute"),
    ("ef-base", "class Db : IdentityDbContext<User> { }", K.EF_DATA_CONTEXT, "base type: IdentityDbContext"),
    ("ef-sets", "class Db : Base { public DbSet<A> As { get; set; } }", K.EF_DATA_CONTEXT, "property of type: DbSet"),
    ("controller-attribute", '[Route("api")] class Orders { void Get() {} }', K.CONTROLLER, "attribute: Route"),
    ("controller-base", "class Orders : ControllerBase { }", K.CONTROLLER, "base type: ControllerBase"),
    ("controller-own-base", "class Orders : BaseShopController { }", K.CONTROLLER, "base type: BaseShopController"),
    ("page-model", "class IndexModel : PageModel { }", K.CONTROLLER, "base type: PageModel"),
    ("minimal-api", 'class E { void Add(W app) { app.MapGet("/x", () => 1); } }', K.CONTROLLER, "calls: MapGet"),
    ("manager", "class Orders : IOrderManager { void M() {} }", K.MANAGER, "implements: IOrderManager"),
    ("repository", "class Orders : IRepo, IOrderRepo { void M() {} }", K.REPOSITORY, "implements: IRepo"),
    ("handler-interface", "class H : IRequestHandler<Q, R> { void M() {} }", K.HANDLER, "implements: IRequestHandler"),
    ("handler-name", "class PaidConsumer { void M() {} }", K.HANDLER, "name: PaidConsumer"),
    ("service", "class Mailer : IMailService { void M() {} }", K.SERVICE, "implements: IMailService"),
    ("hosted-service", "class Poller : IHostedService { void M() {} }", K.SERVICE, "implements: IHostedService"),
    ("background-service", "class P : BackgroundService { void M() {} }", K.SERVICE, "base type: BackgroundService"),
    ("model-suffix", "class OrderDto { void M() {} }", K.MODEL, "name: OrderDto"),
    ("model-data", "class Order { public int Id { get; set; } public Order() {} }", K.MODEL, "only data members"),
    ("model-overrides", "class P { int x; public override string ToString() => \"\"; }", K.MODEL, "only data members"),
    ("model-record", "record Money(decimal Amount, string Currency);", K.MODEL, "only data members"),
    ("model-record-struct", "record struct Point(int X, int Y);", K.MODEL, "only data members"),
    ("no-model-behaviour", "class Order { int x; void Pay() {} }", K.OTHER, "declaration: class"),
    ("no-model-empty", "class Marker { }", K.OTHER, "declaration: class"),
    ("startup", "class Startup { void Configure() {} }", K.STARTUP, "name: Startup"),
    ("program-class", "class Program { static void Main() {} }", K.PROGRAM, "name: Program"),
    ("program-statements", 'app.MapGet("/", () => 1);\napp.Run();', K.PROGRAM, "declaration: program"),
    ("suffix-repository", "class OrderRepository { void M() {} }", K.REPOSITORY, "name: OrderRepository"),
    ("suffix-client", "class PayClient { void M() {} }", K.CLIENT, "name: PayClient"),
    ("suffix-options", "class PayOptions { void M() {} }", K.CONFIGURATION, "name: PayOptions"),
    ("extensions", "static class Texts { static int N(this string s) => 1; }", K.EXTENSION_METHODS,
     "static class with a `this` parameter: N"),
    ("static-without-this", "static class Texts { static int N(string s) => 1; }", K.OTHER, "declaration: class"),
    ("suffix-request", "class PayRequest { void M() {} }", K.REQUEST, "name: PayRequest"),
    ("suffix-result", "class PayResult { void M() {} }", K.RESULT, "name: PayResult"),
    ("suffix-response", "class PayResponse { void M() {} }", K.RESPONSE, "name: PayResponse"),
    ("suffix-event", "class PaidEvent { void M() {} }", K.MESSAGE, "name: PaidEvent"),
    ("suffix-command", "class PayCommand { void M() {} }", K.MESSAGE, "name: PayCommand"),
    ("suffix-proxy", "class PayProxy { void M() {} }", K.PROXY_SERVICES, "name: PayProxy"),
    ("weak-provider", "class PriceProvider { void M() {} }", K.SERVICE, "name: PriceProvider"),
    ("weak-middleware", "class LogMiddleware { void M() {} }", K.HANDLER, "name: LogMiddleware"),
    ("weak-event-args", "class Paid : EventArgs { void M() {} }", K.MESSAGE, "base type: EventArgs"),
    ("delegate", "delegate void Done(int x);", K.OTHER, "declaration: delegate"),
]  # fmt: skip


@pytest.mark.rule("A09")
@pytest.mark.parametrize(("text", "kind", "evidence"), [row[1:] for row in CSHARP], ids=[row[0] for row in CSHARP])
def test_csharp_kinds(text: str, kind: SubtypeKind, evidence: str) -> None:
    """A09: each row of the table, with the evidence that decided."""
    found = classified(text)
    assert found.kind is kind
    assert evidence in found.evidence


OTHER_FILES = [
    ("resx", "Strings.resx", '<root><data name="A"><value>b</value></data></root>', K.RESOURCE_FILE),
    ("markdown", "docs/guide.md", "# Guide\n\ntext", K.MARKDOWN),
    ("ddr-folder", "ddrs/design.md", "# Design\n\ntext", K.DDR),
    ("ddr-folder-case", "DDRs/sub/design.md", "# Design\n\ntext", K.DDR),
    ("ddr-header", "docs/IDX-069.md", "# Points\n\n**ID:** IDX-069  \n**Status:** Draft\n", K.DDR),
    ("ddr-plain-header", "docs/x.md", "ID: ABC-001\n\ntext", K.DDR),
    ("ddr-wrong-form", "docs/x.md", "# X\n\nID: AB-1\n", K.MARKDOWN),
    ("ddr-below-header", "docs/x.md", "# X\n\n" + "word " * 500 + "\n\nID: ABC-001\n", K.MARKDOWN),
    ("ddr-code-is-none", "ddrs/Tool.cs", "class Tool { void M() {} }", K.OTHER),
    ("sql", "db/orders.sql", "CREATE TABLE dbo.Orders (Id int);", K.SQL_OBJECT),
    ("sql-in-test-project", "Shop.Tests/seed.sql", "SELECT 1;", K.SQL_OBJECT),
    ("transcript", "talks/intro.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nhello\n", K.TRANSCRIPT),
    ("text", "LICENSE", "MIT License\n", K.DOCUMENT),
    ("json", "appsettings.json", '{"a": 1}', K.CONFIGURATION),
    ("project-file", "Shop.Tests/Shop.Tests.csproj", "<Project/>", K.CONFIGURATION),
    ("razor-page", "Pages/Orders.razor", '@page "/orders"\n<h1>Orders</h1>\n', K.CONTROLLER),
    ("razor-component", "Shared/Menu.razor", "<h1>Menu</h1>\n", K.DOCUMENT),
    ("python-test-file", "tests/test_shop.py", "def test_adds():\n    assert 1\n", K.TEST),
    ("python-exception", "shop/errors.py", "class NotFound(LookupError):\n    pass\n", K.EXCEPTION),
    ("python-protocol", "shop/ports.py", "class Port(Protocol):\n    def send(self): ...\n", K.INTERFACE),
    ("python-enum", "shop/states.py", "class State(enum.Enum):\n    OPEN = 1\n", K.ENUM),
    ("python-class", "shop/cart.py", "class Cart:\n    def add(self, x): ...\n", K.OTHER),
    ("typescript-interface", "web/cart.ts", "export interface Cart { id: number }\n", K.INTERFACE),
    ("typescript-spec", "web/cart.spec.ts", "describe('x', () => {});\n", K.TEST),
    ("go-test", "cart/cart_test.go", "package cart\n\nfunc TestAdd(t *testing.T) {}\n", K.TEST),
    ("rails-model", "app/models/order.rb", "class Order < ApplicationRecord\n  def pay\n  end\nend\n", K.MODEL),
    ("old-rails-model", "app/models/order.rb", "class Order < ActiveRecord::Base\n  def pay\n  end\nend\n", K.MODEL),
    ("laravel-model", "app/Order.php", "<?php\nclass Order extends Model {\n  function pay() {}\n}\n", K.MODEL),
    ("ruby-error", "lib/errors.rb", "class Lost < StandardError\n  def code\n  end\nend\n", K.EXCEPTION),
    ("rust-tests", "src/cart.rs", "mod tests {\n    #[test]\n    fn adds() {}\n}\n", K.TEST),
    ("rspec", "spec/cart_spec.rb", "describe Cart do\nend\n", K.TEST),
    ("pester", "Cart.Tests.ps1", "Describe 'Cart' { }\n", K.TEST),
    ("google-test", "cart.cc", "TEST(Cart, Adds) {\n}\n", K.TEST),
    ("vb-test", "Cart.vb", "Class Facts\n    <Fact>\n    Public Sub Adds()\n    End Sub\nEnd Class\n", K.TEST),
    ("java-test", "src/test/java/CartT.java", "class CartT { void x() {} }\n", K.TEST),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "text", "kind"), [row[1:] for row in OTHER_FILES], ids=[row[0] for row in OTHER_FILES]
)
def test_other_files(path: str, text: str, kind: SubtypeKind) -> None:
    """Rules of other languages, and that rules of code never claim documents or configuration."""
    assert classified(text, path).kind is kind


FOLDERS = [
    ("project-folder", "src/Shop.Tests/Helpers/Builder.cs", K.TEST),
    ("integration-project", "test/Shop.IntegrationTests/Api.cs", K.TEST),
    ("folder-called-test", "test/Builder.cs", K.OTHER),
    ("folder-called-tests", "src/tests/Builder.cs", K.OTHER),
]


@pytest.mark.parametrize(("path", "kind"), [row[1:] for row in FOLDERS], ids=[row[0] for row in FOLDERS])
def test_a_test_folder_alone_is_weak_evidence(path: str, kind: SubtypeKind) -> None:
    assert classified("class Builder { void M() {} }", path).kind is kind


ROLES = [
    ("request", "record CreateDevice(string Name) : IRequest<int>;", K.REQUEST, "implements: IRequest"),
    ("request-without-data", "class Ping : IRequest { }", K.REQUEST, "implements: IRequest"),
    ("command-and-request", "record CreateDeviceCommand(string Name) : IRequest<int>;", K.MESSAGE,
     "name: CreateDeviceCommand"),
    ("command", "record Pay(int Order) : ICommand;", K.MESSAGE, "implements: ICommand"),
    ("command-name", "record PayCommand(int Order);", K.MESSAGE, "name: PayCommand"),
    ("query", "class FindOrders : IQuery<Order> { public int Page { get; set; } }", K.MESSAGE, "implements: IQuery"),
    ("query-name", "class OrdersQuery { public int Page { get; set; } }", K.MESSAGE, "name: OrdersQuery"),
    ("event", "record Paid(int Order) : IDomainEvent;", K.MESSAGE, "implements: IDomainEvent"),
    ("notification", "record Paid(int Order) : INotification;", K.MESSAGE, "implements: INotification"),
    ("event-base", "record Paid(int Order) : IntegrationEvent;", K.MESSAGE, "base type: IntegrationEvent"),
    ("event-args", "class PaidEventArgs : EventArgs { public int Id { get; set; } }", K.MESSAGE,
     "base type: EventArgs"),
    ("message-name", "record PaidMessage(int Order);", K.MESSAGE, "name: PaidMessage"),
    ("request-name", "record PayRequest(int Order);", K.REQUEST, "name: PayRequest"),
    ("response-name", "record PayResponse(int Order);", K.RESPONSE, "name: PayResponse"),
    ("result-name", "record PayResult(int Order);", K.RESULT, "name: PayResult"),
    ("options-name", "class PayOptions { public int Days { get; set; } }", K.CONFIGURATION, "name: PayOptions"),
    ("settings-name", "class PaySettings { public int Days { get; set; } }", K.CONFIGURATION, "name: PaySettings"),
    ("dto", "record PayDto(int Order);", K.MODEL, "name: PayDto"),
    ("table", '[Table("Pay")] class PayResult { public int N { get; set; } void M() {} }', K.MODEL,
     "attribute: Table"),
    ("key", "class PayMessage { [Key] public int N { get; set; } void M() {} }", K.MODEL, "attribute: Key on N"),
    ("numbered-members", "[MessagePackObject] class PayMessage { [Key(0)] public int N { get; set; } }", K.MESSAGE,
     "name: PayMessage"),
    ("entity-with-behaviour", "class Order { public int Id { get; private set; } void Pay() {} }", K.MODEL,
     "key property: Id"),
    ("given-identity-is-no-key", "class Plug { public Guid Id => X; void Run() {} }", K.OTHER, "declaration: class"),
    ("operation", "class PayCommand : IPayCommand { void Pay() {} }", K.SERVICE, "implements: IPayCommand"),
    ("role-of-interface", "class ListOrdersTool : IAgentTool { void Run() {} }", K.SERVICE, "implements: IAgentTool"),
    ("role-of-interface-base", "class AgentToolBase : ITool { void Run() {} }", K.SERVICE, "implements: ITool"),
    ("no-role-of-interface", "class Orders : IDisposable { void Run() {} }", K.OTHER, "declaration: class"),
]  # fmt: skip


@pytest.mark.rule("F07", "R33")
@pytest.mark.parametrize(("text", "kind", "evidence"), [row[1:] for row in ROLES], ids=[row[0] for row in ROLES])
def test_evidence_of_a_role_comes_before_what_a_type_consists_of(text: str, kind: SubtypeKind, evidence: str) -> None:
    found = classified(text)
    assert found.kind is kind
    assert evidence in found.evidence


ORDER = [
    ("test-before-interface", "namespace A.Tests; interface IFake { }", K.TEST),
    ("exception-before-data", "class E : Exception { public int Code { get; set; } }", K.EXCEPTION),
    ("interface-before-suffix", "interface IPayClient { }", K.INTERFACE),
    (
        "sets-of-a-service",
        "class OrderService { private readonly DbSet<Order> _o; DbSet<Order> Os() => _o; }",
        K.SERVICE,
    ),
    ("context-before-data", "class Db : DbContext { public DbSet<A> As { get; set; } }", K.EF_DATA_CONTEXT),
    ("controller-before-service", "class C : ControllerBase, IPayService { }", K.CONTROLLER),
    ("manager-before-repository", "class C : IPayRepository, IPayManager { void M() {} }", K.MANAGER),
    ("handler-before-service", "class PayHandler : IPayService { void M() {} }", K.HANDLER),
    ("role-before-data", "class PayRequest { public int Id { get; set; } }", K.REQUEST),
    ("stored-before-role", "class PayRequest { [Key] public int Id { get; set; } }", K.MODEL),
    ("suffix-before-weak-evidence", "static class AFactory { static int N(this int i) => 1; }", K.EXTENSION_METHODS),
]


@pytest.mark.parametrize(("text", "kind"), [row[1:] for row in ORDER], ids=[row[0] for row in ORDER])
def test_first_match_wins(text: str, kind: SubtypeKind) -> None:
    assert classified(text).kind is kind


def test_a_classification_explains_itself() -> None:
    """A wrong kind can be traced to its rule, pack and evidence."""
    found = classified("class Orders : IOrderManager { void M() {} }")
    assert (found.rule, found.pack) == ("manager", "generic")
    assert found.reason == "implements a manager interface"


def test_the_reason_of_http_attributes_holds_for_any_class_with_them() -> None:
    found = classified("class ThingController : ApiBase { [HttpGet] public int A() => 1; }")
    assert (found.kind, found.rule) == (K.CONTROLLER, "endpoint-class")
    assert found.reason.startswith("answers HTTP requests, by HTTP attributes on its methods or ")


def test_nothing_matches() -> None:
    found = classified("class Thing { void M() {} }")
    assert (found.kind, found.rule, found.reason) == (K.OTHER, "", "no rule matches")


@pytest.mark.rule("A09")
def test_kinds_are_decided_per_segment() -> None:
    """A09: one file, several kinds."""
    path, text = "a.cs", "interface IA { }\nenum B { X }\nclass CException : Exception { }"
    file = FileFacts(path, "csharp", text)
    assert [Classifier().classify(segment, file).kind for segment in segments_of(text, path)] == [
        K.INTERFACE,
        K.ENUM,
        K.EXCEPTION,
    ]


def test_classification_is_deterministic() -> None:
    text = "[Route] class A : ControllerBase { [Fact] void M() {} }"
    assert classified(text) == classified(text)
