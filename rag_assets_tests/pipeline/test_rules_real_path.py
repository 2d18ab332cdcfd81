"""Rules of the three contracts that only the whole path can prove: from a commit to stored points and back."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest

from rag_assets import open_index
from rag_assets.contracts.identity import description_uri, point_id, slice_uri
from rag_assets.contracts.payload import RagVectorPayload
from rag_assets.index.artifacts import ArtifactStore
from rag_assets.index.generations import active_generation
from rag_assets.index.parquet_parts import read_rows
from rag_assets.pipeline.checks.generation_checks import ids_are_unique
from rag_assets.pipeline.descriptions import file_contexts
from rag_assets.pipeline.embeddings import embed_sections
from rag_assets.pipeline.progress import Silent
from rag_assets.pipeline.qdrant_points import build_points
from rag_assets.settings import DomainSettings
from rag_assets_tests.pipeline.conftest import EXPECTED, Built

BuildOf = Callable[..., Built]


def rows(built: Built, table: str) -> list[dict[str, Any]]:
    return [row for bucket in built.build.buckets for row in read_rows(built.build.directory, table, bucket)]


def payloads(built: Built) -> list[RagVectorPayload]:
    return [
        RagVectorPayload.from_dictionary(msgspec.json.decode(row["payload"])) for row in rows(built, "qdrant_points")
    ]


def artifacts(built: Built) -> ArtifactStore:
    return ArtifactStore(built.build.home, active_generation(built.build.home, built.label))


@pytest.mark.rule("A01", "A02", "A03")
def test_every_later_stage_gets_a_file_context(shop: Built) -> None:
    """All of a file that is known later on, in path order; the text comes from the index, not from the checkout."""
    for bucket in shop.build.buckets:
        contexts = file_contexts(shop.build, bucket)
        assert list(contexts) == sorted(contexts)
        for path, context in contexts.items():
            assert context.relative_path == path
            assert context.full_path == f"{shop.source.path}/{path}"
            assert context.contents
            assert context.git == replace(shop.build.spec.git, is_dated=True), "the shop has one commit"
            assert (context.git.branch, context.git.commit_sha) == ("main", shop.source.git("rev-parse", "HEAD"))
            identity = context.identity
            assert (identity.org_id, identity.project_id, identity.repo_id) == ("fernhill", "storefront", "shop")
            assert identity.doc_id == f"shop/{path}"
            assert context.language_hint
            assert context.blob_uri.startswith(f"rag://{shop.label}/")


@pytest.mark.rule("A03")
def test_nothing_is_read_from_the_checkout_once_files_are_discovered(build_of: BuildOf) -> None:
    """The whole source is gone; sections and points are made again all the same."""
    built = build_of({"src/Order.cs": "namespace Shop;\npublic class Order { public int Id { get; set; } }\n"})
    before = payloads(built)
    shutil.rmtree(built.source.path)
    built.build.record_path("qdrant_points").unlink()
    build_points(built.build, Silent())
    assert payloads(built) == before


@pytest.mark.rule("A24", "A37", "A45")
def test_each_description_becomes_sections_and_each_section_a_point(shop: Built) -> None:
    """Detect, describe, sections, points, upload: nothing is lost or added between two stages."""
    described = [(row["path"], row["ordinal"]) for row in rows(shop, "descriptions") if row["outcome"] == "described"]
    sections = rows(shop, "summary_sections")
    assert set(described) == {(row["path"], row["ordinal"]) for row in sections}
    points = rows(shop, "qdrant_points")
    assert len(points) == len(sections) == shop.reports["qdrant_points"].counts["points"]
    keys = [(row["path"], row["symbol"], row["section_key"], row["part_index"]) for row in sections]
    assert sorted(keys) == sorted((p.path, p.symbol, p.section_key, p.part_index) for p in payloads(shop))


@pytest.mark.rule("R15", "A14")
def test_outcomes_are_counted_in_metadata(shop: Built) -> None:
    outcomes = Counter(row["outcome"] for row in rows(shop, "descriptions"))
    counts = shop.reports["descriptions"].counts
    assert counts["descriptions"] == outcomes["described"] > 0
    assert counts["not_applicable"] == outcomes["not-applicable"]
    assert counts["no_builder"] == outcomes["no-builder"]
    assert counts["failed"] == outcomes["failed"]


@pytest.mark.rule("B07", "R19", "C05", "R18")
def test_a_large_class_is_rebuilt_from_its_parts(build_of: BuildOf) -> None:
    """300 methods: parts 1..N per section, each slice within the class and a child of it, every method once."""
    methods = "\n".join(f"    public int Method{number}(int value) => value + {number};" for number in range(300))
    built = build_of({"src/Large.cs": f"namespace Shop;\npublic class Large\n{{\n{methods}\n}}\n"})
    found = payloads(built)
    assert {p.symbol for p in found} == {"Shop.Large"}
    by_section: dict[str, list[RagVectorPayload]] = {}
    for payload in found:
        by_section.setdefault(payload.section_key, []).append(payload)
    for parts in by_section.values():
        ordered = sorted(parts, key=lambda part: part.part_index)
        assert [part.part_index for part in ordered] == list(range(1, len(parts) + 1))
        assert {part.part_total for part in parts} == {len(parts)}
    assert max(len(parts) for parts in by_section.values()) > 1
    store = artifacts(built)
    slices = [store.resolve(p.source_slice_blob_uri) for p in found]
    assert all(f"Method{number}(" in "".join(slices) for number in range(300))
    span = (min(p.line_start or 0 for p in found), max(p.line_end or 0 for p in found))
    assert span == (2, 304)


@pytest.mark.rule("B08", "B09", "B11", "B12", "B23", "C01", "C02", "R6", "R20")
def test_what_every_point_of_the_shop_carries(shop: Built) -> None:
    titles = {domain["key"]: domain["title"] for domain in EXPECTED["repository"]["domains"]}
    domains = set()
    for row in rows(shop, "qdrant_points"):
        written = msgspec.json.decode(row["payload"])
        assert {"Title", "Language", "Priority", "Symbol", "SymbolType"} <= written.keys()
        uris = {"FullDocumentBlobUri", "SourceSliceBlobUri", "DescriptionBlobUri", "BlobVersionId", "SourceSha256"}
        assert uris <= written.keys()
        assert {"IndexVersion", "EmbeddingModel", "ContentHash", "ContentLenChars", "IndexedUtc"} <= written.keys()
        assert {"Subtype", "Kind", "Artifact", "Domain"} <= written.keys()
        assert written["Language"] == "en-US"
        assert written["IndexedUtc"] == shop.build.spec.git.commit_date.replace("Z", ".0000000Z")
        assert written["UpdatedUtc"] == written["IndexedUtc"], "the shop has one commit"
        key = written.get("BusinessDomainKey", "")
        assert written["Domain"] == titles.get(key, "General" if not key else written["Domain"])
        domains.add(key)
    assert domains - {""}, "no point of the shop has a domain"


@pytest.mark.rule("B10", "R7")
def test_lines_and_characters_name_the_same_place(shop: Built) -> None:
    """Lines are 1-based and inclusive, characters 0-based and half-open."""
    store = artifacts(shop)
    for payload in payloads(shop):
        text = store.resolve(payload.full_document_blob_uri)
        start, end = payload.char_start or 0, payload.char_end or 0
        before, inside = text[:start], text[start:end].rstrip("\r\n")
        assert payload.line_start == payload.start_line == before.count("\n") + 1
        assert payload.line_end == payload.end_line == payload.line_start + inside.count("\n")


@pytest.mark.rule("B03", "B15")
@pytest.mark.parametrize(("paths", "said"), [(None, 0), ("src/*", 1)], ids=["no domains", "a domain"])
def test_a_missing_domain_is_counted_where_somebody_uses_domains(
    build_of: BuildOf, paths: str | None, said: int
) -> None:
    """Recommended, not enforced: the point is stored, the report counts the advice by rule."""
    domains = [] if paths is None else [DomainSettings(key="shop", title="Shop", paths=(paths,))]
    built = build_of({"a.cs": "class A { }\n", "src/b.cs": "class B { }\n"}, domains=domains)
    report = built.reports["qdrant_points"]
    assert report.counts["points"] == len(payloads(built)) > 1
    assert report.counts["warnings"] == said
    found = {row["rule"]: row["points"] for row in report.tables["warnings by rule"]}
    assert found == ({"PAYLOAD.business-domain-key": said} if said else {})


@pytest.mark.rule("B25")
def test_points_join_with_the_history_of_their_files(build_of: BuildOf) -> None:
    """ "What changed in orders since the last commit": by CommitSha and Path, down to the lines git knows."""
    built = build_of({"src/Order.cs": "class Order { void M() { } }\n", "src/Tool.cs": "class Tool { void M() { } }\n"})
    first = built.build.spec.git.commit_sha
    built.source.commit({"src/Order.cs": "class Order { void M() { } void N() { } }\n"})
    built = built.again()
    changed = set(built.source.git("diff", "--name-only", first, "HEAD", "--", "src").splitlines())
    found = [payload for payload in payloads(built) if payload.path in changed]
    assert {payload.symbol for payload in found} == {"Order"}
    assert {payload.commit_sha for payload in payloads(built) if payload not in found} == {first}
    for payload in found:
        assert (payload.repo_branch, payload.commit_sha) == ("main", built.source.git("rev-parse", "HEAD"))
        assert payload.repo
        lines = f"{payload.start_line},{payload.end_line}"
        blamed = built.source.git("blame", "-l", "-s", "-L", lines, payload.commit_sha, "--", payload.path)
        assert payload.commit_sha in blamed


class Recorder:
    """A real embedder of a few bytes: remembers what it was given."""

    model_id = "recorder"
    dimension = 4
    is_instant = False
    may_be_zero = False

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.texts += texts
        found = np.array([[len(text) % 7 + 1, len(text) % 5, 1, 0] for text in texts], np.float32).reshape(-1, 4)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def embed_batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any]]:
        if texts:
            yield list(range(len(texts))), self.embed(texts)


@pytest.mark.rule("A29", "B24", "C09", "R4", "R22")
def test_only_finder_snippets_are_embedded(build_of: BuildOf) -> None:
    """The embedder sees exactly the normalised snippets that the points carry: no description, no slice. The stage
    is where it is called, after sections and before points; its real id and dimension go on from there."""
    service = '/// <summary>Pays.</summary>\npublic class PayService { public void Pay(int id) { var x = "body"; } }\n'
    built = build_of({"src/PayService.cs": service, "README.md": "# Shop\n\nOrders  \nand more.\n"})
    store, recorder = artifacts(built), Recorder()
    for stage in ("embeddings", "qdrant_points"):
        built.build.record_path(stage).unlink()
    report = embed_sections(built.build, recorder, Silent())
    assert report.counts["dimension"] == 4
    found = payloads(built)
    assert sorted(recorder.texts) == sorted({payload.finder_snippet for payload in found})
    for payload in found:
        assert store.resolve(payload.description_blob_uri) not in recorder.texts
    assert not any('"body"' in text for text in recorder.texts)
    assert all(line == line.rstrip() for text in recorder.texts for line in text.splitlines())


@pytest.mark.rule("B16", "B22", "B24")
def test_only_valid_points_are_persisted(shop: Built) -> None:
    """Validated before they are stored: validating what is stored finds nothing and changes nothing."""
    for row in rows(shop, "qdrant_points"):
        payload = RagVectorPayload.from_dictionary(msgspec.json.decode(row["payload"]))
        result = payload.validate_for_index()
        assert result.successful
        assert {warning.code for warning in result.warnings} <= {"PAYLOAD.business-domain-key"}
        assert payload.to_dictionary() == msgspec.json.decode(row["payload"])


@pytest.mark.rule("R22")
def test_the_payload_names_the_model_that_was_used(shop: Built) -> None:
    assert {payload.embedding_model for payload in payloads(shop)} == {shop.build.spec.embedding_model}


@pytest.mark.rule("C10", "C11")
def test_a_search_needs_no_artifact(build_of: BuildOf) -> None:
    """Snippets are in the record itself; with every blob gone they are found, and only the artifacts are missing."""
    built = build_of({"src/PayService.cs": "/// <summary>Pays invoices.</summary>\npublic class PayService { }\n"})
    shutil.rmtree(built.build.home.blobs)
    with open_index(built.label, home=built.build.home.root) as index:
        hit = index.search("pays invoices")[0]
        assert "Purpose: Pays invoices." in hit.text
        assert index.description(hit).startswith("# Service PayService")
        with pytest.raises(Exception, match="is not in the blob store"):
            index.source_slice(hit)


@pytest.mark.rule("C01", "C07", "C08", "C12")
def test_four_artifacts_of_every_point_resolve(shop: Built) -> None:
    """Full document, slice, description, snippet; the description is markdown for a reader, with a title."""
    store = artifacts(shop)
    for payload in payloads(shop):
        document = store.resolve(payload.full_document_blob_uri)
        assert store.resolve(payload.source_slice_blob_uri) in document
        assert store.resolve(payload.description_blob_uri).strip()
        assert payload.finder_snippet
    code = [p for p in payloads(shop) if p.source_type == "code"]
    assert all(store.resolve(p.description_blob_uri).startswith("# ") for p in code)


@pytest.mark.rule("A34", "C03", "C04", "C06")
def test_uris_are_stable_over_commits(build_of: BuildOf) -> None:
    """One document URI for all assets of a file, the same after a change elsewhere and in the file itself; slices of
    unchanged symbols keep their URI and their text although they moved."""
    text = "namespace N;\npublic class A { void M() { } }\npublic class B { void M() { } }\n"
    built = build_of({"Src/Two Types.cs": text})
    before = {payload.symbol: payload for payload in payloads(built)}
    assert {payload.full_document_blob_uri for payload in before.values()} == {"rag://shop@main/Src/Two%20Types.cs"}
    old = artifacts(built).resolve(before["N.B"].source_slice_blob_uri)
    built.source.commit(
        {"Src/Two Types.cs": text.replace("class A {", "class A\n{\n    int added;\n"), "b.cs": "class C;\n"}
    )
    built = built.again()
    after = {payload.symbol: payload for payload in payloads(built)}
    assert after["N.A"].full_document_blob_uri == before["N.A"].full_document_blob_uri
    assert after["N.B"].source_slice_blob_uri == before["N.B"].source_slice_blob_uri
    assert after["N.B"].line_start != before["N.B"].line_start
    assert artifacts(built).resolve(after["N.B"].source_slice_blob_uri) == old
    assert artifacts(built).resolve(after["N.A"].full_document_blob_uri) != text


@pytest.mark.rule("C13")
def test_no_payload_has_a_snippet_uri(shop: Built) -> None:
    assert not any("SnippetBlobUri" in row["payload"].decode() for row in rows(shop, "qdrant_points"))


@pytest.mark.rule("A36", "R2", "B04")
def test_ids_are_stable_over_commits_and_told_from_the_label(build_of: BuildOf) -> None:
    """A re-index keeps the ids of what stays; what the store has beyond the new ids is what went."""
    built = build_of({"a.cs": "class A { void M() { } }\n", "b.cs": "class B { void M() { } }\n"})
    before = {row["semantic_id"]: row["point_id"] for row in rows(built, "qdrant_points")}
    for semantic_id, identifier in before.items():
        assert identifier == point_id("local", "shop", "shop", "shop@main", semantic_id)
    built.source.commit({"a.cs": "class A { void M() { } void N() { } }\n"})
    built.source.git("rm", "--quiet", "b.cs")
    built.source.commit({})
    after = {row["semantic_id"]: row["point_id"] for row in rows(built.again(), "qdrant_points")}
    assert after.items() <= before.items()
    gone = set(before) - set(after)
    assert gone == {key for key in before if ":b:" in key} != set()


@pytest.mark.rule("A38", "R1", "R3")
def test_partial_types_and_copies_have_ids_of_their_own(build_of: BuildOf) -> None:
    """One name in several places: every part keeps its slice, and the blocking check over the label holds."""
    built = build_of(
        {
            "src/Order.cs": "namespace N;\npublic partial class Order { void A() { } }\n",
            "src/Order.More.cs": "namespace N;\npublic partial class Order { void B() { } }\n",
            "copy/order.cs": "namespace n;\npublic class order { void C() { } }\n",
            "both.cs": "#if A\nclass Twice { int a; }\n#else\nclass Twice { int b; }\n#endif\n",
        }
    )
    symbols = [payload.symbol for payload in payloads(built) if payload.symbol.lower().startswith("n.order")]
    assert len(symbols) == 3
    assert all(symbol.lower().startswith("n.order~") and len(symbol) == len("n.order~") + 8 for symbol in symbols)
    assert ids_are_unique(built.build).passed
    uris = [payload.source_slice_blob_uri for payload in payloads(built)]
    assert len(set(uris)) == len(uris)


@pytest.mark.rule("R3", "A34")
def test_uris_of_a_point_are_those_of_its_section(shop: Built) -> None:
    for payload in payloads(shop):
        document = payload.full_document_blob_uri
        name = (payload.symbol, payload.section_key, payload.part_index)
        assert payload.source_slice_blob_uri == slice_uri(document, *name)
        assert payload.description_blob_uri == description_uri(document, *name)


@pytest.mark.rule("A08", "R4")
def test_a_document_is_one_symbol_whose_text_is_found(build_of: BuildOf) -> None:
    built = build_of({"docs/guide.md": "# Guide\n\nHow to pay.\n\n## Refunds\n\nHow to get money back.\n"})
    assert [(row["symbol"], row["ordinal"]) for row in rows(built, "segments")] == [("docs/guide.md", 0)]
    text = "\n".join(payload.finder_snippet for payload in payloads(built))
    assert "How to pay." in text and "How to get money back." in text
