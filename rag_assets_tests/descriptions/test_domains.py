"""The domain catalog of a label (domain reference §4) and the descriptions of `[DomainDescriptor]` classes."""

from __future__ import annotations

import pickle
from itertools import permutations

import msgspec
import pytest

from rag_assets.contracts.description import SummaryFacts
from rag_assets.descriptions.domain_catalog import Cluster, ConfiguredDomainCatalog, Domain, DomainCollector
from rag_assets.descriptions.kinds.domain_description import DomainDescriptorDescription
from rag_assets_tests.descriptions.label import Label, label_of, shop
from rag_assets_tests.descriptions.samples import segmented
from rag_assets_tests.sections.windows import window

DESCRIPTOR = """\
using LagoVista.Core.Attributes;
namespace LagoVista.AI.Models
{
    [DomainDescriptor]
    public class AIDomain
    {
        public const string AIAdmin = "AI Admin";
        public const string Training = "Training";

        [DomainDescription(AIAdmin)]
        public static DomainDescription AIAdminDescription
        {
            get
            {
                return new DomainDescription()
                {
                    Description = "Models, agents, and their conversations. " + "Everything else is elsewhere.",
                    DomainType = DomainDescription.DomainTypes.BusinessObject,
                    Name = "AI Administration",
                    CurrentVersion = new Core.Models.VersionInfo() { Major = 4, ReleaseNotes = "Initial { preview" },
                    Clusters = new List<Cluster>() {
                        new Cluster() { Key = "agent", Name = "Agents", Description = "Runtime and configuration" },
                        new Cluster() { Key = "rag", Name = "RAG" }
                    }
                };
            }
        }

        [DomainDescription(AIDomain.Training)]
        public static DomainDescription TrainingDescription => new() { Name = "Training", Description = "Data sets." };
    }
}
"""
MODEL = """\
using LagoVista.AI.Models;
namespace LagoVista.AI.{0};
[EntityDescription({1}, R.Names.T, EntityTypes.SimpleModel, typeof(R))]
public class {2} : EntityBase {{ public string Name {{ get; set; }} }}
"""


def label(**files: str) -> Label:
    return label_of({f"src/{name}.cs": text for name, text in {"AIDomain": DESCRIPTOR, **files}.items()})


def model(argument: str, name: str = "Agent", namespace: str = "Models") -> str:
    return MODEL.format(namespace, argument, name)


def test_domains_are_read_from_their_initializers() -> None:
    collector = DomainCollector()
    collector.add("src/AIDomain.cs", segmented(DESCRIPTOR).segments, lambda: DESCRIPTOR)
    found = collector.declared().domains
    assert [(domain.key, domain.title) for domain in found] == [
        ("AI Admin", "AI Administration"),
        ("Training", "Training"),
    ]
    assert found[0].tagline == "Models, agents, and their conversations."
    assert found[0].description == "Models, agents, and their conversations. Everything else is elsewhere."
    assert found[0].clusters == (Cluster("agent", "Agents", "Runtime and configuration"), Cluster("rag", "RAG"))
    assert found[0].declared_at == "src/AIDomain.cs:10"


CLAIMS = [
    ("constant", "AIDomain.AIAdmin", "AI Admin"),
    ("qualified-constant", "LagoVista.AI.Models.AIDomain.Training", "Training"),
    ("named-argument", "Domain: AIDomain.AIAdmin", "AI Admin"),
    ("literal", '"Training"', "Training"),
    ("unknown-constant", "OtherDomain.Key", ""),
    ("literal-without-domain", '"Nowhere"', ""),
    ("key-in-another-case", '"training"', ""),
    ("no-name", "1 + 1", ""),
]


@pytest.mark.parametrize(("argument", "key"), [row[1:] for row in CLAIMS], ids=[row[0] for row in CLAIMS])
def test_the_domain_of_a_model_is_what_its_description_names(argument: str, key: str) -> None:
    """[L] by exact key only; a constant is followed to its value."""
    assert label(Agent=model(argument)).first("src/Agent.cs").domain_key == key


