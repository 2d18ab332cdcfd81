"""From points to evidence: by identity, within the scope, and only what is still what was indexed (D21, E21)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rag_assets import Index, open_index
from rag_assets.answer.context_pack import FetchedEvidence, FetchRequest, fetch_evidence
from rag_assets.index.layout import IndexHome

AUDITOR = "src/Catalog/Auditor.cs"
POLICY = "src/Refunds/RefundPolicy.cs"


def points(index: Index, path: str) -> list[str]:
    payloads = index.parts.shard().retrieve(sorted(index.parts.shard().ids(index.scope())), index.scope())
    return sorted(known for known, payload in payloads.items() if payload["Path"] == path)


def gathered(index: Index, *wanted: FetchRequest) -> FetchedEvidence:
    return fetch_evidence(wanted, index.parts, index.manifests, index.scope())


@pytest.mark.rule("D21")
def test_the_text_is_the_slice_of_the_point(shop: Index) -> None:
    (point,) = points(shop, "docs/parcels.md")
    (piece,) = gathered(shop, FetchRequest(point, 0.5)).evidence
    assert piece.text == shop.source_slice(shop.get(point)["SourceSliceBlobUri"])
    assert (piece.path, piece.score, piece.point_ids) == ("docs/parcels.md", 0.5, (point,))
    assert point.startswith(piece.id)


def test_sections_of_one_symbol_that_touch_are_one_piece(shop: Index) -> None:
    wanted = [FetchRequest(point, 1 / rank) for rank, point in enumerate(points(shop, AUDITOR), 1)]
    assert len(wanted) > 1
    (piece,) = gathered(shop, *wanted).evidence
    assert piece.score == 1.0
    assert set(piece.point_ids) == {one.point_id for one in wanted}
    assert all(f"public string Answer{at}(" in piece.text for at in range(80))
    assert piece.line_end - piece.line_start + 1 == len(piece.text.splitlines())


def test_a_point_twice_is_one_piece_with_the_better_score(shop: Index) -> None:
    (point,) = points(shop, "docs/parcels.md")
    (piece,) = gathered(shop, FetchRequest(point, 0.2), FetchRequest(point, 0.9)).evidence
    assert piece.score == 0.9


@pytest.mark.rule("R17", "E12")
def test_a_point_outside_of_the_scope_is_as_good_as_none(shop_home: IndexHome) -> None:
    with open_index("shop@main", home=shop_home.root, clearance="restricted") as index:
        hidden = points(index, "src/Payroll/SalaryTable.cs")
        assert gathered(index, *(FetchRequest(point, 1.0) for point in hidden)).evidence
    with open_index("shop@main", home=shop_home.root) as index:
        assert gathered(index, *(FetchRequest(point, 1.0) for point in hidden)) == FetchedEvidence(())


@pytest.mark.parametrize("point", ["00000000-0000-5000-8000-000000000000"])
def test_a_point_that_is_not_there(shop: Index, point: str) -> None:
    assert gathered(shop, FetchRequest(point, 1.0)).evidence == ()


@pytest.mark.rule("E21")
def test_a_document_that_is_damaged_is_no_evidence(shop_home: IndexHome, tmp_path: Path) -> None:
    home = IndexHome(tmp_path / "home")
    shutil.copytree(shop_home.root, home.root)
    with open_index("shop@main", home=home.root) as index:
        (point,) = points(index, "docs/parcels.md")
        address = index.get(point)["BlobVersionId"]
        path = home.blobs / address[:2] / address
        path.write_text(path.read_text().replace("free", "paid"))
        found = gathered(
            index, FetchRequest(point, 1.0), *(FetchRequest(other, 0.5) for other in points(index, POLICY))
        )
    assert [piece.path for piece in found.evidence] == [POLICY]
    assert found.warnings and "docs/parcels.md is no evidence" in found.warnings[0]
