"""`Index.ask` with pipelines, sessions, users and languages, and several labels as one."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index, QueryError, open_index, open_indexes
from rag_assets.answer.results import EXTRACTIVE
from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.contracts.result import InvokeResult
from rag_assets.history.conversations import ConversationError
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.filters import NO_FILTERS, SearchFilters
from rag_assets.qa.answering import LanguageError, QuestionAnswerer, history_of, is_of, system_user
from rag_assets.qa.ask_options import AskOptions
from rag_assets.qa.errors import UnknownPipeline
from rag_assets.qa.services import Generated, ModelCall
from rag_assets_tests.cli.conftest import index_without_dagster, new_repository
from rag_assets_tests.qa.conftest import FILES

OFFLINE = AskOptions()
OTHER: dict[str, str | bytes] = {
    "src/Stock/StockKeeper.cs": "namespace Depot;\n\n/// <summary>Counts pallets in the depot.</summary>\n"
    "public class StockKeeper { public int CountPallets() => 1; }\n",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> IndexHome:
    base = tmp_path_factory.mktemp("asker")
    found = IndexHome(base / "home")
    index_without_dagster(found, new_repository(base / "shop", FILES), "shop")
    index_without_dagster(found, new_repository(base / "depot", OTHER), "depot")
    return found


@pytest.fixture
def shop(home: IndexHome) -> Iterator[Index]:
    with open_index("shop@main", home=home.root) as index:
        yield index


def saying(*replies: str) -> tuple[list[ModelCall], AskOptions]:
    """(what was asked, options of a model that says these in turn, the last one for ever)."""
    asked: list[ModelCall] = []

    def generate(call: ModelCall) -> InvokeResult[Generated]:
        asked.append(call)
        return InvokeResult.create(Generated(replies[min(len(asked), len(replies)) - 1], "m"))

    return asked, AskOptions(model=generate)


def test_a_session_remembers(shop: Index) -> None:
    first = shop.ask("What does InvoiceWriter do?", options=OFFLINE, session="remembers", user="ann")
    second = shop.ask("who creates it?", options=OFFLINE, session="remembers", user="ann")
    assert not first.abstained and not second.abstained
    assert any(said.startswith("read as: who creates InvoiceWriter?") for said in second.warnings)
    first_again = shop.ask("who creates it?", options=OFFLINE, user="ann")
    assert "InvoiceWriter" not in first_again.text, "without the session it follows nothing"


def test_the_user_is_that_of_the_system(shop: Index, home: IndexHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "clerk")
    shop.ask("What does InvoiceWriter do?", options=OFFLINE, session="mine")
    assert system_user() == "clerk"
    with history_of(home, None, Confidentiality.INTERNAL) as history:
        assert "mine" in [one.name for one in history.sessions("clerk")]


@pytest.mark.rule("D04", "R28")
def test_another_language_is_translated_in_and_out(shop: Index) -> None:
    asked, options = saying(
        "How are refunds of an order paid back?", "[HYBRID:] refund order", "nonsense", "nonsense", "Auf Deutsch."
    )
    answer = shop.ask("Wie werden Bestellungen erstattet?", options=options, language="de-AT")
    assert [call.purpose for call in asked] == ["translate_in", "router", "answer", "answer", "translate_out"]
    assert any("not translated" in warning for warning in answer.warnings), "the citations are gone in that translation"


NEEDS_A_MODEL = (
    "translation needs a model, and none is configured (answer.base_url): the question was searched for as it is"
)


@pytest.mark.rule("D04")
@pytest.mark.parametrize(
    ("question", "found"),
    [
        pytest.param("InvoiceWriter", "InvoiceWriter", id="a name alone"),
        pytest.param("Was macht die Klasse InvoiceWriter eigentlich?", "InvoiceWriter", id="a name among other words"),
        pytest.param("Co robi `Parcel` z pieniędzmi?", "Parcel", id="a name in backticks"),
    ],
)
def test_another_language_without_a_model_finds_names_and_says_so_once(shop: Index, question: str, found: str) -> None:
    """What no section says in that language is no sign that the index has nothing."""
    assert shop.ask(found, options=OFFLINE).text, "the fixture has it"
    answer = shop.ask(question, options=OFFLINE, language="de")
    assert not answer.abstained and answer.provider == EXTRACTIVE
    assert found in answer.text and answer.citations
    assert [said for said in answer.warnings if "embedding model" not in said] == [NEEDS_A_MODEL]
    assert answer.usage is None, "nobody was asked"


def test_without_a_model_the_language_of_a_question_need_not_be_said(shop: Index) -> None:
    asked = "Was macht die Klasse InvoiceWriter eigentlich mit allen den vielen alten Rechnungen des Kunden?"
    seen, said = shop.ask(asked, options=OFFLINE), shop.ask(asked, options=OFFLINE, language="de")
    assert not seen.abstained and seen.text == said.text
    assert any("seems to be German" in warning for warning in seen.warnings)


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        pytest.param(
            "Was macht PastaBoiler?",
            "nothing here is called PastaBoiler|nothing was found",
            id="a name that nothing declares",
        ),
        pytest.param("Wie lange kocht man Nudeln?", "nothing was found|does not fit the question", id="no word of it"),
    ],
)
def test_what_is_not_there_is_refused_in_any_language(shop: Index, question: str, reason: str) -> None:
    answer = shop.ask(question, options=OFFLINE, language="de")
    assert answer.abstained and re.search(reason, answer.reason)
    assert [said for said in answer.warnings if "embedding model" not in said] == [NEEDS_A_MODEL]
    assert "kocht" not in " ".join(answer.suggestions), "its words are of another language, and nothing to ingest"


def test_a_translation_that_fails_is_no_reason_to_refuse_either(shop: Index) -> None:
    asked, options = saying("", "[HYBRID:] InvoiceWriter", "nonsense", "nonsense", "")
    answer = shop.ask("Was macht die Klasse InvoiceWriter eigentlich?", options=options, language="de")
    assert not answer.abstained and "InvoiceWriter" in answer.text
    assert [call.purpose for call in asked][:2] == ["translate_in", "router"]
    assert any(said.endswith("the question was searched for as it is") for said in answer.warnings)


@pytest.mark.parametrize(
    ("language", "same"), [("", True), ("en", True), ("EN_us", True), ("de", False), ("pt-BR", False), ("eng", False)]
)
def test_whether_a_language_is_that_of_the_model(language: str, same: bool) -> None:
    assert is_of(language, "en") is same


@pytest.mark.parametrize("language", ["deutsch", "d", "d1", "de-", "de!", "日本"])
def test_what_is_no_code_of_a_language(shop: Index, language: str) -> None:
    with pytest.raises(LanguageError, match="write one such as de"):
        shop.ask("x", options=OFFLINE, language=language)


def test_a_pipeline_of_the_configuration(home: IndexHome, tmp_path: Path) -> None:
    """By name from the folder beside the file and from `packs`, by file, and as `answer.pipeline` says."""
    for folder, name in (("pipelines", "beside"), ("shared", "packed")):
        (tmp_path / folder).mkdir()
        text = f"pipeline: {{name: {name}, extends: code_question_answering_offline, settings: {{weak_below: 1}}}}"
        (tmp_path / folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    config = tmp_path / "rag_assets.yaml"
    config.write_text("packs: [shared]\n", encoding="utf-8")
    question = "refunds of orders"
    with open_index("shop@main", home=home.root, config=config) as index:
        assert not index.ask(question, options=OFFLINE).abstained
        for name in ("beside", "packed", str(tmp_path / "shared" / "packed.yaml")):
            assert index.ask(question, options=OFFLINE, pipeline=name).abstained
        config.write_text("packs: [shared]\nanswer: {pipeline: shared/packed.yaml}\n", encoding="utf-8")
        assert index.ask(question).abstained
        with pytest.raises(UnknownPipeline, match="did you mean 'packed'"):
            index.ask(question, pipeline="paked")


def test_a_pipeline_is_read_again_when_its_file_changes(shop: Index, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    for threshold, refused in (("1", True), ("0.01", False)):
        text = f"pipeline: {{name: m, extends: code_question_answering_offline, settings: {{weak_below: {threshold}}}}}"
        file.write_text(text, encoding="utf-8")
        assert shop.ask("refunds of orders", options=OFFLINE, pipeline=str(file)).abstained is refused


@pytest.mark.parametrize("question", ["What does InvoiceWriter do?", "What does StockKeeper do?"])
def test_several_labels_are_asked_as_one(home: IndexHome, question: str) -> None:
    with open_indexes(["shop@main", "depot@main"], home=home.root) as group:
        answer = group.ask(question, options=OFFLINE)
        assert not answer.abstained
        _, options = saying("[HYBRID:] invoices pallets", "no")
        with QuestionAnswerer(group, options) as asker:
            result = asker.ask(question)
        assert result.turn is not None and result.lock.generations.keys() == {"shop@main + depot@main"}
        found = result.turn.found_in(result.turn.label)
        assert found.neighbourhood is not None and found.neighbourhood.nodes
        assert {piece.label for piece in found.all} == {"shop@main", "depot@main"}


def test_filters_hold_for_what_a_model_searches_for(shop: Index) -> None:
    """In the question and beside it; and the graph does not lead out of them."""
    _, options = saying("[HYBRID:] refund order path:src/", "no")
    with QuestionAnswerer(shop, AskOptions(model=options.model, threshold=0.0)) as asker:
        for question, filters in (
            ("refunds path:README.md", NO_FILTERS),
            ("refunds", SearchFilters(paths=("README.md",))),
        ):
            result = asker.ask(question, filters=filters)
            assert result.turn is not None and result.turn.evidence
            assert {piece.path for piece in result.turn.evidence} == {"README.md"}


def test_a_filter_with_a_slip_is_said_as_a_search_says_it(shop: Index) -> None:
    with pytest.raises(QueryError, match=r"^unknown filter knd:; did you mean kind:"):
        shop.ask("knd:Service refunds", options=OFFLINE)


def test_who_watches_sees_the_answer_and_no_protocol(shop: Index) -> None:
    seen: list[str] = []

    def generate(call: ModelCall) -> InvokeResult[Generated]:
        text = "[HYBRID:] refund order" if call.purpose == "router" else "[Answer:] It is paid back."
        call.on_text(text)
        return InvokeResult.create(Generated(text, "m"))

    shop.ask("How are refunds of an order paid back?", options=AskOptions(model=generate), on_text=seen.append)
    assert "".join(seen) == "It is paid back."


def test_many_sessions_at_once_do_not_mix(home: IndexHome) -> None:
    """One process, one index: every turn is kept, in its own session, and read by nobody else."""
    sessions, rounds = 30, 2
    prompts: dict[str, set[str]] = {}

    def generate(call: ModelCall) -> InvokeResult[Generated]:
        text = call.messages[1].content
        prompts.setdefault(threading.current_thread().name, set()).update(re.findall(r"marker\d+", text))
        return InvokeResult.create(Generated("[HYBRID:] refund order" if call.purpose == "router" else "none", "m"))

    failures: list[BaseException] = []
    with open_index("shop@main", home=home.root) as index, history_of(home, None, Confidentiality.INTERNAL) as history:
        with QuestionAnswerer(index, AskOptions(model=generate), history=history) as asker:

            def talk(number: int) -> None:
                try:
                    for _ in range(rounds):
                        question = f"How are refunds of an order paid back? marker{number:03}"
                        asker.ask(question, session=f"s{number}", user="many")
                except BaseException as error:
                    failures.append(error)

            threads = [threading.Thread(target=talk, args=(number,), name=f"t{number}") for number in range(sessions)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert failures == []
        assert prompts == {f"t{number}": {f"marker{number:03}"} for number in range(sessions)}
        assert [history.load("many", f"s{number}").count for number in range(sessions)] == [rounds] * sessions


@pytest.mark.rule("D26")
def test_where_nothing_can_be_kept_it_is_answered_and_said(shop: Index, home: IndexHome, tmp_path: Path) -> None:
    """As in the home of somebody else, which one may read: here a folder is where the file would be."""
    elsewhere = IndexHome(tmp_path / "home")
    (elsewhere.root / "conversations.sqlite").mkdir(parents=True)
    (elsewhere.root / "labels").symlink_to(home.labels, target_is_directory=True)
    (elsewhere.root / "blobs").symlink_to(home.blobs, target_is_directory=True)
    with open_index("shop@main", home=elsewhere.root) as index, QuestionAnswerer(index, OFFLINE) as asker:
        result = asker.ask("What does InvoiceWriter do?", session="mine", user="ann")
        assert result.response is not None and not result.response.abstained
        kept, logged = [said for said in result.response.warnings if "embedding model" not in said]
        assert kept.startswith("this turn follows none and is not kept: conversations in ")
        assert "make the home writable, or choose another place with --home" in kept
        assert logged.startswith("this question is not in the log: ")
        with pytest.raises(ConversationError):
            asker.ask("What does InvoiceWriter do?", session="mine", user="ann", request_id="once")
        asker.forget("mine", "ann")
    (elsewhere.root / "conversations.sqlite").rmdir()
    with open_index("shop@main", home=elsewhere.root) as index, QuestionAnswerer(index, OFFLINE) as asker:
        assert asker.ask("What does InvoiceWriter do?", session="mine", user="ann", request_id="once").turn_id
