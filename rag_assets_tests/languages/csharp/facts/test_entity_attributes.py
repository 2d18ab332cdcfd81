"""Entities, form fields and layouts as attributes describe them. [L]"""

from __future__ import annotations

import pytest

from rag_assets.contracts.segment import SymbolText
from rag_assets.languages.csharp.facts.expressions import LocalizedAttributes, type_argument
from rag_assets.languages.csharp.facts.properties import (
    EntityFacts,
    FormField,
    FormLayout,
    NamedValue,
    entity_facts,
    form_fields,
    form_layouts,
)
from rag_assets.languages.documents.resx import StaticResourceDictionary
from rag_assets_tests.descriptions.samples import segmented


def texts() -> LocalizedAttributes:
    resources = StaticResourceDictionary()
    for key, value in {"Agent_Title": "Agent", "Agent_Help": "Does it.", "Agent_Name": "Name it"}.items():
        resources.add("Texts", key, value, path="r/Texts.resx")
    return LocalizedAttributes(resources, "src/Agent.cs")


def entity(attribute: str) -> tuple[EntityFacts | None, list[str]]:
    made = texts()
    return entity_facts(segmented(f"[{attribute}] class Agent {{ }}").segments[0], made), [
        w.code for w in made.warnings
    ]


POSITIONAL = (
    "EntityDescription(AIDomain.Admin, Texts.Names.Agent_Title, Texts.Names.Agent_Help, Texts.Names.Agent_Help, "
    'EntityDescriptionAttribute.EntityTypes.Model, typeof(Texts), SaveUrl: "/api/agent", Icon: "icon-a", GetUrl: null, '
    "IndexPriority: 90)"
)
ASSIGNED = (
    'EntityDescription(AIDomain.Admin, nameof(Texts.Agent_Title), "Agent_Help", nameof(Texts.Agent_Help), '
    'typeof(Ns.Texts), SaveUrl = "/api/agent")'
)


@pytest.mark.parametrize("attribute", [POSITIONAL, ASSIGNED], ids=["by position and colon", "by assignment"])
def test_an_entity_says_its_texts_and_addresses(attribute: str) -> None:
    found, warnings = entity(attribute)
    assert found is not None
    assert (found.title, found.help, found.description) == ("Agent", "Does it.", "Does it.")
    assert (found.domain, found.resource_class.rpartition(".")[2]) == ("AIDomain.Admin", "Texts")
    assert found.urls == (NamedValue("SaveUrl", "/api/agent"),)
    assert warnings == []


def test_other_arguments_are_values_by_name() -> None:
    found, _ = entity(POSITIONAL)
    assert found is not None
    assert found.values == (
        NamedValue("EntityType", "Model"),
        NamedValue("Icon", "icon-a"),
        NamedValue("IndexPriority", "90"),
    )


def test_a_missing_text_is_its_key_and_a_warning() -> None:
    found, warnings = entity(
        "EntityDescription(D.X, Texts.Names.Agent_Gone, null, Texts.Names.Agent_Help, typeof(Texts))"
    )
    assert found is not None
    assert (found.title, found.help, found.description) == ("Agent_Gone", "", "Does it.")
    assert warnings == ["RESX.missing-key"]
    found, warnings = entity("EntityDescription(D.X, Other.Names.Agent_Title, Other.Names.Agent_Title, typeof(Other))")
    assert found is not None and found.title == "Agent_Title"
    assert set(warnings) == {"RESX.unknown-class"}


@pytest.mark.parametrize("attribute", ["EntityDescription", "EntityDescription(", "EntityDescription(,,,)"])
def test_a_broken_attribute_is_an_empty_entity(attribute: str) -> None:
    found = entity_facts(segmented(f"[{attribute}] class Agent {{ }}").segments[0], texts())
    assert found is None or found == EntityFacts()


def fields(declaration: str) -> tuple[tuple[FormField, ...], list[str]]:
    made = texts()
    return form_fields(segmented(f"class Agent {{ {declaration} }}").segments[0], made), [w.text for w in made.warnings]


def test_a_form_field_says_what_people_see() -> None:
    (found,), warnings = fields(
        "[FormField(LabelResource: Texts.Names.Agent_Name, HelpResource: Texts.Names.Agent_Help, WaterMark: "
        "Texts.Names.Agent_Title, FieldType: FieldTypes.Picker, EnumType: typeof(Kinds), IsRequired: true, "
        'EntityHeaderPickerUrl: "/api/x", ResourceType: (typeof(Texts)))] public EntityHeader<Kinds> Kind { get; set; }'
    )
    assert (found.label, found.help, found.watermark) == ("Name it", "Does it.", "Agent")
    assert (found.property, found.type, found.field_type, found.required) == (
        "Kind",
        "EntityHeader<Kinds>",
        "Picker",
        True,
    )
    assert (found.options, found.keys) == ("Kinds", ("Agent_Name", "Agent_Help", "Agent_Title"))
    assert found.values == (NamedValue("EntityHeaderPickerUrl", "/api/x"),)
    assert found.line() == "Kind “Name it”: Picker, required, one of Kinds, watermark “Agent” — Does it."
    assert warnings == []


def test_the_class_of_a_key_is_enough_without_a_resource_type() -> None:
    (found,), warnings = fields("[FormField(LabelResource: Texts.Names.Agent_Name)] public string A { get; set; }")
    assert (found.label, found.line(), warnings) == ("Name it", "A “Name it”: string", [])


def test_a_missing_label_is_reported_with_its_property() -> None:
    (found,), warnings = fields(
        "[FormField(LabelResource: Texts.Names.Gone, ResourceType: typeof(Texts))] public string A { get; set; }"
    )
    assert found.label == "Gone"
    assert len(warnings) == 1 and warnings[0].startswith("A label: ") and "Gone" in warnings[0]


def test_properties_without_the_attribute_are_no_fields() -> None:
    assert fields("[Required] public string A { get; set; } public void FormField() { }") == ((), [])


def layouts(body: str) -> tuple[FormLayout, ...]:
    text = f"namespace A;\n/// <summary>é</summary>\nclass Agent {{ {body} }}"
    segment = segmented(text).segments[0]
    return form_layouts(segment, SymbolText(segment.span.slice(text), segment))


def test_layouts_list_fields_in_their_order() -> None:
    found = layouts(
        "public List<string> GetFormFields() { return new List<string>() { nameof(Name), nameof( Agent.Key ), }; } "
        "public List<string> GetFormFieldsCol2() => [nameof(Icon)]; "
        "List<string> IFormDescriptorAdvanced.GetAdvancedFields() => new() { nameof(A) };"
    )
    assert [(layout.method, layout.line()) for layout in found] == [
        ("GetFormFields", "FormFields: Name, Key"),
        ("GetFormFieldsCol2", "FormFieldsCol2: Icon"),
        ("GetAdvancedFields", "AdvancedFields: A"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "public FormConditionals GetConditionalFields() => new() { A = nameof(A) };",
        "public List<string> GetFormFields(int form) => [nameof(A)];",
        "public List<string> GetFormFields() => [];",
        "public List<string> GetNames() => [nameof(A)];",
        "public List<string> GetFormFields(",
    ],
)
def test_other_methods_are_no_layouts(body: str) -> None:
    assert layouts(body) == ()


@pytest.mark.parametrize(
    ("expression", "name"),
    [("typeof(Texts)", "Texts"), ("(typeof(A.B))", "A.B"), ("Texts", ""), ("", ""), ("typeof(", "")],
)
def test_the_type_that_typeof_names(expression: str, name: str) -> None:
    assert type_argument(expression) == name
