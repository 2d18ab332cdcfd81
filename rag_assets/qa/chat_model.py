"""The model of pipelines: calls by profile, sent to the server of `answer.base_url`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_assets.contracts.llm import PROFILES, Profile
from rag_assets.contracts.result import InvokeResult
from rag_assets.qa.services import Generated, ModelCall

if TYPE_CHECKING:
    from rag_assets.models.openai_compat.chat import ChatService, Model

AskModel = Callable[[ModelCall], InvokeResult[Generated]]
"""What a model is to a turn. It raises nothing that a server or a model can cause (A17)."""

ANSWERING: Profile = "balanced"
"""What steps ask that say nothing else: the profile that the user chooses another model for."""


@dataclass(frozen=True, slots=True)
class ChatModel:
    """`models` by profile. A profile without a model is answered by that of `default`, which has one. Safe to use from
    several threads."""

    service: ChatService
    models: Mapping[Profile, Model]
    default: Profile = ANSWERING

    def __call__(self, call: ModelCall) -> InvokeResult[Generated]:
        """Length and temperature are those of the call, and not more tokens than its model is allowed. Never raises for
        what a server can do (A17). Thoughts before a reply are no part of it."""
        known = self.models.get(call.profile) or self.models[self.default]
        temperature = known.temperature if call.temperature is None else call.temperature
        model = replace(known, max_tokens=min(call.max_tokens, known.max_tokens), temperature=temperature)
        from rag_assets.models.openai_compat.responses import without_thoughts

        result = self.service.generate(model, call.messages, call.on_text, schema=call.schema)
        written = result.value
        if written is None:
            return InvokeResult.failure(result.errors, result.warnings)
        usage, text = written.usage, without_thoughts(written.text)
        return InvokeResult.create(
            Generated(text, written.model, usage.prompt_tokens, usage.completion_tokens, usage.cost)
        )


def unknown_profile(profile: str) -> str:
    """What is said of a name that no setting can give a model to."""
    return f"unknown profile {profile!r}; valid: {', '.join(PROFILES)}"
