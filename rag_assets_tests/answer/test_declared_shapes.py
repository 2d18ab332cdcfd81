"""Declarations that are asked for by how they are declared: by a modifier, by how many implement them, by how many
parameters they have; and what a constructor is given."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.answer.structure.questions import shape_asked
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "tools/plan.py": "class Plan(ABC):\n    pass\n",
    "src/Shapes.cs": """\
namespace Shapes;

public interface IDraws
{
    void Draw(int x, int y);
}

public interface IColours
{
}

public abstract class Shape<T> : IDraws
{
    public void Draw(int x, int y)
    {
    }
}

public class Circle : Shape<int>
{
    static Circle()
    {
    }

    public Circle(Pencil pencil, Dictionary<string, int> sizes)
    {
    }

    public async Task FillAsync(int x, int y, string colour, (int, int) from, CancellationToken stop)
    {
    }
}

public class Square(Ruler ruler) : Shape<int>
{
}

public static class Pencils
{
    public static void Sharpen(this Pencil pencil)
    {
    }
}

public enum Side
{
    Left,
}
""",
    "lib/rings.py": "class Ring:\n    def __init__(self, size, width):\n        self.size = size\n",
    "tests/DrawTests.cs": "public static class DrawTests\n{\n}\n",
}


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("shapes"), FILES, "shapes") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which classes are static?", ["Pencils"]),
        ("list all abstract classes", ["Shape", "Plan"]),
        ("which methods are async?", ["Circle.FillAsync"]),
        ("which generic types are there?", ["Shape"]),
        ("which interfaces have only one implementation?", ["IDraws"]),
        ("which interfaces have no implementation?", ["IColours"]),
        ("which classes have more than one subclass?", ["Shape"]),
        ("which methods have more than four parameters?", ["Circle.FillAsync"]),
        ("which methods take exactly 2 parameters?", ["IDraws.Draw", "Shape.Draw"]),
        ("Which constructors have two arguments?", ["Ring", "Circle"]),
    ],
)
def test_declarations_are_listed_by_how_they_are_declared(shapes: Index, question: str, names: list[str]) -> None:
    answer = shapes.ask(question)

    assert not answer.abstained and not answer.unsure
    told = [line.split("**")[1] for line in answer.text.split("\n") if line.startswith("- **")]
    assert [one.removesuffix(".__init__") for one in told] == names


def test_that_none_is_declared_so_is_said(shapes: Index) -> None:
    answer = shapes.ask("which classes are sealed?")
    assert "no sealed class is known" in " ".join((*answer.notes, answer.reason or ""))


@pytest.mark.parametrize(
    ("question", "shown", "hidden"),
    [
        ("what is injected into Circle?", "public Circle(Pencil pencil", "static Circle()"),
        ("what would I need to mock to test Square?", "public class Square(Ruler ruler)", "Pencil"),
        ("what are the constructor parameters of Ring?", "def __init__(self, size, width)", "Circle"),
    ],
)
def test_what_a_type_is_given_is_told_by_its_constructors(
    shapes: Index, question: str, shown: str, hidden: str
) -> None:
    told = shapes.ask(question).text
    assert shown in told
    assert hidden not in told


@pytest.mark.parametrize(
    "question",
    [
        "which static files are served?",
        "which classes are used by the static site?",
        "is the cache class static or scoped?",
        "which methods have tests?",
        "which public methods call the database?",
        "which types have one parameter in their name?",
    ],
)
def test_what_is_asked_of_something_else_is_no_shape(question: str) -> None:
    assert shape_asked(question) is None
