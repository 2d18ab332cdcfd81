"""What a question asks for, of the kinds that plans of their own answer: a value, a length, who may do something, what
is thrown, stored, registered or listed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from rag_assets.answer.question_analysis import (
    ENUMERATED,
    SAYS_NOTHING,
    QueryTerm,
    asks_what_happens,
    is_relation_or_manner,
    listed_noun,
    name_roots,
    owner_said,
    recognizer,
    root,
    root_set,
    roots_of,
    telling_words,
)
from rag_assets.identifiers import identifier_words, singular, word_set
from rag_assets.index.keyword.terms import FUNCTION_WORDS
from rag_assets.search import CodePlace, Question, QuestionKind

_CONSTANT = re.compile(
    r"^\W*(?i:(?:what(?: is|'s)|where is|show(?: me)?|explain|define)(?: the)?(?: constant)?) `?"
    r"(?P<name>[A-Z][A-Z\d_]+)`?(?: (?:used )?for| defined| declared)?\W*$"
)


def constants_asked(question: str) -> tuple[str, ...]:
    """What a question asks the declaration of that may be a constant, as `what is ROLES?` may."""
    found = _CONSTANT.match(question.strip())
    return (found["name"],) if found is not None else ()


_VALUES = re.compile(
    r"^\W*(?:(?:what|which|list|show|give|the|all|are|me|of|possible|allowed|valid)\b ?)*"
    r"\b(?:(?:enum )?values|enum (?:cases|constants|members|variants)"
    r"|(?:cases|variants)(?= (?:in|of|do|does|has|have) (?:the )?(?-i:[A-Z])))"
    r" (?:(?:are (?:allowed|possible|there|valid) )?(?:in|for|of)|can|may|does|do|has|have) (?:(?:the|an?) )?"
    r"(?P<of>[\w.]+(?: (?!(?:be|have|take)\b)\w+){0,2}?)(?: (?:enum|enumeration|property|field|column))?"
    r"(?: (?:be|have|take|hold|contain|accept|get))?\W*$",
    re.IGNORECASE,
)


def values_asked(question: str) -> str:
    """What an enumeration, or what holds one of its values, is called in code whose values a question asks for:
    `OrderStatus`, `Order.Status`; '' for another question."""
    found = _VALUES.match(question.strip())
    return "".join(f"{word[:1].upper()}{word[1:]}" for word in found["of"].split()) if found is not None else ""


_OF_CONTENT = (
    r"(?:contents?|(?:(?:app|application|config\w*) )?(?:settings?|keys?|sections?|options?|values?|entries|propert\w+)"
    r"|config(?:uration)?)"
)
_HELD = re.compile(
    r"\W*(?:what|which|list|show|give|print|explain|describe)(?:'s| (?:me|us|all|of|the|a|is|are|there|in|inside|file"
    rf"|defined|set|configured|stored|available|does|do|has|have|exist|{_OF_CONTENT}))* \0(?: file)?"
    r"(?: (?:contain|have|hold|define|configure|set|say|do|look like|about))*\W*",
    re.IGNORECASE,
)


def file_asked(question: Question) -> CodePlace | None:
    """The file that a question names, where it asks what that holds and nothing more: `what is in appsettings.json?`"""
    place = question.places[0] if len(question.places) == 1 else None
    if place is None or question.kind is not QuestionKind.PROSE or place.line:
        return None
    written = question.text.replace("\\", "/").replace(place.path, "\0", 1)
    return place if _HELD.fullmatch(re.sub(r"[\"'`]", "", written)) else None


_TO_IMPLEMENT = (
    r"(?:can|may|could|do|does|must|should|have to|has to) (?:i|we|you|one|users?|somebody) (?:have to )?"
    r"(?:implement|extend|derive|subclass|override|plug|replace|hook|customi[sz]e|inherit)"
)
_EXTENDED = re.compile(
    r"^\W*(?:which|what)\b.*\b(?:extension|extensibility|customi[sz]ation) points?\b(?P<points>.*)$"
    r"|^\W*(?:which|what) (?:(?P<one>interface|contract|protocol|trait|(?:abstract |base )?(?:class|type))"
    r"|interfaces|contracts|protocols|traits|(?:(?:abstract|base) )?(?:classes|types))"
    rf" {_TO_IMPLEMENT}\b(?P<contracts>.*)$"
    r"|^\W*how (?:do|can|could|should|would) (?:i|we|you) (?:add|create|implement|plug in|provide|use|write) "
    r"(?:(?:a|an|my|our) )?(?:custom|own) (?P<own>\w+(?: \w+){0,2})\W*$",
    re.IGNORECASE,
)
_OF_EXTENSION = root_set(
    "custom customise customize exist extend framework from hook implement inherit library override own plug"
    " project replace"
)


def extension_asked(question: str, words: Sequence[QueryTerm]) -> tuple[tuple[QueryTerm, ...], bool] | None:
    """The words for what may be extended, and whether for one of it, of a question for the contracts that users may
    implement; None for another question."""
    found = _EXTENDED.match(question.strip())
    if found is None:
        return None
    about = roots_of(found["points"] or found["contracts"] or found["own"] or "") - _CONTAINER - _OF_EXTENSION
    is_one = bool(found["one"] or found["own"])
    return tuple(word for word in words if word.root in about and (found["own"] or is_subject(word))), is_one


asks_about_threads = recognizer(
    r"^\W*(?:is|are|can|may|could)\b.*\b(?:thread[- ]?safe|threads|goroutines|concurrent(?:ly)?)\b"
)
"""Whether a question is whether several threads may use something."""
_CODED = re.compile(
    r"^\W*(?i:who|what|which \w+|where (?:is|are)) "
    r"(?:(?i:the|error|code|(?:defin|emit|rais|report|return|throw|us)e?s) )*"
    r"(?P<code>[A-Z]{2,}[-_]?\d{3,})(?i: (?:defined|emitted|raised|reported|returned|thrown|used))?\W*$"
)


def code_asked(question: str) -> str:
    """The code of an error or a diagnostic of which a question asks what reports it: `MA0011`; '' for another one."""
    found = _CODED.match(question.strip())
    return found["code"] if found is not None else ""


asks_options = recognizer(r"\b(?:options|settings)\b")
"""Whether the members of something that a question asks for are options."""
_ATTRIBUTE = re.compile(r"\[(?P<marked>[A-Z]\w+)\]|\b(?P<named>[A-Z]\w+)[\"'`]? attributes?\b")
_PUT_ON = re.compile(
    r"\b(?:put|applied|apply|placed?|allowed|used?|valid) (?:on|to|at)\b|\bput\b|\btargets?\b", re.IGNORECASE
)


def attribute_asked(question: str) -> tuple[str, bool]:
    """(what C# calls the attribute that a question names: `DomNameAttribute` for `the DomName attribute`, whether it
    asks what that may be put on); '' for another question."""
    found = _ATTRIBUTE.search(question)
    name = (found["marked"] or found["named"]).removesuffix("Attribute") if found is not None else ""
    return (f"{name}Attribute" if name else "", _PUT_ON.search(question) is not None)


_SETTINGS = re.compile(
    r"^\W*(?:which|what|list|show)\b(?: (?:me|are|all|the|of))* (?:(?:app|application) ?)?"
    r"(?:(?:config(?:uration)?|settings?) (?:keys|values|options|entries|sections|settings)|settings"
    r"|(?P<variables>env(?:ironment)? var(?:iable)?s))"
    r" (?:(?:does|do) (?P<who>.+?) (?:read|use|need|expect|take|require|have|support)|(?:that )?(?:are |is )?"
    r"(?:read|used|needed|expected|required) (?:by|in) (?P<by>.+?)|(?:that )?(?P<which>.+?) (?:reads|uses|needs)"
    r"|(?:(?:can|must) be set |are (?:there|used|needed|read) |exist |to )?"
    r"(?:for|configure|control|affect|influence) (?P<of>.+?)"
    r"|(?:are there|exist|are (?:used|read|supported|available|needed|required)"
    r"|(?:can|may|must) be (?:configured|given|set|used)|(?:can|must|do) (?:i|we|you) (?:set|use|need))"
    r"(?: to (?:run|start) (?:it|this|the \w+))?)\W*$",
    re.IGNORECASE,
)
"""What somebody reads. Nothing may follow that asks for more: what is read for something is no list of all."""
_AND_DEFAULTS = re.compile(
    r",? and (?:what|which) (?:are|is) (?:its|the|their) (?:defaults?|default values?|values?)\W*$", re.IGNORECASE
)


def settings_asked(question: str) -> tuple[str, str, bool]:
    """(`setting` or `environment variable`, what reads those that a question wants a list of, or they are about, '' for
    all; whether they are about it); two '' for another question."""
    question = _AND_DEFAULTS.sub("", question.strip())
    found = _SETTINGS.match(question) or _SETTINGS.match(f"{question.strip(' ?!.')} are there")
    if found is None or (found["of"] and not found["variables"]):
        return "", "", False
    reader = found["who"] or found["by"] or found["which"] or found["of"] or ""
    return "environment variable" if found["variables"] else "setting", reader, bool(found["of"])


_SETTING = re.compile(
    r"\b(?:(?<!instead of the )defaults?|time-?outs?|limits?|maximum|minimum|at (?:most|least))\b"
    r"|\b(?:what(?: is|'s) the|which|what) (?:\w+ ){0,3}port\b|\brules\b"
    r"|\bhow (?:many|much|long|often|big|large|far|fast|late|old)\b|\b(?:set|configure) nothing\b"
    r"|(?:\bnot|n['’]t) (?:set|configure|specify)\b"
    r"|\b(?:where|how) (?:do|can|could) (?:i|we|you) (?:set|change)\b"
    r"|\b(?:can|could|do) (?:i|we|you) (?:disable|enable|(?:turn|switch) (?:on|off)|switch (?:between|from|to))\b",
    re.IGNORECASE,
)
asks_default = recognizer(r"^\W*(?:what|which)\b(?: (?:is|are|'s))* ?(?:the |our )?(?:default\b|.+\bby default\W*$)")
"""Whether a question is for what something is where nothing else is said."""
_OF_NO_SETTING = re.compile(
    r"^\W*(?:how|where) (?:is|are) (?:(?:all|app|application|our|the|these|user) )*"
    r"(?:settings?|configurations?|options)"
    r" (?:accessed|bound|handled|kept|loaded|managed|parsed|persisted|read|saved|stored|validated|written)\b"
    r"|^\W*how (?:can|could|do|should) (?:i|we|you) (?:access|get|load|read) (?:an? |the )?settings?\b"
    r"|^\W*how (?:can|could|do|should) (?:i|we|you)"
    r" (?:check|count|determine|find out|know|log|measure|see|tell|track) how\b"
    r"|^\W*what (?:do|does) [\"'“`].+ means?\W*$"
    r"|^\W*what (?:do|does) .+ in (?:an?|the) .*\b(?:errors?|exceptions?|logs?|messages?|output|trace)\b.* means?\W*$",
    re.IGNORECASE,
)
"""Who wants to measure an amount, or to know what a word means."""
_OF_SETTINGS = re.compile(r"\b(?:settings?|configur\w+|polic(?:y|ies))\b", re.IGNORECASE)


def asks_setting(question: str) -> bool:
    """Whether the answer may be a setting: an amount, a default, or where something can be changed. A configuration of
    which a question asks what happens to it is none."""
    if _OF_NO_SETTING.match(question):
        return False
    is_of_settings = _OF_SETTINGS.search(question) is not None and not asks_what_happens(question)
    return is_of_settings or _SETTING.search(question) is not None or asks_when_run(question)


_CHECKED = r"(?:check|verif|validat|test)(?:s|ed|ied|ies|e|es)?"
asks_checks = recognizer(
    rf"^\W*in (?:what|which) order\b.*\b{_CHECKED}\b"
    r"|\b(?:what|which) (?:\w+ ){0,2}(?:checks?|conditions|guards|validations)\b.*"
    r"\b(?:before|does|first|fulfilled|made|met|order|pass(?:ed)?|performed|satisfied)\b"
    rf"|^\W*(?:what|which \w+(?: \w+)?) (?:is|are|gets?|has to be|must be) {_CHECKED}\b"
    r".*\b(?:before|first|when|while)\b"
    rf"|^\W*what does .+ {_CHECKED} (?:first|.*\b(?:before|first|when)\b)"
)
"""Whether a question is for what code checks before it does something."""
asks_when_run = recognizer(
    r"\b(?:when|(?:at )?what time) (?:(?:do|does) .+ run|(?:is|are) .+ (?:executed|run|scheduled))\W*$"
)
"""Whether a question is for the schedule of something."""
asks_value = recognizer(r"\b(?:defaults?|values?|configured|set)\b")
"""Whether a question is for what a setting is, or where it is set."""
asks_parameters = recognizer(
    r"^\W*(?:(?:what|which|list|show|give|the|all|are|me|input|output)\b ?)*\b(?:parameters|arguments|params|args)\b"
)
"""Whether a question is for the parameters of something."""
_LENGTH = re.compile(
    r"^\W*how (?:long|short) (?:can|may|must|should|does|do|is|are)\b.*\b(?:be|have to be|allowed to be)\W*$"
    r"|\b(?:max(?:imum|imal)?|min(?:imum|imal)?|longest|allowed|permitted) (?:\w+ )?length\b"
    r"|^\W*how many (?:characters|chars|letters)\b.*\b(?:can|may|must|fit|allowed|have)\b",
    re.IGNORECASE,
)
_OF_LENGTH = root_set("length character char letter allowed permitted max maximal min minimal longest")


def length_asked(question: str, words: Sequence[QueryTerm]) -> tuple[QueryTerm, ...]:
    """The words for that of which a question asks how long it may be; none for another question."""
    if _LENGTH.search(question.strip()) is None:
        return ()
    return tuple(word for word in words if is_subject(word) and word.root not in _OF_LENGTH)


_MINIMAL = re.compile(r"\b(?:at least|min(?:imal|imum)?|short(?:est)?)\b", re.IGNORECASE)
_MAXIMAL = re.compile(r"\b(?:at most|longest|max(?:imal|imum)?)\b", re.IGNORECASE)


def end_asked(question: str) -> str:
    """`min` or `max` where a question asks for that end of a range alone, else ''."""
    ends = [end for end, said in (("min", _MINIMAL), ("max", _MAXIMAL)) if said.search(question)]
    return ends[0] if len(ends) == 1 else ""


STORED, WRITTEN, READ = "Stored in", "Written by", "Read by"
_STORING = r"writes?|saves?|stores?|updates?|inserts?|deletes?|removes?|creates?|adds?|changes?|persists?"
_LOADING = r"reads?|loads?|queries|query|selects?|fetch(?:es)?"
_KEPT = (
    r"(?:(?:the )?(?:(?:database|db|sql) )?(?:table|entity) )?(?P<{0}>[\w.` -]+?)"
    r"(?: (?:tables?|entity|entities|records?|rows?|data))?"
)
_ENDPOINT = r"(?:api|endpoint|route|url)s?"
_DATA = re.compile(
    rf"^\W*(?:where|(?P<how>how)) (?:is|are|does|do|gets?) {_KEPT.format('kept')}(?: get)?"
    r" (?:stored|persisted|kept|(?(how)(?!)|(?:saved|written)))\b"  # how it is saved is told by what saves it
    r"(?: to| in(?: the (?:db|database))?)?\W*$"
    rf"|^\W*(?:who|what|which (?:stored )?(?!(?:{_ENDPOINT}|tables?)\b)\w+)"
    rf" (?:(?P<writes>{_STORING})|(?P<reads>{_LOADING}))"
    rf"(?: (?:to|into|from|in))? {_KEPT.format('object')}\W*$"
    rf"|^\W*(?:who|what|which (?!{_ENDPOINT}\b)\w+) (?:access(?:es)?|depends? on|touch(?:es)?|uses?)"
    r" (?:the |our )?(?P<used>[\w.` -]+?) table\W*$"
    r"|^\W*(?:in )?(?:which|what) (?:database |db )?tables? (?:holds?|stores?|keeps?|contains?|has|have|is|are)"
    rf" {_KEPT.format('held')}(?: (?:stored|saved|kept|in))*\W*$",
    re.IGNORECASE,
)
_READER = re.compile(r"^\W*(?:which|what) (?:\w+ )?(?P<by>view|procedure|proc|function|trigger)s?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DataAsked:
    """`words` are what the thing is called, `first` what is told first of it. `said` is its name letter by letter, `by`
    the kind of object that is asked for."""

    words: tuple[str, ...]
    first: str
    said: str = field(default="", compare=False)
    by: str = field(default="", compare=False)
    deletes: bool = field(default=False, compare=False)


def data_asked(question: str) -> DataAsked | None:
    """The thing of which a question asks where it is stored, who writes it or who reads it. Nothing may follow that
    asks for more."""
    found = _DATA.match(question.strip())
    if found is None:
        return None
    thing = found["kept"] or found["object"] or found["held"] or found["used"]
    said = [run for run in re.findall(r"\w+", thing.rpartition(".")[2]) if run.lower() not in FUNCTION_WORDS]
    words = [word.lower() for run in said for word in identifier_words(run)]  # of `be_posts` both
    first = WRITTEN if found["writes"] else READ if found["reads"] or found["used"] else STORED
    by = _READER.match(question)
    deletes = (found["writes"] or "").lower().startswith(("delete", "remove"))
    return DataAsked(tuple(map(root, words)), first, "".join(said), by["by"].lower() if by is not None else "", deletes)


_REFERRING = (
    r"(?:references?|refers? to|points? (?:to|at)|links? to|(?:has|have)(?: an?)? foreign keys? (?:to|on|for|into))"
)
_TABLE = r"(?:the )?(?:table )?[\"'`]?(?P<{0}>[\w.]+)[\"'`]?(?: table)?(?: have)?\W*$"
_FOREIGN_KEYS = re.compile(
    rf"\b(?:tables?|entit(?:y|ies)) (?:that |which |do |does )?{_REFERRING} {_TABLE.format('to')}"
    r"|^\W*(?:which|what|list|show) (?:me |all |the |other )*(?:tables|entities) (?:that |which )?(?:are )?"
    rf"(?:associated with|connected to|linked to|related to) {_TABLE.format('related')}"
    rf"|\bforeign keys? (?:(?:that )?{_REFERRING}|to|on|into|pointing to|referencing) {_TABLE.format('into')}"
    rf"|\bforeign keys? (?:(?:are )?(?:of|in)|does|do|has|have) {_TABLE.format('of')}"
    r"|\btables? (?:does|do) (?:the )?(?P<by>[\w.]+)(?: table)? (?:reference|refer to|point to|link to)\W*$",
    re.IGNORECASE,
)


def foreign_keys_asked(question: str) -> tuple[tuple[str, ...], bool]:
    """The words of the table whose foreign keys a question asks for, and whether for those that lead to it; none for
    another question."""
    found = _FOREIGN_KEYS.search(question.strip())
    if found is None:
        return (), False
    name, leads_to = found["to"] or found["into"] or found["related"], True
    if not name:
        name, leads_to = found["of"] or found["by"], False
    return tuple(name_roots(name.rpartition(".")[2])), leads_to


_PACKAGE = r"(?:package|library|dependency)"
_NAMED_PACKAGE = (
    rf"(?:the )?(?P<before>(?:\w+ )?{_PACKAGE} )?[\"'`]?(?P<name>[@\w][\w@./:-]*\w)[\"'`]?(?P<after> {_PACKAGE})?"
)
_TO_USE = r"(?:uses?|needs?|requires?|references?|refers? to|depends? on)"
_PACKAGE_USERS = re.compile(
    r"\W*(?:who|what|(?:which|what) (?:\w+ )?(?:project|module|service|file|manifest|app|application|package|part)s?) "
    rf"{_TO_USE} {_NAMED_PACKAGE}\W*",
    re.IGNORECASE,
)
_PACKAGE_USED = re.compile(
    rf"\W*where (?:is|are) {_NAMED_PACKAGE} (?:used|needed|required|referenced)\W*", re.IGNORECASE
)


def package_asked(text: str) -> tuple[str, bool]:
    """The name of that whose users a question asks for, and whether it says that it is a package; '' for others."""
    found = _PACKAGE_USERS.fullmatch(text) or _PACKAGE_USED.fullmatch(text)
    return (found["name"], bool(found["before"] or found["after"])) if found else ("", False)


_MADE = r"(?:add|create|write|define|name|register|declare|implement|introduce)"
_CONVENTION = re.compile(
    rf"^\W*how (?:do|can|could|should|must|would) (?:i|we|you) {_MADE} (?:a |an |another |our |the |new )*"
    r"(?P<one>[a-z]+(?: [a-z]+)?)\W*$"
    rf"|^\W*how (?:do|can|could|should|must|would) (?:i|we|you) {_MADE} (?:a |an |our |the |my )*"
    r"(?:another|custom|new|own) (?P<new>[a-z]+(?: (?!for\b)[a-z]+)?) for (?:(?:a|an|another|my|our|the) )*\w+\W*$"
    r"|^\W*how (?:are|is|should|must) (?:a |an |the |our |new )*(?P<all>[a-z]+(?: (?!be )[a-z]+)?) (?:be )?"
    r"(?:named|called|written|registered|defined|declared|structured|implemented|added|made)\W*$"
    rf"|^\W*(?:where|in which (?:file|folder|project)) (?:do|can|should|must|would) (?:i|we|you) (?:{_MADE}|place|put)"
    r" (?:an? |our |the )?(?:another |new )?(?P<place>[a-z]+(?: [a-z]+)?)\W*$"
    r"|^\W*(?:which|what)(?: \w+)? (?:do|must|should|would) (?:i|we|you) (?:have to |need to )?"
    r"(?:adapt|change|create|do|edit|implement|modify|touch|write) "
    rf"(?:if i want |in order )?(?:to|when (?:i|we|you)) {_MADE} (?:an? )?(?:another |new )?"
    r"(?P<to>[a-z]+(?: [a-z]+)?)\W*$"
    r"|^\W*(?:(?:please|can you|give|show|find|is there|are there|me|us|any|an?|the|good) )*"
    r"(?:examples?|samples?|templates?) (?:of|for) (?:how to write |implementing |writing |creating )?"
    r"(?:an? |our |the )?(?:existing )?(?P<example>[a-z]+(?: [a-z]+)?)(?: implementation)?\W*$",
    re.IGNORECASE,
)
_IN_WHOLE = re.compile(
    r" (?:here|(?:for|in|into|of|to) (?:it|(?:our|the|this) "
    r"(?:api|app|application|code|codebase|project|repo|repository|service|solution|system)))\W*$",
    re.IGNORECASE,
)


def convention_noun(question: str) -> str:
    """The sort of thing, in the singular, of which a question asks how they are made, named or registered; '' for
    another question. Nothing may follow that asks for more."""
    found = _CONVENTION.match(_IN_WHOLE.sub("", question.strip()))
    return singular(next(filter(None, found.groups())).lower()) if found is not None else ""


_REGISTERED = re.compile(
    r"^\W*(?:which|what|list|show)\b(?: me| all| the| are)* (?:dependencies|implementations|services|types"
    r"|(?P<noun>[a-z]+s)(?=.* (?:containers?|dependency injection|di|ioc|scoped|singletons?|transient)\b))"
    r" (?:are |get |that are )?(?:(?:registered|injected)\b|(?=(?:a )?(?:scoped|singletons?|transient)\W*$))"
    r"(?P<where>.*)$"
    r"|^\W*what is registered (?P<there>(?:in|with|at|for)\b.*)$"
    r"|^\W*(?:which|what|list|show)\b(?: me| all| the| are)* "
    r"(?P<lived>(?:singleton|scoped|transient)(?: services)?|singletons|transients)"
    r"(?: (?:are|there|exist|registered|used))*\W*$",
    re.IGNORECASE,
)
_LIFETIME = re.compile(r"\b(scoped|singleton|transient)s?\b", re.IGNORECASE)
_CONTAINER = root_set(
    "api app application autofac castle container dependency di injection ioc kernel lifetime module ninject"
    " registry scoped service singleton startup structuremap transient unity windsor"
)
asks_what_is_registered = recognizer(
    r"\bimplementations? (?:is|are|gets?) (?:chosen|injected|registered|resolved|used) (?:as|for) \S+\W*$"
    r"|\bimplementations? of \S+ (?:is|are|gets?) (?:chosen|injected|registered|resolved|used)\b"
    r"|^\W*what is (?:injected|registered) (?:as|for) \S+\W*$"
    r"|^\W*(?:as|under|with) (?:what|which) (?:lifetime|scope) (?:is|are) (?:the )?\S+ (?:registered|injected)\b"
    r"|^\W*(?:what is|which is|what's) the (?:lifetime|scope) of (?:the )?\S+\W*$"
    r"|^\W*(?:what|which) (?:lifetime|scope) do(?:es)? (?:the )?\S+ have\W*$"
    r"|^\W*(?:is|are) (?:the )?\S+ (?:registered (?:as )?)?(?:an? )?(?:scoped|singletons?|transient)\b[\w ,]*\W*$"
    r"|^\W*(?:where|how) (?:(?:is|are) (?:the )?(?:\w+ )?\S+ registered|do (?:we|you|i) register (?:the )?\S+)"
    r"(?: (?:in|with|for|at)\b.*)?\W*$"
)
"""Whether a question is for what a container is given for a service that it names, or where it is given one."""


def registered_where(question: str, words: Sequence[QueryTerm]) -> tuple[QueryTerm, ...] | None:
    """The words for where services are registered, of a question for these; None for another question."""
    found = _REGISTERED.match(question.strip())
    if found is None:
        return None
    about = roots_of(found["where"] or found["there"] or "") - _CONTAINER
    return tuple(word for word in words if word.root in about and is_subject(word))


def registered_as(question: str) -> tuple[str, str]:
    """(what the registered services that a question wants a list of end with, `manager`, '' for any; how long one of
    them lives, as `Singleton`, '' where it does not say so)."""
    found = _REGISTERED.match(question.strip())
    lifetime = _LIFETIME.search(found["where"] or found["lived"] or "") if found is not None else None
    noun = singular(found["noun"].lower()) if found is not None and found["noun"] else ""
    return noun, lifetime[1].capitalize() if lifetime is not None else ""


_TYPED = r"artisan|command[- ]?line|cli|terminal|console"
_COMMAND_LINE = re.compile(
    r"^\W*(?:which|what|list|show|name|give)\b(?: (?:me|all|the|are|is|of|available|supported|possible|different))*"
    rf" (?P<typed>(?:{_TYPED}) )?(?P<noun>flags|options|switches|arguments|parameters|(?P<sub>sub[- ]?)?commands)"
    r"\b(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_TAKEN = re.compile(
    r"\b(?:accepts?|exists?|ha(?:s|ve)|knows?|offers?|provides?|run|supports?|takes?|understands?|use"
    r"|(?:pass|give)(?: to)?)\b",
    re.IGNORECASE,
)
_OF_COMMAND = re.compile(rf"\b(?:{_TYPED})\b|(?<!-)\b(?:sub-?)?command\b", re.IGNORECASE)


def command_line_asked(question: str) -> tuple[str, str, bool]:
    """(`command`, `option` or `argument` for those of a command line that a question wants a list of, the rest of it,
    whether it says that it means these); '' for another question."""
    found = _COMMAND_LINE.match(question.strip())
    if found is None:
        return "", "", False
    noun, rest = found["noun"].lower(), found["rest"]
    is_command = noun.endswith("commands")
    is_typed = bool(found["typed"] or found["sub"] or re.search(rf"\b(?:{_TYPED})\b", rest, re.IGNORECASE))
    is_meant = is_typed or (not is_command and _OF_COMMAND.search(rest) is not None)
    if not is_meant and noun not in ("flags", "switches", "commands"):
        return "", "", False
    called = "command" if is_command else "argument" if noun in ("arguments", "parameters") else "option"
    return called, _TAKEN.sub(" ", _OF_COMMAND.sub(" ", rest)), is_meant


_KEYS = re.compile(
    r"^\W*(?:which|what(?:'s)?|list|show|are|is|name|give)\b"
    r"(?: (?:me|all|the|a|an|are|is|there|any|default|available|different|which))*"
    r" (?:(?:keyboard|key|global|menu) )?(?:short-?cuts?(?: keys?)?|hot-?keys?|key-?bindings?|accelerators?"
    r"|key (?:bindings?|combinations?|gestures?|strokes?)|shortcut (?:keys?|combinations?))\b(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)


def keys_asked(question: str) -> str | None:
    """What a question about the shortcuts of a program says of them, '' where it wants all; None for another one."""
    found = _KEYS.match(question.strip())
    return re.sub(r"\b(?:exists?|defined|supported|available)\b", " ", found["rest"]) if found is not None else None


_HUB_METHODS = re.compile(
    r"^\W*(?:which|what|list|show)\b(?=.*(?<!git)hubs?\b)(?=.*\b(?:methods?|call(?:s|able|ed)?|invok\w+)\b)"
    r"(?!.*\b(?:code|classe?s?|services?|controllers?) (?:that )?calls?\b)(?P<rest>.*)$|^\W*(?P<all>hub methods)\W*$",
    re.IGNORECASE | re.DOTALL,
)
_OF_HUBS = root_set(
    "available browser call callable called client clients expose exposed exposes frontend hub invoke invoked offer"
    " method offers provide provides real server signal signalr time websocket"
)


def hub_asked(question: str, words: Sequence[QueryTerm]) -> list[QueryTerm] | None:
    """The words that say which hub's methods a client may call, of a question for these; None for another question."""
    if _HUB_METHODS.match(question.strip()) is None:
        return None
    return [word for word in words if word.root not in _OF_HUBS]


