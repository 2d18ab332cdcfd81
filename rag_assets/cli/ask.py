"""`rag-assets ask`: a question in, an answer with checked citations out, or an honest refusal (exit code 4).

`chat` and `artifact` share its options and its output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_assets.answer.abstention import SENTENCE, Thresholds
from rag_assets.answer.citations import FENCE
from rag_assets.answer.cited_lines import Citation, citation_object, line_numbers, numbered, rendered
from rag_assets.answer.results import Answer
from rag_assets.cli.console import NOTHING_FOUND, Output, Part, Style, short, staleness
from rag_assets.cli.options import (
    AgentFolders,
    AgentName,
    AsJson,
    CliSession,
    chosen_label,
    complete_label,
    existing_folders,
    session_of,
)
from rag_assets.contracts.llm import PROFILES
from rag_assets.index.freshness import FreshnessOf, freshness_of
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.qa.engine import TurnResult
from rag_assets.search.index import LabelIndex, Searchable

if TYPE_CHECKING:
    from rag_assets.index.layout import IndexHome
    from rag_assets.qa.agents import Agent
    from rag_assets.qa.answering import QuestionAnswerer
    from rag_assets.qa.ask_options import AskOptions


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

    labels: list[str] | None
    limit: int | None
    offline: bool
    profile: str | None
    pipeline: str
    packs: list[Path] | None
    agent: Agent | None


def answering_agent(session: CliSession, name: str | None, folders: list[Path] | None) -> Agent | None:
    """The agent that answers, if one is named. Raises as `chosen_agent`, and BadParameter for what is not a folder."""
    if name is None:
        existing_folders(folders, "--agents")
        return None
    from rag_assets.cli.agent import chosen_agent  # start-up budget: most questions have no agent

    return chosen_agent(session, name, folders)


@contextmanager
def opened(session: CliSession, wanted: AskOptionsFromCli) -> Iterator[tuple[QuestionAnswerer, Searchable]]:
    """What is asked, and the indexes behind it. Raises BadParameter for a pack that is no folder, CommandError for a
    label that is not there, and what opening raises."""
    from rag_assets.qa.answering import QuestionAnswerer
    from rag_assets.qa.ask_options import configured

    packs = existing_folders(wanted.packs, "--pack")
    home = session.home()
    options = configured(
        home, session.config_option, offline=wanted.offline, profile=wanted.profile, limit=wanted.limit
    )
    configured_one = options.pipeline if wanted.agent is None else ""  # an agent has a pipeline of its own
    options = replace(options, pipeline=wanted.pipeline or configured_one, packs=packs, agent=wanted.agent)
    names = _labels(session, home, wanted, options)
    with _index(session, home, names, wanted.agent) as target, QuestionAnswerer(target, options) as asker:
        yield asker, target


def _labels(session: CliSession, home: IndexHome, wanted: AskOptionsFromCli, options: AskOptions) -> list[str]:
    if not wanted.labels:
        from rag_assets.qa.answering import label_of_pipeline

        named = label_of_pipeline(options, session.config())
        if named:
            return [chosen_label(home, named)]
    return list(dict.fromkeys(chosen_label(home, label) for label in wanted.labels or (None,)))


def _index(session: CliSession, home: IndexHome, names: list[str], agent: Agent | None) -> Searchable:
    """The indexes as far as the caller and the agent see."""
    from rag_assets.search.federated import FederatedIndex

    known: dict[str, Any] = {"home": home.root, "config": session.config_option, "clearance": session.clearance()}
    if agent is not None:
        from rag_assets.qa.agents import scope_of

        view = scope_of(agent, known["clearance"])
        known |= {"clearance": view.clearance, "view": view.filters}
    return LabelIndex.open(names[0], **known) if len(names) == 1 else FederatedIndex.open(names, **known)


_CODE_INDENT = "    "


class Streamed:
    """Writes an answer as a model makes it, on stderr: what stands on stdout has been checked."""

    def __init__(self, output: Output, *, silent: bool = False) -> None:
        self._output = output
        self._silent = silent
        self._line = ""

    def __call__(self, text: str) -> None:
        if self._silent:
            return
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._output.note((line, "dim"))

    def end(self) -> None:
        if self._line:
            self._output.note((self._line, "dim"))
            self._line = ""


def as_object(result: TurnResult, found: Answer, freshness: FreshnessOf) -> dict[str, Any]:
    """The object of `ask --json`. `turn` is the id that `rag-assets trace` takes. `citations` are those of
    `answer`, in order of first use; `checks` is every sentence before the policy; seconds in `timings`; `usage` is null
    without a model."""
    known = numbered(found.citations)
    scores = {identifier: piece for piece in found.evidence for identifier in piece.ids}
    return {
        "question": found.question,
        "answer": found.text,
        "abstained": found.abstained,
        "unsure": found.unsure,
        "status": result.status,
        "pipeline": result.lock.name,
        "turn": result.turn_id or None,
        "reason": found.reason or None,
        "suggestions": list(found.suggestions),
        "notes": list(found.notes),
        "provider": found.provider,
        "intent": found.intent,
        "confidence": round(found.confidence, 4),
        "signals": _rounded(asdict(found.signals)),
        "citations": [
            citation_object(known, citation) | {"score": round(scores[citation.id].score, 6)}
            for citation in found.citations
        ],
        "checks": [
            {
                "sentence": checked.sentence.text,
                "support": checked.support,
                "cites": list(checked.cited),
                "problem": checked.problem or None,
            }
            for checked in found.checks
        ],
        "evidence": [
            {
                "id": piece.id,
                "place": piece.place,
                "symbol": piece.plain_symbol,
                "origin": piece.origin,
                "score": round(piece.score, 6),
            }
            for piece in found.evidence
        ],
        "context_tokens": found.context_tokens,
        "usage": found.usage.numbers() if found.usage else None,
        "mode": found.search.mode,
        "sources": [
            {
                "label": source.label,
                "generation": source.generation_id,
                "commit": source.commit_sha,
                "stale": freshness[source.label].stale,
                "changed_files": freshness[source.label].changed_files,
            }
            for source in found.search.sources
        ],
        "warnings": list(found.warnings),
        "timings": {step: round(spent, 5) for step, spent in found.timings.items()},
    }


def explanation_of(asker: QuestionAnswerer, result: TurnResult) -> dict[str, Any]:
    """The object of `ask --explain --json`."""
    from rag_assets.answer.explanation import explanation

    assert result.response is not None
    settings = asker.pipeline().settings
    return explanation(result.response, Thresholds(settings.weak_below, settings.sure_from))


def show_explanation(output: Output, explained: Mapping[str, Any]) -> None:
    """How the question was understood, and what decided the answer; empty rows are left out."""
    from rag_assets.answer.explanation import rows_of

    for title, text in rows_of(explained):
        if text:
            output.line((f"{title:<11} ", "dim"), text)


def show(session: CliSession, found: Answer, freshness: FreshnessOf) -> None:
    """The answer, its sources by number, and what it is from; notes of a doubtful one are why, and stand above it."""
    output = session.output
    notes: list[Part] = [(output.told(note), "dim") for note in found.notes]
    for note in notes if found.unsure else ():
        output.line(note)
    show_markdown(output, found)
    if found.abstained and found.text == SENTENCE:
        show_refusal(output, found)
    else:
        show_sources(session, found.citations)
    for note in () if found.unsure else notes:
        output.line(note)
    for source in found.search.sources:
        parts: list[Part] = [(f"{source.label}  commit {short(source.commit_sha)}  ", "dim")]
        output.line(*parts, *staleness(freshness[source.label], source.label))


def show_markdown(output: Output, found: Answer) -> None:
    """A checked text for a terminal: citations as numbers, code indented with the numbers of its lines, quotes dim."""
    known, lines = numbered(found.citations), line_numbers(found.text, found.citations, found.evidence)
    width = len(str(max(lines.values(), default="")))
    text = rendered(found.text, found.citations, lambda one: str(known[one.rendered]))
    fence = ""
    for at, line in enumerate(text.split("\n")):
        mark = FENCE.match(line)
        if mark and line.lstrip().startswith(fence):
            fence = "" if fence else mark[1]
        elif fence:
            number = f"{lines.get(at, ''):>{width}}  " if lines else ""
            output.line((f"{_CODE_INDENT}{number}" if line or number.strip() else "", "dim"), line)
        elif line.startswith(">"):
            output.line((line, "dim"))
        else:
            output.line(*_styled(line, "warn" if found.unsure and at == 0 else "bold"))


def show_refusal(output: Output, found: Answer) -> None:
    """Why there is no answer, and what would help."""
    output.line((f"because {found.reason}", "dim"))
    for suggestion in found.suggestions:
        output.line((suggestion, "dim"))


def by_number(citations: Sequence[Citation]) -> list[tuple[int, Citation]]:
    """What the numbers of an answer mean, the first citation of each."""
    known = numbered(citations)
    return sorted({known[one.rendered]: one for one in reversed(citations)}.items())


def show_sources(session: CliSession, citations: Sequence[Citation]) -> None:
    """What the numbers mean, below an empty line; nothing where nothing is cited."""
    output = session.output
    labels = {label: session.option_of(label) for label in {one.label for one in citations}}
    if citations:
        output.line()
    for number, citation in by_number(citations):
        opened = f"  {session.command()} show {citation.id}{labels[citation.label]}"
        output.line((f"[{number}] ", "dim"), (citation.rendered, "path"), (opened, "dim"))


_EMPHASIS = re.compile(r"\*\*(?P<bold>[^*]+)\*\*|`` (?P<marked>.+?) ``|`(?P<code>[^`]+)`|(?P<cite>\[\d+\])")


def _styled(line: str, bold: Style = "bold") -> list[Part]:
    """Names in bold, citations dim; the marks of Markdown go."""
    made: list[Part] = []
    at = 0
    for mark in _EMPHASIS.finditer(line):
        made.append(line[at : mark.start()])
        if mark["cite"]:
            made.append((mark["cite"], "dim"))
        else:
            made.append((mark["bold"] or mark["marked"] or mark["code"], bold))
        at = mark.end()
    return [*made, line[at:]]


def _rounded(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in values.items()}


def ask(
    context: typer.Context,
    question: Annotated[
        str,
        typer.Argument(metavar="QUESTION", help="What you want to know; filters and phrases as for search."),
    ],
    labels: Labels = None,
    paths: Paths = None,
    limit: Limit = None,
    offline: Offline = False,
    profile: AnsweringProfile = None,
    pipeline: PipelineName = "",
    packs: AskedPacks = None,
    conversation: Annotated[
        str | None,
        typer.Option(
            "--session",
            metavar="NAME",
            callback=named_session,
            help="Follow the turns of this session, and keep this one in it.",
        ),
    ] = None,
    user: User = "",
    language: Language = "",
    agent: AgentName = None,
    folders: AgentFolders = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how the question was understood, how sure it is, and the scores.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ask a question; get an answer with citations. Exit code 4 when the index does not have the answer.

    Example: rag-assets ask "when is a refund refused?" --session refunds
    """
    if not question.strip():
        raise typer.BadParameter("the question is empty")
    session = session_of(context)
    author = answering_agent(session, agent, folders)
    wanted = AskOptionsFromCli(labels, limit, offline, profile, pipeline, packs, author)
    streamed = Streamed(session.output, silent=as_json)
    with opened(session, wanted) as (asker, target):
        result = asker.ask(
            question,
            filters=SearchFilters(paths=tuple(paths or ())),
            session=conversation or "",
            user=user,
            language=language,
            on_text=streamed,
        )
        explained = explanation_of(asker, result) if explain else None
        home = session.home()
        freshness = {
            label: freshness_of(home, manifest, session.clearance()) for label, manifest in target.manifests.items()
        }
    streamed.end()
    assert result.response is not None  # only a request that was answered before has none
    for warning in result.response.warnings:
        session.output.warning(warning)
    if as_json:
        made = {} if explained is None else {"explain": explained}
        session.output.json(as_object(result, result.response, freshness) | made)
    else:
        show(session, result.response, freshness)
        if explained is not None:
            session.output.line()
            show_explanation(session.output, explained)
    if result.response.abstained:
        raise typer.Exit(NOTHING_FOUND)
