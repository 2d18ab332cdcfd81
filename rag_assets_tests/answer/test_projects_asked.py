"""The projects of a repository, and which refers to which, are told from the files that declare them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets_tests.cli.conftest import opened_index

_SDK = '<Project Sdk="Microsoft.NET.Sdk">\n'


def _project(*references: str) -> str:
    items = "".join(f'    <ProjectReference Include="..\\{one}\\{one}.csproj" />\n' for one in references)
    return f"{_SDK}  <ItemGroup>\n{items}  </ItemGroup>\n</Project>\n" if references else f"{_SDK}</Project>\n"


NET = {
    "README.md": "# Harbour\n\nKeeps berths.\n",
    "src/Harbour.Core/Harbour.Core.csproj": _project(),
    "src/Harbour.Core/Berth.cs": "namespace Harbour.Core;\n\npublic class Berth : Entity, IAggregateRoot\n{\n"
    "    public int Length { get; set; }\n}\n",
    "src/Harbour.Core/Depth.cs": "namespace Harbour.Core;\n\npublic record Depth(int Metres) : ValueObject;\n",
    "src/Harbour.Core/Tide.cs": "namespace Harbour.Core;\n\npublic record Tide(int Hour) : ValueObject;\n",
    "src/Harbour.Core/Crane.cs": "namespace Harbour.Core;\n\npublic class Crane : Entity, IAggregateRoot;\n",
    "src/Harbour.Web/Harbour.Web.csproj": _project("Harbour.Core", "Harbour.Mail"),
    "src/Harbour.Mail/Harbour.Mail.csproj": _project("Harbour.Core"),
    "tests/Harbour.Tests/Harbour.Tests.csproj": _project("Harbour.Web"),
    "client/package.json": '{\n  "name": "harbour-client"\n}\n',
}
OTHERS = {
    "README.md": "# Quay\n\nKeeps ropes.\n",
    "package.json": '{\n  "private": true,\n  "name": "quay"\n}\n',
    "server/go.mod": "module example.org/quay/server\n\ngo 1.22\n",
    "android/app/build.gradle": "dependencies {\n    implementation project(':android:core')\n}\n",
}


def _open(tmp_path_factory: pytest.TempPathFactory, name: str, files: dict[str, str]) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp(name), files, name) as index:
        yield index


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    yield from _open(tmp_path_factory, "harbour", NET)


@pytest.fixture(scope="module")
def quay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    yield from _open(tmp_path_factory, "quay", OTHERS)


def _told(index: Index, question: str) -> tuple[str, list[str]]:
    told = index.ask(question).text.partition("\n\n")[0]
    return told.partition("\n")[0], re.findall(r"- \*\*(.+?)\*\* in ", told)


@pytest.mark.parametrize(
    "question",
    [
        "which projects are there?",
        "list all projects in this repository",
        "which projects does the solution consist of?",
    ],
)
def test_projects_of_net_are_listed_with_those_of_tests_last(harbour: Index, question: str) -> None:
    projects = ["Harbour.Core", "Harbour.Mail", "Harbour.Web", "Harbour.Tests"]
    assert _told(harbour, question) == ("**4 projects:**", projects)


@pytest.mark.parametrize(
    ("question", "references"),
    [
        (
            "which project depends on which?",
            [
                "Mail** refers to **Harbour.Core",
                "Web** refers to **Harbour.Core",
                "Web** refers to **Harbour.Mail",
                "Tests** refers to **Harbour.Web",
            ],
        ),
        ("which projects are there and what does each depend on?", 4),
        ("what does the Web project depend on?", ["Web** refers to **Harbour.Core", "Web** refers to **Harbour.Mail"]),
        ("what does Harbour.Mail reference?", ["Mail** refers to **Harbour.Core"]),
        ("which projects reference Core?", ["Mail** refers to **Harbour.Core", "Web** refers to **Harbour.Core"]),
    ],
)
def test_what_projects_refer_to_is_told_line_by_line(
    harbour: Index, question: str, references: list[str] | int
) -> None:
    _, told = _told(harbour, question)
    told = [one.removeprefix("Harbour.") for one in told]
    assert (len(told) if isinstance(references, int) else told) == references


@pytest.mark.parametrize("question", ["which projects depend on the moon?", "what does Berth depend on?"])
def test_what_is_no_project_is_not_told_as_one(harbour: Index, question: str) -> None:
    assert "refers to" not in harbour.ask(question).text


def test_other_builds_have_projects_too(quay: Index) -> None:
    heading, told = _told(quay, "which projects are there?")
    assert heading == "**3 projects:**"
    assert sorted(told) == ["app", "example.org/quay/server", "quay"]
    assert _told(quay, "which project depends on which?")[1] == ["app** refers to **core"]


@pytest.mark.parametrize(
    ("question", "types"),
    [
        ("which aggregates are there?", ["Berth", "Crane"]),
        ("which aggregate roots are there?", ["Berth", "Crane"]),
        ("which value objects are there?", ["Depth", "Tide"]),
    ],
)
def test_types_are_listed_by_the_base_that_a_question_means(harbour: Index, question: str, types: list[str]) -> None:
    assert sorted(_told(harbour, question)[1]) == types
