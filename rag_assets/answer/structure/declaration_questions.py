"""What questions ask of declarations that they name, or of all by their signatures: how they are declared, what they
take and give, where they belong, how much they have, and which of them use which. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rag_assets.answer.structure.questions import MODIFIERS, NUMBER_WORDS, comparison, modifier_meant, name_in
from rag_assets.identifiers import singular

NAME = (
    r"(?:the )?`?(?P<name>(?=[^\WA-Z_]*[A-Z_.]\.*\w)[\w.]*\w)`?(?:\(\))?"
    r"(?: (?:class|enum|function|interface|method|property|service|type))?"
)
"""A name of code, with a capital, a dot or an underscore. What is around a name is in any case."""
_OTHER_NAME = NAME.replace("?P<name>", "?P<other>")
_LIFETIMES = ("singleton", "scoped", "transient")
KINDS = ("class", "interface", "struct", "record", "enum")
_PART = r"(?P<part>namespace|project|assembly|module|package|folder|directory|file)"
_COUNTED = r"(?P<counted>lines|methods|functions|members|properties|fields|constructors|parameters|arguments)"
_TRAITS = [
    re.compile(rf"^\W*(?:{form})\W*$")
    for form in (
        rf"(?i:is|are|was) {NAME} (?i:(?:declared |marked |registered )?(?:as )?(?:an? )?"
        rf"(?P<trait>{MODIFIERS}|{'|'.join((*KINDS, *_LIFETIMES))})"
        r"(?: (?:class|function|member|method|property|service|type))?)",
        rf"(?i:(?:in |to |from )?(?:which|what) {_PART} (?:is|does)) {NAME}"
        r"(?i:(?: (?:belong|declared|defined|located|live|lie|sit|implemented))?(?: (?:in|to))?)",
        rf"(?i:which|what) (?i:{_PART} (?:contains|declares|defines|has|holds)) {NAME}",
        rf"(?i:what is the {_PART} of) {NAME}",
        rf"(?i:how many {_COUNTED}(?: of code)? (?:does|do|has|have|are (?:there )?in|are there for)) {NAME}"
        r"(?i:(?: (?:have|has|contain|take|consist of))?)",
        rf"(?i:how (?:big|large|(?P<long>long)) is) {NAME}",
    )
]


@dataclass(frozen=True, slots=True)
class TraitAsked:
    """What a question asks of the declarations with a `name`: whether they have a `trait`, a modifier, a kind or a
    lifetime; which namespace, project, folder or file they are `part` of; how many of something, in the singular, they
    have."""

    name: str
    trait: str = ""
    part: str = ""
    counted: str = ""

    @property
    def is_lifetime(self) -> bool:
        return self.trait in _LIFETIMES


def trait_asked(question: str) -> TraitAsked | None:
    """What a question asks of one declaration; None for others."""
    for form in _TRAITS:
        if (found := form.match(question)) is None:
            continue
        said = {group: (text or "").lower() for group, text in found.groupdict().items()}
        counted = singular(said["counted"]) if said.get("counted") else ""
        counted = "line" if "long" in said else counted
        return TraitAsked(found["name"], modifier_meant(said.get("trait", "")), said.get("part", ""), counted)
    return None


declaration_asked = name_in(
    r"^\W*(?i:what(?: is|'s|s)? the (?:(?:data |return )?type|signature|declaration|visibility|accessibility"
    r"|access modifier|(?:base|parent|super) ?(?:class|type)) of|what (?:data |return )?type (?:is|has|does)"
    r"|show(?: me)? the (?:signature|declaration) of"
    r"|(?:which|what) (?:annotations|attributes|decorators) (?:are (?:there )?(?:on|of)|does|has))"
    rf" {NAME}(?i: (?:have|return))?\W*$"
    r"|^\W*(?i:(?:what|which) (?:(?:base|parent|super) ?(?:class|type)(?:es|s)?|interfaces?|contracts?)"
    rf" (?:does|do|is|are)(?: (?:implemented|extended|inherited) by)?) {_OTHER_NAME}"
    r"(?i: (?:have|implement|extend|derive from|inherit(?: from)?))?\W*$"
)
"""The name of which a question asks how it is declared."""


class SignatureOf(Enum):
    """What a question wants of the signatures of declarations, most with the heading of their answer."""

    TAKES = "Methods that take {}"
    LACKS = "methods that do not take {}"
    RETURNS = "Methods that return {}"
    HOLDS = "Members called {}"
    EXTENDS = "Extension methods of {}"
    OVERRIDES = "Overrides of {}"
    MEMBERS = "Members of {}"
    NAMED = "named"
    LENGTH = "length"


_A, _THE = r"(?i:an? |the )?", r"(?i:the )?"
_TYPE_NAME = r"`?(?P<name>(?:\w+\.)*[A-Z]\w*)`?"
_MEMBER_NAME = r"`?(?P<name>(?:\w+\.)*(?:[A-Z]\w*|[a-z]\w*[A-Z_]\w*))`?"
_ASKS = r"\W*(?i:(?:which|what|list|show|find|how many|me|all|the|are|is|there|any) )*"
_CALLABLES = r"(?P<noun>(?i:methods?|functions?|constructors?))"
_TYPES = r"(?P<noun>(?i:class(?:es)?|types?|entit(?:y|ies)|models?|structs?|records?|interfaces?|dtos?|tables?))"
_MEMBERS = (
    r"(?P<member>(?i:propert(?:y|ies)|fields?|members?|methods?|functions?|columns?|attributes?|variables?|constants?))"
)
_HAVE = r"(?i:(?:that |which )?(?:has|have|contains?|declares?|defines?|with|hold|holds|having))"
_MORE = r"(?i:(?:(?:is|are) )?(?P<than>more than|at least|over|longer than|larger than|bigger than|fewer than|exactly))"
_NOUN = r"(?P<noun>(?i:class(?:es)?|types?|interfaces?|enums?|structs?|records?|methods?|functions?))"
_PART_OF_NAME = r"[`'\"“]?(?P<name>(?:[A-Z]|_)\w*)[`'\"”]?"
_PART_OF_NAME_IN = rf"{_PART_OF_NAME}(?i: (?:in|within) (?:their|its|the) names?)"
_SIGNATURES = [
    (of, re.compile(rf"^{_ASKS}{form}\W*$"))
    for of, form in (
        (
            SignatureOf.TAKES,
            rf"{_CALLABLES} (?i:(?:that |which )?(?:takes?|taking|accepts?|accepting|expects?|needs?|receives?|has|have"
            rf"|with)) (?i:(?:an? |the )?(?:parameters?|arguments?) of type )?{_A}{_MEMBER_NAME}"
            r"(?i:(?: as)?(?: an?| the)?(?: parameters?| arguments?)?)",
        ),
        (
            SignatureOf.LACKS,
            r"(?:(?P<member>(?i:async|asynchronous|public|static) )?(?i:methods?|functions?)|(?P<noun>(?i:handlers?))) "
            r"(?i:(?:that |which )?(?:(?:do|does)(?:n't| not) (?:take|accept|have|receive|use|get)|(?:has|have) no"
            rf"|without|lacks?)) {_A}(?:{_MEMBER_NAME}|(?P<token>(?i:cancellation ?tokens?)))"
            r"(?i: parameters?| arguments?)?",
        ),
        (
            SignatureOf.RETURNS,
            rf"{_CALLABLES} (?i:(?:that |which )?(?:returns?|returning|gives?|yields?|produces?)) {_A}{_TYPE_NAME}"
            r"(?i: objects?)?",
        ),
        (SignatureOf.HOLDS, rf"{_TYPES} {_HAVE} {_A}{_MEMBERS} {_TYPE_NAME}"),
        (SignatureOf.HOLDS, rf"{_TYPES} {_HAVE} {_A}{_MEMBERS} (?i:called|named) [`'\"“]?(?P<name>\w+)[`'\"”]?"),
        (SignatureOf.HOLDS, rf"{_TYPES} {_HAVE} {_A}{_TYPE_NAME} {_MEMBERS}"),
        (SignatureOf.HOLDS, rf"{_TYPES} {_HAVE} {_A}{_MEMBERS} (?P<typed>(?i:of (?:the )?type)) {_TYPE_NAME}"),
        (
            SignatureOf.EXTENDS,
            r"(?i:extension (?:methods?|functions?)(?: (?:are|there|exist|do we have|does it have|defined|declared))*"
            rf" (?:on|for|of)) {_TYPE_NAME}",
        ),
        (SignatureOf.EXTENDS, rf"(?i:extension (?:methods?|functions?) (?:does|has)) {_TYPE_NAME}(?i: have)?"),
        (
            SignatureOf.MEMBERS,
            rf"{_MEMBERS} (?i:(?:(?:are|is|there|defined|declared|listed|available|exist) )*(?:in|on|by)) {_THE}"
            rf"{_TYPE_NAME}(?i: class| type)?",
        ),
        (
            SignatureOf.MEMBERS,
            rf"(?P<member>(?i:constants)) (?i:(?:of|does|do|has|have)) {_THE}{_TYPE_NAME}(?i: class| type)?"
            r"(?i: (?:have|has|define|declare|contain)s?)?",
        ),
        (
            SignatureOf.OVERRIDES,
            rf"(?i:(?:(?:class(?:es)?|types?|who|methods?) )?(?:overrides?|overriding)(?: of)?) {_THE}"
            r"`?(?P<name>[\w.]*\w)`?"
            r"(?i: methods?| property)?",
        ),
        (SignatureOf.OVERRIDES, rf"(?i:where (?:is|are)) {_MEMBER_NAME} (?i:overridden|overriden)"),
        (
            SignatureOf.NAMED,
            rf"{_NOUN} (?i:(?:(?:that|which|whose|have|has|with|a|names?) )*(?P<how>end|start|begin)(?:s|n?ing)?"
            rf" (?:with|in|on|by)) {_PART_OF_NAME}",
        ),
        (
            SignatureOf.NAMED,
            rf"{_NOUN} (?i:(?:that |which )?(?:are |is )?(?:called|named)(?P<like> like)?) {_PART_OF_NAME}",
        ),
        (
            SignatureOf.NAMED,
            rf"{_NOUN} (?i:(?:that |which )?(?:have|has|with|contains?|containing)) (?P<like>{_PART_OF_NAME_IN})",
        ),
        (
            SignatureOf.HOLDS,
            rf"{_TYPES} (?i:(?:that |which )?(?:have|has|with) (?:a |an |any )?(?P<typed>relation(?:ship)?|association"
            rf"|reference|navigation property|link) (?:to|with)) {_THE}{_TYPE_NAME}",
        ),
        (
            SignatureOf.HOLDS,
            rf"{_TYPES} (?i:(?:are |is )?(?P<typed>related|linked|associated|connected) (?:to|with)) {_THE}"
            rf"{_TYPE_NAME}",
        ),
        (
            SignatureOf.LENGTH,
            r"(?P<noun>(?i:class(?:es)?|types?|methods?|functions?)) (?i:(?:that |which )?(?:has|have|with|are|is)?) ?"
            rf"{_MORE} (?P<number>\d+|{NUMBER_WORDS}) (?P<counted>(?i:lines|methods|functions|members|properties))"
            r"(?i: of code| long)?",
        ),
    )
]


_SAID_ITSELF = (SignatureOf.NAMED, SignatureOf.LENGTH)


@dataclass(frozen=True, slots=True)
class SignatureAsked:
    """Declarations that a question wants by what signatures say `of` a `name`: of the members of types by their `noun`,
    and whether that is their type; of lengths whether a number of what is `counted` fits; whether a name in lower case
    does."""

    of: SignatureOf
    name: str = ""
    noun: str = ""
    is_type: bool = False
    counted: str = ""
    fits: Callable[[Any], bool] | None = None

    @property
    def is_named(self) -> bool:
        """Whether the name is surely one of code, which a word that begins with a capital is not."""
        is_code = re.search(r"[a-z\d][A-Z]|_", self.name) is not None
        if self.of is SignatureOf.NAMED:
            return is_code or " are " not in self.name  # `which methods are called Daily?` may ask for times
        return self.of is not SignatureOf.LENGTH and is_code

    @property
    def heading(self) -> str:
        heading = self.name if self.of in _SAID_ITSELF else self.of.value.format(self.name)
        if self.of is SignatureOf.LACKS:
            heading = f"{self.noun} {heading}".strip().capitalize().replace(self.name.lower(), self.name)
        return heading.replace("called", "of the type") if self.is_type else heading


_NAMES: Mapping[str, Callable[[str], Callable[[str], bool]]] = {
    "be": lambda part: lambda name: name == part,
    "contain": lambda part: lambda name: part in name,
    "end": lambda part: lambda name: name.endswith(part),
    "start": lambda part: lambda name: name.startswith(part),
}

_SAID = {"be": "are", "end": "end with", "start": "start with"}


def signature_asked(question: str) -> SignatureAsked | None:
    """The signatures that a question is for; None for others."""
    for of, form in _SIGNATURES:
        if (found := form.match(question)) is None:
            continue
        said = found.groupdict()
        noun = singular((said.get("member") or said.get("noun") or "").lower())
        if "column" in noun or (said.get("noun") or "").lower().startswith("table"):
            return None  # of a database
        if of is SignatureOf.LACKS:
            return SignatureAsked(of, found["name"] or "CancellationToken", modifier_meant(noun.strip()))
        if of is SignatureOf.LENGTH:
            counted, than = found["counted"].lower(), re.sub(r"^(?:longer|larger|bigger) than", "over", found["than"])
            heading = f"{found['noun'].capitalize()} by their {counted}"
            return SignatureAsked(of, heading, noun, counted=counted, fits=comparison(than, found["number"]))
        if of is SignatureOf.NAMED:
            how = (said.get("how") or ("contain" if said.get("like") else "be")).lower().replace("begin", "start")
            heading = f"{found['noun'].capitalize()} whose names {_SAID.get(how, how)} {found['name']}"
            return SignatureAsked(of, heading, noun, fits=_NAMES[how](found["name"].casefold()))
        typed = (said.get("typed") or "").lower()
        noun = "property" if typed and not typed.endswith("type") else noun  # what holds another has it as a value
        return SignatureAsked(of, found["name"], noun, bool(typed))
    return None


_USES = (
    r"calls?|uses?|depends? (?:up)?on|references?|needs?|injects?|knows?(?: about)?|access(?:es)?|talks? to"
    r"|touch(?:es)?|imports?|invokes?|creates?|reads?(?: from)?|writes?(?: to)?|rel(?:y|ies) on|works? with"
)
_CONTRACT = r"(?P<contract>extends?|implements?|inherits?(?: from)?|derives?(?: from)?)"
_USE = re.compile(
    rf"^\W*(?P<how>(?i:how|when|where|why) )?(?i:does|do|can|is) {NAME}"
    rf" (?i:(?:directly |ever )?(?:{_USES}|{_CONTRACT})(?: the| an?)?) (?:{_OTHER_NAME}|(?P<numbered>[a-z]+\d\w*))\W*$"
)
_USERS = re.compile(
    rf"^\W*(?i:(?:which|what) (?P<sort>[a-z]+(?: [a-z]+)?)(?: classes| types)? (?:directly )?(?:{_USES})) {NAME}\W*$"
)
_ANY_SORT = frozenset(
    {"class", "code", "file", "function", "method", "module", "package", "part", "place", "project", "test", "type"}
)


@dataclass(frozen=True, slots=True)
class UseAsked:
    """Two names of which a question asks whether the first uses the second, or is declared to have it `as_contract`;
    `how` or why, as if it did."""

    user: str
    used: str
    as_contract: bool
    how: bool


def use_asked(question: str) -> UseAsked | None:
    """The two that a question asks of; None for others."""
    found = _USE.match(question)
    if found is None:
        return None
    used = found["other"] or found["numbered"]
    return UseAsked(found["name"], used, found["contract"] is not None, found["how"] is not None)


@dataclass(frozen=True, slots=True)
class UsersAsked:
    """The `sort` of types, by how their names end, of which a question asks which use something, or which it uses;
    only those that it `makes`."""

    sort: str
    used: str
    makes: bool = False


def users_asked(question: str) -> UsersAsked | None:
    """The users of one sort that a question is for; None for others."""
    found = _USERS.match(question)
    if found is None:
        return None
    sort = "".join(singular(word) for word in found["sort"].lower().split())
    return UsersAsked(sort, found["name"]) if sort not in _ANY_SORT else None


_OF_SORT = re.compile(
    r"^\W*(?i:(?:which|what) (?P<sort>[a-z]+(?: [a-z]+){0,2}s) (?:does|do))"
    rf" {NAME} (?i:(?:directly |ever )?(?:add|appl(?:y|ies)|call|check|(?P<makes>create|make)|depend on|dispatch"
    r"|emit|enforce|fire|inject|need|publish|raise|send|trigger|use|validate)s?)\W*$"
)
_NO_SORTS = frozenset(
    {
        *("argument", "column", "dependency", "endpoint", "error", "exception", "field", "interface", "package"),
        *("parameter", "repository", "service", "setting"),
    }
)
"""What other plans tell of a declaration."""


def used_sort_asked(question: str) -> UsersAsked | None:
    """The sort of types, of which something uses some that a question wants, with what uses them; None for others."""
    found = _OF_SORT.match(question)
    sort = singular(found["sort"].lower().split()[-1]) if found is not None else ""
    if found is None or sort in _ANY_SORT | _NO_SORTS:
        return None
    return UsersAsked(sort, found["name"], makes=found["makes"] is not None)


in_tests_asked = name_in(
    rf"^\W*(?i:(?:is|are)) {NAME} (?i:(?:(?:only|just|solely|ever|actually|also) )*(?:used|called|referenced|needed)"
    r"(?: only| just| solely| anywhere)? (?:in|by|from|outside(?: of)?|except in|other than in) (?:the |our |unit )*"
    r"(?:tests?|production(?: code)?|product(?: code)?)(?: code| projects?| classes)?)\W*$"
    rf"|^\W*(?i:do only (?:the )?tests (?:use|call|reference)) {_OTHER_NAME}\W*$"
)
"""The name of which a question asks whether only tests use it."""


together_asked = name_in(
    r"^(?=.*\b(?:along|class(?:es)?|code|else|files?|I|together|types?|we|you)\b)"
    r"\W*(?i:which|what) (?:(?:are|code|class(?:es)?|else|files?|gets?|is|other|often|always|typically|types?"
    r"|usually) )*(?:chang\w+|modified|edited|touched) (?:(?:usually|often|always|at the same time) )?"
    r"(?:(?:together |along )?with|(?:whenever|when|each time)(?: (?:I|we|you|i))?(?: (?:change|edit))?) (?:the )?"
    r"`?(?P<thing>[\w./-]*[A-Z_./][\w./-]*\w)`?(?: (?:is |gets )?(?:changes|changed|edited|modified))?\W*$"
)
"""The file or declaration of which a question asks what changes with it."""


example_asked = name_in(
    r"^\W*(?i:(?:show(?: me)?|give(?: me)?|find|is there|are there|where (?:is|are|can i find)|what is)"
    r" (?:an? |some |any )?examples? (?:of|for|for how|of how|how|that|where)"
    rf"(?: (?:to )?(?:call|calling|how|use|uses|using|usage of))*) {NAME}"
    r"(?i:(?: (?:is|are) (?:used|called))?(?: being used)?)\W*$"
)
"""The name of whose use a question wants an example."""


hierarchy_asked = name_in(
    r"^\W*(?i:(?:what is|show(?: me)?|explain|describe) the (?:inheritance|class|type)(?: class)? (?:hierarchy|tree)"
    rf" of) {NAME}\W*$"
)
"""The type of which a question asks what it derives from and what derives from it."""


_NUMBER_USED = re.compile(
    r"^\W*(?:where (?:is|are|does)"
    r"|which (?:code|constants?|methods?|class(?:es)?|settings?|places?) (?:has|have|uses?|contains?|sets?))"
    r" (?:the )?(?:magic |literal |hard-?coded )?(?:number|value|literal|constant) (?P<number>\d[\d_,]*(?:\.\d+)?)"
    r"(?: (?:used|set|defined|written|come from|hard-?coded))?\W*$",
    re.IGNORECASE,
)


def number_asked(question: str) -> str:
    """The digits of the number of which a question asks where code has it; '' for another question."""
    found = _NUMBER_USED.match(question)
    return re.sub(r"[_,]", "", found["number"]) if found is not None else ""


_PARAMETER = re.compile(
    r"^\W*(?:what (?:does|do|is|are)|explain|describe) (?:the )?"
    r"(?:(?:parameter|argument|param) `?(?P<named>\w+)`?|`?(?P<of_sort>\w+)`? (?:parameter|argument|param))"
    r"(?: (?:of|in|to|for) (?:the )?`?(?P<method>[\w.]*\w)`?(?:\(\))?)?"
    r"(?: (?:do|mean|stand for|control|for|used for|good for|about))?\W*$",
    re.IGNORECASE,
)


def parameter_asked(question: str) -> tuple[str, str]:
    """(the parameter of which a question asks what it means, its method or ''); two '' for another question."""
    found = _PARAMETER.match(question)
    return (found["named"] or found["of_sort"], found["method"] or "") if found is not None else ("", "")
