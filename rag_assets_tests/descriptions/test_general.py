"""The general builder and its description, from source text to points (A11, A12, A16, A19–A26, A30–A38, C01–C12)."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools

import msgspec
import numpy as np
import pytest

from rag_assets.contracts.description import SummaryFacts
from rag_assets.contracts.kinds import RagContentType, SubtypeKind
from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import LineIndex, Member, MemberKind, ParseHealth, Segment, SegmentedFile
from rag_assets.descriptions.kinds import GeneralDescriptionBuilder
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.descriptions.text_description import TextDescription
from rag_assets_tests.descriptions.behaving import shop, stored_and_read
from rag_assets_tests.descriptions.samples import (
    DOMAINS,
    described,
    described_file,
    described_text,
    file_context,
    general_description,
    processor,
)
from rag_assets_tests.sections.windows import window

SERVICE = """\
using System;
namespace Shop.Orders;

/// <summary>Creates and cancels orders.</summary>
/// <remarks>Not thread safe.</remarks>
[Injectable]
public sealed class OrderService<T>(IClock clock) : ServiceBase, IOrderService
{
    private readonly ILogger _logger;

    public OrderService(IRepository<Order> orders, ILogger logger, string name) : this(null) { }

    /// <summary>Creates an order.</summary>
    /// <param name="order">The order.</param>
    [HttpPost("{id}")]
    public async Task<Order> Create(Order order, int retries = 3) => order;

    public string Name { get; init; }

    public event EventHandler Done;

    /// <summary>States.</summary>
    public enum State { Open, Closed = 5 }
}
"""


def sections_of(description: SummaryFacts, tokens: int = 256) -> list[SummarySection]:
    return description.use_window(window(tokens)).build_summary_sections()


def test_a_builder_names_itself_and_says_what_it_does() -> None:
    """A12."""
    builder = GeneralDescriptionBuilder()
    assert builder.name == "general"
    assert len(builder.description) > 40


@pytest.mark.rule("A19")
def test_the_facts_of_a_type() -> None:
    """A19: names, documentation, bases, dependencies and members, as declared."""
    found = described(SERVICE)
    assert (found.name, found.fqn, found.symbol) == ("OrderService", "Shop.Orders.OrderService`1", found.fqn)
    assert (found.kind, found.subtype, found.subtype_flavor) == ("Service", "Service", "")
    assert (found.declaration, found.symbol_type, found.namespace) == ("class", "class", "Shop.Orders")
    assert (found.summary, found.documented) == ("Creates and cancels orders.", True)
    assert "Not thread safe." in found.doc
    assert found.signature.startswith("public sealed class OrderService<T>(IClock clock)")
    assert found.base_types == ("ServiceBase",)
    assert found.interfaces == ("IOrderService",)
    assert found.attributes == ("Injectable",)
    assert found.type_parameters == ("T",)
    assert found.dependencies == ("IClock", "IRepository<Order>", "ILogger")
    assert [member.name for member in found.members] == [
        "_logger", "OrderService", "Create", "Name", "Done", "State",
    ]  # fmt: skip


@pytest.mark.rule("A27")
def test_common_properties_come_from_the_file_context() -> None:
    """A27: identity and location are copied, not invented."""
    found = described(SERVICE)
    assert (found.org_id, found.project_id, found.repo_id) == ("acme", "shop", "shop")
    assert found.doc_id == "shop/src/Shop/Code.cs"
    assert (found.path, found.blob_uri) == ("src/Shop/Code.cs", "rag://shop@main/src/Shop/Code.cs")
    assert (found.code_language, found.source_type) == ("csharp", "code")
    assert found.document_sha256 == hashlib.sha256(SERVICE.encode()).hexdigest()


@pytest.mark.rule("A19")
def test_the_domain_comes_from_the_catalog() -> None:
    found = described(SERVICE, domains=DOMAINS)
    assert (found.domain_key, found.domain_title, found.domain_tagline) == (
        "ordering",
        "Ordering",
        "From basket to invoice.",
    )
    other = described("class A { }", "lib/a.cs", DOMAINS)
    assert (other.domain_key, other.domain_title) == ("", "General")


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("class OrderService { void Create() {} void Cancel() {} }", "Class OrderService: members Create, Cancel."),
        ("interface IMarker { }", "Interface IMarker."),
        ("class A { void M(int i) {} void M(string s) {} }", "Class A: members M."),
        (
            "class A { int a, b, c, d, e, f, g, h, i, j; }",
            "Class A: members a, b, c, d, e, f, g, h and 2 more.",
        ),
        ("enum Status { Open, Closed }", "Enum Status: members Open, Closed."),
    ],
)
def test_without_documentation_the_names_make_the_summary(text: str, summary: str) -> None:
    found = described(text)
    assert (found.summary, found.documented) == (summary, False)


PYTHON = """\
'Cart.'
import os
X = 1

