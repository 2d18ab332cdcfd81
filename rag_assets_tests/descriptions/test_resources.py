"""Resource dictionary, usages of resource keys, and the descriptions of resource files (domain reference §2, §4)."""

from __future__ import annotations

import pickle
from typing import Any

import msgspec
import pytest

from rag_assets.contracts.description import SummaryFacts
from rag_assets.descriptions.kinds.resource_file import SHOWN_USAGES, ResourceFileDescription
from rag_assets.languages.csharp.resource_usages import ResourceUsages, ResourceUse, UsageScanner, usages_of
from rag_assets.languages.documents.resx import StaticResourceDictionary, family_of
from rag_assets_tests.descriptions.label import expected, label_of, shop
from rag_assets_tests.descriptions.samples import segmented
from rag_assets_tests.sections.windows import window


def resx(**entries: str) -> str:
    data = "".join(f'<data name="{key}"><value>{value}</value></data>\n' for key, value in entries.items())
    return f"<root>\n{data}</root>\n"


ICON = '<data name="Icon" type="System.Resources.ResXFileRef"><value>icon.png;System.Byte[]</value></data>'


def dictionary(**files: str) -> StaticResourceDictionary:
    """Files by name, `__` for `/` and `_dot_` for `.`."""
    made = StaticResourceDictionary()
    for name, text in sorted(files.items()):
        path = name.replace("__", "/").replace("_dot_", ".") + ".resx"
        made.add_file(path, segmented(text, path).segments)
    return made


TEXTS = dictionary(
    app__Orders=resx(Title="Orders", Empty="", Only="neutral").replace("</root>", f"{ICON}</root>"),
    app__Orders_dot_de=resx(Title="Aufträge"),
)

LOOKUPS = [
    ("neutral", "Orders", "Title", "", "Orders", None),
    ("culture", "Orders", "Title", "de", "Aufträge", None),
    ("qualified-class", "Acme.app.Orders", "Title", "", "Orders", None),
    ("parent-culture", "Orders", "Title", "de-AT", "Aufträge", "RESX.missing-culture"),
    ("neutral-instead", "Orders", "Only", "de", "neutral", "RESX.missing-culture"),
    ("empty-text-is-a-text", "Orders", "Empty", "", "", None),
    ("missing-key", "Orders", "Nothing", "", "Nothing", "RESX.missing-key"),
    ("key-in-another-case", "Orders", "title", "", "title", "RESX.missing-key"),
    ("unknown-class", "Bills", "Title", "", "Title", "RESX.unknown-class"),
    ("not-a-text", "Orders", "Icon", "", "Icon", "RESX.not-text"),
]


@pytest.mark.parametrize(
    ("resource_class", "key", "culture", "text", "warning"),
    [row[1:] for row in LOOKUPS],
    ids=[row[0] for row in LOOKUPS],
)
def test_a_key_always_has_a_text(resource_class: str, key: str, culture: str, text: str, warning: str | None) -> None:
    """Domain reference §4: a missing key yields the key and a warning."""
    found = TEXTS.resolve(resource_class, key, culture)
    assert found.successful
    assert found.value == text
    assert [message.code for message in found.warnings] == ([warning] if warning else [])


TWO = dictionary(
    src__Billing__Texts=resx(Title="Bill", Same="x"), src__Shipping__Texts=resx(Title="Parcel", Same="x", Extra="e")
)
NEAREST = [
    ("same-folder", "Texts", "src/Billing/A.cs", "Bill", None),
    ("below", "Texts", "src/Shipping/Labels/Deep/A.cs", "Parcel", None),
    ("namespace-says-it", "Acme.Shipping.Texts", "src/Billing/A.cs", "Parcel", None),
    ("equally-near", "Texts", "src/Other/A.cs", "Bill", "RESX.ambiguous"),
    ("from-nowhere", "Texts", "", "Bill", "RESX.ambiguous"),
]


@pytest.mark.parametrize(
    ("resource_class", "near", "text", "warning"), [row[1:] for row in NEAREST], ids=[row[0] for row in NEAREST]
)
def test_of_classes_with_one_name_the_nearest_is_meant(
    resource_class: str, near: str, text: str, warning: str | None
) -> None:
    found = TWO.resolve(resource_class, "Title", near=near)
    assert found.value == text
    assert [message.code for message in found.warnings] == ([warning] if warning else [])


