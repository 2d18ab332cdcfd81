"""`rag-assets chat`: a conversation line by line, on a terminal or from a file."""

from __future__ import annotations

import difflib
import sys
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.answer.citations import Support
from rag_assets.answer.results import EXTRACTIVE
from rag_assets.cli.ask import (
    AnsweringProfile,
    AskedPacks,
    AskOptionsFromCli,
    Labels,
    Language,
    Limit,
    Offline,
    Paths,
    PipelineName,
    Streamed,
    User,
    answering_agent,
    by_number,
    explanation_of,
    named_session,
    opened,
    show,
    show_explanation,
)
from rag_assets.cli.console import said_graph
from rag_assets.cli.options import AgentFolders, AgentName, CliSession, session_of
from rag_assets.contracts.identity import plain_symbol
from rag_assets.errors import RagAssetsError
from rag_assets.index.freshness import freshness_of
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.qa.actions.retrieval import entries_of
from rag_assets.qa.answering import QuestionAnswerer
from rag_assets.qa.turn import Status

if TYPE_CHECKING:
    from rag_assets.graph.neighbourhood import Neighbourhood
    from rag_assets.qa.engine import TurnResult
    from rag_assets.search.index import Searchable

_PROMPT = "> "
_ENDS = ("/quit", "/exit", "/q", "quit", "exit")
"""In any case; the bare words are what other shells end with, and no question."""

_UNNAMED = "chat-"
_SHOWN_EDGES = 30
"""Of a neighbourhood: a screen. `rag-assets graph` shows the rest."""

_NOTHING_YET = "there is no answer yet; ask something first"


def chat(
    context: typer.Context,
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
            help="Continue this session and keep it. Default: a session that is deleted at the end.",
        ),
    ] = None,
    user: User = "",
    language: Language = "",
    agent: AgentName = None,
    folders: AgentFolders = None,
) -> None:
    """Ask an index questions and follow-ups, one per line. /help lists the commands. Ctrl-C stops an answer,
    Ctrl-D ends the conversation.

    Example: rag-assets chat --session refunds
    """
    session = session_of(context)
    author = answering_agent(session, agent, folders)
    wanted = AskOptionsFromCli(labels, limit, offline, profile, pipeline, packs, author)
    name = conversation or f"{_UNNAMED}{uuid.uuid4().hex[:12]}"
    with opened(session, wanted) as (asker, target):
        talk = ChatSession(session, asker, target, name, user, language, SearchFilters(paths=tuple(paths or ())))
        _greet(session, asker.label, asker.pipeline().name, conversation or "")
        try:
            for line in _lines(session):
                if line.lower() in _ENDS:
                    break
                _answer(session, talk, line)
        finally:
            if not conversation:
                talk.forget()


def _answer(session: CliSession, talk: ChatSession, line: str) -> None:
    """Answers one line; an error ends the answer and not the conversation."""
    try:
        talk.say(line)
    except KeyboardInterrupt:
        session.output.note()
        session.output.warning("stopped; this question is not kept")
    except RagAssetsError as error:
        session.output.error(str(error))


def _greet(session: CliSession, label: str, pipeline: str, conversation: str) -> None:
    kept = f"session {conversation}" if conversation else "forgotten at the end; keep it with --session NAME"
    session.output.note((f"{label}  {pipeline}  {kept}", "dim"))
    if sys.stdin.isatty():
        session.output.note(("ask, or type /help; Ctrl-D ends", "dim"))


def _lines(session: CliSession) -> Iterator[str]:
    """The typed or piped lines without blank ones. A terminal lets the user edit a line, and Ctrl-C drops it."""
    is_typed = sys.stdin.isatty()
    if is_typed:
        _edit_lines()
    while True:
        try:
            line = input(_PROMPT) if is_typed else sys.stdin.readline()
        except EOFError:
            session.output.note()
            return
        except KeyboardInterrupt:
            session.output.note()
            session.output.note(("Ctrl-D ends", "dim"))
            continue
        if not is_typed and not line:
            return
        if line.strip():
            yield line.strip()


def _edit_lines() -> None:
    """Turns on arrow keys and a history, where the system has them. A pasted text, such as a stack trace, is one
    question with all its lines."""
    try:
        import readline  # its import is what `input` needs

        readline.parse_and_bind("set enable-bracketed-paste on")  # Python turns it off
    except ImportError:
        return  # Windows: the console edits lines itself


