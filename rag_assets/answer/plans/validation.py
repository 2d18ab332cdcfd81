"""The rules that validate something, line by line: of FluentValidation, attributes of C#, annotations of Java; and what
a member checks, in the order of its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at
from rag_assets.answer.passages import CONFIGURATION, Passage, indent_of, open_brackets
from rag_assets.answer.plans.code_lines import MOST_LISTED, lines_of, list_heading, points_with
from rag_assets.answer.question_analysis import QueryTerm, covered, root_set, roots_of
from rag_assets.contracts.graph import NodeType
from rag_assets.graph.declared_types import of_kind
from rag_assets.graph.lookup import short_name
from rag_assets.search.ranking.penalties import product_or_samples

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_RULE = re.compile(
    r"^\s*(?:(?:\w+\.)?RuleFor(?:Each)?\((?:\w+ => (?:\w+[.!]+)*(?P<name>\w+)\))?"
    r"|\[(?:\w+, )*(?:Compare|CreditCard|EmailAddress|MaxLength|MinLength|Phone|Range|RegularExpression|Required"
    r"|StringLength|Url)\b"
    r"|[\w.]*\b(?P<policy>Password)\.Require\w+\s*="  # of ASP.NET Core Identity
    r"|@(?:Digits|Email|Future|Max|Min|Negative|NotBlank|NotEmpty|NotNull|Past|Pattern|Positive|Size)\w*\b"
    r"|validates?(?:_\w+_of)? :(?P<rails>\w+)|validates_with (?P<by>[A-Z]\w+)"
    r"|[\"']?(?P<script>\w+)[\"']?: (?:Joi|joi|yup|Yup|z)\.\w+\()"
)
_WORDS = (
    "RuleFor RuleForEach Required StringLength MaxLength MinLength EmailAddress Range RegularExpression NotNull"
    " NotBlank NotEmpty Size Pattern RequiredLength RequireDigit validates validate Joi Yup string required z"
)
_MOST_READ = 1_000  # sections with these words, the likeliest
_ANNOTATES = re.compile(r"^\s*(?:\[[^\]]*\]\s*$|@\w)")
_BEHIND_ATTRIBUTES = re.compile(r"(?:\[[^\]]*\]\s*)*[^=({;\[]*?(?P<name>\w+)\s*(?:[{=;(]|$)")
_CREATES = root_set("add create new register")
_CHANGES = roots_of("change delete edit update")
_HOLDS = re.compile(r"(?:export )?(?:const|let|var) (?P<name>\w+)\b")  # of JavaScript, a schema
_COMPONENT = ".razor"  # a type without a declaration
_OF_ANY = roots_of("command input model query request validator")
"""What rules are in whose type says nothing of what they are for: `Features/Boats/Edit.cs` has a `Validator`."""
_LEAST_SAID = 0.6  # of the subject, by what has the rules
_FEWEST_CHECKS, _MOST_CHECKS = 2, 24
_MOST_OF_CONDITION, _MOST_OF_BLOCK = 12, 8  # lines
_MOST_CHARS = 120  # of a condition that is told
_IF = re.compile(r"^\s*(?:\}\s*)?(?:else\s+|el)?(?P<word>if|unless)\b\s*(?P<rest>.*)$")
_LEAVES = re.compile(
    r"(?:^|[\s;{:)])(?:return|throw|raise|panic|yield\s+break)\b"
    r"|\b\w*(?:errors?|failures|problems|violations)\.(?:add|append|push)\w*\(|\.Add\w*(?:Error|Failure)\w*\(",
    re.IGNORECASE,
)
"""Or notes what is wrong, and goes on."""
_CALL = re.compile(
    r"^\s*(?:await\s+)?(?:\w+[.!?]+)*(?P<call>(?:Assert|Authorize|Check|Confirm|Ensure|Guard|Require|ThrowIf(?!Cancel)|Validate"
    r"|Verify)\w*(?:\.\w+)*)(?:<[^<>()]*>)?\(",
    re.IGNORECASE,
)
_IS_COMMENT = re.compile(r"^\s*(?://|/?\*|#(?!\{))")


def validation_facts(index: LabelIndex, graph: Graph, subject: Sequence[QueryTerm], asked: str) -> Facts:
    """The rules of the member that is called as a subject, else those of the types whose names, or files, say the most
    of it; of what is new those of its creation, where some are."""
    types: dict[str, list[tuple[int, int, str]]] = {}  # of each file
    for node in of_kind(graph, NodeType.TYPE):
        for place in graph.places(node):
            types.setdefault(place.path, []).append((place.line_start, -place.line_end, short_name(graph.keys[node])))
    likely = index.parts.shard().places(points_with(_WORDS, index, _MOST_READ), index.scope()).values()
    about = {path for path, known in types.items() if any(_said(subject, name, path) for *_, name in known)}
    of_member, found = list[GraphFact](), dict[GraphFact, float]()
    for path, lines in sorted(lines_of(index, {one.path for one in likely} | about).items()):
        for at, line in lines.items():
            rule = _RULE.match(line)
            around = [name for begin, end, name in sorted(types.get(path, ())) if begin <= at <= -end]
            around = around or [_name(path)] * path.endswith(_COMPONENT)
            if rule is not None and rule["script"]:
                above = (held["name"] for one in range(at, 0, -1) if (held := _HOLDS.match(lines.get(one, ""))))
                around = [*around, next(above, "")]
            if rule is None or not around:
                continue
            member = next(filter(None, rule.groups()), "") or _annotated(lines, at)
            called = ".".join(filter(None, (*dict.fromkeys((around[0], around[-1])), "" if rule["name"] else member)))
            fact = GraphFact(called, "", "", path, at, True, is_comment=True)
            if roots_of(member) == {word.root for word in subject}:
                of_member.append(fact)
            if share := _said(subject, around[-1], path, member):
                is_itself = roots_of(around[-1]) == {word.root for word in subject}
                found[fact] = share + (rule["rails"] is not None and is_itself)
    kept = product_or_samples(one.path for one in (*of_member, *found))
    found = {one: share for one, share in found.items() if one.path in kept}
    told = [one for one in of_member if one.path in kept]
    told = told or [one for one, share in found.items() if share == max(found.values())]
    if _CREATES & roots_of(asked):
        said = {one: roots_of(f"{one.source} {_name(one.path)}") for one in told}
        told = [one for one in told if _CREATES & said[one]] or [one for one in told if not _CHANGES & said[one]]
    at_points = facts_at(told[:MOST_LISTED], index)
    of_attributes = not any(one.source.endswith("Validator") for one in told)  # and code may check more
    return GraphFacts(tuple(at_points), len(told), list_heading("rule", len(told)), leads=of_attributes), at_points


def _said(subject: Sequence[QueryTerm], name: str, path: str, member: str = "") -> float:
    """The share of a subject that the name of a type, or of its file, says, of several words with a member of it, if
    that is enough."""
    own = roots_of(f"{name} {_name(path)}")
    if roots_of(name) <= _OF_ANY:  # of a feature that its folder is called as
        own |= roots_of(path.rpartition("/")[0].rpartition("/")[2])
    of_both = len(subject) > 1 and not own.isdisjoint(word.root for word in subject)
    share = covered(tuple(subject), own | roots_of(member) if of_both else own)
    return share if share >= _LEAST_SAID else 0.0


def _name(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _annotated(lines: Mapping[int, str], at: int) -> str:
    """The name of what an attribute, or an annotation, at a line stands before."""
    opened = 0  # an attribute may have several lines
    while at in lines:
        opened += lines[at].count("[") - lines[at].count("]")
        if not (opened > 0 or lines[at].rstrip().endswith(")]") or _ANNOTATES.match(lines[at])):
            break
        at += 1
    named = _BEHIND_ATTRIBUTES.match(lines.get(at, "").strip())
    return named["name"] if named is not None else ""


def checks_of(member: Passage) -> GraphFacts:
    """The conditions under which a member leaves, each at the line with which it does, and the checks that it calls;
    nothing for fewer than two."""
    lines = member.code.split("\n") if member.evidence.language not in CONFIGURATION else []
    first = member.line_end - len(lines) + 1
    found = [
        GraphFact(said, "", "", member.evidence.path, first + at, True, is_comment=True) for said, at in _checks(lines)
    ]
    owner = f"{member.owner}." if member.owner not in ("", member.name) else ""
    heading = f"**{owner}{member.name or 'It'} checks, in this order:**"
    return (
        GraphFacts(tuple(found[:_MOST_CHECKS]), len(found), heading, leads=True)
        if len(found) >= _FEWEST_CHECKS
        else GraphFacts()
    )


def _checks(lines: Sequence[str]) -> Iterator[tuple[str, int]]:
    """(what is checked, the line that leaves, or calls) in the order of the lines."""
    for at, line in enumerate(lines):
        if _IS_COMMENT.match(line):
            continue
        if (call := _CALL.match(line)) is not None:
            yield call["call"], at
        elif (begun := _IF.match(line)) is not None:
            condition, last, rest = _condition(lines, at, begun["rest"])
            leaving = _leaving(lines, last, rest, indent_of(line))
            if condition and leaving is not None:
                yield f"unless {condition}" if begun["word"] == "unless" else condition, leaving


def _condition(lines: Sequence[str], at: int, rest: str) -> tuple[str, int, str]:
    """(a condition on one line, the line on which it ends, what follows it there)."""
    text, last = rest, at
    while open_brackets(text.rstrip(" {")) > 0 and last + 1 < min(len(lines), at + _MOST_OF_CONDITION):
        last += 1
        text = f"{text} {lines[last].strip()}"
    if text.startswith("("):
        end = _closing(text)
        told, rest = text[1:end], text[end + 1 :]
    else:  # of Go, Rust, Swift, Python and Ruby
        told, _, rest = text.partition("{") if "{" in text else text.partition(":")
    told = " ".join(told.split())
    return told if len(told) <= _MOST_CHARS else f"{told[:_MOST_CHARS].rpartition(' ')[0]} …", last, rest


def _closing(text: str) -> int:
    """Where the bracket that begins a text is closed."""
    depth = 0
    for at, one in enumerate(text):
        depth += (one == "(") - (one == ")")
        if depth == 0:
            return at
    return len(text)


def _leaving(lines: Sequence[str], last: int, rest: str, around: int) -> int | None:
    """The line on which the block behind a condition leaves the member; None where it goes on."""
    if _LEAVES.search(rest):
        return last
    if rest.strip(" {"):  # another statement
        return None
    for at in range(last + 1, min(len(lines), last + 1 + _MOST_OF_BLOCK)):
        line = lines[at].strip()
        if line in ("", "{"):
            continue
        if indent_of(lines[at]) <= around or _IF.match(lines[at]):
            return None
        if _LEAVES.search(lines[at]):
            return at
    return None