def test_equal_texts_are_not_ambiguous_and_collisions_are_reported() -> None:
    assert TWO.resolve("Texts", "Same").warnings == ()
    assert TWO.resolve("Texts", "Extra").value == "e"
    assert [(c.key, c.kept, c.refused, c.path) for c in TWO.collisions] == [
        ("Title", "Bill", "Parcel", "src/Shipping/Texts.resx")
    ]


def test_families_cultures_and_keys() -> None:
    assert family_of("app/Orders.de.resx") == family_of("app/Orders.resx") == "app/Orders"
    assert TEXTS.cultures_of("app/Orders") == ("", "de")
    assert TEXTS.keys_of("app/Orders", "de") == {"Title"}
    assert TEXTS.keys_of("app/Orders") == {"Title", "Empty", "Only"}
    assert TEXTS.keys_of("nowhere") == frozenset()


# usages

USED = dictionary(
    app__Texts=resx(**{"Title": "t", "Long name": "l", "2nd": "2"}), lib__Other=resx(Title="o", Alone="a")
)

USAGES = [
    ("member", "var t = Texts.Title;", [("app/Texts", "Title", 1)]),
    ("qualified", "x(Acme.Resources.Texts.Title)", [("app/Texts", "Title", 1)]),
    ("names-class", "[F(Label: Texts.Names.Title)]", [("app/Texts", "Title", 1)]),
    ("nameof", "\n\nnameof(Texts.Title)", [("app/Texts", "Title", 3)]),
    ("spread-over-lines", "Texts\n  .Names\n  .Title", [("app/Texts", "Title", 1)]),
    ("identifier-of-a-key", "Texts.Long_name + Texts._2nd", [("app/Texts", "2nd", 1), ("app/Texts", "Long name", 1)]),
    ("several", "Texts.Title; Other.Alone;", [("app/Texts", "Title", 1), ("lib/Other", "Alone", 1)]),
    ("same-line-counts-once", "Texts.Title + Texts.Title", [("app/Texts", "Title", 1)]),
    ("longer-name", "MyTexts.Title; Texts2.Title; Texts.Titles;", []),
    ("comment", '// Texts.Title\n/// <see cref="Texts.Title"/>\n * Texts.Title', []),
    ("localizer", 'L(_localizer["Alone"])', [("lib/Other", "Alone", 1)]),
    ("get-string", 'manager.GetString("Alone")', [("lib/Other", "Alone", 1)]),
    ("ambiguous-string", 'localizer["Title"]', []),
    ("typed-localizer", 'IStringLocalizer<Texts> l; Localizer["Title"]', [("app/Texts", "Title", 1)]),
    ("resource-manager", 'Other.ResourceManager.GetString("Title")', [("lib/Other", "Title", 1)]),
    ("unknown-string", 'localizer["Nothing"]', []),
    ("nothing", "", []),
]


@pytest.mark.parametrize(("text", "found"), [row[1:] for row in USAGES], ids=[row[0] for row in USAGES])
def test_usages_of_keys(text: str, found: list[tuple[str, str, int]]) -> None:
    usages = UsageScanner(USED).scan("src/A.cs", text)
    assert [(usage.family, usage.key, usage.line) for usage in usages] == found


def test_usages_are_merged_in_any_order_and_can_be_sent() -> None:
    usages = [ResourceUse("f", "K", "b.cs", 2), ResourceUse("f", "K", "a.cs", 10), ResourceUse("f", "K", "a.cs", 9)]
    one, other = ResourceUsages(usages), ResourceUsages()
    for usage in reversed(usages):
        other.merge([usage])
    assert one.of("f", "K") == pickle.loads(pickle.dumps(other)).of("f", "K") == ("a.cs:9", "a.cs:10", "b.cs:2")
    assert (len(one), one.of("f", "Nothing")) == (3, ())


def test_usages_mean_the_nearest_class() -> None:
    found = usages_of([("src/Billing/A.cs", "Texts.Title"), ("src/Else/A.cs", "Texts.Title")], TWO)
    assert found.of("src/Billing/Texts", "Title") == ("src/Billing/A.cs:1",)
    assert found.of("src/Shipping/Texts", "Title") == (), "equally near: no telling"


