"""Texts of resource files and the code that uses them."""

from __future__ import annotations

import pickle

import pytest

from rag_assets.graph.extract.documents import resources
from rag_assets_tests.graph.chains import edges_by, files_of, nodes_by, symbols_of

RESX = """<root><data name="Title"><value>Hello</value></data><data name="With.Dot"><value>x</value></data></root>"""
FILES = {"Res/Texts.resx": RESX, "Res/Texts.de.resx": RESX}


def used(body: str, more: str = "") -> list[str]:
    text = f"{more} namespace A; class B {{ string M(int i) {{ return {body}; }} }}"
    return edges_by(resources, FILES | {"B.cs": text}, "References")[:1]


def test_every_text_is_a_node_of_its_file() -> None:
    assert nodes_by(resources, FILES) == [
        "resx:Res/Texts.de.resx.Title|PROPERTY",
        "resx:Res/Texts.de.resx.With.Dot|PROPERTY",
        "resx:Res/Texts.resx.Title|PROPERTY",
        "resx:Res/Texts.resx.With.Dot|PROPERTY",
    ]


def test_a_localized_text_refers_to_the_neutral_one() -> None:
    assert edges_by(resources, FILES, "References")[0] == (
        "resx:Res/Texts.de.resx.Title|PROPERTY References resx:Res/Texts.resx.Title|PROPERTY resolved"
    )


def test_without_a_neutral_file_a_text_stands_alone() -> None:
    assert edges_by(resources, {"Res/Texts.de.resx": RESX}, "References") == []


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ("Texts.Title", "Title"),
        ("Texts.With_Dot", "With.Dot"),
        ("nameof(Texts.Names.Title)", "Title"),
        ('localizer["Title"]', "Title"),
        ('Texts.ResourceManager.GetString("With.Dot")', "With.Dot"),
    ],
)
def test_usages(body: str, key: str) -> None:
    assert used(body) == [f"A.B.M(int)|METHOD References resx:Res/Texts.resx.{key}|PROPERTY resolved"]


@pytest.mark.parametrize("body", ["Texts.Missing", "Other.Title", 'list["Title"]', "1 // Texts.Title"])
def test_no_usages(body: str) -> None:
    assert not [edge for edge in used(body) if edge.startswith("A.B")]


def test_markup_uses_texts_as_a_file() -> None:
    texts = FILES | {"Pages/Index.cshtml": '<h1>@Localizer["Title"]</h1>'}
    assert "file:Pages/Index.cshtml|FILE References resx:Res/Texts.resx.Title|PROPERTY resolved" in edges_by(
        resources, texts
    )


def test_symbols_survive_pickling() -> None:
    symbols = symbols_of(files_of(FILES)).resource_texts
    copy = pickle.loads(pickle.dumps(symbols))
    lines = ("x = Texts.Title;", "", "y")
    assert copy.used("a.cs", lines) == symbols.used("a.cs", lines) == ((0, "Res/Texts.resx", "Title"),)
    assert copy.classes() == ("Texts",)