def test_what_cannot_be_resolved_is_reported() -> None:
    found = label(Agent=model("OtherDomain.Key")).catalog.problems
    assert [problem.code for problem in found] == ["DOMAIN.unknown"]
    assert "LagoVista.AI.Models.Agent" in found[0].text
    assert "OtherDomain.Key" in found[0].text


def test_classes_of_a_domain_are_the_models_that_name_it() -> None:
    made = label(Agent=model("AIDomain.AIAdmin"), Tool=model("AIDomain.AIAdmin", "Tool", "Tools"))
    domain = made.catalog.domain("AI Admin")
    assert domain is not None
    assert domain.classes == ("LagoVista.AI.Models.Agent", "LagoVista.AI.Tools.Tool")


OTHER = """\
namespace {0};
[DomainDescriptor]
public class AIDomain
{{
    public const string AIAdmin = "{1}";
    [DomainDescription(AIAdmin)] public static DomainDescription D => new DomainDescription {{ Name = "{2}" }};
}}
"""


def test_one_key_with_two_titles_is_a_collision() -> None:
    """Domain reference §4: reported, not merged silently."""
    made = label(Other=OTHER.format("Else", "AI Admin", "Something else"))
    assert made.catalog.title("AI Admin") in ("AI Administration", "Something else")
    (problem,) = made.catalog.problems
    assert problem.code == "DOMAIN.collision"
    assert "'AI Administration'" in problem.text
    assert "'Something else'" in problem.text
    assert "src/Other.cs:6" in problem.text


def test_of_two_classes_with_one_name_the_visible_one_is_meant() -> None:
    other = OTHER.format("Else", "Elsewhere", "Elsewhere")
    made = label(
        Other=other, Agent=model("AIDomain.AIAdmin"), B=model("AIDomain.AIAdmin", "B").replace("AI.Models", "X")
    )
    assert made.first("src/Agent.cs").domain_key == "AI Admin"
    made = label_of(
        {
            "a.cs": DESCRIPTOR,
            "b.cs": other,
            "c.cs": "using Else; namespace Far { [EntityDescription(AIDomain.AIAdmin)] class M { public int A; } }",
            "d.cs": "namespace Far { [EntityDescription(AIDomain.AIAdmin)] class N { public int A; } }",
        }
    )
    assert made.first("c.cs").domain_key == "Elsewhere"
    assert made.first("d.cs").domain_key == "", "there is no telling which is meant"


def test_configured_domains_win_over_declared_ones() -> None:
    configured = Domain("AI Admin", "Our own", namespaces=("LagoVista.*",))
    survey = DomainCollector()
    survey.add("a.cs", segmented(DESCRIPTOR).segments, DESCRIPTOR.__str__)
    catalog = ConfiguredDomainCatalog([configured], survey.declared())
    assert (catalog.title("AI Admin"), catalog.title("Training")) == ("Our own", "Training")
    assert [problem.code for problem in catalog.problems] == ["DOMAIN.collision"]
    agreed = ConfiguredDomainCatalog([Domain("Training", "Training", paths=("x/**",))], survey.declared())
    assert agreed.problems == ()
    assert agreed.tagline("Training") == "Data sets."
    assert agreed.domain_of("x/a.cs", "") == "Training"


def test_a_survey_does_not_depend_on_order_and_can_be_sent() -> None:
    """A07: buckets are surveyed apart and merged."""
    files = {"a.cs": DESCRIPTOR, "b.cs": OTHER.format("Else", "AI Admin", "Other"), "c.cs": model("AIDomain.AIAdmin")}
    results = set()
    for order in permutations(files):
        whole = DomainCollector()
        for path in order:
            part = DomainCollector()
            part.add(path, segmented(files[path]).segments, files[path].__str__)
            whole.merge(pickle.loads(pickle.dumps(part.facts())))
        declared = whole.declared()
        results.add((declared.domains, declared.problems))
    assert len(results) == 1


def test_texts_are_read_of_descriptor_classes_only() -> None:
    def unread() -> str:
        raise AssertionError("the text was asked for")

    DomainCollector().add("a.cs", segmented(model("AIDomain.AIAdmin")).segments, unread)


