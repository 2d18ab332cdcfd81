"""What questions ask of the structure of code: what a folder holds, how declarations are declared, how one leads to
another. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rag_assets.answer.question_analysis import recognizer
from rag_assets.identifiers import singular


def name_in(pattern: str, flags: int = 0) -> Callable[[str], str]:
    """What tells the name that a question with a pattern asks of, its first group; '' of another question."""
    match = re.compile(pattern, flags).match

    def name_asked(question: str) -> str:
        found = match(question)
        return next(filter(None, found.groups())).rstrip(".") if found is not None else ""

    return name_asked


_SORT_OF_FOLDER = r"(?:folder|directory|(?P<{0}>project|module|package|namespace|assembly|library|crate))"
_NAME_OF_FOLDER = r"[\w.@-]+(?:[/\\][\w.@-]+)*[/\\]?|[\w-]+(?: [\w-]+)?"
_FOLDER = re.compile(
    r"^\W*(?:(?:what|which (?:(?P<files>files)|classes|types|code|things)) (?:is|are|lies|stands?|(?:can|do) i find)"
    r" (?:there )?(?:in(?:side)?|below|under)"
    r"|(?:explain|describe|summari[sz]e|show(?: me)?|list|outline)"
    r"(?: (?:the )?(?:contents?|files|structure|purpose) (?:of|in))?"
    r"|(?:tell me about|give me an overview of|what is|what does|what are|how is"
    r"|what(?: is| are)? the (?:purpose|role|job) of))"
    rf" (?:the |our )?(?:{_SORT_OF_FOLDER.format('of')} (?P<named>{_NAME_OF_FOLDER})"
    rf"|(?P<name>{_NAME_OF_FOLDER}) {_SORT_OF_FOLDER.format('code')}|(?P<path>\.?[\w-]+[./][\w./-]++))"
    r"(?: (?:contains?|do|does|hold|have|about|for|good for|responsible for|made of|structured|organi[sz]ed"
    r"|used for))?\W*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FolderAsked:
    """The folder whose content is asked for, by the `name` that a question calls it; whether the question says that it
    is one, and one of code, and whether it wants its `files`."""

    name: str
    is_said: bool
    is_code: bool
    files: bool


def folder_asked(question: str) -> FolderAsked | None:
    """What a question asks of a folder; None for others."""
    found = _FOLDER.match(question)
    if found is None:
        return None
    name = (found["named"] or found["name"] or found["path"]).rstrip("/\\")
    is_code = (found["of"] or found["code"]) is not None
    return FolderAsked(name, found["path"] is None, is_code, found["files"] is not None)


MODIFIERS = (
    "static|abstract|sealed|final|async|asynchronous|partial|generic|internal|public|private|protected|virtual|readonly"
    "|suspend|unsafe|extern|inline|recursive|void|extension"
)
_SEVERAL = rf"(?:{MODIFIERS})(?:(?:,| and)? (?:{MODIFIERS}))*"
OF_KINDS = ("record", "struct", "enum", "interface")
"""Types that have a word of their own in a declaration."""
_KINDS = "|".join(f"{kind}s?" for kind in OF_KINDS)
_NOUNS = "class(?:es)?|types?|interfaces?|structs?|records?|enums?|methods?|functions?|constructors?"
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {word: number for number, word in enumerate(_WORDS)} | {"twenty": 20, "fifty": 50, "a hundred": 100}
NUMBER_WORDS = "|".join(_NUMBERS)
_NUMBER = rf"\d+|a single|{NUMBER_WORDS}|a"
_HERE = (
    r"(?: (?:are |is )?(?:there|here)| exist| do we have| does it have"
    r"| in (?:the|this) (?:code|project|code ?base|repo\w*))*\W*$"
)
_MESSAGES = ("event", "message", "command", "notification")
_DERIVED = (
    r"implementations?|implementors?|implementers?|implementing (?:class|type)(?:e?s)?|sub-?class(?:es)?|inheritors?"
    r"|derived (?:class|type)(?:e?s)?"
)
_SHAPE = re.compile(
    rf"^\W*(?:(?:which|what|list|show|how many|are|is|me|all|the|there|any) )*"
    rf"(?:(?P<before_not>non[- ])?(?P<before>{_SEVERAL}) (?P<noun_after>{_NOUNS}){_HERE}"
    rf"|(?P<none>unimplemented) (?P<of_none>interfaces?){_HERE}"
    rf"|(?P<bare>methods?|functions?|constructors?){_HERE}"
    rf"|(?:(?P<kind>abstract|base|generic|public) )?(?P<noun>{_NOUNS}|(?:{'|'.join(_MESSAGES)})s?)(?: (?:that|which))?"
    rf" (?:(?:is|are|were)(?P<not>n't| not)? (?:declared |marked )?(?:as )?(?P<modifier>{_SEVERAL}|{_KINDS}){_HERE}"
    r"|(?P<never>(?:is|are|has|have)(?: been)?(?:n't| not| never) (?:implemented|inherited(?: from)?|derived from"
    r"|extended|sub-?classed))(?: by (?:anything|any(?: class)?)| anywhere| yet)*\W*$"
    rf"|(?P<lacks>(?:has|have|with)(?: got)? no|without(?: any| an?)?|lacks?|lacking) (?:known )?(?:{_DERIVED})\W*$"
    r"|(?:has|have|with) (?P<how>only |just |exactly |more than |at least |over |fewer than )?"
    rf"(?P<count>{_NUMBER}|several|many|multiple)"
    rf" (?:(?P<of>{_DERIVED})|(?P<handled>handlers?|consumers?|subscribers?))\W*$"
    rf"|(?:has|have|takes?|with) (?P<than>more than |at least |over |exactly )?(?P<parameters>{_NUMBER})"
    r" (?:parameters?|arguments?)\W*$))",
    re.IGNORECASE,
)
_SAME = {"asynchronous": "async"}


@dataclass(frozen=True, slots=True)
class ShapeAsked:
    """Declarations that a question wants by their shape: `noun` in the singular, and one of modifiers, which they have
    all of or `is_not`, a number of those that derive from it or that handle it, a number of parameters."""

    noun: str
    modifiers: tuple[str, ...] = ()
    is_not: bool = False
    handled: Callable[[int], bool] | None = None
    derived: Callable[[int], bool] | None = None
    parameters: Callable[[int], bool] | None = None

    @property
    def is_of_all(self) -> bool:
        """Whether all of a sort are wanted."""
        return not (self.modifiers or self.handled or self.derived or self.parameters)

    @property
    def said(self) -> str:
        is_alone = self.derived is None or self.derived(0)  # what derives from it is said behind it
        such = "" if is_alone and self.handled is None and self.parameters is None else "such"
        return " ".join(filter(None, (such, *(() if self.is_not else self.modifiers), self.noun)))

    @property
    def told(self) -> str:
        """What a heading says behind the noun."""
        if self.derived is not None and self.derived(0):
            return " that no type of the product derives from"
        return f" not {' and '.join(self.modifiers)}" if self.is_not else ""


def shape_asked(question: str) -> ShapeAsked | None:
    found = _SHAPE.match(question)
    if found is None:
        return None
    if found["bare"]:
        return ShapeAsked(singular(found["bare"].lower()))
    noun = singular((found["noun"] or found["noun_after"] or found["of_none"]).lower())
    kind = ("abstract" if found["kind"] == "base" else found["kind"].lower(),) if found["kind"] else ()
    if noun in _MESSAGES and not found["handled"]:
        return None
    if found["none"] or found["never"] or found["lacks"]:
        if re.match("method|function|constructor", noun):
            return None  # of which code says that they are not implemented
        return ShapeAsked(noun, kind, derived=comparison("", "no"))
    if found["handled"]:
        wanted = comparison(found["how"] or "", found["count"])
        return ShapeAsked(noun, handled=wanted) if noun in _MESSAGES and not wanted(0) else None
    if found["of"]:
        return ShapeAsked(noun, kind, derived=comparison(found["how"] or "", found["count"]))
    if found["parameters"]:
        return ShapeAsked(noun, parameters=comparison(found["than"] or "", found["parameters"]))
    said = re.findall(r"[a-z]+", (found["before"] or found["modifier"]).lower())
    if singular(said[0]) in OF_KINDS:
        return None if found["not"] or noun in OF_KINDS else ShapeAsked(singular(said[0]))
    modifiers = tuple(modifier_meant(one) for one in said if one != "and")
    return ShapeAsked(noun, modifiers, is_not=bool(found["not"] or found["before_not"]))


def modifier_meant(said: str) -> str:
    """A modifier as code writes it."""
    return _SAME.get(said, said)


def comparison(how: str, count: str) -> Callable[[int], bool]:
    """Whether a number fits what a question says of it."""
    how, count = how.strip().lower(), count.lower()
    if count in ("several", "many", "multiple"):
        how, count = "more than", "one"
    number = int(count) if count.isdigit() else _NUMBERS.get(count, 1)
    if how in ("more than", "over"):
        return lambda found: found > number
    if how == "at least":
        return lambda found: found >= number
    if how == "fewer than":
        return lambda found: found < number
    return lambda found: found == number


constructor_asked = name_in(
    r"^\W*(?:(?:what|which \w+) (?:(?:is|are|gets?) injected into (?:the )?(?P<into>[\w.]+)"
    r"|does (?:the )?(?P<gets>[\w.]+) get injected|does the constructor of (?:the )?(?P<takes>[\w.]+) \w+)"
    r"|what (?:do|would|should|must) (?:i|we|you) (?:need to |have to )?(?:mock|fake|stub) (?:\w+ )?"
    r"(?:to test|for) (?:the )?(?P<tested>[\w.]+)"
    r"|(?:what|which) .{0,30}\bconstructors? (?:parameters?|arguments?|dependencies) (?:of|does|has) (?P<of>[\w.]+)"
    r"(?: have| take| need| expect| get)?|(?:show|print)(?: me)? the constructors? of (?P<shown>[\w.]+)"
    r"|how is (?:an? |the )?(?P<made>(?=\w*[A-Z])[\w.]+) constructed)\W*$",
    re.IGNORECASE,
)
"""The type of which a question asks what its constructor is given."""


_SORT = r"(?: (?:action|class|controller|endpoint|entity|function|handler|method|page|procedure|service|table|type))?"
_THING = r"(?:the )?`?(?:(?:GET|POST|PUT|PATCH|DELETE) )?[\w./{}:-]+`?"
_ENDS = {"start": rf"(?P<start>{_THING}){_SORT}", "end": rf"(?P<end>{_THING}){_SORT}"}
_WAY = (
    r"(?:(?:call|data|dependency|execution|request|shortest) )?"
    r"(?:chain|connection|dependency|flow|link|path|relation(?:ship)?|route|way)"
)
_FORMS = (
    rf"(?:what is|what's|show(?: me)?|trace|find|explain|describe|is there)(?: the| a| any)? {_WAY}"
    r" (?P<between>from|between) {start} (?:to|and) {end}",
    r"how (?:does|do|can) (?:the )?(?:calls?|data|requests?|control) (?:flow|get|go|travel)s? from {start} to {end}",
    r"how (?:does|do|can|is|are) {start} (?:get to|reach|lead to|end up (?:at|in|calling)|arrive at|called from"
    r"|reached from) {end}",
    r"how (?P<related>are) {start} and {end} (?:connected|linked|related)",
    r"(?:does|can|do) {start} (?:reach|lead to|(?:indirectly|eventually|ever) (?:call|use|reach)|end up (?:in|calling))"
    r" {end}",
)
_FLOWS = [re.compile(rf"^\W*{form.format(**_ENDS)}\W*$", re.IGNORECASE) for form in _FORMS]
_BACKWARDS = re.compile(r"\b(?:called|reached) from\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FlowAsked:
    """Two things of which a question asks how the first leads to the second; `either` way where it says none."""

    start: str
    end: str
    either: bool


def flow_asked(question: str) -> FlowAsked | None:
    for form in _FLOWS:
        if (found := form.match(question)) is None:
            continue
        start, end = (found[side].removeprefix("the ").strip("`") for side in ("start", "end"))
        groups = found.groupdict()
        either = (groups.get("between") or "").lower() == "between" or groups.get("related") is not None
        return FlowAsked(end, start, either) if _BACKWARDS.search(question) else FlowAsked(start, end, either)
    return None


outdated_asked = recognizer(
    r"^\W*(?:(?:which|what|are|do|is|have|list|any|all|the|our|we|there|of) )*"
    r"(?:(?:npm )?packages?|dependenc(?:y|ies)|librar(?:y|ies)|nugets?)\b(?: (?:are|is|have|that|any|known|we use))*"
    r" (?:outdated|out of date|vulnerab\w+|up to date|too old|behind|security issues|cves?)\W*$"
    r"|^\W*(?:(?:which|what|are|do|is|have|list|any|all|the|our|we|there|of) )*(?:outdated|vulnerable)"
    r" (?:\w+ )?(?:packages|dependencies|libraries)\W*$"
)
"""Whether a question is for packages with newer versions, or with known holes."""


_SORTS_OF_DIAGRAMS = (
    r"(?:class|sequence|er|entity[- ]relation(?:ship)?|component|flow|dependency|architecture|state|call|inheritance"
    r"|database|package|activity|c4|mermaid|uml|plantuml|simple)"
)
diagram_asked = recognizer(
    r"^\W*(?:(?:can|could) you )?(?:please )?(?:draw|show|give|create|generate|make|render|produce|print)(?: me| us)?"
    rf"(?: an?| the)? (?:(?:{_SORTS_OF_DIAGRAMS} ?)+(?:graph|chart)|(?:{_SORTS_OF_DIAGRAMS} ?)*diagram|flowchart"
    r"|erd|(?<=draw a )(?:graph|chart|picture))"
    r"(?:\W*$| (?:around|as|between|for|from|how|in|of|showing|that|which|with)\b)"
)
"""Whether a question wants a picture drawn."""


contributors_asked = recognizer(
    r"^\W*(?:who|which (?:people|developers?|authors?)) "
    r"(?:(?:is|are|were) (?:the )?(?:main |top |original |core )*(?:contributors?|authors?|committers?|developers?)"
    r"|(?:wrote|develops?|developed|contribute[sd]?|commits|committed)(?: to)?(?: the)?(?: most)?)"
    r"(?: (?:code|of|to|this|the|it|project|repo\w*|here|most|in))*\W*$"
    r"|^\W*(?:who|which (?:people|developers?|authors?)) (?:(?:is|are|were) (?:the )?(?:main |top )*"
    r"(?:contributors?|authors?|committers?) (?:to|of|for)\b|(?:has |have )?(?:worked|works|contributed|committed)"
    r" (?:the )?most (?:on|to|in)\b)"
)
"""Whether a question is for those who wrote a project."""


indexed_asked = recognizer(
    r"^\W*(?:(?:which|what) (?:git )?(?:commit|revision|version|branch|sha)"
    r"(?: of (?:the|this) (?:code|repo\w*|project))? (?:is|was|do you have|did you) (?:currently )?index(?:ed)?"
    r"|when was (?:this|it|the (?:code|index|repo\w*|project)) (?:last )?(?:re)?indexed"
    r"|how (?:fresh|old|recent|up to date|current) is (?:the|this) index(?:ed (?:code|commit))?)\W*$"
)
"""Whether a question is for the commit that is indexed."""


_A_NEW = r"(?:the |an? )?(?:new )?"
created_asked = name_in(
    rf"^\W*(?:(?:where|by (?:what|whom)) (?:(?:is|are|gets?) {_A_NEW}(?P<one>[\w.]+)(?: objects?| instances?)?"
    r" (?:constructed|created|instantiated|made|newed up)"
    rf"|(?:do|does) (?:it|we|you) (?:construct|create|instantiate|make|new up) {_A_NEW}(?P<ours>[\w.]+)"
    r"(?: objects?| instances?)?)"
    rf"|(?:who|what|which \w+) (?:constructs|creates|instantiates|makes|news up) {_A_NEW}(?P<its>[\w.]+))\W*$",
    re.IGNORECASE,
)
"""The type of which a question asks what makes an object of it."""
