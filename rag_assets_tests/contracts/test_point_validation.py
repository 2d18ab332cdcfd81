"""Each rule of the stored payload is broken once, and found by its own words."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from rag_assets.contracts.identity import point_id
from rag_assets.contracts.payload import RagVectorPayload, pascal_case
from rag_assets.contracts.point_validation import FIELDS, PointValidator, RawPoint

SHA = "a" * 64
DOCUMENT = "rag://shop@main/src/A.cs"


def point(part: int = 1, total: int = 1, dense: tuple[float, ...] = (1.0, 0.0), **changes: Any) -> RawPoint:
    """A point that keeps every rule, but for `changes`; a value of None takes a field away."""
    payload: dict[str, Any] = {
        "OrgId": "acme",
        "OrgNamespace": "acme",
        "ProjectId": "shop",
        "RepoId": "shop",
        "DocId": "shop/src/A.cs",
        "IndexLabel": "shop@main",
        "SemanticId": f"acme:shop:shop:class:shop.a:overview:{part}",
        "ContentTypeId": 2,
        "ContentType": "SourceCode",
        "SectionKey": "overview",
        "PartIndex": part,
        "PartTotal": total,
        "Title": f"class: Shop.A - overview (Chunk {part} of {total})",
        "Language": "en-US",
        "Priority": 3,
        "Symbol": "Shop.A",
        "SymbolType": "class",
        "IndexVersion": 3,
        "EmbeddingModel": "m",
        "ContentHash": SHA,
        "SourceSha256": SHA,
        "BlobVersionId": SHA,
        "IndexedUtc": "2025-01-01T00:00:00.0000000Z",
        "Repo": "shop",
        "RepoBranch": "main",
        "CommitSha": "c" * 40,
        "Path": "src/A.cs",
        "LineStart": 1,
        "LineEnd": 2,
        "StartLine": 1,
        "EndLine": 2,
        "CharStart": 0,
        "CharEnd": 10,
        "FinderSnippet": "Class: A",
        "ContentLenChars": 8,
        "FullDocumentBlobUri": DOCUMENT,
        "SourceSliceBlobUri": f"{DOCUMENT}#slice.{part}",
        "DescriptionBlobUri": f"{DOCUMENT}#description.{part}",
        "Kind": "Service",
        "Artifact": "Shop.A",
        "Domain": "General",
    } | changes
    payload = {key: value for key, value in payload.items() if value is not None}
    identifier = point_id("acme", "shop", "shop", "shop@main", str(payload.get("SemanticId", "")))
    return RawPoint(identifier, payload, dense, True)


def broken(*points: RawPoint) -> dict[str, list[str]]:
    rules = PointValidator()
    for found in points:
        rules.add(found)
    return {verdict.rule.text: verdict.examples for verdict in rules.verdicts() if verdict.violations}


def test_a_point_of_the_contract_breaks_nothing() -> None:
    assert broken(point(1, 2), point(2, 2)) == {}
    assert broken(point(dense=())) == {}, "a keyword index has no embeddings"


@pytest.mark.rule("B02", "B04", "B07", "B10", "B13", "B17", "B22", "C10", "C12", "C13", "A31", "A32", "R2", "R7", "R29")
@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"OrgId": None}, "every required field"),
        ({"IndexedUtc": None}, "every required field"),
        ({"CommitSha": None}, "repository, branch, commit"),
        ({"CommitSha": "abc"}, "repository, branch, commit"),
        ({"ContentTypeId": 0}, "the content type"),
        ({"ContentType": "Spec"}, "the content type"),
        ({"SemanticId": "acme:shop:shop:class:Shop.A:overview:1"}, "the SemanticId"),
        ({"SemanticId": "acme:shop:shop:class:shop.b:overview:1"}, "the SemanticId"),
        ({"Title": "A"}, "the title"),
        ({"PartIndex": 0}, "parts are counted"),
        ({"Unknown": "x"}, "fields have the names"),
        ({"Priority": "3"}, "fields have the names"),
        ({"LabelSlugs": ["a", 1]}, "fields have the names"),
        ({"Audience": ""}, "nothing that is empty"),
        ({"Speakers": []}, "nothing that is empty"),
        ({"IndexedUtc": "2025-01-01T00:00:00Z"}, "times are written"),
        ({"UpdatedUtc": "2025-13-01T00:00:00.0000000Z"}, "times are written"),
        ({"ContentHash": "ff"}, "hashes"),
        ({"IndexVersion": 0}, "versions and priorities"),
        ({"StartLine": 2}, "lines count from 1"),
        ({"CharEnd": -1}, "lines count from 1"),
        ({"PdfPages": [0]}, "lines count from 1"),
        ({"Language": "english"}, "the language"),
        ({"FinderSnippet": " "}, "the snippet"),
        ({"DescriptionBlobUri": None}, "document, slice and description have"),
        ({"SourceSliceBlobUri": "rag://shop@main/src/B.cs#slice.1"}, "document, slice and description have"),
        ({"SnippetBlobUri": "rag://x"}, "there is no address of a snippet"),
        ({"dense": (0.0, 0.0)}, "there is an embedding"),
        ({"dense": (float("nan"), 1.0)}, "there is an embedding"),
    ],
)
def test_each_rule_is_found_by_its_words(changed: dict[str, Any], rule: str) -> None:
    found = broken(point(**changed))
    assert any(text.startswith(rule) for text in found), found


def test_an_id_of_another_kind_is_found() -> None:
    good = point()
    assert any("UUID or a number" in rule for rule in broken(dataclasses.replace(good, id="src/A.cs")))
    other = dataclasses.replace(good, id="00000000-0000-5000-8000-000000000000")
    assert any("is made of organisation" in rule for rule in broken(other))


def test_what_the_engine_filters_by_must_be_what_the_payload_says() -> None:
    assert broken(dataclasses.replace(point(), filtered={"Path": "src/A.cs"})) == {}
    assert any("filters by" in rule for rule in broken(dataclasses.replace(point(), filtered={"Path": "src/B.cs"})))


@pytest.mark.rule("B04", "A38", "C03", "R19", "R30")
@pytest.mark.parametrize(
    ("points", "rule"),
    [
        ([point(), point()], "each SemanticId"),
        ([point(1, 2), point(2, 2, SourceSliceBlobUri=f"{DOCUMENT}#slice.1")], "no two points"),
        ([point(1, 2), point(2, 2, CommitSha="d" * 40)], "the points of a file"),
        ([point(1, 2)], "every part of every section"),
        ([point(1, 3), point(3, 3)], "every part of every section"),
        ([point(1, 2), point(2, 2, EmbeddingModel="n")], "all embeddings"),
        ([point(1, 2), point(2, 2, dense=(1.0,))], "all embeddings"),
        ([point(1, 2), point(2, 2, ProjectId="other")], "all points are of one"),
    ],
)
def test_rules_over_several_points(points: list[RawPoint], rule: str) -> None:
    found = broken(*points)
    assert any(text.startswith(rule) for text in found), found


def test_the_fields_are_those_of_the_payload() -> None:
    assert FIELDS.keys() == {pascal_case(field.name) for field in dataclasses.fields(RagVectorPayload)}
