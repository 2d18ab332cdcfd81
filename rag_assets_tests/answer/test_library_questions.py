"""What users of a library ask: overloads, target frameworks, and what a major version changed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index, open_index
from rag_assets.answer.whole_project import Everyday, EverydayQuestion, everyday_question, is_of_release
from rag_assets.index.layout import IndexHome
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import index_without_dagster, new_repository

FILES = {
    "README.md": "# Inkwell\n\nWrites letters.\n",
    "docs/breaking-changes.md": """\
# Breaking changes

## V15.x.x

### Breaking changes in V15.x

* Quills are cut by whoever holds them.

## V14.x.x

* Ink is blue unless a colour is given.

## V1.x.x

* The first one.
""",
    "src/Directory.Build.props": """\
<Project>
  <PropertyGroup>
    <InkFrameworkTargets>net462;net48</InkFrameworkTargets>
    <InkModernTargets>net8.0;net9.0</InkModernTargets>
  </PropertyGroup>
</Project>
""",
    "src/Inkwell/Pen.cs": """\
namespace Inkwell;

public abstract class Nib { }

public class Pen
{
    /// <summary>Writes a letter.</summary>
    [Obsolete]
    public void Write(string text) { }

    public void Write(
        string text,
        int copies)
    {
    }

    public void Erase(int last) { }
}
""",
    "tests/Inkwell.Tests/PenTests.cs": """\
namespace Inkwell.Tests;

public class DummyNib1 : Nib { }

public class DummyNib2 : Nib { }
""",
}


@pytest.fixture(scope="module")
def inkwell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    base = tmp_path_factory.mktemp("inkwell")
    index_without_dagster(IndexHome(base / "home"), new_repository(base / "inkwell", FILES), "inkwell")
    with open_index("inkwell@main", home=base / "home") as index:
        yield index


def told(index: Index, question: str) -> str:
    return index.ask(question, options=AskOptions()).text


@pytest.mark.parametrize("question", ["which overloads of Pen.Write are there?", "which overloads does Write() have?"])
def test_all_overloads_of_a_method_are_listed_by_their_parameters(inkwell: Index, question: str) -> None:
    text = told(inkwell, question)
    assert text.startswith("**2 overloads of Write:**")
    assert "**Write(string)** in src/Inkwell/Pen.cs:9: `public void Write(string text)" in text
    assert "**Write(string,int)** in src/Inkwell/Pen.cs:11-13: `public void Write(string text, int copies)`" in text


def test_targets_that_have_a_name_of_their_own_are_told(inkwell: Index) -> None:
    text = told(inkwell, "which target frameworks are supported?")
    assert "net462;net48" in text and "net8.0;net9.0" in text


@pytest.mark.parametrize("question", ["what changed in version 14?", "what broke in v14?"])
def test_a_major_version_is_told_by_the_heading_that_leaves_the_rest_open(inkwell: Index, question: str) -> None:
    text = told(inkwell, question)
    assert "Ink is blue" in text and "Quills" not in text and "The first one" not in text


def test_what_only_tests_derive_from_a_type_of_the_product_is_not_what_there_is(inkwell: Index) -> None:
    assert "2 nibs" not in told(inkwell, "which nibs are there?")


@pytest.mark.parametrize(
    ("heading", "version", "is_of"),
    [
        ("V14.x.x", "14", True),
        ("Updates in 8.0.x", "8.0", True),
        ("14.2.1 - 2024-05-01", "14", True),
        ("V15.x.x", "14", False),
        ("14.20", "14.2", False),
        ("2014-05-01", "14", False),
    ],
)
def test_headings_of_versions(heading: str, version: str, is_of: bool) -> None:
    assert is_of_release(heading, version) is is_of


def test_a_number_is_a_version_where_it_is_called_so() -> None:
    assert everyday_question("what changed in version 14?") == EverydayQuestion(Everyday.RELEASE, ("14",))
    assert everyday_question("what changed in v14?") == EverydayQuestion(Everyday.RELEASE, ("14",))
    assert everyday_question("what changed in 14 days?") != EverydayQuestion(Everyday.RELEASE, ("14",))