_SCREEN = r"(?:component|control|dialog|form|page|panel|screen|tab|view|window)"
_SHOWN = re.compile(
    rf"^\W*(?:which|what) (?P<noun>{_SCREEN})s? (?:shows?|displays?|lists?|renders?|edits?)"
    r" (?:(?:all|an?|our|the) )*(?P<what>[a-z][a-z -]+?)"
    r"(?:,? and (?:which|what|where|how)\b.*| in (?:the |our )?(?:[\w-]+ )?(?:app\w*|client|front-?end|gui|ui))?\W*$"
    rf"|^\W*where is the (?P<screen>{_SCREEN}) (?:for|of|that shows|with) (?:(?:all|an?|our|the) )*"
    r"(?P<of>[a-z][a-z -]+?)"
    r"(?: in (?:the |our )?(?:[\w-]+ )?(?:app\w*|client|front-?end|gui|ui))?"
    r"(?:,? and (?:which|what|where|how)\b.*)?\W*$",
    re.IGNORECASE,
)


def shown_asked(question: str) -> tuple[str, str]:
    """(what a question calls a part of the user interface, what that is for): `page` and `open orders` of `which page
    shows the open orders?`; two '' for another question."""
    found = _SHOWN.match(question.strip())
    if found is None:
        return "", ""
    return (found["noun"] or found["screen"]).lower(), found["what"] or found["of"]


