"""Start-up code and extension methods: registrations, middleware, endpoints, extended types."""

from __future__ import annotations

import pytest

from rag_assets.descriptions.kinds.composition_root import ExtensionMethodsDescription, StartupDescription
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.languages.csharp.facts.masked_body import type_arguments
from rag_assets_tests.descriptions.behaving import (
    keys_of,
    of_shop,
    only,
    points_of,
    sections_of,
    shop,
    snippets_of,
)
from rag_assets_tests.descriptions.samples import described_file

REGISTRATIONS = "Fernhill.Shop.Infrastructure.ServiceCollectionExtensions"


def startup(statements: str) -> StartupDescription:
    return only(StartupDescription, f"class Startup {{ void Run() {{ {statements}\n}} }}")


def test_registrations_of_the_shop() -> None:
    found = of_shop(ExtensionMethodsDescription, REGISTRATIONS)
    assert [(r.service, r.implementation, r.lifetime) for r in found.registrations] == [
        ("ShopDbContext", "", "DbContext"),
        ("ShippingOptions", "", "Options"),
        ("IOrderRepository", "OrderRepository", "Scoped"),
        ("IOrderManager", "OrderManager", "Scoped"),
        ("ILoyaltyService", "LoyaltyService", "Scoped"),
        ("IProductRepository", "InMemoryProductRepository", "Singleton"),
        ("ICustomerRepository", "CustomerRepository", "Scoped"),
        ("CarrierClient", "", "HttpClient"),
        ("ICarrierClient", "ParcelRateProxy", "Scoped"),
    ]
    assert [(extended.type, extended.members) for extended in found.extended] == [
        ("IServiceCollection", ("AddShopInfrastructure",))
    ]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("services.AddTransient<IA, A>();", ("IA", "A", "Transient")),
        ("services.AddScoped<A>();", ("A", "", "Scoped")),
        ("services.TryAddSingleton<IA>(_ => new A(1));", ("IA", "A", "Singleton")),
        ("services.AddKeyedScoped<IA>(\"k\", (sp, key) => Make(sp));", ("IA", "", "Scoped")),
        ("services.AddScoped(typeof(IRepo<>), typeof(EfRepo<>));", ("IRepo<>", "EfRepo<>", "Scoped")),
        ("services.AddSingleton(new A());", ("A", "", "Singleton")),
        ("services.AddSingleton<IMap<int, List<A>>, B<C>>();", ("IMap<int, List<A>>", "B<C>", "Singleton")),
        ("services.AddHostedService<Worker>();", ("Worker", "", "HostedService")),
        ("services.Configure<AOptions>(o => o.X = new Y());", ("AOptions", "", "Options")),
        ("builder.RegisterType<A>().As<IA>();", ("IA", "A", "RegisterType")),
        ("SLWIOC.Register<IA, A>();", ("IA", "A", "Register")),
        ("services.AddSingleton(TimeProvider.System);", None),
        ("// services.AddScoped<IA, A>();", None),
        ("list.AddRange(more);", None),
        ("services.AddScoped<IA, A", None),
    ],
)  # fmt: skip
def test_registrations(call: str, expected: tuple[str, str, str] | None) -> None:
    found = startup(call)
    assert [(r.service, r.implementation, r.lifetime) for r in found.registrations] == ([expected] if expected else [])


def test_middleware_and_endpoints() -> None:
    found = only(
        StartupDescription,
        """
        services.AddDbContext<Db>(o => o.UseSqlServer("x").UseLazyLoadingProxies());
        services.AddControllers().AddJsonOptions(o => { });
        app.UseRouting().UseHttpsRedirection();
        app.UseMiddleware<ErrorMiddleware>();
        app.MapGet("/health", () => "ok"); group.MapPost(pattern: "/orders", Place);
        endpoints.MapHub<ChatHub>("/chat"); app.MapShop(); mapper.MapTo(x); parser.MapResult("no");
        """,
        "Program.cs",
    )
    assert found.middleware == ("UseRouting", "UseHttpsRedirection", "ErrorMiddleware")
    assert found.mapped_endpoints == ("GET /health", "POST /orders", "MapHub /chat", "MapShop")
    assert found.features == ("AddControllers",)


def test_a_program_in_full() -> None:
    found = next(d for d in shop() if type(d) is StartupDescription and d.declaration == "program")
    assert snippets_of(found)["program-overview"] == (
        "Domain: General\n\n"
        "Kind: Program\n\n"
        "Artifact: Program\n"
        "Adds: Controllers, RazorPages, OpenApi, MemoryCache, ShopInfrastructure, Authentication, "
        "AuthorizationBuilder\n"
        "Middleware: ExceptionHandler, Authentication, Authorization\n"
        "Maps: MapOpenApi, MapControllers, MapRazorPages, MapCatalog, GET /health, "
        "GET /api/customers/{id:guid}/discount, POST /api/newsletter\n"
        "Path: Fernhill.Shop.Api\n\n"
        "Purpose: The public face of the shop: controllers for orders and invoices, minimal endpoints for the rest.\n"
        "Members: WriteProblemAsync"
    )
    points_of(found)


def test_extended_types_also_in_extension_blocks() -> None:
    found = of_shop(ExtensionMethodsDescription, "Fernhill.Shop.Domain.Common.MoneyExtensions")
    assert [(extended.type, extended.members) for extended in found.extended] == [
        ("IEnumerable<Money>", ("Sum",)),
        ("Money", ("IsZero", "WithVat")),
    ]
    (section,) = sections_of(found)
    assert "\nExtends: IEnumerable<Money>, Money\n" in section.finder_snippet
    assert "- Extends: `IEnumerable<Money>: Sum`, `Money: IsZero, WithVat`" in section.backing_artifact


def test_extensions_of_one_type_are_one_entry() -> None:
    text = "static class E { void A(this string? s) { } void B(this T t) { } void C(this string s) { } }"
    assert [(e.type, e.members) for e in only(ExtensionMethodsDescription, text).extended] == [
        ("string", ("A", "C")),
        ("T", ("B",)),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "void M( { ] }",
        "class Inner { }",
        "".join(f"void M{i}() {{ s.AddScoped<C{i}>(); }}\n" for i in range(300)),
    ],
    ids=["empty", "broken", "nested", "300 members"],
)
def test_odd_startups(body: str) -> None:
    found = only(StartupDescription, f"class Startup {{ {body} }}")
    points_of(found)
    assert keys_of(found)[0] == "startup-overview"


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("<A>", ("A",)),
        ("<IMap<int, (A, B)>, C[]>(", ("IMap<int, (A, B)>", "C[]")),
        ("<,>", ()),
        ("(A)", ()),
        ("<A; B>", ()),
        ("<A", ()),
        ("<" * 100_000, ()),
    ],
)
def test_type_arguments_of_a_call(code: str, arguments: tuple[str, ...]) -> None:
    """What is never closed ends soon, however often it is tried."""
    found, end = type_arguments(code, 0)
    assert found == arguments
    if arguments:
        assert code[:end].endswith(">")


@pytest.mark.rule("A14")
def test_start_up_of_other_languages_is_left_to_the_general_builder() -> None:
    (found,) = described_file("class Startup:\n    def run(self): ...\n", "startup.py").descriptions
    assert type(found) is SymbolDescription
