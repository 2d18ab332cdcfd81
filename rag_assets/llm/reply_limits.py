"""How much of a reply is read: a model that does not end, or a server that is none, costs a bounded amount."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.model_server.faults import Code, Fault

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


@dataclass(frozen=True, slots=True)
class ReplyLimits:
    """`characters` of text; `body` bytes of a reply in one piece, or of one event of a stream; `stream` bytes of all
    events. `max_tokens` is what the model was asked for."""

    max_tokens: int
    characters: int
    body: int
    stream: int

    @classmethod
    def of(cls, max_tokens: int) -> ReplyLimits:
        return cls(
            max_tokens,
            max(_LEAST_CHARACTERS, _CHARACTERS_PER_TOKEN * max_tokens),
            max(_LEAST_BODY_BYTES, _BODY_BYTES_PER_TOKEN * max_tokens),
            max(_LEAST_STREAM_BYTES, _STREAM_BYTES_PER_TOKEN * max_tokens),
        )

    def too_long(self) -> Fault:
        """Of a text."""
        return self._fault(f"the answer has more than {self.characters:,} characters")

    def too_large(self, size: int) -> Fault:
        """Of what is larger than `size` bytes, whatever is in it."""
        return self._fault(f"the reply is larger than {size:,} bytes")

    def _fault(self, said: str) -> Fault:
        return Fault(Code.TOO_LARGE, f"{said}, and {self.max_tokens:,} tokens were asked for; nothing of it is used")
