"""Several labels as one ranking, and two labels side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag_assets import (
    ComparedSearch,
    Index,
    IndexGroup,
    QueryError,
    compare_search,
    open_index,
    open_indexes,
)
from rag_assets.index.layout import IndexHome
from rag_assets_tests.search.small_index import LABEL, SHOP, Section, build
from rag_assets_tests.search.tenants import HashedWords


def labelled(label: str, sections: Sequence[Section], **changes: Any) -> list[Section]:
    return [replace(section, label=label, **changes) for section in sections]


def changes(found: ComparedSearch) -> dict[str, str]:
    return {hit.symbol: str(row.change) for row in found.hits if (hit := row.new or row.old) is not None}


def made(home: IndexHome, label: str, sections: Sequence[Section], **changes: Any) -> None:
    build(home, labelled(label, sections), label=label, **changes)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> IndexHome:
    """One repository in one label, and its halves in two, with their own vocabularies; a common model."""
    found = IndexHome(tmp_path_factory.mktemp("several"))
    for label, sections in (("whole@main", SHOP), ("left@main", SHOP[:3]), ("right@main", SHOP[3:])):
        made(found, label, sections, embedder=HashedWords())
    return found


def opened(home: IndexHome, *labels: str) -> list[Index]:
    found = []
    for label in labels:
        plain = open_index(label, home=home.root)
        found.append(Index(home, plain.generation, embedder=HashedWords()))
        plain.close()
    return found


@pytest.mark.parametrize("mode", ["bm25", "semantic", "hybrid"])
@pytest.mark.parametrize("query", ["order", "order service mail", "OrderService", "the customer of a parcel"])
def test_two_halves_rank_as_the_whole(home: IndexHome, mode: str, query: str) -> None:
    """The idf of all labels together makes scores comparable; lengths are averaged per label, so near scores may differ
    a little and the best stays the best."""
    with (
        IndexGroup(opened(home, "left@main", "right@main")) as halves,
        IndexGroup(opened(home, "whole@main")) as whole,
    ):
        found, expected = halves.search(query, mode=mode, limit=20), whole.search(query, mode=mode, limit=20)
    assert {hit.symbol for hit in found} == {hit.symbol for hit in expected}
    if mode == "semantic":  # where ties are in the order of ids, which know their label
        assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected])
    else:
        assert found[0].symbol == expected[0].symbol


def test_a_rare_word_of_one_label_weighs_what_it_weighs_in_all(tmp_path: Path) -> None:
    """`order` is in every section of the first label and in one of the second: alone there it would beat everything."""
    home = IndexHome(tmp_path)
    many = [Section(f"src/Order{n}.cs", f"Shop.Order{n}", "Model", "An order of the shop.") for n in range(12)]
    few = [
        Section("src/Mail.cs", "Post.Letter", "Model", "A letter about an order."),
        *(Section(f"src/Post{n}.cs", f"Post.Letter{n}", "Model", "A letter with stamps.") for n in range(12)),
    ]
    made(home, "many@main", many)
    made(home, "few@main", few)
    with open_indexes(["many@main", "few@main"], home=tmp_path) as group:
        alone = {label: index.search("order", mode="bm25")[0].scores["bm25"] for label, index in group.indexes.items()}
        found = group.search("order", mode="bm25", limit=3)
    assert alone["few@main"] > 3 * alone["many@main"]
    assert found[0].label == "many@main"


def test_hits_say_where_they_are_from(home: IndexHome) -> None:
    with IndexGroup(opened(home, "left@main", "right@main")) as group:
        result = group.search("order", limit=20)
        assert {hit.label for hit in result} == {"left@main", "right@main"}
        assert [source.label for source in result.sources] == ["left@main", "right@main"]
        assert (result.label, result.generation_id, result.commit_sha) == ("", "", "")
        assert result.filters["label"] == ("left@main", "right@main")
        for hit in result:
            assert group.index_of(hit).get(hit.point_id)["IndexLabel"] == hit.label


def test_filters_hold_in_every_label_and_k_stays_k(home: IndexHome) -> None:
    with IndexGroup(opened(home, "left@main", "right@main")) as group:
        assert [hit.symbol for hit in group.search("creates an order kind:Test", limit=1)] == [SHOP[5].symbol]
        assert {hit.path for hit in group.search("order path:src/Orders", limit=20)} == {
            section.path for section in SHOP if section.path.startswith("src/Orders/")
        }
        assert "no section has kind Ddr" in group.search("order kind:Ddr").warnings[0]


def test_labels_of_two_models_are_ranked_by_words_and_it_is_said(home: IndexHome, tmp_path: Path) -> None:
    class Other(HashedWords):
        model_id = "other-words"

    made(home, "other@main", SHOP[:2], embedder=Other())
    with IndexGroup(opened(home, "left@main", "other@main")) as group:
        result = group.search("order")
    assert result.mode == "bm25"
    assert "different models (hashed-words, other-words)" in result.warnings[0]


@pytest.mark.parametrize(
    ("labels", "says"), [([], "one at least"), (["left@main", "left@main"], "")], ids=["none", "twice the same"]
)
def test_which_labels_can_be_a_group(home: IndexHome, labels: list[str], says: str) -> None:
    if says:
        with pytest.raises(QueryError, match=says):
            open_indexes(labels, home=home.root)
    else:
        with open_indexes(labels, home=home.root) as group:
            assert list(group.indexes) == ["left@main"]


def test_what_v1_says_and_what_v2_says(tmp_path: Path) -> None:
    home = IndexHome(tmp_path)
    kept, old, moved, gone = SHOP[1], SHOP[2], SHOP[3], SHOP[0]
    new = Section("src/Orders/OrderArchive.cs", "Shop.Orders.OrderArchive", "Service", "Keeps old orders.")
    made(home, "shop@v1", [kept, old, moved, gone])
    changed = [kept, replace(old, content="another text"), replace(moved, path="src/Model/Order.cs"), new]
    made(home, "shop@v2", changed)
    with open_index("shop@v1", home=tmp_path) as before, open_index("shop@v2", home=tmp_path) as after:
        found = compare_search("orders order refund policy", before, after, mode="bm25", limit=20)
    assert changes(found) == {
        kept.symbol: "same",
        old.symbol: "changed",
        moved.symbol: "moved",
        new.symbol: "added",
        gone.symbol: "removed",
    }
    assert all(row.old is None or row.old.label == "shop@v1" for row in found.hits)
    ranks = [min(rank for rank in (row.old_rank, row.new_rank) if rank) for row in found.hits]
    assert ranks == sorted(ranks)


def test_a_section_that_only_one_label_found_is_looked_up_in_the_other(tmp_path: Path) -> None:
    home = IndexHome(tmp_path)
    made(home, "shop@v1", SHOP)
    made(home, "shop@v2", SHOP)
    with open_index("shop@v1", home=tmp_path) as before, open_index("shop@v2", home=tmp_path) as after:
        found = compare_search("order", before, after, mode="bm25", limit=1)
        narrowed = after.search("order kind:Test", mode="bm25", limit=1)
        sides = compare_search("order", before, before, mode="bm25", limit=1)
    assert [str(row.change) for row in found.hits] == ["same"] == [str(row.change) for row in sides.hits]
    assert narrowed


def test_other_repositories_correspond_by_what_they_declare(tmp_path: Path) -> None:
    home = IndexHome(tmp_path)
    made(home, "shop@v1", SHOP[:3])
    made(home, LABEL, [replace(section, project="fork") for section in SHOP[1:4]], project_id="fork")
    with open_index("shop@v1", home=tmp_path) as before, open_index(LABEL, home=tmp_path) as after:
        found = compare_search("order refund", before, after, mode="bm25", limit=20)
    assert changes(found) == {
        SHOP[0].symbol: "removed",
        SHOP[1].symbol: "same",
        SHOP[2].symbol: "same",
        SHOP[3].symbol: "added",
    }
