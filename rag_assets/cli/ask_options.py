"""What `ask` and `chat` have in common: their options, and an open index that is asked with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_assets.cli.options import CliSession, chosen_label, complete_label
from rag_assets.cli.pipeline import checked_packs

if TYPE_CHECKING:
    from rag_assets.index.layout import IndexHome
    from rag_assets.qa.agents.agent import Agent
    from rag_assets.qa.answering import QuestionAnswerer
    from rag_assets.qa.ask_options import AskOptions
    from rag_assets.search.index import Searchable

_MOST_HITS = 50  # a context of more has its tokens spent on what is not asked for

Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        "-l",
        help="Which index; repeatable. Default: that of the pipeline, else as for search.",
        autocompletion=complete_label,
    ),
]
Paths = Annotated[list[str] | None, typer.Option("--path", help="Only files of this path, folder or glob; repeatable.")]
Limit = Annotated[
    int | None,
    typer.Option("--limit", "-n", min=1, max=_MOST_HITS, help="How many hits to look at. Default: as configured."),
]
Offline = Annotated[bool, typer.Option("--offline", help="Answer with quotes alone, also where a model is configured.")]


def known_profile(name: str | None) -> str | None:
    """Raises BadParameter for a profile that no setting can give a model to."""
    from rag_assets.contracts.llm import PROFILES

    if name is not None and name not in PROFILES:
        raise typer.BadParameter(f"no profile {name!r}; valid: {', '.join(PROFILES)}")
    return name


AnsweringProfile = Annotated[
    str | None,
    typer.Option(
        "--profile",
        callback=known_profile,
        help="Which model answers: cheap, balanced or premium. Default: as configured.",
    ),
]
PipelineName = Annotated[
    str, typer.Option("--pipeline", metavar="NAME|FILE", help="The pipeline that answers. Default: as configured.")
]
AskedPacks = Annotated[
    list[Path] | None, typer.Option("--pack", metavar="FOLDER", help="A folder of pipelines; repeatable.")
]


def named_session(name: str | None) -> str | None:
    """Raises BadParameter for an empty name, as of a variable that a script has not set: nothing would be kept."""
    if name is not None and not name.strip():
        raise typer.BadParameter("it is empty; a session has a name")
    return name


User = Annotated[str, typer.Option("--user", help="Whose session it is. Default: your name in this system.")]
Language = Annotated[
    str,
    typer.Option(
        "--language",
        metavar="CODE",
        help="The language of the question, such as de. The model translates. Default: en.",
    ),
]


@dataclass(frozen=True, slots=True)
class AskOptionsFromCli:
    """What the user typed of the options above."""

    labels: tuple[str, ...]
    limit: int | None
    offline: bool
    profile: str | None
    pipeline: str
    packs: tuple[Path, ...]
    agent: Agent | None = None

    @classmethod
    def of(
        cls,
        labels: list[str] | None,
        limit: int | None,
        offline: bool,
        profile: str | None,
        pipeline: str,
        packs: list[Path] | None,
        agent: Agent | None = None,
    ) -> AskOptionsFromCli:
        """Raises BadParameter for a pack that is no folder."""
        return cls(tuple(labels or ()), limit, offline, profile, pipeline, checked_packs(packs), agent)


@contextmanager
def opened(session: CliSession, wanted: AskOptionsFromCli) -> Iterator[tuple[QuestionAnswerer, Searchable]]:
    """What is asked, and the indexes behind it. Raises CommandError for a label that is not there, and what opening
    raises."""
    from rag_assets.qa.answering import QuestionAnswerer
    from rag_assets.qa.from_settings import configured

    home = session.home()
    options = configured(
        home, session.config_option, offline=wanted.offline, profile=wanted.profile, limit=wanted.limit
    )
    configured_one = options.pipeline if wanted.agent is None else ""  # an agent has a pipeline of its own
    options = replace(options, pipeline=wanted.pipeline or configured_one, packs=wanted.packs, agent=wanted.agent)
    names = _labels(session, home, wanted, options)
    with _index(session, home, names, wanted.agent) as target, QuestionAnswerer(target, options) as asker:
        yield asker, target


def _labels(session: CliSession, home: IndexHome, wanted: AskOptionsFromCli, options: AskOptions) -> list[str]:
    if not wanted.labels and options.pipeline:
        from rag_assets.qa.answering import label_of_pipeline
        from rag_assets.settings.config_file import config_of

        named = label_of_pipeline(options, config_of(home.root, session.config_option))
        if named:
            return [chosen_label(session, home, named)]
    return list(dict.fromkeys(chosen_label(session, home, label) for label in wanted.labels or (None,)))


def _index(session: CliSession, home: IndexHome, names: list[str], agent: Agent | None) -> Searchable:
    """The indexes as far as the caller and the agent see."""
    from rag_assets.search.federated import FederatedIndex
    from rag_assets.search.index import LabelIndex

    known: dict[str, Any] = {"home": home.root, "config": session.config_option, "clearance": session.clearance()}
    if agent is not None:
        from rag_assets.qa.agents.overrides import scope_of

        view = scope_of(agent, known["clearance"])
        known |= {"clearance": view.clearance, "view": view.filters}
    return LabelIndex.open(names[0], **known) if len(names) == 1 else FederatedIndex.open(names, **known)
