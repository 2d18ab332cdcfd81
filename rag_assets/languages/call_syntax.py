"""The calls that code writes, in languages without a resolver: which name is called, and on what.

Read with patterns from a text without comments and strings, so that one reader serves all languages. What they mean is
found by `graph.extract.calls`. Pure; never raises for any text, and takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rag_assets.identifiers import word_set
from rag_assets.languages.by_pattern.comments import masked
from rag_assets.languages.by_pattern.table import PATTERNS
from rag_assets.languages.code_imports import IMPORTS

_LONGEST = 400_000
"""In characters: longer files are data or made by a program."""
_MOST_COUNTED = 500
"""Characters in which the arguments of a call must end to be counted."""


@dataclass(frozen=True, slots=True)
class CallSyntax:
    """How a language calls. `family`: languages that call each other. `imported`: what another file declares is called
    by a name that the file imports; `packaged`: without it only what files of its folder declare. `own_members`: a name
    alone may mean a member of the type around it. `words`: calls need no parentheses."""

    family: str
    comments: str
    imported: bool = False
    packaged: bool = False
    own_members: bool = True
    words: bool = False


_SCRIPT = CallSyntax("javascript", "javascript", imported=True, own_members=False)
_SYNTAX = {
    "go": CallSyntax("go", "go", packaged=True, own_members=False),
    "java": CallSyntax("jvm", "kotlin", imported=True),
    "python": CallSyntax("python", "python", imported=True, own_members=False),
    **dict.fromkeys(("javascript", "svelte", "tsx", "typescript", "vue"), _SCRIPT),
    **{name: CallSyntax("jvm", PATTERNS[name].comments) for name in ("groovy", "kotlin", "scala")},
    **{name: CallSyntax("c", "c") for name in ("c", "cpp", "objectivec")},
    "rust": CallSyntax("rust", "rust", imported=True, own_members=False),
    **{name: CallSyntax(name, PATTERNS[name].comments) for name in ("dart", "swift", "vb")},
    **{name: CallSyntax(name, PATTERNS[name].comments, own_members=False) for name in ("elixir", "lua", "php", "zig")},
    **{
        name: CallSyntax(name, PATTERNS[name].comments, words=True)
        for name in ("fsharp", "haskell", "powershell", "ruby", "shell")
    },
}


def syntax_of(language: str) -> CallSyntax | None:
    """How a language calls; None for those whose calls are not read."""
    return _SYNTAX.get(language)


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call at an offset of the text; its arguments begin at `end`. `of` is the last name of what stands before the
    dot, `()` behind it where that is a call itself, '' for anything else; None where nothing stands before the name.
    `is_new`: a type is made; `has_list`: arguments stand in parentheses; `is_declared`: a word says that it is none;
    `is_value`: it is not called here, but given away."""

    name: str
    of: str | None
    at: int
    end: int
    is_new: bool = False
    has_list: bool = True
    is_declared: bool = False
    is_value: bool = False


_INDENT = 80
_DOT = r"(?:[?!&]?\.|->|::)"
_BEFORE = (
    rf"(?:(?P<of>@{{0,2}}[\w$]+)(?:\[[^\[\]\n]{{0,40}}\])?\s*{_DOT}\s*|"
    rf"(?P<some>[)\]}}\"'`])\s*{_DOT}\s*|(?P<word>\w+)[ \t]+)?"
)
_NESTED = re.compile(r"[()]")
_CALL = re.compile(
    rf"(?<![\w$~]){_BEFORE}(?<![\w$~])(?P<name>[A-Za-z_$][\w$]*)(?:::)?(?:[<\[][\w\s,.:&*?]{{0,80}}[>\]])?[ \t]?\("
)
_VALUE = re.compile(
    r"(?:[(,=:\[{]|\breturn\b)\s{0,80}&?(?:(?P<of>self|this|cls)\.)?(?P<name>[A-Za-z_$][\w$]*)(?=[ \t]*[),;\]}\n])"
    r"|<(?P<element>[A-Z]\w*)(?=[\s/>])"
)
_METHOD_REFERENCE = re.compile(
    r"[(,=:?{]\s{0,80}(?P<of>[\w$]*)(?:<[\w\s,?]{0,80}>)?::(?P<name>[A-Za-z_]\w*)(?=[ \t]*[),;}\n])"
)
_WITH_METHOD_REFERENCES = frozenset({"jvm", "rust"})
_WITH_FUNCTION_VALUES = frozenset({"c", "go", "javascript", "lua", "python", "rust"})
_WITH_BOUND_METHODS = frozenset({"javascript", "python"})
_WORD = re.compile(rf"(?<![\w$-]){_BEFORE}(?<![\w$-])(?P<name>[A-Za-z_][\w-]*[!?]?)(?![\w-])")
_DECLARING = word_set(
    "class def defmacro defmodule defp enum extern fn fun func function interface let macro_rules member module",
    "namespace override proc record struct sub trait type union val var void",
)
"""What stands before a name that is declared there."""
_KEYWORDS = word_set(
    "assert await case catch do elif else elseif except for foreach if in is match not or and print return self",
    "sizeof super switch this throw typeof unless until when while with yield",
)