SPLIT = dictionary(
    src__Other__Bills=resx(Shared="o", Near="n").replace("</root>", f"{ICON}</root>"),
    src__Resources__Bills=resx(Shared="r", Far="f", Icon="text"),
)


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("src/Other/A.cs", "Bills.Far", [("src/Resources/Bills", "Far")]),
        ("src/Other/A.cs", "Bills.Shared", [("src/Other/Bills", "Shared")]),
        ("src/Pages/A.cs", "Bills.Far + Bills.Near", [("src/Other/Bills", "Near"), ("src/Resources/Bills", "Far")]),
        ("src/Pages/A.cs", "Bills.Shared", []),
        ("src/Other/A.cs", "Bills.Icon", []),
        ("src/Other/A.cs", 'Bills.ResourceManager.GetString("Far")', [("src/Resources/Bills", "Far")]),
        ("src/Other/A.cs", 'IStringLocalizer<Bills> l; l = localizer["Shared"];', [("src/Other/Bills", "Shared")]),
    ],
    ids=["only-far", "both: nearest", "one-each", "no-telling", "nearest-is-no-text", "manager", "localizer"],
)
def test_usages_are_bound_by_key(path: str, text: str, found: list[tuple[str, str]]) -> None:
    """A family that lacks the key is not meant, however near it is."""
    assert [(usage.family, usage.key) for usage in UsageScanner(SPLIT).scan(path, text)] == found


def test_the_lookup_finds_what_the_usages_are_bound_to() -> None:
    assert SPLIT.resolve("Bills", "Far", near="src/Other/A.cs").value == "f"
    assert SPLIT.resolve("Bills", "Shared", near="src/Other/A.cs").value == "o"
    assert SPLIT.resolve("Bills", "None", near="src/Other/A.cs").warnings[0].code == "RESX.missing-key"
    assert SPLIT.resolve("Bills", "Icon", near="src/Other/A.cs").warnings[0].code == "RESX.not-text"


# descriptions


def described(files: dict[str, str], path: str) -> ResourceFileDescription:
    found = label_of(files).first(path)
    assert isinstance(found, ResourceFileDescription)
    return found


FILES = {
    "app/Orders.resx": resx(Title="Orders", Only="neutral").replace("</root>", f"{ICON}</root>"),
    "app/Orders.de.resx": resx(Title="Aufträge"),
    "app/Page.cs": "class Page { string T => Orders.Title; }",
}


@pytest.mark.rule("A19")
def test_the_facts_of_a_resource_file() -> None:
    found = described(FILES, "app/Orders.resx")
    assert (found.resource_class, found.culture, found.cultures, found.missing) == ("Orders", "", ("de",), ())
    assert [(e.key, e.value, e.is_text, e.usages) for e in found.entries] == [
        ("Title", "Orders", True, ("app/Page.cs:1",)),
        ("Only", "neutral", True, ()),
        ("Icon", "", False, ()),
    ]
    assert found.subtype_flavor == "Neutral"
    german = described(FILES, "app/Orders.de.resx")
    assert (german.culture, german.cultures, german.subtype_flavor) == ("de", ("",), "Localized")
    assert german.missing == ("Only",)
    assert [entry.culture for entry in german.entries] == ["de"]


@pytest.mark.rule("A22", "A24")
def test_sections_and_snippets_in_full() -> None:
    overview, entries = described(FILES, "app/Orders.de.resx").use_window(window()).build_summary_sections()
    assert (overview.section_key, entries.section_key) == ("resource-file-overview", "resource-file-entries")
    assert overview.finder_snippet.splitlines() == [
        "Domain: General",
        "",
        "Kind: ResourceFile",
        "",
        "Artifact: app/Orders.de.resx",
        "Culture: de",
        "",
        "Purpose: Texts of Orders in de: 1 entry.",
        "Members: Title",
    ]
    assert entries.finder_snippet.splitlines()[-1] == "Title = Aufträge"
    assert entries.names == ("Title",)
    assert "- `Title = Aufträge`\n  Used in `app/Page.cs:1`" in entries.backing_artifact
    assert "- Missing keys: `Only`" in overview.backing_artifact


