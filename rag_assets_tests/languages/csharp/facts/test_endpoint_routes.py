"""Route templates, string expressions, responses and authorization of endpoints: the small parts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.languages.csharp.syntax.xmldoc import action_doc
from rag_assets.languages.csharp.web.class_endpoints import page_route
from rag_assets.languages.csharp.web.controllers import authorization_of, combined, required_by_call
from rag_assets.languages.csharp.web.responses import (
    by_return_type,
    by_statements,
    declared_by_attributes,
    merged,
)
from rag_assets.languages.csharp.web.route_templates import joined, nested, parameters_of, shape, string_of, with_tokens


@pytest.mark.parametrize(
    ("prefix", "template", "route"),
    [
        ("api/orders", "{id}", "/api/orders/{id}"),
        ("/api/orders/", "", "/api/orders"),
        ("", "", "/"),
        ("api/orders", "/health", "/health"),
        ("api/orders", "~/health", "/health"),
        ("", "~/", "/"),
    ],
)
def test_templates_join_as_in_attribute_routing(prefix: str, template: str, route: str) -> None:
    assert joined(prefix, template) == route


@pytest.mark.parametrize(
    ("prefix", "template", "route"),
    [("/api", "/orders", "/api/orders"), ("", "orders/", "/orders"), ("/api/", "", "/api"), ("/", "/", "/")],
)
def test_groups_join_whatever_the_slashes(prefix: str, template: str, route: str) -> None:
    assert nested(prefix, template) == route


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("api/[controller]/[action]", "api/Orders/List"),
        ("[Controller]", "Orders"),
        ("[area]/x", "[area]/x"),
        ("[[literal]]/[unknown]", "[literal]/[unknown]"),
        ("{id:regex(^[[a-z]]+$)}", "{id:regex(^[a-z]+$)}"),
    ],
)
def test_tokens(template: str, expected: str) -> None:
    assert with_tokens(template, {"controller": "Orders", "action": "List", "area": ""}) == expected


@pytest.mark.parametrize(
    ("template", "bare", "names"),
    [
        ("/a/{id:int}/{name?}", "/a/{id}/{name}", ["id", "name?"]),
        ("/a/{page=1}/{**rest}", "/a/{page}/{rest}", ["page?", "rest*"]),
        (r"/a/{n:regex(^\d{{3}}$)}/b", "/a/{n}/b", ["n"]),
        ("/a/{broken", "/a/{broken", []),
        ("/a/{}/}{", "/a/{}/}{", []),
    ],
)
def test_parameters_of_templates(template: str, bare: str, names: list[str]) -> None:
    assert shape(template) == bare
    assert [f"{p.name}{'?' * p.optional}{'*' * p.catch_all}" for p in parameters_of(template)] == names


@given(st.text(alphabet="/{}[]~ab:?=*", max_size=40), st.text(alphabet="/{}[]~ab:?=*", max_size=40))
def test_any_template_gives_a_rooted_route(prefix: str, template: str) -> None:
    for route in (joined(prefix, template), nested(prefix, template)):
        assert route.startswith("/")
        assert route == "/" or not route.endswith("/")
    assert parameters_of(template) == parameters_of(template)
    assert isinstance(shape(with_tokens(template, {"ab": "x"})), str)


CONSTANTS = {"Base": '"api/orders"', "List": 'Base + "/list"', "Loop": "Loop"}


@pytest.mark.parametrize(
    ("expression", "text", "known"),
    [
        ('"a/b"', "a/b", True),
        ("List", "api/orders/list", True),
        ('$"{Base}/{{id}}"', "api/orders/{id}", True),
        ('Base + "/" + nameof(Orders.Open)', "api/orders/Open", True),
        ('"x/" + Routes.Deep.Path', "x/<Routes.Deep.Path>", False),
        ("Loop", "<Loop>", False),
    ],
)
def test_string_expressions(expression: str, text: str, known: bool) -> None:
    """What is declared elsewhere stays visible as an expression, and is said to be unknown."""
    assert string_of(expression, CONSTANTS) == (text, known)


@pytest.mark.parametrize(
    ("return_type", "expected"),
    [
        ("Task<ActionResult<OrderDto>>", [(200, "OrderDto")]),
        ("Task<Results<Ok<OrderDto[]>, NotFound, ValidationProblem>>", [(200, "OrderDto[]"), (404, ""), (400, "")]),
        ("Created<OrderDto>", [(201, "OrderDto")]),
        ("FileStreamResult", [(200, "")]),
        ("InvokeResult<Order>", [(200, "InvokeResult<Order>")]),
        ("Task", [(200, "")]),
        ("IActionResult", []),
        ("Task<IResult>", []),
    ],
)
def test_responses_of_return_types(return_type: str, expected: list[tuple[int, str]]) -> None:
    assert [(found.status, found.type) for found in by_return_type(return_type)] == expected


@pytest.mark.parametrize(
    ("code", "statuses"),
    [
        ("return found is null ? NotFound() : Ok(found);", [200, 404]),
        ("return TypedResults.Created<Order>(uri, order);", [201]),
        ("return Problem(detail, statusCode: StatusCodes.Status422UnprocessableEntity);", [422]),
        ("return Problem(detail);", [500]),
        ("return StatusCode((int)HttpStatusCode.Gone);", [410]),
        ("return StatusCode(418);", [418]),
        ("client.NotFound(); new Conflict(); MyOk();", []),
    ],
)
def test_responses_of_statements(code: str, statuses: list[int]) -> None:
    assert [found.status for found in by_statements(code)] == statuses


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ("ProducesResponseType<OrderDto>(StatusCodes.Status201Created)", (201, "OrderDto", "")),
        ("ProducesResponseType(typeof(IEnumerable<OrderDto>), 200)", (200, "IEnumerable<OrderDto>", "")),
        ("ProducesResponseType(404, Type = typeof(ProblemDetails))", (404, "ProblemDetails", "")),
        ("ProducesResponseType(typeof(void), 204)", (204, "", "")),
        ('SwaggerResponse(409, "Taken", typeof(Error))', (409, "Error", "Taken")),
        ("ProducesDefaultResponseType", (0, "", "")),
        ("Produces(typeof(OrderDto))", (200, "OrderDto", "")),
        ('Produces("application/json")', None),
    ],
)
def test_responses_of_attributes(attribute: str, expected: tuple[int, str, str] | None) -> None:
    found = [(response.status, response.type, response.doc) for response in declared_by_attributes([attribute])]
    assert found == ([expected] if expected else [])


def test_one_response_per_status_and_documentation_joins() -> None:
    declared = declared_by_attributes(["ProducesResponseType(200)", "ProducesDefaultResponseType"])
    found = merged(
        (declared, by_return_type("Order"), by_statements("return NotFound();")), {404: "None.", 418: "Tea."}
    )
    assert [(r.status, r.type, r.doc, r.evidence.value) for r in found] == [
        (200, "Order", "", "declared"),
        (404, "", "None.", "statement"),
        (418, "", "Tea.", "documented"),
        (0, "", "", "declared"),
    ]


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        (["Authorize"], "required"),
        (['Authorize("Staff")'], "policy Staff"),
        (["Authorize(Policy = Policies.Elevated)"], "policy Elevated"),
        (['Authorize(Roles = "clerk, manager")'], "roles clerk, manager"),
        (["Authorize<ManageUsersRequirement>"], "policy ManageUsersRequirement"),
        (["Authorize", "AllowAnonymous"], "anonymous"),
        (["ConfirmedUser", "OrgAdmin"], "filter ConfirmedUser, OrgAdmin"),
        (["ApiController"], ""),
    ],
)
def test_authorization_of_attributes(attributes: list[str], text: str) -> None:
    assert authorization_of(attributes).text == text


def test_demands_add_up_and_anonymous_access_wins() -> None:
    inherited = authorization_of(['Authorize(Roles = "clerk")'], inherited=True)
    own = authorization_of(['Authorize("Staff")'])
    assert combined((inherited, own)).text == "policy Staff; roles clerk"
    assert not combined((inherited, own)).inherited
    assert combined((inherited,)).inherited
    assert combined((inherited, authorization_of(["AllowAnonymous"]))).text == "anonymous"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), "required"),
        (('"Staff"', '"Audit"'), "policy Staff, Audit"),
        (('p => p.RequireRole("a", "b")',), "roles a, b"),
    ],
)
def test_authorization_of_calls(arguments: tuple[str, ...], text: str) -> None:
    assert required_by_call(arguments).text == text


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("src/Web/Pages/Index.cshtml.cs", ("/", True)),
        ("src/Web/Pages/Catalog/Index.cshtml.cs", ("/Catalog", True)),
        ("src/Web/Pages/Catalog/Edit.cshtml.cs", ("/Catalog/Edit", True)),
        ("src/Web/Areas/Identity/Pages/Account/Login.cshtml.cs", ("/Identity/Account/Login", True)),
        ("src/Web/Models/EditPage.cs", ("/Edit", False)),
    ],
)
def test_routes_of_pages(path: str, route: tuple[str, bool]) -> None:
    assert page_route(path, "EditModel") == route


@pytest.mark.parametrize(
    "doc",
    [
        'Shows an order. <response code="200">The order.</response> <response code="404">None.</response>'
        "\n\nparam id: Its number.",
        "Shows an order.\n\nparam id: Its number.\nresponse 200: The order.\nresponse 404: None.",
    ],
    ids=["tags", "lines"],
)
def test_documentation_of_an_action(doc: str) -> None:
    found = action_doc(doc)
    assert found.summary == "Shows an order."
    assert found.parameters == {"id": "Its number."}
    assert found.responses == {200: "The order.", 404: "None."}
    assert "response" not in found.text
