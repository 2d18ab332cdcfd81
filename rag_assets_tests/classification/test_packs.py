"""Rule packs as data: selection, extension, configured kinds, and clear refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets.classification.classifier import CLASSIFIER_VERSION, Classifier
from rag_assets.classification.rule_packs import PackError, PatternError, built_in_packs, merged_packs, parse_pack
from rag_assets.contracts.kinds import SubtypeKind
from rag_assets_tests.classification.samples import classified

RULE = "{name: r, order: 1, kind: Model, reason: because, any: [{name_matches: [X]}]}"


def pack_file(folder: Path, name: str, body: str) -> str:
    """Writes a pack; `body` are its lines after name and description."""
    path = folder / f"{name}.yaml"
    path.write_text(f"name: {name}\ndescription: for a test\n{body}", encoding="utf-8")
    return str(path)


def test_a_pack_of_the_user_extends_and_replaces(tmp_path: Path) -> None:
    """`extends` brings the rules of the parent; a rule of the same name replaces it, an earlier order goes first."""
    own = pack_file(
        tmp_path,
        "acme",
        """extends: [generic]
rules:
  - {name: acme-view, order: 15, kind: SummaryListModel, reason: ours, any: [{base_matches: [AcmeList]}]}
  - {name: client-name, order: 181, kind: ProxyServices, reason: ours, any: [{name_matches: ["*Client"]}]}
