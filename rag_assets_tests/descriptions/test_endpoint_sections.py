"""The sections of endpoints: keys, symbols, snippets, slices, graph nodes, points (A24–A26, A31–A38, domain §3, §5)."""

from __future__ import annotations

import pytest

from rag_assets.contracts.segment import leaves_of
from rag_assets.descriptions.kinds.controller import ControllerDescription, MappedEndpointsDescription
from rag_assets_tests.descriptions.behaving import only, points_of, sections_of, stored_and_read
from rag_assets_tests.descriptions.samples import DOMAINS, described_file

CONTROLLER = """\
using Microsoft.AspNetCore.Mvc;
namespace Shop.Api;

/// <summary>Places and shows orders.</summary>
[ApiController, Authorize, Route("api/orders")]
public class OrdersController(IOrderManager orders) : ControllerBase
{
    private readonly int _limit = 3;

    /// <summary>Shows one order.</summary>
    /// <param name="id">Its number.</param>
    [HttpGet("{id:int}", Name = "GetOrder"), HttpHead("{id:int}")]
    [ProducesResponseType<OrderDto>(200)]
    public async Task<ActionResult<OrderDto>> GetAsync(int id, [FromServices] IClock clock) => NotFound();

    private void Check() { }

    [HttpPost, AllowAnonymous]
    public Task<int> Place(PlaceOrder command) => null;
}
"""


def orders() -> ControllerDescription:
    return only(ControllerDescription, CONTROLLER, "src/Api/Orders.cs")


@pytest.mark.rule("A22", "A25")
def test_keys_and_symbols_of_the_sections() -> None:
    """Domain reference §3: overview and other members, then two sections for each action, with symbols of their own."""
    found = [(s.section_key, s.symbol, s.symbol_type) for s in sections_of(orders())]
    get = "Shop.Api.OrdersController.GetAsync(int,IClock)"
    place = "Shop.Api.OrdersController.Place(PlaceOrder)"
    assert found == [
        ("controller-overview", "Shop.Api.OrdersController", "class"),
        ("controller-members", "Shop.Api.OrdersController", "class"),
        ("endpoint-overview", get, "endpoint"),
        ("endpoint-request-response", get, "endpoint"),
        ("endpoint-overview", place, "endpoint"),
        ("endpoint-request-response", place, "endpoint"),
    ]


def test_the_snippets_in_full() -> None:
    overview, _, get, contract, *_ = sections_of(orders())
    assert overview.section_normalized_text.splitlines() == [
        "Domain: General",
        "",
        "Kind: Controller",
        "",
        "Artifact: Shop.Api.OrdersController",
        "Inherits: ControllerBase",
        "Route: api/orders",
        "Authorization: required",
        "DependsOn: IOrderManager",
        "Path: Orders",
        "",
        "Purpose: Places and shows orders.",
        "Members: _limit, GetAsync, Check, Place",
    ]
    assert get.section_normalized_text.splitlines() == [
        "Domain: General",
        "",
        "Kind: Controller",
        "",
        "Artifact: Shop.Api.OrdersController.GetAsync(int,IClock)",
        "HttpMethod: GET, HEAD",
        "Route: /api/orders/{id:int}",
        "EndpointName: GetOrder",
        "Authorization: required",
        "Parameters: id",
        "Returns: OrderDto",
        "Path: Orders",
        "",
        "Purpose: Shows one order.",
    ]
    assert contract.section_normalized_text.splitlines() == [
        "Domain: General",
        "",
        "Kind: Controller",
        "",
        "Artifact: Shop.Api.OrdersController.GetAsync(int,IClock)",
        "HttpMethod: GET, HEAD",
        "Route: /api/orders/{id:int}",
        "",
        "Route id: int, required — Its number.",
        "Services: IClock",
        "Response 200: OrderDto",
        "Response 404",
    ]


@pytest.mark.rule("C07")
def test_the_artifact_of_an_endpoint_says_what_is_inferred() -> None:
    """C07: the description is read once the snippet is found."""
    text = sections_of(orders())[2].backing_artifact
    for line in (
        "# GET, HEAD /api/orders/{id:int}",
        "- Route: `GET /api/orders/{id:int}`",
        "- Handler: `Shop.Api.OrdersController.GetAsync`",
        "- `id` Route `int`, required; source inferred — Its number.",
        "- `clock` Services `IClock`, required",
        "- 404 (statement)",
    ):
        assert line in text.splitlines()


def test_graph_nodes_of_an_endpoint() -> None:
    """Domain reference §5: one node per method and route, without constraints, and the method that answers."""
    assert sections_of(orders())[2].graph_node_keys == (
        "http:GET /api/orders/{id}|ENDPOINT",
        "http:HEAD /api/orders/{id}|ENDPOINT",
        "csharp:Shop.Api.OrdersController.GetAsync(int,IClock)|METHOD",
    )


def test_the_slice_of_an_endpoint_is_its_method() -> None:
    get = sections_of(orders())[2].span
    assert get.slice(CONTROLLER).startswith("/// <summary>Shows one order.")
    assert get.slice(CONTROLLER).endswith("=> NotFound();")


