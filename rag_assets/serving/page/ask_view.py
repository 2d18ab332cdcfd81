"""Ask: an answer with footnotes, or a refusal with what was nearest; and the question after it."""

from __future__ import annotations

import re
import secrets
from typing import Any

from rag_assets.answer.passages import Passage
from rag_assets.answer.results import closest_passages
from rag_assets.contracts.evidence import lines_of
from rag_assets.serving.operations.ask import AskReply
from rag_assets.serving.page.markdown import answer_html
from rag_assets.serving.page.viewing import Link, View, source_url
from rag_assets.serving.requests import AskRequest, parsed

_SESSION = re.compile(r"[A-Za-z0-9_-]{16,64}")
_NOT_KEPT = "this turn follows none"
_CLOSEST = "the closest are"


def ask_page(view: View) -> str:
    if not view.said("q"):
        return view.rendered("ask.html", title="Ask", query="", answer=None)
    request, session = ask_of(view)
    reply = view.operations.ask(request, view.caller, session=session)
    return view.rendered("ask.html", title=request.question, query=request.question, **footnoted(reply, session))


def ask_of(view: View) -> tuple[AskRequest, str]:
    """What is asked, and in which session: that of the question before, else a new one, which nobody can guess. Raises
    WrongArguments."""
    session = view.said("session")
    if not _SESSION.fullmatch(session):
        session = secrets.token_urlsafe(16)
    return parsed(AskRequest, {"question": view.said("q"), "label": view.label}), session


def footnoted(reply: AskReply, session: str) -> dict[str, Any]:
    """What the template of an answer takes."""
    answer = reply.as_object()
    label = next(iter(reply.ages))
    places: dict[int, Link] = {}
    for one in answer["citations"]:
        address = source_url(one["label"] or label, one["path"], one["line_start"], one["line_end"])
        places.setdefault(one["number"], Link(one["rendered"], address, one["symbol"]))
    nearest = closest_passages(reply.answer.read) if reply.is_empty else ()
    return {
        "answer": answer,
        "body": answer_html(answer["answer"], places.keys(), reply.line_numbers),
        "places": places,
        "nearest": [_link_to(one) for one in nearest],
        "suggestions": [said for said in answer["suggestions"] if not (nearest and said.startswith(_CLOSEST))],
        "warnings": [said for said in answer["warnings"] if not said.startswith(_NOT_KEPT)],
        "session": "" if any(said.startswith(_NOT_KEPT) for said in answer["warnings"]) else session,
        "asked_of": label,
        "ages": [age.line(name) for name, age in reply.ages.items()],
    }


def _link_to(passage: Passage) -> Link:
    known, lines = passage.evidence, (passage.line_start, passage.line_end)
    return Link(lines_of(known.path, *lines), source_url(known.label, known.path, *lines), passage.name or known.name)
