"""How declarations begin in each language. A table to read and extend: a language is one entry, no code.

Each pattern is matched where a line begins, after blanks, against the text with its comments in place (a match that
begins in a comment or string does not count). `{M}` stands for any number of the language's modifiers and attributes.
The group `name` is the name declared (`constructor` where it counts only inside the type of this name, `arguments` of
a test that a macro declares), `kind` (of types) the word that says what it is. No pattern may need more than linear
time: repetitions are bounded or end at a line, and a modifier ends in one place only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache


class BlockEnd(StrEnum):
    """How the end of a declaration is found."""

    BRACES = "braces"  # at the brace that closes it, or at `;`
    LINES = "lines"  # the same, or at the end of a line that nothing continues
    INDENT = "indent"  # before the next line that is not deeper
    END = "end"  # the same, and the line that closes it (`end`, `}`) belongs to it


class Role(StrEnum):
    """What a declaration is to the segments of its file."""

    PACKAGE = "package"  # names the namespace of the file
    CONTAINER = "container"  # a namespace or module around other declarations
    OWNER = "owner"  # members of a type that is declared elsewhere: `impl`, `extension`
    TYPE = "type"
    FUNCTION = "function"
    VALUE = "value"  # a constant, property or field


@dataclass(frozen=True, slots=True)
class LanguagePatterns:
    """The patterns of one language; a role may have several, tried in the order of `Role`."""

    comments: str
    block: BlockEnd
    modifiers: str = r"(?!)"
    package: str = ""
    container: str = ""
    owner: str = ""
    type: str = ""
    bases: str = ""  # of a type: the lines below its name that say what it derives from
    function: str = ""
    value: str = ""
    fields: str = ""  # like `value`, but only directly inside a type
    imports: str = ""
    attributes: str = r"[@\[]"  # how a line begins that belongs to the declaration below it
    constructors: str = ""
    by_path: bool = False  # a file is a module: the names in it are qualified by its path
    doc_inside: bool = False  # documentation is the first comment of a body
    clauses: bool = False  # adjacent functions of one name are one function

    def pattern(self, role: str) -> re.Pattern[str] | None:
        """The compiled pattern of a role or of `fields`; None without one."""
        return _compiled(getattr(self, role), self.modifiers)


@cache
def _compiled(pattern: str, modifiers: str) -> re.Pattern[str] | None:
    if not pattern:
        return None
    anchored = pattern.replace("{M}", rf"(?:(?:{modifiers})[ \t]+)*")
    return re.compile(rf"^\ufeff?(?P<indent>[ \t]*)(?:{anchored})", re.MULTILINE)


_NAME = r"(?P<name>\w+)"
_ATTRIBUTE = r"\#\[[^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)*\]"  # brackets in it, one deep
_ANNOTATION = r"@[\w.:]+(?:\([^()\n]*\))?"

# C, C++ and what looks like them: a function is a type, a name and parameters that no keyword begins.
_NOT_A_TYPE = (
    r"(?!(?:if|else|for|while|do|switch|case|return|goto|throw|new|delete|typedef|using|namespace|catch|sizeof|"
    r"co_return|co_await|await|yield|assert|in|is|not|and|or|defined|static_assert|import|package)\b|"
    r"(?:public|private|protected)[ \t]*:[ \t]*\n)"
)
_C_TYPE = rf"{_NOT_A_TYPE}(?:::)?[A-Za-z_][\w:<>,*&\[\] \t]{{0,200}}?(?:[ \t*&>]|\n)[ \t]*"
_C_NAME = r"(?P<name>(?:\w+(?:<[^<>\n]{0,80}>)?::)*(?:~?\w+|operator[ \t]*(?:\(\)|\[\]|[^\s\w(]{1,3}|\w+)))"
_C_FUNCTION = rf"{_C_TYPE}(?<!\w){_NOT_A_TYPE}{_C_NAME}[ \t]*\((?![*\w]*\)[ \t]*\()"
_C_FIELD = rf"{_C_TYPE}{_NAME}[ \t]*(?:\[[^\]\n]*\][ \t]*)*(?:=[^;\n]*|\{{[^{{}}\n]*\}})?;"
_C_CALLBACK = rf"{_C_TYPE}\([ \t]*\*[ \t]*(?P<name3>\w+)[ \t]*\)[ \t]*\([^;{{}}\n]*\)[ \t]*;"  # a field that is called
_CPP_CONSTRUCTOR = (
    r"(?:explicit[ \t]+|inline[ \t]+|constexpr[ \t]+|virtual[ \t]+)*"
    r"(?:(?P<name2>(?:\w+(?:<[^<>\n]{0,80}>)?::)+~?\w+)|(?P<constructor>~?\w+))[ \t]*\((?!\*)"
)
_C_TEST = r"[A-Z_]*(?:TEST|SCENARIO)[A-Z_]*[ \t]*\([ \t]*(?P<arguments>[^()\n]{1,200}?)[ \t]*\)[ \t\n]*(?=\{)"
_C_ATTRIBUTES = r"\[\[|template\b|__attribute__|[A-Z_]{4,}(?:\([^()\n]*\))?[ \t]*$"
_C_INCLUDE = (
    r"(?:\#[ \t]*(?:include|import)[ \t]*[<\"]|@(?:class|import|protocol)[ \t]+(?=[\w., \t]+;))(?P<name>[^>;\"\n]+)"
)
_C_MACRO = r"\#[ \t]*define[ \t]+(?P<name3>\w+)\("

_C_BLANKS = r"(?:\s|/\*(?:[^*]|\*(?!/)){0,400}\*/){0,400}"
_C_OLD = (  # `main(argc, argv)`, and what its parameters are below
    rf"(?<![ \t]){_NOT_A_TYPE}(?P<name4>\w+)[ \t]*\([\w, \t]*\)"
    rf"(?={_C_BLANKS}(?:[A-Za-z_][\w \t*,\[\]()]{{0,200}};{_C_BLANKS}){{0,16}}\{{)"
)

_C_FAMILY = LanguagePatterns(
    comments="c",
    block=BlockEnd.BRACES,
    owner=r"(?P<kind>@implementation)[ \t]+(?P<name>\w+)|@interface[ \t]+(?P<name2>\w+)[ \t]*\([ \t]*\w",
    container=r"(?:inline[ \t]+)?namespace\b[ \t]*(?P<name>[\w:]*)[ \t\n]*(?=\{)|extern[ \t]+\"C\"[ \t\n]*(?=\{)",
    type=(
        r"(?P<kind2>@interface|@protocol)[ \t]+(?P<name2>\w+)(?![\w, \t]*;)|"
        r"(?:typedef[ \t]+)?(?P<kind>struct|class|union|enum(?:[ \t]+(?:class|struct))?)\b"
        r"(?:[ \t]+(?!final\b)[A-Z_]{3,}(?=[ \t]+\w))?(?:[ \t]+(?P<name>\w+))?"
        r"(?=\s*(?:final\b\s*)?(?:<[^;{}()]{0,200}>\s*)?(?::(?!:)[^;{}]{0,400})?\{)"
    ),
    function=(
        r"(?:template[ \t]*<[^;{}\n]{0,200}>[ \t]*)?"
        rf"(?:{_C_TEST}|{_C_FUNCTION}|{_C_OLD}|{_CPP_CONSTRUCTOR}|{_C_MACRO})|"
        r"[-+][ \t]*\([^)\n]*\)[ \t]*(?P<name5>\w+)"
    ),
    fields=rf"{_C_FIELD}|{_C_CALLBACK}|@property\b[ \t]*(?:\([^)\n]*\))?[^;\n]*?(?P<name2>\w+)[ \t]*;",
    imports=_C_INCLUDE,
    attributes=_C_ATTRIBUTES,
)
"""All: a `.h` says nothing of which it is."""

_DART_TYPE = rf"{_NOT_A_TYPE}[A-Za-z_][\w<>,?.\[\] \t]{{0,200}}?[ \t]+"

PATTERNS: dict[str, LanguagePatterns] = {
    "c": _C_FAMILY,
    "clojure": LanguagePatterns(
        comments="clojure",
        block=BlockEnd.INDENT,
        type=r"\((?P<kind>defprotocol|defrecord|deftype)[ \t]+(?P<name>[^\s()\[\]]+)",
        function=r"\((?:defn-?|defmacro|defmulti|defmethod|def|defonce)[ \t]+(?:\^\S+[ \t]+)?(?P<name>[^\s()\[\]]+)",
        imports=r"\(ns[ \t]+(?P<name>\S+)",
    ),
    "cpp": _C_FAMILY,
    "dart": LanguagePatterns(
        by_path=True,
        comments="dart",
        block=BlockEnd.BRACES,
        modifiers=rf"abstract|base|final|sealed|interface|mixin|static|external|const|late|covariant|{_ANNOTATION}",
        owner=r"(?P<kind>extension)[ \t]+(?:type[ \t]+)?\w*[ \t]*on[ \t]+(?P<name>\w+)",
        type=rf"{{M}}(?P<kind>class|mixin|enum|typedef)[ \t]+{_NAME}",
        function=(
            rf"{{M}}(?:factory[ \t]+(?P<name2>[\w.]+)[ \t]*\(|(?:{_DART_TYPE})?(?:get|set)[ \t]+(?P<name3>\w+)|"
            rf"{_DART_TYPE}(?P<name>\w+|operator[ \t]*[^\s\w(]{{1,3}})(?:<[^<>\n]{{0,80}}>)?[ \t]*\(|"
            r"(?P<constructor>[A-Z_]\w*)(?:\.\w+)?[ \t]*\()"
        ),
        value=rf"(?=(?:late|final|const|var)\b){{M}}(?:var[ \t]+)?(?:{_DART_TYPE})?{_NAME}[ \t]*=(?![=>])",
        fields=rf"{{M}}(?:var[ \t]+|{_DART_TYPE})?{_NAME}[ \t]*(?:=(?![=>])|;)",
        imports=r"import[ \t]+['\"](?P<name>[^'\"\n]+)",
    ),
    "elixir": LanguagePatterns(
        comments="elixir",
        block=BlockEnd.END,
        container=r"(?P<kind>defmodule)[ \t]+(?P<name>[\w.]+)",
        type=r"(?P<kind>defprotocol|defimpl)[ \t]+(?P<name>[\w.]+)",
        function=(
            r"(?:def|defp|defmacro|defmacrop|defguard|defguardp|defdelegate)[ \t]+(?P<name>\w+[?!]?)|"
            r"test[ \t]+\"(?P<arguments>[^\"\n]+)\"(?=[^\n]*\bdo\b)"
        ),
        fields=r"(?:field|belongs_to|(?:has|embeds)_(?:one|many)|many_to_many)[ \t(]+:(?P<name>\w+)",  # of Ecto
        imports=r"(?:alias|import|use|require)[ \t]+(?P<name>[\w.]+)",
        attributes=r"@",
        doc_inside=True,
        clauses=True,
    ),
    "erlang": LanguagePatterns(
        comments="erlang",
        block=BlockEnd.INDENT,
        type=r"-(?P<kind>record)\([ \t]*(?P<name>\w+)",
        function=r"(?P<name>[a-z]\w*)\([^\n]*(?:->|\bwhen\b|,[ \t]*$)",
        imports=r"-(?:include|include_lib|import)\([ \t]*\"?(?P<name>[\w./]+)",
        attributes=r"-(?:spec|doc)\b",
        clauses=True,
    ),
    "fsharp": LanguagePatterns(
        comments="fsharp",
        block=BlockEnd.INDENT,
        modifiers=(
            r"private|internal|public|rec|inline|mutable|static|abstract|override|default|"
            r"\[<(?:(?!>\])[^\n])*>\]"
        ),
        package=r"(?:namespace|module)[ \t]+(?:rec[ \t]+|internal[ \t]+)*(?P<name>[\w.`]+)[ \t]*(?:\r?\n|\Z)",
        container=r"(?:\[<[^\n]*?>\][ \t]*)?(?P<kind>module)[ \t]+{M}(?P<name>\w+)[ \t]*=",
        type=r"(?P<kind>type|exception)[ \t]+{M}(?P<name>``[^`\n]+``|\w+)|and[ \t]+{M}(?P<name2>[A-Z]\w*)",
        function=(
            r"{M}(?:let|and)[ \t]+{M}(?P<name>``[^`\n]+``|[\w']+|\(\|?[^)\n]{1,60}\))(?=[^\n=]*(?:=|$))|"
            r"{M}member[ \t]+{M}(?:\w+\.)?(?P<name2>``[^`\n]+``|\w+)|"
            r"(?:override|default|abstract)[ \t]+(?:\w+\.)?(?P<name3>\w+)|"
            r"(?P<name4>new)[ \t]*\("
        ),
        imports=r"open[ \t]+(?P<name>[\w.]+)",
        attributes=r"\[<",
        constructors="new",
    ),
    "graphql": LanguagePatterns(
        comments="hash",
        block=BlockEnd.BRACES,
        type=rf"(?:extend[ \t]+)?(?P<kind>type|interface|input|enum)[ \t]+{_NAME}",
        fields=rf"{_NAME}(?:\([^()\n]*\))?[ \t]*:",
        attributes=r"@",
    ),
    "groovy": LanguagePatterns(
        comments="dart",
        block=BlockEnd.LINES,
        modifiers=rf"public|private|protected|static|final|abstract|synchronized|{_ANNOTATION}",
        package=r"package[ \t]+(?P<name>[\w.]+)",
        type=rf"{{M}}(?P<kind>class|interface|trait|enum)[ \t]+{_NAME}",
        function=rf"{{M}}(?:def[ \t]+)(?P<name2>\w+)[ \t]*\(|{_C_FUNCTION}(?=[^\n]*\{{)",
        imports=r"import[ \t]+(?:static[ \t]+)?(?P<name>[\w.*]+)",
    ),
    "haskell": LanguagePatterns(
        comments="haskell",
        block=BlockEnd.INDENT,
        package=r"module[ \t]+(?P<name>[\w.]+)",
        type=(
            r"(?P<kind>data|newtype|class|type)[ \t]+(?:family[ \t]+|instance[ \t]+)?(?:[^\n=]*=>[ \t]*)?"
            r"(?P<name>[A-Z][\w']*)"
        ),
        function=r"(?<![ \t])(?!(?:import|infix[lr]?|instance|deriving|where|let|in|if|then|else|do)\b)"
        r"(?P<name>[a-z_][\w']*)(?=[ \t]*(?:,[^\n]*)?\n?[ \t]*::|[ \t][^\n]*=|[ \t]*=|[ \t][^\n]*\n[ \t]+[|=])",
        imports=r"import[ \t]+(?:qualified[ \t]+)?(?P<name>[\w.]+)",
        attributes=r"\{-#",
        clauses=True,
    ),
    "julia": LanguagePatterns(
        comments="hash",
        block=BlockEnd.END,
        container=rf"(?P<kind>module)[ \t]+{_NAME}",
        type=r"(?:mutable[ \t]+|abstract[ \t]+)?(?P<kind>struct|type)[ \t]+(?P<name>\w+)",
        function=r"(?:@\w+[ \t]+)*(?:function|macro)[ \t]+(?P<name>[\w.!]+)|(?P<name2>\w+!?)\([^()\n]*\)[ \t]*=(?!=)",
        imports=r"(?:using|import)[ \t]+(?P<name>[\w.]+)",
    ),
    "kotlin": LanguagePatterns(
        comments="kotlin",
        block=BlockEnd.LINES,
        modifiers=(
            r"public|private|internal|protected|open|abstract|sealed|final|data|inline|value|annotation|enum|inner|"
            rf"override|suspend|operator|infix|tailrec|external|const|lateinit|expect|actual|companion|{_ANNOTATION}"
        ),
        package=r"package[ \t]+(?P<name>[\w.]+)",
        type=(
            r"(?P<name2>companion)[ \t]+object(?=[ \t]*[:{])|"
            r"{M}(?P<kind>class|(?:fun[ \t]+)?interface|object|typealias)[ \t]+(?P<name>\w+)"
        ),
        function=(
            r"{M}fun[ \t]+(?:<[^>\n]*>+[ \t]*)?(?:[\w.<>?,* ]{1,80}\.)?(?P<name>\w+|`[^`\n]+`)[ \t]*\(|"
            r"{M}(?P<name2>constructor|init)\b[ \t]*[({]"
        ),
        value=r"{M}(?:val|var)[ \t]+(?:<[^>\n]*>[ \t]*)?(?:[\w.<>?,* ]{1,80}\.)?(?P<name>\w+|`[^`\n]+`)",
        imports=r"import[ \t]+(?P<name>[\w.*]+)",
        attributes=r"@",
        constructors="constructor",
    ),
    "lua": LanguagePatterns(
        comments="lua",
        block=BlockEnd.END,
        function=(
            r"(?:local[ \t]+)?function[ \t]+(?P<name>[\w.:]+)|"
            r"(?:local[ \t]+)?(?P<name2>[\w.]+)[ \t]*=[ \t]*function\b"
        ),
        imports=r"[^\n]{0,80}?\brequire[ \t]*\(?[ \t]*[\"'](?P<name>[\w./-]+)",
    ),
    "objectivec": _C_FAMILY,
    "perl": LanguagePatterns(
        comments="hash",
        block=BlockEnd.END,
        package=r"package[ \t]+(?P<name>[\w:]+)",
        function=rf"sub[ \t]+{_NAME}",
        imports=r"(?:use|require)[ \t]+(?P<name>[A-Z][\w:]*)",
    ),
    "php": LanguagePatterns(
        comments="php",
        block=BlockEnd.BRACES,
        modifiers=r"public|private|protected|static|final|abstract|readonly|" + _ATTRIBUTE,
        package=r"(?:<\?php[ \t]+)?namespace[ \t]+(?P<name>[\w\\]+)",
        type=rf"{{M}}(?P<kind>class|interface|trait|enum)[ \t]+{_NAME}",
        function=rf"{{M}}function[ \t]+&?{_NAME}[ \t]*\(",
        value=r"{M}const[ \t]+(?:[\w|?\\]+[ \t]+)?(?P<name>\w+)[ \t]*=",
        fields=r"{M}(?:public|private|protected|static|readonly|var)[ \t]+(?:[?\w\\|]+[ \t]+)?\$(?P<name>\w+)",
        imports=r"use[ \t]+(?:function[ \t]+|const[ \t]+)?(?P<name>[\w\\]+)",
        attributes=r"\#\[",
        constructors="__construct",
    ),
    "powershell": LanguagePatterns(
        comments="powershell",
        block=BlockEnd.BRACES,
        type=rf"(?P<kind>class|enum)[ \t]+{_NAME}",
        function=r"(?i:function|filter|workflow|configuration)[ \t]+(?:\w+:)?(?P<name>[\w.-]+)",
        fields=r"(?:(?:static|hidden)[ \t]+)*\[[\w.\[\]]+\][ \t]*\$(?P<name>\w+)",
        imports=r"(?i:using[ \t]+module|import-module)[ \t]+(?P<name>[^\s;]+)",
        doc_inside=True,
    ),
    "prisma": LanguagePatterns(
        comments="c",
        block=BlockEnd.BRACES,
        type=rf"(?P<kind>model|enum|type|view)[ \t]+{_NAME}(?=[ \t]*\{{)",
        attributes=r"(?!)",
    ),
    "proto": LanguagePatterns(
        comments="c",
        block=BlockEnd.BRACES,
        package=r"package[ \t]+(?P<name>[\w.]+)",
        type=rf"(?P<kind>message|enum|service)[ \t]+{_NAME}",
        function=rf"rpc[ \t]+{_NAME}",
        fields=r"(?:(?:optional|repeated|required)[ \t]+)?(?:map<[^>\n]*>|[\w.]+)[ \t]+(?P<name>\w+)[ \t]*=[ \t]*\d+",
        imports=r"import[ \t]+(?:public[ \t]+|weak[ \t]+)?\"(?P<name>[^\"\n]+)",
    ),
    "r": LanguagePatterns(
        comments="hash",
        block=BlockEnd.END,
        function=r"(?P<name>[\w.]+)[ \t]*(?:<-|=)[ \t]*function[ \t]*\(",
        imports=r"(?:library|require)\([ \t]*[\"']?(?P<name>[\w.]+)",
    ),
    "ruby": LanguagePatterns(
        comments="ruby",
        block=BlockEnd.END,
        modifiers=r"private|protected|public|module_function|private_class_method|memoize",
        container=r"(?P<kind>module)[ \t]+(?P<name>[A-Z][\w:]*)",
        type=r"(?P<kind>class)[ \t]+(?P<name>[A-Z][\w:]*)|(?P<name2>[A-Z]\w*)[ \t]*=[ \t]*(?:Struct|Class|Data)\.\w+",
        function=r"{M}def[ \t]+(?:self\.|[A-Z]\w*\.)?(?P<name>\w+[?!=]?|[^\s\w(]{1,3})(?=[\s(;=]|$)",
        value=r"(?P<name>[A-Z][A-Z0-9_]+)[ \t]*=(?![=~>])",
        fields=(
            r"(?:attr_(?:reader|writer|accessor)|belongs_to|has_one|has_many|has_and_belongs_to_many|scope)[ \t(]+"
            r":(?P<name>\w+)"
        ),
        imports=r"(?:require|require_relative|autoload)[ \t(]+[\"'](?P<name>[\w./-]+)",
        attributes=r"(?!)",
        constructors="initialize",
    ),
    "rust": LanguagePatterns(
        by_path=True,
        comments="rust",
        block=BlockEnd.BRACES,
        modifiers=r"pub(?:\([^)\n]*\))?|default|const|async|unsafe|extern(?:[ \t]+\"[^\"\n]*\")?|" + _ATTRIBUTE,
        owner=r"{M}(?P<kind>impl)\b(?P<name>[^{;]{1,400})(?=\{)",
        type=rf"{{M}}(?P<kind>struct|enum|union|trait|type|mod(?=[ \t]+\w+[ \t\n]*\{{))[ \t]+{_NAME}",
        function=rf"{{M}}fn[ \t]+{_NAME}|macro_rules![ \t]*(?P<name2>\w+)",
        value=rf"{{M}}(?:const|static)[ \t]+(?:mut[ \t]+)?{_NAME}[ \t]*:",
        fields=r"{M}(?P<name>\w+)[ \t]*:(?!:)|(?P<name2>[A-Z]\w*)[ \t]*(?:[({,=]|$)",
        imports=r"(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:use|extern[ \t]+crate)[ \t]+(?P<name>[\w:]*)",
        attributes=r"\#\[",
        constructors="new",
    ),
    "scala": LanguagePatterns(
        comments="kotlin",
        block=BlockEnd.LINES,
        modifiers=(
            r"case|final|sealed|abstract|implicit|private(?:\[\w+\])?|protected(?:\[\w+\])?|lazy|override|inline|"
            rf"opaque|open|transparent|{_ANNOTATION}"
        ),
        package=r"package[ \t]+(?!object\b)(?P<name>[\w.]+)",
        type=rf"{{M}}(?:package[ \t]+)?(?P<kind>class|trait|object|enum|type)[ \t]+{_NAME}",
        function=r"{M}def[ \t]+(?P<name>\w+|`[^`\n]+`|[^\s\w(\[:=]{1,6})",
        value=r"{M}(?:val|var|given)[ \t]+(?P<name>\w+)",
        imports=r"import[ \t]+(?P<name>[\w.]+)",
        attributes=r"@",
        constructors="this",
    ),
    "shader": LanguagePatterns(
        comments="c",
        block=BlockEnd.BRACES,
        type=rf"(?P<kind>struct|cbuffer)[ \t]+{_NAME}\s*(?=\{{|:)",
        function=rf"{_C_FUNCTION}|{_C_MACRO}",
        fields=_C_FIELD,
        imports=_C_INCLUDE,
    ),
    "shell": LanguagePatterns(
        comments="hash",
        block=BlockEnd.END,
        function=(
            r"(?:function[ \t]+)?(?P<name>[\w:.-]+)[ \t]*\([ \t]*\)\s*(?=[{(])|function[ \t]+(?P<name2>[\w:.-]+)|"
            r"@test[ \t]+[\"'](?P<arguments>[^\"'\n]+)[\"'](?=[ \t]*\{)"  # of bats
        ),
        imports=r"(?:source|\.)[ \t]+(?P<name>[^\s;]+)",
    ),
    "swift": LanguagePatterns(
        comments="kotlin",
        block=BlockEnd.LINES,
        modifiers=(
            r"public|private|fileprivate|internal|package|open|static|final|override|mutating|nonmutating|convenience|"
            r"required|lazy|weak|unowned|indirect|dynamic|prefix|postfix|infix|nonisolated|async|"
            rf"private\(set\)|class(?=[ \t]+(?:func|var|let|subscript)\b)|{_ANNOTATION}"
        ),
        owner=r"{M}(?P<kind>extension)[ \t]+(?P<name>[\w.]+)",
        type=rf"{{M}}(?P<kind>class|struct|enum|protocol|actor|typealias|macro)[ \t]+{_NAME}",
        function=(
            r"{M}func[ \t]+(?P<name>\w+|`\w+`|[^\s\w(]{1,4})[ \t]*[(<]|"
            r"{M}(?P<name2>init|deinit|subscript)\b[?!]?[ \t]*[(<{]"
        ),
        value=r"{M}(?:let|var)[ \t]+(?P<name>\w+)",
        fields=r"{M}case[ \t]+(?P<name>\w+)(?![^\n]*:[ \t]*$)",
        imports=r"(?:@\w+[ \t]+)?import[ \t]+(?P<name>[\w.]+)",
        attributes=r"@",
        constructors="init",
    ),
    "terraform": LanguagePatterns(
        comments="slashes_and_hash",
        block=BlockEnd.BRACES,
        function=(
            r"(?P<name2>(?:resource|data)[ \t]+\"[\w-]+\"[ \t]+\"[\w-]+\"|(?:module|variable|output|provider)[ \t]+"
            r"\"[\w-]+\"|locals|terraform)(?=[ \t]*\{)"
        ),
    ),
    "bicep": LanguagePatterns(
        comments="dart",
        block=BlockEnd.LINES,
        function=rf"(?:resource|module|func)[ \t]+{_NAME}",
        value=rf"(?:param|var|output|type)[ \t]+{_NAME}",
        attributes=r"@",
    ),
    "vb": LanguagePatterns(
        comments="vb",
        block=BlockEnd.END,
        modifiers=(
            r"(?i:public|private|friend|protected|shared|overrides|overridable|notoverridable|mustoverride|mustinherit|"
            r"notinheritable|partial|readonly|writeonly|default|async|iterator|shadows|overloads|static|withevents|"
            r"declare|custom|narrowing|widening|<[^<>\n]*>)"
        ),
        container=r"(?i:namespace)[ \t]+(?P<name>[\w.]+)",
        type=rf"{{M}}(?P<kind>(?i:class|module|structure|interface|enum))[ \t]+{_NAME}",
        bases=r"(?:(?:[ \t]*\r?\n)*[ \t]*(?i:inherits|implements)[ \t][^\n]*\n)+",
        function=rf"{{M}}(?i:sub|function|property|event|operator|delegate[ \t]+(?:sub|function))[ \t]+\[?{_NAME}",
        fields=r"(?=(?i:public|private|friend|protected|dim|const|shared))"
        r"{M}(?:(?i:dim|const)[ \t]+)?(?P<name>\w+)(?:\(\))?[ \t]+(?i:as)\b",
        imports=r"(?i:imports)[ \t]+(?P<name>[\w.]+)",
        attributes=r"<",
        constructors="New",
    ),
    "verilog": LanguagePatterns(
        comments="verilog",
        block=BlockEnd.END,
        type=rf"(?P<kind>module|interface|package|class)[ \t]+(?:automatic[ \t]+|static[ \t]+)?{_NAME}",
        function=r"(?:function|task)[ \t]+(?:(?:\[[^\]\n]*\]|\w+)[ \t]+){0,4}(?P<name>\w+)[ \t]*[(;]",
        fields=rf"(?:parameter|localparam)[ \t]+(?:\[[^\]\n]*\][ \t]*|int[ \t]+)?{_NAME}[ \t]*=",
        imports=r"`include[ \t]+\"(?P<name>[^\"\n]+)",
    ),
    "zig": LanguagePatterns(
        by_path=True,
        comments="c",
        block=BlockEnd.BRACES,
        modifiers=r"pub|export|extern|inline|comptime|threadlocal",
        type=rf"{{M}}const[ \t]+{_NAME}[ \t]*=[ \t]*(?:packed[ \t]+|extern[ \t]+)?(?P<kind>struct|enum|union|opaque)\b",
        function=rf"{{M}}fn[ \t]+{_NAME}[ \t]*\(|test[ \t]+\"(?P<name2>[^\"\n]+)\"",
        value=rf"{{M}}(?:const|var)[ \t]+{_NAME}",
        fields=rf"{_NAME}[ \t]*:",
    ),
}
