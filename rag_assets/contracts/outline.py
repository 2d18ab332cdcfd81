"""The outline of a section: its members with their lines, as the payload of a point has them."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.contracts.segment import one_line

_MODIFIER_NAMES = (
    "public private protected internal static async sealed abstract virtual override new partial readonly extern "
    "unsafe volatile required file export default declare final synchronized native pub"
)
_MODIFIERS = frozenset(_MODIFIER_NAMES.split())
_LISTED_CHARS = 320
"""Of a signature: the longest one that is common. A minified file has some of a megabyte."""


@dataclass(frozen=True, slots=True)
class SectionMember:
    """A line of the outline of a section: a member that it covers, with its own lines (1-based, inclusive).

    `signature` is on one line, without body; a heading path, the text of a column or a key where there is none.
    """

    name: str
    signature: str
    start_line: int
    end_line: int

    @property
    def encoded(self) -> str:
        """As a payload has it: `88-121 CancelAsync<tab>public async Task<Result> CancelAsync(OrderId id)`."""
        name, signature = one_line(self.name)[:_LISTED_CHARS], one_line(self.signature)[:_LISTED_CHARS]
        return f"{self.start_line}-{self.end_line} {name}\t{signature}"

    @classmethod
    def decoded(cls, text: str) -> SectionMember:
        """The inverse of `encoded`. Raises ValueError."""
        lines, _, rest = text.partition(" ")
        start, _, end = lines.partition("-")
        name, _, signature = rest.partition("\t")
        return cls(name, signature, int(start), int(end))


def compact_signature(signature: str) -> str:
    """A signature without its leading modifiers, which every neighbour shares."""
    rest = signature
    while True:
        word, _, tail = rest.partition(" ")
        if not tail or word not in _MODIFIERS:
            return rest
        rest = tail


def line_range(start: int, end: int) -> str:
    """`12-30`, `12` for one line."""
    return str(start) if end <= start else f"{start}-{end}"