# the description


def descriptor(text: str = DESCRIPTOR, **files: str) -> DomainDescriptorDescription:
    found = label_of({"src/AIDomain.cs": text, **{f"src/{n}.cs": t for n, t in files.items()}}).first("src/AIDomain.cs")
    assert isinstance(found, DomainDescriptorDescription)
    return found


@pytest.mark.rule("A19", "A22")
def test_the_facts_and_sections_of_a_descriptor_class() -> None:
    found = descriptor(Agent=model("AIDomain.AIAdmin"))
    assert found.kind == "DomainDescription"
    assert [domain.key for domain in found.domains] == ["AI Admin", "Training"]
    sections = found.use_window(window()).build_summary_sections()
    assert [section.section_key for section in sections] == [
        "domain-description-overview",
        "domain-description-clusters",
        "domain-description-classes",
        "domain-description-members",
    ]
    assert "Agents (agent) — Runtime and configuration\nRAG (rag)" in sections[1].finder_snippet
    assert sections[2].graph_node_keys == ("csharp:LagoVista.AI.Models.Agent|TYPE",)
    assert "`Models, agents, and their conversations. Everything else is elsewhere.`" in sections[0].backing_artifact


def test_the_snippet_in_full() -> None:
    found = descriptor(OTHER.format("Acme", "acme-ai", "Acme AI"))
    (section,) = found.use_window(window()).build_summary_sections()
    assert section.finder_snippet.splitlines() == [
        "Domain: Acme AI",
        "",
        "Kind: DomainDescription",
        "",
        "Artifact: Acme.AIDomain",
        "DomainKeys: acme-ai",
        "DomainTitles: Acme AI",
        "",
        "Purpose: ai domain class",
        'const string AIAdmin = "acme-ai"',
        "DomainDescription D { get; }",
    ]


@pytest.mark.rule("A11")
def test_it_survives_storage() -> None:
    found = descriptor(Agent=model("AIDomain.AIAdmin"))
    again = msgspec.json.decode(msgspec.json.encode(found), type=SummaryFacts.type_named(type(found).__name__))
    assert again == found


PROPERTY = "static DomainDescription P"
BROKEN = [
    ("no-initializer", f"[DomainDescriptor] class D {{ [DomainDescription(K)] {PROPERTY} {{ get; }} }}"),
    ("no-property", "[DomainDescriptor] class D { }"),
    ("unknown-key", f'[DomainDescriptor] class D {{ [DomainDescription(X.Y)] {PROPERTY} => new() {{ Name = "n" }}; }}'),
    ("open-end", f'[DomainDescriptor] class D {{ [DomainDescription("k")] {PROPERTY} => new() {{ Name = "'),
]


@pytest.mark.rule("A13")
@pytest.mark.parametrize("text", [row[1] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_broken_descriptors_are_described_as_far_as_they_go(text: str) -> None:
    made = label_of({"src/D.cs": text})
    assert made.first("src/D.cs").use_window(window()).build_summary_sections()


def test_a_key_that_is_not_known_is_a_warning_of_the_builder() -> None:
    made = label_of({"src/D.cs": BROKEN[2][1]})
    assert [message.code for message in made.messages] == ["DOMAIN.unknown-key"]
    assert "src/D.cs:1" in made.messages[0].text


def test_the_shop_has_the_promised_domain() -> None:
    """EXPECTED.yaml: the descriptor class lies in the configured domain, the supplier in the one it names."""
    found = shop().first("src/Fernhill.Shop.BackOffice/BackOfficeDomain.cs")
    assert found.domain_key == "purchasing"
    suppliers = {one.symbol: one.domain_key for one in shop().descriptions["src/Fernhill.Shop.BackOffice/Suppliers.cs"]}
    assert suppliers["Fernhill.Shop.BackOffice.Supplier"] == "Purchasing"
    assert suppliers["Fernhill.Shop.BackOffice.SupplierContact"] == "purchasing"
    domain = shop().catalog.domain("Purchasing")
    assert domain is not None
    assert domain.classes == ("Fernhill.Shop.BackOffice.Supplier",)
