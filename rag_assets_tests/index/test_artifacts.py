"""Backing artifacts on a real index: from a URI to the recorded text, and clear words where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rag_assets import Index, open_index
from rag_assets.contracts.identity import content_hash
from rag_assets.index.artifacts import ArtifactError, ArtifactStore
from rag_assets.index.generation_files import list_files
from rag_assets.index.generations import active_generation, read_generation
from rag_assets.index.parquet_parts import read_rows, write_part
from rag_assets.pipeline.schemas import POINTS
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.pipeline.conftest import Built, built, lexical

ORDER = """\
namespace Shop;

/// <summary>An order — with “quotes” and 🛒.</summary>
public class Order
{
    public int Id { get; set; }

    public void Cancel() { }
}
"""
FILES: dict[str, str | bytes] = {
    "src/Order.cs": ORDER,
    "src/Same.cs": "namespace Shop;\npublic enum Same { A }\n",
    "docs/guide #1?.md": "# Guide\n\nHow to order.\n",
    "src/Old.Designer.cs": "namespace Shop;\npublic class Old { }\n",
}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Built:
    base = tmp_path_factory.mktemp("artifacts")
    source = Repository.new(base / "source", FILES)
    return built(source, lexical(base / "home"))


@pytest.fixture(scope="module")
def index(indexed: Built) -> Iterator[Index]:
    with open_index(indexed.label, home=indexed.build.home.root) as opened:
        yield opened


def payloads(made: Built) -> list[dict[str, Any]]:
    rows = (row for bucket in made.build.buckets for row in read_rows(made.build.directory, "qdrant_points", bucket))
    return [msgspec.json.decode(row["payload"]) for row in rows]


@pytest.mark.rule("C01", "C03", "C04", "C06", "C07", "C12")
def test_every_address_leads_to_the_recorded_text(indexed: Built, index: Index) -> None:
    """URI → text → hash, for every point; the slice is the range of the document."""
    found = payloads(indexed)
    assert {payload["Path"] for payload in found} == {"src/Order.cs", "src/Same.cs", "docs/guide #1?.md"}
    for payload in found:
        document = index.resolve(payload["FullDocumentBlobUri"])
        assert document == FILES[payload["Path"]]
        assert content_hash(document) == payload["BlobVersionId"]
        part = index.source_slice(payload["SourceSliceBlobUri"])
        assert content_hash(part) == payload["SourceSha256"]
        assert part == document[payload.get("CharStart", 0) : payload["CharEnd"]]
        assert part.strip()
        assert index.description(payload["DescriptionBlobUri"]).strip()


@pytest.mark.rule("C03")
def test_addresses_stay_and_texts_are_stored_once_over_generations(indexed: Built, tmp_path: Path) -> None:
    """Another commit changes one file: the other documents are the same blobs under the same URIs."""
    source = Repository.new(tmp_path / "source", FILES)
    first = built(source, lexical(tmp_path / "home"))
    before = sorted(path.name for path in first.build.home.blobs.rglob("*") if path.is_file())
    source.commit({"src/Order.cs": ORDER.replace("Cancel", "Refund")})
    second = first.again()
    after = sorted(path.name for path in first.build.home.blobs.rglob("*") if path.is_file())
    assert len(set(after) - set(before)) == 1
    documents = [{p["Path"]: p["FullDocumentBlobUri"] for p in payloads(made)} for made in (first, second)]
    assert documents[0] == documents[1]
    old = ArtifactStore(
        first.build.home, read_generation(first.build.home, first.label, first.build.spec.generation_id)
    )
    new = ArtifactStore(first.build.home, active_generation(first.build.home, first.label))
    assert "Cancel" in old.resolve(documents[0]["src/Order.cs"]), "a generation goes on reading its own text"
    assert "Refund" in new.resolve(documents[0]["src/Order.cs"])


@pytest.mark.rule("C04", "C11")
@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("rag://shop@main/src/Gone.cs", "moved or deleted"),
        ("rag://shop@main/src/Gone.cs#slice.shop.gone.other-overview.1", "moved or deleted"),
        ("rag://shop@main/src/Old.Designer.cs", "skipped as generated; see: rag-assets explain"),
        ("rag://shop@main/src/Order.cs#slice.shop.renamed.other-overview.1", "has no such part"),
        ("rag://shop@main/src/Order.cs#description.shop.renamed.other-overview.1", "has no such part"),
        ("rag://shop@main/src/Order.cs#nonsense", "has no such part"),
        ("rag://shop@other/src/Order.cs", "belongs to label shop@other, not shop@main"),
        ("rag://shop@main/../../etc/passwd", "moved or deleted"),
        ("file:///etc/passwd", "not a rag:// URI"),
        ("rag://", "not a rag:// URI"),
        ("", "not a rag:// URI"),
    ],
    ids=[
        "document",
        "slice",
        "skipped",
        "renamed slice",
        "renamed description",
        "nonsense",
        "other label",
        "traversal",
        "scheme",
        "bare",
        "empty",
    ],
)
def test_what_does_not_resolve_says_why(index: Index, uri: str, says: str) -> None:
    with pytest.raises(ArtifactError, match=says):
        index.resolve(uri)


@pytest.mark.rule("B02", "R17")
@pytest.mark.parametrize("field", ["OrgId", "ProjectId"])
def test_a_point_of_another_tenant_is_refused(tmp_path: Path, field: str) -> None:
    """However it came into the tables: the generation belongs to one tenant."""
    source = Repository.new(tmp_path / "source", {"src/Order.cs": ORDER})
    made = built(source, lexical(tmp_path / "home"))
    rows = read_rows(made.build.directory, "qdrant_points", 0)
    for row in rows:
        row["payload"] = msgspec.json.encode(msgspec.json.decode(row["payload"]) | {field: "somebody-else"})
    write_part(made.build.directory, "qdrant_points", 0, POINTS, {n: [row[n] for row in rows] for n in POINTS.names})
    list_files(made.build.directory, again=("qdrant_points/",))
    with open_index(made.label, home=made.build.home.root) as opened:
        for uri in (rows[0]["slice_uri"], rows[0]["description_uri"]):
            with pytest.raises(ArtifactError, match="another tenant or project"):
                opened.resolve(uri)


@pytest.mark.rule("C03")
def test_a_damaged_document_is_never_handed_out(tmp_path: Path) -> None:
    source = Repository.new(tmp_path / "source", {"src/Order.cs": ORDER})
    made = built(source, lexical(tmp_path / "home"))
    (payload, *_) = payloads(made)
    path = next(path for path in made.build.home.blobs.rglob(payload["BlobVersionId"]))
    path.write_bytes(path.read_bytes().replace(b"Cancel", b"Charge"))
    with open_index(made.label, home=made.build.home.root) as opened:
        with pytest.raises(ArtifactError, match="damaged on disk"):
            opened.resolve(payload["SourceSliceBlobUri"])
        with pytest.raises(ArtifactError, match="rag-assets index --force"):
            opened.resolve(payload["FullDocumentBlobUri"])


@pytest.mark.rule("C13")
def test_the_old_snippet_uri_is_nowhere(indexed: Built) -> None:
    """Neither in a payload nor in a file of the generation."""
    assert all("SnippetBlobUri" not in payload for payload in payloads(indexed))
    files = [path for path in indexed.build.directory.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if b"SnippetBlobUri" in path.read_bytes()] == []
    assert "snippet_blob_uri" not in " ".join(POINTS.names)


def test_a_generation_that_was_deleted_meanwhile_says_so(tmp_path: Path) -> None:
    source = Repository.new(tmp_path / "source", FILES)
    made = built(source, lexical(tmp_path / "home"))
    uri = payloads(made)[0]["SourceSliceBlobUri"]
    with open_index(made.label, home=made.build.home.root) as opened:
        made.build.directory.rename(tmp_path / "gone")
        with pytest.raises(ArtifactError, match="has been deleted since it was opened"):
            opened.resolve(uri)
