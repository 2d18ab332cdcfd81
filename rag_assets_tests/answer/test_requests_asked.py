"""What a request comes to is told in its order, what validates something rule by rule, and how a value is made by what
makes it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "src/StampsController.cs": """\
namespace Post;

public class StampsController : ControllerBase
{
    private readonly IMediator _mediator;

    [HttpPost("/stamps")]
    public Task<int> Send(SendStamp stamp) => _mediator.Send(stamp);

    [HttpDelete("/stamps/{id}")]
    public Task Burn(int id) => Task.CompletedTask;
}
""",
    "src/BagsController.cs": """\
namespace Post;

public class BagsController : ControllerBase
{
    [HttpGet("/bags/{id}/stamps")]
    public Task<int> Stamps(int id) => Task.FromResult(id);

    [HttpDelete("/bags/{id}/stamps")]
    public Task Empty(int id) => Task.CompletedTask;

    [HttpDelete("/bags/{id}")]
    [Authorize(Roles = "Keeper")]
    public Task Discard(int id) => Task.CompletedTask;

    [HttpPut("/bags/{id}")]
    public Task Replace(int id) => Task.CompletedTask;

    [HttpPost("/bags/{id}")]
    public Task Refill(int id) => Task.CompletedTask;
}
""",
    "db/bags.sql": "CREATE TABLE dbo.Bags (Id int);\n",
    "src/SendStamp.cs": """\
namespace Post;

public class SendStamp : IRequest<int>
{
    public string Address { get; set; }

    public class Validator : AbstractValidator<SendStamp>
    {
        public Validator()
        {
            RuleFor(stamp => stamp.Address)
                .NotEmpty().WithMessage("Where to?")
                .MaximumLength(80);
            RuleFor(stamp => stamp.Weight).LessThan(20);
        }
    }

    public class Handler(IBag bag) : IRequestHandler<SendStamp, int>
    {
        public Task<int> Handle(SendStamp stamp, CancellationToken token)
        {
            return bag.Put(stamp);
        }
    }
}
""",
    "src/IBag.cs": "namespace Post;\n\npublic interface IBag\n{\n    Task<int> Put(SendStamp stamp);\n}\n",
    "src/Bag.cs": "namespace Post;\n\npublic class Bag : IBag\n{\n    public Task<int> Put(SendStamp stamp)\n    {\n"
    "        _stamps.Add(stamp);\n        return Weigh();\n    }\n\n    private Task<int> Weigh()\n    {\n"
    "        return Task.FromResult(_stamps.Count);\n    }\n}\n",
    "tests/FakeBag.cs": "namespace Post;\n\npublic class FakeBag : IBag\n{\n"
    "    public Task<int> Put(SendStamp stamp) => null;\n}\n",
    "src/Parcel.cs": """\
namespace Post;

public class Parcel
{
    [Required]
    [StringLength(12)]
    public string Owner { get; set; }

    [Range(1, 30)] public int Weight { get; set; }
}
""",
    "src/SignIn.razor": """\
<input type="password" @bind-Value="Password" />

@code {
    [StringLength(32, MinimumLength = 6)]
    [RegularExpression("^(?=.*[a-z])(?=.*[A-Z]).*$",
        ErrorMessage = "The password needs letters of both cases.")]
    public string? Password { get; set; }
}
""",
    "src/Startup.cs": """\
namespace Post;