def test_what_is_no_text_is_named_and_not_read() -> None:
    overview, entries = described(FILES, "app/Orders.resx").use_window(window()).build_summary_sections()
    assert "- Not texts: `Icon`" in overview.backing_artifact
    assert "icon.png" not in entries.finder_snippet


@pytest.mark.rule("R18", "R19")
def test_five_thousand_entries_are_split_between_entries() -> None:
    text = resx(**{f"Key{number:04}": f"The text of entry {number}" for number in range(5_000)})
    found = described({"a/Big.resx": text}, "a/Big.resx").use_window(window())
    overview, *parts = found.build_summary_sections()
    assert {part.section_key for part in parts} == {"resource-file-entries"}
    assert [part.part_index for part in parts] == list(range(1, len(parts) + 1))
    assert all(part.part_total == len(parts) for part in parts)
    names = [name for part in parts for name in part.names]
    assert names == [f"Key{number:04}" for number in range(5_000)]
    assert all((part.snippet_tokens or 0) <= 256 for part in [overview, *parts])


@pytest.mark.rule("A11")
def test_it_survives_storage() -> None:
    found = described(FILES, "app/Orders.resx")
    again = msgspec.json.decode(msgspec.json.encode(found), type=SummaryFacts.type_named(type(found).__name__))
    assert again == found


def test_many_usages_are_listed_up_to_a_limit() -> None:
    code = "\n".join("x(Orders.Title);" for _ in range(SHOWN_USAGES + 5))
    found = described({**FILES, "app/Page.cs": code}, "app/Orders.resx")
    assert len(found.entries[0].usages) == SHOWN_USAGES + 5
    entries = found.use_window(window()).build_summary_sections()[1]
    assert f"`app/Page.cs:{SHOWN_USAGES}` and 5 more" in entries.backing_artifact


BAD = [
    ("broken-xml", '<root><data name="A"><value>x</value><data name="B"><value>y</value></data>', ["A", "B"]),
    ("no-entries", "<root></root>", []),
    ("not-xml", "hello", []),
    ("no-name", "<root><data><value>x</value></data></root>", [""]),
]


@pytest.mark.rule("A13")
@pytest.mark.parametrize(("text", "keys"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_files_are_described_as_far_as_they_go(text: str, keys: list[str]) -> None:
    found = described({"a/Bad.resx": text}, "a/Bad.resx")
    assert [entry.key for entry in found.entries] == keys
    assert found.use_window(window()).build_summary_sections()


def test_a_key_twice_is_a_warning() -> None:
    text = resx(A="1").replace("</root>", '<data name="A"><value>2</value></data></root>')
    made = label_of({"a/Twice.resx": text})
    assert [message.code for message in made.messages] == ["RESX.repeated-key"]
    assert made.resources.text("Twice", "A") == "1"


@pytest.mark.parametrize("entry", expected()["resources"], ids=lambda entry: f"{entry['class']}-{entry['culture']}")
def test_the_shop_has_the_promised_resources(entry: dict[str, object]) -> None:
    """EXPECTED.yaml."""
    files = [one for found in shop().descriptions.values() for one in found if isinstance(one, ResourceFileDescription)]
    (found,) = [one for one in files if (one.resource_class, one.culture) == (entry["class"], entry["culture"])]
    assert len(found.entries) == entry["keys"]
    by_key = {one.key: one for one in found.entries}
    for key, text in dict(entry["text"]).items():  # type: ignore[call-overload]
        assert by_key[key].value == text
    for key, comment in dict(entry.get("comment", {})).items():  # type: ignore[call-overload]
        assert by_key[key].comment == comment
    assert list(found.missing) == entry.get("missing", [])


@pytest.mark.parametrize("entry", expected()["resource_usages"], ids=lambda entry: entry["key"])
def test_the_shop_has_the_promised_usages(entry: dict[str, Any]) -> None:
    files = [one for found in shop().descriptions.values() for one in found if isinstance(one, ResourceFileDescription)]
    found = [one for one in files if one.resource_class == entry["class"] and not one.culture]
    (used,) = [one.usages for one in found[0].entries if one.key == entry["key"]]
    assert [place.rpartition(":")[0] for place in used] == entry["used_in"]
