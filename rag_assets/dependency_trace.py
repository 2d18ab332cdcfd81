"""What a description asked about the rest of its label, so that it is made again only when an answer changes.

Builders know other files only through a few services: the declared types, the domains, the resource texts and their
usages, the other parts of a partial type, how often a symbol occurs. Each of their methods is a *question*: a name and
arguments that are texts. While a file is described the questions are recorded; in the next build they are asked again
of the new label, and equal answers mean an equal description (a verifying trace, Mokhov, Mitchell and Peyton Jones,
"Build systems à la carte", 2018).
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import msgspec

from rag_assets.serialization import from_json

P = ParamSpec("P")
S = TypeVar("S")
A = TypeVar("A")

Argument = str | int | None | tuple[str, ...]
Question = tuple[str, tuple[Argument, ...]]
"""(name, arguments): equal questions are asked once."""

Answers = Mapping[Question, Any]

_recording: ContextVar[tuple[dict[Question, Any], Answers] | None] = ContextVar("recording", default=None)
"""What is asked now, and answers that are known already."""
_NAME = "question"
_UNASKED: Any = object()
_PLAIN = frozenset({str, int, type(None)})
"""Types of arguments that are recorded as they are: exactly these, for members of an enum are texts as well."""


def tracked(
    name: str,
) -> Callable[[Callable[Concatenate[S, P], A]], Callable[Concatenate[S, P], A]]:
    """Makes a method of a service a question of that name; its arguments are texts, numbers or iterables of texts."""

    def decorated(method: Callable[Concatenate[S, P], A]) -> Callable[Concatenate[S, P], A]:
        parameters = tuple(inspect.signature(method).parameters.values())[1:]
        count = len(parameters)
        recorded, answered = _recording.get, cast(Any, method)

        @functools.wraps(method)
        def asked(self: S, /, *args: P.args, **kwargs: P.kwargs) -> A:
            recording = recorded()
            if recording is None:
                return method(self, *args, **kwargs)
            questions, told = recording
            known: Any = (name, args)
            if kwargs or len(args) != count or not _PLAIN.issuperset(map(type, args)):
                known = (name, _plain(args, kwargs, parameters))
            answer = questions.get(known, _UNASKED)
            if answer is _UNASKED:
                answer = told.get(known, _UNASKED)
                if answer is _UNASKED:
                    token = _recording.set(None)  # what the answer itself asks follows from it
                    try:
                        answer = answered(self, *known[1])
                    finally:
                        _recording.reset(token)
                questions[known] = answer
            return answer  # type: ignore[no-any-return] # what the same method gave for the same question

        setattr(asked, _NAME, name)
        return cast(Callable[Concatenate[S, P], A], asked)

    return decorated


@contextmanager
def trace(told: Answers | None = None) -> Iterator[dict[Question, Any]]:
    """Collects the questions asked in this context, each with its answer; those that are `told` already are not
    looked for again."""
    questions: dict[Question, Any] = {}
    token = _recording.set((questions, told or {}))
    try:
        yield questions
    finally:
        _recording.reset(token)


@contextmanager
def in_scope(wall: str) -> Iterator[None]:
    """What is asked in this context is asked of the services behind a wall (`ScopedServices`), and recorded so; '' is
    none."""
    outer = _recording.get()
    if outer is None or not wall:
        yield
        return
    with trace() as own:
        yield
    outer[0].update({(_behind(wall, name), arguments): answer for (name, arguments), answer in own.items()})


@dataclass(frozen=True, slots=True)
class ScopedServices:
    """Services that answer what is asked `in_scope` of a wall: the same questions have other answers behind each."""

    wall: str
    services: tuple[object, ...]


def replay_lookups(
    services: Iterable[object], questions: Iterable[Question], told: Answers | None = None
) -> dict[Question, Any]:
    """The same questions asked of other services, each alone or a `ScopedServices`, but for those that are `told`
    already. Raises KeyError for one that nobody answers."""
    answering, known = _methods(services), told or {}
    return {asked: known[asked] if asked in known else answering[asked[0]](*asked[1]) for asked in questions}


def replayed(services: Iterable[object], trace: bytes, told: Answers | None = None) -> tuple[Answers, str] | None:
    """What encoded questions are answered now, with the digest of that; None where nobody answers one, as behind a wall
    that is gone. Raises msgspec.DecodeError."""
    try:
        answers = replay_lookups(services, decoded_questions(trace), told)
    except KeyError:
        return None
    return answers, digest_of(answers, in_order=True)


def digest_of(answers: Mapping[Question, Any], *, in_order: bool = False) -> str:
    """64 hex digits over questions and answers, whatever their order; `in_order` they are as `encoded_questions` has
    them."""
    ordered = list(answers.items()) if in_order else sorted(answers.items(), key=lambda item: repr(item[0]))
    return hashlib.sha256(msgspec.json.encode(ordered, order="deterministic", enc_hook=_encoded)).hexdigest()


def encoded_questions(questions: Iterable[Question]) -> bytes:
    return msgspec.json.encode(sorted(questions, key=repr))


def decoded_questions(data: bytes) -> list[Question]:
    """Raises msgspec.DecodeError."""
    return from_json(data, list[Question])


def _behind(wall: str, name: str) -> str:
    return f"{wall}/{name}"


def _methods(services: Iterable[object]) -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for service in services:
        if isinstance(service, ScopedServices):
            own = _methods(service.services)
            found |= {_behind(service.wall, name): method for name, method in own.items()}
            continue
        found |= {
            getattr(method, _NAME): getattr(service, attribute)
            for attribute, method in vars(type(service)).items()
            if hasattr(method, _NAME)
        }
    return found


def _plain(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], parameters: tuple[inspect.Parameter, ...]
) -> tuple[Argument, ...]:
    """All arguments by position, iterables as tuples."""
    if len(args) < len(parameters):
        args = (*args, *(kwargs.get(rest.name, rest.default) for rest in parameters[len(args) :]))
    return tuple(map(_plain_argument, args))


def _plain_argument(value: Any) -> Argument:
    """Members of an enum of texts as texts: a question that is read again must have the same representation."""
    if value is None or isinstance(value, int):
        return value
    return str(value) if isinstance(value, str) else tuple(map(str, value))


def _encoded(value: Any) -> Any:
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise TypeError(f"an answer of type {type(value).__qualname__} cannot be compared between builds")
