"""One question to a model with its reply, as it is kept: enough to give the same reply again, and to say what differs
where another question is asked."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from rag_assets.contracts.result import InvokeResult, Message
from rag_assets.qa.definition.steps import digest_of
from rag_assets.qa.log.secret_masking import masked
from rag_assets.qa.services import Generated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_assets.qa.services import ModelCall

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