def add(a: int) -> int:
    'Adds.'

class Cart:
    size: int = 0
    def put(self, x): ...
"""

EVERY_SHAPE = [
    ("service", "a/Service.cs", SERVICE),
    ("record", "a/R.cs", "public record Money(decimal Amount, string Currency = \"EUR\");"),
    ("enum", "a/E.cs", "/// <summary>S.</summary>\nenum S { A = 1, /// <summary>b</summary>\n B }"),
    ("delegate", "a/D.cs", "delegate Task<int> Done<T>(T value) where T : class;"),
    ("interface", "a/I.cs", "interface I : IA, IB { int this[int i] { get; } }"),
    ("program", "a/Program.cs", "var a = 1;\nConsole.WriteLine(a);\n\nint Twice(int x) => 2 * x;\n"),
    ("broken", "a/X.cs", "class { ((( %%% \n"),
    ("no-declaration", "a/GlobalUsings.cs", "global using System;\n"),
    ("markdown", "a/README.md", "intro\n\n# One\n\ntext\n\n## Two\n\nmore\n"),
    ("plain-text", "LICENSE", "MIT License\n\nPermission is hereby granted.\n"),
    ("sql", "db/o.sql", "CREATE TABLE dbo.Orders (Id int NOT NULL, Name nvarchar(50));\nGO\nSELECT 1;\n"),
    ("json", "appsettings.json", '{\n  "ConnectionStrings": { "Shop": "x" }\n}\n'),
    ("resx", "Strings.resx", '<root>\n<data name="Hello"><value>Hi</value><comment>c</comment></data>\n</root>'),
    ("razor", "Pages/Index.razor", '@page "/"\n<h1>Hi</h1>\n'),
    ("python", "shop/cart.py", PYTHON),
    ("typescript", "web/cart.ts", "export const x = 1;\nexport function f(a: number) {}\nexport class C { m() {} }\n"),
    ("go", "cart/cart.go", "package cart\n\n// S is.\ntype S struct { A int }\n\nfunc (s *S) M() {}\n"),
    ("java", "a/C.java", "package a;\n/** Doc. */\npublic class C { private int x; public C(D d) {} }\n"),
    ("transcript", "t.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nAnn: hello\n"),
    ("shell", "run.sh", "#!/bin/sh\necho hi\n"),
    ("crlf-and-unicode", "a/U.cs", "/// <summary>Ä 注文 🎉</summary>\r\nclass Ünï\r\n{\r\n    int 注文;\r\n}\r\n"),
]  # fmt: skip

SHAPES = pytest.mark.parametrize(
    ("path", "text"), [row[1:] for row in EVERY_SHAPE], ids=[row[0] for row in EVERY_SHAPE]
)


@SHAPES
def test_a_description_survives_storage_as_json(path: str, text: str) -> None:
    """Stages store descriptions as JSON; what comes back is equal and builds equal sections."""
    for found in described_file(text, path).descriptions:
        stored = msgspec.json.encode(found)
        restored = msgspec.json.decode(stored, type=SummaryFacts.type_named(type(found).__name__))
        assert restored == found
        assert msgspec.json.encode(restored) == stored
        assert sections_of(restored) == sections_of(found)


@pytest.mark.rule("A22")
def test_every_description_of_the_shop_survives_storage() -> None:
    assert len({type(found) for found in shop()}) > 20
    for found in shop():
        again = stored_and_read(found)
        assert again == found
        assert sections_of(again) == sections_of(found)


@pytest.mark.rule("C04")
@SHAPES
def test_every_segment_has_sections_that_cover_it(path: str, text: str) -> None:
    """C04, C12: each section has a slice and a description artifact; together the slices hold every word of the
    segment, with exact lines; within the window."""
    lines = LineIndex(text)
    outcome = described_file(text, path)
    descriptions = [found for found in outcome.descriptions if isinstance(found, SymbolDescription | TextDescription)]
    assert descriptions
    for found in descriptions:
        rest = {i for i in range(found.span.char_start, found.span.char_end) if not text[i].isspace()}
        for section in sections_of(found, 64):
            assert section.span.slice(text).strip()
            assert section.span == lines.span(section.span.char_start, section.span.char_end)
            assert section.backing_artifact.strip()
            assert section.finder_snippet.strip()
            assert (section.snippet_tokens or 0) <= 62
            rest -= set(range(section.span.char_start, section.span.char_end))
        if found.declaration == "module":  # the classes between its functions are segments of their own
            for other in descriptions:
                if other is not found:
                    rest -= set(range(other.span.char_start, other.span.char_end))
        left = "".join(text[i] for i in sorted(rest))
        assert left in ("", "importos")  # imports belong to the file, as usings do, not to a symbol


@pytest.mark.rule("A24", "A36")
@SHAPES
def test_every_section_becomes_one_valid_point(path: str, text: str) -> None:
    """A22, A24, A30–A38, B14–B16, R1, R3: no errors, unique ids and URIs, the embedded text is the snippet."""
    for found in described_file(text, path).descriptions:
        assert isinstance(found, SymbolDescription | TextDescription)
        sections = sections_of(found, 64)
        for section in sections:
            section.source_text = section.span.slice(text)
            section.vectors = np.ones(3, dtype=np.float32).tolist()
            section.embedding_model = "test-model"
        results = found.use_sections(sections).build_rag_points()
        assert len(results) == len(sections)
        assert [str(error) for result in results for error in result.errors] == []
        points = [result.value for result in results if result.value is not None]
        assert len({point.point_id for point in points}) == len(sections)
        for point, section in zip(points, sections, strict=True):
            assert point.contents.decode() == section.section_normalized_text
            assert point.payload.subtype == found.kind
            assert point.payload.graph_node_keys or found.declaration == "program" or not section.names
            assert point.payload.line_start == point.payload.start_line == section.span.line_start


@pytest.mark.rule("A30", "B01")
@pytest.mark.parametrize(
    ("path", "text", "content_type", "source_type"),
    [
        ("a.cs", "class A { }", RagContentType.SOURCE_CODE, "code"),
        ("a.md", "# A", RagContentType.REFERENCE, "document"),
        ("ddrs/a.md", "# A", RagContentType.SPEC, "document"),
        ("a.sql", "CREATE TABLE dbo.A (Id int);", RagContentType.SCHEMA, "sql"),
        ("a.json", "{}", RagContentType.CONFIGURATION, "config"),
        ("a.resx", '<root><data name="A"><value>b</value></data></root>', RagContentType.SOURCE_CODE, "resource"),
    ],
)
def test_content_types(path: str, text: str, content_type: RagContentType, source_type: str) -> None:
    """B01, A30: SourceCode unless the file is something else."""
    found = general_description(text, path)
    assert (found.content_type, found.source_type) == (content_type, source_type)


def test_a_small_type_is_one_snippet_in_the_fixed_order() -> None:
    """Domain reference §3: what a reader and an embedder see of a type, in full."""
    (section,) = sections_of(described(SERVICE, domains=DOMAINS))
    assert section.section_key == "service-overview"
    assert (
        section.finder_snippet
        == """\
