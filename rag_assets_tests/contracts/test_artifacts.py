"""URIs of the backing artifacts (C03, C04, C13; R3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.contracts.identity import BlobUri, description_uri, document_uri, parse_uri, slice_uri

PATHS = st.text(min_size=1).filter(lambda text: not text.startswith("/"))


@pytest.mark.rule("C03")
@given(PATHS)
def test_c03_a_document_uri_names_the_file_losslessly(path: str) -> None:
    path = path.encode("utf-8", "replace").decode()
    assert parse_uri(document_uri("repo@main", path)) == BlobUri("repo@main", path)


@pytest.mark.rule("A34", "R3")
def test_r3_case_is_kept_in_the_path_and_lowered_in_the_suffix() -> None:
    document = document_uri("Repo@main", "Src/Order Service.cs")
    assert document == "rag://Repo@main/Src/Order%20Service.cs"
    made = slice_uri(document, "Shop.Order`1", "Service Overview", 2)
    assert made == "rag://Repo@main/Src/Order%20Service.cs#slice.shop.order`1.service_overview.2"
    assert parse_uri(made).path == "Src/Order Service.cs"


def test_slice_and_description_never_share_a_uri() -> None:
    document = document_uri("l", "a.cs")
    assert slice_uri(document, "T", "s", 1) != description_uri(document, "T", "s", 1)


def test_a_path_with_a_hash_cannot_fake_a_suffix() -> None:
    assert parse_uri(document_uri("l", "a#slice.cs")).suffix == ""


@pytest.mark.parametrize("uri", ["", "http://x/y", "rag://", "rag://label", "rag://label/", "rag:///x"])
def test_other_uris_are_refused(uri: str) -> None:
    with pytest.raises(ValueError, match="not a rag://"):
        parse_uri(uri)
