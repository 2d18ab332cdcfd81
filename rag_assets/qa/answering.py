"""Asking an open index, or several as one: a pipeline, the options of the caller, a model and a history, for as many
questions as there are. An artifact comes from a turn, too.
"""

from __future__ import annotations

import getpass
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rag_assets.answer.abstention import Thresholds, calibrated_thresholds
from rag_assets.answer.artifact.templates import WHOLE, OutputType, Section, split
from rag_assets.closeable import Closeable
from rag_assets.contracts.retrieval import DEFAULT_POLICY, Mode
from rag_assets.errors import WrongUsage
from rag_assets.index.vectors.filters import NO_FILTERS, SearchFilters
from rag_assets.qa.ask_options import AskOptions
from rag_assets.qa.definition.loader import PipelineLibrary, library_of
from rag_assets.qa.definition.steps import Pipeline, SettingLayer, SettingOrigin
from rag_assets.qa.engine import TurnResult, label_of
from rag_assets.qa.log.turn_logger import KeptLogs, logged_turn, open_turn_log
from rag_assets.qa.services import PipelineServices, label_of_all, nobody_listens
from rag_assets.qa.turn import TurnRequest
from rag_assets.search.index import LabelIndex, Searchable
from rag_assets.settings.config_file import config_of, is_configured

if TYPE_CHECKING:
    from rag_assets.answer.results import Answer
    from rag_assets.contracts.confidentiality import Confidentiality
    from rag_assets.history.conversations import Conversations
    from rag_assets.index.generations import Generation
    from rag_assets.index.layout import IndexHome


WITH_MODEL = "code_question_answering"
WITHOUT_MODEL = "code_question_answering_offline"

_OF_SEARCH = {
    "default_mode": SettingOrigin(SettingLayer.CONFIGURATION, "search.mode"),
    "retrieval_top_k": SettingOrigin(SettingLayer.CONFIGURATION, "search.profile"),
}
_CONFIGURED = {
    name: SettingOrigin(SettingLayer.CONFIGURATION, f"answer.{setting}")
    for name, setting in {
        "retrieval_top_k": "max_chunks",
        "max_context_tokens": "max_context_tokens",
        "weak_below": "threshold",
        "sure_from": "sure",
        "citation_policy": "unsupported",
    }.items()
}
"""Settings of a pipeline that the configuration can say something stronger of."""

_NOBODY = "local"
"""The user where the system does not know who runs it, as in a container."""


class LanguageError(WrongUsage, ValueError):
    """Something that is no code of a language."""


