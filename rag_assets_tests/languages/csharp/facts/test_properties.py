"""The data that a type carries."""

from __future__ import annotations

import pytest

from rag_assets.languages.csharp.facts.expressions import LocalizedAttributes
from rag_assets.languages.csharp.facts.properties import PropertyFact, parameter_docs, properties_of
from rag_assets.languages.documents.resx import StaticResourceDictionary
from rag_assets_tests.descriptions.samples import segmented


def properties(text: str, path: str = "a.cs") -> dict[str, PropertyFact]:
    resources = StaticResourceDictionary()
    resources.add("Texts", "Order_Number", "Order number", path="r/Texts.resx")
    found = properties_of(segmented(text, path).segments[0], LocalizedAttributes(resources, path))
    return {fact.name: fact for fact in found}


def member(declaration: str) -> PropertyFact:
    return properties(f"class Model {{ {declaration} }}").popitem()[1]


@pytest.mark.parametrize(
    ("declaration", "line"),
    [
        ("public string Number { get; set; }", "Number: string"),
        ("public required string Number { get; init; }", "Number: string, required"),
        ("[Required, MaxLength(20)] public string Number { get; set; }", "Number: string, required, at most 20 long"),
        ("[StringLength(1_000)] public string Number { get; set; }", "Number: string, at most 1000 long"),
        ("[Length(2, 9)] public string Number { get; set; }", "Number: string, at most 9 long"),
        ("[Key] public Guid Code { get; set; }", "Code: Guid, key"),
        ("public int Id { get; set; }", "Id: int, key by convention"),
        ("public int ModelId { get; set; }", "ModelId: int, key by convention"),
        ("public List<Line> Lines { get; } = [];", "Lines: List<Line>, collection, read only"),
        ("public string Number { get; private set; }", "Number: string, read only"),
        ("public int Total => 3;", "Total: int, read only"),
        ("public int total;", "total: int"),
        ('[JsonPropertyName("num")] public string Number { get; set; }', "Number: string, as num"),
        ('[JsonPropertyName("number")] public string Number { get; set; }', "Number: string"),
        ('[Display(Name = "No. of order")] public string Number { get; set; }', "Number: string “No. of order”"),
        ('[DisplayName("Number")] public string Number { get; set; }', "Number: string"),
        (
            "[Display(Name = nameof(Texts.Order_Number), ResourceType = typeof(Texts))] public string No { get; set; }",
            "No: string “Order number”",
        ),
        (
            "[FormField(IsRequired: true, MaxLength: 5)] public string A { get; set; }",
            "A: string, required, at most 5 long",
        ),
        ('[Description("Why.")] public string A { get; set; }', "A: string — Why."),
        ("/// <summary>The number.</summary>\npublic string A { get; set; }", "A: string — The number."),
        (
            "/// <summary>Gets or sets the item id.</summary>\npublic string Id { get; set; }",
            "Id: string, key by convention — Item id.",
        ),
        ("/// <summary>Gets or sets the name.</summary>\npublic string Name { get; set; }", "Name: string"),
        (
            "/// <summary>Gets a value indicating whether it is open.</summary>\npublic bool A { get; set; }",
            "A: bool — It is open.",
        ),
        ("/// <summary>Getsomething.</summary>\npublic bool A { get; set; }", "A: bool — Getsomething."),
    ],
)
def test_a_property_is_one_line(declaration: str, line: str) -> None:
    assert member(declaration).line() == line


@pytest.mark.parametrize(
    "declaration",
    [
        "private string _number;",
        "protected string Number { get; set; }",
        "string number;",
        "public const int Maximum = 3;",
        "public static Model Empty { get; }",
        "string IModel.Name { get; set; }",
        "public void Do() { }",
    ],
)
def test_what_no_instance_shows_is_no_data(declaration: str) -> None:
    assert properties(f"class Model {{ {declaration} }}") == {}


def test_positional_parameters_are_data_with_their_documentation() -> None:
    found = properties(
        '/// <summary>Asks.</summary>\n/// <param name="Id">The\n/// key.</param>\n'
        "record Ask([property: Key] Guid Id, string? Why = null) { public int More { get; set; } }"
    )
    assert [(f.name, f.key, f.required, f.doc, f.parameter) for f in found.values()] == [
        ("Id", "attribute", True, "The key.", True),
        ("Why", "", False, "", True),
        ("More", "", False, "", False),
    ]
    assert properties("class Service(IClock clock) { }") == {}


def test_an_attribute_beats_the_convention_and_keys_may_have_parts() -> None:
    found = properties("class A { [Key] public int Code { get; set; } public int Id { get; set; } }")
    assert (found["Code"].key, found["Id"].key) == ("attribute", "")
    found = properties('[PrimaryKey(nameof(X), "Y")] class A { public int X; public int Y; public int Id; }')
    assert [(f.name, f.key) for f in found.values()] == [("X", "attribute"), ("Y", "attribute"), ("Id", "")]


@pytest.mark.parametrize(
    ("path", "text", "lines"),
    [
        (
            "a.py",
            "class Row:\n    sku: str\n    tags: list[str]\n    _x: int\n",
            ["sku: str", "tags: list[str], collection"],
        ),
        ("a.go", 'package p\ntype Row struct {\n Sku string `json:"code"`\n n int\n}\n', ["Sku: string, as code"]),
        ("a.ts", "class Row { sku: string; private n = 1; }", ["sku: string"]),
        ("A.java", "class Row { private String sku; static int n; }", ["sku: String"]),
    ],
)
def test_other_languages_have_data_too(path: str, text: str, lines: list[str]) -> None:
    assert [fact.line() for fact in properties(text, path).values()] == lines


@pytest.mark.parametrize(
    "declaration",
    [
        "public string Number { get; set",
        "[MaxLength(] public string A { get; set; }",
        "public List< A { get; }",
        "public",
    ],
)
def test_broken_code_is_no_error(declaration: str) -> None:
    assert isinstance(properties(f"class Model {{ {declaration} }}"), dict)


def test_the_documentation_of_parameters() -> None:
    assert parameter_docs("Asks.\n\nparam A: The buyer.\nparam B: Two\nlines.\nreturns: nothing") == {
        "A": "The buyer.",
        "B": "Two lines.",
    }
    assert parameter_docs("") == {}
