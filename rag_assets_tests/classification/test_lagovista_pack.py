"""The `lagovista` rule pack: every [L] rule of the domain reference §1, at its order, on shapes of real code."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rag_assets.classification.classifier import Classifier, FileFacts
from rag_assets.classification.rule_packs import built_in_packs
from rag_assets.contracts.kinds import SubtypeKind
from rag_assets_tests.classification.samples import classified, segments_of

LAGOVISTA = Classifier(("generic", "lagovista"))

ENTITY = "[EntityDescription(AIDomain.AIAdmin, R.Names.T, R.Names.H, R.Names.D, EntityTypes.SimpleModel, typeof(R))]"
BEHAVIOUR = "{ public string Name { get; set; } public int Count() => 1; }"
DESCRIPTION = (
    "[DomainDescription(AIAdmin)] public static DomainDescription A { get { return new DomainDescription(); } }"
)

RULES = [
    ("domain-descriptor", f"[DomainDescriptor] public class AIDomain {{ {DESCRIPTION} }}", "DomainDescription"),
    ("domain-description-on-a-member", f"public class AIDomain {{ {DESCRIPTION} }}", "DomainDescription"),
    ("qualified-attribute", "[Core.Attributes.DomainDescriptorAttribute] class D { }", "DomainDescription"),
    (
        "summary",
        f"{ENTITY} public class AgentSummary : SummaryData {{ public int N {{ get; set; }} }}",
        "SummaryListModel",
    ),
    ("summary-with-behaviour", f"public class AgentSummary : SummaryData {BEHAVIOUR}", "SummaryListModel"),
    ("controller", f"[Authorize] public class AgentController : LagoVistaBaseController {BEHAVIOUR}", "Controller"),
    ("manager", f"public class AgentManager : ManagerBase, IAgentManager {BEHAVIOUR}", "Manager"),
    ("manager-by-base-alone", f"public class Agents : ManagerBase {BEHAVIOUR}", "Manager"),
    ("document-db", f"public class Agents : DocumentDBRepoBase<Agent>, IAgentRepo {BEHAVIOUR}", "Repository"),
    ("document-db-alone", f"class Agents : DocumentDBRepoBase<Agent> {BEHAVIOUR}", "Repository"),
    ("table-storage", f"class Logs : TableStorageBase<LogEntry> {BEHAVIOUR}", "Repository"),
    ("cloud-files", f"internal class Media : CloudFileStorage {BEHAVIOUR}", "Repository"),
    ("entity-description", f"{ENTITY} public class Agent : IValidateable {BEHAVIOUR}", "Model"),
    ("entity-base", f"public class Agent : EntityBase, IFormDescriptor {BEHAVIOUR}", "Model"),
]


@pytest.mark.rule("A09")
@pytest.mark.parametrize(("text", "kind"), [row[1:] for row in RULES], ids=[row[0] for row in RULES])
def test_each_rule_decides_with_evidence(text: str, kind: str) -> None:
    found = classified(f"namespace LagoVista.AI {{ {text} }}", classifier=LAGOVISTA)
    assert found.kind == kind
    assert found.evidence


ORDER = [
    ("a-test-stays-a-test", "[TestClass] public class AgentTests : ManagerBase { }", "Test"),
    ("an-attribute-class", "public class DomainDescriptorAttribute : Attribute { }", "CodeAttribute"),
    ("an-interface", "[EntityDescription(D.A)] public interface IAgent : EntityBase { }", "Interface"),
    ("an-exception", "public class AgentException : Exception { }", "Exception"),
    ("a-summary-before-a-model", f"{ENTITY} class AgentSummary : SummaryData {BEHAVIOUR}", "SummaryListModel"),
    ("a-manager-before-a-model", f"{ENTITY} class Agents : ManagerBase {BEHAVIOUR}", "Manager"),
]


@pytest.mark.parametrize(("text", "kind"), [row[1:] for row in ORDER], ids=[row[0] for row in ORDER])
def test_the_rules_keep_the_order_of_the_domain_reference(text: str, kind: str) -> None:
    assert classified(text, classifier=LAGOVISTA).kind == kind


def test_the_pack_is_chosen_and_not_the_default() -> None:
    assert "lagovista" in built_in_packs()
    text = f"class Agents : DocumentDBRepoBase<Agent> {BEHAVIOUR}"
    assert classified(text).kind is SubtypeKind.OTHER
    alone = classified(text, classifier=Classifier(("lagovista",)))
    assert (alone.kind, alone.pack, alone.rule) == ("Repository", "lagovista", "lagovista-repository")


def test_what_only_sounds_alike_is_left_to_the_generic_pack() -> None:
    for text in ("class A : ManagerBaseline { void M() {} }", "[EntityDescriptions] class B { void M() {} }"):
        assert classified(text, classifier=LAGOVISTA).kind is SubtypeKind.OTHER


def test_the_example_shop_has_the_promised_kinds() -> None:
    """EXPECTED.yaml: `kind_lagovista`, or `kind` where the two packs agree."""
    root = Path(__file__).parents[2] / "examples" / "shop"
    expected = yaml.safe_load((root / "EXPECTED.yaml").read_text(encoding="utf-8"))
    checked = 0
    for entry in expected["files"]:
        if "BackOffice" not in entry["path"] or not entry["path"].endswith(".cs") or "symbols" not in entry:
            continue
        text = (root / entry["path"]).read_text(encoding="utf-8")
        segments = {segment.symbol: segment for segment in segments_of(text, entry["path"])}
        for wanted in entry["symbols"]:
            kind = wanted.get("kind_lagovista", wanted.get("kind"))
            segment = segments[wanted["symbol"]]
            found = LAGOVISTA.classify(segment, FileFacts(entry["path"], "csharp", text))
            assert found.kind == kind, wanted["symbol"]
            checked += 1
    assert checked >= 15
