"""Agents: who writes, with which model, what, and within which bounds (E15).

Files in folders, by name: the first folder that has a name wins, then those that come with rag_assets. Every problem of
a file is reported at once, with file, line and the nearest valid name.

An agent is applied to a pipeline: the pipeline as this agent runs it, and how far it sees. The persona is
configuration, so prompts have it as it is written; but it comes before the rules, its protocol markers are neutral like
everybody's, and nothing else of an agent reaches a prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import msgspec

from rag_assets.answer.artifact.templates import OutputType
from rag_assets.contracts.confidentiality import Confidentiality, may_see
from rag_assets.contracts.kinds import Kind, known_kind
from rag_assets.contracts.llm import Profile
from rag_assets.errors import RagAssetsError
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.languages.detection import SourceType
from rag_assets.qa.definition.action_registry import ActionRegistry
from rag_assets.qa.definition.loader import default_registry
from rag_assets.qa.definition.steps import Pipeline, SettingLayer, SettingOrigin, Step, reached
from rag_assets.settings.yaml_loader import InvalidFileError, Mark, Node, Problem, load_struct, read_yaml, under_key
from rag_assets.suggestions import nearest

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
    """What an agent may take at most. They only ever lower what the pipeline and the configuration allow."""

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


ROOT = "agent"

DeclaredKinds = Callable[[], Iterable[Kind]]
"""The kinds that rule packs add to the built-in ones; asked where an agent names one that is not built in."""


class AgentError(InvalidFileError):
    """An agent that cannot be used."""


def is_agent(document: Node) -> bool:
    return document.is_mapping and ROOT in document.value


def read_agent(document: Node, shown: str, declared_kinds: DeclaredKinds = tuple) -> Agent:
    """The agent of a file; `shown` is what messages call the file. Raises AgentError, and what `declared_kinds`
    raises."""
    problems: list[Problem] = []
    try:
        root = under_key(document, ROOT, problems)
    except InvalidFileError as error:
        raise AgentError(error.problems) from error
    found = load_struct(Agent, root, ROOT, problems, file=shown)
    filters = root.value.get("filters") if root.is_mapping else None
    if filters is not None and filters.is_mapping and "kinds" in filters.value:
        problems += _unknown_kinds(filters.value["kinds"], declared_kinds)
    if found is None or problems:
        raise AgentError(problems)
    return found


def _unknown_kinds(entry: Node, declared: DeclaredKinds) -> Iterable[Problem]:
    """In any case, as filters of a search have them."""
    for one in entry.value if entry.is_list else ():
        if not isinstance(one.value, str):
            continue  # of a wrong type, which was said
        try:
            known_kind(one.value)
        except ValueError:
            try:
                known_kind(one.value, declared())
            except ValueError as error:
                yield Problem(one.mark, f"filters: kinds: {error}")


AGENT_FOLDER = "agents"
"""Beside the configuration file: the folder that needs no option."""

SUFFIXES = (".yaml", ".yml")
SHIPPED = resources.files("rag_assets.qa") / AGENT_FOLDER

AUTHORS = {
    OutputType.ANSWER: "developer",
    OutputType.BLUEPRINT: "architect",
    OutputType.PDR: "product_owner",
    OutputType.WORKFLOW: "analyst",
    OutputType.BUILD_PLAN: "tech_lead",
}
"""The shipped agent that writes each type where nobody names one; an agent of that name in a folder takes its place."""


class UnknownAgent(RagAssetsError, LookupError):
    """No agent of this name; the text names near ones."""


class AgentLibrary:
    """The agents of some folders and the shipped ones. Files are read when they are asked for."""

    def __init__(self, folders: Sequence[Path] = (), declared_kinds: DeclaredKinds = tuple) -> None:
        """`declared_kinds` are those of rule packs that filters may name besides the built-in ones."""
        self._declared_kinds = declared_kinds
        self._folders: tuple[Any, ...] = (*folders, SHIPPED)

    def names(self) -> dict[str, str]:
        """name → file, sorted; where a name is in several folders, that of the first. Files that are no agents, or not
        readable as one, are left out."""
        found: dict[str, str] = {}
        for folder in self._folders:
            for agent in self._agents(folder, []):
                found.setdefault(agent.name, agent.file)
        return dict(sorted(found.items()))

    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with files that are meant to be agents, of all folders."""
        found: list[Problem] = []
        for folder in self._folders:
            list(self._agents(folder, found))
        return tuple(sorted(found, key=lambda problem: (problem.mark, problem.text)))

    def load(self, name: str | Path) -> Agent:
        """The agent of a name, or of a file where `name` is a path or ends like one. Raises UnknownAgent, or AgentError
        with every problem, its file and line."""
        if isinstance(name, Path) or name.endswith(SUFFIXES):
            path = Path(name)
            try:
                return read_agent(read_yaml(path, anchors=False), str(path), self._declared_kinds)
            except InvalidFileError as error:
                raise AgentError(error.problems) from error
        for folder in self._folders:
            found = [agent for agent in self._agents(folder, []) if agent.name == name]
            if len(found) > 1:
                text = f"agent {name!r} is also in {found[0].file}; rename one of them"
                raise AgentError([Problem(Mark(found[1].file, 1), text)])
            if found:
                return found[0]
        unread = "".join(f"\n{problem}" for problem in self.problems())
        raise UnknownAgent(f"no agent {name!r}{nearest(name, self.names())}; see: rag-assets agent list{unread}")

    def author(self, output: OutputType) -> Agent:
        """The agent that writes this where nobody names one."""
        return self.load(AUTHORS[output])

    def _agents(self, folder: Any, problems: list[Problem]) -> Iterator[Agent]:
        """The agents of one folder by file name. A YAML file without the root `agent` is something else; what is wrong
        with one that has it goes to `problems`."""
        if not folder.is_dir():
            return
        for file in sorted(folder.iterdir(), key=lambda file: str(file.name)):
            if not file.name.endswith(SUFFIXES) or not file.is_file():
                continue
            try:
                document = read_yaml(file, _shown(file), anchors=False)
                if is_agent(document):
                    yield read_agent(document, _shown(file), self._declared_kinds)
            except InvalidFileError as error:
                problems += error.problems


