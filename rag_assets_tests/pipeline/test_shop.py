"""The whole path over the example shop, held against its EXPECTED.yaml."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from rag_assets.contracts.identity import document_uri
from rag_assets.contracts.payload import RagVectorPayload
from rag_assets.index.artifacts import ArtifactStore
from rag_assets.index.generations import active_generation
from rag_assets.index.parquet_parts import read_rows
from rag_assets.pipeline.checks.generation_checks import CHECKS
from rag_assets_tests.pipeline.conftest import EXPECTED, Built

FILES = {entry["path"]: entry for entry in EXPECTED["files"]}
INDEXED = [path for path, entry in FILES.items() if entry["outcome"] == "indexed"]


def rows(shop: Built, table: str) -> list[dict[str, Any]]:
    return [row for bucket in shop.build.buckets for row in read_rows(shop.build.directory, table, bucket)]


def payloads(shop: Built) -> list[RagVectorPayload]:
    found = rows(shop, "qdrant_points")
    return [RagVectorPayload.from_dictionary(msgspec.json.decode(row["payload"])) for row in found]


def test_every_file_has_the_promised_outcome(shop: Built) -> None:
    found = {row["path"]: (row["outcome"], row["reason"] or None) for row in rows(shop, "discovered_files")}
    assert found == {path: (entry["outcome"], entry.get("reason")) for path, entry in FILES.items()}


@pytest.mark.rule("A04", "A09")
@pytest.mark.parametrize("path", [path for path in INDEXED if "symbols" in FILES[path]])
def test_segments_and_kinds(shop: Built, path: str) -> None:
    """A04–A09: the promised symbols, in text order, each with its kind and the evidence for it."""
    described = {row["ordinal"]: row for row in rows(shop, "descriptions") if row["path"] == path}
    segments = [row for row in rows(shop, "segments") if row["path"] == path]
    found = [(row["symbol"], row["symbol_type"], described[row["ordinal"]]["kind"]) for row in segments]
    for wanted in FILES[path]["symbols"]:
        matching = [
            (symbol, declaration, kind)
            for symbol, declaration, kind in found
            if symbol == wanted.get("symbol", symbol)
            and (
                "name" not in wanted
                or symbol.split(".")[-1].split("/")[-1] == wanted["name"]
                or wanted["name"] in symbol
            )
            and declaration.startswith(wanted.get("declaration", declaration))
            and kind == wanted.get("kind", kind)
        ]
        assert matching, f"{wanted} is not among {found}"
    if FILES[path].get("language") == "csharp":
        assert len(found) == len(FILES[path]["symbols"]), "a C# file has exactly the promised symbols"
    assert all(row["reason"] for row in described.values())


def test_every_indexed_file_has_a_point(shop: Built) -> None:
    assert {payload.path for payload in payloads(shop)} == set(INDEXED)


def test_secrets_are_in_no_table_and_no_blob(shop: Built) -> None:
    stored = "\n".join(path.read_text(encoding="utf-8") for path in shop.build.home.blobs.rglob("*") if path.is_file())
    stored += "\n".join(payload.finder_snippet for payload in payloads(shop))
    stored += "".join(row["section"].decode() for row in rows(shop, "summary_sections"))
    secrets = [secret for entry in EXPECTED["secrets"] for secret in entry["must_mask"]]
    assert secrets
    assert [secret for secret in secrets if secret in stored] == []
    survivors = [text for entry in EXPECTED["secrets"] for text in entry.get("must_survive", [])]
    assert [text for text in survivors if text not in stored] == []


@pytest.mark.rule("C04", "C06", "C07")
def test_c04_every_slice_resolves_to_its_recorded_text(shop: Built) -> None:
    store = ArtifactStore(shop.build.home, active_generation(shop.build.home, shop.label))
    for payload in payloads(shop):
        document = store.resolve(payload.full_document_blob_uri)
        piece = store.resolve(payload.source_slice_blob_uri)
        assert piece == document[payload.char_start or 0 : payload.char_end]
        assert piece.strip() in document
        assert store.resolve(payload.description_blob_uri).strip(), "C07: a description is never empty"


def test_the_spans_of_a_segment_cover_it(shop: Built) -> None:
    """What no section covers could never be found by its text."""
    store = ArtifactStore(shop.build.home, active_generation(shop.build.home, shop.label))
    covered: dict[str, set[int]] = {}
    for row in rows(shop, "summary_sections"):
        covered.setdefault(row["path"], set()).update(range(row["line_start"], row["line_end"] + 1))
    for row in rows(shop, "segments"):
        lines = store.resolve(document_uri(shop.label, row["path"])).splitlines()
        wanted = {n for n in range(row["line_start"], row["line_end"] + 1) if lines[n - 1].strip()}
        missing = sorted(wanted - covered[row["path"]])
        assert not missing, f"{row['path']} {row['symbol']}: lines {missing[:5]} are in no section"


@pytest.mark.rule("A30", "A31", "A32", "B02", "B07", "B13", "C10", "R5", "R7")
def test_points_carry_the_contract(shop: Built) -> None:
    """A30–A34, B02, B07, B10, B12, B13, C02, C10, R5–R7."""
    for payload in payloads(shop):
        assert (payload.org_id, payload.project_id, payload.repo_id) == ("fernhill", "storefront", "shop")
        assert payload.title == (
            f"{payload.symbol_type}: {payload.symbol} - {payload.section_key} "
            f"(Chunk {payload.part_index} of {payload.part_total})"
        )
        assert (
            payload.semantic_id
            == (
                f"fernhill:storefront:shop:{payload.symbol_type}:{payload.symbol}:{payload.section_key}:{payload.part_index}"
            ).lower()
        )
        assert "::" not in payload.semantic_id
        assert payload.commit_sha == shop.build.spec.git.commit_sha
        assert payload.line_start == payload.start_line and payload.line_end == payload.end_line
        assert payload.finder_snippet and payload.kind and payload.graph_node_keys
        assert payload.embedding_model == "lexical-only"
        assert 1 <= payload.part_index <= payload.part_total


@pytest.mark.parametrize("name", CHECKS)
def test_all_checks_hold(shop: Built, name: str) -> None:
    result = CHECKS[name][2](shop.build)
    assert result.passed, (result.numbers, result.examples)
