"""Identities: slugs, semantic ids and point ids (A32, B04, B05, B19–B21; R1, R2)."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.contracts.identity import (
    build_point_id,
    build_semantic_id,
    disambiguated_symbol,
    point_id,
    slug,
    symbol_semantic_id,
    unique_slugs,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Customer Entity", "customer-entity"),
        ("a_b.c/d-e", "a-b-c-d-e"),
        ("  --x--  ", "x"),
        ("Foo<T>", "foot"),
        ("Zażółć", "za"),
        ("a - _ . / b", "a-b"),
        ("a\tb\nc", "a-b-c"),
        ("", "body"),
        ("???", "body"),
    ],
)
def test_b21_slug(text: str, expected: str) -> None:
    assert slug(text) == expected


@given(st.text())
def test_b21_slug_is_idempotent_and_clean(text: str) -> None:
    made = slug(text)
    assert slug(made) == made
    assert made and set(made) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert not made.startswith("-") and not made.endswith("-") and "--" not in made


def test_r1_colliding_slugs_are_told_apart_and_others_stay_plain() -> None:
    made = unique_slugs(["Foo<T>", "Foot", "Bar", "Bar"])
    assert made[2:] == ["bar", "bar"]
    assert made[0] != made[1] and made[0].startswith("foot-") and made[1].startswith("foot-")
    assert unique_slugs(["Foot", "Foo<T>"]) == [made[1], made[0]], "independent of the order"


def test_b05_the_seed_example() -> None:
    assert build_semantic_id("billing.models", "Customer Entity", 2) == "billing.models:sec:customer-entity#p2"
    assert build_point_id("billing.models", "Customer Entity", 2) == "billing.models:sec:customer-entity#p2"  # B20


def test_b19_blank_section_is_body_and_part_starts_at_one() -> None:
    assert build_semantic_id("d", "", 0) == "d:sec:body#p1"
    with pytest.raises(ValueError, match="doc_id"):
        build_semantic_id("  ")


def test_a32_semantic_id_is_lower_case() -> None:
    made = symbol_semantic_id("Acme", "Shop", "Repo", "class", "Shop.Orders.Order`1", "Model-Overview", 1)
    assert made == "acme:shop:repo:class:shop.orders.order`1:model-overview:1"


@pytest.mark.parametrize("missing", range(6))
def test_a32_a_missing_part_is_refused(missing: int) -> None:
    parts = ["org", "project", "repo", "class", "Ns.T", "overview"]
    parts[missing] = " "
    with pytest.raises(ValueError, match="empty or ambiguous"):
        symbol_semantic_id(*parts, 1)


def test_r2_point_ids_are_stable_uuids_and_tell_labels_apart() -> None:
    one = point_id("o", "p", "r", "r@main", "s")
    assert one == point_id("o", "p", "r", "r@main", "s")
    assert uuid.UUID(one).version == 5
    assert len({one, point_id("o", "p", "r", "r@dev", "s"), point_id("o2", "p", "r", "r@main", "s")}) == 3


def test_r1_source_parts_of_one_name_differ_by_path_and_ordinal() -> None:
    parts = {
        disambiguated_symbol("N.T", "a.cs"),
        disambiguated_symbol("N.T", "b.cs"),
        disambiguated_symbol("N.T", "a.cs", 1),
    }
    assert len(parts) == 3
    assert all(part.startswith("N.T~") and len(part) == len("N.T~") + 8 for part in parts)
