"""`search.profile: seed`, one word in a configuration file: reciprocal ranks of 40 embeddings and 20 keyword matches,
and 15 pieces of evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_assets import open_index
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, new_repository
from rag_assets_tests.stored_points import payloads_in

THINGS = ["invoice", "order", "parcel", "refund", "customer", "carrier", "basket", "coupon", "supplier", "ledger"]
DOES = ["writes", "reads", "checks", "sends", "counts", "finds"]
QUESTION = "which service checks the refund of an order"
LABEL = "shop@main"


def source(thing: str, verb: str) -> str:
    name = f"{thing.title()}{verb.title()}Service"
    return (
        f"namespace Shop.{thing.title()};\n\n/// <summary>This service {verb} the {thing} of an order.</summary>\n"
        f"public delegate void {name}(int {thing});\n"
    )


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    base = tmp_path_factory.mktemp("seed")
    new_repository(base / "shop", {f"src/{thing}/{verb}.cs": source(thing, verb) for thing in THINGS for verb in DOES})
    (base / "pipelines").mkdir()
    (base / "pipelines" / "own.yaml").write_text(
        "pipeline:\n  name: own\n  extends: code_question_answering_offline\n  settings: {retrieval_top_k: 30}\n",
        encoding="utf-8",
    )
    made = CommandLine(IndexHome(base / "home"), base)
    configure(made)
    made.build(options=())
    yield made


def configure(cli: CommandLine, **sections: Any) -> Path:
    settings = {"home": "home", "repositories": [{"id": "shop", "location": "shop"}], **sections}
    (cli.folder / "rag_assets.yaml").write_text(json.dumps(settings), encoding="utf-8")
    return cli.folder / "rag_assets.yaml"


@pytest.mark.rule("D13")
def test_semantic_hits_are_points_that_are_stored_and_keep_their_ids(cli: CommandLine) -> None:
    def found() -> list[tuple[str, str]]:
        words = ("search", QUESTION, "--mode", "semantic", "--limit", "20", "--json", "--full")
        result = cli.run(*words, options=()).json
        assert result["mode"] == "semantic" and len(result["hits"]) == 20
        return [(hit["point_id"], hit["semantic_id"]) for hit in result["hits"]]

    configure(cli)
    before = found()
    cli.build(options=(), force=True)
    generation = active_generation(cli.home, LABEL).directory
    stored = {payload["SemanticId"] for payload in payloads_in(generation)}
    assert found() == before and len(dict(before)) == 20 and {known for _, known in before} <= stored


@pytest.mark.rule("R31", "D16", "E09", "R9")
def test_hybrid_is_the_sum_of_reciprocal_ranks_of_forty_and_twenty(cli: CommandLine) -> None:
    with open_index(LABEL, home=cli.home.root, config=configure(cli)) as index:
        near = sorted(index.search(QUESTION, mode="semantic", limit=100), key=lambda hit: -hit.scores["dense"])
        found = index.search(QUESTION, mode="bm25", limit=200)
        scores = {hit.point_id: hit.scores["bm25"] for hit in found}
        assert index.search(QUESTION, explain=True).candidates != {"dense": 40, "bm25": 20}, (
            "the default stays what measures best"
        )
    dense = [hit.point_id for hit in near][:40]
    words = sorted(scores, key=lambda known: (-scores[known], known))[:20]
    sides = [{known: rank for rank, known in enumerate(side, 1)} for side in (dense, words)]
    last = 1_000
    sums = {known: sum(1 / (60 + side[known]) for side in sides if known in side) for known in {*dense, *words}}
    expected = sorted(
        sums, key=lambda known: (-round(sums[known], 12), *(side.get(known, last) for side in sides), known)
    )
    with open_index(LABEL, home=cli.home.root, config=configure(cli, search={"profile": "seed"})) as index:
        fused = index.search(QUESTION, explain=True)
    assert (fused.mode, fused.candidates) == ("hybrid", {"dense": 40, "bm25": 20})
    assert [hit.score for hit in fused] == pytest.approx([sums[known] for known in expected[:15]])
    assert [hit.point_id for hit in fused] == expected[:15]


@pytest.mark.rule("R31", "E10", "E13")
def test_an_answer_is_made_from_fifteen_pieces_within_the_budget(cli: CommandLine) -> None:
    def asked(**sections: Any) -> Any:
        configure(cli, **sections)
        return cli.run("ask", QUESTION, "--pipeline", "own", "--json", options=()).json

    def hits(found: Any) -> list[float]:
        return [piece["score"] for piece in found["evidence"] if piece["origin"] == "hit"]

    assert len(hits(asked())) > 15, "the pipeline names 30"
    found = asked(search={"profile": "seed"})
    assert len(hits(found)) == 15 and hits(found) == sorted(hits(found), reverse=True)
    assert len({piece["id"] for piece in found["evidence"]}) == len(found["evidence"])
    small = asked(search={"profile": "seed"}, answer={"max_context_tokens": 300})
    assert small["context_tokens"] <= 300
    assert len(hits(asked(search={"profile": "seed"}, answer={"max_chunks": 12}))) == 12, "what is named holds"


@pytest.mark.rule("R31", "E14")
def test_what_is_named_beside_the_profile_holds(cli: CommandLine) -> None:
    configure(cli, search={"profile": "seed", "keyword_candidates": 7, "limit": 3})
    found = cli.run("search", QUESTION, "--json", "--full", "--explain", options=()).json
    assert len(found["hits"]) == 3
    with open_index(LABEL, home=cli.home.root, config=cli.folder / "rag_assets.yaml") as index:
        assert index.search(QUESTION, explain=True).candidates == {"dense": 40, "bm25": 7}
    origins = cli.run("pipeline", "show", "own", "--effective", "--json", options=()).json["origins"]
    assert origins["retrieval_top_k"] == {"layer": "configuration", "at": "search.profile"}


def test_an_unknown_profile_is_refused_with_those_there_are(cli: CommandLine) -> None:
    configure(cli, search={"profile": "sed"})
    done = cli.run("search", QUESTION, options=())
    assert done.code == 1 and "search.profile" in done.err and "seed" in done.err


@pytest.mark.rule("E14")
@pytest.mark.parametrize(
    ("search", "mode"),
    [
        ({"mode": "bm25"}, None),
        ({"limit": 3}, None),
        ({"fusion": "rrf"}, None),
        ({"dense_candidates": 1}, "hybrid"),
        ({"keyword_candidates": 1}, "hybrid"),
        ({"alpha": 0.0}, "semantic_rerank"),
        ({"beta": 0.0}, "semantic_rerank"),
    ],
    ids=str,
)
def test_every_setting_changes_what_the_command_finds(
    cli: CommandLine, search: dict[str, Any], mode: str | None
) -> None:
    words = ("search", QUESTION, "--json", "--full", "--explain", *(() if mode is None else ("--mode", mode)))

    def found(**sections: Any) -> tuple[str, list[tuple[str, float]]]:
        configure(cli, **sections)
        result = cli.run(*words, options=()).json
        return result["mode"], [(hit["path"], hit["score"]) for hit in result["hits"]]

    assert found() != found(search=search)
