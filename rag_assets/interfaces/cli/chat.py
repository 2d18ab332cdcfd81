"""`rag-assets chat`: a conversation line by line, on a terminal or from a file."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.contracts.errors import ExpectedError
from rag_assets.interfaces.cli.agent import AgentName, Folders, chosen_agent
from rag_assets.interfaces.cli.asking import (
    AnsweringProfile,
    AskedPacks,
    Labels,
    Language,
    Limit,
    Offline,
    Paths,
    PipelineName,
    User,
    Wanted,
    named_session,
    opened,
)
from rag_assets.interfaces.cli.session import Session, session_of

if TYPE_CHECKING:
    from rag_assets.interfaces.cli.talk import Talk

_PROMPT = "> "
_ENDS = ("/quit", "/exit", "/q", "quit", "exit")
"""In any case; the bare words are what other shells end with, and no question."""
_UNNAMED = "chat-"


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
            help="Go on with this session and keep it. Default: forgotten at the end.",
        ),
    ] = None,
    user: User = "",
    language: Language = "",
    agent: AgentName = None,
    folders: Folders = None,
) -> None:
    """Talk about an index: questions and follow-ups, one a line. /help says what else there is. Ctrl-C stops an answer,
    Ctrl-D ends."""
    from rag_assets.interfaces.cli.talk import Talk
    from rag_assets.query.where import Where

    session = session_of(context)
    wanted = Wanted.of(labels, limit, offline, profile, pipeline, packs, chosen_agent(session, agent, folders))
    name = conversation or f"{_UNNAMED}{uuid.uuid4().hex[:12]}"
    with opened(session, wanted) as (asker, target):
        talk = Talk(session, asker, target, name, user, language, Where(path=tuple(paths or ())))
        _greet(session, asker.label, asker.pipeline().name, conversation or "")
        try:
            for line in _lines(session):
                if line.lower() in _ENDS:
                    break
                _answer(session, talk, line)
        finally:
            if not conversation:
                talk.forget()


def _answer(session: Session, talk: Talk, line: str) -> None:
    """Whatever goes wrong with one question, the next can be asked."""
    try:
        talk.say(line)
    except KeyboardInterrupt:
        session.output.note()
        session.output.warning("stopped; this question is not kept")
    except ExpectedError as error:
        session.output.error(str(error))


def _greet(session: Session, label: str, pipeline: str, conversation: str) -> None:
    kept = f"session {conversation}" if conversation else "forgotten at the end; keep it with --session NAME"
    session.output.note((f"{label}  {pipeline}  {kept}", "dim"))
    if sys.stdin.isatty():
        session.output.note(("ask, or type /help; Ctrl-D ends", "dim"))


def _lines(session: Session) -> Iterator[str]:
    """What is typed or piped, without blank lines. On a terminal a line can be edited, and Ctrl-C drops it."""
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
    """Arrow keys and a history of lines, where the system has them; what is pasted, such as a stack trace, is one
    question however many lines it has."""
    try:
        import readline  # its import is what `input` needs
    except ImportError:  # Windows: the console edits lines itself
        return
    readline.parse_and_bind("set enable-bracketed-paste on")  # Python turns it off
