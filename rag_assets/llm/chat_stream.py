"""A streamed chat completion: server-sent events as they arrive, put together to an answer. Nothing is trusted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from rag_assets.decoders import from_json
from rag_assets.llm.reply import Tokens, Usage
from rag_assets.llm.reply_limits import ReplyLimits
from rag_assets.model_server.api_key import ApiKey
from rag_assets.model_server.faults import Code, Fault
from rag_assets.model_server.refusal import DETAIL_CHARS, text_of

_DATA = b"data:"
_DONE = b"[DONE]"


class _Delta(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    delta: _Delta = msgspec.field(default_factory=_Delta)
    finish_reason: str | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] = []
    usage: Usage | None = None
    error: Any = None


class Stream:
    """Takes the parts of one reply; `on_text` is given the words of the model as they come. An event of a line that is
    not finished waits for the next part. What exceeds the `limits` is a fault, and not kept."""

    def __init__(self, key: ApiKey, on_text: Callable[[str], None], limits: ReplyLimits) -> None:
        self._key = key
        self._on_text = on_text
        self._limits = limits
        self._rest: list[bytes] = []  # of a line that no line feed has ended
        self._rest_bytes = 0
        self._whole: list[bytes] = []  # all of it, until an event shows that it is a stream
        self._received = 0
        self._parts: list[str] = []
        self._characters = 0
        self._finish = ""
        self._done = False
        self.has_events = False
        self._fault: Fault | None = None
        self.tokens = Tokens()

    def feed(self, part: bytes) -> bool:
        """Whether more is wanted: not after the end of the stream, and not of a reply that is of no use."""
        self._received += len(part)
        *lines, rest = part.split(b"\n")
        if lines:
            lines[0] = b"".join((*self._rest, lines[0]))
            self._rest, self._rest_bytes = [], 0
        self._rest.append(rest)
        self._rest_bytes += len(rest)
        for line in lines:
            self._take(line.strip())
        if self.has_events:
            self._whole.clear()
        else:
            self._whole.append(part)
        most = self._limits.stream if self.has_events else self._limits.body
        if self._fault is None and (self._received > most or self._rest_bytes > self._limits.body):
            self._end_with(self._limits.too_large(most if self._received > most else self._limits.body))
        return self._fault is None and not self._done

    @property
    def body(self) -> bytes:
        """The reply of a server that does not stream."""
        return b"".join(self._whole)

    @property
    def fault(self) -> Fault | None:
        """Why nothing of the reply can be used, as far as it has come."""
        return self._fault

    def result(self) -> str | Fault:
        """The text of the model, once the reply is complete, or why it has none."""
        if self._fault is not None:
            return self._fault
        if not self._ends_whole():
            return Fault(Code.UNREACHABLE, self._cut())
        text = "".join(self._parts)
        if self._finish == "length":
            return Fault(Code.TRUNCATED, "the answer was cut at the token limit")
        if self._finish == "content_filter":
            return Fault(Code.REFUSED, "the model refused")
        if not self._done and not self._finish:
            return Fault(Code.UNREACHABLE, self._cut())
        if not text.strip():
            return Fault(Code.NO_CHOICES, "the reply has no text")
        return text

    def broken_off(self, fault: Fault) -> Fault:
        """A fault of the connection as it is told of a reply that had begun: then the server was up."""
        if not self._received or fault.code not in (Code.UNREACHABLE, Code.TIMEOUT):
            return fault
        why = f"; {fault.text}" if fault.code is Code.TIMEOUT else f": {fault.detail}" if fault.detail else ""
        return Fault(fault.code, f"{self._cut()}{why}")

    def _cut(self) -> str:
        size = self._characters
        what = f"after {size:,} characters, which are not used" if size else "before its first word"
        return f"the stream was cut {what}"

    def _ends_whole(self) -> bool:
        """Takes what no line feed ended; False where that is half an event, in which the connection was cut."""
        self._take(b"".join(self._rest).strip())
        return self._fault is None

    def _end_with(self, fault: Fault) -> None:
        self._fault = fault
        self._rest, self._rest_bytes, self._whole, self._parts = [], 0, [], []

    def _take(self, line: bytes) -> None:
        if not line.startswith(_DATA) or self._fault is not None or self._done:
            return  # comments, event names and blank lines
        self.has_events = True
        data = line.removeprefix(_DATA).strip()
        if data == _DONE:
            self._done = True
            return
        try:
            chunk = from_json(data, _Chunk)
        except msgspec.DecodeError as error:
            said = self._key.masked(str(error))[:DETAIL_CHARS]
            self._fault = Fault(Code.MALFORMED, f"the stream is no chat completion: {said}")
            return
        if chunk.error:
            said = self._key.masked(text_of(chunk.error))[:DETAIL_CHARS]
            self._fault = Fault(Code.SERVER_ERROR, f"the server broke off: {said}")
        elif chunk.usage is not None:
            self.tokens = chunk.usage.tokens
        for choice in chunk.choices[:1]:
            self._finish = choice.finish_reason or self._finish
            if choice.delta.refusal:
                said = self._key.masked(choice.delta.refusal)[:DETAIL_CHARS]
                self._fault = Fault(Code.REFUSED, f"the model refused: {said}")
            elif choice.delta.content:
                self._add(choice.delta.content)

    def _add(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > self._limits.characters:
            self._end_with(self._limits.too_long())
            return
        self._parts.append(text)
        self._on_text(text)
