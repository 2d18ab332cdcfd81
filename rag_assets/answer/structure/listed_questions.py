"""Which questions are for a list that only a project as a whole has: where it starts, what of its code stands out.
Pure."""

from __future__ import annotations

import re
from enum import Enum, auto

from rag_assets.answer.whole_project import NOUNS


class Listed(Enum):
    """A list that only a project as a whole has. `SCRIPTS` are those of a package, `TARGETS` those of a Makefile,
    `BUILD_TARGETS` of a build that is code; the others are measures of its code (`answer.structure.measures`)."""

    ENTRY_POINTS = auto()
    CENTRAL_TYPES = auto()
    SCRIPTS = auto()
    TARGETS = auto()
    BUILD_TARGETS = auto()
    LONGEST_FILES = auto()
    MOST_CALLED = auto()
    UNUSED = auto()
    UNUSED_TYPES = auto()
    UNUSED_METHODS = auto()
    CIRCLES = auto()
    HOT_SPOTS = auto()
    LARGEST_FOLDERS = auto()
    LARGEST_PROJECTS = auto()
    OLDEST_FILES = auto()
    DUPLICATED = auto()
    UNCAUGHT = auto()
    UNDOCUMENTED = auto()
    UNDOCUMENTED_TYPES = auto()
    UNDOCUMENTED_METHODS = auto()


_HERE = (
    r"(?: (?:are |is )?(?:there|here|left|open)| exist| (?:are |is )?(?:in|of|to|for|does|has)"
    rf" (?:it|(?:this|the|our|its)(?: whole)? (?:code|code base|{NOUNS}))(?: have)?)*\W*$"
)
"""What may follow the noun of a list where all of it is wanted."""
_LISTING = r"(?:(?:what|which|list|show|name|are|is|me|the|all|of|available) )*"
_RUNNABLE = r"(?: can (?:i|we|you) (?:run|use))?"
_CENTRAL = (
    r"(?:(?:most (?:often |heavily |widely )?|heavily |widely )(?:important|central|used|referenced|depended on)"
    r"|important|central|main|core)"
)
_TYPES, _METHODS = "(?:class|type|service|component)(?:es|s)?", "(?:method|function)s?"
_FOLDERS, _PROJECTS = "(?:folders?|director(?:y|ies))", "(?:projects?|modules?|packages?|assembl(?:y|ies)|crates?)"
_FILES = "(?:(?:source |code )?files?|classes|types|code|parts? of (?:the|our) code)"
_DOCUMENTATION = (
    r"(?:(?:xml|doc|api|code)[ -]?)*(?:documentation|docs?|comments?|docstrings?|summar(?:y|ies)|javadocs?|jsdocs?"
    r"|docblocks?)"
)
_A_TIME = (
    r" since [\w ]+?| (?:for|in|within) (?:(?:an?|the|last|past|over|more than|at least|many|several|some|\d+|very|one"
    r"|two|three|five|six|ten) )*(?:long(?:est)?(?: time)?|ages|while|days?|weeks?|months?|years?)"
)
_LONG = r"(?:(?:too |very |really )?(?:big|large|long)(?:ger|est|gest|r)?|largest|most (?:complex|complicated)|complex)"


def _superlative(how: str, noun: str) -> re.Pattern[str]:
    """`the longest methods`, `which methods are the longest`."""
    return re.compile(
        rf"^(?:(?:what|which|list|show|find|give|are|is|me|the|all|our|top|\d+) )*{how} {noun}{_HERE}"
        rf"|^(?:what|which) (?:of (?:the|our) )?{noun} (?:is|are|has|have|gets?)(?: got)? (?:the )?{how}(?: ones?)?"
        + _HERE,
        re.IGNORECASE,
    )


def _with_most(noun: str) -> re.Pattern[str]:
    """`the largest folders`, `which folder has the most files`."""
    return re.compile(
        rf"{_superlative(_LONG, noun).pattern}"
        rf"|^(?:what|which) {noun} (?:has|have|holds?|contains?) (?:the )?(?:most|(?:majority|bulk) of(?: the)?)"
        rf" (?:(?:source |of the )?code|files?|lines(?: of code)?|classes|types){_HERE}",
        re.IGNORECASE,
    )