_FOR_A_THING = re.compile(r"\b(?:for|of|about) (?:(?:the|an?|all|our) )*(?P<thing>\w+(?: \w+)?)\W*$", re.IGNORECASE)


def things_done(rest: str) -> tuple[str, ...]:
    """The words for what a list is wanted for, where they say elsewhere what is done: `for read lists`."""
    found = _FOR_A_THING.search(rest)
    words = found["thing"].lower().split() if found is not None else []
    return tuple(words) if any(map(is_relation_or_manner, words)) else ()


CONTAINERS = root_set(
    "api app application backend code codebase database framework library package persistence persistent",
    "portal product program project repository schema server service site solution storage system tool",
    "website",
)
"""What has all that a repository has, also where nothing is called so."""
APPS = root_set("admin app application client dashboard frontend portal site ui web")
"""What has pages."""
_ALL_THERE = re.compile(r"\b(?:exists?|built[- ]?in|(?:pre-?)?defined|available|known)\b", re.IGNORECASE)
_CONSTANTS = word_set("claim feature permission policy scope")
"""What classes of constants have, beside those."""
_SOLD = frozenset({root("product")})


def enumeration_named(question: str) -> tuple[str, bool]:
    """(what an enumeration is called whose values a question may want a list of, `MailProvider` for `which mail
    providers are supported?` and `Role` for `which roles are there?`; whether it asks for what somebody may choose);
    '' for another question."""
    noun, rest = _noun_of_values(question)
    rest = _ALL_THERE.sub("", rest)
    of_whole = all(root(word) in (CONTAINERS | APPS) - _SOLD for word, _ in telling_words(rest))
    is_meant = " " in noun or (noun in ENUMERATED.keys() | _CONSTANTS and of_whole)
    if not is_meant and noun in _CONSTANTS and (owner := owner_said(noun, rest)):
        return f"{owner}{noun.capitalize()}", False
    return ("".join(map(str.capitalize, noun.split())) if is_meant else "", asks_choice(rest))