public class Startup
{
    public void Add(IServiceCollection services)
    {
        services.AddIdentity<Clerk, Role>(options =>
        {
            options.Password.RequiredLength = 9;
            options.User.RequireUniqueEmail = true;
        });
    }
}
""",
    "src/Checks.cs": "namespace Post;\n\npublic class Checks\n{\n    public void Check(Sheet sheet)\n    {\n"
    + "".join(f"        found.Add(sheet.Rows[{row}].Glue.Problem);\n" for row in range(18))
    + "        if (found.Any())\n        {\n            throw new ValidationException(found);\n        }\n\n"
    "        // It is still wet.\n        sheet.Lay(Table);\n        Window.Open();\n        sheet.Dry();\n    }\n"
    "}\n",
    "src/IScale.cs": "namespace Post;\n\npublic interface IScale\n{\n    decimal CurrentPostage { get; }\n}\n",
    "src/PostageDto.cs": "namespace Post;\n\npublic class PostageDto\n{\n"
    "    public decimal CurrentPostage { get; set; }\n}\n",
    "src/Scale.cs": "namespace Post;\n\npublic class Scale : IScale\n{\n    public decimal CurrentPostage\n    {\n"
    "        get\n        {\n            return _stamps.Sum(one => one.Grams) + Handling;\n        }\n    }\n}\n",
}


@pytest.fixture(scope="module")
def post(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("requests"), FILES, "post") as index:
        yield index


@pytest.mark.parametrize(
    "question",
    [
        "how does a request to send a stamp travel through the system?",
        "how does a send stamp request get from the controller to the bag?",
        "trace the send stamp request",
    ],
)
def test_the_way_of_a_request_goes_through_messages_and_interfaces(post: Index, question: str) -> None:
    told = post.ask(question, options=AskOptions()).text.partition("\n\n")[0]
    assert re.findall(r"- \*\*([\w.]+)\*\* in ([\w/.]+:\d+)", told) == [
        ("StampsController.Send", "src/StampsController.cs:8"),
        ("Handler.Handle", "src/SendStamp.cs:20"),
        ("Bag.Put", "src/Bag.cs:5"),
        ("Bag.Weigh", "src/Bag.cs:11"),
    ]


def test_the_way_of_what_no_one_endpoint_does_is_not_told(post: Index) -> None:
    assert "**It comes to" not in post.ask("how does a stamp request travel?", options=AskOptions()).text
    assert "**It comes to" not in post.ask("how does a coin request travel?", options=AskOptions()).text


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("which endpoint deletes a bag?", ["DELETE /bags/{id}"]),
        ("which endpoint should I call to remove a bag", ["DELETE /bags/{id}"]),
        ("which endpoint empties a bag of its stamps?", ["DELETE /bags/{id}/stamps"]),
        ("what is the endpoint for updating a bag?", ["PUT /bags/{id}"]),
        ("which route sends stamps?", ["POST /stamps"]),
        ("which endpoint deletes a coin?", []),
    ],
)
def test_the_endpoint_that_does_something_is_told_by_its_route_and_method(
    post: Index, question: str, told: list[str]
) -> None:
    text = post.ask(question, options=AskOptions()).text.partition("\n\n")[0]
    assert re.findall(r"^- \*\*([A-Z]+ /[^*]+)\*\* in src", text, re.MULTILINE) == told


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "how is a stamp validated before it is sent?",
            [
                ("SendStamp.Validator", "src/SendStamp.cs:11-13"),
                ("SendStamp.Validator", "src/SendStamp.cs:14"),
            ],
        ),
        ("how is the address of a stamp validated?", [("SendStamp.Validator", "src/SendStamp.cs:11-13")]),
        (
            "which validation rules are there for a parcel?",
            [
                ("Parcel.Owner", "src/Parcel.cs:5"),
                ("Parcel.Owner", "src/Parcel.cs:6"),
                ("Parcel.Weight", "src/Parcel.cs:9"),
            ],
        ),
        *(
            (
                question,
                [
                    ("SignIn.Password", "src/SignIn.razor:4"),
                    ("SignIn.Password", "src/SignIn.razor:5-6"),
                    ("Startup.Password", "src/Startup.cs:9"),
                ],
            )
            for question in (
                "what are the rules for a password?",
                "what must a password look like?",
                "what may a password look like?",
                "what are the password requirements?",
            )
        ),
        (
            "how is the weight validated?",
            [("Parcel.Weight", "src/Parcel.cs:9"), ("SendStamp.Validator", "src/SendStamp.cs:14")],
        ),
    ],
)
def test_rules_that_validate_something_are_listed(post: Index, question: str, told: list[tuple[str, str]]) -> None:
    text = post.ask(question, options=AskOptions()).text.partition("\n\n")[0]
    assert re.findall(r"- \*\*([\w.]+)\*\* in ([\w/.]+:[\d-]+): ", text) == told


@pytest.mark.parametrize(
    "question", ["what happens when the validation of a stamp fails?", "what happens when the request is invalid?"]
)
def test_what_comes_of_input_that_is_not_valid_begins_where_that_is_thrown(post: Index, question: str) -> None:
    told = post.ask(question, options=AskOptions()).text
    assert told.startswith("**Thrown in:**\n- **Checks.Check** throws **ValidationException** in src/Checks.cs:27: ")


def test_an_excerpt_is_shown_to_the_near_end_of_its_member(post: Index) -> None:
    told = post.ask("how are the problems of the glue in the rows of a sheet found?", options=AskOptions()).text
    assert "throw new ValidationException(found);" in told and "    sheet.Dry();\n}\n```" in told


def test_how_a_value_is_made_is_not_told_by_what_only_declares_it(post: Index) -> None:
    told = post.ask("how is the current postage calculated?", options=AskOptions()).text
    assert told.splitlines()[0].startswith("`Scale.CurrentPostage` in src/Scale.cs:")


def _minimal_api(noun: str) -> str:
    return f"""\
namespace Post;

public static class Create{noun}Endpoint
{{
    public static RouteHandlerBuilder MapCreate{noun}(this IEndpointRouteBuilder endpoints)
    {{
        return endpoints.MapPost("/", (Create{noun} made) => Results.Ok());
    }}
}}
"""


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    base = tmp_path_factory.mktemp("office")
    files = {
        "src/Stamps/CreateStampEndpoint.cs": _minimal_api("Stamp"),
        "src/Coins/CreateCoinEndpoint.cs": _minimal_api("Coin"),
        "src/Coins/PostageRule.cs": "namespace Post;\n\npublic class PostageRule\n{\n    [Range(1, 9)]\n"
        "    public int Zone { get; set; }\n}\n",
        "src/Coins/ReturnPostageRule.cs": "namespace Post;\n\npublic class ReturnPostageRule : PostageRule\n{\n}\n",
    }
    with opened_index(base, files, "post") as index:
        yield index


def test_of_a_route_that_several_have_only_the_endpoint_that_is_meant_is_told(office: Index) -> None:
    text = office.ask("which endpoint creates a coin?", options=AskOptions()).text
    assert text.startswith("**1 endpoint:**\n- **POST /** in src/Coins/CreateCoinEndpoint.cs:7")


def test_types_that_are_called_rules_are_told_before_what_validates_them(office: Index) -> None:
    text = office.ask("what are the rules for postage?", options=AskOptions()).text
    assert text.startswith("**2 rules:**\n- **PostageRule** in ")
    text = office.ask("which validation rules does a postage rule have?", options=AskOptions()).text
    assert "**PostageRule.Zone** in src/Coins/PostageRule.cs:5" in text