Domain: Ordering
DomainSummary: From basket to invoice.

Kind: Service

Artifact: Shop.Orders.OrderService`1
Inherits: ServiceBase
Implements: IOrderService
DependsOn: IClock, IRepository<Order>, ILogger
Attributes: Injectable
Path: Code

Purpose: Creates and cancels orders.
_logger
OrderService(IRepository<Order> orders, ILogger logger, string name)
Task<Order> Create(Order order, int retries = 3) — Creates an order.
string Name { get; init; }
event EventHandler Done
enum State — States.
State: Open
State: Closed = 5"""
    )
    assert section.names == ("OrderService", "_logger", "Create", "Name", "Done", "State", "Open", "Closed")
    assert section.graph_node_keys == (
        "csharp:Shop.Orders.OrderService`1|TYPE",
        "csharp:Shop.Orders.OrderService`1._logger|PROPERTY",
        "csharp:Shop.Orders.OrderService`1.OrderService(IRepository<Order>,ILogger,string)|METHOD",
        "csharp:Shop.Orders.OrderService`1.Create(Order,int)|METHOD",
        "csharp:Shop.Orders.OrderService`1.Name|PROPERTY",
        "csharp:Shop.Orders.OrderService`1.Done|PROPERTY",
        "csharp:Shop.Orders.OrderService`1.State|TYPE",
    )


