"""An agent as its file has it. Pure nouns; every field is read where an agent is applied."""

from __future__ import annotations

from typing import Annotated

import msgspec

from rag_assets.answer.artifact.output import OutputType
from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.contracts.llm import Profile
from rag_assets.languages.detection import SourceType

MAX_PERSONA_CHARS = 4_000
"""A page. What is longer is knowledge, and belongs into an index, where it can be cited."""

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Count = Annotated[int, msgspec.Meta(ge=1, le=100)]


class Filters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where an agent looks: all fields must hold, the values of one are alternatives. They only ever narrow: what a
    caller may not see stays unseen, whatever `confidentiality` says."""

    kinds: tuple[Text, ...] = ()
    paths: tuple[Text, ...] = ()
    languages: tuple[Text, ...] = ()
    source_types: tuple[SourceType, ...] = ()
    confidentiality: Confidentiality | None = None


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an agent may take at most. They only ever lower what the pipeline allows."""

    max_tokens: Annotated[int, msgspec.Meta(ge=16, le=100_000)] | None = None
    max_context_tokens: Annotated[int, msgspec.Meta(ge=64)] | None = None
    max_turn_loops: Annotated[int, msgspec.Meta(ge=0, le=20)] | None = None
    retrieval_top_k: Count | None = None


class Agent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`persona` goes into the system message, before the rules (E16). `pipeline` empty: the one of the output type.
    `actions` are all that its pipeline may do; none named: what the pipeline says. `file` is where it is from."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    persona: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_PERSONA_CHARS)]
    description: str = ""
    model_profile: Profile = "balanced"
    output_type: OutputType = OutputType.ANSWER
    pipeline: str = ""
    actions: tuple[Text, ...] = ()
    filters: Filters = Filters()
    limits: Limits = Limits()
    file: str = ""

    def runs_on(self, *, has_model: bool = True) -> str:
        """The name of its pipeline; the shipped ones are others where there is no model."""
        shipped = _ANSWERING if self.output_type is OutputType.ANSWER else _ARTIFACTS
        return self.pipeline or (shipped if has_model else f"{shipped}{_OFFLINE}")


_ANSWERING, _ARTIFACTS, _OFFLINE = "code_question_answering", "artifact_generation", "_offline"
