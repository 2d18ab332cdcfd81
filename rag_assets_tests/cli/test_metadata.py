"""What points carry about their documents: content type, domain, audience and more, from front matter and from the
configuration file; stored, searched and ranked (IDX-025 §2.1, §3.2, §3.6; F05, F06)."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from rag_assets import open_index
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets_tests.cli.conftest import CommandLine, new_repository
from rag_assets_tests.cli.test_chunks import stored

PROSE = "The clerk checks the seal of every parcel before it is weighed and sent to the customer. "
CONTENT_TYPES = {
    "api/openapi.yaml": ("openapi: 3.0.3\ninfo:\n  title: Shop\n", "ApiContract"),
    "api/swagger.json": ('{\n  "swagger": "2.0",\n  "paths": {}\n}\n', "ApiContract"),
    "api/small.json": ('{"openapi": "3.1.0"}\n', "ApiContract"),
    "api/shop.proto": ('syntax = "proto3";\nmessage Order { int32 id = 1; }\n', "ApiContract"),
    "api/shop.graphql": ("type Order {\n  id: ID!\n}\n", "ApiContract"),
    "api/orders.graphql": ("query Orders {\n  orders { id }\n}\n", "SourceCode"),
    "api/shop.wsdl": ('<definitions xmlns="http://schemas.xmlsoap.org/wsdl/"></definitions>\n', "ApiContract"),
    "schema/order.json": (
        '{\n  "$schema": "https://json-schema.org/draft/2020-12/schema",\n  "type": "object"\n}\n',
        "Schema",
    ),
    "schema/tables.sql": ("CREATE TABLE dbo.Orders (Id int NOT NULL);\n", "Schema"),
    "deploy/main.tf": ('resource "aws_s3_bucket" "a" {\n  bucket = "b"\n}\n', "Infrastructure"),
    "deploy/main.bicep": ("param location string = 'westeurope'\n", "Infrastructure"),
    "deploy/azuredeploy.json": (
        '{\n  "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",\n'
        '  "resources": []\n}\n',
        "Infrastructure",
    ),
    "Dockerfile": ("FROM scratch\nCOPY a /a\n", "Infrastructure"),
    "docker-compose.override.yml": ("services:\n  web:\n    image: web\n", "Infrastructure"),
    "deploy/web.yaml": ("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n", "Infrastructure"),
    ".github/workflows/ci.yml": ("on: push\njobs:\n  test:\n    runs-on: ubuntu\n", "Infrastructure"),
    "azure-pipelines.yml": ("trigger: [main]\npool: {vmImage: ubuntu}\n", "Infrastructure"),
    "src/appsettings.json": ('{\n  "Logging": {"LogLevel": {"Default": "Warning"}}\n}\n', "Configuration"),
    "docs/policies/refunds.md": (f"# Refunds\n\n{PROSE * 3}\n", "Policy"),
    "SECURITY.md": (f"# Security Policy\n\n{PROSE}\n", "Policy"),
    "ops/runbooks/database.md": ("# Database\n\n- restart it\n- wait\n", "Procedure"),
    "ops/restore-procedure.md": ("# Restore\n\n1. stop\n2. start\n", "Procedure"),
    "ops/incident_playbook.md": ("# Incident\n\n- call\n", "Procedure"),
    "docs/guide.md": ("# Using it\n\n- install\n- run\n", "DomainDocument"),
    "docs/how-refunds-work.md": (f"# How refunds work\n\n{PROSE * 6}\n", "DomainDocument"),
    "docs/codes.md": ("# Codes\n\n| code | text |\n|---|---|\n| 1 | lost |\n| 2 | late |\n", "Reference"),
    "docs/said.md": ("---\ncontent_type: Procedure\n---\n\n# Codes\n\n- one\n", "Procedure"),
    "notes/anything.md": (f"# Notes\n\n{PROSE * 6}\n", "Spec"),
    "src/Order.cs": ("namespace Shop;\n\npublic class Order { public int Id { get; set; } }\n", "SourceCode"),
}
GERMAN = (
    "# Rückgabe\n\nDie Rückgabe einer Bestellung ist innerhalb von dreißig Tagen möglich. Danach wird nichts "
    "erstattet, auch wenn die Ware noch verpackt ist und der Beleg vorliegt.\n"
)
MATTER = """\
---
business_domain_key: billing
Business Domain Area: refunds
audience: Ops
persona: [CSROperator, BackendEngineer]
stage: Runbook
priority: 1
language: fr
tags: [Month End, ddr]
label-ids: [42, 6f9619ff-8b86-d011-b42d-00cf4fc964ff]
---

# Closing the month