""",
    )
    classifier = Classifier((own,))
    assert (
        classified("class Orders : AcmeList { [Fact] void M() {} }", classifier=classifier).kind == "SummaryListModel"
    )
    replaced = classified("class PayClient { void M() {} }", classifier=classifier)
    assert (replaced.kind, replaced.pack) == (SubtypeKind.PROXY_SERVICES, "acme")
    assert classified("enum E { A }", classifier=classifier).pack == "generic"


def test_later_packs_win_at_equal_order(tmp_path: Path) -> None:
    rule = "rules: [{{name: {0}, order: 1, kind: {1}, reason: x, any: [{{name_matches: [Thing]}}]}}]\n"
    first = pack_file(tmp_path, "first", rule.format("a", "Client"))
    second = pack_file(tmp_path, "second", rule.format("b", "Handler"))
    text = "class Thing { void M() {} }"
    assert classified(text, classifier=Classifier((first, second))).kind is SubtypeKind.HANDLER
    assert classified(text, classifier=Classifier((second, first))).kind is SubtypeKind.CLIENT


def test_unless_makes_an_exception(tmp_path: Path) -> None:
    own = pack_file(
        tmp_path,
        "own",
        "rules: [{name: r, order: 1, kind: Model, reason: x,"
        ' any: [{only_data_members: true, unless: {name_matches: ["*Request"], declaration_in: [class]}}]}]\n',
    )
    classifier = Classifier((own,))
    data = "{ public int Id { get; set; } }"
    assert classified(f"class Pay {data}", classifier=classifier).kind is SubtypeKind.MODEL
    assert classified(f"class PayRequest {data}", classifier=classifier).kind is SubtypeKind.OTHER
    assert classified(f"struct PayRequest {data}", classifier=classifier).kind is SubtypeKind.MODEL


def test_all_tests_of_a_condition_must_hold(tmp_path: Path) -> None:
    own = pack_file(
        tmp_path,
        "own",
        "rules: [{name: r, order: 1, kind: Client, reason: x, any: [{name_matches: [A], namespace_matches: [N],"
        " path_matches: [src/], attribute_matches: [K], static_with_this_parameters: false}]}]\n",
    )
    classifier = Classifier((own,))
    text = "namespace N; [K] class A { void M() {} }"
    found = classified(text, "src/a.cs", classifier)
    assert found.kind is SubtypeKind.CLIENT
    assert found.evidence == ("name: A", "attribute: K", "namespace: N", "path: src/a.cs", "no extension methods")
    assert classified(text, "lib/a.cs", classifier).kind is SubtypeKind.OTHER
    assert classified(text.replace("[K]", ""), "src/a.cs", classifier).kind is SubtypeKind.OTHER


def test_configured_kinds_are_stronger_than_every_rule() -> None:
    """Domain reference §1: a file-level override in the configuration wins; of several globs the first."""
    kinds = {"src/legacy/**": SubtypeKind.MANAGER, "src/**": SubtypeKind.CLIENT}
    classifier = Classifier(kinds=kinds)
    text = "class OrderTests { [Fact] void M() {} }"
    found = classified(text, "src/legacy/A.cs", classifier)
    assert (found.kind, found.pack, found.evidence) == (
        SubtypeKind.MANAGER,
        "configuration",
        ("path glob: src/legacy/**",),
    )
    assert classified(text, "src/A.cs", classifier).kind is SubtypeKind.CLIENT
    assert classified(text, "lib/A.cs", classifier).kind is SubtypeKind.TEST


def test_a_bad_glob_of_the_configuration_is_refused() -> None:
    with pytest.raises(PatternError, match="path glob"):
        Classifier(kinds={"/": SubtypeKind.MODEL})


def test_the_version_covers_the_packs() -> None:
    assert "generic" in built_in_packs()
    assert CLASSIFIER_VERSION.count(".") == 1
    assert CLASSIFIER_VERSION.split(".")[1]


def test_the_fingerprint_changes_with_rules_and_configured_kinds(tmp_path: Path) -> None:
    """A cache key made of it never serves a decision of other rules."""
    own = pack_file(tmp_path, "own", f"extends: [generic]\nrules: [{RULE}]\n")
    fingerprints = [
        Classifier().fingerprint,
        Classifier(kinds={"a/": SubtypeKind.MODEL}).fingerprint,
        Classifier(kinds={"b/": SubtypeKind.MODEL}).fingerprint,
        Classifier((own,)).fingerprint,
    ]
    assert len(set(fingerprints)) == len(fingerprints)
    assert Classifier().fingerprint == fingerprints[0]


HEAD = "name: a\ndescription: b\n"


def with_rule(old: str = "", new: str = "") -> str:
    return f"{HEAD}rules: [{RULE.replace(old, new) if old else RULE}]"


BAD = [
    ("not-yaml", "name: [", "not valid YAML"),
    (
        "key-written-twice",
        f"{HEAD}name: c\nrules: [{RULE}]",
        ":3: 'name' is written twice, first in line 1",
    ),
    ("rules-no-list", f"{HEAD}rules: x", "rules: must be a list, found text"),
    ("not-a-mapping", "- a", "acme.yaml:1: expected a mapping at the top, found a list"),
    ("no-rules", HEAD, "rules: is missing"),
    ("unknown-top-key", f"{HEAD}extend: [x]\nrules: [{RULE}]", "did you mean 'extends'?"),
    ("unknown-rule-key", with_rule("reason:", "reson:"), "did you mean 'reason'?"),
    (
        "unknown-condition-key",
        with_rule("name_matches", "name_match"),
        "acme.yaml:3: rule 'r': unknown key 'rules.0.any.0.name_match'; did you mean 'name_matches'?",
    ),
    (
        "no-kind-name",
        with_rule("Model", "my-model"),
        "acme.yaml:3: rule 'r': rules.0.kind: 'my-model' cannot name a kind",
    ),
    ("two-stars", with_rule("[X]", "['*X*']"), "at most one '*'"),
    ("empty-list", with_rule("[X]", "[]"), "at least 1 item"),
    ("no-test", with_rule("name_matches: [X]", ""), "at least one test"),
    ("bad-expression", with_rule("name_matches: [X]", "head_matches: '('"), "not a regular expression"),
    ("bad-glob", with_rule("name_matches: [X]", "path_matches: ['/']"), "path glob '/'"),
    ("unknown-source-type", with_rule("name_matches: [X]", "source_type_in: [codes]"), "source_type_in"),
    ("same-rule-twice", f"{HEAD}rules: [{RULE}, {RULE}]", "rule names used twice: r"),
]


@pytest.mark.parametrize(("text", "message"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_packs_are_refused_with_place_and_reason(text: str, message: str) -> None:
    with pytest.raises(PackError) as refused:
        parse_pack(text, "acme.yaml")
    assert "acme.yaml" in str(refused.value)
    assert message in str(refused.value)


def test_unknown_packs_name_the_nearest() -> None:
    with pytest.raises(PackError, match="did you mean 'generic'"):
        Classifier(("generc",))


def test_a_missing_pack_file_is_named() -> None:
    with pytest.raises(PackError, match=r"nowhere\.yaml"):
        Classifier(("nowhere.yaml",))


def test_no_pack_at_all_is_refused() -> None:
    with pytest.raises(PackError, match="no rule pack selected"):
        merged_packs(())


def test_packs_must_not_extend_in_a_circle(tmp_path: Path) -> None:
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    pack_file(tmp_path, "one", f"extends: ['{two.as_posix()}']\nrules: [{RULE}]\n")
    pack_file(tmp_path, "two", f"extends: ['{one.as_posix()}']\nrules: [{RULE}]\n")
    with pytest.raises(PackError, match="one → two → one"):
        merged_packs((one.as_posix(),))


def test_two_packs_of_one_name_are_refused(tmp_path: Path) -> None:
    own = pack_file(tmp_path, "generic", f"rules: [{RULE}]\n")
    with pytest.raises(PackError, match="two different rule packs are named 'generic'"):
        Classifier(("generic", own))


NEW_KIND = "{name: w, order: 5, kind: Workflow, reason: ours, any: [{base_matches: [WorkflowBase]}]}"


@pytest.mark.rule("A44")
def test_a_pack_declares_kinds_of_its_own(tmp_path: Path) -> None:
    """What a rule and a configured path may name is what is built in or declared by a selected pack."""
    own = pack_file(tmp_path, "acme", f"extends: [generic]\nkinds: [Workflow]\nrules: [{NEW_KIND}]\n")
    classifier = Classifier((own,), kinds={"flows/**": "Workflow"})
    by_rule = classified("class Pay : WorkflowBase { void M() {} }", classifier=classifier)
    assert (by_rule.kind, by_rule.rule, by_rule.pack) == ("Workflow", "w", "acme")
    assert classified("class A { void M() {} }", "flows/a.cs", classifier).kind == "Workflow"
    assert classified("enum E { A }", classifier=classifier).kind is SubtypeKind.ENUM


UNDECLARED = [
    ("near", "Modell", "did you mean Model?"),
    ("case", "MODEL", "did you mean Model?"),
    ("far", "Workflow", "declared under `kinds:` of a rule pack"),
]


@pytest.mark.parametrize(("kind", "message"), [row[1:] for row in UNDECLARED], ids=[row[0] for row in UNDECLARED])
def test_a_kind_that_nobody_declares_is_refused(tmp_path: Path, kind: str, message: str) -> None:
    own = pack_file(tmp_path, "acme", f"rules: [{RULE.replace('Model', kind)}]\n")
    with pytest.raises(PackError, match=rf"rule pack acme: rule 'r': unknown kind '{kind}'") as by_rule:
        Classifier((own,))
    with pytest.raises(PackError, match=rf"kinds: 'src/\*\*': unknown kind '{kind}'") as configured:
        Classifier(kinds={"src/**": kind})
    assert message in str(by_rule.value)
    assert message in str(configured.value)
