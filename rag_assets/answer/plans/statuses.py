"""The plan of the HTTP statuses of errors: which error becomes which status, where code says both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http import HTTPStatus

from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts
from rag_assets.answer.plans.code_lines import FEWEST_LISTED, MOST_LISTED, code_of, points_with, product_of
from rag_assets.answer.question_analysis import roots_of
from rag_assets.search.index import LabelIndex

_WORDS = (
    "exception error status StatusCode StatusCodes HttpStatusCode HttpStatus ProblemDetails ExceptionHandler catch"
    " middleware filter"
)
_MOST_READ = 300  # sections with these words, the likeliest
_ERROR = r"(?:(?!Status\d)[A-Z]\w*(?:Exception|Error)|Err[A-Z]\w*)"
_MAPPED = re.compile(
    rf"^(?!\s*(?://|/?\*|#)|.*\b(?:throw|raise|panic|ThrowIf\w*)\b).*?"
    rf"(?:\b(?:case|catch|except|instanceof|is|typeof|when|class|def|public|errors\.(?:As|Is))\b[^;{{]*?|<|\(|\[|^\s*|@\w+)"
    rf"(?<!\w)(?P<error>{_ERROR})(?!\w)(?!\s*\()"
    rf"|^\s*(?:public|protected|internal) (?P<made>{_ERROR})\("
)
_BEFORE = re.compile(r"^\s*@ResponseStatus\b")
_ANSWERS = r"BadRequest|Conflict|Forbid|Forbidden|NotFound|Problem|Unauthorized|UnprocessableEntity|ValidationProblem"
_STATUS = re.compile(
    r"(?:HttpStatusCode\.(\w+)|\bStatus(?:Codes\.Status)?([45]\d\d\w*)|\bHttpStatus\.([A-Z_]{3,})|\bhttp\.Status(\w+)"
    r"|\bHTTP_([45]\d\d\w*)|\b(?i:status_?code|status|code)[\"']?\s*[:=(,]\s*\(?([45]\d\d)\b|(?i:abort|error|problem|result|response|status)\w*\(([45]\d\d)\b"
    rf"|\b(?:Typed)?Results?\.({_ANSWERS})\b|\bnew ({_ANSWERS})(?:Object)?Result\b|\breturn ({_ANSWERS})\()"
)
_COMPARED = re.compile(r"(?:[!=]=|\b(?:is|or|not)|\bequals\(|\{\s*StatusCode:)\s*(?:\(int\)\s*)?(?:\w+\.)*$")
"""What stands before a status that another server answered with."""
_LONGEST_LINE = 500
_WITHIN = 4  # lines
_NUMBER = re.compile(r"\b[45]\d\d\b")
_NUMBERS = {name.replace("_", ""): status.value for name, status in HTTPStatus.__members__.items()}
_NUMBERS |= {"FORBID": 403, "PROBLEM": 500, "VALIDATIONPROBLEM": 400}
_NO_STATUS = frozenset({"OK", "Ok", "Value", "Code"})
_SORTS = tuple(
    (re.compile(asked, re.IGNORECASE), roots_of(said))
    for asked, said in (
        (r"\b(?:in)?valid\w*\b", "validation valid invalid"),
        (r"\b(?:missing|not (?:be )?found|(?:not|n['’]t) (?:there|exist))\b", "found missing"),
        (r"\b(?:already|conflict\w*|duplicate\w*|twice)\b", "conflict duplicate exists already"),
        (
            r"\b(?:denied|forbidden|not allowed|permissions?|un(?:auth\w+))\b",
            "access denied forbid forbidden unauthorized unauthorised permission",
        ),
    )
)
"""What questions call a sort of errors, and what errors and statuses of that sort are called."""


def statuses_of_errors(index: LabelIndex, question: str) -> Facts:
    """Which errors of the product become which HTTP status, each where code says so, with the points that show it; of
    the statuses or the sorts that a question asks for alone."""
    numbers = {int(number) for number in _NUMBER.findall(question)}
    sorts = [said for asked, said in _SORTS if asked.search(question)] if not numbers else []
    found: dict[tuple[str, str], tuple[GraphFact, str]] = {}
    likely = product_of(points_with(_WORDS, index, _MOST_READ), index)
    for point, payload in sorted(likely.items(), key=lambda one: (one[1]["Path"], one[1]["StartLine"])):
        for error, status, line in _becoming(code_of(payload, index).split("\n")):
            fact = GraphFact(
                error, "becomes", status, payload["Path"], payload["StartLine"] + line, True, is_comment=True
            )
            is_of_sort = not sorts or any(said & roots_of(f"{error} {status}") for said in sorts)
            if is_of_sort and (not numbers or _number_of(status) in numbers):
                found.setdefault((error, status), (fact, point))
    if not (numbers or sorts) and len(found) < FEWEST_LISTED:
        return GraphFacts(), {}  # of all kinds of errors one is not the answer
    shown = dict([*found.values()][:MOST_LISTED])
    return GraphFacts(tuple(shown), len(found), f"**{len(found)} error{'s' * (len(found) > 1)} with a status:**"), shown


def _becoming(lines: list[str]) -> Iterator[tuple[str, str, int]]:
    """(error, status, number of the line with the status) of some code."""
    for at, line in enumerate(lines):
        known = _MAPPED.match(line) if len(line) <= _LONGEST_LINE else None
        if known is None:
            continue
        for below in (at, *range(at + 1, min(at + 1 + _WITHIN, len(lines))), *([at - 1] if at else ())):
            if below > at and _MAPPED.match(lines[below]):
                continue
            if below < at and not _BEFORE.match(lines[below]):
                continue
            if status := _status_in(lines[below]):
                yield known["error"] or known["made"], status, below
                break


def _status_in(line: str) -> str:
    """The status that a line answers with."""
    for found in _STATUS.finditer(line):
        status = next(filter(None, found.groups()))
        if status not in _NO_STATUS and _COMPARED.search(line[: found.start()]) is None:
            return _spaced(status)
    return ""


def _number_of(status: str) -> int | None:
    number = _NUMBER.match(status)
    return int(number[0]) if number is not None else _NUMBERS.get(status.replace(" ", "").upper())


def _spaced(status: str) -> str:
    """`409Conflict` and `404_NOT_FOUND` as people write them."""
    return re.sub(r"^(\d{3})_?(?=\w)", r"\1 ", status).replace("_", " ")
