"""Ask: an answer whose citations were checked, or a refusal that says why and what is near."""

from __future__ import annotations

import json
import re
import shlex
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_assets.answer.abstention import SEE_ALSO, SENTENCE
from rag_assets.answer.cited_lines import citation_object, line_numbers, numbered, rendered
from rag_assets.answer.results import Answer
from rag_assets.serving.access import Caller
from rag_assets.serving.budget import clipped, cost_of
from rag_assets.serving.index_age import AgesOf
from rag_assets.serving.requests import AskRequest

if TYPE_CHECKING:
    from rag_assets.qa.answering import QuestionAnswerer

_FENCE = re.compile(r"^```", re.MULTILINE)
_NUMBER = re.compile(r"\[(\d+)\]")
_CODE = re.compile(r"\n+^(?:```.*?^```|>.*?$(?:\n>.*?$)*)", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(
    r"rag-assets ((?:search|graph|read) (?:'[^'\n]*'|[^\s'])(?:'[^'\n]*'|[^'\n])*?|status\b[^\n]*?)"
    r"(?= and rag-assets |$)"
)
_MOST_HITS = 20  # that the tool gives
_RELATIONS = frozenset({"around", "callers", "impact", "uses"})
_PART = re.compile(r"^(?=\*\*[^\n]*\?\*\*$)", re.MULTILINE)
"""Where the answer to one of several questions begins."""


@dataclass(frozen=True, slots=True)
class AskReply:
    """An answer or a refusal; `turn_id` is what `rag-assets trace` takes, '' where turns are not logged."""

    answer: Answer
    turn_id: str
    ages: AgesOf

    @property
    def is_empty(self) -> bool:
        return self.answer.abstained

    @property
    def line_numbers(self) -> Mapping[int, int]:
        """Which line of its file each line of quoted code in the answer is (`cited_lines.line_numbers`)."""
        return line_numbers(self.answer.text, self.answer.citations, self.answer.evidence)

    def as_object(self) -> dict[str, Any]:
        found, known = self.answer, numbered(self.answer.citations)
        return {
            "question": found.question,
            "answer": self._text(),
            "abstained": found.abstained,
            "unsure": found.unsure,
            "reason": found.reason or None,
            "suggestions": list(found.suggestions),
            "notes": list(found.notes),
            "provider": found.provider,
            "confidence": round(found.confidence, 4),
            "citations": [citation_object(known, one) for one in found.citations],
            "sources": [
                {
                    "label": source.label,
                    "generation": source.generation_id,
                    "commit": source.commit_sha,
                    "run_id": source.run_id,
                    "stale": self.ages[source.label].freshness.stale,
                }
                for source in found.search.sources
            ],
            "turn": self.turn_id or None,
            "warnings": list(found.warnings),
        }

    def text(self, max_tokens: int) -> str:
        """The answer with numbers for its citations, and what they are. Of one that is too long the first lines, of
        several questions those of each, and only the sources that these cite. What else fits is named without its code,
        and commands are told as the tools that do the same."""
        found = self.answer
        head = [*(age.line(label) for label, age in self.ages.items()), *found.warnings]
        if found.abstained and found.text == SENTENCE:
            why = [f"because {found.reason}"] if found.reason else []
            told = map(as_tools, [*found.suggestions, *found.notes])
            return clipped("\n".join([*head, found.text, *why, *told]), max_tokens)
        places = {str(number): place for place, number in numbered(found.citations).items()}
        parts = [part.strip().split("\n") for part in _PART.split(_brief(self._text())) if part.strip()] or [[""]]

        def first(count: int) -> str:
            body = "\n\n".join(_beginning(part, count, others=len(parts) > 1) for part in parts)
            cited = [
                f"[{number}] {places[number]}" for number in dict.fromkeys(_NUMBER.findall(body)) if number in places
            ]
            return "\n".join([*head, body, "", *cited, *map(as_tools, found.notes)])

        most = max(map(len, parts))
        whole = first(most)
        if cost_of(whole) <= max_tokens:  # what is cut by one line says so, and may be longer
            return whole
        fits = bisect_right(range(1, most + 1), max_tokens, key=lambda count: cost_of(first(count)))
        return clipped(first(max(fits, 1)), max_tokens)

    def _text(self) -> str:
        known = numbered(self.answer.citations)
        return rendered(self.answer.text, self.answer.citations, lambda one: str(known[one.rendered]))


def _brief(text: str) -> str:
    """Without the code of what only fits beside it."""
    said, also, beside = text.partition(SEE_ALSO)
    return said + also + _CODE.sub("", beside)


def as_tools(text: str) -> str:
    """A note with the tools of the protocol in place of the commands that somebody without a shell cannot run."""
    return _COMMAND.sub(_as_tool, text)


def _as_tool(command: re.Match[str]) -> str:
    try:
        tool, *names = shlex.split(command[1])
    except ValueError:
        return command[0]
    if tool == "graph" and names[0] == "list":
        return command[0]  # no tool lists all of a kind
    label = names[names.index("--label") + 1 :][:1] if "--label" in names else []
    relation = names.pop(0) if tool == "graph" and names[0] in _RELATIONS else ""
    given: dict[str, object] = {}
    if tool == "search" and not names[0].startswith("--"):
        given |= {"query": names[0], "limit": _MOST_HITS}
    elif tool == "read":
        given |= {"place": names[0]} | ({"commit": "worktree"} if "--work-tree" in names else {})
    elif tool == "graph":
        given |= {"start": names[0]} | ({"relation": relation} if relation else {})
    given |= {"label": label[0]} if label else {}
    return f"{tool} {json.dumps(given, ensure_ascii=False)}" if given else tool


def _beginning(lines: Sequence[str], count: int, *, others: bool) -> str:
    """The first lines of an answer, with its code closed and how many are left out; of one of several, how to get them
    is to ask it alone."""
    body, left = "\n".join(lines[:count]).rstrip(), len(lines) - count
    body += "\n```" if len(_FENCE.findall(body)) % 2 else ""
    how = "ask this alone" if others else "ask with a larger max_tokens"
    return f"{body}\n… {left} more line{'s' * (left > 1)}; {how}" if left > 0 else body


def ask(
    answerer: QuestionAnswerer, request: AskRequest, caller: Caller, on_text: Callable[[str], None], session: str
) -> tuple[Answer, str]:
    """The answer to a question, and the id of its turn. Raises what `QuestionAnswerer.ask` raises."""
    result = answerer.ask(request.question, session=session, user=_user(caller), on_text=on_text)
    assert result.response is not None  # only a request that was answered before has none
    return result.response, result.turn_id


def _user(caller: Caller) -> str:
    """Whose sessions these are: nobody's with a token are those of a user of this system who is called like it."""
    return f"token {caller.name}" if caller.name else ""
