"""A fact of the graph as a line of an answer: what it says, its place, and the source line that shows it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from rag_assets.answer.citations import marker
from rag_assets.answer.graph_facts import GIVEN, GraphFact, GraphFacts
from rag_assets.answer.passages import MOST_LINE_CHARS, SAYS_NOTHING, open_brackets
from rag_assets.contracts.evidence import Evidence
from rag_assets.contracts.outline import line_range
from rag_assets.contracts.protocol_markers import defused

_ANNOTATION = re.compile(r"\s*@(?!interface\b)[A-Za-z][\w.]*\(")
_DEFAULT_SCHEMA = "dbo"  # that of `languages.sql.lexer`, which takes time to load
_BLANK = re.compile(r"\s*$")
_WORD = re.compile(r"\w")
_IS_RULE = re.compile(r"(?:\w+\.)?RuleFor(?:Each)?\(")  # of FluentValidation
_COMMENTS = ("//", "/*", "#", "--")
_MOST_CUT_CHARS = 500  # of one of which the beginning is shown: longer ones are no lines that people write
_MOST_OF_A_SIGNATURE = 40  # lines
_MOST_OF_AN_ERROR = 8


def facts_told(facts: GraphFacts, at: Mapping[GraphFact, Evidence]) -> Iterator[str]:
    """Each fact that can be cited, below the name of its group."""
    group = ""
    for fact in facts.facts:
        statement = fact_told(fact, at[fact]) if fact in at else ""
        if statement and fact.group != group:
            yield f"\n**{fact.group}:**" if group else f"**{fact.group}:**"
            group = fact.group
        if statement:
            yield statement


def fact_told(fact: GraphFact, known: Evidence) -> str:
    """One fact with the line that shows it, of a declaration the first behind its comment; '' where that line is not
    in the evidence. That the fact holds is known from the graph (`Evidence.via`)."""
    lines = known.text.split("\n")
    at = fact.line - known.line_start
    if not 0 <= at < len(lines) or not lines[at].strip():
        return ""
    at = _parameter(lines, at, fact.target) if fact.verb == GIVEN else at
    is_named = fact.verb == "refers to" and fact.target.rpartition(".")[2] in lines[at]  # `[Permission(Ids.Pay)]`
    is_exact = fact.is_comment or is_named or known.language == "razor"  # there `@Mailer.Send()` is no annotation
    last = _statement(lines, at) if fact.is_comment else _closed(lines, at) if fact.verb == "throws" else at
    if last > at:
        _, shown = line_shown([_joined(lines[at : last + 1])], 0, _BLANK)
    else:
        at, shown = line_shown(lines, at, _BLANK if is_exact else SAYS_NOTHING)
        last = at
    place = line_range(known.line_start + at, known.line_start + last)
    maybe = "" if fact.certain else "probably "
    source, target = (_as_written(name, known.text) for name in (fact.source, fact.target))
    said = f" {maybe}{fact.verb} {_plain(target)}" if fact.verb else ""
    return f"- {_plain(source)}{said} in {fact.path}:{place}{shown} {marker(known.id)}"


def _as_written(name: str, text: str) -> str:
    """The name of a table without the schema that it has where scripts say none."""
    return name if _DEFAULT_SCHEMA in text.lower() else name.removeprefix(f"{_DEFAULT_SCHEMA}.")


def line_shown(lines: Sequence[str], at: int, says_nothing: re.Pattern[str]) -> tuple[int, str]:
    """(the first line from one on that says something, else that one; what to quote of it, of a long one its beginning,
    '' for what cannot)."""
    is_inside, still_open = False, 0  # a comment, and an annotation, of several lines
    for number in range(at, len(lines)):
        if still_open > 0 or (says_nothing is SAYS_NOTHING and _ANNOTATION.match(lines[number])):
            still_open += open_brackets(lines[number])
            if still_open > 0 or lines[number].rstrip().endswith(")"):
                continue
        is_skipped = says_nothing.match(lines[number]) is not None
        begins = is_skipped and lines[number].lstrip().startswith("/*")
        was_inside, is_inside = is_inside, (is_inside or begins) and "*/" not in lines[number]
        if not (is_skipped or was_inside):
            at = number
            break
    line = lines[at].strip() if 0 <= at < len(lines) else ""
    line = max(line.split("``"), key=len).strip()
    if not _WORD.search(line) or len(line) > _MOST_CUT_CHARS:
        return at, ""
    is_cut = len(line) > MOST_LINE_CHARS
    shown = defused(line[:MOST_LINE_CHARS].rpartition(" ")[0] if is_cut else line)
    marked = f"`` {shown} ``" if "`" in shown else f"`{shown}`"  # as Markdown writes code with such marks
    return at, f": {marked}{' …' if is_cut else ''}"


def _statement(lines: Sequence[str], at: int) -> int:
    """The last line of what a line leaves open between brackets, where all of it fits into one; of a rule as much of
    what it asks for as does; else that line."""
    line, last = lines[at].strip(), at
    is_rule = _IS_RULE.match(line) is not None
    for number, following in enumerate(map(str.strip, lines[at + 1 :]), at + 1):
        is_open = line.count("(") > line.count(")") or (following.startswith("(") and line[-1:].isalpha())
        if not is_open and not (is_rule and following.startswith(".")):
            break
        line = f"{line} {following}"
        if line.endswith("{") or following.startswith(_COMMENTS):
            return last if is_rule else at
        if len(line) > MOST_LINE_CHARS:  # behind the brackets it may say more than is shown
            return last if is_rule else number if _closes_within(line, MOST_LINE_CHARS) else at
        last = number
    return last if line.count("(") <= line.count(")") else at


def _closed(lines: Sequence[str], at: int) -> int:
    """The last line of an error whose message stands below its type; of one of more lines than a few that line."""
    if not lines[at].rstrip().endswith("("):
        return at
    still_open = 0
    for number, line in enumerate(lines[at : at + _MOST_OF_AN_ERROR], at):
        still_open += open_brackets(line)
        if still_open <= 0:
            return number
    return at


def _closes_within(line: str, chars: int) -> bool:
    """Whether the first bracket of a line is closed within its first characters."""
    begun = line[line.find("(") : chars]
    return any(begun[: at + 1].count("(") == begun[: at + 1].count(")") for at, one in enumerate(begun) if one == ")")


def _joined(lines: Sequence[str]) -> str:
    """Lines as one, without blanks inside of their brackets."""
    return re.sub(r"(?<=\() | (?=[).])", "", " ".join(map(str.strip, lines)))


def _parameter(lines: Sequence[str], at: int, of_type: str) -> int:
    """The line of a constructor that begins at one that has a parameter of a type; that one where none has."""
    name = re.compile(rf"\b{re.escape(of_type)}\b")
    for number in range(at, min(at + _MOST_OF_A_SIGNATURE, len(lines))):
        if name.search(lines[number]):
            return number
        if "{" in lines[number]:
            break
    return at


def _plain(name: str) -> str:
    return f"**{defused(name)}**"
