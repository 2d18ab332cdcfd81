"""What the actions of a pipeline need from the rest of the program, and the nouns that go in and out.

One object per process implements `Services`: over open indexes, a model server and the history in SQL. Everything
expected that can go wrong comes back as a result; a defect raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from rag_assets.contracts.llm import ChatMessage, Profile
from rag_assets.index.vectors.filters import NO_FILTERS, SearchFilters

if TYPE_CHECKING:
    from rag_assets.answer.context_pack import AnswerInputs
    from rag_assets.answer.question_analysis import QueryTerm
    from rag_assets.contracts.evidence import Evidence
    from rag_assets.contracts.result import InvokeResult
    from rag_assets.contracts.retrieval import Mode
    from rag_assets.graph.neighbourhood import Neighbourhood
    from rag_assets.graph.relations import WalkStep as Walk
    from rag_assets.history.conversations import ConversationHistory, NewTurn, StoredTurn, Summary
    from rag_assets.search import Question


def nobody_listens(text: str) -> None:
    """Where nobody wants to see an answer in the making."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One question to a model. `purpose` is the name of its prompt, for the log. `temperature` None is that of the
    model's settings. `on_text` is given its words as they come. `schema` is the JSON schema of the reply, as text;
    empty: free text. `asker` is the step that asks and its pipeline, in words."""

    purpose: str
    messages: tuple[ChatMessage, ...]
    profile: Profile = "balanced"
    max_tokens: int = 1_500
    temperature: float | None = None
    on_text: Callable[[str], None] = field(default=nobody_listens, repr=False, compare=False)
    schema: str = ""
    asker: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Generated:
    """What a model wrote, unparsed and untrusted, and what it took. `cost` is None where no price is known."""

    text: str
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None


class History(Protocol):
    """Where turns are kept: `history.conversations.Conversations`, or what a replay sees of them."""

    def load(self, user: str, session: str) -> ConversationHistory: ...

    def append(self, user: str, session: str, turn: NewTurn) -> StoredTurn: ...

    def find_request(self, user: str, session: str, request_id: str) -> StoredTurn | None: ...

    def save_summary(self, user: str, session: str, text: str, *, through: int, after_version: int) -> Summary: ...


class PipelineServices(Protocol):
    """Safe to use from several threads. `label` is an index label (`repository@ref`), or several as `label_of_all`
    writes them; tenant and clearance are those that the implementation was opened with."""

    @property
    def history(self) -> History | None:
        """Where turns are kept; None for a caller who keeps none."""

    def search(
        self, label: str, query: str | Question, mode: Mode, limit: int, filters: SearchFilters = NO_FILTERS
    ) -> AnswerInputs:
        """The best `limit` pieces, best first (D18), with what else answers a Question: what declares its names, what
        the graph says of them. A text is one of the model's making: words and nothing else. A mode that the index
        cannot serve falls back deterministically, with a warning (D15, D17). Raises RagAssetsError where the label
        cannot be read."""

    def expand(
        self, label: str, entries: Mapping[str, float], *, steps: Sequence[Walk], depth: int, nodes: int
    ) -> Neighbourhood:
        """What is around graph nodes, bounded (D20). An index without a graph has an empty one, with a warning."""

    def node_texts(self, label: str, keys: Sequence[str], limit: int) -> tuple[Evidence, ...]:
        """The texts of the first `limit` of these nodes that have one, by identity, in the order of the keys (D21);
        their `node_keys` have the key."""

    def known_names(self, label: str, text: str) -> tuple[str, ...]:
        """The identifiers in a text that the index knows, in their order: they veto DIRECT (R12)."""

    def asked_words(self, label: str, text: str) -> tuple[QueryTerm, ...]:
        """The telling words of a text, with how rare each is in the index."""

    def generation(self, label: str) -> str:
        """The id of the generation that the label is read from: part of the lock of a turn."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Of each text, by the tokenizer of the model where it is known (R24)."""

    @property
    def has_model(self) -> bool:
        """Whether there is anybody to ask; `generate` fails where there is not."""

    @property
    def offline(self) -> bool:
        """Whether there is nobody to ask because the caller leaves out the model that is configured."""

    def generate(self, call: ModelCall) -> InvokeResult[Generated]:
        """What the model of the profile writes. Never raises for what a server or model can do (A17)."""