class QuestionAnswerer(Closeable):
    """Asks `target` through pipelines. Safe to use from several threads; closing it leaves `target` open."""

    def __init__(
        self,
        target: Searchable,
        options: AskOptions,
        *,
        history: Conversations | None = None,
        logged: bool = True,
        logs: KeptLogs | None = None,
    ) -> None:
        """`history` is where turns with a session are kept; without it, where the configuration says, opened when it is
        needed first. Turns that are not `logged` are questions of nobody, such as those of an evaluation. `logs` are of
        a caller who asks again, and closes them."""
        self._target = target
        self._options = options
        one = next(iter(target.members.values()))
        self._home, self._config = one.parts.configuration
        self._history = history
        self._own_history: Conversations | None = None
        self._clearance = one.clearance
        self._log = open_turn_log(self._home, self._config, clearance=one.clearance, kept=logs) if logged else None
        self._lock = threading.Lock()
        self.label = label_of_all(target.members)
        self.services = self._services(history)

    def ask(
        self,
        question: str,
        *,
        filters: SearchFilters = NO_FILTERS,
        literal: bool = False,
        mode: Mode | None = None,
        session: str = "",
        user: str = "",
        language: str = "",
        request_id: str = "",
        on_text: Callable[[str], None] = nobody_listens,
    ) -> TurnResult:
        """One turn. With a `session` it follows the turns of that session of `user` (default: the user of the system)
        and is kept; where conversations cannot be opened it is answered without them, with a warning, but for one with
        a `request_id`, which must not be answered twice. A `language` that is not that of the model is translated from
        and into. Raises RequestError, LanguageError, TurnError, PipelineError, UnknownPipeline, ConversationError, and
        what a search raises."""
        pipeline = self.pipeline(mode)
        request = TurnRequest(
            question=question,
            is_english=is_of(language, pipeline.settings.model_language),
            label=self.label,
            filters=filters,
            literal=literal,
            session=session,
            user=user or system_user(),
            request_id=request_id,
            agent=self._options.agent.name if self._options.agent is not None else "",
        )
        problem = self._open_history(request) if session else ""
        result = logged_turn(pipeline, request, self.services, self._log, on_text=on_text)
        if not problem or result.response is None:
            return result
        warnings = (problem, *result.response.warnings)
        return replace(result, response=replace(result.response, warnings=warnings))

    def pipeline(self, mode: Mode | None = None) -> Pipeline:
        """The pipeline that is asked, with the settings that are stronger than its own. Raises UnknownPipeline,
        PipelineError, ConfigError, AgentRefused."""
        generations = [index.generation for index in self._target.members.values()]
        of_search = said_of_search(config_of(self._home.root, self._config), self._target.parts.policy.mode)
        return effective_pipeline(self._options, self._library, of_search, mode=mode, generations=generations)

    def forget(self, session: str, user: str = "") -> None:
        """Deletes a session for good, with what the log has of it, where anything was asked in it. Raises
        ConversationError."""
        history = self._history or self._own_history
        if history is not None:
            history.delete_session(user or system_user(), session)

    def close(self) -> None:
        self.services.close()
        if self._log is not None:
            self._log.close()
        with self._lock:
            if self._own_history is not None:
                self._own_history.close()
                self._own_history = None

    @cached_property
    def _library(self) -> PipelineLibrary:
        """Where pipelines are is read once; whether their files have changed is looked at for every question."""
        return library_of(config_of(self._home.root, self._config), self._options.packs)

    def _services(self, history: Conversations | None) -> PipelineServices:

        one = next(iter(self._target.members.values()))
        return PipelineServices(
            partial(
                LabelIndex.open,
                home=self._home.root,
                config=self._config,
                clearance=one.clearance,
                org_id=one.manifest.org_id,
            ),
            opened={self.label: self._target},
            history=history,
            generate=self._options.model,
            offline=self._options.offline,
            count_tokens=self._options.count,
        )

    def _open_history(self, request: TurnRequest) -> str:
        """'', or why the turn has no conversation. Raises ConversationError where it may not go without."""
        from rag_assets.history.conversations import ConversationError

        with self._lock:
            if self._history is not None or self._own_history is not None:
                return ""
            try:
                self._own_history = history_of(self._home, self._config, self._clearance)
            except ConversationError as error:
                if request.request_id:
                    raise
                return f"this turn follows none and is not kept: {error}"
            self.services.keep_in(self._own_history)
        return ""


def label_of_pipeline(options: AskOptions, config: Path | None) -> str:
    """The index that the pipeline of the options asks where nobody names one; '' where it names none. Raises
    UnknownPipeline, PipelineError, ConfigError."""
    settings = _named(options, library_of(config, options.packs)).settings
    return label_of(settings, settings.active_index)


def history_of(home: IndexHome, config: Path | None, clearance: Confidentiality) -> Conversations:
    """Where the configuration keeps conversations. Raises ConversationError, CatalogError or ConfigError."""
    from rag_assets.history.conversations import open_conversations

    path = config_of(home.root, config)
    catalog: Literal["none", "sqlite", "postgres"] = "none"
    if is_configured("stores", path):
        from rag_assets.settings import load_settings

        catalog = load_settings(path).stores.catalog
    return open_conversations(home, catalog, clearance=clearance)


