"""From a reply to what a model wrote, or to the reason why it is of no use: the one reader of completions, streams of
events and embeddings. Nothing in a reply is trusted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec

from rag_assets.models.openai_compat.endpoint import ApiKey
from rag_assets.models.openai_compat.faults import KEY_ECHO, Fault, FaultCode, shown
from rag_assets.serialization import from_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

T = TypeVar("T")

_FENCE = re.compile(r"```[\w-]*\s*\n(?P<inside>.*?)\n?\s*```", re.DOTALL)
_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)

_CHARACTERS_PER_TOKEN = 8
"""English has four, code with its indentation five to six."""

_LEAST_CHARACTERS = 20_000
"""Models that think aloud may do so before a reply of a few words, whatever length they were asked for."""

_BODY_BYTES_PER_TOKEN = 64
_LEAST_BODY_BYTES = 1 << 20
"""Of a reply in one piece: its text with every character escaped, or with the reasoning that some servers add."""

_STREAM_BYTES_PER_TOKEN = 512
_LEAST_STREAM_BYTES = 8 << 20
"""A stream spends two or three hundred bytes on a token, also on those of its reasoning, which may not be counted."""

_DATA = b"data:"
_DONE = b"[DONE]"

_SMALLEST = 1e-12
"""The largest number of a vector that still has a direction; models give lengths around 1."""

_Count = Annotated[int, msgspec.Meta(ge=0)]


@dataclass(frozen=True, slots=True)
class ReplyLimits:
    """How much of a reply is read: a model that does not end, or a server that is none, costs a bounded amount.

    `body` bytes of a reply in one piece, or of one line of a stream; `stream` bytes of all events, 0 where none are
    wanted; `characters` of text. `asked_for` ends the messages.
    """

    body: int
    stream: int = 0
    characters: int = 0
    asked_for: str = ""

    @classmethod
    def of_tokens(cls, max_tokens: int) -> ReplyLimits:
        """For an answer of at most `max_tokens`."""
        return cls(
            max(_LEAST_BODY_BYTES, _BODY_BYTES_PER_TOKEN * max_tokens),
            max(_LEAST_STREAM_BYTES, _STREAM_BYTES_PER_TOKEN * max_tokens),
            max(_LEAST_CHARACTERS, _CHARACTERS_PER_TOKEN * max_tokens),
            f", and {max_tokens:,} tokens were asked for; nothing of it is used",
        )

    def too_large(self, size: int) -> Fault:
        """Of a reply with more than `size` bytes, whatever is in it."""
        return Fault(
            FaultCode.TOO_LARGE, f"the reply is larger than the {size:,} bytes that it could need{self.asked_for}"
        )

    def too_long(self) -> Fault:
        """Of a text."""
        return Fault(FaultCode.TOO_LARGE, f"the answer has more than {self.characters:,} characters{self.asked_for}")


@dataclass(frozen=True, slots=True)
class Reply:
    """A success, unread."""

    content_type: str
    body: bytes


class TokenUsage(msgspec.Struct):
    """What a server says that a request took."""

    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None
    total_tokens: _Count | None = None


class _Text(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Text = msgspec.field(default_factory=_Text)  # of a reply in one piece
    delta: _Text = msgspec.field(default_factory=_Text)  # of an event
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice] = []
    usage: TokenUsage | None = None
    error: Any = None


class _Embedding(msgspec.Struct):
    embedding: list[float]
    index: int


class _Embeddings(msgspec.Struct):
    data: list[_Embedding] = []
    usage: TokenUsage | None = None
    error: Any = None


def is_json(content_type: str) -> bool:
    """`application/json`, or a kind of it."""
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def not_an_api(content_type: str, wanted: str, section: str, key: ApiKey) -> Fault:
    """Of a reply that is something else, such as a page of the web site that has the API elsewhere."""
    kind = shown(content_type, key) or "of no content type"
    return Fault(FaultCode.CONTENT_TYPE, f"the reply is {kind}, not {wanted}; is {section}.base_url an API?")


def decoded(reply: Reply, kind: type[T], what: str, section: str, key: ApiKey) -> T | Fault:
    """The JSON of a reply as `kind`; messages call that `what`."""
    if not is_json(reply.content_type):
        return not_an_api(reply.content_type, "JSON", section, key)
    try:
        return from_json(reply.body, kind)
    except msgspec.DecodeError as error:
        return Fault(FaultCode.MALFORMED, f"the reply has no {what}: {shown(str(error), key)}")


def read_completion(reply: Reply, section: str, key: ApiKey) -> tuple[str | Fault, TokenUsage]:
    """(the text the model wrote, or a fault; what it took, which a useless answer took too)."""
    found = decoded(reply, _Completion, "chat completion", section, key)
    if isinstance(found, Fault):
        return found, TokenUsage()
    used = found.usage or TokenUsage()
    if not found.choices:
        return Fault(FaultCode.NO_CHOICES, f"the reply has no choices{_said(found.error, key)}"), used
    choice = found.choices[0]
    return _answer(choice.message.content or "", choice.finish_reason, choice.message.refusal, key), used


def data_lines(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The data of server-sent events, one line each, from the bytes as they arrive. Half a line at the end is none."""
    rest: list[bytes] = []
    for part in parts:
        *lines, last = part.split(b"\n")
        if lines:
            lines[0] = b"".join((*rest, lines[0]))
            rest.clear()
        rest.append(last)
        for line in lines:
            if line.startswith(_DATA):
                yield line.removeprefix(_DATA).strip()


