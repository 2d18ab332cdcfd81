"""Where a part of an application is set up is told by the calls that are named after it; where all of a sort are, by
the list of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.answer.structure.set_ups import set_up_asked
from rag_assets_tests.cli.conftest import opened_index
from rag_assets_tests.effort import ends_within

FILES = {
    "src/Web/Program.cs": """\
var builder = WebApplication.CreateBuilder(args);
builder.Services.AddCors(options => options.AddDefaultPolicy(policy => policy.AllowAnyOrigin()));
builder.Services.AddLibraryAuthentication(builder.Configuration);
builder.Services.AddDbContext<LibraryContext>(options => options.UseNpgsql("Host=db"));
builder.Services.AddScoped<ILoans, Loans>();
builder.Services.AddWolverine();
builder.Logging.AddDebug();
var app = builder.Build();
app.UseCors();
app.UseHsts();
app.UseStaticFiles();
app.Run();
""",
    "src/Web/AuthenticationExtensions.cs": """\
namespace Library.Web;

public static class AuthenticationExtensions
{
    public static IServiceCollection AddLibraryAuthentication(this IServiceCollection services, IConfiguration all)
    {
        services.AddAuthentication().AddJwtBearer();
        return services;
    }
}
""",
    "src/Web/Loans.cs": """\
namespace Library.Web;

public interface ILoans
{
    void RegisterReader(string name);
}

public interface IShelves
{
    int Count();
}

public class Loans : ILoans
{
    private readonly List<string> _readers = [];

    // The rate of limited editions is another one.
    public void RegisterReader(string name) => _readers.Add(name);
}
""",
    "src/Host/Program.cs": "\n".join(
        [
            "var builder = WebApplication.CreateBuilder(args);",
            "builder.Services.AddTelegraph();",
            *(
                f'builder.Configuration["Wire{number}"] = Secrets.Of("wire", {number}, "north", "south");'
                for number in range(90)
            ),
            "var app = builder.Build();",
            "app.UseTelegraph();",
            "app.Run();",
            "",
        ]
    ),
    "src/Web/wwwroot/app.js": "import express from 'express';\nconst app = express();\napp.use(helmet());\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("set_ups"), FILES, "library") as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("Where is CORS configured?", ["src/Web/Program.cs:2", "src/Web/Program.cs:9"]),
        ("is CORS enabled?", ["src/Web/Program.cs:2", "src/Web/Program.cs:9"]),
        (
            "where is library authentication enabled?",
            ["src/Web/AuthenticationExtensions.cs:5", "src/Web/Program.cs:3"],
        ),
        ("where are services registered in the container?", ["src/Web/Program.cs:5"]),
        ("Where is the DbContext registered?", ["src/Web/Program.cs:4"]),
        ("How is logging configured?", ["src/Web/Program.cs:7"]),
        ("where is HTTPS enforced?", ["src/Web/Program.cs:10"]),
        ("Where are static files served?", ["src/Web/Program.cs:11"]),
        ("Where is Wolverine registered?", ["src/Web/Program.cs:6"]),
        ("Where is Telegraph enabled?", ["src/Host/Program.cs:2", "src/Host/Program.cs:94"]),  # in two sections
        ("where is helmet configured?", ["src/Web/wwwroot/app.js:3"]),
        ("Where are the interfaces?", ["src/Web/Loans.cs:3", "src/Web/Loans.cs:8"]),
    ],
)
def test_parts_are_where_they_are_set_up(index: Index, question: str, places: list[str]) -> None:
    assert re.findall(r" in (src/\S+:\d+): `", index.ask(question).text) == places


@pytest.mark.parametrize("question", ["Where is rate limiting configured?", "Is there rate limiting?"])
def test_a_part_that_no_code_names_is_not_set_up(index: Index, question: str) -> None:
    answer = index.ask(question)
    assert "nothing that sets up rate limiting is in the code" in f"{answer.notes} {answer.reason}"
    assert answer.text.startswith("**Not sure.")


def test_what_people_do_is_no_set_up(index: Index) -> None:
    assert "set up" not in index.ask("Where is the reader registered?").text


def test_long_questions_end_soon() -> None:
    with ends_within(1.0):
        assert not set_up_asked("where is " + "the our all configured and or " * 400 + "x!")