def effective_pipeline(
    options: AskOptions,
    library: PipelineLibrary,
    of_search: Mapping[str, object],
    *,
    mode: Mode | None = None,
    generations: Sequence[Generation] = (),
) -> Pipeline:
    """The pipeline of the options as a turn runs it, and who says each of its settings (F01): the call (`mode` is part
    of it), the agent, the configuration, the pipeline file, and of the thresholds what was calibrated for the one
    generation. Raises UnknownPipeline, PipelineError, AgentRefused."""
    found = _named(options, library)
    modes = found.settings.retrieval_modes  # what a search does by default is no capability of a pipeline (D17)
    of_search = {name: value for name, value in of_search.items() if name != "default_mode" or value in modes}
    found = found.with_settings(of_search, _OF_SEARCH).with_settings(options.configured, _CONFIGURED)
    if options.agent is not None:
        from rag_assets.qa.agents import with_agent  # start-up budget: most questions have no agent

        found = with_agent(found, options.agent)
    called = {name: value for name, value in (*options.said.items(), ("default_mode", mode)) if value is not None}
    found = found.with_settings(called, dict.fromkeys(called, SettingOrigin(SettingLayer.CALL)))
    unsaid = [name for name in Thresholds._fields if name not in found.origins]
    known = calibrated_thresholds(generations, found.settings.default_mode) if unsaid else None
    if known is None:
        return found
    calibrated = {name: getattr(known, name) for name in unsaid}
    return found.with_settings(calibrated, dict.fromkeys(calibrated, SettingOrigin(SettingLayer.INDEX)))


def said_of_search(config: Path | None, mode: Mode) -> dict[str, object]:
    """The settings of a pipeline that the configuration of searches decides; `mode` is that of the policy of a search.
    Raises ConfigError."""
    said: dict[str, object] = {} if mode is DEFAULT_POLICY.mode else {"default_mode": mode}
    if not is_configured("search", config):
        return said
    from rag_assets.settings import load_settings  # start-up budget: costs a search a third of its time
    from rag_assets.settings.search import SEED_CHUNKS

    search = load_settings(config).search
    if "mode" in search.model_fields_set:  # the default may be written there
        said["default_mode"] = mode
    return said | ({"retrieval_top_k": SEED_CHUNKS} if search.profile == "seed" else {})


def is_of(language: str, of_model: str) -> bool:
    """Whether a code (`de`, `pt-BR`) is of the language of the model; '' is. Raises LanguageError."""
    code = language.strip().casefold().replace("_", "-")
    if not code:
        return True
    head, *parts = code.split("-")
    if not (head.isascii() and head.isalpha() and 2 <= len(head) <= 3 and all(part.isalnum() for part in parts)):
        raise LanguageError(f"{language!r} is no code of a language; write one such as de, pl or pt-BR")
    return head == of_model.casefold().replace("_", "-").partition("-")[0]


def system_user() -> str:
    """Who runs this process."""
    try:
        return getpass.getuser() or _NOBODY
    except (KeyError, OSError, ImportError):  # no such user, or a system without users
        return _NOBODY


def _named(options: AskOptions, library: PipelineLibrary) -> Pipeline:
    """The pipeline that options name, or the shipped one."""
    has_model = options.model is not None
    shipped = WITH_MODEL if has_model else WITHOUT_MODEL
    named = options.pipeline or (shipped if options.agent is None else options.agent.runs_on(has_model=has_model))
    return _loaded(named, library.packs, library.stamp(named))


@lru_cache(maxsize=16)  # reading and checking a pipeline costs as much as a search
def _loaded(named: str, packs: tuple[Path, ...], stamp: tuple[object, ...]) -> Pipeline:
    """As the files are that the stamp is of."""
    return PipelineLibrary(packs).load(named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """`answer` has the text with `[chunk: id]` marks, its citations and checks, who wrote it and what that took;
    `sections` are the parts of the text, none of a refusal. `turn` has the trace and the lock."""

    output: OutputType
    subject: str
    agent: str
    label: str
    sections: tuple[Section, ...]
    answer: Answer
    turn: TurnResult

    @property
    def refused(self) -> bool:
        return self.answer.abstained


def make_artifact(
    asker: QuestionAnswerer, subject: str = WHOLE, *, on_text: Callable[[str], None] = lambda text: None
) -> Artifact:
    """The artifact that the agent of `asker` writes (`AskOptions.agent`). Raises what `Asker.ask` raises."""
    pipeline = asker.pipeline()
    result = asker.ask(subject, on_text=on_text)
    assert result.response is not None  # only a request that was answered before has none
    return Artifact(
        output=pipeline.settings.output_type,
        subject=subject,
        agent=pipeline.agent,
        label=asker.label,
        sections=() if result.response.abstained else split(result.response.text)[1],
        answer=result.response,
        turn=result,
    )
