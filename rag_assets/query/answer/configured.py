"""How the configuration wants questions to be answered, and by which model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.config_file import ConfigError, config_of, is_configured
from rag_assets.contracts.llm import PROFILES
from rag_assets.query.answer.checking import Policy
from rag_assets.query.answer.options import AskOptions

if TYPE_CHECKING:
    from rag_assets.llm.chat import ChatService, Model
    from rag_assets.settings import AnswerSettings
    from rag_assets.stores.home import Home

_SECTION = "answer"


def configured(
    home: Home, config: Path | None, *, offline: bool = False, profile: str | None = None, limit: int | None = None
) -> AskOptions:
    """The `answer` settings of `config`, or of the file that is found from here or from the home. Makes no request.
    Raises ConfigError, also for a `profile` that has no model; TokenizerMissing."""
    path = config_of(home.root, config)
    if not is_configured(_SECTION, path):
        if profile is not None:
            from rag_assets.query.pipeline.chat_model import unknown_profile

            if profile not in PROFILES:
                raise ConfigError(unknown_profile(profile))
            raise ConfigError(f"no model answers as {profile!r}: set answer.base_url and answer.{profile}.model")
        return AskOptions(limit=limit)
    from rag_assets.settings import load_settings

    return options_of(load_settings(path).answer, offline=offline, profile=profile, limit=limit)


def options_of(
    settings: AnswerSettings, *, offline: bool = False, profile: str | None = None, limit: int | None = None
) -> AskOptions:
    """Options from settings. What the settings do not say is as the pipeline says, and `offline` needs one without a
    model. Raises ConfigError for a profile without a model, and TokenizerMissing."""
    from rag_assets.models.endpoint_tokens import token_counter
    from rag_assets.query.pipeline.chat_model import configured_model

    said = settings.model_fields_set
    return AskOptions(
        limit=limit or (settings.max_chunks if "max_chunks" in said else None),
        budget=settings.max_context_tokens if "max_context_tokens" in said else None,
        count=token_counter(settings.tokenizer),
        threshold=settings.threshold,
        policy=Policy(settings.unsupported) if "unsupported" in said else None,
        model=None if offline else configured_model(settings, profile),
        offline=offline and bool(settings.base_url or settings.replies == "replay"),
        pipeline="" if offline else settings.pipeline,
    )


def service_of(settings: AnswerSettings) -> ChatService:
    """The server of `answer.base_url`. Makes no request. Raises ConfigError for a key that cannot be sent."""
    from rag_assets.llm.chat import ChatService
    from rag_assets.llm.opening import COMPLETIONS
    from rag_assets.model_server.api_key import ApiKey
    from rag_assets.model_server.transport import Transport
    from rag_assets.settings.answering import KEY_VARIABLE

    transport = Transport(settings.base_url + COMPLETIONS, settings.timeout_seconds, section=_SECTION)
    return ChatService(transport, ApiKey.of(os.environ, KEY_VARIABLE), section=_SECTION, retries=settings.retries)


def model_of(settings: AnswerSettings, profile: str) -> Model:
    """The model that answers as a profile. Raises ConfigError where there is none."""
    from rag_assets.llm.chat import Model

    if profile not in PROFILES:
        from rag_assets.query.pipeline.chat_model import unknown_profile

        raise ConfigError(unknown_profile(profile))
    known = settings.model_of(profile)
    if not known.model:
        raise ConfigError(f"no model answers as {profile!r}: set answer.{profile}.model")
    return Model(known.model, known.max_tokens, known.temperature, known.price_in, known.price_out)