The clerk closes the month.
"""


def configured(base: Path, repository: Path, more: str = "") -> CommandLine:
    text = f"embedder: {{provider: lexical-only}}\nrepositories:\n  - id: library\n    location: {repository}\n{more}"
    (base / "rag_assets.yaml").write_text(text, encoding="utf-8")
    return CommandLine(IndexHome(base / "home"), base)


@pytest.mark.rule("F05", "B01")
def test_content_types_say_what_a_file_is_for_and_a_glob_overrides_them(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "library", {path: text for path, (text, _) in CONTENT_TYPES.items()})
    cli = configured(tmp_path, repository.path, "    metadata: [{paths: [notes/], content_type: spec}]\n")
    cli.build()
    points = stored(tmp_path / "home")
    found = {path: {payload["ContentType"] for payload in payloads} for path, payloads in points.items()}
    assert found == {path: {wanted} for path, (_, wanted) in CONTENT_TYPES.items()}
    assert {payload["ContentTypeId"] for payload in points["notes/anything.md"]} == {10}
    hits = cli.run("search", "content_type:policy", "--json", "--full").json["hits"]
    assert {hit["path"] for hit in hits} == {"docs/policies/refunds.md", "SECURITY.md"}
    assert cli.run("validate").code == 0


@pytest.mark.rule("F05")
def test_an_unknown_content_type_is_refused_with_the_place(tmp_path: Path) -> None:
    cli = configured(tmp_path, tmp_path, "    metadata: [{paths: [a/], content_type: Ukase}]\n")
    done = cli.run("index")
    assert done.code == 1 and "unknown content type 'Ukase'" in done.err and "rag_assets.yaml:5" in done.err


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Shared by the tests, which only read it."""
    base = tmp_path_factory.mktemp("library")
    files: dict[str, str | bytes] = {
        "docs/month.md": MATTER,
        "docs/broken.md": "---\npriority: highest\naudience: {a: b}\nlanguage: no tag\ntags: [!!]\n---\n\n# Broken\n",
        "ops/alarm.md": "# Alarm\n\nThe clerk rings the bell.\n",
        "ops/bell.md": "---\naudience: Everybody\n---\n# Bell\n\nThe clerk oils the bell.\n",
        "docs/de.md": GERMAN,
        "src/Order.cs": "namespace Shop;\n\npublic class Order { public int Id { get; set; } }\n",
    }
    repository = new_repository(base / "library", files)
    repository.git("remote", "add", "origin", "git@ssh.dev.azure.com:v3/acme/shop/library")
    rules = """\
    metadata:
      - {paths: [ops/], audience: Ops, stage: Incident, business_domain_key: alerts, label_slugs: [bell]}
      - {paths: [ops/, "*.cs"], audience: Developer, priority: 2, business_domain_area: plant, label_ids: ["7"]}
"""
    cli = configured(base, repository.path, rules)
    cli.build()
    return cli


def first(cli: CommandLine, path: str) -> dict[str, Any]:
    payload: dict[str, Any] = stored(cli.home.root)[path][0]
    return payload


@pytest.mark.rule("F06", "B03", "B08", "B12")
def test_front_matter_fills_the_payload(library: CommandLine) -> None:
    found = first(library, "docs/month.md")
    assert {name: found[name] for name in MATTER_PAYLOAD} == MATTER_PAYLOAD
    assert found["SourceSystem"] == "AzureDevOps"
    broken = first(library, "docs/broken.md")
    assert not broken.keys() & {"Audience", "LabelSlugs", "BusinessDomainKey"}
    assert (broken["Priority"], broken["Language"]) == (3, "en-US")


MATTER_PAYLOAD = {
    "BusinessDomainKey": "billing",
    "BusinessDomainArea": "refunds",
    "Audience": "Ops",
    "Persona": "CSROperator, BackendEngineer",
    "Stage": "Runbook",
    "Priority": 1,
    "Language": "fr",
    "LabelSlugs": ["month-end", "ddr"],
    "LabelIds": ["42", "6f9619ff-8b86-d011-b42d-00cf4fc964ff"],
}


@pytest.mark.rule("F06", "B08")
def test_the_configuration_fills_what_front_matter_does_not_say(library: CommandLine) -> None:
    alarm, bell, code = (first(library, path) for path in ("ops/alarm.md", "ops/bell.md", "src/Order.cs"))
    assert (alarm["Audience"], bell["Audience"], code["Audience"]) == ("Ops", "Everybody", "Developer")
    assert (alarm["Stage"], bell["Stage"], code.get("Stage")) == ("Incident", "Incident", None)
    assert (alarm["Priority"], code["Priority"]) == (2, 2)
    assert (alarm["BusinessDomainKey"], alarm["BusinessDomainArea"]) == ("alerts", "plant")
    assert (alarm["LabelSlugs"], alarm["LabelIds"]) == (["bell"], ["7"])


@pytest.mark.rule("F06")
@pytest.mark.skipif(importlib.util.find_spec("py3langid") is None, reason="rag-assets[documents] is not installed")
def test_the_language_of_a_document_is_detected_where_nothing_says_it(library: CommandLine) -> None:
    assert [first(library, path)["Language"] for path in ("docs/de.md", "ops/alarm.md", "src/Order.cs")] == [
        "de",
        "en-US",
        "en-US",
    ]


