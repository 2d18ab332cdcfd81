"""The two views of models: structure and metadata, from source text to points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import pytest

from rag_assets.contracts.description import SummaryFacts
from rag_assets.descriptions.kinds.model import ModelMetadata, ModelStructure
from rag_assets.languages.csharp.facts.partial_types import PartialTypes
from rag_assets.languages.csharp.facts.relationships import Cardinality
from rag_assets_tests.descriptions.behaving import keys_of, points_of, sections_of, snippets_of, stored_and_read
from rag_assets_tests.descriptions.label import Label, expected, label_of, shop
from rag_assets_tests.descriptions.samples import file_context, knowledge_of, processor, segmented

D = TypeVar("D", bound=SummaryFacts)

RESX = """\
<root>
  <data name="Agent_Title"><value>Agent</value></data>
  <data name="Agent_Help"><value>Somebody who answers.</value></data>
  <data name="Agent_Name"><value>Name of the agent</value></data>
  <data name="Agent_Kind_Select"><value>-choose-</value></data>
</root>"""

AGENT = """\
namespace Shop.Agents;

[EntityDescription(Domains.Ai, Texts.Names.Agent_Title, Texts.Names.Agent_Help, Texts.Names.Agent_Help,
    EntityDescriptionAttribute.EntityTypes.Model, typeof(Texts), GetUrl: "/api/agent/{id}", SaveUrl: "/api/agent",
    Icon: "icon-robot")]
public class Agent : EntityBase, IFormDescriptor
{
    [FormField(LabelResource: Texts.Names.Agent_Name, FieldType: FieldTypes.Text, IsRequired: true,
        ResourceType: typeof(Texts))]
    public string Name { get; set; }

    [FormField(LabelResource: Texts.Names.Agent_Kind, WaterMark: Texts.Names.Agent_Kind_Select,
        FieldType: FieldTypes.Picker, EnumType: typeof(AgentKind), ResourceType: typeof(Texts))]
    public EntityHeader<AgentKind> Kind { get; set; }

    public List<Tool> Tools { get; set; }

    public List<string> GetFormFields() => new() { nameof(Name), nameof(Kind) };
}

/// <summary>What an agent may use.</summary>
public class Tool { public Agent? Owner { get; set; } }

