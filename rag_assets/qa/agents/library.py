"""Agents by name: files in folders, the first folder that has a name wins, and those that come with rag_assets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from rag_assets.answer.artifact.output import OutputType
from rag_assets.errors import RagAssetsError
from rag_assets.qa.agents.agent import Agent
from rag_assets.qa.agents.parser import AgentError, DeclaredKinds, is_agent, read_agent
from rag_assets.settings.validation_messages import nearest
from rag_assets.settings.yaml_loader import InvalidFileError, Mark, Problem, read_yaml

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