OF_ENUMERATIONS = frozenset(
    root(word.lower()) for words in (*ENUMERATED.values(), "Event Option") for word in words.split()
)
"""What the names of enumerations end with and questions seldom say."""
_OF_WHAT_MAY_BE = re.compile(r"^\W*(?:can|may|could)\b|\b(?:possible|supported|allowed)\b", re.IGNORECASE)


def asks_values_of(question: str) -> str:
    """What a question calls the values that something may have or do: `action` in `which actions can a workflow
    perform?`; '' for another question."""
    noun, rest = listed_noun(question)
    last = noun.rpartition(" ")[2]
    return last if last in ENUMERATED or _OF_WHAT_MAY_BE.search(rest) else ""


def values_called(noun: str) -> frozenset[str]:
    """The roots of what the values of an enumeration are called, `state` and `status` for states."""
    return frozenset(map(root, (noun, *map(str.lower, ENUMERATED.get(noun, "").split()))))


_POSSIBLE = re.compile(r"\b(?:accepted|allowed|possible|supported|valid) (?=\w+s\b)", re.IGNORECASE)
_TYPES_OF = re.compile(r"\btypes of\b", re.IGNORECASE)
_OF_ONE_THING = re.compile(r"^ can (?:an?|the) \w+(?: \w+)? (?:be(?: in)?|have|take)\W*$", re.IGNORECASE)
_AND_HOW = re.compile(r"(?<!\W)\W+and (?:in )?(?:what|which)\b.*$", re.IGNORECASE | re.DOTALL)