@pytest.mark.rule("C07")
def test_the_artifact_is_markdown_with_everything_in_it() -> None:
    """C07: readable by people and models; documentation and attributes whole."""
    (section,) = sections_of(described(SERVICE))
    assert (
        section.backing_artifact
        == """\
# Service OrderService

`` Shop.Orders.OrderService`1 `` · class · src/Shop/Code.cs:4-24

Creates and cancels orders.

remarks: Not thread safe.

```csharp
[Injectable]
public sealed class OrderService<T>(IClock clock) : ServiceBase, IOrderService
```

- Inherits: `ServiceBase`
- Implements: `IOrderService`
- Depends on: `IClock`, `IRepository<Order>`, `ILogger`

## Members

- `private readonly ILogger _logger`
- `public OrderService(IRepository<Order> orders, ILogger logger, string name)`
- `public async Task<Order> Create(Order order, int retries = 3)`
  `[HttpPost("{id}")]`
  Creates an order.

  param order: The order.
- `public string Name { get; init; }`
- `public event EventHandler Done`
- `public enum State`
  States.
- State: `Open`
- State: `Closed = 5`"""
    )


@pytest.mark.rule("R1")
def test_a_final_symbol_changes_ids_but_not_the_text() -> None:
    """R1: the suffix tells parts of a partial type apart; nobody searches for it."""
    found = described(SERVICE)
    found.symbol = "Shop.Orders.OrderService`1~12345678"
    (section,) = sections_of(found)
    assert section.symbol.endswith("~12345678")
    assert "~12345678" not in section.finder_snippet


@pytest.mark.rule("R18")
def test_three_hundred_methods_and_a_ten_thousand_character_signature() -> None:
    """R18: both at once, end to end; every member is in one part, nothing is lost from the slices."""
    long = ", ".join(f"int parameter{number}" for number in range(600))
    methods = "\n".join(f"    public void Method{number}(int value) {{ }}" for number in range(300))
    text = f"public class Large\n{{\n    public void Long({long}) {{ }}\n{methods}\n}}\n"
    overview, *parts = sections_of(described(text))
    assert overview.finder_snippet.count("Method") > 50
    assert [name for part in parts for name in part.names] == ["Long", *(f"Method{n}" for n in range(300))]
    assert all((part.snippet_tokens or 0) <= 254 for part in parts)
    assert "parameter599" in parts[0].backing_artifact
    assert "parameter599" not in parts[0].finder_snippet
    assert [part.part_index for part in parts] == list(range(1, len(parts) + 1))