def _unused(noun: str) -> re.Pattern[str]:
    """`is there dead code`, `which methods are never called`."""
    return re.compile(
        r"^(?:(?:what|which|list|show|find|where|are|is|there|any|me|the|all|do|we|have) )*"
        rf"(?:unused|dead|unreferenced|unreachable|never (?:used|called|referenced)) {noun}{_HERE}"
        rf"|^(?:what|which) {noun} (?:is|are|gets?) (?:never|not|no longer) (?:used|called|referenced|needed|invoked)"
        rf"(?: by anything| anywhere| any ?more)?{_HERE}"
        rf"|^(?:what|which) {noun} (?:(?:has|have) no|without(?: any)?) (?:callers?|references?|usages?|uses?){_HERE}"
        rf"|^(?:what|which) {noun} does (?:nobody|nothing|no one) (?:call|use|reference){_HERE}",
        re.IGNORECASE,
    )


def _undocumented(noun: str) -> re.Pattern[str]:
    """`which public methods have no comments`, `how much of the API is documented`."""
    asks = r"^(?:(?:what|which|list|show|find|where|are|is|there|any|me|the|all|how many) )*"
    said, noun = r"(?:documented|commented)", rf"(?:(?:public|exported|external) )*{noun}"
    return re.compile(
        rf"{asks}(?:undocumented|uncommented) {noun}{_HERE}"
        rf"|{asks}{noun} (?:(?:that|which) )?(?:(?:do|does|is|are|has|have)(?:n't| not) (?:have (?:any |an? )?)?"
        rf"(?:{said}|{_DOCUMENTATION})|(?:is|are) (?:undocumented|uncommented|missing (?:any )?{_DOCUMENTATION})"
        rf"|(?:(?:has|have|with) no|without|lacks?|lacking|misses|missing)(?: any| an?)? {_DOCUMENTATION}){_HERE}"
        rf"|^(?:how (?:much|many|well)|what (?:percentage|share|part|proportion))(?: of)?(?: the| our| its)? {noun}"
        rf" (?:is|are|has|have) (?:{said}|{_DOCUMENTATION}){_HERE}",
        re.IGNORECASE,
    )