def values_named(question: str) -> tuple[str, str]:
    """(what a question wants a list of all of, what a type may be called that holds them: `Currency` for `which
    currencies are supported?`); two '' for another question."""
    if called := values_asked(question):
        return "value", called
    noun, rest = _noun_of_values(_TYPES_OF.sub("kinds of", _POSSIBLE.sub("", question)))
    rest = _AND_HOW.sub("", _OF_ONE_THING.sub("", rest))
    of_whole = (CONTAINERS | APPS) - _SOLD
    said = (one for one, _ in telling_words(rest) if not (is_relation_or_manner(one) or _CHOICE.fullmatch(one)))
    is_all = all(root(one) in of_whole for one in said)
    return (noun, "".join(map(str.capitalize, noun.split()))) if is_all else ("", "")


def _noun_of_values(question: str) -> tuple[str, str]:
    """As `listed_noun`, of three words or more too: `toast click action`."""
    noun, rest = listed_noun(question)
    if not noun and (items := items_named(question))[0].count(" ") > 1:
        noun, rest = singular(items[0]), items[1]
    return noun, rest


_ITEMS = re.compile(
    r"^\W*(?:which|what|list|show|name)\b(?: (?:me|all|are|is|the|of|kinds?|sorts?|types?|supported|allowed|valid))*"
    r" (?P<noun>[a-z-]+(?: [a-z-]+){1,3}s)"
    r"(?P<rest> (?:are|belong|can|counts?|do|does|exists?|is|may|qualify|will)\b.*|\W*)$",
    re.IGNORECASE | re.DOTALL,
)


def items_named(question: str) -> tuple[str, str]:
    """(what a question calls in two words or more what a collection may hold, what it says of these); two '' for
    another question."""
    found = _ITEMS.match(question.strip())
    return (found["noun"].lower(), found["rest"]) if found is not None else ("", "")


def without_sort(name: str) -> str:
    """`Severity` of `SeverityLevel`, `Backoff` of `BackoffType`; '' of a name that does not end so."""
    endings = (one.capitalize() for one in (*ENUMERATED, "flag", "toggle"))
    return next((name[: -len(one)] for one in endings if name.endswith(one)), "")