def test_statements_of_a_program_are_found_by_their_text() -> None:
    text = 'var app = Build();\n\napp.MapGet("/orders", () => 1);\n' + "\n".join(
        f"app.Use{number}();\n" for number in range(150)
    )
    overview, *parts = sections_of(described(text, "src/Web/Program.cs"))
    assert overview.section_key == "program-overview"
    snippets = "\n".join(part.finder_snippet for part in parts)
    assert 'app.MapGet("/orders", () => 1);' in snippets
    assert "app.Use149();" in snippets
    assert all("Path: Web" in part.finder_snippet for part in parts)
    spans = [part.span for part in parts]
    assert all(before.char_end <= after.char_start for before, after in itertools.pairwise(spans))


def test_statements_inside_a_type_share_out_what_stands_around_them() -> None:
    """Rescued code of a broken type: comments and braces beside it stay in a slice."""
    text = "class A\n{\n    // lost\n    var a = 1;\n\n    var b = 2;\n}\n"
    lines = LineIndex(text)
    start, end = text.index("var a"), text.index("= 2;") + 4
    member = Member(name="s", kind=MemberKind.STATEMENTS, signature="var a = 1;", span=lines.span(start, end))
    before = Member(name="f", kind=MemberKind.FIELD, signature="int f " * 3, span=lines.span(6, 7))
    whole = Segment(
        name="A", symbol="A", kind="class", span=lines.span(0, len(text) - 1), language="csharp", ordinal=0,
        members=(before, member),
    )  # fmt: skip
    file = SegmentedFile((whole,), ParseHealth.PARTIAL)
    found = processor().describe_file(file_context(text), file).descriptions[0]
    slices = [section.span.slice(text) for section in found.use_window(window(18)).build_summary_sections()]
    assert slices[-2:] == ["{\n    // lost\n    var a = 1;", "    var b = 2;\n}"]


@pytest.mark.rule("R4")
def test_documents_keep_their_own_words() -> None:
    """R4: for documents and SQL the text is the snippet; keys, anchors and headings come along."""
    (markdown,) = sections_of(described_text("# Shop\n\nHow to order.\n", "docs/guide.md"))
    assert markdown.finder_snippet == "Markdown: docs/guide.md\nShop\n\n# Shop\n\nHow to order."
    assert markdown.graph_node_keys == ("doc:docs/guide.md#shop|SECTION",)
    (sql, *_) = sections_of(described_text("CREATE TABLE dbo.Orders (\n  Id int NOT NULL\n);\n", "db/o.sql"))
    assert sql.section_key == "sql-object-overview"
    assert sql.finder_snippet.startswith("SqlObject: dbo.Orders")
    assert "Id int NOT NULL" in sql.finder_snippet
    assert sql.graph_node_keys == ("dbo.Orders|TABLE",)


def test_every_field_of_a_description_is_plain() -> None:
    """Facts only: nothing that storage as JSON could lose."""
    found = described(SERVICE)
    names = {field.name for field in dataclasses.fields(found)}
    assert {"members", "tiles", "dependencies", "summary", "span"} <= names
    assert msgspec.json.decode(msgspec.json.encode(found)).keys() == names


@pytest.mark.rule("A09", "A10")
def test_the_kind_is_not_the_builders_business() -> None:
    """A09, A10: the builder leaves the kind empty; the processor writes what classification said."""
    assert SymbolDescription().kind == ""
    assert described("enum E { A }").kind == SubtypeKind.ENUM.value
