"""Calls of models as they are kept: enough to give the same reply again, in the query log and in cassettes.

A cassette is a file of recorded replies, one JSON object a line, for reproducible runs without a server. Secrets are
masked as in the index, at the same length.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from rag_assets.contracts.result import InvokeResult, Message
from rag_assets.errors import RagAssetsError
from rag_assets.qa.definition.steps import digest_of
from rag_assets.qa.services import Generated, ModelCall
from rag_assets.serialization import from_json
from rag_assets.sources.secrets import masked

if TYPE_CHECKING:
    from rag_assets.qa.chat_model import AskModel


_DIGITS = 16
_SHOWN_CHARS = 60  # of a line that differs


class RecordedMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message that the model got: its hash and length, and its masked `text` where texts are kept."""

    role: str
    digest: str
    chars: int
    text: str = ""


class RecordedCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`digest` is that of all the model was asked. `text` is what it wrote, masked; or `errors` (code, text) say why it
    wrote nothing. `seconds` is what it took when it was recorded."""

    digest: str
    purpose: str
    profile: str
    max_tokens: int
    temperature: float | None
    messages: tuple[RecordedMessage, ...]
    text: str = ""
    errors: tuple[tuple[str, str], ...] = ()
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0


def exchange_of(
    call: ModelCall, result: InvokeResult[Generated], seconds: float, *, with_texts: bool = False
) -> RecordedCall:
    """`with_texts` keeps the messages, too: a file that explains itself, at the size of its prompts."""
    said = tuple(
        RecordedMessage(
            role=message.role,
            digest=_digest(message.content),
            chars=len(message.content),
            text=masked(message.content) if with_texts else "",
        )
        for message in call.messages
    )
    made = result.value or Generated("")
    return RecordedCall(
        digest=call_digest(call),
        purpose=call.purpose,
        profile=call.profile,
        max_tokens=call.max_tokens,
        temperature=call.temperature,
        messages=said,
        text=masked(made.text),
        errors=tuple((error.code, masked(error.text)) for error in result.errors),
        model=made.model,
        prompt_tokens=made.prompt_tokens,
        completion_tokens=made.completion_tokens,
        cost=made.cost,
        seconds=round(seconds, 6),
    )


def result_of(exchange: RecordedCall) -> InvokeResult[Generated]:
    """What the caller got then."""
    if exchange.errors:
        return InvokeResult.failure([Message(code, text) for code, text in exchange.errors])
    return InvokeResult.create(
        Generated(exchange.text, exchange.model, exchange.prompt_tokens, exchange.completion_tokens, exchange.cost)
    )


def call_digest(call: ModelCall) -> str:
    """Over everything that a reply depends on but the model: 16 hex digits."""
    messages = [(message.role, message.content) for message in call.messages]
    asked = (call.purpose, call.profile, call.max_tokens, call.temperature, messages)
    return digest_of((*asked, call.schema) if call.schema else asked)  # recordings from before there were schemas hold


def differences(recorded: RecordedCall, call: ModelCall) -> tuple[str, ...]:
    """What is different about a question now, in words."""
    told = [
        f"{name} {old} → {new}"
        for name, old, new in (
            ("profile", recorded.profile, call.profile),
            ("max_tokens", recorded.max_tokens, call.max_tokens),
            ("temperature", recorded.temperature, call.temperature),
            ("messages", len(recorded.messages), len(call.messages)),
        )
        if old != new
    ]
    for number, (said, message) in enumerate(zip(recorded.messages, call.messages, strict=False), 1):
        if (said.role, said.digest) != (message.role, _digest(message.content)):
            told.append(f"message {number} ({message.role}): {_changed(said, message.content)}")
    return tuple(told)


def nearest(exchanges: Sequence[RecordedCall], call: ModelCall) -> RecordedCall | None:
    """The recorded question of the same prompt that is most like this one; None where none is of that prompt."""
    same = [known for known in exchanges if known.purpose == call.purpose]
    return min(same, key=lambda known: len(differences(known, call)), default=None)


def _changed(said: RecordedMessage, now: str) -> str:
    if not said.text:
        return f"{said.chars:,} characters when it was recorded, {len(now):,} now, and not the same"
    pairs = zip([*said.text.splitlines(), ""], [*masked(now).splitlines(), ""], strict=False)
    for number, (old, new) in enumerate(pairs, 1):
        if old != new:
            return f"line {number} was {old[:_SHOWN_CHARS]!r}, is {new[:_SHOWN_CHARS]!r}"
    return "it differs in what is masked or in its end"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


class NotRecorded(RagAssetsError, LookupError):
    """A question that no reply was recorded for; the text says what differs from the nearest one that was."""


class RecordedReplies:
    """Answers a call with the reply to exactly this call, and with its fault where it had one. A call that was recorded
    several times gets its replies in their order, the last one for ever. Safe to use from several threads."""

    def __init__(self, exchanges: Sequence[RecordedCall], origin: str) -> None:
        """`origin` is what messages call the recording."""
        self._exchanges = tuple(exchanges)
        self._origin = origin
        self._lock = threading.Lock()
        self._used: Counter[str] = Counter()
        self._by_digest: defaultdict[str, list[RecordedCall]] = defaultdict(list)
        for exchange in exchanges:
            self._by_digest[exchange.digest].append(exchange)

    def __call__(self, call: ModelCall) -> InvokeResult[Generated]:
        """Who listens is given the reply at once. Raises NotRecorded."""
        digest = call_digest(call)
        with self._lock:
            number = self._used[digest]
            self._used[digest] += 1
        replies = self._by_digest.get(digest)
        if not replies:
            raise NotRecorded(self._missing(call))
        result = result_of(replies[min(number, len(replies) - 1)])
        if result.value is not None:
            call.on_text(result.value.text)
        return result

    def _missing(self, call: ModelCall) -> str:
        known = nearest(self._exchanges, call)
        if known is None:
            purposes = ", ".join(dict.fromkeys(exchange.purpose for exchange in self._exchanges)) or "nothing"
            return f"{self._origin} has no reply to the prompt {call.purpose!r}; it has replies to: {purposes}"
        return (
            f"{self._origin} has no reply to this question of the prompt {call.purpose!r}; "
            f"different from the recorded one: {'; '.join(differences(known, call))}"
        )


class CassetteError(RagAssetsError):
    """A file of replies that cannot be read or written; the text names the line and what helps."""


class Recorder:
    """Asks a model and writes down what it says, faults too. Safe to use from several threads."""

    def __init__(self, model: AskModel, path: Path) -> None:
        """New replies are added to those that `path` has. Raises CassetteError where it cannot be written."""
        self._model = model
        self._path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab+") as file:
                if _ends_in_a_line(file):
                    file.write(b"\n")
        except OSError as error:
            raise _unusable(path, error, "choose another file for answer.replies_file") from error

    def __call__(self, call: ModelCall) -> InvokeResult[Generated]:
        """Raises CassetteError."""
        started = time.perf_counter()
        result = self._model(call)
        exchange = exchange_of(call, result, time.perf_counter() - started, with_texts=True)
        line = msgspec.json.encode(exchange) + b"\n"
        try:
            with self._lock, self._path.open("ab", buffering=0) as file:
                file.write(line)
        except OSError as error:
            raise _unusable(self._path, error, "choose another file for answer.replies_file") from error
        return result


def recorded_replies(path: Path) -> RecordedReplies:
    """The replies of a file. Raises CassetteError."""
    return RecordedReplies(read_cassette(path), str(path))


def read_cassette(path: Path) -> tuple[RecordedCall, ...]:
    """All exchanges in the order they were recorded in. Raises CassetteError naming the first broken line."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise _unusable(path, error, "record replies first, with answer.replies: record") from error
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(from_json(line, RecordedCall))
        except msgspec.DecodeError as error:
            raise CassetteError(
                f"{path}:{number}: not a recorded reply: {error}; delete this line, or delete the file and record again"
            ) from error
    return tuple(found)


def _ends_in_a_line(file: BinaryIO) -> bool:
    """A process that was killed while it wrote leaves half a line; what follows must not become a part of it."""
    end = file.seek(0, os.SEEK_END)
    if not end:
        return False
    file.seek(end - 1)
    return file.read(1) != b"\n"


def _unusable(path: Path, error: OSError, hint: str) -> CassetteError:
    return CassetteError(f"{path}: {error.strerror or error}; {hint}")