_IN_BRACES = re.compile(r"[$#]\{[^{}`]{0,400}\}")
_INTERPOLATED = {
    **dict.fromkeys(("dart", "elixir", "javascript", "ruby"), _IN_BRACES),
    "kotlin": re.compile(r"\$\{[^{}]{0,400}\}|\\\([^()\n]{0,200}\([^()\n]{0,200}\)[^()\n]{0,200}\)"),  # of Swift too
    "python": re.compile(r"\{[^{}\n]{0,200}\([^{}\n]{0,200}\}"),
}
"""How code stands in strings, by the style of comments."""


def code_of(text: str, language: str) -> str:
    """The text of a file without comments and strings, but with the code in strings, as long as it; '' where calls are
    not read."""
    syntax = _SYNTAX.get(language)
    if syntax is None or len(text) > _LONGEST:
        return ""
    return masked(text, syntax.comments, _INTERPOLATED.get(syntax.comments)).code


def calls_in(code: str, syntax: CallSyntax) -> Iterator[WrittenCall]:
    """The calls of a text without comments and strings, in order, and what looks like one: declarations."""
    last, last_end = "", 0
    for found in (_WORD if syntax.words else _CALL).finditer(code):
        name, word, of, at = found["name"], found["word"], found["of"], found.start("name")
        if found["some"] is not None:
            ends = found["some"] == ")" and _NESTED.search(code, last_end, found.start("some")) is None
            of = f"{last}()" if ends and last else ""
        elif of is None and code[max(0, found.start() - _INDENT) : found.start()].rstrip().endswith("."):
            of = ""
        if of is None and not _is_call(code, found, syntax):
            continue
        has_list = not syntax.words or code[found.end() : found.end() + 1] == "("
        last, last_end = name, found.end() + (syntax.words and has_list)
        if name == "new" and of and of[0].isupper():
            last = of
            yield WrittenCall(of, None, at, found.end(), is_new=True)
        if name not in _KEYWORDS:
            yield WrittenCall(name, of, at, found.end(), word == "new", has_list, word in _DECLARING)


_COMMAND = re.compile(r"(?:\A|[\n;|&({`]|\b(?:then|do|else|if|elif|while|until|return|process|begin|end)\b|!)[ \t]*\Z")
_NO_TYPES = word_set("and await case delete do else new not or return throw typename co_await co_return co_yield")
_OF_HASH = re.compile(r"[ \t]*(?::(?!:)|=(?![=~>]))")


def _is_call(code: str, found: re.Match[str], syntax: CallSyntax) -> bool:
    """Whether a name without a receiver may be called, as far as what stands around it tells: commands of shells begin
    statements, keys of hashes and fields of records are none, and prototypes of C have a type before."""
    at, word = found.start("name"), found["word"]
    if syntax.family in ("shell", "powershell"):
        is_named = "-" in found["name"] and syntax.family == "powershell"
        return is_named or _COMMAND.search(code, max(0, at - _INDENT), at) is not None
    if syntax.words:
        return code[at - 1 : at] != ":" and _OF_HASH.match(code, found.end()) is None
    if syntax.family == "c" and word is not None:
        return word in _NO_TYPES
    return syntax.family != "jvm" or code[at - 1 : at] != "@"


