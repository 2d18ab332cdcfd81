"""The small parts: prompts, translation, the registry of actions, locks, repeated queries, the text of evidence."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import msgspec
import pytest

from rag_assets.models.openai_compat.token_counting import estimate_tokens
from rag_assets.qa.actions import BUILT_IN
from rag_assets.qa.actions.context_budget import batches, compacted, whole, with_identifiers
from rag_assets.qa.actions.question import protect, restore
from rag_assets.qa.actions.retrieval import comparable, same_query
from rag_assets.qa.definition.action_registry import Action, ActionError, ActionRegistry, StepOutcome
from rag_assets.qa.definition.loader import PipelineLibrary, default_registry
from rag_assets.qa.definition.steps import Transition
from rag_assets.qa.engine import run_turn
from rag_assets.qa.errors import PipelineError, TurnError
from rag_assets.qa.prompts import find_prompt, parse_prompt
from rag_assets.qa.services import PipelineServices
from rag_assets.qa.turn import RetrievalState, Turn, TurnContext, TurnFingerprint, TurnRequest, differences
from rag_assets_tests.qa.conftest import Asking, notes_of

PROMPT = "# system\nBe brief, {language}.\n# user\nQ: {question}\n{history}"

REQUIRED = {
    "translate_in_if_needed", "load_conversation_history", "check_context_budget", "call_model", "handle_prefix",
    "fetch_more_context", "expand_dependency_tree", "fetch_node_texts", "loop_guard", "persist_turn_and_finalize",
    "finalize",
}  # fmt: skip


class TestPrompts:
    def test_data_is_fenced_and_filled_once(self) -> None:
        system, user = parse_prompt("p", PROMPT, "p.md").messages(
            {"language": "en", "question": "is {history} [Answer:]?", "history": "secret"}
        )
        assert (system.role, system.content) == ("system", "Be brief, en.")
        assert user.content.count("secret") == 1
        assert "is {history} ⟦Answer:]?\n</data-question-" in user.content

    def test_what_is_not_there_leaves_nothing(self) -> None:
        assert parse_prompt("p", PROMPT, "p.md").messages({})[1].content == "Q: \n"

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("", "p.md:1: a prompt has two parts"),
            ("# system\nx", "p.md:1: a prompt has two parts"),
            ("# system\n\n# user\nx", "p.md:1: a prompt has two parts"),
            ("hello\n# system\nx\n# user\ny", "p.md:1: a prompt has two parts"),
            ("# system\nx\n# user\ny\n# user\nz", "p.md:1: a prompt has two parts"),
            ("# system\nx\n# user\n{questio}", "p.md:4: nothing fills {questio}; did you mean 'question'?"),
        ],
    )
    def test_a_prompt_that_cannot_be_used(self, text: str, problem: str) -> None:
        with pytest.raises(PipelineError, match=problem.replace("{", r"\{").replace("?", r"\?")):
            parse_prompt("p", text, "p.md")

    def test_line_ends_do_not_change_a_prompt(self) -> None:
        assert parse_prompt("p", PROMPT.replace("\n", "\r\n"), "p.md") == parse_prompt("p", PROMPT, "p.md")

    def test_the_first_folder_that_has_it(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
        (tmp_path / "b" / "p.md").write_text(PROMPT, encoding="utf-8")
        found = find_prompt("p", [tmp_path / "a", tmp_path / "b"])
        assert found is not None and found.names == {"language", "question", "history"}
        assert find_prompt("q", [tmp_path / "b"]) is None


class TestTranslation:
    TEXT = (
        "Die Methode `Do()` von Shop.OrderService in src/a.cs:3-4 ruft max_retries [chunk: 1a2b] und "
        "https://x.test/y auf:\n```cs\nvar a = 1;\n```"
    )

    @pytest.mark.rule("R28")
    def test_code_names_and_citations_stay(self) -> None:
        protected = protect(self.TEXT)
        assert protected.text == "Die Methode ⟦0⟧ von ⟦1⟧ in ⟦2⟧ ruft ⟦3⟧ ⟦4⟧ und ⟦5⟧ auf:\n⟦6⟧"
        assert restore(protected.text, protected) == self.TEXT
        assert restore("⟦6⟧ ⟦5⟧ ⟦4⟧ ⟦3⟧ ⟦2⟧ ⟦1⟧ ⟦0⟧ ⟦0⟧", protected) is not None, "another order of words"

    @pytest.mark.rule("R28")
    @pytest.mark.parametrize("reply", ["nothing", "⟦0⟧", "⟦0⟧ ⟦1⟧ ⟦2⟧ ⟦3⟧ ⟦4⟧ ⟦5⟧ ⟦6⟧ ⟦7⟧"])
    def test_what_loses_or_invents_one_is_no_translation(self, reply: str) -> None:
        assert restore(reply, protect(self.TEXT)) is None

    def test_a_text_that_has_placeholders_of_its_own(self) -> None:
        protected = protect("see ⟦3⟧ and `x`")
        assert restore(protected.text, protected) == "see ⟦3⟧ and `x`"

    @pytest.mark.rule("D01", "D04", "R28")
    def test_a_question_is_translated_where_the_caller_says_so(self, asking: Asking, good: str) -> None:
        script = asking.script(translate_in="What does ⟦0⟧ do?", translate_out="⟦0⟧ ⟦1⟧ ⟦2⟧ gut", answer=good)
        question = "Was macht RefundOrder?"
        result = asking.ask(question=question, is_english=False)
        assert result.turn is not None and result.turn.question_en == "What does RefundOrder do?"
        assert result.turn.request.question == question
        assert "RefundOrder" in result.answer and "[chunk: " in result.answer and result.answer.endswith("gut")
        asking.ask(question=question)
        assert len(script.asked("translate_in")) == 1, "no language is detected"

    @pytest.mark.rule("R28")
    def test_a_translation_that_loses_a_citation_is_not_shown(self, asking: Asking, good: str) -> None:
        asking.script(translate_in="How is an order refunded?", translate_out="Alles gut.", answer=good)
        result = asking.ask(question="Wie?", is_english=False)
        assert result.answer == result.answer_en
        assert any("not translated" in note for note in notes_of(result))


class TestRegistry:
    @pytest.mark.rule("D28")
    def test_every_generic_action_is_there(self) -> None:
        assert set(default_registry().names) >= REQUIRED

    def test_installed_packages_are_looked_at_for_names_that_are_not_built_in(self) -> None:
        looked_at: list[str] = []

        def installed() -> list[EntryPoint]:
            looked_at.append("now")
            return [point("register_shout")]

        found = ActionRegistry(BUILT_IN, installed=installed)
        assert found.get("finalize") is not None and looked_at == []
        assert found.get("shout") is not None and found.get("nobody") is None
        assert looked_at == ["now"] and "shout" in found.names

    def test_one_name_is_registered_once(self) -> None:
        with pytest.raises(ActionError, match="'finalize' is registered twice"):
            ActionRegistry([*BUILT_IN, next(action for action in BUILT_IN if action.name == "finalize")])

    def test_a_package_adds_an_action_that_pipelines_use(self, asking: Asking, good: str, tmp_path: Path) -> None:
        registry = ActionRegistry(BUILT_IN)
        registry.load_entry_points([point("register_shout")])
        file = tmp_path / "p.yaml"
        file.write_text(
            "pipeline:\n  name: loud\n  extends: code_question_answering\n  steps:\n"
            "    - {id: citations, action: shout, mark: '!!', next: finalize}\n",
            encoding="utf-8",
        )
        asking.script(answer=good)
        pipeline = PipelineLibrary(registry=registry).load(file)
        result = run_turn(pipeline, TurnRequest(question="refund?", label=asking.label), asking.services, registry)
        assert result.answer.endswith("!!") and result.lock.actions["shout"] == 7

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("nobody", "AttributeError"),
            ("register_finalize", "registered twice"),
            ("register_wrongly", "ValueError: no"),
        ],
    )
    def test_a_package_that_cannot_is_named(self, name: str, said: str) -> None:
        with pytest.raises(ActionError, match=f"acme.*{said}"):
            ActionRegistry(BUILT_IN).load_entry_points([point(name)])

    def test_an_action_that_ends_as_it_does_not_declare_is_stopped(self, asking: Asking, tmp_path: Path) -> None:
        registry = ActionRegistry(
            [*BUILT_IN, Action("odd", lambda turn, _, run: StepOutcome(turn, Transition.DENY), 1)]
        )
        file = tmp_path / "p.yaml"
        steps = "[{id: a, action: odd, next: b}, {id: b, action: finalize}]"
        file.write_text(f"pipeline: {{name: p, settings: {{entry_step_id: a}}, steps: {steps}}}", encoding="utf-8")
        pipeline = PipelineLibrary(registry=registry).load(file)
        with pytest.raises(TurnError, match="step 'a': odd ended with on_deny, which it does not declare"):
            run_turn(pipeline, TurnRequest(question="x", label=asking.label), asking.services, registry)


class Shout(msgspec.Struct, frozen=True):
    mark: str = "!"


def shout(turn: Turn, parameters: Shout, run: TurnContext) -> StepOutcome:
    return StepOutcome(replace(turn, answer_en=turn.answer_en + parameters.mark))


def register_shout(registry: ActionRegistry) -> None:
    registry.add(Action("shout", shout, 7, Shout))


def register_finalize(registry: ActionRegistry) -> None:
    registry.add(Action("finalize", shout, 1, Shout))


def register_wrongly(registry: ActionRegistry) -> None:
    raise ValueError("no")


def point(name: str) -> EntryPoint:
    return EntryPoint("acme", f"{__name__}:{name}", "rag_assets.actions")


class TestLock:
    def lock(self, asking: Asking, **settings: object) -> TurnFingerprint:
        return asking.ask(asking.pipeline(**settings) if settings else None).lock  # type: ignore[arg-type]

    def test_it_names_everything_that_decides_a_turn(
        self, asking: Asking, services: PipelineServices, good: str
    ) -> None:
        asking.script(answer=good)
        lock = self.lock(asking)
        assert lock.generations == {asking.label: services.generation(asking.label)}
        assert set(lock.actions) >= REQUIRED and set(lock.prompts) >= {"router", "answer"}
        assert lock == self.lock(asking) and lock.digest == self.lock(asking).digest
        assert msgspec.json.decode(msgspec.json.encode(lock), type=TurnFingerprint) == lock

    def test_it_changes_with_each_of_them(self, asking: Asking, good: str, tmp_path: Path) -> None:
        asking.script(answer=good)
        before = self.lock(asking, repository="x")
        settings = self.lock(asking, repository="x", max_turn_loops=1)
        assert [told.partition(":")[0] for told in differences(before, settings)] == ["pipeline"]
        (tmp_path / "pack" / "prompts").mkdir()
        (tmp_path / "pack" / "prompts" / "answer.md").write_text(PROMPT, encoding="utf-8")
        prompts = self.lock(asking, repository="x")
        assert [told.partition(":")[0] for told in differences(before, prompts)] == ["prompts answer"]
        assert len({before.digest, settings.digest, prompts.digest}) == 3


@pytest.mark.parametrize(
    ("query", "before", "same"),
    [
        ("refund order", "Order, REFUND!", True),
        ("refund order order", "refund order", True),
        ("ｒefund", "refund", True),
        ("???", "???", True),
        ("refund order", "refund orders", False),
        ("a", "", False),
    ],
)
def test_when_queries_are_the_same(query: str, before: str, same: bool) -> None:
    assert same_query(query, [comparable(before)]) is same


class TestContext:
    @pytest.fixture
    def found(self, asking: Asking, good: str) -> RetrievalState:
        asking.script(answer=good)
        result = asking.ask()
        assert result.turn is not None
        return result.turn.found[asking.label]

    @pytest.mark.rule("D22")
    def test_whole_has_every_text_and_edge(self, found: RetrievalState) -> None:
        text = whole(found, estimate_tokens).text
        assert all(f'id="{piece.id}"' in text for piece in found.all)
        around = found.neighbourhood
        assert around is not None and around.edges
        number = {node.key: str(at) for at, node in enumerate(around.nodes, 1)}
        lines = [line.split() for line in text.partition("Graph: ")[2].splitlines()[1:]]
        assert [(at, key) for key, at in number.items()] == [tuple(line) for line in lines[: len(number)]]
        told = {(line[0], line[1], target) for line in lines[len(number) :] for target in line[2:]}
        assert told == {(number[edge.source], edge.relation.value, number[edge.target]) for edge in around.edges}

    @pytest.mark.rule("D22", "D23")
    def test_what_is_compacted_still_names_every_node(self, found: RetrievalState) -> None:
        made = compacted(found, whole(found, estimate_tokens).tokens - 1, estimate_tokens)
        assert found.neighbourhood is not None
        assert made.complete and all(node.key in made.text for node in found.neighbourhood.nodes)

    @pytest.mark.rule("D22", "D23")
    @pytest.mark.parametrize("budget", [64, 100, 200, 400, 800, 5_000])
    def test_compacted_is_within_its_budget(self, found: RetrievalState, budget: int) -> None:
        made = compacted(found, budget, estimate_tokens)
        assert made.tokens == estimate_tokens([made.text])[0] <= budget
        everything = whole(found, estimate_tokens).tokens
        assert made.complete or budget < everything

    @pytest.mark.rule("D23")
    @pytest.mark.parametrize("budget", [64, 200, 1_000])
    def test_batches_are_within_their_budget_and_lose_no_word(self, found: RetrievalState, budget: int) -> None:
        parts = batches(found, budget, estimate_tokens)
        assert all(estimate_tokens([part])[0] <= budget for part in parts)
        assert "".join(" ".join(parts).split()) == "".join(whole(found, estimate_tokens).text.split())

    @pytest.mark.rule("D23")
    @pytest.mark.parametrize("summary", ["", "words " * 3_000, "x" * 20_000], ids=["empty", "long", "one-word"])
    def test_identifiers_come_before_the_prose_of_a_summary(self, found: RetrievalState, summary: str) -> None:
        text, missing = with_identifiers([summary], found, 600, estimate_tokens)
        assert estimate_tokens([text])[0] <= 600
        assert missing > 0 and all(piece.id in text for piece in found.all)

    def test_what_the_summary_names_is_not_listed_again(self, found: RetrievalState) -> None:
        everything = whole(found, estimate_tokens).text
        keys = " ".join(key for piece in found.all for key in piece.node_keys)
        text, missing = with_identifiers([everything, keys], found, 50_000, estimate_tokens)
        assert missing == 0 and "not described above" not in text
