"""Identities: slugs, semantic ids and point ids (A32, B04, B05, B19–B21; R1, R2)."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.contracts.identity import (
    build_point_id,
    build_semantic_id,
    declared_names,
    disambiguated_symbol,
    plain_symbol,
    point_id,
    slug,
    symbol_semantic_id,
    unique_slugs,
)


@pytest.mark.rule("B21")
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


@pytest.mark.rule("B21")
@given(st.text())
def test_b21_slug_is_idempotent_and_clean(text: str) -> None:
    made = slug(text)
    assert slug(made) == made
    assert made and set(made) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert not made.startswith("-") and not made.endswith("-") and "--" not in made


@pytest.mark.rule("R1")
def test_r1_colliding_slugs_are_told_apart_and_others_stay_plain() -> None:
    made = unique_slugs(["Foo<T>", "Foot", "Bar", "Bar"])
    assert made[2:] == ["bar", "bar"]
    assert made[0] != made[1] and made[0].startswith("foot-") and made[1].startswith("foot-")
    assert unique_slugs(["Foot", "Foo<T>"]) == [made[1], made[0]], "independent of the order"


@pytest.mark.rule("B04", "B05", "B20")
def test_b05_the_seed_example() -> None:
    assert build_semantic_id("billing.models", "Customer Entity", 2) == "billing.models:sec:customer-entity#p2"
    assert build_point_id("billing.models", "Customer Entity", 2) == "billing.models:sec:customer-entity#p2"  # B20


@pytest.mark.rule("B19")
def test_b19_blank_section_is_body_and_part_starts_at_one() -> None:
    assert build_semantic_id("d", "", 0) == "d:sec:body#p1"
    with pytest.raises(ValueError, match="doc_id"):
        build_semantic_id("  ")


@pytest.mark.rule("A32")
def test_a32_semantic_id_is_lower_case() -> None:
    made = symbol_semantic_id("Acme", "Shop", "Repo", "class", "Shop.Orders.Order`1", "Model-Overview", 1)
    assert made == "acme:shop:repo:class:shop.orders.order`1:model-overview:1"


@pytest.mark.rule("A32")
@pytest.mark.parametrize("missing", range(6))
def test_a32_a_missing_part_is_refused(missing: int) -> None:
    parts = ["org", "project", "repo", "class", "Ns.T", "overview"]
    parts[missing] = " "
    with pytest.raises(ValueError, match="empty part"):
        symbol_semantic_id(parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], 1)


@pytest.mark.rule("R2")
def test_r2_point_ids_are_stable_uuids_and_tell_labels_apart() -> None:
    one = point_id("o", "p", "r", "r@main", "s")
    assert one == point_id("o", "p", "r", "r@main", "s")
    assert uuid.UUID(one).version == 5
    assert len({one, point_id("o", "p", "r", "r@dev", "s"), point_id("o2", "p", "r", "r@main", "s")}) == 3


@pytest.mark.rule("R1")
def test_r1_source_parts_of_one_name_differ_by_path_and_ordinal() -> None:
    parts = {
        disambiguated_symbol("N.T", "a.cs"),
        disambiguated_symbol("N.T", "b.cs"),
        disambiguated_symbol("N.T", "a.cs", 1),
    }
    assert len(parts) == 3
    assert all(part.startswith("N.T~") and len(part) == len("N.T~") + 8 for part in parts)


PARTS = st.text("abAB01. _-/`<>é", min_size=1, max_size=8)


@pytest.mark.rule("B04", "B05", "B19", "B20", "B21")
@given(st.text(min_size=1).filter(str.strip), st.text(), st.integers(-2, 9))
def test_b05_the_semantic_id_of_any_document(doc_id: str, key: str, part: int) -> None:
    """The document as it is, the slug of the section, a part from 1: readable, and the same again."""
    made = build_semantic_id(doc_id, key, part)
    assert made == f"{doc_id}:sec:{slug(key)}#p{max(1, part)}" == build_semantic_id(doc_id, key, part)
    assert build_point_id(doc_id, key, part) == made


@pytest.mark.rule("R1", "B21")
@given(st.lists(PARTS, max_size=8))
def test_r1_different_sections_of_a_document_have_different_slugs(texts: list[str]) -> None:
    made = unique_slugs(texts)
    assert len(set(made)) == len(set(texts))
    assert all(slug(found) == found for found in made)


@pytest.mark.rule("A32", "R1")
@given(st.lists(st.tuples(PARTS, PARTS, st.integers(1, 9)), min_size=2, max_size=6))
def test_a32_ids_are_as_different_as_their_parts(found: list[tuple[str, str, int]]) -> None:
    """Compared as the id writes them: lower case, without blanks around a part."""

    def known(parts: tuple[str, str, int]) -> tuple[str, str, int]:
        return parts[0].strip().lower(), parts[1].strip().lower(), parts[2]

    usable = [parts for parts in found if parts[0].strip() and parts[1].strip()]
    made = [symbol_semantic_id("o", "p", "r", "class", *parts) for parts in usable]
    assert len(set(made)) == len({known(parts) for parts in usable})
    assert all(text == text.lower() and "::" not in text for text in made)


@pytest.mark.rule("R2")
@given(st.lists(st.tuples(PARTS, PARTS, PARTS, PARTS, PARTS), unique=True, min_size=2, max_size=5))
def test_r2_each_part_of_a_point_id_counts(found: list[tuple[str, str, str, str, str]]) -> None:
    assert len({point_id(*parts) for parts in found}) == len(found)


@pytest.mark.rule("R2")
def test_r2_the_id_of_a_point_for_good() -> None:
    """Namespace, separators and order are fixed: another value here would orphan every stored point."""
    made = point_id("acme", "shop", "repo", "repo@main", "acme:shop:repo:class:n.t:model-overview:1")
    assert made == "8b79c190-206c-547b-9aa3-35c3670338a0"
    assert point_id("a", "bc", "r", "l", "s") != point_id("ab", "c", "r", "l", "s")


@pytest.mark.rule("A32", "R1")
@pytest.mark.parametrize("symbol", ["docs/a::b.md", "::global", "tail:", "a::::b"])
def test_a32_a_double_colon_in_a_name_is_told_apart(symbol: str) -> None:
    made = symbol_semantic_id("acme", "shop", "repo", "document", symbol, "body", 1)
    assert "::" not in made
    assert made != symbol_semantic_id("acme", "shop", "repo", "document", symbol.replace(":", "."), "body", 1)
    assert made == symbol_semantic_id("acme", "shop", "repo", "document", symbol, "body", 1)


@pytest.mark.rule("R6")
@pytest.mark.parametrize(
    ("symbol", "plain"),
    [
        ("Ns.T", "Ns.T"),
        ("Ns.T`1~aab48bad", "Ns.T`1"),
        ("N.C.Do(int)~2", "N.C.Do(int)"),
        ("N.C~aab48bad.Do(int)~2", "N.C.Do(int)"),
        ("N.C~aab48badly", "N.C~aab48badly"),
    ],
)
def test_r6_the_artifact_has_no_suffix(symbol: str, plain: str) -> None:
    assert plain_symbol(symbol) == plain


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("src/walk.Batch", "batch"),
        ("web/src/cart.Cart`1~1f2e3d4c", "cart"),
        ("Shop.Money", "money"),
        ("Program.MapGet(/api/customers/{id:guid}/discount)", "mapget"),
    ],
)
def test_what_a_file_declares_is_called_without_its_folders_and_routes_are_none(symbol: str, name: str) -> None:
    assert declared_names(symbol, in_file=True) == (name,)
