"""The functions of a cloud that something triggers are listed by what does."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets_tests.cli.conftest import opened_index

_FUNCTION = """\
    [FunctionName("{0}")]
    public static async Task {0}(
        [{1}] string said,
        ILogger log)
    {{
        log.LogInformation("{0} was called");
        await Task.CompletedTask;
    }}
"""
_CLASS = "namespace Bakery;\n\npublic static class {0}\n{{\n{1}}}\n"
FILES = {
    "README.md": "# Bakery\n\nBread, by functions.\n",
    "Bakery.Orders/OrderFunctions.cs": _CLASS.format(
        "OrderFunctions",
        _FUNCTION.format("PlaceOrder", 'HttpTrigger(AuthorizationLevel.Anonymous, "post", Route = "orders")')
        + _FUNCTION.format("BakeOrder", 'QueueTrigger("%Orders%")'),
    ),
    "Bakery.Flour/FlourFunctions.cs": _CLASS.format(
        "FlourFunctions",
        _FUNCTION.format("CountFlour", 'HttpTrigger(AuthorizationLevel.Anonymous, "get", Route = "flour")')
        + _FUNCTION.format("OrderFlour", 'QueueTrigger("%Flour%")'),
    ),
    "archive/KeepReceipts/function.json": '{\n  "bindings": [\n    {\n      "type": "eventGridTrigger",\n'
    '      "name": "event",\n      "direction": "in"\n    }\n  ]\n}\n',
    "archive/KeepReceipts/index.js": "module.exports = async function (context, event) {\n  context.log(event);\n};\n",
}
_COMMANDS = """\
namespace Till.Sower;

public static class Program
{
    public static void Main(string[] args)
    {
        var app = new CommandLineApplication();
        app.Command("sow", cmd => cmd.Description = "Sows coins.");
        app.Command("reap", cmd => cmd.Description = "Counts them.");
        app.Execute(args);
    }
}
"""
OTHER = {
    "Till.Sower/Program.cs": _COMMANDS,
    "build.cake": 'Task("Clean")\n    .Does(() => { });\n\nTask("Pack")\n    .IsDependentOn("Clean");\n',
    "Build.fs": 'open Fake.Core\n\nTarget.create "Press" (fun _ -> run dotnet [ "build" ] ".")\n',
    "build/Build.cs": "class Build : NukeBuild\n{\n    Target Stamp => _ => _.Executes(() => { });\n}\n",
    "README.md": "# Till\n\nCounts coins.\n",
    "src/Queue.cs": "namespace Till;\n\npublic class Queue\n{\n    public void Push(int coin) { }\n}\n",
}


@pytest.fixture(scope="module")
def bakery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("bakery"), FILES, "bakery") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Which functions are triggered by a queue?", ["OrderFlour", "BakeOrder"]),
        ("Which HTTP functions does the orders app have?", ["PlaceOrder"]),
        ("Which Event Grid listeners are there?", ["KeepReceipts"]),
        ("Which functions are there?", ["CountFlour", "OrderFlour", "PlaceOrder", "BakeOrder", "KeepReceipts"]),
    ],
)
def test_functions_are_listed_by_what_triggers_them(bakery: Index, question: str, told: list[str]) -> None:
    assert re.findall(r"- \*\*(.+?)\*\* in ", bakery.ask(question).text) == told


def test_where_no_function_has_such_a_trigger_that_is_told(bakery: Index) -> None:
    found = bakery.ask("Which function runs on a timer?")
    assert (found.unsure or found.abstained) and "none of the 5 functions" in f"{found.text} {found.reason}"


@pytest.fixture(scope="module")
def till(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("till"), OTHER, "till") as index:
        yield index


def test_functions_that_nothing_triggers_are_not_told_as_such(till: Index) -> None:
    assert "functions that something triggers" not in till.ask("Which functions are triggered by a queue?").text


def test_the_commands_of_a_part_are_those_that_its_folder_declares(till: Index) -> None:
    told = till.ask("Which commands does the sower have?").text
    assert re.findall(r"- \*\*(.+?)\*\* in ", told) == ["sow", "reap"]
    assert "2 commands" not in till.ask("Which commands does the vault have?").text


def test_the_targets_of_a_build_that_is_code_are_listed(till: Index) -> None:
    told = till.ask("Which build targets are there?").text
    assert sorted(re.findall(r"- \*\*(.+?)\*\* in ", told)) == ["Clean", "Pack", "Press", "Stamp"]
