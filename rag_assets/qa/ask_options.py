"""How a question is to be answered: what the caller asks for, and what the configuration says, models included."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.answer.citations import Policy
from rag_assets.answer.token_budget import TokenCounter
from rag_assets.contracts.llm import PROFILES
from rag_assets.qa.chat_model import ANSWERING, AskModel, ChatModel, unknown_profile
from rag_assets.qa.log.model_calls import Recorder, recorded_replies
from rag_assets.settings.config_file import ConfigError, config_of, is_configured

if TYPE_CHECKING:
    from rag_assets.contracts.result import InvokeResult
    from rag_assets.qa.agents import Agent
    from rag_assets.qa.services import Generated, ModelCall

    Generate = Callable[[ModelCall], InvokeResult[Generated]]
    from rag_assets.index.layout import IndexHome
    from rag_assets.models.openai_compat.chat import ChatService, Model
    from rag_assets.settings import AnswerSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
    """What the caller says, or None: `limit` hits are looked at, evidence takes `budget` tokens, below `threshold` of
    confidence the answer is a refusal, below `sure` what is closest, and `policy` is what becomes of unsupported
    sentences. `configured` are the
    settings of a pipeline that the configuration names, which an agent and the caller may say otherwise.

    `count` counts tokens (None: the estimate for byte-pair models). `model` writes; None: quotes. `offline`: one is
    configured, and whoever asks leaves it out. `pipeline` is a name or a file; '' the shipped one, with a model or
    without. `packs` are folders of pipelines, looked through before those of the configuration. `agent` is who answers,
    within its limits; how far it sees is a matter of opening the indexes (`qa.agents.scope_of`).
    """

    limit: int | None = None
    budget: int | None = None
    count: TokenCounter | None = None
    threshold: float | None = None
    sure: float | None = None
    policy: Policy | None = None
    model: Generate | None = None
    offline: bool = False
    pipeline: str = ""
    packs: tuple[Path, ...] = ()
    agent: Agent | None = None
    configured: Mapping[str, object] = field(default_factory=dict)

    @property
    def said(self) -> dict[str, object]:
        """The settings of a pipeline that the caller says."""
        policy = None if self.policy is None else self.policy.value
        said = zip(_OF_PIPELINE, (self.limit, self.budget, self.threshold, self.sure, policy), strict=True)
        return {name: value for name, value in said if value is not None}


_OF_PIPELINE = ("retrieval_top_k", "max_context_tokens", "weak_below", "sure_from", "citation_policy")
_SECTION = "answer"


def configured(
    home: IndexHome, config: Path | None, *, offline: bool = False, profile: str | None = None, limit: int | None = None
) -> AskOptions:
    """The `answer` settings of `config`, or of the file that is found from here or from the home. Makes no request.
    Raises ConfigError, also for a `profile` that has no model; TokenizerMissing."""
    path = config_of(home.root, config)
    if not is_configured(_SECTION, path):
        if profile is not None:
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
    from rag_assets.models.openai_compat.token_counting import token_counter

    named = zip(_OF_PIPELINE, ("max_chunks", "max_context_tokens", "threshold", "sure", "unsupported"), strict=True)
    return AskOptions(
        limit=limit,
        count=token_counter(settings.tokenizer),
        configured={name: getattr(settings, key) for name, key in named if key in settings.model_fields_set},
        model=None if offline else configured_model(settings, profile),
        offline=offline and bool(settings.base_url or settings.replies == "replay"),
        pipeline="" if offline else settings.pipeline,
    )


def service_of(settings: AnswerSettings) -> ChatService:
    """The server of `answer.base_url`. Makes no request. Raises ConfigError for a key that cannot be sent."""
    from rag_assets.models.openai_compat.chat import ChatService
    from rag_assets.models.openai_compat.client import ModelClient
    from rag_assets.models.openai_compat.endpoint import ServerEndpoint
    from rag_assets.settings.search import KEY_VARIABLE

    endpoint = ServerEndpoint.of(settings, _SECTION, KEY_VARIABLE)
    return ChatService(ModelClient(endpoint), retries=settings.retries)


def model_of(settings: AnswerSettings, profile: str) -> Model:
    """The model that answers as a profile. Raises ConfigError where there is none."""
    from rag_assets.models.openai_compat.chat import Model

    if profile not in PROFILES:
        raise ConfigError(unknown_profile(profile))
    known = settings.model_of(profile)
    if not known.model:
        raise ConfigError(f"no model answers as {profile!r}: set answer.{profile}.model")
    return Model(known.model, known.max_tokens, known.temperature, known.price_in, known.price_out)


def configured_model(settings: AnswerSettings, profile: str | None = None) -> AskModel | None:
    """The models of the `answer` settings, what they say written down or played back as `answer.replies` wants; None
    without a server. `profile`, by default that of the settings, writes the answers. Raises ConfigError for one without
    a model or a key that cannot be sent, and CassetteError."""
    if profile is not None and profile not in PROFILES:
        raise ConfigError(unknown_profile(profile))
    if settings.replies == "replay":
        return recorded_replies(Path(settings.replies_file))
    if not settings.base_url:
        if profile is not None:
            raise ConfigError(f"no model answers as {profile!r}: set answer.base_url and answer.{profile}.model")
        return None

    answering = model_of(settings, profile or settings.profile)
    models = {name: model_of(settings, name) for name in PROFILES if settings.model_of(name).model}
    model = ChatModel(service_of(settings), {**models, ANSWERING: answering})
    if settings.replies == "record":
        return Recorder(model, Path(settings.replies_file))
    return model