public enum AgentKind { Chat }
"""


def label(text: str = AGENT) -> Label:
    return label_of({"src/Agent.cs": text, "src/Texts.resx": RESX})


def view(wanted: type[D], name: str, of: Label | None = None) -> D:
    found = [d for made in (of or label()).descriptions.values() for d in made if type(d) is wanted]
    (one,) = (d for d in found if d.symbol.rpartition(".")[2] == name)
    return one


@pytest.mark.rule("A10", "A18")
def test_a_model_has_two_views_with_sections_of_their_own() -> None:
    """Two builders describe one class; kind and subtype are the same, flavor and section keys are not."""
    structure, metadata = view(ModelStructure, "Agent"), view(ModelMetadata, "Agent")
    assert (structure.subtype, structure.subtype_flavor) == ("Model", "ModelStructured")
    assert (metadata.subtype, metadata.subtype_flavor) == ("Model", "ModelMetadata")
    assert keys_of(structure) == [
        "model-structure-overview",
        "model-structure-properties",
        "model-structure-relationships",
        "model-structure-members",
    ]
    assert keys_of(metadata) == ["model-metadata-overview", "model-metadata-fields", "model-metadata-layouts"]
    ids = [point.payload.semantic_id for one in (structure, metadata) for point in points_of(one)]
    assert len(set(ids)) == len(ids)


def test_only_models_with_forms_have_metadata() -> None:
    made = label().descriptions["src/Agent.cs"]
    assert [(type(d).__name__, d.symbol) for d in made if d.symbol.endswith("Tool")] == [
        ("ModelStructure", "Shop.Agents.Tool")
    ]


def test_the_snippets_of_a_structure() -> None:
    """Everything people search for, each said once."""
    snippets = snippets_of(view(ModelStructure, "Agent"))
    assert snippets["model-structure-overview"] == (
        "Domain: General\n\nKind: Model\n\nArtifact: Shop.Agents.Agent\nTitle: Agent\nRelatedTo: Tool\n"
        "Routes: /api/agent/{id}, /api/agent\nInherits: EntityBase\nImplements: IFormDescriptor\n\n"
        "Purpose: Somebody who answers.\nMembers: Name, Kind, Tools, GetFormFields"
    )
    assert snippets["model-structure-properties"].splitlines()[-3:] == [
        "Name: string, required",
        "Kind: EntityHeader<AgentKind>",
        "Tools: List<Tool>, collection",
    ]
    assert snippets["model-structure-relationships"].splitlines()[-1] == "AgentToTool: many Tool by Tools"


def test_the_snippets_of_the_metadata() -> None:
    snippets = snippets_of(view(ModelMetadata, "Agent"))
    assert snippets["model-metadata-overview"] == (
        "Domain: General\n\nKind: Model\n\nArtifact: Shop.Agents.Agent\nTitle: Agent\n"
        "FieldLabels: Name of the agent, Agent_Kind\nLayouts: FormFields\n\n"
        "Purpose: Somebody who answers.\nMembers: Name, Kind, GetFormFields"
    )
    assert snippets["model-metadata-fields"].splitlines()[-2:] == [
        "Name “Name of the agent”: Text, required",
        "Kind “Agent_Kind”: Picker, one of AgentKind, watermark “-choose-”",
    ]
    assert snippets["model-metadata-layouts"].splitlines()[-1] == "FormFields: Name, Kind"


def test_an_unresolved_text_is_reported_once_and_kept_as_its_key() -> None:
    made = label()
    assert [message.code for message in made.messages] == ["RESX.missing-key"]
    assert made.messages[0].text.startswith("Kind label: ")
    assert [text for text in view(ModelMetadata, "Agent", made).unresolved if "Agent_Kind" in text]
    gone = label(AGENT.replace("Texts.Names.Agent_Help", "Texts.Names.Gone"))
    assert view(ModelStructure, "Agent", gone).summary.startswith("Class Agent")
    assert view(ModelStructure, "Agent", gone).help == "Gone"


def test_a_wrong_resource_class_is_a_mistake_that_is_resolved_and_reported() -> None:
    made = label(AGENT.replace("EntityTypes.Model, typeof(Texts)", "EntityTypes.Model, typeof(Domains)"))
    assert view(ModelStructure, "Agent", made).title == "Agent"
    assert [message.code for message in made.messages].count("RESX.wrong-class") == 3


def test_a_relationship_leads_to_both_nodes() -> None:
    """Hit → node is a payload read."""
    points = {point.payload.section_key: point for point in points_of(view(ModelStructure, "Agent"))}
    assert points["model-structure-relationships"].payload.graph_node_keys == (
        "csharp:Shop.Agents.Agent.Tools|PROPERTY",
        "csharp:Shop.Agents.Tool|TYPE",
    )
    (point,) = [p for p in points_of(view(ModelStructure, "Tool")) if "relationships" in p.payload.section_key]
    assert point.payload.finder_snippet.endswith("ToolToAgent: zero-or-one Agent by Owner")


def test_attributes_of_dotnet_itself_title_a_model() -> None:
    made = label('[DisplayName("Parcel"), Description("What is sent.")] class Box { public int Id { get; set; } }')
    found = view(ModelStructure, "Box", made)
    assert (found.title, found.about, found.summary, found.keys) == (
        "Parcel",
        "What is sent.",
        "What is sent.",
        ("Id",),
    )


@pytest.mark.parametrize("entry", expected()["models"], ids=lambda entry: entry["symbol"].rpartition(".")[2])
def test_the_models_of_the_shop(entry: dict[str, Any]) -> None:
    """EXPECTED.yaml: keys, collections, nullability, relationships, texts, addresses and form fields."""
    of_symbol = [d for made in shop().descriptions.values() for d in made if d.symbol == entry["symbol"]]
    (found,) = (d for d in of_symbol if isinstance(d, ModelStructure))
    if "key" in entry:
        assert found.keys == (entry["key"],)
    for name, flag in (("collections", "collection"), ("nullable", "nullable")):
        if name in entry:
            assert [fact.name for fact in found.properties if getattr(fact, flag)] == entry[name]
    if "relationships" in entry:
        assert [(r.name, r.property, str(r.cardinality)) for r in found.relationships] == [
            (one["name"], one["property"], one["cardinality"]) for one in entry["relationships"]
        ]
    if "urls" in entry:
        assert {url.name: url.value for url in found.urls} == entry["urls"]
        assert (found.title, found.help, found.domain_title) == (entry["title"], entry["help"], entry["domain"])
        (metadata,) = (d for d in of_symbol if isinstance(d, ModelMetadata))
        fields = {field.property: field for field in metadata.fields}
        assert list(fields) == [one["property"] for one in entry["fields"]]
        for one in entry["fields"]:
            assert {name: getattr(fields[one["property"]], name) for name in one} == one


def test_a_record_a_struct_and_a_nested_type_are_models_too() -> None:
    made = label_of(
        {
            "a.cs": "/// <param name='Year'>The year.</param>\nrecord Contest(int Year, string Theme = \"x\");",
            "b.cs": "struct Point { public int X; public int Y; }",
            "c.cs": "class Outer<T> { public T Value { get; set; } public class Inner { public int A { get; set; } } }",
            "d.py": "from dataclasses import dataclass\n@dataclass\nclass RowDto:\n    'A row.'\n    sku: str\n",
        }
    )
    assert snippets_of(view(ModelStructure, "Contest", made))["model-structure-properties"].splitlines()[-2:] == [
        "Year: int, required — The year.",
        "Theme: string",
    ]
    assert [fact.name for fact in view(ModelStructure, "Point", made).properties] == ["X", "Y"]
    outer = view(ModelStructure, "Outer`1", made)
    assert (outer.child_objects, [fact.name for fact in outer.properties]) == (("Inner",), ["Value"])
    assert any("Inner: int A" in section.finder_snippet for section in sections_of(outer))
    assert [fact.line() for fact in view(ModelStructure, "RowDto", made).properties] == ["sku: str"]


def test_the_parts_of_a_partial_model_know_all_its_data() -> None:
    """The facts are those of the type, the sections those of the part."""
    files = {
        "a.cs": "namespace N; partial class OrderDto { public int Id { get; set; } public Line First { get; set; } }",
        "b.cs": "namespace N; partial class OrderDto { public List<Line> Lines { get; set; } }",
        "c.cs": "namespace N; class Line { public int Id { get; set; } }",
    }
    plain = processor(knowledge=knowledge_of(*files.items()))
    parts = PartialTypes((path, segment) for path, text in files.items() for segment in segmented(text, path).segments)
    made = replace(plain, partial_types=parts)
    for path, own, targets in (("a.cs", {"Id", "First"}, ["First"]), ("b.cs", {"Lines"}, ["Lines"])):
        found = made.describe_file(file_context(files[path], path), segmented(files[path], path)).descriptions[0]
        assert isinstance(found, ModelStructure)
        assert {fact.name for fact in found.properties} == {"Id", "First", "Lines"}
        assert {relationship.property for relationship in found.relationships} == {"First", "Lines"}
        sections = {section.section_key: section for section in sections_of(found)}
        assert set(sections["model-structure-properties"].names) == own
        assert list(sections["model-structure-relationships"].names) == targets


MANY = "public class ManyDto {\n" + "".join(f"    public Other P{i} {{ get; set; }}\n" for i in range(300)) + "}"
BROKEN = [
    ("empty", "public class EmptyDto { }"),
    ("empty record", "public record EmptyDto();"),
    ("half", "public class HalfDto { public string A { get; set; } public List< B { get; } = ; int }"),
    ("unclosed", "public class HalfDto { public string A { get; set; } public List<"),
    (
        "unclosed attribute",
        "[EntityDescription(A.B, typeof(] public class HalfDto { [FormField(] public int A { get; set; } }",
    ),
    ("many", MANY + "\npublic class Other { public int Id; }"),
    ("generic", "public class PageDto<T, U> where T : class { public T Item { get; set; } public List<U> Items; }"),
    ("unicode", "/// <summary>Größe 尺寸</summary>\npublic class GrößeDto { public int Höhe { get; set; } }"),
    ("#if", "public class AnyDto {\n#if A\n public int X { get; set; }\n#else\n public int X { get; set; }\n#endif\n}"),
]


@pytest.mark.parametrize("text", [text for _, text in BROKEN], ids=[name for name, _ in BROKEN])
@pytest.mark.rule("A13", "A26")
def test_any_model_becomes_valid_points_that_survive_storage(text: str) -> None:
    """Broken and extreme code: no exception, the same bytes each time, all points valid, JSON and back."""
    first, second = label_of({"src/a.cs": text}), label_of({"src/a.cs": text})
    made = first.descriptions["src/a.cs"]
    assert made
    for description, again in zip(made, second.descriptions["src/a.cs"], strict=True):
        assert points_of(description)
        assert sections_of(description) == sections_of(again)
        assert all((s.snippet_tokens or 0) <= 256 for s in sections_of(description))
        assert sections_of(stored_and_read(description)) == sections_of(description)


def test_three_hundred_properties_are_all_found() -> None:
    found = view(ModelStructure, "ManyDto", label_of({"a.cs": dict(BROKEN)["many"]}))
    assert len(found.properties) == len(found.relationships) == 300
    assert {r.cardinality for r in found.relationships} == {Cardinality.ONE}
    parts = [s for s in sections_of(found) if s.section_key == "model-structure-properties"]
    assert [part.part_index for part in parts] == list(range(1, len(parts) + 1))
    assert len({name for part in parts for name in part.names}) == 300