@pytest.mark.rule("F06")
@pytest.mark.parametrize(
    ("query", "option", "field", "paths"),
    [
        ("domain:Billing", "--domain", "domains", {"docs/month.md"}),
        ("area:plant", "--area", "areas", {"ops/alarm.md", "ops/bell.md", "src/Order.cs"}),
        ("audience:ops", "--audience", "audiences", {"docs/month.md", "ops/alarm.md"}),
        ('persona:"csroperator, backendengineer"', "--persona", "personas", {"docs/month.md"}),
        ("stage:incident", "--stage", "stages", {"ops/alarm.md", "ops/bell.md"}),
        ("tag:month-end", "--tag", "tags", {"docs/month.md"}),
        ("tag:7", "--tag", "tags", {"ops/alarm.md", "ops/bell.md", "src/Order.cs"}),
        ("written_in:fr", "--written-in", "written_in", {"docs/month.md"}),
        ("content_type:SourceCode", "--content-type", "content_types", {"src/Order.cs"}),
    ],
)
def test_they_are_filters_of_the_query_of_the_command_and_of_the_api(
    library: CommandLine, query: str, option: str, field: str, paths: set[str]
) -> None:
    value = query.partition(":")[2].strip('"')
    typed = library.run("search", query, "--json", "--full").json
    assert {hit["path"] for hit in typed["hits"]} == paths
    chosen = library.run("search", "clerk order", option, value, "--json", "--full").json
    assert {hit["path"] for hit in chosen["hits"]} == paths
    with open_index("library@main", home=library.home.root) as index:
        assert {hit.path for hit in index.search("clerk order", filters=SearchFilters(**{field: (value,)}))} == paths


@pytest.mark.rule("F06")
@pytest.mark.parametrize(("system", "found"), [("azuredevops", True), ("GitHub", False)])
def test_the_host_of_a_repository_is_a_filter(library: CommandLine, system: str, found: bool) -> None:
    for words in (("clerk order", "--source-system", system), (f"clerk order source_system:{system}",)):
        done = library.run("search", *words, "--json", "--full")
        assert ("src/Order.cs" in {hit["path"] for hit in done.json["hits"]}) is found
        assert done.code == (0 if found else 4)


@pytest.mark.rule("F06", "R17")
@pytest.mark.parametrize("narrowed", ["audience:Ops", "domain:billing", "-audience:Developer"])
def test_an_answer_has_nothing_that_a_filter_leaves_out(library: CommandLine, narrowed: str) -> None:
    plain, told = (
        {piece["place"].partition(":")[0] for piece in library.run("ask", asked, "--json").json["evidence"]}
        for asked in ("clerk of `Order`", f"clerk of `Order` {narrowed}")
    )
    assert "src/Order.cs" in plain and told and "src/Order.cs" not in told


@pytest.mark.rule("F06")
def test_a_value_that_nothing_has_is_answered_with_those_that_there_are(library: CommandLine) -> None:
    done = library.run("search", "audience:nobody")
    assert done.code == 4 and "no section has audience nobody; there are: Developer, Everybody, Ops" in done.err


@pytest.mark.rule("F06", "B08")
@pytest.mark.parametrize(("priorities", "order"), [((3, 3), "ab"), ((3, 1), "ba"), ((5, 3), "ba"), ((1, 3), "ab")])
def test_the_priority_of_a_file_weighs_in_the_ranking(tmp_path: Path, priorities: tuple[int, int], order: str) -> None:
    """With the usual one for both, the score decides, and it is as without any."""
    files: dict[str, str | bytes] = {
        "a.md": "# Parcels\n\nThe clerk weighs every parcel and checks the seal.\n",
        "b.md": "# Parcels\n\nThe clerk weighs every parcel and checks the seal, then the customer signs for it.\n",
        "c.md": "# Bells\n\nNothing else.\n",
    }
    repository = new_repository(tmp_path / "library", files)
    rules = "".join(f"      - {{paths: [{n}.md], priority: {p}}}\n" for n, p in zip("ab", priorities, strict=True))
    cli = configured(tmp_path, repository.path, f"    metadata:\n{rules}")
    cli.build()
    found = cli.run("search", "parcel seal", "--explain", "--json", "--full").json["hits"]
    assert "".join(hit["path"][0] for hit in found) == order
    assert {hit["path"]: hit["scores"].get("priority", 1.0) for hit in found} == {
        f"{name}.md": {1: 1.25, 3: 1.0, 5: 0.75}[priority] for name, priority in zip("ab", priorities, strict=True)
    }


@pytest.mark.rule("F06", "B03", "B16")
def test_without_its_required_business_domain_a_point_is_an_error(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "library", {"docs/month.md": MATTER, "docs/de.md": GERMAN})
    cli = configured(tmp_path, repository.path, "    require_business_domain: true\n")
    done = cli.run("index")
    assert done.code == 1
    assert (
        "docs/de.md" in done.err
        and "BusinessDomainKey is empty; the repository has require_business_domain" in done.err
    )
    configured(tmp_path, repository.path)
    cli.build()
    assert cli.run("search", "Rückgabe").code == 0
