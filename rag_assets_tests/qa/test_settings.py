"""Every setting of D02 changes what a turn does."""

from __future__ import annotations

import pytest

from rag_assets.contracts.retrieval import Mode
from rag_assets.models.openai_compat.token_counting import estimate_tokens
from rag_assets.qa.engine import TurnResult
from rag_assets.qa.turn import RetrievalState
from rag_assets_tests.models.llm.model_server import failing
from rag_assets_tests.qa.conftest import Asking, Shop, notes_of
from rag_assets_tests.qa.http_model import prompt_text


def found(asking: Asking, result: TurnResult) -> RetrievalState:
    assert result.turn is not None
    return result.turn.found[asking.label]


def ways(result: TurnResult) -> list[str]:
    return [record.step for record in result.records]


@pytest.mark.rule("D02", "D03")
def test_active_index_and_repository_name_the_index(asking: Asking, shop_indexes: Shop, good: str) -> None:
    script = asking.script(answer=good)
    by_label = asking.ask(asking.pipeline(active_index=shop_indexes.later), label="")
    by_ref = asking.ask(asking.pipeline(repository="shop", active_index="main"), label="")
    assert list(by_label.lock.generations) == [shop_indexes.later]
    assert list(by_ref.lock.generations) == [shop_indexes.label]
    first, second = map(prompt_text, script.asked("router"))
    assert '"later"' in first and '"shop"' in second


@pytest.mark.rule("D02", "D03")
def test_repository_is_what_prompts_call_it(asking: Asking, good: str) -> None:
    script = asking.script(answer=good)
    asking.ask(asking.pipeline(repository="nopCommerce"))
    assert '"nopCommerce"' in prompt_text(script.asked("answer")[0])


@pytest.mark.rule("D02", "D03")
def test_model_language_is_what_is_translated_into_and_answered_in(asking: Asking, good: str) -> None:
    script = asking.script(translate_in="Jak zwraca order?", translate_out="Wie?", answer=good)
    asking.ask(asking.pipeline(model_language="pl", weak_below=0), "Wie?", is_english=False)
    assert '"pl"' in prompt_text(script.asked("translate_in")[0])
    assert '"pl"' in prompt_text(script.asked("answer")[0])


@pytest.mark.rule("D02", "D03", "D32")
def test_execution_begins_at_entry_step_id(asking: Asking, good: str) -> None:
    asking.script(answer=good)
    assert ways(asking.ask(asking.pipeline(entry_step_id="fetch")))[0] == "fetch"


@pytest.mark.rule("D02", "D03")
@pytest.mark.parametrize(("depth", "reached"), [(0, False), (1, True)])
def test_graph_max_depth(asking: Asking, good: str, depth: int, reached: bool) -> None:
    asking.script(answer=good)
    result = asking.ask(asking.pipeline(graph_max_depth=depth, retrieval_top_k=1, weak_below=0))
    around = found(asking, result).neighbourhood
    assert around is not None
    assert any("WriteCreditNote" in node.key for node in around.nodes) is reached


@pytest.mark.rule("D02", "D03")
def test_graph_max_nodes(asking: Asking, good: str) -> None:
    asking.script(answer=good)
    around = found(asking, asking.ask(asking.pipeline(graph_max_nodes=3))).neighbourhood
    assert around is not None and len(around.nodes) == 3


@pytest.mark.rule("D02", "D03", "R27")
def test_graph_edge_allowlist_takes_aliases(asking: Asking, good: str) -> None:
    asking.script(answer=good)
    around = found(asking, asking.ask(asking.pipeline(graph_edge_allowlist=["CalledBy", "Call"]))).neighbourhood
    assert around is not None and {edge.relation.value for edge in around.edges} == {"Calls"}


@pytest.mark.rule("D02", "D03", "D21")
@pytest.mark.parametrize("most", [0, 1])
def test_node_text_fetch_top_n(asking: Asking, good: str, most: int) -> None:
    asking.script(answer=good)
    pipeline = asking.pipeline(node_text_fetch_top_n=most, retrieval_top_k=1, weak_below=0)
    assert len(found(asking, asking.ask(pipeline)).texts) == most


