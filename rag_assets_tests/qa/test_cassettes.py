"""Recorded replies: what a model said is said again without it, and nothing else is."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from rag_assets.contracts.llm import ChatMessage
from rag_assets.qa.ask_options import configured_model
from rag_assets.qa.log.model_calls import CassetteError, NotRecorded, Recorder, read_cassette, recorded_replies
from rag_assets.qa.services import ModelCall
from rag_assets.settings import AnswerSettings, load_settings
from rag_assets.settings.config_file import ConfigError
from rag_assets_tests.models.llm.model_server import ModelServer, Reply, completion, failing
from rag_assets_tests.qa.http_model import http_model
from rag_assets_tests.qa.test_logged import FAULTS, SECRET


def call(text: str = "question", **changes: object) -> ModelCall:
    messages = (ChatMessage("system", "Answer."), ChatMessage("user", f"first line\n{text}\nlast line"))
    return ModelCall("answer", **({"messages": messages} | changes))  # type: ignore[arg-type]


@pytest.fixture
def cassette(tmp_path: Path) -> Path:
    return tmp_path / "replies" / "demo.jsonl"


def test_what_was_recorded_is_said_again(server: ModelServer, cassette: Path) -> None:
    server.script(completion("one"), completion("two"))
    record = Recorder(http_model(server), cassette)
    live = [record(call("a")), record(call("b"))]
    replay = recorded_replies(cassette)
    assert [replay(call("b")), replay(call("a"))] == live[::-1]
    assert len(server.asked) == 2


def test_replies_to_the_same_question_come_in_their_order(server: ModelServer, cassette: Path) -> None:
    server.script(completion("one"), completion("two"))
    record = Recorder(http_model(server), cassette)
    for _ in range(2):
        record(call())
    replay = recorded_replies(cassette)
    assert [replay(call()).value.text for _ in range(3)] == ["one", "two", "two"]  # type: ignore[union-attr]


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_faults_are_recorded_too(server: ModelServer, cassette: Path, fault: Reply) -> None:
    server.respond = lambda _: fault
    live = Recorder(http_model(server, seconds=0.3), cassette)(call())
    assert not live.successful
    assert recorded_replies(cassette)(call()) == live


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (call(profile="premium"), "profile balanced → premium"),
        (call(max_tokens=7), "max_tokens 1500 → 7"),
        (call(temperature=0.5), r"temperature None → 0\.5"),
        (call("another"), r"message 2 \(user\): line 2 was 'question', is 'another'"),
        (call(messages=(ChatMessage("user", "x"),)), "messages 2 → 1"),
    ],
    ids=["profile", "length", "temperature", "text", "count"],
)
def test_another_question_is_an_error_that_says_what_differs(
    server: ModelServer, cassette: Path, changed: ModelCall, said: str
) -> None:
    server.script(completion("one"))
    Recorder(http_model(server), cassette)(call())
    with pytest.raises(NotRecorded, match=rf"demo\.jsonl has no reply.*'answer'.*{said}"):
        recorded_replies(cassette)(changed)


def test_the_nearest_question_is_compared(server: ModelServer, cassette: Path) -> None:
    server.script(completion("one"))
    record = Recorder(http_model(server), cassette)
    record(call("far", profile="cheap", max_tokens=9))
    record(call("near"))
    with pytest.raises(NotRecorded) as error:
        recorded_replies(cassette)(call("nearer"))
    assert "'near', is 'nearer'" in str(error.value) and "profile" not in str(error.value)


def test_a_prompt_that_was_never_asked_names_those_that_were(server: ModelServer, cassette: Path) -> None:
    server.script(completion("one"))
    Recorder(http_model(server), cassette)(call())
    with pytest.raises(NotRecorded, match="prompt 'router'; it has replies to: answer"):
        recorded_replies(cassette)(ModelCall("router", call().messages))


def test_secrets_are_not_written_down(server: ModelServer, cassette: Path) -> None:
    server.script(completion(f"It is {SECRET}."))
    asked = call(f"is it {SECRET}")
    Recorder(http_model(server), cassette)(asked)
    assert SECRET not in cassette.read_text(encoding="utf-8")
    said = recorded_replies(cassette)(asked).value
    assert said is not None and said.text == f"It is {'*' * len(SECRET)}.", "found by what was really asked"


def test_new_replies_are_added_also_after_half_a_line(server: ModelServer, cassette: Path) -> None:
    server.script(completion("one"), completion("two"))
    Recorder(http_model(server), cassette)(call("a"))
    whole = cassette.read_bytes()
    cassette.write_bytes(whole + whole[: len(whole) // 2])  # the process was killed here
    Recorder(http_model(server), cassette)(call("b"))
    with pytest.raises(CassetteError, match=r"demo\.jsonl:2: not a recorded reply.*delete this line"):
        read_cassette(cassette)
    lines = cassette.read_bytes().splitlines(keepends=True)
    cassette.write_bytes(b"".join((lines[0], *lines[2:])))
    assert [exchange.text for exchange in read_cassette(cassette)] == ["one", "two"]


@pytest.mark.parametrize("broken", [b"\n", b"{}\n", b"\xff\n", b"[1]\n", b'{"digest": 1}\n'])
def test_a_broken_line_is_named(cassette: Path, broken: bytes) -> None:
    cassette.parent.mkdir()
    cassette.write_bytes(broken)
    with pytest.raises(CassetteError, match=r"demo\.jsonl:1: not a recorded reply"):
        read_cassette(cassette)


def test_many_threads_record_whole_lines(server: ModelServer, cassette: Path) -> None:
    server.respond = lambda asked: completion("x" * 5_000)
    record = Recorder(http_model(server), cassette)
    threads = [threading.Thread(target=record, args=(call(str(number)),)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({exchange.digest for exchange in read_cassette(cassette)}) == 12


def test_a_file_that_cannot_be_used_is_named(server: ModelServer, tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match=r"nowhere\.jsonl: No such file.*answer\.replies: record"):
        recorded_replies(tmp_path / "nowhere.jsonl")
    with pytest.raises(CassetteError, match=r"replies_file"):
        Recorder(http_model(server), tmp_path)


def settings(server: ModelServer, cassette: Path, **changes: object) -> AnswerSettings:
    written = {"base_url": server.url, "balanced": {"model": "m"}, "retries": 0, "replies_file": str(cassette)}
    return AnswerSettings.model_validate(written | changes)


def test_the_settings_record_and_replay(server: ModelServer, cassette: Path) -> None:
    server.script(completion("one"), failing(500))
    recording = configured_model(settings(server, cassette, replies="record"))
    assert recording is not None and recording(call()).successful
    offline = configured_model(settings(server, cassette, replies="replay", base_url="", balanced={}))
    assert offline is not None
    assert offline(call()).value.text == "one"  # type: ignore[union-attr]
    assert len(server.asked) == 1
    live = configured_model(settings(server, cassette, replies="live"))
    assert live is not None and not live(call()).successful
    assert len(read_cassette(cassette)) == 1, "nothing is recorded unless it is wanted"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("{replies: replay}", "replies_file"),
        ("{replies: record, replies_file: x.jsonl}", "base_url"),
        ("{replies: rewind}", "answer.replies"),
    ],
)
def test_settings_that_cannot_work_are_explained(tmp_path: Path, written: str, said: str) -> None:
    config = tmp_path / "rag_assets.yaml"
    config.write_text(f"answer: {written}", encoding="utf-8")
    with pytest.raises(ConfigError, match=said):
        load_settings(config)


def test_the_file_is_beside_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "project" / "rag_assets.yaml"
    config.parent.mkdir()
    config.write_text("answer: {replies: replay, replies_file: replies/demo.jsonl}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert load_settings(config).answer.replies_file == str(config.parent.resolve() / "replies" / "demo.jsonl")
