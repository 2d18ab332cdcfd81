"""Parts that also depend on what they ask about the rest of the label (`descriptions.questions`).

A part is found in two steps, as a compiler cache finds an object file by its headers: under the key of its own inputs
lie the lists of questions that such a part has asked; their answers in this label make the key of the part itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

import msgspec

from rag_assets.decoders import from_msgpack
from rag_assets.descriptions.questions import (
    Question,
    answers_of,
    decoded_questions,
    digest_of,
    encoded_questions,
)
from rag_assets.stages.build import IndexBuild
from rag_assets.stages.parts import Part, PartsOf, completed, keep_part, part_key, reused_parts
from rag_assets.stores.cache import Cache

R = TypeVar("R")

Answers = dict[Question, Any]

QUESTIONS = "questions"
_MOST_LISTS = 4  # of one part: it asks something else when a base class moves, and it may move back


class AnsweredParts(Generic[R]):
    """The parts of a stage whose answers are the same as when they were made."""

    def __init__(self, build: IndexBuild, kind: PartsOf[R], keys: Sequence[str], services: Sequence[object]) -> None:
        """`keys` are of the parts' own inputs, by bucket; `services` answer."""
        self._build = build
        self._kind = kind
        self._keys = tuple(keys)
        self._services = services

    def made(self, work: Callable[..., Any], *arguments: Any, sizes: Sequence[int] | None = None) -> Iterator[Part[R]]:
        """Every part in bucket order. `work(build, bucket, *arguments)` makes one in a worker process and returns its
        result and the answers it had."""
        making = partial(_make, work, self._kind, self._keys)
        yield from completed(self._build, self._reused(), making, *arguments, sizes=sizes)

    def _reused(self) -> dict[int, Part[R]]:
        if self._build.fresh:
            return {}
        with Cache(self._build.home.cache, QUESTIONS) as cache:
            lists = cache.get_many([bytes.fromhex(key) for key in self._keys])
        found: dict[int, Part[R]] = {}
        for attempt in range(_MOST_LISTS):
            keys: list[str | None] = [None] * len(self._keys)
            for bucket, key in enumerate(self._keys):
                asked = _lists(lists.get(bytes.fromhex(key)))
                if bucket not in found and attempt < len(asked):
                    keys[bucket] = self._answered(key, asked[attempt])
            found |= reused_parts(self._build, self._kind, keys)
        return found

    def _answered(self, key: str, questions: bytes) -> str | None:
        """The key of the part itself; None where a question is one of an older version."""
        try:
            answers = answers_of(self._services, decoded_questions(questions))
        except (KeyError, TypeError, msgspec.DecodeError):
            return None
        return _key(self._kind.name, key, answers)


def _make(
    work: Callable[..., tuple[R, Answers]],
    kind: PartsOf[R],
    keys: Sequence[str],
    build: IndexBuild,
    bucket: int,
    *arguments: Any,
) -> Part[R]:
    """Runs in a worker process."""
    result, answers = work(build, bucket, *arguments)
    part = keep_part(build, kind, _key(kind.name, keys[bucket], answers), bucket, result)
    own = bytes.fromhex(keys[bucket])
    asked = encoded_questions(answers)
    with Cache(build.home.cache, QUESTIONS) as cache:
        before = [known for known in _lists(cache.get_many([own]).get(own)) if known != asked]
        cache.replace(own, msgspec.msgpack.encode([asked, *before[: _MOST_LISTS - 1]]))
    return part


def _key(stage: str, key: str, answers: Answers) -> str:
    return part_key(stage, key, digest_of(answers))


def _lists(value: bytes | None) -> list[bytes]:
    """Lists of questions, the latest first."""
    return [] if value is None else from_msgpack(value, list[bytes])
