"""The IDX-025 payload contract (B01–B22)."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.contracts.kinds import RagContentType
from rag_assets.contracts.payload import (
    DEFAULT_EMBEDDING_MODEL,
    RagVectorPayload,
    parse_round_trip,
    pascal_case,
    payload_indexes,
    round_trip_time,
)

MOMENT = datetime(2025, 11, 23, 18, 30, tzinfo=UTC)


def payload(**changes: object) -> RagVectorPayload:
    base: dict[str, object] = {
        "org_id": "org-123",
        "project_id": "proj-abc",
        "doc_id": "IDX-025",
        "content_type_id": RagContentType.SPEC,
        "section_key": "index-embedding-metadata",
        "part_index": 1,
        "part_total": 1,
        "index_version": 1,
        "embedding_model": "m",
        "business_domain_key": "billing",
        "indexed_utc": MOMENT,
    }
    return RagVectorPayload(**(base | changes))  # type: ignore[arg-type]


@pytest.mark.rule("B01")
def test_b01_content_types_have_the_seed_values() -> None:
    labels = "Unknown DomainDocument SourceCode Policy Procedure Reference Configuration Infrastructure Schema"
    assert [kind.label for kind in RagContentType] == [*labels.split(), "ApiContract", "Spec"]
    assert [int(kind) for kind in RagContentType] == list(range(11))


@pytest.mark.rule("B17")
def test_b17_the_seed_example_fragment() -> None:
    made = payload(
        content_type="Spec", subtype="Model", subtype_flavor="ModelStructured", business_domain_area="payments"
    )
    made.validate_for_index()
    assert made.to_dictionary() == {
        "OrgId": "org-123",
        "ProjectId": "proj-abc",
        "DocId": "IDX-025",
        "SemanticId": "IDX-025:sec:index-embedding-metadata#p1",
        "BusinessDomainKey": "billing",
        "BusinessDomainArea": "payments",
        "ContentTypeId": 10,
        "ContentType": "Spec",
        "Subtype": "Model",
        "SubtypeFlavor": "ModelStructured",
        "SectionKey": "index-embedding-metadata",
        "PartIndex": 1,
        "PartTotal": 1,
        "Priority": 3,
        "IndexVersion": 1,
        "EmbeddingModel": "m",
        "IndexedUtc": "2025-11-23T18:30:00.0000000Z",
    }


@pytest.mark.rule("B17")
def test_b17_empty_values_and_null_elements_are_left_out() -> None:
    made = payload(label_slugs=("a", None, "b"), label_ids=(None,), pdf_pages=(), title="").to_dictionary()
    assert made["LabelSlugs"] == ["a", "b"]
    assert not {"LabelIds", "PdfPages", "Title", "LineStart"} & set(made)


@pytest.mark.rule("B17")
def test_b17_zero_is_a_value() -> None:
    assert payload(char_start=0).to_dictionary()["CharStart"] == 0


@pytest.mark.rule("B17")
def test_b17_other_time_zones_are_written_as_utc() -> None:
    east = datetime(2025, 11, 23, 20, 30, 0, 123456, tzinfo=timezone(timedelta(hours=2)))
    assert round_trip_time(east) == "2025-11-23T18:30:00.1234560Z"


@pytest.mark.rule("B17")
@given(st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC)))
def test_b17_times_round_trip(moment: datetime) -> None:
    assert parse_round_trip(round_trip_time(moment)) == moment


@pytest.mark.rule("B14")
@pytest.mark.parametrize("name", ["org_id", "project_id", "doc_id"])
@pytest.mark.parametrize("value", ["", "   "], ids=["empty", "blank"])
def test_b14_required_identity(name: str, value: str) -> None:
    result = payload(**{name: value}, semantic_id="given").validate_for_index()
    assert [error.code for error in result.errors] == [f"PAYLOAD.{name.replace('_', '-')}"]


@pytest.mark.rule("B14")
def test_b14_unknown_content_type_blocks() -> None:
    result = payload(content_type_id=RagContentType.UNKNOWN).validate_for_index()
    assert not result.successful and result.errors[0].code == "PAYLOAD.content-type-id"


@pytest.mark.rule("B14")
def test_b14_without_doc_id_no_semantic_id_can_be_made() -> None:
    codes = {error.code for error in payload(doc_id="").validate_for_index().errors}
    assert codes == {"PAYLOAD.doc-id", "PAYLOAD.semantic-id"}


@pytest.mark.rule("B15", "R22")
@pytest.mark.parametrize(
    ("field", "before", "after"),
    [
        ("section_key", "", "body"),
        ("part_index", 0, 1),
        ("part_total", 0, 1),
        ("index_version", -1, 1),
        ("embedding_model", "", DEFAULT_EMBEDDING_MODEL),
        ("indexed_utc", None, MOMENT),
        ("semantic_id", "", "IDX-025:sec:index-embedding-metadata#p1"),
    ],
)
def test_b15_normalisations_warn(field: str, before: object, after: object) -> None:
    made = payload(**({"semantic_id": "given"} | {field: before}))
    result = made.validate_for_index(now=MOMENT)
    assert result.successful
    assert getattr(made, field) == after
    assert [warning.code for warning in result.warnings] == [f"PAYLOAD.{field.replace('_', '-')}"]


@pytest.mark.rule("B15")
def test_b15_part_total_follows_part_index() -> None:
    made = payload(part_index=4, part_total=2)
    made.validate_for_index()
    assert made.part_total == 4


@pytest.mark.rule("B15", "B03")
def test_b15_missing_domain_is_advice_only() -> None:
    result = payload(business_domain_key="", semantic_id="given").validate_for_index()
    assert result.successful and [w.code for w in result.warnings] == ["PAYLOAD.business-domain-key"]


@pytest.mark.rule("B18", "B22")
def test_b18_a_point_needs_an_id_and_a_vector() -> None:
    made = payload()
    assert made.to_qdrant_point(7, [0.5]).id == 7
    with pytest.raises(ValueError, match="point id"):
        made.to_qdrant_point("", [0.5])
    with pytest.raises(ValueError, match="UUID"):
        made.to_qdrant_point("IDX-025:sec:body#p1", [0.5])  # B22: UUID or unsigned integer
    with pytest.raises(ValueError, match="empty embedding"):
        made.to_qdrant_point(7, [])


@pytest.mark.rule("B17")
def test_writer_and_reader_share_one_contract() -> None:
    """Every field survives the round trip (B17)."""
    values: dict[str, object] = {}
    for field in dataclasses.fields(RagVectorPayload):
        kind = str(field.type)
        if "datetime" in kind:
            values[field.name] = MOMENT
        elif "RagContentType" in kind:
            values[field.name] = RagContentType.SCHEMA
        elif "Sequence[int]" in kind:
            values[field.name] = [3]
        elif "Sequence" in kind:
            values[field.name] = ["x"]
        elif "int" in kind:
            values[field.name] = 5
        else:
            values[field.name] = field.name
    made = RagVectorPayload(**values)  # type: ignore[arg-type]
    written = made.to_dictionary()
    assert len(written) == len(dataclasses.fields(RagVectorPayload))
    assert RagVectorPayload.from_dictionary(written) == made
    assert not any("SnippetBlobUri" in key for key in written), "C13"


@pytest.mark.rule("B02")
def test_b02_isolation_fields_are_indexed() -> None:
    indexes = payload_indexes()
    assert {"OrgId", "ProjectId", "Path", "Kind"} <= set(indexes)
    assert set(indexes) <= {pascal_case(field.name) for field in dataclasses.fields(RagVectorPayload)}


FIELDS_OF_THE_CONTRACT = [
    ("B01", "ContentTypeId ContentType"),
    ("B02", "OrgId ProjectId DocId"),
    ("B03", "BusinessDomainKey BusinessDomainArea"),
    ("B06", "Subtype SubtypeFlavor"),
    ("B07", "SectionKey PartIndex PartTotal"),
    ("B08", "Title Language Priority Audience Persona Stage LabelSlugs LabelIds"),
    ("B09", "FullDocumentBlobUri SourceSliceBlobUri DescriptionBlobUri BlobVersionId SourceSha256"),
    ("B10", "LineStart LineEnd CharStart CharEnd"),
    ("B11", "Symbol SymbolType HtmlAnchor PdfPages"),
    (
        "B12",
        "IndexVersion EmbeddingModel ContentHash ChunkSizeTokens OverlapTokens ContentLenChars IndexedUtc UpdatedUtc "
        "SourceSystem SourceObjectId",
    ),
    ("B13", "Repo RepoBranch CommitSha Path StartLine EndLine"),
    ("C02", "Domain Kind Artifact PrimaryEntity FullDocumentBlobUri SourceSliceBlobUri DescriptionBlobUri"),
    ("R5", "OrgNamespace RepoId"),
    ("R20", "UpdatedUtc SourceSha256"),
]


@pytest.mark.parametrize(
    "names",
    [pytest.param(names, marks=pytest.mark.rule(rule), id=rule) for rule, names in FIELDS_OF_THE_CONTRACT],
)
def test_every_field_of_the_contract_has_its_name(names: str) -> None:
    """The names of the documents, unchanged: other systems read these payloads."""
    assert set(names.split()) <= {pascal_case(field.name) for field in dataclasses.fields(RagVectorPayload)}


@pytest.mark.rule("B06", "B08", "B09", "B11", "B22")
def test_the_minimum_set_is_enough() -> None:
    """Everything else is optional: nothing is warned about, and exactly the minimum and the defaults are written."""
    made = payload(semantic_id="given")
    result = made.validate_for_index()
    assert (result.successful, result.warnings) == (True, ())
    assert set(made.to_dictionary()) == {
        *("OrgId", "ProjectId", "DocId", "ContentTypeId", "SectionKey", "PartIndex", "PartTotal", "IndexVersion"),
        *("EmbeddingModel", "IndexedUtc", "SemanticId", "BusinessDomainKey", "Priority"),
    }


@pytest.mark.rule("B12", "R22")
def test_defaults_of_the_contract() -> None:
    made = payload(index_version=0, embedding_model="", semantic_id="given")
    made.validate_for_index()
    assert (made.index_version, made.embedding_model) == (1, "text-embedding-3-large")


@pytest.mark.rule("C13")
def test_the_old_snippet_uri_is_ignored() -> None:
    """Never written (the field does not exist), and not relied on where an older writer left it."""
    assert "snippet_blob_uri" not in {field.name for field in dataclasses.fields(RagVectorPayload)}
    written = payload().to_dictionary()
    assert RagVectorPayload.from_dictionary(written | {"SnippetBlobUri": "x"}) == RagVectorPayload.from_dictionary(
        written
    )


@pytest.mark.rule("B15")
def test_b15_the_clock_is_only_asked_where_no_time_is_given() -> None:
    before = datetime.now(UTC)
    made = payload(indexed_utc=None, semantic_id="given")
    made.validate_for_index()
    assert made.indexed_utc is not None
    assert before <= made.indexed_utc <= datetime.now(UTC)


TEXTS = st.sampled_from(["", " ", "\t", "x", "Ä b", "IDX-025", "None", "0"])
COUNTS = st.integers(-3, 5)
MOMENTS = st.none() | st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC))
PAYLOADS = st.builds(
    RagVectorPayload,
    org_id=TEXTS,
    project_id=TEXTS,
    doc_id=TEXTS,
    semantic_id=TEXTS,
    content_type_id=st.sampled_from(RagContentType),
    section_key=TEXTS,
    part_index=COUNTS,
    part_total=COUNTS,
    index_version=COUNTS,
    embedding_model=TEXTS,
    business_domain_key=TEXTS,
    title=TEXTS,
    priority=COUNTS,
    label_slugs=st.lists(st.none() | TEXTS, max_size=3),
    label_ids=st.lists(st.none(), max_size=2),
    pdf_pages=st.lists(st.integers(1, 9), max_size=3),
    line_start=st.none() | st.integers(1, 9),
    char_start=st.none() | st.integers(0, 9),
    indexed_utc=MOMENTS,
    updated_utc=MOMENTS,
    graph_node_keys=st.lists(TEXTS, max_size=2).map(tuple),
)


@pytest.mark.rule("B14", "B15", "B16", "B19", "R22")
@given(PAYLOADS)
def test_validating_twice_is_validating_once(made: RagVectorPayload) -> None:
    """Every normalisation holds afterwards and is reported once; errors stay; only the domain advice is repeated."""
    first = made.validate_for_index(MOMENT)
    once = dataclasses.replace(made)
    again = made.validate_for_index(MOMENT)
    assert made == once
    assert again.errors == first.errors
    assert {warning.code for warning in again.warnings} <= {"PAYLOAD.business-domain-key"}
    assert made.section_key.strip() and made.embedding_model.strip()
    assert 1 <= made.part_index <= made.part_total
    assert made.index_version >= 1 and made.indexed_utc is not None
    usable = made.org_id.strip() and made.project_id.strip() and made.doc_id.strip()
    assert first.successful is bool(usable and made.content_type_id != RagContentType.UNKNOWN)
    assert not first.successful or (made.semantic_id.strip() and first.value is made)


@pytest.mark.rule("B17")
@given(PAYLOADS)
def test_what_is_written_is_plain_pascal_case_and_never_empty(made: RagVectorPayload) -> None:
    """B17: keys are those of the fields; no null, empty text, empty list or null element; what is read back and
    written again is the same."""
    written = made.to_dictionary()
    assert all(key[0].isupper() and "_" not in key for key in written)
    for key, value in written.items():
        assert value is not None and value != "" and value != []
        assert type(value) in (str, int, list), key
        assert not isinstance(value, list) or None not in value
    assert RagVectorPayload.from_dictionary(written).to_dictionary() == written


OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@pytest.mark.rule("B17")
@given(st.datetimes(min_value=datetime(1000, 1, 1), timezones=OFFSETS))
def test_b17_every_time_zone_is_written_as_seven_decimals_and_z(moment: datetime) -> None:
    text = round_trip_time(moment)
    assert len(text) == len("2025-11-23T18:30:00.0000000Z") and text.endswith("0Z")
    assert parse_round_trip(text) == moment
    assert round_trip_time(parse_round_trip(text)) == text


@pytest.mark.rule("B18", "B22")
@pytest.mark.parametrize("identifier", [-1, "", None, "42", "not-a-uuid"], ids=repr)
def test_ids_that_qdrant_would_refuse(identifier: object) -> None:
    with pytest.raises(ValueError, match="point id"):
        payload().to_qdrant_point(identifier, [0.5])  # type: ignore[arg-type]
