"""Questions about the rest of a label: recorded once, asked again, compared by their answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import msgspec
import pytest

from rag_assets.dependency_trace import (
    decoded_questions,
    digest_of,
    encoded_questions,
    replay_lookups,
    trace,
    tracked,
)
from rag_assets.languages.csharp.facts.type_index import IndexedType, TypeIndex


@dataclass(frozen=True)
class Answer:
    value: int
    tags: frozenset[str] = frozenset()


class Service:
    def __init__(self, **values: int) -> None:
        self.values = values
        self.asked = 0

    @tracked("service.value")
    def value(self, name: str, default: int = 0, tags: Iterable[str] = ()) -> Answer:
        self.asked += 1
        return Answer(self.values.get(name, default), frozenset(tags))

    @tracked("service.sum")
    def sum(self, names: Iterable[str]) -> int:
        return sum(self.value(name).value for name in names)

    def unrecorded(self) -> int:
        return len(self.values)


class Color(StrEnum):
    RED = "red"


def test_a_member_of_an_enum_is_asked_as_its_text() -> None:
    """Else a question, and the same one read again, would differ in the representation that orders them."""
    service = Service(red=1, blue=2)
    with trace() as answers:
        service.value(Color.RED, tags=(Color.RED,))
        service.value("blue", tags=("red",))
        service.sum((Color.RED, "blue"))
    arguments = [argument for _, given in answers for argument in given]
    told = [part for given in arguments for part in (given if isinstance(given, tuple) else (given,))]
    assert {type(part) for part in told} == {str, int}
    again = replay_lookups([service], decoded_questions(encoded_questions(answers)))
    assert list(map(repr, again)) == sorted(map(repr, again))
    assert digest_of(again) == digest_of(answers)


def test_a_question_is_recorded_once_with_its_answer_however_it_is_written() -> None:
    service = Service(a=1)
    with trace() as answers:
        assert service.value("a") == service.value(name="a") == service.value("a", 0) == service.value("a", default=0)
        assert service.value("a", tags=iter(["x"])) == Answer(1, frozenset({"x"}))
        assert service.unrecorded() == 1
    assert answers == {
        ("service.value", ("a", 0, ())): Answer(1),
        ("service.value", ("a", 0, ("x",))): Answer(1, frozenset({"x"})),
    }
    assert service.asked == 2


def test_what_an_answer_asks_itself_is_no_question_of_its_own() -> None:
    with trace() as answers:
        assert Service(a=1, b=2).sum(name for name in ("a", "b")) == 3
    assert answers == {("service.sum", (("a", "b"),)): 3}


def test_nothing_is_recorded_outside() -> None:
    service = Service(a=1)
    with trace() as answers:
        pass
    service.value("a")
    assert answers == {}


def test_the_same_questions_of_another_label() -> None:
    with trace() as answers:
        Service(a=1).value("a")
        Service(a=1).value("b", 5)
    again = decoded_questions(encoded_questions(answers))
    assert digest_of(replay_lookups([Service(a=1, c=9)], again)) == digest_of(answers), (
        "what was not asked does not count"
    )
    assert digest_of(replay_lookups([Service(a=2)], again)) != digest_of(answers)
    assert digest_of(replay_lookups([Service(b=1, a=1)], again)) != digest_of(answers)
    assert digest_of(dict(reversed(answers.items()))) == digest_of(answers), "order does not count"
    with pytest.raises(KeyError, match=r"service\.value"):
        replay_lookups([object()], again)


def test_answers_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(TypeError, match="cannot be compared"):
        digest_of({("service.value", ("a",)): object()})


def test_questions_of_another_form_are_refused() -> None:
    with pytest.raises(msgspec.DecodeError):
        decoded_questions(b'[["a", 1]]')


def test_the_services_of_a_label_answer_what_builders_ask() -> None:
    def types(line: int) -> TypeIndex:
        base = IndexedType("N.Base", "a.cs", line, "Base", "class", "N")
        return TypeIndex([base, IndexedType("N.Other", "b.cs", 1, "Other", "class", "N")])

    with trace() as answers:
        found = types(1).resolve("Base", "N", ["using System"])
    assert found is not None and found.symbol == "N.Base"
    questions = list(answers)
    assert digest_of(replay_lookups([types(1)], questions)) == digest_of(answers)
    assert digest_of(replay_lookups([TypeIndex()], questions)) != digest_of(answers)
