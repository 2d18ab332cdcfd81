"""The model of pipelines: calls by profile, sent to the server of `answer.base_url`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.config_file import ConfigError
from rag_assets.contracts.llm import PROFILES, Profile
from rag_assets.contracts.result import InvokeResult
from rag_assets.query.pipeline.services import Generated, ModelCall

if TYPE_CHECKING:
    from rag_assets.llm.chat import ChatService, Model
    from rag_assets.settings import AnswerSettings

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
        from rag_assets.llm.reply import without_thoughts

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


def configured_model(settings: AnswerSettings, profile: str | None = None) -> AskModel | None:
    """The models of the `answer` settings, what they say written down or played back as `answer.replies` wants; None
    without a server. `profile`, by default that of the settings, writes the answers. Raises ConfigError for one without
    a model or a key that cannot be sent, and CassetteError."""
    if profile is not None and profile not in PROFILES:
        raise ConfigError(unknown_profile(profile))
    if settings.replies == "replay":
        from rag_assets.query.pipeline.cassettes import recorded_replies

        return recorded_replies(Path(settings.replies_file))
    if not settings.base_url:
        if profile is not None:
            raise ConfigError(f"no model answers as {profile!r}: set answer.base_url and answer.{profile}.model")
        return None
    from rag_assets.query.answer.configured import model_of, service_of

    answering = model_of(settings, profile or settings.profile)
    models = {name: model_of(settings, name) for name in PROFILES if settings.model_of(name).model}
    model = ChatModel(service_of(settings), {**models, ANSWERING: answering})
    if settings.replies == "record":
        from rag_assets.query.pipeline.cassettes import Recorder

        return Recorder(model, Path(settings.replies_file))
    return model