def values_in(code: str, syntax: CallSyntax) -> Iterator[WrittenCall]:
    """The names that are given, assigned or returned as values, as handlers and callbacks are, and those of elements of
    markup, outside of imports."""
    code = IMPORTS.sub(lambda one: " " * len(one[0]), code)
    for found in _METHOD_REFERENCE.finditer(code) if syntax.family in _WITH_METHOD_REFERENCES else ():
        at, name = found.start("name"), found["name"]
        yield WrittenCall(name, found["of"] or None, at, found.end(), has_list=False, is_value=True)
    for found in _VALUE.finditer(code) if syntax.family in _WITH_FUNCTION_VALUES else ():
        name, of = found["name"] or found["element"], found["of"]
        if name not in _KEYWORDS and (of is None or syntax.family in _WITH_BOUND_METHODS):
            yield WrittenCall(name, of, found.end() - len(name), found.end(), has_list=False, is_value=True)


_TYPE_ARGUMENTS = re.compile(r"(?<=\w)<[\w\s,.?\[\]]{0,80}>")


def arguments_at(code: str, start: int) -> int:
    """How many arguments stand between the parenthesis that ends before `start` and the one that closes it; -1 where
    that is too far away."""
    depth, count, some = 0, 0, False
    for char in _TYPE_ARGUMENTS.sub("", code[start : start + _MOST_COUNTED]):
        if char in ")]}":
            if depth == 0:
                return count + some
            depth -= 1
        elif char in "([{":
            depth += 1
            some = True
        elif char == "," and depth == 0:
            count += 1
        elif not char.isspace():
            some = True
    return -1


_TYPE = r"(?:(?P<of>\w+)(?:\.|::)){0,6}(?P<type>[A-Z]\w*)"
_ARGUMENTS = r"(?:<[^<>;(){}\n]{0,80}>)?"
_HOLDING = r"(?:\b(?:Annotated|Arc|Box|Mutex|Option|Optional|Promise|Rc|RwLock)\s*[<\[]\s*(?:dyn\s+)?){0,3}"
_TYPED = (
    re.compile(
        r"(?<![\w$])(?P<name>[\w$]+)[?!]?\s*:\s*"
        rf"(?:&|\*|dyn\b|mut\b|final\b|impl\b|readonly\b|\s){{0,6}}{_HOLDING}{_TYPE}"
    ),
    re.compile(
        rf"(?<![\w.$]){_TYPE}{_ARGUMENTS}(?:\[\])?[?*& \t]+(?:const\s+)?\$?(?P<name>[a-z_]\w*)\s*(?=[=;,):{{]|in\b)"
    ),
    re.compile(
        rf"(?<![\w$])\$?(?P<name>[\w$]+)\s*:?=\s*(?:(?:await|[nN]ew|try|&)\s*){{0,3}}{_TYPE}{_ARGUMENTS}"
        r"(?:(?:::|\.)new\b|\s*[({])"
    ),
)
_TYPED_IN = {
    "go": (_TYPED[2], re.compile(rf"(?<![\w.])(?P<name>[a-z_]\w*)[ \t]+\*?{_TYPE}\b")),
    "vb": (_TYPED[2], re.compile(rf"(?<!\w)(?P<name>\w+)(?:\(\))?[ \t]+(?i:as[ \t]+(?:new[ \t]+)?){_TYPE}")),
}
_MADE = re.compile(
    r"(?<![\w$])\$?(?P<name>[a-z_]\w*)(?:,\s*\w+)?\s*:?=\s*(?:await\s+|try\s+)?"
    r"(?:(?P<of>[\w$]+)(?:\.|::|->)){0,6}(?P<made>\w+)\("
)


@dataclass(frozen=True, slots=True)
class GivenType:
    """What a file tells at an offset of the type of a variable, parameter or field: its name, or with `is_made` the
    function whose result it is given; `of` is what stands before the dot in front of it."""

    at: int
    name: str
    of: str | None = None
    is_made: bool = False


def types_of_names(code: str, syntax: CallSyntax) -> Mapping[str, list[GivenType]]:
    """What a file tells of the types of names, in the order of the text."""
    known: dict[str, list[GivenType]] = {}
    for pattern in _TYPED_IN.get(syntax.family, _TYPED):
        for found in pattern.finditer(code):
            known.setdefault(found["name"], []).append(GivenType(found.start("name"), found["type"], found["of"]))
    for found in _MADE.finditer(code):
        given = GivenType(found.start("name"), found["made"], found["of"], is_made=True)
        known.setdefault(found["name"], []).append(given)
    return known
