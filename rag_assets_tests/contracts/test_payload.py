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


def test_b01_content_types_have_the_seed_values() -> None:
    labels = "Unknown DomainDocument SourceCode Policy Procedure Reference Configuration Infrastructure Schema"
    assert [kind.label for kind in RagContentType] == [*labels.split(), "ApiContract", "Spec"]
    assert [int(kind) for kind in RagContentType] == list(range(11))


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


def test_b17_empty_values_and_null_elements_are_left_out() -> None:
    made = payload(label_slugs=("a", None, "b"), label_ids=(None,), pdf_pages=(), title="").to_dictionary()
    assert made["LabelSlugs"] == ["a", "b"]
    assert not {"LabelIds", "PdfPages", "Title", "LineStart"} & set(made)


def test_b17_zero_is_a_value() -> None:
    assert payload(char_start=0).to_dictionary()["CharStart"] == 0


def test_b17_other_time_zones_are_written_as_utc() -> None:
    east = datetime(2025, 11, 23, 20, 30, 0, 123456, tzinfo=timezone(timedelta(hours=2)))
    assert round_trip_time(east) == "2025-11-23T18:30:00.1234560Z"


@given(st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC)))
def test_b17_times_round_trip(moment: datetime) -> None:
    assert parse_round_trip(round_trip_time(moment)) == moment


@pytest.mark.parametrize("name", ["org_id", "project_id", "doc_id"])
@pytest.mark.parametrize("value", ["", "   "], ids=["empty", "blank"])
def test_b14_required_identity(name: str, value: str) -> None:
    result = payload(**{name: value}, semantic_id="given").validate_for_index()
    assert [error.code for error in result.errors] == [f"B14.{name.replace('_', '-')}"]


def test_b14_unknown_content_type_blocks() -> None:
    result = payload(content_type_id=RagContentType.UNKNOWN).validate_for_index()
    assert not result.successful and result.errors[0].code == "B14.content-type-id"


def test_b14_without_doc_id_no_semantic_id_can_be_made() -> None:
    codes = {error.code for error in payload(doc_id="").validate_for_index().errors}
    assert codes == {"B14.doc-id", "B14.semantic-id"}


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
    assert [warning.code for warning in result.warnings] == [f"B15.{field.replace('_', '-')}"]


def test_b15_part_total_follows_part_index() -> None:
    made = payload(part_index=4, part_total=2)
    made.validate_for_index()
    assert made.part_total == 4


def test_b15_missing_domain_is_advice_only() -> None:
    result = payload(business_domain_key="", semantic_id="given").validate_for_index()
    assert result.successful and [w.code for w in result.warnings] == ["B15.business-domain-key"]


def test_b18_a_point_needs_an_id_and_a_vector() -> None:
    made = payload()
    assert made.to_qdrant_point(7, [0.5]).id == 7
    with pytest.raises(ValueError, match="point id"):
        made.to_qdrant_point("", [0.5])
    with pytest.raises(ValueError, match="UUID"):
        made.to_qdrant_point("IDX-025:sec:body#p1", [0.5])  # B22: UUID or unsigned integer
    with pytest.raises(ValueError, match="empty embedding"):
        made.to_qdrant_point(7, [])


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


def test_b02_isolation_fields_are_indexed() -> None:
    indexes = payload_indexes()
    assert {"OrgId", "ProjectId", "Path", "Kind", "SemanticId"} <= set(indexes)
    assert set(indexes) <= {pascal_case(field.name) for field in dataclasses.fields(RagVectorPayload)}
