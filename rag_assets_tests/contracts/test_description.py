"""`SummaryFacts`: from sections to points, the same way for every description (IDX-069 §6–7)."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.contracts.description import INDEX_VERSION, RagDescription, RagPoint, SummaryFacts
from rag_assets.contracts.identity import content_hash, normalized_content, point_id
from rag_assets.contracts.kinds import RagContentType
from rag_assets.contracts.payload import RagVectorPayload, parse_round_trip
from rag_assets.contracts.result import InvokeResult, Message
from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import Span
from rag_assets_tests.descriptions.samples import file_context


@dataclass(kw_only=True)
class Sample(SummaryFacts):
    """A description whose sections are given."""

    given: tuple[SummarySection, ...] = ()
    extra: str = ""

    @property
    def subtype(self) -> str:
        return "Manager"

    @property
    def subtype_flavor(self) -> str:
        return "Command"

    def build_summary_sections(self) -> list[SummarySection]:
        return list(self.given)

    def populate_additional_rag_properties(self, payload: RagVectorPayload) -> None:
        payload.persona = self.extra


def section(key: str = "manager-overview", part: int = 1, total: int = 1, **changes: Any) -> SummarySection:
    values: dict[str, Any] = {
        "section_key": key,
        "symbol": "Shop.Orders.OrderManager`1",
        "symbol_type": "Class",
        "finder_snippet": f"Kind: Manager  \nArtifact: Shop.Orders.OrderManager`1\n{key} {part}\n",
        "backing_artifact": "# OrderManager",
        "span": Span(3, 9, 20, 90),
        "part_index": part,
        "part_total": total,
        "kind": "Manager",
        "domain_key": "ordering",
        "embedding_model": "real-model",
        "primary_entity": "Order",
        "graph_node_keys": ("csharp:Shop.Orders.OrderManager`1|TYPE",),
        "source_text": "class OrderManager",
        "vectors": [0.6, 0.8],
    }
    return SummarySection(**(values | changes))


def sample(*sections: SummarySection, **changes: Any) -> Sample:
    made = Sample(given=sections or (section(),), symbol="Shop.Orders.OrderManager`1", symbol_type="Class")
    made.domain_key, made.domain_title = "ordering", "Ordering"
    made.set_common_properties(file_context("class OrderManager<T> { }", "Src/Order Manager.cs"))
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def points(made: SummaryFacts) -> list[RagPoint]:
    results = made.build_rag_points()
    assert [str(error) for result in results for error in result.errors] == []
    return [result.value for result in results if result.value is not None]


def payload_of(made: SummaryFacts) -> RagVectorPayload:
    return points(made)[0].payload


@pytest.mark.rule("A21", "R16")
def test_a_description_has_two_verbs() -> None:
    """One public way to sections, one public way to points, and the latter is a list of results."""
    made: RagDescription = sample()
    assert isinstance(made.build_summary_sections(), list)
    assert all(isinstance(result, InvokeResult) for result in made.build_rag_points())
    public = {name for name in dir(SummaryFacts) if name.startswith(("build_", "create_"))}
    assert public == {"build_summary_sections", "build_rag_points", "create_embeddings"}


@pytest.mark.rule("A24")
def test_one_section_is_one_point() -> None:
    made = sample(section("a"), section("b", 1, 2), section("b", 2, 2))
    found = [(point.payload.section_key, point.payload.part_index) for point in points(made)]
    assert found == [("a", 1), ("b", 1), ("b", 2)]


@pytest.mark.rule("A27", "A30", "B02", "B13", "R5")
def test_identity_and_location_come_from_the_file_context() -> None:
    payload = payload_of(sample())
    assert (payload.doc_id, payload.org_id, payload.org_namespace) == ("shop/Src/Order Manager.cs", "acme", "acme")
    assert (payload.project_id, payload.repo_id) == ("shop", "shop")
    assert (payload.repo, payload.repo_branch) == ("https://example.com/shop.git", "main")
    assert (payload.commit_sha, payload.path) == ("c" * 40, "Src/Order Manager.cs")
    assert {"OrgNamespace", "RepoId"} <= payload.to_dictionary().keys()


@pytest.mark.rule("A18", "A30", "B01", "B06")
def test_classification_of_a_point() -> None:
    """ContentTypeId and its label; Subtype is abstract, SubtypeFlavor virtual; the rest comes from the section."""
    written = payload_of(sample()).to_dictionary()
    assert (written["ContentTypeId"], written["ContentType"]) == (2, "SourceCode")
    assert (written["Subtype"], written["SubtypeFlavor"]) == ("Manager", "Command")
    assert (written["SectionKey"], written["BusinessDomainKey"]) == ("manager-overview", "ordering")
    with pytest.raises(TypeError, match="abstract"):
        SummaryFacts()  # type: ignore[abstract]


@pytest.mark.rule("A31")
@pytest.mark.parametrize(("part", "total"), [(1, 1), (2, 3)])
def test_title(part: int, total: int) -> None:
    parts = [section(part=number, total=total) for number in range(1, total + 1)]
    assert points(sample(*parts))[part - 1].payload.title == (
        f"Class: Shop.Orders.OrderManager`1 - manager-overview (Chunk {part} of {total})"
    )


@pytest.mark.rule("A32", "R1", "B04")
def test_points_of_a_description_carry_the_069_semantic_id() -> None:
    """Not the 025 form, which `validate_for_index` makes only where there is none."""
    made = payload_of(sample())
    assert made.semantic_id == "acme:shop:shop:class:shop.orders.ordermanager`1:manager-overview:1"
    assert made.to_dictionary()["SemanticId"] == made.semantic_id


@pytest.mark.rule("A33")
def test_the_section_fills_the_payload_after_the_semantic_id() -> None:
    seen: list[tuple[str, str]] = []

    class Watching(SummarySection):
        __slots__ = ()

        def populate_rag_payload(self, payload: RagVectorPayload) -> None:
            seen.append((payload.semantic_id, payload.finder_snippet))
            super().populate_rag_payload(payload)

    plain = section()
    watching = Watching(**{name: getattr(plain, name) for name in SummarySection.__slots__})
    assert payload_of(sample(watching)).finder_snippet
    assert seen == [("acme:shop:shop:class:shop.orders.ordermanager`1:manager-overview:1", "")]


@pytest.mark.rule("A34", "C03", "R3")
def test_blob_uris() -> None:
    """The document keeps its case and is shared; suffixes are lower case, without blanks, with key and part."""
    first, second = (p.payload for p in points(sample(section("Manager Overview"), section("manager-methods"))))
    assert first.full_document_blob_uri == second.full_document_blob_uri == "rag://shop@main/Src/Order%20Manager.cs"
    for uri in (first.source_slice_blob_uri, first.description_blob_uri):
        document, _, suffix = uri.partition("#")
        assert document == first.full_document_blob_uri
        assert suffix == suffix.lower()
        assert suffix.endswith(".manager_overview.1")


@pytest.mark.rule("A35")
def test_the_extension_point_has_the_last_word_before_validation() -> None:
    assert payload_of(sample(extra="architect")).persona == "architect"


@pytest.mark.rule("A36", "R2", "R4", "B18", "B22")
def test_a_point() -> None:
    """Id by UUIDv5 over tenant, label and semantic id; the section's vector; the normalised snippet in UTF-8."""
    (point,) = points(sample(section(finder_snippet="Kind: Ä  \nÖ\n\n")))
    assert point.point_id == point_id("acme", "shop", "shop", "shop@main", point.payload.semantic_id)
    assert uuid.UUID(point.point_id).version == 5
    assert point.vector == [0.6, 0.8]
    assert point.contents == "Kind: Ä\nÖ".encode()
    assert point.payload.finder_snippet == "Kind: Ä\nÖ"
    stored = point.payload.to_qdrant_point(point.point_id, [0.6, 0.8])
    assert (stored.id, stored.payload["FinderSnippet"]) == (point.point_id, "Kind: Ä\nÖ")