_LISTED = {
    Listed.ENTRY_POINTS: re.compile(
        rf"^where do(?:es)? (?:it|everything|execution|(?:the|this|our) (?:code|{NOUNS})) (?:start|begin)(?: up)?\W*$"
        rf"|^(?:(?:wh\w+|list|show|is|are|me|all|the|main) )*entry ?points?{_HERE}"
        rf"|^where is (?:the )?main (?:function|method|file|program|class){_HERE}",
        re.IGNORECASE,
    ),
    Listed.CENTRAL_TYPES: re.compile(
        rf"^(?:(?:what|which|list|show|are|is|me|the|all) )*{_CENTRAL} (?:class|type)(?:es|s)?{_HERE}"
        rf"|^(?:what|which) (?:classes|types|services) (?:are|is) (?:the )?{_CENTRAL}(?: ones)?(?: the)?(?: most)?"
        r"(?: often)?\W*$|^(?:what|which) (?:classes|types|services) (?:are|is) used (?:the )?most(?: often)?\W*$",
        re.IGNORECASE,
    ),
    Listed.LONGEST_FILES: _superlative(_LONG, "(?:source |code )?(?:file|module)s?"),
    Listed.MOST_CALLED: _superlative(
        r"(?:most (?:often |frequently )?(?:called|used)|(?:called|used) (?:the )?most(?: often)?)", _METHODS
    ),
    Listed.UNUSED: _unused("code"),
    Listed.UNUSED_TYPES: _unused(_TYPES),
    Listed.UNUSED_METHODS: _unused(_METHODS),
    Listed.CIRCLES: re.compile(
        r"^(?:(?:what|which|list|show|find|where|are|is|there|any|me|the|all|do|does|we|it|have|has) )*"
        rf"(?:circular|cyclic) (?:dependenc(?:y|ies)|references?|imports?){_HERE}"
        rf"|^(?:(?:are|is|there|any|which|what|find|show|the|do|we|have) )*dependency (?:cycles?|circles?|loops?)"
        + _HERE,
        re.IGNORECASE,
    ),
    Listed.HOT_SPOTS: re.compile(
        rf"^(?:(?:what|which|where|list|show|are|is|me|the|our|any|there) )*hot ?spots?(?: of (?:the|our) code)?{_HERE}"
        r"|^(?:what|which) (?:files?|parts|code) (?:is|are|gets?|change|changes|was|were)"
        rf"(?: changed)? (?:the )?most(?: often| frequently)?(?: changed)?{_HERE}",
        re.IGNORECASE,
    ),
    Listed.LARGEST_FOLDERS: re.compile(
        rf"{_with_most(_FOLDERS).pattern}"
        r"|^where (?:is|does|lives?|lies?) (?:most|the (?:bulk|majority)) of (?:the|our|its) (?:source )?code"
        r"(?: live| lie| sit)?"
        rf"{_HERE}",
        re.IGNORECASE,
    ),
    Listed.LARGEST_PROJECTS: _with_most(_PROJECTS),
    Listed.OLDEST_FILES: re.compile(
        rf"{_superlative(r'(?:oldest|stalest|least recently (?:chang|edit|modifi|touch|updat)ed)', _FILES).pattern}"
        rf"|^(?:(?:what|which|list|show|are|me|the|all|there|any|is) )*{_FILES} (?:(?:that|which) )?"
        r"(?:(?:has|have|had|was|were|did)(?:n't| not| never)(?: been)?|(?:is|are) (?:not|never)) "
        rf"(?:chang|edit|modif|touch|updat)\w+(?:{_A_TIME})?(?: lately| recently)?\W*$",
        re.IGNORECASE,
    ),
    Listed.DUPLICATED: re.compile(
        r"^(?:(?:what|which|where|list|show|find|are|is|there|any|me|the|all|our|do|we|have|has|it) )*"
        rf"(?:duplicate(?:d|s)?|repeated|copied|copy[- ]?pasted?|redundant) (?:code|{_METHODS}|logic|blocks?){_HERE}"
        rf"|^(?:what|which) (?:code|{_METHODS}|parts?) (?:is|are|has been|have been) (?:duplicated?|repeated|copied"
        rf"|copy[- ]?pasted|identical|the same|written twice)(?: anywhere)?{_HERE}"
        rf"|^(?:(?:what|which|where|is|are|there|any|the|much) )*(?:code )?duplication{_HERE}",
        re.IGNORECASE,
    ),
    Listed.UNCAUGHT: re.compile(
        r"^(?:(?:what|which|list|show|find|where|are|is|there|any|me|the|all|do|we|have|custom|thrown) )*"
        rf"(?:(?:uncaught|unhandled|never caught|never handled) (?:exception|error)s?(?: types?)?{_HERE}"
        r"|(?:exception|error)s?(?: types?)? (?:(?:that|which) )?(?:(?:is|are|gets?) (?:thrown (?:and|but) )?)"
        rf"(?:never|not|nowhere)(?: ever)? (?:caught|handled)(?: anywhere| by anything)?{_HERE})",
        re.IGNORECASE,
    ),
    Listed.UNDOCUMENTED_TYPES: _undocumented(_TYPES),
    Listed.UNDOCUMENTED_METHODS: _undocumented(_METHODS),
    Listed.UNDOCUMENTED: _undocumented(
        rf"(?:apis?|members?|code|interfaces?|(?:{_TYPES}|{_METHODS}|members?)(?: (?:and|or) (?:{_TYPES}|{_METHODS}))?)"
    ),
    Listed.SCRIPTS: re.compile(rf"^{_LISTING}(?:npm|pnpm|yarn|bun|composer) scripts{_RUNNABLE}{_HERE}", re.IGNORECASE),
    Listed.TARGETS: re.compile(
        rf"^{_LISTING}(?:make(?:file)?|just(?:file)?) (?:targets|recipes|commands){_RUNNABLE}{_HERE}", re.IGNORECASE
    ),
    Listed.BUILD_TARGETS: re.compile(
        rf"^{_LISTING}(?:build|cake|fake|nuke) (?:targets|tasks){_RUNNABLE}{_HERE}", re.IGNORECASE
    ),
}


def listed_of_whole(question: str) -> Listed | None:
    """What a question wants a list of that only a project as a whole has."""
    asked = " ".join(question.split())
    return next((listed for listed, pattern in _LISTED.items() if pattern.search(asked)), None)