_SECRET = r"(?:(?:api[- ]?)?keys?|passwords?)\b"
"""What an endpoint that wants somebody to be known need not want."""
_PROOF = (
    rf"(?:auth\w*(?: user)?|{_SECRET}|credentials?|logging in|log-?in"
    r"|(?:logged|signed)[- ]in user|signing in|sign-?in|token"
    r"|users? to (?:be (?:authenticated|logged in|signed in)|log in|sign in))"
)
_GUARDED = r"(?:auth(?:enticated|orized)|guarded|protected|secured)"
_BY_WHAT = r"(?:claims?|permissions?|polic(?:y|ies)|roles?|scopes?)\b"
_ENDPOINTS = r"(?:actions?|apis?|endpoints?|routes?|urls?)"
_UNGUARDED = "|".join(
    (
        rf"(?:without|(?:ha(?:s|ve)|needs?|requires?) no) (?:an?y? )?{_PROOF}",
        rf"(?:do|does)(?: not|n['’]t) (?:have|need|require) (?:an?y? )?{_PROOF}",
        rf"(?:not|\w+n['’]t) {_GUARDED}",
        r"(?:is|are) (?:open|public)(?:ly)?",
        r"accessible (?:by|for|to) (?:any|every)\w+",
        r"anonymous(?:ly)?|un(?:authenticated|guarded|protected|secured)",
    )
)
_OF_ACCESS = re.compile(
    r"\b(?P<what>(?:which|what)(?: user)? (?:permissions?|policy|policies|rights?|roles?|scopes?))\b.*"
    r"\b(?:allowed|allows?|can|call|guards?|may|must|needs?|needed|protects?|requires?|required)\b(?!.*\bhave\W*$)"
    r"|\bwho (?:(?:is|are) (?:allowed|permitted) to|can|may)\b"
    rf"|\b(?P<open>{_ENDPOINTS}\b.*\b(?:{_UNGUARDED})"
    rf"|(?:all|each|every)(?: of)?(?: the| our)? {_ENDPOINTS} (?:is |are )?{_GUARDED}"
    rf"|anonymous \w+ (?:access|call|reach|use)|(?:called|reached) without {_PROOF})\b"
    rf"|\b(?P<guarded>{_ENDPOINTS}\b.*\b(?:(?:needs?|requires?) (?:an? )?(?!{_SECRET}){_PROOF}"
    rf"|(?:is|are) {_GUARDED}))\b"
    rf"(?!.*\b{_BY_WHAT})",
    re.IGNORECASE,
)
_ACCESS_WORDS = root_set(
    "access allow allowed api authorization call called can endpoint endpoints guard guards http list may must need"
    " needed needs permission permitted policy protect protects require required requires right rights role route"
    " routes scope see through url urls via view",
)
_OPEN_WORDS = root_set(
    "accessible action actions all any anybody anyone anonymous anonymously aren auth authenticated authentication"
    " authorization authorized credential credentials every everybody everyone guarded have in log logging login"
    " need needs no not open protected public publicly reach reachable reached require requires secured sign"
    " key keys logged password passwords signed signing token unauthenticated unguarded unprotected unsecured use user"
    " users visitor without",
)
WHOLE = ("open", "guarded")
"""What is asked of all endpoints."""


def access_asked(question: str, words: Sequence[QueryTerm]) -> tuple[str, list[QueryTerm]]:
    """(`what` for the permission, the role or the policy that something needs, `who` for who may do it, `open` for what
    anybody may call, `guarded` for what not; the words for that of which it is asked); '' for another question."""
    found = _OF_ACCESS.search(question)
    if found is None:
        return "", []
    asks = next((one for one in ("open", "guarded", "what") if found[one]), "who")
    beside = _ACCESS_WORDS | roots_of(found["what"] or "") | (_OPEN_WORDS if asks in WHOLE else frozenset())
    return asks, [word for word in words if word.root not in beside]


_ENDPOINT_FOR = re.compile(
    rf"^\W*(?:which|what)(?: is the)? (?:(?:api|http|rest|web) )?{_ENDPOINT} (?:call )?"
    r"(?!is\b|are\b|does\b|do\b (?!i\b)|(?:endpoint|route|url)s?\b)"
    r"(?:(?:should|do|must|can) (?:i|we|you|clients?|one) (?:call|use|hit)|is (?:called|used))?(?P<does>.+)$",
    re.IGNORECASE,
)
_OF_CALLS = word_set(
    "all allow allows called each endpoint every exist existing handle handles let lets new one request route serves"
    " used url"
)
_ONE = re.compile(r"\b(?:an?|one|single)\b", re.IGNORECASE)


def endpoint_asked(question: str) -> tuple[list[str], bool]:
    """(the words for what an endpoint does that a question asks for, whether to one thing); none for another one."""
    found = _ENDPOINT_FOR.match(question.strip())
    does = found["does"] if found is not None else ""
    words = [word for word in re.findall(r"[a-z]\w*", does.lower()) if word not in FUNCTION_WORDS]
    return [word for word in words if word not in _OF_CALLS], _ONE.search(does) is not None


_VALIDATED = re.compile(
    r"^\W*how (?:is|are|does \S+|do (?:we|you)|does the \w+) (?P<what>.+?) (?:is )?validated\b.*$"
    r"|^\W*how (?:does (?:it|the \w+)|do (?:we|you)) validate (?P<object>.+)$"
    r"|^\W*(?:which|what)(?: are)?(?: the)? validation(?: rule)?s\b(?P<of>.+)$"
    r"|^\W*what (?:is|gets) validated (?:for|in|of|on|when) (?P<on>.+)$"
    r"|^\W*(?:which|what) rules (?:validate|must|should|does|do) (?P<rules>.+)$"
    r"|^\W*(?:which|what)(?: are)?(?: the)? (?:constraints|rules) (?:for|of|on) (?P<ruled>.+)$"
    r"|^\W*(?:which|what)(?: are)?(?: the)? (?P<own>\w+) (?:constraints|requirements|rules)\W*$"
    r"|^\W*(?:which|what) (?:fields|properties) (?:in|of|on) (?P<fields>.+?) (?:are|is) (?:required|validated)\W*$"
    r"|^\W*what does (?:an?|the) (?P<form>.+?) (?:dialog|form|modal|page) validate\W*$"
    r"|^\W*what (?:can|may|must|should) (?:an?|the) (?P<like>.+?) (?:have to |need to )?look like\b.*$",
    re.IGNORECASE,
)
_OF_VALIDATION = root_set(
    "before body check created data exist field form have input meet model new payload posted property request",
    "rule saved sent submitted user validate validated validation value",
)


def validated_asked(question: str, words: Sequence[QueryTerm]) -> list[QueryTerm]:
    """The words for that of which a question asks by which rules it is validated; none for another question."""
    found = _VALIDATED.match(question.strip())
    said = roots_of(next(filter(None, found.groups()), "")) if found is not None else frozenset()
    about = said - _OF_VALIDATION or (said & {root("user")} if "input" not in said else frozenset())
    return [word for word in words if word.root in about and is_subject(word)]


_WAY = re.compile(
    r"^\W*how does (?:an?|the) (?P<what>.+? )??(?:request|call)(?P<to> (?:for|of|that|to|which) .+?)?"
    r" (?:flow|get|go|move|pass|propagate|run|travel)\b.*$"
    r"|^\W*(?:trace|follow|walk (?:me|us) through|show(?: me)? the (?:flow|path|way) of) (?:an?|the)"
    r" (?P<traced>.+? )??(?:request|call)(?P<of>(?: (?:for|of|that|to|which))?.*?)(?: (?:from|through)\b.*)?$",
    re.IGNORECASE,
)
_OF_REQUESTS = root_set("api application call endpoint http incoming request service system web")


def request_flow_asked(question: str, words: Sequence[QueryTerm]) -> list[QueryTerm]:
    """The words for the request of which a question asks what it comes to; none for another question."""
    found = _WAY.match(question.strip())
    about = roots_of(" ".join(filter(None, found.groups()))) - _OF_REQUESTS if found is not None else frozenset()
    return [word for word in words if word.root in about]


_GRANTED = frozenset({"claim", "permission", "policy", "role"})


def granted_asked(question: str, words: Sequence[QueryTerm]) -> tuple[str, list[QueryTerm]]:
    """(`role`, `policy`, `claim` or `permission`, the words for what needs them) of a question for a list of these; ''
    for another question."""
    noun, rest = listed_noun(question)
    sort, _, last = f" {noun}".rpartition(" ")
    if last not in _GRANTED or sort.strip() not in ("", "access", "auth", "authorization", "user"):
        return "", []
    about = roots_of(rest) - _ACCESS_WORDS - _CONTAINER
    return last, [word for word in words if word.root in about and is_subject(word)]


