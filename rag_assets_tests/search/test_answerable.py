"""What an index can be asked, and what happens where it lacks what a mode needs (D15, D17)."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets import Index, IndexGroup, QueryError, open_index
from rag_assets.contracts.retrieval import (
    DEFAULT_POLICY,
    Capability,
    Mode,
    OnMissing,
    SearchPolicy,
    fallback,
    retrieval_modes,
)
from rag_assets.index.generations import Generation, active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.qa.services import PipelineServices
from rag_assets.search.retrieve import answerable
from rag_assets_tests.search.small_index import LABEL, SHOP, build
from rag_assets_tests.search.tenants import HashedWords

DENSE, KEYWORD = Capability.DENSE, Capability.KEYWORD
WHY = {DENSE: "no vectors", KEYWORD: "no words"}


@pytest.mark.rule("D17")
@pytest.mark.parametrize(
    ("built", "modes"),
    [
        ((DENSE, KEYWORD), ("hybrid", "semantic", "semantic_rerank", "bm25")),
        ((KEYWORD,), ("bm25",)),
        ((DENSE,), ("semantic", "semantic_rerank")),
        ((), ()),
        (("of a later version", "keyword", Capability.GRAPH), ("bm25",)),
    ],
    ids=["whole", "lexical", "no keywords", "nothing", "unknown parts"],
)
def test_the_modes_are_those_of_what_was_built(built: Sequence[str], modes: tuple[str, ...]) -> None:
    assert retrieval_modes(built) == modes


@pytest.mark.rule("D15", "D17")
@pytest.mark.parametrize(
    ("lacking", "instead"),
    [({KEYWORD}, Mode.SEMANTIC), ({DENSE}, Mode.BM25), ({DENSE, KEYWORD}, None), (set(), Mode.BM25)],
    ids=["keywords", "vectors", "both", "nothing"],
)
def test_what_answers_instead_is_always_the_same(lacking: set[Capability], instead: Mode | None) -> None:
    assert fallback(set(Capability) - lacking) is instead
    for wanted in Mode:
        possible = retrieval_modes(set(Capability) - lacking)
        if wanted in possible:
            assert answerable(wanted, {part: WHY[part] for part in lacking}, "fail") is wanted
        elif instead is not None:
            assert answerable(wanted, {part: WHY[part] for part in lacking}, "fall_back") is instead


@pytest.mark.rule("D15")
@pytest.mark.parametrize("on_missing", ["fail", "fall_back"])
def test_nothing_to_fall_back_on_is_an_error_in_any_case(on_missing: OnMissing) -> None:
    with pytest.raises(QueryError, match=r"hybrid search is not possible: no vectors; no words$"):
        answerable(Mode.HYBRID, WHY, on_missing)


@pytest.mark.rule("D15")
def test_a_refusal_says_what_is_possible() -> None:
    with pytest.raises(QueryError, match=r"no words; semantic search is possible, .*search\.on_missing: fall_back"):
        answerable(Mode.BM25, {KEYWORD: "no words"}, "fail")


@pytest.fixture
def home(tmp_path: Path) -> IndexHome:
    found = IndexHome(tmp_path)
    build(found, SHOP, embedder=HashedWords())
    return found


def opened(home: IndexHome, policy: SearchPolicy = DEFAULT_POLICY, **manifest: object) -> Index:
    found = active_generation(home, LABEL)
    generation = Generation(found.directory, replace(found.manifest, **manifest))  # type: ignore[arg-type]
    return Index(home, generation, embedder=HashedWords(), policy=policy)


@pytest.mark.rule("D15", "D17")
@pytest.mark.parametrize(
    ("capabilities", "wanted", "used", "says"),
    [
        (("keyword",), "hybrid", "bm25", "keyword search only: this index was built without an embedding model"),
        (("keyword",), "semantic_rerank", "bm25", "keyword search only"),
        (("dense",), "hybrid", "semantic", "semantic search only: this index was built without keywords"),
        (("dense",), "bm25", "semantic", "semantic search only"),
        (("dense", "keyword"), "bm25", "bm25", ""),
    ],
)
def test_a_mode_outside_the_list_of_the_manifest_is_answered_by_another(
    home: IndexHome, caplog: pytest.LogCaptureFixture, capabilities: tuple[str, ...], wanted: str, used: str, says: str
) -> None:
    with opened(home, capabilities=capabilities) as index, caplog.at_level(logging.INFO, "rag_assets"):
        found = index.search("order", mode=wanted)
    assert (found.mode, found.requested_mode, bool(found.hits)) == (used, wanted, True)
    assert [warning for warning in found.warnings if not warning.startswith(says)] == []
    assert (len(found.warnings), len(caplog.records)) == ((1, 1) if says else (0, 0))


@pytest.mark.rule("D15")
@pytest.mark.parametrize(("capabilities", "wanted"), [(("keyword",), "semantic"), (("dense",), "bm25")])
def test_a_mode_outside_the_list_is_refused_where_the_policy_says_so(
    home: IndexHome, capabilities: tuple[str, ...], wanted: str
) -> None:
    refused = pytest.raises(QueryError, match=f"{wanted} search is not possible: this index was built without")
    with opened(home, SearchPolicy(on_missing="fail"), capabilities=capabilities) as index, refused:
        index.search("order", mode=wanted)


@pytest.mark.rule("D15")
@pytest.mark.parametrize("what", ["folder", "file"])
@pytest.mark.parametrize("on_missing", ["fail", "fall_back"])
def test_keyword_files_that_have_gone_are_missing_too(home: IndexHome, what: str, on_missing: OnMissing) -> None:
    keyword = active_generation(home, LABEL).keyword
    if what == "folder":
        shutil.rmtree(keyword)
    else:
        (keyword / "vocabulary.tsv").unlink()
    with opened(home, SearchPolicy(on_missing=on_missing), capabilities=("dense", "keyword")) as index:
        if on_missing == "fail":
            with pytest.raises(QueryError, match="run: rag-assets index"):
                index.search("order", mode="bm25")
            return
        found = index.search("order", mode="bm25", explain=True)
    assert found.mode == "semantic" and found.hits and found.terms == ()
    assert "semantic search only: " in found.warnings[0]


@pytest.mark.rule("D15")
@pytest.mark.parametrize("name", ["statistics.json", "vocabulary.tsv"])
@pytest.mark.parametrize("content", [b"", b"{", b"\x00\xff" * 8], ids=["empty", "cut short", "other bytes"])
@pytest.mark.parametrize("together", [False, True], ids=["one label", "as a group"])
def test_an_answer_falls_back_as_its_search_does(home: IndexHome, name: str, content: bytes, together: bool) -> None:
    (active_generation(home, LABEL).keyword / name).write_bytes(content)
    with opened(home) as index:
        asked = IndexGroup([index]) if together else index
        search = asked.search("order", literal=True)
        services = PipelineServices(lambda _: asked, opened={LABEL: asked})
        found = services.search(LABEL, "order", Mode.HYBRID, 5)
        words, names = services.asked_words(LABEL, "which order is paid"), services.known_names(LABEL, "`Order`")
    assert search.mode == found.search.mode == "semantic"
    assert "semantic search only: " in found.warnings[0]
    assert found.search.hits and [(word.word, word.known) for word in found.words] == [("order", True)]
    assert [word.word for word in words] == ["order", "paid"] and names == ("Order",)


@pytest.mark.rule("D15")
def test_an_answer_is_refused_as_its_search_is(home: IndexHome) -> None:
    (active_generation(home, LABEL).keyword / "vocabulary.tsv").write_bytes(b"")
    with opened(home, SearchPolicy(on_missing="fail")) as index:
        services = PipelineServices(lambda _: index, opened={LABEL: index})
        with pytest.raises(QueryError, match="is damaged"):
            services.search(LABEL, "order", Mode.HYBRID, 5)


@pytest.mark.rule("D14", "D17")
def test_rescoring_needs_no_index_of_words(home: IndexHome) -> None:
    with opened(home) as whole, opened(home, capabilities=("dense",)) as index:
        shutil.rmtree(active_generation(home, LABEL).keyword)
        found = index.search("OrderService", mode="semantic_rerank")
        assert found.warnings == () and found[0].symbol == "Shop.Orders.OrderService"
        assert found.hits == whole.search("OrderService", mode="semantic_rerank").hits


@pytest.mark.rule("D17")
def test_several_labels_can_do_what_each_of_them_can(home: IndexHome) -> None:
    build(home, SHOP, label="site@main")
    with IndexGroup([opened(home), open_index("site@main", home=home.root)]) as group:
        found = group.search("order", mode="semantic")
    assert found.mode == "bm25"
    assert found.warnings == ("keyword search only: site@main: this index was built without an embedding model",)
