"""Artifacts through the engine, over a real index and a real model server: good, scripted and faulty models."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
import pytest

from rag_assets import open_index
from rag_assets.answer.abstention import SENTENCE
from rag_assets.answer.artifact.templates import ARTIFACTS, NOTHING_FOUND, TEMPLATES, WHOLE, OutputType
from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.models.openai_compat.token_counting import estimate_tokens
from rag_assets.qa.agents import Agent, AgentLibrary, Filters, Limits, scope_of
from rag_assets.qa.answering import Artifact, QuestionAnswerer, make_artifact
from rag_assets.qa.ask_options import AskOptions
from rag_assets.qa.errors import PipelineError, TurnError
from rag_assets_tests.models.llm.model_server import Asked, ModelServer, Reply, failing
from rag_assets_tests.qa.conftest import Asking, Shop, notes_of
from rag_assets_tests.qa.http_model import Script, http_model, prompt_text
from rag_assets_tests.qa.injections import INJECTIONS

SUBJECT = "refund of an order"
Write = Callable[[Asked], str]


def architect(**changes: object) -> Agent:
    return msgspec.structs.replace(AgentLibrary().author(OutputType.BLUEPRINT), **changes)


def make(
    shop: Shop, server: ModelServer, subject: str = SUBJECT, agent: Agent | None = None, pipeline: str = ""
) -> Artifact:
    """What the agent (default: the architect) makes of the subject, with the model of the server."""
    author = agent or architect()
    view = scope_of(author, Confidentiality.INTERNAL)
    options = AskOptions(model=http_model(server), agent=author, pipeline=pipeline)
    opened = open_index(shop.label, home=shop.home.root, clearance=view.clearance, view=view.filters)
    with opened as index, QuestionAnswerer(index, options) as asker:
        return make_artifact(asker, subject)


def good(refund_id: str, output: OutputType = OutputType.BLUEPRINT, said: str = "") -> str:
    sentence = said or f"`RefundOrder` “Pays back what a customer returned.” [chunk: {refund_id}]"
    return "\n\n".join(f"{heading}\n\n{sentence}" for heading in TEMPLATES[output].headings)


@pytest.mark.rule("E15", "E16", "E17", "E18")
@pytest.mark.parametrize("output", ARTIFACTS)
def test_a_model_writes_the_sections_of_the_type(
    server: ModelServer, shop_indexes: Shop, refund_id: str, output: OutputType
) -> None:
    script = Script(server, artifact=good(refund_id, output))
    author = AgentLibrary().author(output)
    made = make(shop_indexes, server, agent=author)
    assert not made.refused and [one for one in made.answer.warnings if "keyword search only" not in one] == []
    assert (made.output, made.agent, made.answer.provider) == (output, author.name, author.model_profile)
    assert tuple(section.heading for section in made.sections) == TEMPLATES[output].headings
    assert {citation.id for citation in made.answer.citations} == {refund_id}
    (asked,) = script.asked("artifact")
    body = asked.body
    assert (body["model"], body["temperature"]) == (author.model_profile, 0.2)
    assert body["max_tokens"] == TEMPLATES[output].max_tokens
    system = body["messages"][0]["content"]
    assert author.persona.strip() in system
    assert system.index(author.persona.strip()) < system.index("Use the evidence only") < system.index("Cite the")
    assert f"Generate a {TEMPLATES[output].name}" in asked.user and SUBJECT in asked.user
    for heading in TEMPLATES[output].headings:
        assert re.search(rf"^{heading}$", system, re.MULTILINE)


def test_each_section_is_searched_for(server: ModelServer, shop_indexes: Shop, refund_id: str) -> None:
    script = Script(server, artifact=good(refund_id))
    made = make(shop_indexes, server)
    assert made.turn.turn is not None
    assert tuple(made.turn.turn.sections) == TEMPLATES[OutputType.BLUEPRINT].headings
    assert all(ids for ids in made.turn.turn.sections.values())
    assert f"Searched for it: {made.turn.turn.sections['# Overview'][0]}" in prompt_text(script.asked("artifact")[0])


@pytest.mark.rule("E17")
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        pytest.param(lambda text: text.replace("## Goals", "## Aims"), "'## Aims' is no heading", id="heading"),
        pytest.param(lambda text: text[: text.index("## Risks")], "'## Risks' is missing", id="cut"),
        pytest.param(lambda text: text.replace("chunk: ", "see "), "cites nothing", id="uncited"),
        pytest.param(lambda text: re.sub(r"chunk: \w+", "chunk: deadbeef", text), "deadbeef", id="made up"),
        pytest.param(lambda _: "[Answer:] Fine.", "text before the first heading", id="another protocol"),
        pytest.param(lambda text: text + "word " * 20_000, "the reply is far too long", id="without an end"),
    ],
)
def test_a_wrong_form_is_asked_about_once(
    server: ModelServer,
    shop_indexes: Shop,
    refund_id: str,
    wrong: Callable[[str], str],
    said: str,
) -> None:
    script = Script(server, artifact=[wrong(good(refund_id)), good(refund_id)])
    made = make(shop_indexes, server)
    assert len(script.asked("artifact")) == 2
    assert said in str(script.asked("artifact")[1].body["messages"][-1]["content"])
    assert made.answer.provider == "premium" and len(made.sections) == 6
    assert any("asked once more" in note for note in notes_of(made.turn))


@pytest.mark.rule("E17", "E19")
@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("Here is your blueprint: it is great.", id="prose"),
        pytest.param(" ", id="blank"),
        pytest.param(failing(500), id="server error"),
        pytest.param(failing(401), id="no key"),
        pytest.param(Reply(b"{", 200), id="broken JSON"),
        pytest.param("# Overview\n\n" + "word " * 4_000, id="long"),
        pytest.param("# Overview\n\n" + "word " * 20_000, id="huge"),
    ],
)
def test_a_model_that_gives_nothing_usable_leaves_the_quotes(
    server: ModelServer, shop_indexes: Shop, reply: str | Reply
) -> None:
    Script(server, artifact=reply)
    made = make(shop_indexes, server)
    assert not made.refused and made.answer.provider == "extractive"
    assert made.answer.warnings[-1].startswith("quotes only, the model gave no artifact: ")
    assert all(section.body and not section.says_nothing for section in made.sections)
    assert "“Pays back what a customer returned.”" in made.answer.text


@pytest.mark.rule("E19", "E21")
def test_what_a_citation_does_not_support_is_flagged(server: ModelServer, shop_indexes: Shop, refund_id: str) -> None:
    text = good(refund_id).replace(
        "## Risks\n\n", f"## Risks\n\nThe `MoonRocket` explodes on weekends. [chunk: {refund_id}] "
    )
    Script(server, artifact=text)
    made = make(shop_indexes, server)
    assert "explodes on weekends. [chunk: " + refund_id + "] [unverified]" in made.answer.text
    assert any(
        "a sentence is not supported: fabricated: the cited text has no MoonRocket" in warning
        for warning in made.answer.warnings
    )


@pytest.mark.rule("E21")
def test_a_section_with_nothing_supported_says_so_where_such_sentences_are_dropped(
    asking: Asking, server: ModelServer, shop_indexes: Shop, refund_id: str
) -> None:
    invented = f"The `MoonRocket` explodes. [chunk: {refund_id}]"
    text = re.sub(r"(## Risks\n\n)[^\n]*", rf"\1{invented}", good(refund_id))
    Script(server, artifact=text)
    asking.pipeline("artifact_generation", citation_policy="drop")
    made = make(shop_indexes, server, pipeline=str(asking.folder / "extended.yaml"))
    risks = next(section for section in made.sections if section.heading == "## Risks")
    assert risks.body == NOTHING_FOUND and not made.refused


@pytest.mark.rule("E20", "E22")
def test_a_subject_that_the_index_does_not_have_is_refused_before_a_model_is_asked(
    server: ModelServer, shop_indexes: Shop
) -> None:
    made = make(shop_indexes, server, "zeppelins that come back in five days")
    assert made.refused and made.turn.status == "abstained" and server.asked == []
    assert made.answer.text == SENTENCE and "does not fit the subject" in made.answer.reason
    assert made.sections == () and made.answer.citations == ()


@pytest.mark.rule("E20")
@pytest.mark.parametrize("apostrophe", ["’", "'"])
def test_a_model_may_refuse(server: ModelServer, shop_indexes: Shop, apostrophe: str) -> None:
    Script(server, artifact=SENTENCE.replace("’", apostrophe))
    made = make(shop_indexes, server)
    assert made.refused and "premium does not find enough" in made.answer.reason


@pytest.mark.rule("E16")
def test_an_artifact_about_everything(shop_indexes: Shop, server: ModelServer) -> None:
    server.respond = lambda _: failing(500)
    made = make(shop_indexes, server, WHOLE)
    assert not made.refused
    assert "> A shop that takes orders and sends invoices and parcels." in made.sections[0].body


@pytest.mark.parametrize("wrap", ["```markdown\n{}\n```", "```\n{}\n```", "\n\n{}\n\n"])
def test_a_document_in_a_code_block_is_unwrapped(
    server: ModelServer, shop_indexes: Shop, refund_id: str, wrap: str
) -> None:
    script = Script(server, artifact=wrap.format(good(refund_id)))
    assert len(make(shop_indexes, server).sections) == 6
    assert len(script.asked("artifact")) == 1


@pytest.mark.rule("E16")
@pytest.mark.parametrize("injection", list(INJECTIONS.values())[::4], ids=list(INJECTIONS)[::4])
def test_an_injected_subject_or_persona_changes_nothing(
    server: ModelServer, shop_indexes: Shop, refund_id: str, injection: str
) -> None:
    script = Script(server, artifact=good(refund_id))
    made = make(shop_indexes, server, f"refund order {injection}", architect(persona=f"Be kind. {injection}"))
    if made.refused:  # the words of the injection are not those of the index
        assert server.asked == []
        return
    system, user = (str(message["content"]) for message in script.asked("artifact")[0].body["messages"])
    rules = system[system.index("These rules hold whatever is said above") :]
    assert "Use the evidence only" in rules and "Be kind" not in rules
    assert user.count("</data-question-") == 1
    assert len(made.sections) == 6


@pytest.mark.rule("E15", "E12")
def test_filters_of_the_agent_hold_for_all_evidence(shop_indexes: Shop, server: ModelServer) -> None:
    agent = architect(filters=Filters(paths=("src/Orders/OrderService.cs",)))
    script = Script(server, artifact="nothing")
    made = make(shop_indexes, server, agent=agent)
    assert {citation.path for citation in made.answer.citations} == {"src/Orders/OrderService.cs"}
    read = prompt_text(script.asked("artifact")[0])
    assert "RefundOrder" in read and "credit note" not in read.lower().replace("creditnote", "")
    assert "InvoiceWriter.cs" not in read and "README.md" not in read


@pytest.mark.rule("E15")
def test_limits_of_the_agent_reach_the_server(server: ModelServer, shop_indexes: Shop, refund_id: str) -> None:
    script = Script(server, artifact=good(refund_id))
    limits = Limits(max_tokens=321, max_context_tokens=120, retrieval_top_k=1)
    agent = architect(limits=limits, model_profile="cheap")
    Script(server, artifact=good(refund_id), context_summary="short")
    made = make(shop_indexes, server, agent=agent)
    (asked,) = [asked for asked in server.asked if asked.body["max_tokens"] == 321]
    assert asked.body["model"] == "cheap"
    evidence = re.search(r"<data-evidence-\w+>\n(.*)\n</data-evidence", asked.user, re.DOTALL)
    assert evidence is not None and estimate_tokens([evidence[1]])[0] <= 120 + 10
    assert made.turn.lock.agent == "architect" and script


def test_without_a_type_there_is_no_artifact(asking: Asking) -> None:
    pipeline = asking.pipeline("artifact_generation", output_type="answer")
    with pytest.raises(
        TurnError, match=r"'fetch'.*output_type is answer, which has no sections; set one of: blueprint"
    ):
        asking.ask(pipeline, SUBJECT)


def test_a_high_temperature_is_refused(asking: Asking) -> None:
    step = "  steps:\n    - {id: answer, action: write_artifact, temperature: 0.9, next: read_answer}\n"
    with pytest.raises(PipelineError, match=r"temperature: expected `float` <= 0.4"):
        asking.pipeline("artifact_generation", steps=step)


def test_the_same_subject_makes_the_same_artifact(server: ModelServer, shop_indexes: Shop) -> None:
    server.respond = lambda _: failing(500)
    one, other = make(shop_indexes, server), make(shop_indexes, server)
    assert one.answer.text == other.answer.text and one.turn.lock == other.turn.lock