@pytest.mark.rule("C04")
def test_together_the_slices_cover_the_class() -> None:
    made = orders()
    covered: set[int] = set()
    for section in sections_of(made):
        covered |= set(range(section.span.char_start, section.span.char_end))
    missing = [
        c for i, c in enumerate(CONTROLLER) if made.span.char_start <= i < made.span.char_end and i not in covered
    ]
    assert not "".join(missing).strip()
    assert len(made.tiles) == len(leaves_of(made.members))


@pytest.mark.rule("A10", "A35")
def test_points_of_endpoints_have_a_flavor_of_their_own() -> None:
    """A30, A35: Subtype Controller and SubtypeFlavor Endpoint, wherever the endpoint stands."""
    found = {(p.payload.section_key, p.payload.subtype, p.payload.subtype_flavor) for p in points_of(orders())}
    assert found == {
        ("controller-overview", "Controller", "Api"),
        ("controller-members", "Controller", "Api"),
        ("endpoint-overview", "Controller", "Endpoint"),
        ("endpoint-request-response", "Controller", "Endpoint"),
    }
    program = only(MappedEndpointsDescription, 'var app = Make();\napp.MapGet("/a", () => 1);\n', "src/Program.cs")
    points = points_of(program)
    assert {(p.payload.kind, p.payload.subtype, p.payload.subtype_flavor) for p in points} == {
        ("Program", "Controller", "Endpoint")
    }
    assert points[0].payload.semantic_id == "acme:shop:shop:endpoint:program.mapget(/a):endpoint-overview:1"


@pytest.mark.rule("A38", "R1")
def test_symbols_stay_unique_where_a_type_has_several_parts() -> None:
    """R1: the suffix of the part is in the symbols of its endpoints; the text keeps the plain name."""
    made = orders()
    made.symbol += "~0123abcd"
    symbols = {s.symbol for s in sections_of(made) if s.symbol_type == "endpoint"}
    assert symbols == {
        "Shop.Api.OrdersController~0123abcd.GetAsync(int,IClock)",
        "Shop.Api.OrdersController~0123abcd.Place(PlaceOrder)",
    }
    assert not any("~" in s.section_normalized_text for s in sections_of(made))
    assert len({p.payload.semantic_id for p in points_of(made)}) == 6


@pytest.mark.rule("A32", "A38")
def test_actions_whose_signatures_are_hard_on_ids() -> None:
    text = (
        '[ApiController, Route("a")] public class C : ControllerBase {\n'
        '  [HttpGet("1")] public int Do(string s) => 1; [HttpGet("2")] public int Do(String s) => 1;\n'
        '  [HttpGet("3")] public int Alias(global::System.String s) => 1; }'
    )
    points_of(only(ControllerDescription, text))


@pytest.mark.rule("B07", "R18", "R19")
def test_a_contract_larger_than_the_window_is_split_and_numbered() -> None:
    """R18, R19: between parameters, each part with the route."""
    parameters = ", ".join(f"[FromQuery] string? filterNumber{i}" for i in range(120))
    text = (
        '[ApiController, Route("a")] public class C : ControllerBase {\n'
        f"  [HttpGet] public int Search({parameters}) => 1; }}"
    )
    parts = [s for s in sections_of(only(ControllerDescription, text)) if s.section_key == "endpoint-request-response"]
    assert len(parts) > 2
    assert [(s.part_index, s.part_total) for s in parts] == [(i, len(parts)) for i in range(1, len(parts) + 1)]
    assert all("Route: /a" in s.finder_snippet for s in parts)
    for i in range(120):
        assert sum(f"filterNumber{i}:" in s.finder_snippet for s in parts) == 1
    points_of(only(ControllerDescription, text))


def test_three_hundred_actions() -> None:
    body = "\n".join(f'  [HttpGet("{i}")] public int Act{i}(int id) => {i};' for i in range(300))
    made = only(ControllerDescription, f'[ApiController, Route("a")] public class C : ControllerBase {{\n{body}\n}}')
    assert len(points_of(made)) == 601


def test_the_domain_of_an_endpoint_is_that_of_its_class() -> None:
    found = described_file(CONTROLLER, "src/Shop/Orders.cs", DOMAINS).descriptions[0]
    endpoint = next(s for s in sections_of(found) if s.symbol_type == "endpoint")
    assert endpoint.domain_key == "ordering"
    assert endpoint.finder_snippet.startswith("Domain: Ordering\nDomainSummary: From basket to invoice.")


@pytest.mark.rule("A26")
@pytest.mark.parametrize("path", ["src/Api/Orders.cs", "src/Program.cs"], ids=["controller", "program"])
def test_stored_descriptions_give_the_same_sections(path: str) -> None:
    """A26: same input, same bytes, also through storage."""
    text = CONTROLLER if "Orders" in path else 'var app = Make();\napp.MapGet("/a/{id}", (int id) => Results.Ok());\n'
    for first, second in zip(
        described_file(text, path).descriptions, described_file(text, path).descriptions, strict=True
    ):
        assert sections_of(first) == sections_of(second) == sections_of(stored_and_read(first))