def _shown(file: Any) -> str:
    return str(file) if isinstance(file, Path) else f"rag_assets:{file.name}"


PERSONA = "persona"
"""The name in braces of a prompt that is spoken by the agent: its step is asked with the agent's model."""

_LOWERED = ("max_context_tokens", "max_turn_loops", "retrieval_top_k")


class AgentRefused(RagAssetsError, ValueError):
    """An agent and a pipeline that do not go together."""


@dataclass(frozen=True, slots=True)
class AgentScope:
    """How far an agent sees: `clearance` is never above that of the caller."""

    clearance: Confidentiality
    filters: SearchFilters


def with_agent(pipeline: Pipeline, agent: Agent, registry: ActionRegistry | None = None) -> Pipeline:
    """The pipeline as this agent runs it: persona, output type and limits in its settings, its profile in every step
    that speaks as the agent. All of that is in the digest of the pipeline, so a lock covers it.

    Raises AgentRefused where a step that can be reached does what the agent may not, a model is asked and no prompt has
    a place for the persona, or the agent writes what the pipeline does not.
    """
    known = default_registry() if registry is None else registry
    _check_actions(pipeline, agent, known)
    _check_output(pipeline, agent)
    spoken = {name for name, prompt in pipeline.prompts.items() if PERSONA in prompt.names}
    speaking = {step.id for step in _reachable(pipeline) if _prompts(step, known) & spoken}
    if not speaking and any(_writes(step) for step in _reachable(pipeline)):
        raise AgentRefused(
            f"agent {agent.name!r}: no prompt of the pipeline {pipeline.name!r} has a place for the persona; "
            f"write {{{PERSONA}}} into the system part of the prompt that writes the answer"
        )
    steps = {name: _as_agent(step, agent) if name in speaking else step for name, step in pipeline.steps.items()}
    said = _said(pipeline, agent)
    told = pipeline.with_settings(said, dict.fromkeys(said, SettingOrigin(SettingLayer.AGENT, agent.name)))
    return replace(told, steps=steps, agent=agent.name)


def scope_of(agent: Agent, clearance: Confidentiality) -> AgentScope:
    """What a caller of this clearance sees through the agent."""
    filters = agent.filters
    wanted = filters.confidentiality
    return AgentScope(
        wanted if wanted is not None and may_see(clearance, wanted) else clearance,
        SearchFilters(
            paths=filters.paths,
            kinds=filters.kinds,
            languages=filters.languages,
            source_types=tuple(map(str, filters.source_types)),
        ),
    )


def _said(pipeline: Pipeline, agent: Agent) -> dict[str, Any]:
    """The settings that the agent decides: its limits only where they are lower."""
    limits = {name: getattr(agent.limits, name) for name in _LOWERED}
    lowered = {
        name: most for name, most in limits.items() if most is not None and most < getattr(pipeline.settings, name)
    }
    return {"persona": agent.persona.strip(), "output_type": agent.output_type, **lowered}


def _as_agent(step: Step, agent: Agent) -> Step:
    """The step with the agent's model, and not more tokens than it may take."""
    fields = {field.name for field in msgspec.structs.fields(type(step.parameters))}
    changed: dict[str, object] = {"profile": agent.model_profile} if "profile" in fields else {}
    most = agent.limits.max_tokens
    if most is not None and "max_tokens" in fields:
        now = getattr(step.parameters, "max_tokens")  # noqa: B009 # parameters are of any type
        changed["max_tokens"] = most if now is None else min(most, now)
    return replace(step, parameters=msgspec.structs.replace(step.parameters, **changed))


def _check_actions(pipeline: Pipeline, agent: Agent, registry: ActionRegistry) -> None:
    unknown = [name for name in agent.actions if registry.get(name) is None]
    if unknown:
        near = nearest(unknown[0], registry.names)
        raise AgentRefused(f"agent {agent.name!r} ({agent.file}): unknown action {unknown[0]!r}{near}")
    for step in _reachable(pipeline) if agent.actions else ():
        if step.action not in agent.actions:
            raise AgentRefused(
                f"agent {agent.name!r} may not do what step {step.id!r} of the pipeline {pipeline.name!r} does: "
                f"add {step.action} to its actions, or give it a pipeline without that step"
            )


def _check_output(pipeline: Pipeline, agent: Agent) -> None:
    is_artifact = pipeline.settings.output_type is not OutputType.ANSWER
    if is_artifact is not (agent.output_type is not OutputType.ANSWER):
        made = "artifacts" if is_artifact else "answers"
        raise AgentRefused(
            f"agent {agent.name!r} writes output_type {agent.output_type}, and the pipeline {pipeline.name!r} makes "
            f"{made}; change one of them"
        )


def _reachable(pipeline: Pipeline) -> list[Step]:
    found = reached(pipeline.settings.entry_step_id, pipeline.steps)
    return [step for step in pipeline.steps.values() if step.id in found]


def _writes(step: Step) -> bool:
    """Whether a step asks a model for a text of some length: what only translates or sums up has none of its own."""
    return any(field.name == "max_tokens" for field in msgspec.structs.fields(type(step.parameters)))


def _prompts(step: Step, registry: ActionRegistry) -> set[str]:
    return {name for _, name in registry[step.action].prompts(step.parameters)}