_CHOICE = re.compile(r"\b(?:supports?|supported|accepted|allowed)\b|\bcan (?:i|we|you|one|it) \w+", re.IGNORECASE)


def asks_choice(rest: str) -> bool:
    """Whether a list is wanted of what somebody may choose, which is no list of types that are called so."""
    return _CHOICE.search(rest) is not None


_ERROR = re.compile(r"\w*(?:Exception|Error|Fault)|Err[A-Z]\w*|[A-Z]+_ERR_\w+")
_CALLED_ERROR = re.compile(r"(?<![\w.])([\w.]++) (?:exception|error|fault)\b", re.IGNORECASE)
_ASKS_OF_ERROR = re.compile(
    r"\b(?:thrown?|throws?|rais(?:ed?|es)|caught|catch(?:es)?|handle[ds]?|get|happens?|returned|comes?|message|mapped)\b",
    re.IGNORECASE,
)
_THROWN = re.compile(r"\b(?:thrown?|throws|raised?|raises|caught|catch(?:es)?)\b", re.IGNORECASE)
asks_what_is_thrown = recognizer(
    r"^\W*(?:what|which)(?: (?!events?\b|notifications?\b|signals?\b)\w+)? (?:does|do|can|could|may|might|will) .+"
    r" (?:throw|raise)(?: (?:for|if|in case|on|unless|when|while)\b.*)?\W*$"
    r"|^\W*(?:what|which) (?:exceptions|errors) (?:are|is|can be) (?:thrown|raised) (?:by|in) \S+\W*$"
)
"""Whether a question is about the errors that something named throws."""
asks_which_are_thrown = recognizer(
    r"\b(?:which|what)(?: (?:kinds?|types?|sorts?) of)? (?:errors|exceptions)\b.*\b(?:thrown?|throws|raised?|raises)\b"
)
"""Whether a question wants a list of errors."""


def errors_asked(question: str, names: Sequence[str]) -> list[str]:
    """The errors among some names, where a question asks when they are thrown or who catches them: all names where it
    says so, as not all errors are called errors."""
    if _THROWN.search(question):
        return list(names)
    called = {found[1] for found in _CALLED_ERROR.finditer(question)}
    return (
        [name for name in names if _ERROR.fullmatch(name) or name in called] if _ASKS_OF_ERROR.search(question) else []
    )


_THROWER = re.compile(
    r"\b(?:can|could|did|do|does|may|might|should|will|would) (?:the |an? )?(?P<by>[\w.]+)(?: [a-z]+)?"
    r" (?:(?:ever|not|never) )?(?:(?P<catches>catch)|raise|throw)\b",
    re.IGNORECASE,
)


def thrower_asked(question: str) -> tuple[str, bool]:
    """(what throws or catches an error as a question says, whether it catches it); '' where it says it of nothing."""
    found = _THROWER.search(question)
    return (found["by"], found["catches"] is not None) if found is not None else ("", False)


asks_failed_validation = recognizer(
    r"^\W*what (?:happens|does .+ (?:do|return|answer))\b.*"
    r"(?:\bvalidation\b.*\bfails?\b|\bfails? (?:the |its )?validation\b"
    r"|\b(?:not valid|invalid)\W*$|\binvalid (?:body|command|data|form|input|payload|request)s?\b)"
)
"""Whether a question is for what comes of input that is not valid."""
_MESSAGE = (
    r"(?:signal )?\S+(?: \w+){0,2}?"
    r"(?: (?:commands?|quer(?:y|ies)|events?|messages?|notifications?|requests?|signals?))?"
)
_HANDLING = r"(?:handles?|consumes?|process(?:es)?|receives?|subscribes? to|listens? (?:to|for)|reacts? to)"
asks_handler = recognizer(
    rf"^\W*(?:who|what|(?:which|what) \w+(?: \w+)?) {_HANDLING} (?:the |an? )?{_MESSAGE}\W*$"
    rf"|^\W*(?:where|by (?:what|whom)|how) (?:is|are) (?:the )?{_MESSAGE} (?:handled|consumed|processed|received)\W*$"
    r"|^\W*(?:what|which|who)(?: is| are)? (?:the )?(?:handlers?|consumers?|subscribers?) (?:of|for) (?:the )?"
    rf"{_MESSAGE}\W*$"
    rf"|^\W*(?:what|which \w+) (?:is|are) (?:connected|subscribed) to (?:the )?{_MESSAGE}\W*$"
    rf"|^\W*(?:what|which) (?:handlers?|receivers?|subscribers?) does (?:the )?{_MESSAGE} have\W*$"
)
"""Whether a question is for what handles a message. Nothing may follow that asks for more."""
_SENDING = r"(?:dispatche|emit|enqueue|fire|produce|publishe?|raise|send|trigger)"
asks_sender = recognizer(
    rf"^\W*(?:who|what|(?:which|what) \w+(?: \w+)?) {_SENDING}s (?:out )?(?:the |an? )?{_MESSAGE}\W*$"
    rf"|^\W*(?:where|by (?:what|whom)) (?:is|are|gets?) (?:the )?{_MESSAGE}"
    r" (?:dispatched|emitted|enqueued|fired|produced|published|raised|sent)\W*$"
    rf"|^\W*(?:what|which|who)(?: is| are)? (?:the )?(?:emitters?|producers?|publishers?|senders?) of (?:the )?"
    rf"{_MESSAGE}\W*$"
)
"""Whether a question is for what sends a message. Nothing may follow that asks for more."""
asks_endpoints_reaching = recognizer(
    r"^\W*(?:which|what) (?:(?:api|http|rest|web) )?(?:apis?|controllers?|endpoints?|routes?|urls?)"
    r" (?:(?:are|can|do|does|is|that|will|would) )*(?:affected|breaks?|calls?|depends?|end|execute|hits?"
    r"|impacted|leads?|needs?|reach(?:es)?|rely|runs?|touch(?:es)?|uses?|using)\b"
)
"""Whether a question is for the endpoints that lead to something."""
_SAID_OF_OUTSIDE = re.compile(
    r"\b(?:throws?|raises?|catch(?:es)?|handles?|implements?|extends?|(?:derives?|inherits?)(?: from)?)"
    r" (?:the |an? |our )?(?P<said>[a-z]+(?: [a-z]+){1,4}?)(?: (?:interface|class))?\W*$"
    r"|^\W*where (?:is|are) (?:the |an? )?(?P<what>[a-z]+(?: [a-z]+){0,3} (?:error|exception))"
    r" (?:thrown|raised|caught)\W*$",
    re.IGNORECASE,
)


def outside_name_said(question: str) -> tuple[str, ...]:
    """What a question of who throws, catches or implements something that may be of a library would be called:
    `the db update exception` → `DbUpdateException`, and as an interface of .NET."""
    found = _SAID_OF_OUTSIDE.search(question)
    words = (found["said"] or found["what"]).split() if found is not None else ()
    name = "".join(word[:1].upper() + word[1:] for word in words)
    return (name, f"I{name}") if name else ()


asks_who_catches = recognizer(r"\b(?:caught|catch(?:es)?|handle[ds]?|mapped|status)\b")
_WORKING = (
    r"(?:the |our |your )?([a-z]+(?: [a-z]+)??)"
    r"(?: (?:code|feature|flow|logic|module|process|service|system|workflow))?"
)
_ASKS_FEATURE = re.compile(
    rf"\W*(?:how (?:do|does) {_WORKING} work|how (?:is|are) {_WORKING}"
    r" (?:built|handled|implemented|managed|organi[sz]ed|structured|supported)"
    rf"|(?:describe|explain|give me an overview of|tell me about|walk me through) (?:how )?{_WORKING}(?: works?)?)"
    r"(?: here| in detail| in this \w+)?\W*",
    re.IGNORECASE,
)