class ChatSession:
    """One conversation: it asks questions, and remembers the last answer for the commands about it."""

    def __init__(
        self,
        session: CliSession,
        asker: QuestionAnswerer,
        target: Searchable,
        name: str,
        user: str,
        language: str,
        filters: SearchFilters,
    ) -> None:
        """`filters` apply to every question."""
        self._session = session
        self._output = session.output
        self._asker = asker
        self._name = name
        self._user = user
        self._language = language
        self._filters = filters
        self._last: TurnResult | None = None
        home = session.home()
        self._freshness = {
            label: freshness_of(home, manifest, session.clearance()) for label, manifest in target.manifests.items()
        }
        self._commands: dict[str, tuple[str, Callable[[TurnResult], None]]] = {
            "/sources": ("what the last answer cites", self._sources),
            "/graph": ("what is around it in the dependency graph", self._graph),
            "/why": ("how sure it is, what was checked, and which way it took", self._why),
        }

    def say(self, line: str) -> None:
        """Asks a question, or runs a command such as /sources. Raises what `QuestionAnswerer.ask` raises."""
        word = line.split(maxsplit=1)[0].lower()
        if not line.startswith("/") or "/" in word[1:]:  # `/api/orders` is a route to ask about
            self._ask(line)
        elif word == "/help":
            self._help()
        elif word not in self._commands:
            near = difflib.get_close_matches(word, (*self._commands, "/help", "/quit"), n=1)
            hint = f"did you mean {near[0]}? All of them: /help" if near else "type /help"
            self._output.error(f"no command {word}; {hint}")
        elif self._last is None:
            self._output.note((_NOTHING_YET, "dim"))
        else:
            self._commands[word][1](self._last)

    def forget(self) -> None:
        """Deletes the session for good. Raises ConversationError."""
        self._asker.forget(self._name, self._user)

    def _ask(self, question: str) -> None:
        streamed = Streamed(self._output)
        result = self._asker.ask(
            question,
            filters=self._filters,
            session=self._name,
            user=self._user,
            language=self._language,
            on_text=streamed,
        )
        streamed.end()
        self._last = result
        assert result.response is not None  # only a request that was answered before has none
        for warning in result.response.warnings:
            self._output.warning(warning)
        show(self._session, result.response, self._freshness)
        self._output.line()

    def _help(self) -> None:
        for name, (said, _) in self._commands.items():
            self._output.line((name, "bold"), f"  {said}")
        self._output.line(("/quit", "bold"), "  ends, as Ctrl-D does")
        self._output.line(("everything else is a question; those before it are remembered", "dim"))

    def _sources(self, result: TurnResult) -> None:
        assert result.response is not None
        citations = result.response.citations
        for number, one in by_number(citations):
            self._output.line(
                (f"[{number}] ", "dim"), (one.rendered, "path"), f"  {plain_symbol(one.symbol)}  ", (one.label, "dim")
            )
        if not citations:
            self._output.note(("the last answer cites nothing", "dim"))

    def _graph(self, result: TurnResult) -> None:
        """Shows the facts of the graph in the last answer, else the neighbourhood of its evidence."""
        assert result.response is not None
        told = result.response.read.facts.facts if result.response.provider == EXTRACTIVE else ()
        around = None if told else self._neighbourhood(result)
        for fact in told:
            self._output.line(f"{fact.source} {fact.verb} {fact.target}  ", (f"{fact.path}:{fact.line}", "path"))
        if around is not None and around.edges:
            names = {node.key: node.name for node in around.nodes}
            for edge in around.edges[:_SHOWN_EDGES]:
                self._output.line(names[edge.source], (f"  {edge.relation.value}  ", "dim"), names[edge.target])
            left = len(around.edges) - _SHOWN_EDGES
            more = f", {left} of them not shown" if left > 0 else ""
            self._output.line((f"{said_graph(len(around.nodes), len(around.edges))}{more}", "dim"))
        elif not told:
            self._output.note(("no graph is behind the last answer", "dim"))

    def _neighbourhood(self, result: TurnResult) -> Neighbourhood | None:
        """The neighbourhood that the model got; without a model, that of the evidence."""
        assert result.turn is not None
        found = result.turn.found_in(result.turn.label)
        if found.neighbourhood is not None or result.turn.is_narrowed:
            return found.neighbourhood
        entries, pipeline = entries_of(found), self._asker.pipeline()
        if not entries:
            return None
        settings = pipeline.settings
        return self._asker.services.expand(
            result.turn.label,
            entries,
            steps=pipeline.walk,
            depth=settings.graph_max_depth,
            nodes=settings.graph_max_nodes,
        )

    def _why(self, result: TurnResult) -> None:
        found = result.response
        assert found is not None
        out = self._output
        out.line((f"{result.status}", "good" if result.status is Status.ANSWERED else "warn"), f" by {found.provider}")
        if found.reason:
            out.line(f"because {found.reason}")
        show_explanation(out, explanation_of(self._asker, result))
        counts = {support: sum(one.support is support for one in found.checks) for support in Support}
        said = ", ".join(f"{count} {support}" for support, count in counts.items() if count)
        if said or not found.abstained:
            out.line(f"sentences: {said or 'none to check'}")
        for record in result.records:
            calls = "".join(f"  {call.model or 'no model'} {call.completion_tokens} tokens" for call in record.calls)
            out.line(
                (f"{record.seconds * 1_000:7.1f} ms  ", "dim"), f"{record.step}  ", (record.outcome + calls, "dim")
            )
            for note in record.notes:
                out.line((f"            {note}", "dim"))
