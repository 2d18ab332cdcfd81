"""Domain catalog and resource dictionary (domain reference §4)."""

from __future__ import annotations

import pytest

from rag_assets.contracts.description import DomainCatalog, ResourceDictionary
from rag_assets.descriptions.domain_catalog import ConfiguredDomainCatalog, Domain
from rag_assets.languages.documents.resx import StaticResourceDictionary, resource_class_of
from rag_assets_tests.descriptions.samples import segmented

CATALOG = ConfiguredDomainCatalog(
    [
        Domain(
            "billing", "Billing", "Who pays what.", paths=("src/Billing/**",), namespaces=("Acme.Billing", "Acme.Pay*")
        ),
        Domain("acme", "Acme", namespaces=("Acme.*",)),
    ]
)

PLACES = [
    ("path", "src/Billing/a.cs", "", "billing"),
    ("path-case", "SRC/billing/a.cs", "", "billing"),
    ("namespace", "x.cs", "Acme.Billing", "billing"),
    ("namespace-spans-dots", "x.cs", "Acme.Payments.Cards", "billing"),
    ("first-listed-wins", "src/Billing/a.cs", "Acme.Orders", "billing"),
    ("second", "x.cs", "Acme.Orders", "acme"),
    ("namespace-is-whole", "x.cs", "Other.Acme.Orders", ""),
    ("none", "x.cs", "", ""),
]


@pytest.mark.parametrize(("path", "namespace", "key"), [row[1:] for row in PLACES], ids=[row[0] for row in PLACES])
def test_the_domain_of_a_place(path: str, namespace: str, key: str) -> None:
    catalog: DomainCatalog = CATALOG
    assert catalog.domain_of(path, namespace) == key


def test_domains_are_found_by_exact_key_only() -> None:
    assert (CATALOG.title("billing"), CATALOG.tagline("billing")) == ("Billing", "Who pays what.")
    assert (CATALOG.title("Billing"), CATALOG.tagline("Billing")) == ("General", "")
    assert (CATALOG.title(""), CATALOG.domain("nope")) == ("General", None)


def test_two_domains_of_one_key_are_refused() -> None:
    with pytest.raises(ValueError, match="domain keys used twice: a"):
        ConfiguredDomainCatalog([Domain("a", "A"), Domain("a", "B")])


RESX = """<?xml version="1.0"?>
<root>
  <data name="Title"><value>{0}</value><comment>of the page</comment></data>
  <data name="Empty"><value></value></data>
</root>
"""


def test_texts_by_class_key_and_culture() -> None:
    made = StaticResourceDictionary()
    made.add_file("r/Orders.resx", segmented(RESX.format("Orders"), "r/Orders.resx").segments)
    made.add_file("r/Orders.de-DE.resx", segmented(RESX.format("Aufträge"), "r/Orders.de-DE.resx").segments)
    resources: ResourceDictionary = made
    assert resources.text("Orders", "Title") == "Orders"
    assert resources.text("Orders", "Title", "de-DE") == "Aufträge"
    assert resources.text("Orders", "Title", "de") is None
    assert resources.text("Orders", "Nothing") is None
    assert resources.text("orders", "Title") is None
    assert resources.text("Orders", "Empty") == ""
    assert made.collisions == []


def test_collisions_are_reported_and_the_first_text_stays() -> None:
    made = StaticResourceDictionary()
    made.add("Orders", "Title", "Orders", path="a/Orders.resx")
    made.add("Orders", "Title", "Orders", path="b/Orders.resx")
    made.add("Orders", "Title", "Bestellungen", path="c/Orders.resx")
    assert made.text("Orders", "Title") == "Orders"
    assert [(found.kept, found.refused, found.path) for found in made.collisions] == [
        ("Orders", "Bestellungen", "c/Orders.resx")
    ]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/Orders.resx", ("Orders", "")),
        ("Orders.de.resx", ("Orders", "de")),
        ("Orders.zh-Hans-CN.resx", ("Orders", "zh-Hans-CN")),
        ("Shop.Orders.resx", ("Shop.Orders", "")),
        ("Orders.es-419.resx", ("Orders", "es-419")),
    ],
)
def test_class_and_culture_of_a_file(path: str, expected: tuple[str, str]) -> None:
    assert resource_class_of(path) == expected
