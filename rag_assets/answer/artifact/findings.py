"""What the index as a whole says for a section: claims at the lines that show them, as cited statements (E17, E19).

What a graph claims of a line (who depends on it, that no test reaches it) is not in the line itself. It becomes part of
what is known of the piece (`Evidence.via`), as the facts of an answer do, so the check of citations can verify it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rag_assets.answer.artifact.templates import Material
from rag_assets.answer.citations import marker, prose_of
from rag_assets.answer.context_pack import FetchRequest, fetch_evidence
from rag_assets.answer.fact_lines import line_shown
from rag_assets.answer.graph_facts import points_at
from rag_assets.answer.passages import passages_of
from rag_assets.contracts.evidence import Evidence, Origin
from rag_assets.contracts.outline import line_range
from rag_assets.contracts.protocol_markers import defused
from rag_assets.search.index import LabelIndex

_SAYS_NOTHING = re.compile(
    r"\s*(?:$|//|/\*|\*|--|#(?!\w)|\[(?!(?:Http|Route|Table|Obsolete)\w*\b)[^\]]*\]\s*$"
    r"|@(?!\w*(?:Mapping|Path)\b)\w+(?:\([^)]*\))?\s*$)"
)
"""A blank line, a comment, or an attribute that says nothing of a route or a table."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2066-\u2069]+")
_NO_TITLE = re.compile(r"[^\w ./:{}()+,@&-]")
_MARKUP = re.compile(r"[\\*`\[\]<>|!]")
_UNMARKED = re.compile(r"\*\*|\\(?=\W)")
_PLAIN_PATH = re.compile(r"[\w ./(){}+,@&-]+")
_MOST_DOC = 200
_MOST_NAME = 120
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_QUOTES = re.compile(r"[“”\"]")
_SHORTEST_QUOTE = 12  # characters: what is shorter is not checked as a quote


@dataclass(frozen=True, slots=True)
class Finding:
    """A `claim` in Markdown, seen at `path:line`; findings of one `group` stand below its bold line. The line of code
    there is quoted, or what the author says of `name`. A claim with other places, `also`, cites them all and
    quotes nothing."""

    material: Material
    claim: str
    path: str
    line: int
    group: str = ""
    name: str = ""
    also: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Survey:
    """What one index says: findings in the order they are told, and a picture of its folders, '' for none."""

    findings: tuple[Finding, ...] = ()
    picture: str = ""
    also_read: tuple[tuple[str, int], ...] = ()  # places that sections quote by themselves


@dataclass(frozen=True, slots=True)
class SurveyedStatement:
    """A statement of a list, with its group, the place that it is about and what it cites."""

    text: str
    group: str
    place: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Surveyed:
    """`evidence` is what an artifact may cite: what was found before, with what the survey says of it, and what it
    adds. `pictures` are blocks of Markdown."""

    evidence: tuple[Evidence, ...]
    statements: Mapping[Material, Sequence[SurveyedStatement]]
    pictures: tuple[str, ...] = ()


def named(name: str) -> str:
    """A name in bold, where nothing of it is Markdown. A code span would say that the name is at the cited lines."""
    flat = " ".join(_CONTROL.sub(" ", defused(name)).split())
    short = flat if len(flat) <= _MOST_NAME else f"{flat[: _MOST_NAME - 1]}…"
    return f"**{_MARKUP.sub(lambda mark: chr(92) + mark.group(), short)}**"


def title(text: str) -> str:
    """A bold line: it claims nothing, and a name in it can be no link, no citation and no end of the line."""
    return f"**{_NO_TITLE.sub('·', _CONTROL.sub(' ', text)).strip() or '·'}**"


def surveyed(parts: Sequence[tuple[LabelIndex, Survey]], found: Sequence[Evidence]) -> Surveyed:
    """The statements of surveys, each with the piece that has its line. A claim at a place that the reader may not see
    is none. Of several indexes each has groups and a picture of its own."""
    pieces = list(found)
    placed: list[tuple[str, Finding]] = []
    pictures = []
    for index, survey in parts:
        own = [place for one in survey.findings for place in ((one.path, one.line), *one.also)]
        places = [place for place in (*own, *survey.also_read) if _piece_at(place, index.label, pieces) is None]
        located = points_at(places, index.parts.shard(), index.scope())
        wanted = [FetchRequest(point, 0.0, Origin.GRAPH) for point in dict.fromkeys(located.values())]
        fetched = fetch_evidence(wanted, index.parts, index.manifests, index.scope())
        pieces += [one for one in fetched.evidence if not any(set(one.ids) & set(known.ids) for known in found)]
        name = title(index.label) if len(parts) > 1 else ""
        placed += [(index.label, replace(one, group=_joined(name, one.group))) for one in survey.findings]
        if survey.picture:
            pictures.append(f"{name}\n\n```mermaid\n{survey.picture}```".lstrip())
    at = [[_piece_at(place, label, pieces) for place in ((one.path, one.line), *one.also)] for label, one in placed]
    claims: dict[int, list[str]] = {}
    for (_, one), numbers in zip(placed, at, strict=True):
        for number in numbers:
            if number is not None:
                claims.setdefault(number, []).append(_UNMARKED.sub("", one.claim))
    known = tuple(
        replace(piece, via="; ".join(filter(None, [piece.via, *dict.fromkeys(claims[number])])))
        if number in claims
        else piece
        for number, piece in enumerate(pieces)
    )
    statements: dict[Material, list[SurveyedStatement]] = {}
    for (_, one), numbers in zip(placed, at, strict=True):
        if None in numbers:
            continue
        evidence = tuple(known[number] for number in numbers if number is not None)
        statements.setdefault(one.material, []).append(
            SurveyedStatement(_told(one, evidence), one.group, f"{one.path}:{one.line}", evidence)
        )
    return Surveyed(known, statements, tuple(pictures))


def _joined(name: str, group: str) -> str:
    """The title of a group with the index that it is of, where that has to be said."""
    return f"{name[:-2]}: {group[2:]}" if name else group


def _piece_at(place: tuple[str, int], label: str, pieces: Sequence[Evidence]) -> int | None:
    """The smallest piece of a label that has a line."""
    path, line = place
    around = [
        (piece.line_end - piece.line_start, number)
        for number, piece in enumerate(pieces)
        if piece.path == path and piece.label == label and piece.line_start <= line <= piece.line_end
    ]
    return min(around)[1] if around else None


def _told(one: Finding, evidence: Sequence[Evidence]) -> str:
    first = evidence[0]
    marks = " ".join(dict.fromkeys(marker(known.id) for known in evidence))
    if one.also:
        return f"- {one.claim} {marks}"
    lines, shown = _quoted(one, first)
    path = first.path if _PLAIN_PATH.fullmatch(first.path) else named(first.path)
    return f"- {one.claim} in {path}:{line_range(*lines)}{shown} {marks}"


def _quoted(one: Finding, known: Evidence) -> tuple[tuple[int, int], str]:
    """(the lines that show a claim, the one that is quoted or what its author says of it)."""
    if one.name:
        for part in passages_of(known):
            said = _SENTENCE_END.split(prose_of(part.doc))[0]
            is_quote = _SHORTEST_QUOTE < len(said) <= _MOST_DOC and not _QUOTES.search(said)
            if part.name == one.name and part.line_start <= one.line <= part.line_end and is_quote:
                return (part.line_start, part.declaration[1]), f": “{defused(said)}”"
    at, shown = line_shown(known.text.split("\n"), one.line - known.line_start, _SAYS_NOTHING)
    return (known.line_start + at,) * 2, shown