class StreamReader:
    """Puts the events of one streamed reply together; `on_text` is given the words of the model as they come."""

    def __init__(self, key: ApiKey, on_text: Callable[[str], None], limits: ReplyLimits) -> None:
        self._key = key
        self._on_text = on_text
        self._limits = limits
        self._parts: list[str] = []
        self._characters = 0
        self._finish: str | None = None
        self.has_events = False
        self.is_done = False
        self.usage = TokenUsage()

    def take(self, data: bytes) -> Fault | None:
        """Why nothing of the reply can be used, once that shows in an event."""
        self.has_events = True
        if data == _DONE:
            self.is_done = True
            return None
        try:
            chunk = from_json(data, _Completion)
        except msgspec.DecodeError as error:
            return Fault(FaultCode.MALFORMED, f"the stream is no chat completion: {shown(str(error), self._key)}")
        if chunk.error:
            return Fault(FaultCode.SERVER_ERROR, f"the server broke off: {shown(chunk.error, self._key)}")
        self.usage = chunk.usage or self.usage
        for choice in chunk.choices[:1]:
            self._finish = choice.finish_reason or self._finish
            text = choice.delta.content or ""
            self._characters += len(text)
            if choice.delta.refusal:
                return Fault(FaultCode.REFUSED, f"the model refused{_said(choice.delta.refusal, self._key)}")
            if self._characters > self._limits.characters:
                return self._limits.too_long()
            if text:
                self._parts.append(text)
                self._on_text(text)
        return None

    def answer(self) -> str | Fault:
        """The text of the model once no more events come."""
        if not self.is_done and self._finish is None:
            return self.cut(Fault(FaultCode.UNREACHABLE, ""))
        return _answer("".join(self._parts), self._finish, None, self._key)

    def cut(self, fault: Fault) -> Fault:
        """A fault of the connection, as it is told of a reply that had begun: then the server was up."""
        if fault.code not in (FaultCode.UNREACHABLE, FaultCode.TIMEOUT):
            return fault
        size = self._characters
        what = f"after {size:,} characters, which are not used" if size else "before its first word"
        why = f"; {fault.text}" if fault.code is FaultCode.TIMEOUT else f": {fault.detail}" if fault.detail else ""
        return Fault(fault.code, f"the stream was cut {what}{why}")


def without_thoughts(text: str) -> str:
    """What a model says after thinking: local reasoning models put their thoughts before the answer."""
    thought = _THOUGHT.match(text)
    return text[thought.end() if thought else 0 :].strip()


def decode_answer(text: str, answer_type: type, key: ApiKey) -> Any | Fault:
    """The JSON of an answer, strictly as `answer_type` says. Thoughts before it and a fence around it are dropped."""
    bare = without_thoughts(text)
    fenced = _FENCE.fullmatch(bare)
    try:
        value: Any = from_json(fenced["inside"] if fenced else bare, answer_type)
    except msgspec.ValidationError as error:
        return Fault(FaultCode.SCHEMA, f"the answer does not fit its schema: {shown(str(error), key)}")
    except msgspec.DecodeError as error:
        return Fault(FaultCode.MALFORMED, f"the answer is not JSON: {shown(str(error), key)}")
    if key.is_in(msgspec.json.encode(value).decode()):  # as decoded: escapes hide nothing
        return KEY_ECHO
    return value


def read_vectors(reply: Reply, texts: int, section: str, key: ApiKey) -> tuple[Vectors, int | None] | Fault:
    """The vectors of a request with that many texts, (n, dimension) float32 of unit length sorted by `index`, and the
    tokens that the server counted; None where it does not say.

    A fault where a text has no vector or two, where lengths differ, or where a vector is not finite or zero.
    """
    found = decoded(reply, _Embeddings, "list of embeddings", section, key)
    if isinstance(found, Fault):
        return found
    if not found.data and found.error:
        return _malformed(f"an error{_said(found.error, key)}")
    problem = _disorder(found.data, texts)
    if problem:
        return _malformed(problem)
    used = found.usage or TokenUsage()
    vectors = _unit_vectors(sorted(found.data, key=lambda item: item.index))
    if isinstance(vectors, Fault):
        return vectors
    return vectors, used.total_tokens if used.prompt_tokens is None else used.prompt_tokens


def _answer(text: str, finish: str | None, refusal: str | None, key: ApiKey) -> str | Fault:
    if finish == "length":
        return Fault(FaultCode.TRUNCATED, "the answer was cut at the token limit")
    if refusal or finish == "content_filter":
        return Fault(FaultCode.REFUSED, f"the model refused{_said(refusal, key)}")
    return text if text.strip() else Fault(FaultCode.NO_CHOICES, "the reply has no text")


def _said(told: object, key: ApiKey) -> str:
    text = shown(told, key) if told else ""
    return f": {text}" if text else ""


def _disorder(items: list[_Embedding], texts: int) -> str:
    """What is wrong with the number of items, their indexes or their lengths; empty where nothing is."""
    if len(items) != texts:
        return f"{len(items)} embeddings for {texts} texts"
    if {item.index for item in items} != set(range(texts)):
        return f"embeddings whose indexes are not 0 to {texts - 1}"
    lengths = sorted({len(item.embedding) for item in items})
    if len(lengths) > 1 or not lengths[0]:
        return f"embeddings of {' and '.join(map(str, lengths))} dimensions"
    return ""


def _unit_vectors(items: list[_Embedding]) -> Vectors | Fault:
    import numpy as np

    rows = np.array([item.embedding for item in items], np.float64)
    if not np.isfinite(rows).all():
        return _malformed("an embedding with NaN or infinity")
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if largest.min() <= _SMALLEST:
        return _malformed("an embedding of zeros")
    scaled = rows / largest  # squares of very large numbers are not finite
    unit: Vectors = (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _malformed(what: str) -> Fault:
    return Fault(FaultCode.MALFORMED, f"the reply has {what}")
