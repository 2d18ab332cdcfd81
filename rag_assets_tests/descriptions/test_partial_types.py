"""Partial types: one declaration for the description and for the kind, each part with its own members and slice."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from rag_assets.contracts.segment import OtherPart, Segment
from rag_assets.descriptions.kinds.ef_context import EfContextDescription
from rag_assets.descriptions.kinds.interface import InterfaceDescription
from rag_assets.descriptions.kinds.service_like import HandlerDescription, ManagerDescription, RepositoryDescription
from rag_assets.descriptions.processor import SourceFileProcessor
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.languages.csharp.facts.partial_types import NEAR_PARTS, PartialTypes
from rag_assets.models.lexical_only import lexical_window
from rag_assets_tests.descriptions.behaving import snippets_of
from rag_assets_tests.descriptions.samples import (
    file_context,
    general_registry,
    knowledge_of,
    processor,
    segmented,
)

MAIN = """\
using Shop.Contracts;
namespace Shop;
/// <summary>Takes orders.</summary>
[Obsolete]
public partial class Orders : IOrderService
{
    public Orders(IClock clock) { }
    public void Take() { }
}
"""
AUDIT = """\
using Shop.Logs;
namespace Shop;
partial class Orders : IDisposable
{
    public void Log() { }
    public void Dispose() { }
}
"""
FILES = {"src/Orders.cs": MAIN, "src/Orders.Audit.cs": AUDIT}


def parts_of(files: dict[str, str]) -> list[tuple[str, Segment]]:
    return [(path, segment) for path, text in files.items() for segment in segmented(text, path).segments]


def made(files: dict[str, str]) -> SourceFileProcessor:
    plain = processor(general_registry())
    partial = PartialTypes(parts_of(files))
    return SourceFileProcessor(
        plain.classifier, plain.registry, plain.domain_catalog, plain.resource_dictionary, partial
    )


def described(files: dict[str, str], path: str) -> SymbolDescription:
    outcome = made(files).describe_file(file_context(files[path], path), segmented(files[path], path))
    (found,) = outcome.descriptions
    assert isinstance(found, SymbolDescription)
    return found


def test_each_part_is_described_with_the_declaration_of_all() -> None:
    main, audit = (described(FILES, path) for path in FILES)
    assert (main.interfaces, audit.interfaces) == (("IOrderService", "IDisposable"), ("IDisposable", "IOrderService"))
    assert main.summary == audit.summary == "Takes orders."
    assert main.attributes == audit.attributes == ("Obsolete",)
    assert main.dependencies == audit.dependencies == ("IClock",)
    assert [member.name for member in main.members] == ["Orders", "Take"]
    assert [member.name for member in audit.members] == ["Log", "Dispose"]
    assert main.other_parts == (OtherPart("src/Orders.Audit.cs", 3, 7, ("public void Log()", "public void Dispose()")),)
    assert audit.other_parts == (
        OtherPart("src/Orders.cs", 3, 9, ("public Orders(IClock clock)", "public void Take()")),
    )


@pytest.mark.rule("A09")
def test_a_part_without_base_list_has_the_kind_of_its_type() -> None:
    files = FILES | {"src/Orders.Audit.cs": AUDIT.replace(" : IDisposable", "")}
    for path, text in files.items():
        (outcome,) = made(files).describe_file(file_context(text, path), segmented(text, path)).outcomes
        assert outcome.classification.kind == "Service"
        other = next(name for name in files if name != path)
        assert f"partial, with {other}" in outcome.classification.evidence


@pytest.mark.rule("C04", "A06")
def test_each_part_keeps_its_slice() -> None:
    for path, text in FILES.items():
        found = described(FILES, path)
        (segment,) = segmented(text, path).segments
        assert found.span == segment.span
        slices = [span.slice(text) for span in (found.header, *found.tiles)]
        assert "".join("".join(slices).split()) == "".join(segment.span.slice(text).split())


def test_the_artifact_names_the_other_parts() -> None:
    sections = described(FILES, "src/Orders.cs").use_window(lexical_window()).build_summary_sections()
    wanted = "- Other part: `src/Orders.Audit.cs:3-7`\n  - `public void Log()`\n  - `public void Dispose()`\n"
    assert wanted in sections[0].backing_artifact
    assert "Audit" not in "".join(section.finder_snippet for section in sections), "what is elsewhere is found there"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("partial record R : IA;", "partial record R { public int X { get; } }"),
        ("partial interface R : IA { }", "partial interface R { void M(); }"),
        ("partial struct R : IA { }", "partial struct R { int x; }"),
        ("partial class R<T> : IA { }", "partial class R<T> { int x; }"),
    ],
    ids=["record", "interface", "struct", "generic class"],
)
def test_every_declaration_that_can_be_partial(first: str, second: str) -> None:
    assert described({"a.cs": first, "b.cs": second}, "b.cs").interfaces == ("IA",)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param("class R : IB { }", id="not marked partial: a copy"),
        pytest.param("partial struct R : IB { }", id="another declaration"),
        pytest.param("partial class R<T> : IB { }", id="another arity"),
        pytest.param("namespace N; partial class R : IB { }", id="another namespace"),
    ],
)
def test_what_is_no_part(other: str) -> None:
    found = described({"a/R.cs": "partial class R : IA { }", "b/R.cs": other}, "a/R.cs")
    assert (found.interfaces, found.other_parts) == (("IA",), ())


def test_parts_of_one_file_and_of_other_projects_belong_together() -> None:
    files = {"one/R.cs": "partial class R : IA { }\npartial class R { int x; }", "two/R.cs": "partial class R : IB { }"}
    outcome = made(files).describe_file(file_context(files["one/R.cs"], "one/R.cs"), segmented(files["one/R.cs"]))
    found = [item for item in outcome.descriptions if isinstance(item, SymbolDescription)]
    assert [item.interfaces for item in found] == [("IA", "IB"), ("IA", "IB")]
    assert [[(part.path, part.line_start) for part in item.other_parts] for item in found] == [
        [("one/R.cs", 2), ("two/R.cs", 1)],
        [("one/R.cs", 1), ("two/R.cs", 1)],
    ]


@pytest.mark.parametrize(
    ("second", "parts"),
    [("void Extra() { }", 2), ("void Run() { }", 1), ("partial void Run();", 2)],
    ids=["other members: linked parts", "the same member: a copy", "the other half of a partial method"],
)
def test_projects_that_repeat_a_member_have_a_type_each(second: str, parts: int) -> None:
    """No type may declare a member twice, so what two projects both declare are two types."""
    files = {
        "one/R.cs": "partial class R { void Run() { } }",
        "one/sub/R.More.cs": "partial class R : IA { }",
        "two/R.cs": f"partial class R : IB {{ {second} }}",
    }
    partial = PartialTypes(parts_of(files), projects=["one/One.csproj", "two/Two.csproj"])
    (segment,) = segmented(files["one/R.cs"]).segments
    found = partial.symbol_text("one/R.cs", segment, "")
    assert len(found.other_parts) == parts
    assert found.segment.base_list == ("IA", "IB")[:parts]
    assert len(partial) == 1


def test_a_generated_part_that_was_skipped_is_named() -> None:
    text = "partial class Form1 : Form { }"
    partial = PartialTypes([], {"ui/Form1.Designer.cs": "generated", "other/Form1.g.cs": "generated"})
    (segment,) = segmented(text, "ui/Form1.cs").segments
    assert partial.symbol_text("ui/Form1.cs", segment, text).other_parts == (
        OtherPart("ui/Form1.Designer.cs", skipped="generated"),
    )


def test_a_type_that_is_not_partial_stays_as_it_is() -> None:
    text = "class R : IA { }"
    (segment,) = segmented(text).segments
    made_text = PartialTypes([("x.cs", segment)], {"src/Shop/R.Designer.cs": "generated"}).symbol_text(
        "src/Shop/R.cs", segment, text
    )
    assert (made_text.segment, made_text.whole, made_text.other_parts) == (segment, segment, ())


def test_broken_parts_are_parts() -> None:
    files = {"a.cs": "partial class R : IA { int x; }", "b.cs": "partial class R {\n    void M() { if ( }\n}\n"}
    assert described(files, "b.cs").interfaces == ("IA",)


def test_order_does_not_matter_and_processes_can_share_it() -> None:
    forwards, backwards = PartialTypes(parts_of(FILES)), PartialTypes(reversed(parts_of(FILES)))
    for path, segment in parts_of(FILES):
        found = [
            (text.segment, text.whole, text.other_parts)
            for partial in (forwards, backwards, pickle.loads(pickle.dumps(forwards)))
            for text in (partial.symbol_text(path, segment, ""),)
        ]
        assert found[0] == found[1] == found[2]


def test_a_type_of_many_parts_names_its_neighbours_only() -> None:
    files = {
        f"p{number:03}.cs": f"partial class Native : IBase{number % 7} {{ void M{number}() {{ }} }}"
        for number in range(200)
    }
    found = described(files, "p100.cs")
    assert len(found.other_parts) == NEAR_PARTS
    assert len(found.interfaces) == 7, "the base list is that of all"


def built(first: str, second: str) -> SymbolDescription:
    """What the built-in builders make of the first of two parts."""
    files = {"a.cs": first, "b.cs": second}
    made_of_all = replace(
        processor(knowledge=knowledge_of(*files.items())),
        partial_types=PartialTypes(parts_of(files), read=files.__getitem__),
    )
    found = made_of_all.describe_file(file_context(first, "a.cs"), segmented(first, "a.cs")).descriptions[0]
    assert isinstance(found, SymbolDescription)
    return found


def test_the_methods_of_a_manager_are_those_of_all_parts() -> None:
    found = built(
        "namespace N; public partial class OrderManager : IManager { public void Create() { } partial void On(); }",
        "namespace N;\npartial class OrderManager {\n public void Delete() { }\n partial void On() { }\n}",
    )
    assert isinstance(found, ManagerDescription)
    assert [(m.name, m.path, m.line_start) for m in found.methods] == [
        ("Create", "", 1),
        ("On", "", 1),
        ("Delete", "b.cs", 3),
    ]
    assert [member.name for member in found.members] == ["Create", "On"], "sections stay those of the own part"
    assert found.operation_kinds() == ["Create", "Delete"]


def test_the_operations_of_an_interface_are_those_of_all_parts() -> None:
    found = built(
        "namespace N; public partial interface IOrderManager { void A(); }",
        "namespace N; public partial interface IOrderManager { void B(); }",
    )
    assert isinstance(found, InterfaceDescription)
    assert [(operation.name, operation.path) for operation in found.operations] == [("A", ""), ("B", "b.cs")]


def test_what_a_handler_handles_may_stand_in_another_part() -> None:
    found = built(
        "namespace N; public partial class OrderHandler : BaseHandler { int _x; }",
        "namespace N; public partial class OrderHandler { public void Handle(PlaceOrderCommand command) { } }",
    )
    assert isinstance(found, HandlerDescription)
    assert [message.request for message in found.handled] == ["PlaceOrderCommand"]


def test_the_storage_of_a_repository_is_that_of_all_parts() -> None:
    found = built(
        "namespace N; public partial class OrderRepository : IOrderRepository { public int X() => 1; }",
        "namespace N;\npublic partial class OrderRepository {\n"
        "  public void Save() { new NpgsqlConnection(c).ExecuteNonQuery(); }\n}",
    )
    assert isinstance(found, RepositoryDescription)
    assert (found.storage, found.storage_evidence) == ("Sql", ("uses NpgsqlConnection",))
    assert [(o.member, o.call, o.line, o.path) for o in found.storage_operations] == [
        ("Save", "ExecuteNonQuery", 3, "b.cs")
    ]


def test_the_table_of_a_set_may_stand_in_another_part() -> None:
    found = built(
        "namespace N; public partial class C : DbContext { public DbSet<Order> Orders { get; set; } }",
        'namespace N; public partial class C { void Map(ModelBuilder b) { b.Entity<Order>().ToTable("T_ORDERS"); } }',
    )
    assert isinstance(found, EfContextDescription)
    assert "Table: T_ORDERS" in snippets_of(found)["repository-overview"]
    assert found.mappings == (), "mappings of this file stay its own"