def feature_asked(question: str) -> str:
    """`checkout` of `how does the checkout flow work?`; '' of another question."""
    found = _ASKS_FEATURE.fullmatch(question)
    return next(filter(None, found.groups()), "") if found else ""


def is_subject(word: QueryTerm) -> bool:
    """Whether a word is what a question is about, and not what is asked about it."""
    return not is_relation_or_manner(word.word)


def says_something(text: str) -> bool:
    """Whether a text has a word that tells something, in any language."""
    return any(True for _ in telling_words(text))


_LONGEST_LACK = 100
_WHAT_LACKS = re.compile(
    r"^\W*(?:which|what|list|show me|are there|is there)(?: (?:all|any|the|our|of))* (?!happens\b)\w[\w-]*"
    r"(?: [\w-]+){0,2}?(?: (?:that|which|who))?"
    r" (?:(?:has|have|with) (?:no|more than|fewer than|less than|at least|exactly|several|multiple|only)"
    r"|without(?! (?:an? |any )?\w+ing\b)|lacks?|never|(?:is|are|has|have|was|were|gets?) (?:never|missing)"
    r"|(?:do|does)(?:n't| not) have|(?:is|are) un[a-z]+ed|(?:is|are)(?:n't| not) (?:awaited|called|covered|disposed"
    r"|documented|handled|implemented|indexed|injected|mapped|published|referenced|registered|tested|used|validated))\b",
    re.IGNORECASE,
)


def asks_what_lacks(question: str) -> bool:
    """Whether a question is for those of many that have not something, or so many of it, which no single place says."""
    return len(question) < _LONGEST_LACK and _WHAT_LACKS.match(question) is not None


_BARE_LIST = re.compile(
    r"^\W*(?:which|what|list|show|how many)\b(?: (?:me|all|any|the|are|different|kinds? of|types? of|sorts? of))*"
    r" (?P<noun>[a-z][\w-]*(?: [a-z][\w-]*){0,2}?s) (?:are (?:there|defined|used|available)|exist"
    r"|(?:do|does) (?:it|we|this \w+|the (?:api|app\w*|product|project|service|system))"
    r" (?:contain|define|have|offer|provide))"
    r"(?: (?:here|in (?:this|the) (?:project|code(?: ?base)?|repo\w*|app\w*|system)))?\W*$",
    re.IGNORECASE,
)


def bare_list_noun(question: str) -> str:
    """`value objects` of `which value objects are there?`, of a question for a list of all; '' of another question."""
    found = _BARE_LIST.match(question)
    return found["noun"] if found is not None else ""


_WHOLE = (
    r"(?:the|this|our|my|your) (?:whole |entire )?(?:app|application|code|code ?base|product|project|repo|repository"
    r"|solution|source|system|workspace)"
)
_LISTS = re.compile(
    r"\W*(?P<lead>(?:(?:which|how many|what(?! are (?!all|its|our|the))|where)"
    rf"(?: (?:are|is|do|about))? |(?:(?:are|is) there|do (?:we|you) have|does (?:it|{_WHOLE}) have) "
    r"|(?:(?:please|can|could|would|you|i|we|i['’]d|need|want|like|to) ){0,5}+"
    r"(?:(?:enumerate|find|get|give|have|know|list|name|print|see|show|tell)(?: (?:me|us|about))? )?+"
    r"(?:(?:an? |the )?(?:full |complete |short )?list of )?+)"
    r"(?:(?:all|any|every|of|the|our|its|some|different|available|existing|currently) ){0,3}+)"
    r"(?P<sort>[\w.-]+(?: [\w.-]+){0,2}?)"
    r"(?: (?:there|here|please|available|(?:are|is) there|(?:are|is)(?= in )"
    r"|(?:(?:that|which) )?(?:(?:are|is) )?(?:declared|defined|exist|found|kept|live|located|sit|used)"
    rf"|(?:(?:that|which) )?(?:we|you|it|{_WHOLE}) (?:have|has|defines?|uses?)"
    rf"|(?:do|does|can) (?:i|we|you|it|{_WHOLE}) (?:contain|define|find|have|know|offer|provide|use)"
    rf"|(?:in|of|inside|within|from|by) {_WHOLE})){{0,4}}\W*",
    re.IGNORECASE,
)
"""The ways in which people ask for a list of all of a sort."""
_MEANS_MORE = re.compile(r"\W*(?:where|how many|are|is|do|does)\b", re.IGNORECASE)
"""Where, how many or whether they are: other plans may tell just that."""
_LONGEST_LIST = 120


def list_asked(question: str, *, plainly: bool = False) -> str:
    """`which value objects are there?` for any question that wants a list of all of a sort, `can you list the value
    objects?`, `value objects`; '' for others, and if `plainly` for those that may want something else."""
    found = _LISTS.fullmatch(question) if len(question) < _LONGEST_LIST else None
    if found is None or (plainly and (not found["lead"] or _MEANS_MORE.match(question))):
        return ""
    sort = found["sort"].split()
    are_plural = [singular(word) != word for word in sort]
    if not are_plural.pop() or any(are_plural) or not {word.lower() for word in sort}.isdisjoint(SAYS_NOTHING):
        return ""
    is_name = sort[0][0].isupper() and not sort[0].rstrip("s").isupper()
    return "" if is_name and not found["lead"] else f"which {' '.join(sort)} are there?"


_RELATED_TO = {
    "who calls {}?": ("callers",),
    "who uses {}?": ("references", "usages", "users", "uses"),
    "what implements {}?": ("implementations", "implementers", "implementors"),
    "what derives from {}?": ("derived classes", "inheritors", "subclasses"),
    "what overrides {}?": ("overrides",),
    "which tests cover {}?": ("tests",),
    "what does {} depend on?": ("dependencies",),
    "who handles {}?": ("consumers", "handlers", "subscribers"),
    "who publishes {}?": ("publishers", "senders"),
    "which endpoints does {} have?": ("endpoints", "routes"),
    "which methods does {} have?": ("functions", "methods"),
    "which constructors does {} have?": ("constructors",),
}
_USUALLY = {noun: asked for asked, nouns in _RELATED_TO.items() for noun in nouns}
_NAME_WITH_NOUN = re.compile(
    rf"\W*(?:(?:(?P<noun>(?i:{'|'.join(_USUALLY)})) (?:of|for|to) `?(?P<name>[A-Z][\w.]*\w)`?)"
    rf"|(?:`?(?P<called>[A-Z][\w.]*\w)`?(?:['’]s)? (?P<what>(?i:{'|'.join(_USUALLY)}))))\W*"
)
_DOING = re.compile(
    r"\W*(?:what|who) is (?P<does>call|implement|handl|publish|us|overrid)ing `?(?P<name>[A-Z][\w.]*\w)`?\W*",
    re.IGNORECASE,
)


def relation_asked(question: str) -> str:
    """`who calls Clock.Now?` for `callers of Clock.Now` and `Clock.Now callers`; '' for other questions."""
    if (found := _NAME_WITH_NOUN.fullmatch(question)) is not None:
        return _USUALLY[(found["noun"] or found["what"]).lower()].format(found["name"] or found["called"])
    if (doing := _DOING.fullmatch(question)) is not None:
        verb = doing["does"].lower()
        ending = "es" if verb in ("handl", "publish", "us", "overrid") else "s"
        return f"who {verb}{ending} {doing['name']}?"
    return ""