BLOCKED = [
    ("no-vector", {"vectors": None}, {}, "VECTOR.missing"),
    ("empty-vector", {"vectors": []}, {}, "VECTOR.missing"),
    ("no-tenant", {}, {"org_id": ""}, "PAYLOAD.org-id"),
    ("no-document", {}, {"doc_id": " "}, "PAYLOAD.doc-id"),
    ("no-symbol", {"symbol": " "}, {}, "PAYLOAD.semantic-id"),
    ("no-date", {}, {"commit_date": ""}, "PAYLOAD.indexed-utc"),
]


@pytest.mark.rule("A37", "B16", "B22")
@pytest.mark.parametrize(
    ("of_section", "of_description", "code"), [row[1:] for row in BLOCKED], ids=[row[0] for row in BLOCKED]
)
def test_errors_are_results_of_their_point(
    of_section: dict[str, Any], of_description: dict[str, Any], code: str
) -> None:
    """One result per section, in order; a point with an error has no value, and nothing is raised."""
    made = sample(section("a"), section("b", **of_section), **of_description)
    first, second = made.build_rag_points()
    assert [error.code for error in second.errors] == [code]
    assert second.value is None
    assert first.successful is not bool(of_description)


@pytest.mark.rule("R20", "A39")
def test_the_commit_dates_a_point_not_the_clock() -> None:
    """Also where the date is missing: see `no-date` above. Twice the same description, twice the same points."""
    payload = payload_of(sample())
    assert payload.indexed_utc == parse_round_trip("2026-01-02T03:04:05Z")
    assert payload.updated_utc is None
    assert [point.payload.to_dictionary() for point in points(sample())] == [payload.to_dictionary()]


@pytest.mark.rule("A38", "R3")
def test_equal_blob_uris_are_a_programming_error() -> None:
    with pytest.raises(ValueError, match="source_slice_blob_uri used by several sections: rag://shop@main/Src/Order"):
        sample(section(), section()).build_rag_points()
    with pytest.raises(ValueError, match="used by several sections"):
        sample(section("Same Key"), section("same_key")).build_rag_points()


