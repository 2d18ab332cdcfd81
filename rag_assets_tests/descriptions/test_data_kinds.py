"""Requests, responses, results, messages, list rows, configuration, enums, exceptions and attributes."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest

from rag_assets.contracts.description import SummaryFacts
from rag_assets.descriptions.kinds.data_type import (
    CodeAttributeDescription,
    ConfigurationDescription,
    ContractDescription,
    ExceptionDescription,
    SummaryListDescription,
)
from rag_assets.descriptions.kinds.enum import EnumDescription
from rag_assets_tests.descriptions.behaving import keys_of, points_of, sections_of, snippets_of, stored_and_read
from rag_assets_tests.descriptions.label import expected, label_of, shop

D = TypeVar("D", bound=SummaryFacts)

KINDS = (
    CodeAttributeDescription,
    ConfigurationDescription,
    ContractDescription,
    EnumDescription,
    ExceptionDescription,
    SummaryListDescription,
)


def one(wanted: type[D], text: str, path: str = "src/a.cs", resx: str = "<root></root>") -> D:
    made = label_of({path: text, "src/Texts.resx": resx})
    return next(d for d in made.descriptions[path] if type(d) is wanted)


def of_shop(wanted: type[D], name: str) -> D:
    made = (d for found in shop().descriptions.values() for d in found)
    return next(d for d in made if type(d) is wanted and d.symbol.rpartition(".")[2] == name)


# contracts


@pytest.mark.rule("A10")
@pytest.mark.parametrize(
    ("text", "kind", "flavor", "answer"),
    [
        ("record PlaceCommand(int A) { void M() {} }", "Message", "Command", ""),
        ("record ByNumberQuery(int A) : IRequest<List<Order>> { void M() {} }", "Message", "Query", "List<Order>"),
        ("class PlacedEvent { void M() {} }", "Message", "Event", ""),
        ("class MailMessage { void M() {} }", "Message", "", ""),
        ("class MailMessage : ICommand { void M() {} }", "Message", "Command", ""),
        ("class MailMessage : INotification { void M() {} }", "Message", "Event", ""),
        ("class ClosedEventArgs : EventArgs { void M() {} }", "Message", "Event", ""),
        ("class PayRequest : IRequest<Receipt> { void M() {} }", "Request", "", "Receipt"),
        ("class PayResponse { void M() {} }", "Response", "", ""),
        ("class PayResult<T> { void M() {} }", "Result", "", ""),
    ],
)
def test_name_and_base_say_what_a_message_is(text: str, kind: str, flavor: str, answer: str) -> None:
    found = one(ContractDescription, text)
    assert (found.kind, found.subtype_flavor, found.answer) == (kind, flavor, answer)


def test_the_snippet_of_a_message() -> None:
    assert snippets_of(of_shop(ContractDescription, "OrderByNumberQuery")) == {
        "message-overview": (
            "Domain: Orders\nDomainSummary: From the cart to the parcel\n\nKind: Message\n\n"
            "Artifact: Fernhill.Shop.Domain.Orders.OrderByNumberQuery\nFlavor: Query\nAnsweredWith: Order\n"
            "Implements: IRequest<Order>\nPath: OrderMessages\n\n"
            "Purpose: Asks for one order by the number on the confirmation.\nNumber: string, required\n"
            "string NormalisedNumber() — The number as it is stored: customers type blanks and lower case."
        )
    }


def test_a_row_of_a_list_is_about_its_entity() -> None:
    """[L]: Supplier of SupplierSummary, because it is declared; of a name alone nothing is said."""
    assert of_shop(SummaryListDescription, "SupplierSummary").primary_entity == "Supplier"
    assert (
        one(SummaryListDescription, "class GoneSummary : SummaryData { public int A { get; set; } }").primary_entity
        == ""
    )


# configuration


def test_the_snippet_of_options() -> None:
    snippet = snippets_of(of_shop(ConfigurationDescription, "ShippingOptions"))["configuration-overview"]
    assert "ConfigurationSection: Shipping\n" in snippet
    assert "Shipping:FreeFrom: decimal = 60m — Orders from this value on are delivered free of charge.\n" in snippet


@pytest.mark.parametrize(
    ("body", "sections"),
    [
        ('public const string SectionName = "Mail";', ("Mail",)),
        ('public static readonly string Position = "Mail:Out";', ("Mail:Out",)),
        ('public static string ConfigKey => "x";', ()),
        ('const string MailSection = "A"; const string ListSection = "B";', ("A", "B")),
        ("public const string SectionName = nameof(MailOptions);", ()),
        ('public string SectionName { get; set; } = "Mail";', ()),
        ('public const string Title = "Mail";', ()),
    ],
)
def test_sections_are_named_by_constants(body: str, sections: tuple[str, ...]) -> None:
    text = f"class MailOptions {{ {body} public int Port {{ get; set; }} public int Sum => 1; void M() {{}} }}"
    found = one(ConfigurationDescription, text)
    assert found.section_names == sections
    prefix = f"{sections[0]}:" if len(sections) == 1 else ""
    assert f"{prefix}Port" in found.bound_keys
    assert f"{prefix}Sum" not in found.bound_keys


def test_keys_that_code_reads_by_text() -> None:
    found = one(
        ConfigurationDescription,
        "class MailSettings { public MailSettings(IConfiguration configuration) { var s = configuration.GetSection("
        '"Mail"); Host = s.Require("no"); Port = configuration.GetValue<int>("Mail:Port"); A = configuration["X"]; '
        'B = Configuration.GetConnectionString("Db"); C = other["no"]; } void M() {} }',
    )
    assert found.read_keys == ("Mail", "Mail:Port", "X", "Db")


def test_a_configuration_file_and_a_mapping_are_not_options() -> None:
    made = label_of(
        {"appsettings.json": '{"A": 1}', "m.cs": "class OrderConfiguration : IEntityTypeConfiguration<Order> { }"}
    )
    assert not [d for found in made.descriptions.values() for d in found if isinstance(d, ConfigurationDescription)]


# enums


@pytest.mark.parametrize("entry", expected()["enums"], ids=lambda entry: entry["symbol"].rpartition(".")[2])
def test_the_enums_of_the_shop(entry: dict[str, Any]) -> None:
    """EXPECTED.yaml: values with their numbers, as written."""
    found = of_shop(EnumDescription, entry["symbol"].rpartition(".")[2])
    assert {value.name: value.expression for value in found.values} == {n: str(v) for n, v in entry["values"].items()}
    assert found.flags is entry.get("flags", False)
    assert all(value.number is not None for value in found.values)


def test_a_small_enum_is_one_point() -> None:
    assert snippets_of(of_shop(EnumDescription, "DeliveryDays")) == {
        "enum-values": (
            "Domain: Shipping\nDomainSummary: Labels and carriers\n\nKind: Enum\n\n"
            "Artifact: Fernhill.Shop.Domain.Shipping.DeliveryDays\nFlags: values combine\nPath: ShippingOptions\n\n"
            "Purpose: Days on which a customer is at home. Combine with |.\nNone = 0\n"
            "Weekdays = 1 (1 << 0) — Monday to Friday.\nSaturday = 2 (1 << 1)\n"
            "Sunday = 4 (1 << 2) — Only in cities, at extra cost.\n"
            "Any = 7 (Weekdays | Saturday | Sunday) — Any day."
        )
    }


def test_a_large_enum_has_an_overview_and_parts_with_all_its_values() -> None:
    values = ", ".join(f"Value{i}" for i in range(300))
    found = one(EnumDescription, f"enum Large : ushort {{ {values} }}")
    assert (found.underlying, found.values[299].number) == ("ushort", 299)
    assert keys_of(found) == ["enum-overview", "enum-values"]
    parts = [section for section in sections_of(found) if section.section_key == "enum-values"]
    assert len({name for part in parts for name in part.names}) == 300


def test_an_implied_number_is_in_the_markdown_too() -> None:
    (section,) = sections_of(one(EnumDescription, "enum E { A = 4, B, C = A | 1 }"))
    assert section.backing_artifact.splitlines()[-3:] == ["- `A = 4`", "- `B` = 5", "- `C = A | 1` = 5"]


# exceptions


RESX = '<root><data name="Gone"><value>It is gone, {0}.</value></data></root>'


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ('class AException : Exception { public AException() : base("No order.") { } }', ("No order.",)),
        ('class AException(int id) : Exception($"No order {id}.") { }', ("No order {id}.",)),
        (
            "class AException(string id) : ShopException(string.Format(Culture.A, Texts.Gone, id)) { }",
            ("It is gone, {0}.",),
        ),
        ("class AException() : Ns.ShopException(Texts.Gone) { }", ("It is gone, {0}.",)),
        ('class AException : Exception { AException(string m) : base(m ?? "Default.", null) { } }', ("Default.",)),
        ("class AException : Exception { AException(string m) : base(m) { } }", ()),
        ("class AException : Exception { AException(A a) : base(a.Text) { } }", ()),
        ('class AException : Exception { AException() { throw new B("not this"); } }', ()),
        ("class AException : Exception;", ()),
    ],
)
def test_what_an_exception_says(text: str, messages: tuple[str, ...]) -> None:
    assert one(ExceptionDescription, text, resx=RESX).messages[:1] == messages


def test_the_snippet_of_an_exception() -> None:
    snippet = snippets_of(of_shop(ExceptionDescription, "OrderNotFoundException"))["exception-overview"]
    assert "\nMessage: There is no order {0}.\nInherits: ShopException\n" in snippet


def test_exceptions_of_other_languages_have_their_data() -> None:
    found = one(ExceptionDescription, "class PriceError(ValueError):\n    '''Too high.'''\n    price: int\n", "a.py")
    assert (found.summary, found.messages, [fact.name for fact in found.properties]) == ("Too high.", (), ["price"])


# attributes


@pytest.mark.parametrize(
    ("text", "targets", "multiple", "inherited", "usage"),
    [
        ("class AAttribute : Attribute { }", (), False, True, ("[A]",)),
        (
            "[AttributeUsage(AttributeTargets.Class | AttributeTargets.Method, "
            "AllowMultiple = true, Inherited = false)]"
            "class AAttribute(string x) : Attribute { public int B { get; set; } public int C => 1; }",
            ("Class", "Method"), True, False, ("[A(x, B = …)]",),
        ),
        (
            "class AAttribute : Attribute "
            "{ public AAttribute() {} public AAttribute(int a, int b) {} private AAttribute(A x) {} }",
            (), False, True, ("[A]", "[A(a, b)]"),
        ),
        ("[AttributeUsage(validOn: All)] abstract class AAttribute : Attribute { }", ("All",), False, True, ()),
        (
            "class Long : TestAttribute { public Long(int a, int b, int c, int d, int e, int f, int g) {} }",
            (), False, True, ("[Long(a, b, c, d, e, f, …)]",),
        ),
        ("[AttributeUsage(] class AAttribute : Attribute { }", (), False, True, ("[A]",)),
    ],
)  # fmt: skip
def test_how_an_attribute_is_used(
    text: str, targets: tuple[str, ...], multiple: bool, inherited: bool, usage: tuple[str, ...]
) -> None:
    found = one(CodeAttributeDescription, text)
    assert (found.targets, found.allow_multiple, found.inherited, found.usage) == (targets, multiple, inherited, usage)


def test_the_snippet_of_an_attribute() -> None:
    snippet = snippets_of(of_shop(CodeAttributeDescription, "AuditedAttribute"))["code-attribute-overview"]
    assert "\nUsage: [Audited(action, RetentionDays = …)]\nTargets: Class, Method\n\nPurpose:" in snippet


# all of them


ODD = [
    ("empty", "class {0} {{ }}"),
    ("unclosed", "class {0} {{ public string A {{ get; set; }} public List<"),
    (
        "nested",
        "class {0} {{ public class Inner {{ public class Most {{ public int A {{ get; set; }} }} }} void M() {{}} }}",
    ),
    (
        "many",
        "class {0} {{ "
        + " ".join(f"public int P{i} {{{{ get; set; }}}} void M{i}() {{{{ }}}}" for i in range(300))
        + " }}",
    ),
    ("generic", "class {0}<T> where T : new() {{ public T Item {{ get; set; }} void M() {{}} }}"),
]
NAMES = ("AResult", "BResponse", "CRequest", "DMessage", "EOptions", "FError : Exception", "GAttribute : Attribute",
         "HSummary : SummaryData")  # fmt: skip


@pytest.mark.rule("A13", "A26")
@pytest.mark.parametrize("form", [text for _, text in ODD], ids=[name for name, _ in ODD])
@pytest.mark.parametrize("name", NAMES)
def test_odd_code_becomes_valid_points_that_survive_storage(name: str, form: str) -> None:
    name, colon, base = name.partition(" : ")
    text = form.format(name).replace(" {", f"{colon}{base} {{", 1) if "where" not in form else form.format(name)
    for description in label_of({"src/a.cs": text}).descriptions["src/a.cs"]:
        sections = sections_of(description)
        assert points_of(description)
        assert sections_of(stored_and_read(description)) == sections
        assert all((section.snippet_tokens or 0) <= 256 for section in sections)


def test_every_data_kind_of_the_shop_is_described_by_its_builder() -> None:
    """None of these kinds falls back to the general description where its file is C#."""
    kinds = {"Request", "Response", "Result", "Message", "Enum", "Exception", "CodeAttribute", "SummaryListModel"}
    made = [d for path, found in shop().descriptions.items() if path.endswith(".cs") for d in found if d.kind in kinds]
    assert {d.kind for d in made} == kinds
    assert {type(d).__name__ for d in made} <= {kind.__name__ for kind in KINDS} | {"ModelMetadata"}
