"""Questions that a filter narrows: what the index itself knows is told of what the filter lets through, and how much of
it is elsewhere."""

from __future__ import annotations

import pytest

from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, Outcome, index_without_dagster, new_repository

PROJECT = """\
<Project Sdk="Microsoft.NET.Sdk.Web">
  <ItemGroup>
    <PackageReference Include="{package}" Version="2.9.2" />
  </ItemGroup>
</Project>
"""
CONTROLLER = """\
namespace Shop.{name};

[ApiController]
[Route("api/{route}")]
public class {name}Controller : ControllerBase
{{
    [HttpGet]
    public string All() => "all";

    [HttpGet("{{id}}")]
    public string One(int id) => "one";
}}
"""
TESTED = """\
using Xunit;

public class CoinsTests
{
    [Fact] public void Counts() => Assert.Equal("all", new Shop.Coins.CoinsController().All());
}
"""
FILES: dict[str, str | bytes] = {
    "src/Api/Api.csproj": PROJECT.format(package="Serilog"),
    "tests/Api.Tests/Api.Tests.csproj": PROJECT.format(package="xunit"),
    "src/Api/CoinsController.cs": CONTROLLER.format(name="Coins", route="coins"),
    "src/Admin/NotesController.cs": CONTROLLER.format(name="Notes", route="notes"),
    "tests/Api.Tests/CoinsTests.cs": TESTED,
    "README.md": "# Till\n\nThe till counts coins.\n\n## Tests\n\n```sh\ndotnet test\n```\n",
    "LICENSE": "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy.\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    base = tmp_path_factory.mktemp("narrowed")
    made = CommandLine(IndexHome(base / "home"), base)
    for name in ("till", "desk"):
        index_without_dagster(made.home, new_repository(base / name, FILES), name)
    return made


def asked(cli: CommandLine, question: str, *options: str) -> Outcome:
    return cli.run("ask", question, "--label", "till@main", "--json", *options)


@pytest.mark.parametrize(
    ("question", "path", "heading", "note"),
    [
        ("what endpoints are there", "src/Api", "**2 endpoints:**", "2 more outside of the filter"),
        ("what endpoints are there path:src/Admin", "src", "**2 endpoints:**", "2 more outside of the filter"),
        ("what endpoints are there -path:src/Api", "src", "**2 endpoints:**", "2 more outside of the filter"),
        ("what endpoints are there", "src", "**4 endpoints:**", ""),
        ("which controllers are there", "src/Admin", "**1 controller:**", "1 more outside of the filter"),
        ("which classes are there", "tests", "**1 class:**", "2 more outside of the filter"),
        ("does it use xunit", "tests", "**Test framework:**", ""),
        ("how many files are there?", "src", "**3 files are within the filter:**", "4 more outside of the filter"),
        ("which classes have no tests?", "src/Admin", "**1 class without a test that names it:**", ""),
    ],
)
def test_what_the_index_knows_is_told_within_the_filter(
    cli: CommandLine, question: str, path: str, heading: str, note: str
) -> None:
    found = asked(cli, question, "--path", path).json
    assert heading in found["answer"] and found["notes"] == ([note] if note else [])
    assert not found["unsure"]
    assert {one["place"].partition("/")[0] for one in found["evidence"]} == {path.partition("/")[0]}


@pytest.mark.parametrize(
    ("question", "path", "elsewhere"),
    [
        ("does it use xunit", "src", "outside of it tests/Api.Tests/Api.Tests.csproj does"),
        ("what licence is it under?", "src", "outside of it LICENSE does"),
        ("how do I run the tests?", "src", "outside of it README.md does"),
        ("which classes have no tests?", "src/Api", "outside of it src/Admin/NotesController.cs does"),
    ],
)
def test_what_is_only_outside_of_the_filter_is_said_and_nothing_else_answers(
    cli: CommandLine, question: str, path: str, elsewhere: str
) -> None:
    done = asked(cli, question, "--path", path)
    assert done.code == 4 and elsewhere in done.json["reason"]
    assert done.json["suggestions"] == ["ask without the filter"]


def test_what_is_nowhere_is_said_of_all(cli: CommandLine) -> None:
    done = asked(cli, "does it use Kafka?", "--path", "src")
    assert done.code == 4 and "kafka was not found among the 2 packages that manifests name" in done.json["reason"]


def test_several_indexes_are_narrowed_alike(cli: CommandLine) -> None:
    labels = ("--label", "till@main", "--label", "desk@main")
    done = cli.run("ask", "what endpoints are there", *labels, "--path", "src/Api")
    assert "4 endpoints:" in done.out and "4 more outside of the filter" in done.out + done.err
    assert "src/Admin" not in done.out


def test_what_a_filter_leaves_open_is_searched(cli: CommandLine) -> None:
    found = asked(cli, "where are coins counted", "--path", "README.md").json
    assert "The till counts coins" in found["answer"]