@pytest.mark.rule("B09", "B10", "B12", "R7", "A25")
def test_what_the_section_says_of_its_place() -> None:
    payload = payload_of(sample())
    assert (payload.line_start, payload.start_line, payload.line_end, payload.end_line) == (3, 3, 9, 9)
    assert (payload.char_start, payload.char_end) == (20, 90)
    slice_text, file_text = section().source_text, "class OrderManager<T> { }"
    assert payload.source_sha256 == content_hash(slice_text)
    assert payload.content_hash == content_hash(normalized_content(slice_text))
    assert payload.blob_version_id == content_hash(file_text)
    assert payload.content_len_chars == len(normalized_content(slice_text))
    assert (payload.index_version, payload.embedding_model) == (INDEX_VERSION, "real-model")


@pytest.mark.rule("C02", "R6")
def test_070_names_stand_beside_the_025_ones() -> None:
    written = payload_of(sample()).to_dictionary()
    assert (written["Domain"], written["BusinessDomainKey"]) == ("Ordering", "ordering")
    assert (written["Kind"], written["Subtype"]) == ("Manager", "Manager")
    assert (written["Artifact"], written["Symbol"]) == ("Shop.Orders.OrderManager`1", "Shop.Orders.OrderManager`1")
    assert written["PrimaryEntity"] == "Order"


@pytest.mark.rule("R25", "A30", "B08")
def test_the_language_is_en_us_unless_the_document_says_otherwise() -> None:
    assert payload_of(sample()).language == "en-US"
    assert payload_of(sample(language="de-DE")).language == "de-DE"
    assert payload_of(sample()).priority == 3


@pytest.mark.rule("A30")
def test_a_subtype_may_be_something_else_than_source_code() -> None:
    class Decision(Sample):
        @property
        def content_type(self) -> RagContentType:
            return RagContentType.SPEC

    made = Decision(given=(section(),), symbol="IDX-069", symbol_type="document")
    made.set_common_properties(file_context("# IDX-069", "ddrs/IDX-069.md"))
    assert payload_of(made).to_dictionary()["ContentType"] == "Spec"


class Scripted:
    """An embedder that answers each text by its last character: a vector, a wrong one, or a failure."""

    model_id = "scripted"
    dimension = 2

    def embed(self, texts: Sequence[str]) -> Any:
        if texts[0].endswith("!"):
            raise RuntimeError("the model is gone")
        width = 3 if texts[0].endswith("?") else 2
        return np.ones((len(texts), width), np.float32)


class Hesitant(SummarySection):
    """A section whose embedding works with a warning."""

    __slots__ = ()

    def create_embeddings(self, embedder: Any) -> InvokeResult[None]:
        self.vectors = embedder.embed(["x"])[0]
        return InvokeResult(warnings=(Message("T.slow", self.section_key),))


@pytest.mark.rule("A28")
def test_embedding_aggregates_all_errors_and_all_warnings() -> None:
    """Every section is tried; the result holds both lists whole, in order."""
    plain = section("e")
    hesitant = Hesitant(**{name: getattr(replace(plain), name) for name in SummarySection.__slots__})
    made = sample(
        section("a", finder_snippet="fine", vectors=None),
        section("b", finder_snippet="gone!", vectors=None),
        section("c", finder_snippet="wide?", vectors=None),
        section("d", finder_snippet="fine", vectors=None),
        hesitant,
    )
    result = made.create_embeddings(Scripted())
    assert [error.code for error in result.errors] == ["EMBEDDER.failed", "EMBEDDER.dimension"]
    assert [str(warning) for warning in result.warnings] == ["T.slow: e"]
    assert [found.vectors is not None for found in made.sections] == [True, False, False, True, True]
    assert made.sections[0].embedding_model == "scripted"


def test_a_description_without_a_window_says_what_to_call() -> None:
    with pytest.raises(RuntimeError, match="call use_window before building sections"):
        _ = sample().window


def test_two_description_types_of_one_name_are_refused() -> None:
    """Stored descriptions are found again by that name."""
    with pytest.raises(TypeError, match=r"description type SymbolDescription of .* is already one of rag_assets"):
        import rag_assets.descriptions.kinds  # noqa: F401 - registers the built-in types

        type("SymbolDescription", (Sample,), {})
    with pytest.raises(KeyError, match=r"no description type 'Nope'; known: .*SymbolDescription"):
        SummaryFacts.type_named("Nope")


NAMES = st.text("abcXYZ019._`-", min_size=1, max_size=12).filter(lambda text: text.strip())


@pytest.mark.rule("A32", "R2", "B04")
@given(st.lists(st.tuples(NAMES, NAMES, st.integers(1, 5)), unique_by=lambda k: (k[0].lower(), k[1].lower(), k[2])))
def test_different_sections_have_different_ids(keys: list[tuple[str, str, int]]) -> None:
    """Symbol, section and part, compared without case, decide; ids are lower case and without `::`."""
    found = [points(sample(section(key, part, 5, symbol=symbol)))[0] for symbol, key, part in keys]
    semantic = [point.payload.semantic_id for point in found]
    assert len(set(semantic)) == len({point.point_id for point in found}) == len(keys)
    assert all(made == made.lower() and "::" not in made for made in semantic)