@pytest.mark.rule("D02", "D03", "D17")
def test_a_mode_outside_of_retrieval_modes_is_the_default_mode(asking: Asking, good: str) -> None:
    script = asking.script(router="[SEMANTIC:] refund order", answer=good)
    result = asking.ask(asking.pipeline(retrieval_modes=["bm25"], default_mode="bm25"))
    assert result.turn is not None and result.turn.plan is not None and result.turn.plan.mode is Mode.BM25
    assert any("not one of retrieval_modes" in note for note in notes_of(result))
    assert "[HYBRID:]" not in prompt_text(script.asked("router")[0])


@pytest.mark.rule("D02", "D03")
def test_default_mode(asking: Asking, good: str) -> None:
    asking.script(router="nonsense", answer=good)
    result = asking.ask(asking.pipeline(default_mode="bm25"))
    assert result.turn is not None and result.turn.plan is not None and result.turn.plan.mode is Mode.BM25


@pytest.mark.rule("D02", "D03")
def test_retrieval_top_k(asking: Asking, good: str) -> None:
    def pieces(most: int) -> int:
        pipeline = asking.pipeline("code_question_answering_offline", retrieval_top_k=most)
        return len(found(asking, asking.ask(pipeline, "order invoices")).evidence)

    assert pieces(1) == 1 < pieces(5)


@pytest.mark.rule("D02", "D03", "E21")
@pytest.mark.parametrize("policy", ["flag", "drop", "keep"])
def test_citation_policy(asking: Asking, good: str, policy: str) -> None:
    invented = "Elephants carry quantum hamburgers to Neptune."
    asking.script(answer=f"{good} {invented}")
    answer = asking.ask(asking.pipeline(citation_policy=policy)).answer
    assert ("[unverified]" in answer, invented.rstrip(".") in answer) == {
        "flag": (True, True),
        "drop": (False, False),
        "keep": (False, True),
    }[policy]


@pytest.mark.rule("D02", "D03", "D22", "D23")
@pytest.mark.parametrize("budget", [150, 300, 6_000])
def test_max_context_tokens_bounds_the_prompt_and_every_id_stays(asking: Asking, good: str, budget: int) -> None:
    summary = "Orders are refunded by `RefundOrder`. " * 40
    script = asking.script(context_summary=summary, answer=good)
    result = asking.ask(asking.pipeline(max_context_tokens=budget))
    assert result.turn is not None
    assert estimate_tokens([result.turn.context])[0] <= budget
    inside = prompt_text(script.asked("answer")[0]).partition("The evidence:")[2]
    assert all(piece.id in inside for piece in found(asking, result).all)
    assert estimate_tokens([inside])[0] <= budget + 30, "the marks around it take some"
    assert ("budget" in ways(result), "compact" in ways(result)) == (True, budget < 6_000)


@pytest.mark.rule("D23")
def test_a_summary_replaces_the_evidence_and_keeps_every_identifier(asking: Asking, good: str) -> None:
    script = asking.script(context_summary="Nothing is named here at all.", answer=good)
    result = asking.ask(asking.pipeline(max_context_tokens=400, graph_max_nodes=20, node_text_fetch_top_n=2))
    assert "summarize" in ways(result)
    read = prompt_text(script.asked("answer")[0])
    assert "Nothing is named here at all." in read and "_invoices.WriteCreditNote" not in read
    pieces = found(asking, result).all
    for piece in pieces:
        assert piece.id in read and all(key in read for key in piece.node_keys)
    for asked in script.asked("context_summary"):
        assert "How are refunds of an order paid back?" in prompt_text(asked), "query-aware"


@pytest.mark.rule("D23")
def test_without_a_summary_the_compacted_evidence_stays(asking: Asking, good: str) -> None:
    script = asking.script(context_summary=failing(500), answer=good)
    result = asking.ask(asking.pipeline(max_context_tokens=150))
    assert any("no summary" in note for note in notes_of(result))
    assert result.turn is not None and estimate_tokens([result.turn.context])[0] <= 150
    assert "at=" in prompt_text(script.asked("answer")[0])
