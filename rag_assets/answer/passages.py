"""The quotable parts of evidence (members with doc comments, paragraphs, statements), and how well each fits a
question. Pure.

Sections can begin and end inside a type and be of any language. So this reads marks, never a grammar: a part is always
an exact range of the text, and what it does not understand stays in one piece.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, NamedTuple

from rag_assets.answer.citations import prose_of
from rag_assets.contracts.evidence import Evidence, owner_name
from rag_assets.contracts.time_codes import PAGE_BREAK, TRANSCRIPTS, begins_at
from rag_assets.identifiers import word_set

if TYPE_CHECKING:
    from rag_assets.languages.by_pattern.outline import Outlined

BRACES = frozenset({"csharp", "java", "typescript", "javascript", "tsx"})
_NAMED_BY_MARKS = BRACES | {"python", "css", "razor"}
OF_C = frozenset({"c", "cpp", "objectivec"})
_NAMED_IN_FULL = OF_C | {"elixir", "lua"}
PROSE = frozenset({"markdown", "rst", "asciidoc", "text", "html", "pdf", "docx", *TRANSCRIPTS})


@dataclass(frozen=True, slots=True)
class OutlinePart:
    """`text[start:end]`; `body` is where what a signature leaves out begins, `end` where there is nothing of that kind.
    `inside` counts the types around it. `declared` says what it is, where the language is read by patterns."""

    start: int
    end: int
    body: int
    inside: int = 0
    declared: Outlined | None = None


_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)"  # a comment
    r'|"""+.*?"""+|\$\$*"""+.*?"""+|@[$@]*"(?:[^"]|"")*"|\$[$@]*@[$]*"(?:[^"]|"")*"'
    r'|"(?:[^"\\\n]|\\.)*"|\$"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.){1,8}\'|`[^`]*`'
    r"|\n[ \t]*#\w[^\n]*"  # a directive
    r"|=>|\{|\}|\(|\)|;|\[|\]",
    re.DOTALL,
)
"""Every alternative begins with a character, so that a search skips all others."""
_QUOTING = frozenset({"javascript", "tsx", "typescript"})
"""Languages with texts in single quotes, which elsewhere are around one character."""
_TOKEN_OF_QUOTING = re.compile(_TOKEN.pattern.replace("{1,8}", "*"), re.DOTALL)
_MARKS = frozenset(("=>", *"{}();[]"))
_DIRECTIVE = re.compile(r"[ \t]*#\w[^\n]*")
_TYPE_HEAD = re.compile(r"\b(?:class|struct|interface|record|namespace|module)\b")
_NOT_OF_TYPES = re.compile(r"\bwhere\b.*", re.DOTALL)
_STRIPPED = re.compile(r"//[^\n]*|/\*.*?\*/|^\s*\[[^\n]*\]\s*$", re.DOTALL | re.MULTILINE)
_AFTER_BODY = re.compile(r"\s*=[^;{}]*;|\s*;")
_OPEN, _CLOSE = {"(": ")", "[": "]"}, {")", "]"}

_DECORATOR = r"[ \t]*@[\w.]+(?:\((?:[^()]|\([^()]*\))*\))?[ \t]*\n"
_DEFINITION = re.compile(rf"^(?:{_DECORATOR})*[ \t]*(?P<head>(?:async\s+def|def|class)\s+\w+[^\n]*)", re.MULTILINE)
_GO_BEGINS = re.compile(r"^(?://[^\n]*\n)*(?:(func|type|var|const|import)\b)?", re.MULTILINE)
_BLANK = re.compile(r"\r?\n[ \t]*\r?\n\s*|\s*\f\s*")  # a form feed ends a page
_FENCED = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*(?=\r?$)|\Z)", re.DOTALL | re.MULTILINE)
_FENCE_LINE = re.compile(r"^[ \t]*```", re.MULTILINE)
_SQL_BATCH = re.compile(
    r"^[ \t]*GO[ \t]*\r?(?:\n|\Z)|(?<=;)[ \t]*\r?\n[ \t]*\r?\n(?=(?:--[^\n]*\n)*CREATE\b)", re.IGNORECASE | re.MULTILINE
)
"""What ends a part of a script: the word for it, and a semicolon with a blank line before something new is created."""
_SQL_BODY = re.compile(r"^[^\S\n]*(?:AS|BEGIN)\b", re.IGNORECASE | re.MULTILINE)
_SQL_ROUTINE = re.compile(r"\b(?:PROC(?:EDURE)?|FUNCTION|TRIGGER|VIEW)\b", re.IGNORECASE)


@lru_cache(maxsize=1_024)  # packing and quoting look at the same texts, and so does the next turn of a conversation
def outline(text: str, language: str) -> tuple[OutlinePart, ...]:
    """The parts of a text in their order, without blanks around them; together they have every word of it but the heads
    of types, which are parts of their own. O(length)."""
    if language == "go":
        found = list(_by_go_declarations(text))
    elif language in BRACES:
        found = list(_in_braces(text, _TOKEN_OF_QUOTING if language in _QUOTING else _TOKEN))
    elif language == "python":
        found = list(_by_definitions(text))
    elif language == "sql":
        ends = [*_SQL_BATCH.finditer(text)]
        starts, stops = [0, *(one.end() for one in ends)], [*(one.start() for one in ends), len(text)]
        found = [_sql_part(text, start, stop) for start, stop in zip(starts, stops, strict=True)]
    else:
        found = _by_patterns(text, language) or list(_paragraphs(text))
    return tuple(part for part in (_trimmed(text, part) for part in found) if part.end > part.start)


def _in_braces(text: str, token: re.Pattern[str]) -> Iterator[OutlinePart]:
    """Types are gone into; every other `{ … }` and `=> …;` is the body of a member."""
    start, depth, round_depth = 0, 0, 0
    first = _DIRECTIVE.match(text)
    at = first.end() if first else 0
    while (found := token.search(text, at)) is not None:
        at = found.end()
        mark = found.group()
        if mark not in _MARKS:
            continue
        if mark in _OPEN:
            round_depth += 1
        elif mark in _CLOSE:
            round_depth = max(0, round_depth - 1)
        elif round_depth:
            continue
        elif mark == ";":
            yield OutlinePart(start, at, at, depth)
            start = at
        elif mark == "}":
            if text[start : found.start()].strip():
                yield OutlinePart(start, found.start(), found.start(), depth)
            depth, start = max(0, depth - 1), at
        elif mark == "{" and _is_type_block(text[start : found.start()]):
            yield OutlinePart(start, found.start(), found.start(), depth)
            depth, start = depth + 1, at
        else:
            at = _end_of_body(text, found.start(), mark, token)
            yield OutlinePart(start, at, found.start(), depth)
            start = at
    if text[start:].strip():
        yield OutlinePart(start, len(text), len(text), depth)


def _is_type_block(head: str) -> bool:
    """The word for a type is before its name: what what members take may be a `class` too."""
    before = _NOT_OF_TYPES.sub("", _without_attributes(_STRIPPED.sub("", head))).partition("(")[0]
    return _TYPE_HEAD.search(before) is not None and "=" not in before.partition(":")[0]


def _end_of_body(text: str, opened: int, mark: str, token: re.Pattern[str]) -> int:
    """Behind the brace that closes the one at `opened`, or behind the semicolon that ends an expression."""
    depth, at = 0, opened
    while (found := token.search(text, at)) is not None:
        at, inner = found.end(), found.group()
        if inner in ("{", "(", "["):
            depth += 1
        elif inner in ("}", ")", "]"):
            depth -= 1
            if depth < 0:  # the text ends inside of what surrounds it
                return found.start()
            if depth == 0 and inner == "}" and mark == "{":
                after = _AFTER_BODY.match(text, at)  # `{ get; } = new();`
                return after.end() if after else at
        elif inner == ";" and depth == 0 and mark == "=>":
            return at
    return len(text)


def _by_go_declarations(text: str) -> Iterator[OutlinePart]:
    """No semicolon ends a declaration of Go; but each begins a line, and nothing inside of one does."""
    starts = [found.start() for found in _GO_BEGINS.finditer(text) if found[1]]
    for begin, end in pairwise([*({0} - {*starts}), *starts, len(text)]):
        part = text[begin:end]
        opened = part.find("{", part.find("\nfunc") + 1)
        yield OutlinePart(begin, end, begin + opened if opened >= 0 else end)


def _by_definitions(text: str) -> Iterator[OutlinePart]:
    found = list(_DEFINITION.finditer(text))
    if not found:
        yield from _paragraphs(text)
        return
    if text[: found[0].start()].strip():
        yield OutlinePart(0, found[0].start(), found[0].start())
    from rag_assets.languages.by_pattern.comments import masked  # start-up budget

    code = masked(text, "python").code
    for one, end in zip(found, [*(after.start() for after in found[1:]), len(text)], strict=True):
        indent = one.start("head") - text.rfind("\n", 0, one.start("head")) - 1
        dedented = _dedent(indent).search(
            code, one.end("head"), end
        )  # fields below a nested class, the end of a script
        stop = dedented.start() if dedented else end
        yield OutlinePart(one.start(), stop, min(stop, one.end("head") + 1))
        if dedented:
            yield OutlinePart(stop, end, stop)


@cache
def _dedent(indent: int) -> re.Pattern[str]:
    """The beginning of a line of code that is not deeper."""
    return re.compile(rf"^[ \t]{{0,{indent}}}(?=[\w@])", re.MULTILINE)


def _sql_part(text: str, start: int, end: int) -> OutlinePart:
    """A routine without its body is its name and parameters; a table is all signature."""
    is_routine = _SQL_ROUTINE.search(text, start, min(end, start + 200)) is not None
    body = _SQL_BODY.search(text, start, end) if is_routine else None
    if body is None:
        return OutlinePart(start, end, end)
    signature = text[start : body.start()].rstrip()
    return OutlinePart(start, end, text.find("\n", start + len(signature)) + 1 if signature else body.start())


def _by_patterns(text: str, language: str) -> list[OutlinePart]:
    """The parts of code without a grammar here; none where nothing is declared."""
    if language in PROSE or language in CONFIGURATION:
        return []
    from rag_assets.languages.by_pattern.outline import outlined  # start-up budget: few sections are of such languages

    made: list[OutlinePart] = []
    at = 0
    for one in outlined(text, language):
        made += _between(text, at, one.start)
        made.append(OutlinePart(one.start, one.end, one.body, one.inside, one))
        at = one.end
    return [*made, *_between(text, at, len(text))] if made else []


def _between(text: str, start: int, end: int) -> list[OutlinePart]:
    """What stands between two declarations, but for what only closes the one before."""
    return [part for part in _paragraphs(text, start, end) if not _CLOSES.fullmatch(text, part.start, part.end)]


_CLOSES = re.compile(r"(?:\s|[})\];]|end\b(?:[ \t]+(?!end\b)\w+)?)*", re.IGNORECASE)


def _paragraphs(text: str, start: int = 0, end: int | None = None) -> Iterator[OutlinePart]:
    """At blank lines outside of fenced code."""
    end = len(text) if end is None else end
    begins_inside = len(_FENCE_LINE.findall(text)) % 2
    fences = [found.span() for found in _FENCED.finditer(text)] if not begins_inside else []
    at = start
    for found in _BLANK.finditer(text, start, end):
        if any(first < found.start() < last for first, last in fences):
            continue
        yield OutlinePart(at, found.start(), found.start())
        at = found.end()
    yield OutlinePart(at, end, end)


def _trimmed(text: str, part: OutlinePart) -> OutlinePart:
    start, end = part.start, part.end
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    line = max(text.rfind("\n", 0, start), text.rfind(PAGE_BREAK, 0, start)) + 1
    if not text[line:start].strip():
        start = line  # with its indentation, so that the text stays one that can be compared
    return OutlinePart(start, end, min(max(part.body, start), end), part.inside, part.declared)


_BLOCK_COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)
_PRELUDE = re.compile(
    rf"(?:[ \t]*(?:(?P<doc>///|--|#(?!\w|!?\[)|//)[^\n]*|#\w[^\n]*|(?s:{_BLOCK_COMMENT.pattern})[ \t]*)?\r?\n)*",
    re.MULTILINE,
)
"""What stands before a declaration: its comment, blank lines, directives."""
_DOC_LINE = re.compile(r"^[ \t]*(?:///|--|#(?![\w!\[])|//|''')[^\n]*$", re.MULTILINE)
_TAGGED = re.compile(r"^[ \t]*\**[ \t]*@\w", re.MULTILINE)
"""Where the prose of a block comment ends: at `@param` and the like."""
_PICTURE = re.compile(r"^[ \t]*```(?:mermaid|svg|plantuml)\b", re.MULTILINE)
LINK_TARGETS = re.compile(r"(?:[ \t]*\[[^\]\n]+\]:[ \t]*\S[^\n]*\s*)+")
"""What links of Markdown refer to: `[docs]: https://example.org`."""
_LINK = re.compile(r"!?\[[^\]\n]*\]\([^)\n]*\)")
_HEADING_LINE = re.compile(r"^#+ .*$", re.MULTILINE)
_WORD_CHARS = re.compile(r"\w")
_FEWEST_LINKS, _MOST_BESIDE_LINKS = 2, 0.2
_SUMMARY = re.compile(r"<(summary|remarks)>(.*?)</\1>", re.DOTALL)
_BRACKET = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[\[\]()]")
_ATTRIBUTE = re.compile(r"(?=#?!?\[)|@(?!interface\b)[A-Za-z_][\w.]*+[ \t]*(?P<given>\()?")
"""`[HttpGet]`, `#[get("/x")]`, `@GetMapping("/x")`, `@app.get("/x")`, `@Override`."""
_COMMENT = re.compile(r"(?://[^\n]*(?:\n|\Z)|/\*.*?\*/)\s*", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*```[^\n]*$", re.MULTILINE)
_CONDITIONAL = re.compile(r"^[ \t]*#\w[^\n]*\n?", re.MULTILINE)
_NOTHING = "… \t\r\n"
_DECLARED = re.compile(r"(?:>[^<>()]*<\s*)?(\w*[A-Za-z_])")
"""A name before its type parameters, read from the end: from the beginning it would be tried at every character."""
_GO_RECEIVER = re.compile(r"func\s*\([^)]*?\*?(?P<type>\w+)(?:\[[^\]]*\])?\s*\)")
_GO_DECLARED = re.compile(r"(?:func\s*(?:\([^)]*\)\s*)?|(?:type|var|const)\s+)(\w+)")
_TYPE = re.compile(r"\b(?:class|struct|interface|record|enum|delegate)\s+(?:class\s+|struct\s+)?([A-Za-z_(]\w*)")
_CALLED = re.compile(r"\b(?!ref\b|readonly\b)([A-Za-z_]\w*)\s*(?:<[\w\s,\[\]]*>)?\s*\(")
"""What stands before the parameters of a delegate, whose type stands where other types have their name."""
_CREATES = re.compile(
    r"\s*(?:CREATE|ALTER)\b(?:\s+(?:OR\s+(?:ALTER|REPLACE)\s+)?(?:PROC(?:EDURE)?|FUNCTION|TRIGGER|VIEW|TABLE|TYPE)\s+"
    r"(?:IF\s+NOT\s+EXISTS\s+)?(?:[\[\"`]?\w+[\]\"`]?\.)*(?:\[([^\]\n]+)\]|[\"`]?(\w+)))?",
    re.IGNORECASE,
)
"""Of SQL, where a name can be anything in brackets and a type stands before a parenthesis."""

_HEAD_END = re.compile(r"\{|=>|;|=")
_SIGNATURE_END = re.compile(r"\{|=>|;|(?:(?<=\S)|\A)[^\S\n]*\n\s*(?:AS|BEGIN)\b")
_PYTHON_SIGNATURE_END = re.compile(r"(?<=:)(?=[ \t]*(?:#[^\n]*)?(?:\n|$)|[ \t]*\.\.\.)")

_UNDER = r"[=\-~^\"'`*+:._#]"
_HEADING = re.compile(
    r"^(?P<marks>#{1,6})[ \t]+(?P<title>\S.*)$"
    rf"|^(?:(?P<over>{_UNDER})(?P=over){{2,}}[ \t]*\r?\n[ \t]?)?(?P<name>(?!{_UNDER}{{3,}}[ \t\r]*$)\S.*)\n"
    rf"(?P<line>(?P<under>{_UNDER})(?P=under){{2,}})[ \t\r]*$",
    re.MULTILINE,
)
"""`## Build`, or `Build` with a line of one mark below it, as reStructuredText, Markdown and plain texts write it."""
_OF_ASCIIDOC = re.compile(r"^(?P<marks>={1,6})[ \t]+(?P<title>\S.*)$", re.MULTILINE)
_OF_MARKDOWN = {"=": 1, "-": 2}  # in other texts the first mark is that of the highest level
_SHORTEST_LINE = 4  # an underline may be shorter than its title from here on

_STATEMENT = re.compile(r"[^;\n]+")
_STORED = re.compile(r"(?:(?:this|self)\.\w+|_\w+|[A-Z]\w*) = \w+(?: \?\? throw\b.*)?|(?:base|super)\(.*\)")

_BODILESS = re.compile(r"[\w<>\[\]?,. ]+(?:\([^()]*\);|\{[ \w]*(?:get|set|init);[ \w;]*\})")

_EXPORTS = re.compile(
    r"(?:(?:(?:module\.)?exports(?:\.\w++)*+\s*+=|export\b(?:\s++(?:default|type)\b)?)\s*+"
    r"(?:\{[\w$\s,]*+\}|[\w$]++(?![\w$ ({.=])|\*|require\([^()]*+\))(?:\s*+from\s[^\s;]++)?\s*+;?\s*+"
    r"|__all__\s*+=\s*+[\[(][\w\s,\"']*+[\])]\s*+)++"
)

_TYPES_AFTER_NAMES = frozenset({"typescript", "tsx", "javascript"})
_KEYWORDS = word_set("if else for foreach while do switch using lock", "try catch return throw new await var yield")

_READ_WHOLE = 30  # lines
SAYS_NOTHING = re.compile(
    r"\s*(?:$|//|/\*|\*|--|(?:PROMPT|Prompt|REM|Rem|rem)(?!\S)|#(?!\w)|#(?:if|else|elif|endif|pragma|region|nullable)\b"
    r"|\[[A-Z][\w.<>]*(?:\(.*\))?\]\s*$|<[A-Z][\w.]*\(.*\)>[\s_]*$|@(?!interface\b)[A-Za-z][\w.]*(?:\(.*\))?\s*$)"
)
"""A comment, a blank line, an attribute or an annotation: what it stands before says what it is."""
MOST_LINE_CHARS = 160  # of one that is shown alone
MOST_LINES = 24
"""Of an excerpt, and of a quote. Of the questions that the weights of `passage_ranking` are fitted to, a fact is quoted
for 57 % with excerpts of 24 lines, 56 % with 20 and 54 % with 16."""
_FEWEST_LINES = 8
_CLOSING = frozenset("})]")
_WHOLE_PROSE = 600  # characters; a quote of ten lines
CONFIGURATION = frozenset({"json", "xml", "yaml", "toml", "ini", "msbuild", "html", "css", "razor", "resx", "text"})
DECLARATIVE = CONFIGURATION | {"bicep", "hcl", "terraform", "sql", "tsql", "plpgsql", "graphql", "proto"}
"""What declares things that no code has to name."""
_FIRST_KEY = re.compile(
    r"(?:\s*(?:<\?[^>]*>|<!--.*?-->|#[^\n]*\n|---))*\s*(?:<([A-Za-z][\w.:-]*)|(?:-\s+)?([A-Za-z_][\w.$/-]*)\s*[:=])",
    re.DOTALL,
)
"""The element or the key that a part of a configuration begins with, behind comments."""
_KEYED = CONFIGURATION - {"css", "razor", "text"}
_SAID_TOGETHER = 30  # seconds: what a listener who begins at the time of a citation hears soon


@dataclass(frozen=True, slots=True)
class Passage:
    """`text` is an exact range of the source of `evidence`; `name` what it declares, '' for nothing; `doc` the words of
    its doc comment; `code` what is left of `text` without that comment; `signature` its declaration on one line,
    without attributes and body, which ends at `head_end` of `code` (0: where the marks of the language say). Lines are
    1-based, of the file. `depth` grows with what is around it. `goes_before` and `goes_on`: an excerpt, which leaves
    out lines before or after it."""

    evidence: Evidence
    text: str
    code: str
    line_start: int
    line_end: int
    name: str = ""
    doc: str = ""
    heading: str = ""
    is_type: bool = False
    depth: int = 0
    signature: str = ""
    head_end: int = 0
    goes_before: bool = False
    goes_on: bool = False

    @property
    def declaration(self) -> tuple[int, int]:
        """The lines of the signature: without the comment before it and the body."""
        first = self.line_end - self.code.count("\n")
        if self.head_end:
            return first, first + self.code.count("\n", 0, self.head_end)
        end = (_PYTHON_SIGNATURE_END if self.evidence.language == "python" else _SIGNATURE_END).search(self.code)
        return first, first + self.code.count("\n", 0, end.start() if end else len(self.code))

    @property
    def head(self) -> str:
        """The signature as it is shown: of Python, where no mark begins a body, without docstring and body too."""
        if self.evidence.language != "python":
            return self.signature
        return _on_one_line(_without_attributes(self.code), _PYTHON_SIGNATURE_END)

    @property
    def own_name(self) -> str:
        """The name without what is around it that is declared with it: `flush` of `logger::flush` in C++ and of
        `M.flush` in Lua, `Job` of `defmodule Shop.Job`."""
        return re.split("[.:]", self.name)[-1] if self.evidence.language in _NAMED_IN_FULL else self.name

    @property
    def is_prose(self) -> bool:
        return self.evidence.language in PROSE

    @property
    def owner(self) -> str:
        """What it is declared in: of a method of Go its receiver, which the section is not of; of a member of a nested
        type that type."""
        receiver = _GO_RECEIVER.match(self.signature) if self.evidence.language == "go" else None
        if receiver:
            return receiver["type"]
        for one in self.evidence.members:
            around, _, name = one.name.rpartition(".")
            if around and name == self.name and one.start_line <= self.line_end and self.line_start <= one.end_line:
                return around.rpartition(".")[2]
        symbol = self.evidence.symbol
        owner = owner_name(symbol) if "(" in symbol and " " not in symbol else self.evidence.name
        return "" if self.head_end and not self.depth and owner in _types_beside(self.evidence) else owner


def _types_beside(known: Evidence) -> set[str]:
    """The types that a piece of evidence has from their beginning, outside of others: what follows them is none of
    their members."""
    return {one.name for one in passages_of(known) if one.is_type and not one.depth}


@lru_cache(maxsize=256)  # of a turn or two: what declares a name is looked at before and while passages are ranked
def passages_of(known: Evidence) -> tuple[Passage, ...]:
    """The passages of a piece of evidence in their order; pictures written as text and targets of links are none."""
    parts: Sequence[OutlinePart] = _merged_bullets(known, outline(known.text, known.language))
    if known.language in PROSE:  # a section can begin inside of fenced code, which ends then with the first fence
        fences = [found.end() for found in _FENCE.finditer(known.text)]
        parts = [part for part in parts if len(fences) % 2 == 0 or part.start >= fences[0]]
    found = (_passage(known, part) for part in parts)
    return tuple(one for one in found if one.code.strip() and not (one.is_prose and _PICTURE.search(one.text)))


@lru_cache(maxsize=256)
def excerpts_of(known: Evidence) -> tuple[Passage, ...]:
    """The passages of a piece of evidence, of long ones parts that can be quoted whole: a method of a hundred lines
    says much, and a question asks about a few of them. Pages and recordings are not divided: where a passage of theirs
    begins is all that a citation can say."""
    if known.pages or known.seconds is not None:
        return passages_of(known)
    return tuple(excerpt for whole in passages_of(known) for excerpt in _divided(whole))


def _divided(whole: Passage) -> Iterator[Passage]:
    lines = whole.code.split("\n")
    if len(lines) <= _READ_WHOLE:
        yield whole
        return
    first = whole.line_end - len(lines) + 1
    before = whole.text[: len(whole.text) - len(whole.code)]  # the comment
    breaks = _breaks(lines)
    begin = 0
    while begin < len(lines):
        end = _end_of_excerpt(breaks, begin)
        code = "\n".join(lines[begin:end])
        yield replace(
            whole,
            text=before + code if begin == 0 else code,
            code=code,
            line_start=whole.line_start if begin == 0 else first + begin,
            line_end=first + end - 1,
            goes_before=begin > 0,
            goes_on=end < len(lines),
        )
        begin = end


def _breaks(lines: Sequence[str]) -> list[float]:
    """What it costs to end an excerpt before each line: the less, the less that is indented; less after a blank line,
    more in the middle of a block."""
    bare = [line.lstrip() for line in lines]
    indents = [len(line) - len(begun) if begun else None for line, begun in zip(lines, bare, strict=True)]
    following = zip(indents, [*indents[1:], None], [*indents[2:], None, None], strict=True)
    made = []
    after_blank = False
    for begun, near in zip(bare, following, strict=True):
        indent = next((one for one in near if one is not None), 0)
        closes = begun[:1] in _CLOSING
        made.append(indent / 4 - 1.5 * after_blank + 2 * closes)
        after_blank = not begun
    return made


def _end_of_excerpt(breaks: Sequence[float], begin: int) -> int:
    """Where the excerpt from `begin` ends: at the cheapest break, and rather later than earlier."""
    if len(breaks) - begin <= MOST_LINES:
        return len(breaks)
    ends = range(begin + _FEWEST_LINES, min(begin + MOST_LINES, len(breaks) - 3) + 1)
    return min(ends, key=lambda end: breaks[end] - 0.04 * (end - begin))


def only_stores(one: Passage) -> bool:
    """Whether all that a member does is to keep what it is given, as constructors do: it says what a type needs, and
    nothing of how that works."""
    _, begins, body = one.code.partition(":\n" if one.evidence.language == "python" else "{")
    done = (statement for found in _STATEMENT.finditer(body) if (statement := found.group().strip(" \t\r{}")))
    first = next(done, "") if begins else ""
    return _STORED.fullmatch(first) is not None and all(map(_STORED.fullmatch, done))


def only_declares(one: Passage) -> bool:
    """Whether a passage of code has members without a body alone: what an interface asks for, and what is only kept."""
    lines = [line for line in map(str.strip, one.code.split("\n")) if line and line[0] not in "/*[@#"]
    return bool(lines) and all(map(_BODILESS.fullmatch, lines))


def only_exports(one: Passage) -> bool:
    """Whether a passage of a module says only what others may import of it: `module.exports = { a, b }`, `__all__`."""
    return _EXPORTS.fullmatch(one.code.strip()) is not None


def only_links(one: Passage) -> bool:
    """Whether a passage of a document has little more than links to other pages: it says where something is told."""
    if not one.is_prose or one.text.count("](") < _FEWEST_LINKS:
        return False
    text = _HEADING_LINE.sub("", one.text)
    return len(_WORD_CHARS.findall(_LINK.sub("", text))) < _MOST_BESIDE_LINKS * len(_WORD_CHARS.findall(text))


def whole_of(excerpt: Passage) -> Passage:
    """The passage that an excerpt is of."""
    lines = excerpt.line_start, excerpt.line_end
    around = (one for one in passages_of(excerpt.evidence) if one.line_start <= lines[0] and lines[1] <= one.line_end)
    return next(around, excerpt)


def members_of(head: Passage) -> list[Passage]:
    """What a type declares itself: neither what is inside of its nested types, nor what follows it."""
    return [part for part in _inside(head) if part.name]


def fields_below(head: Passage) -> list[Passage]:
    """Of a class of Python the fields that stand below a nested class, or a method."""
    return [part for part in _inside(head) if not part.name] if head.evidence.language == "python" else []


def _inside(head: Passage) -> list[Passage]:
    after = [part for part in passages_of(head.evidence) if part.line_start > head.line_start]
    if head.head_end:  # of a language read by patterns, where what is between declarations has no depth of its own
        after = [part for part in after if part.head_end]
    inside = list(takewhile(lambda part: part.depth > head.depth, after))
    return [part for part in inside if part.depth == inside[0].depth]


def _passage(known: Evidence, part: OutlinePart) -> Passage:
    text = known.text[part.start : part.end]
    first = known.line_start + known.text.count("\n", 0, part.start)
    last = first + text.count("\n")
    if known.language in PROSE:
        above = [one.title for one in headings_in(known.text, known.language) if one.start < part.end]
        heading, head = above[-1] if above else "", _on_one_line(text)
        return Passage(known, text, text, first, last, heading=heading, signature=head)
    if (named := part.declared) is not None:
        code = known.text[named.attributes : part.end]
        head_end = len(code[: named.signature_end - named.attributes].rstrip())
        comment = _comment_in(known.text[part.start : named.head]) or named.doc
        return Passage(
            known, text, code, first, last,
            name=named.name, doc=_doc_text(comment), is_type=named.is_type, depth=part.inside,
            signature=_on_one_line(code[named.head - named.attributes : head_end]), head_end=head_end,
        )  # fmt: skip
    prelude = _PRELUDE.match(text)
    begin = prelude.end() if prelude else 0
    comment = _comment_in(text[:begin])
    code = text[begin:]
    bare = _without_attributes(code)
    end = _HEAD_END.search(bare)
    head = bare[: end.start()] if end else bare
    is_fields = known.language == "python" and code[:1].isspace() and _DEFINITION.match(code) is None
    is_nameless = is_fields or (known.language == "razor" and code.lstrip()[:1] == "@")
    return Passage(
        known,
        text,
        code,
        first,
        last,
        name="" if is_nameless else _name(known, bare, head),
        doc=_doc_text(comment),
        is_type=_type_in(head) is not None or (known.language == "go" and head.startswith("type ")),
        depth=part.inside if known.language in BRACES else len(code) - len(code.lstrip(" \t")),
        signature=_on_one_line(bare),
    )


class HeadingLines(NamedTuple):
    """A heading at `text[start:end]`; the `level` of a title with a line below it goes by when such a line is first
    there."""

    start: int
    end: int
    level: int
    title: str


@lru_cache(maxsize=64)  # each passage of a text asks
def headings_in(text: str, language: str) -> tuple[HeadingLines, ...]:
    """The headings of a text outside of fenced code; a text with one fence too many begins inside of such."""
    return tuple(_headings(text, language))


def _headings(text: str, language: str) -> Iterator[HeadingLines]:
    inside, at = len(_FENCE_LINE.findall(text)) % 2, 0
    if inside and (first := _FENCE_LINE.search(text)) is not None:
        at = first.end()
    fenced = [found.span() for found in _FENCED.finditer(text, at)]
    levels: dict[str, int] = {}
    for found in (_OF_ASCIIDOC if language == "asciidoc" else _HEADING).finditer(text, at):
        if any(start <= found.start() < end for start, end in fenced):
            continue
        end = found.start() + len(found.group().rstrip())
        if found["marks"]:
            yield HeadingLines(found.start(), end, len(found["marks"]), found["title"].rstrip().rstrip("#=").rstrip())
        elif len(found["line"]) >= min(len(found["name"].strip()), _SHORTEST_LINE):
            mark = found["under"] + (found["over"] or "")
            level = _OF_MARKDOWN.get(mark, 0) if language == "markdown" else 0
            level = level or levels.setdefault(mark, len(levels) + 1)
            yield HeadingLines(found.start(), end, level, found["name"].strip())


def _on_one_line(bare: str, end: re.Pattern[str] = _SIGNATURE_END) -> str:
    """A declaration without its body."""
    return " ".join(end.split(bare, maxsplit=1)[0].split())


def _comment_in(prelude: str) -> str:
    """The last comment between marks before its first tag (`@param`), else the comments of single lines."""
    blocks = _BLOCK_COMMENT.findall(prelude)
    return _TAGGED.split(blocks[-1], maxsplit=1)[0] if blocks else "\n".join(_DOC_LINE.findall(prelude))


def _doc_text(comment: str) -> str:
    """The summary of an XML comment, then its remarks; the words of a plain one."""
    summaries: dict[str, str] = dict(reversed(_SUMMARY.findall(comment)))  # the first of each
    if summaries:
        said = [prose_of(summaries[name]) for name in ("summary", "remarks") if name in summaries]
        return " … ".join(filter(None, said))
    return "" if "<" in comment and "///" in comment else prose_of(comment)


def _type_in(head: str) -> re.Match[str] | None:
    """What a head declares as a type; behind a parenthesis it is a constraint, or a word of a docstring."""
    found = _TYPE.search(head)
    return found if found is not None and "(" not in head[: found.start()] else None


def _without_attributes(code: str) -> str:
    """A declaration without the attributes, annotations, decorators and directives before it, and with `…` for a
    directive in the middle of it: what is quoted has to say what it leaves out."""
    bare = (_CONDITIONAL.sub("…\n", code) if "#" in code else code).lstrip(_NOTHING)
    while (begun := _ATTRIBUTE.match(bare)) is not None:
        end = begun.end() if begun.group() and not begun["given"] else _closed(bare, begun.start("given"))
        if end < 0:
            return bare  # never closed: it is none
        bare = bare[end:].lstrip(_NOTHING)
        while (comment := _COMMENT.match(bare)) is not None:  # `[TestCase(null)] // the default (10)`
            bare = bare[comment.end() :].lstrip(_NOTHING)
    return bare.strip(_NOTHING)


def _closed(text: str, opened: int) -> int:
    """Behind the bracket that closes the one at `opened`, or the first one; -1 where none does."""
    depth = 0
    for found in _BRACKET.finditer(text, max(opened, 0)):
        depth += 1 if found.group() in _OPEN else -1 if found.group() in _CLOSE else 0
        if depth == 0:
            return found.end()
    return -1


def _name(known: Evidence, bare: str, head: str) -> str:
    if known.language == "sql":
        created = _CREATES.match(bare)
        own = known.name if created is not None and known.name in bare.partition("\n")[0] else ""
        written = created and (created[1] or created[2])
        return own if not written or written in own else written
    if known.language == "go":
        found = _GO_DECLARED.match(bare)
        return found[1] if found else ""
    if known.language in _KEYED:
        found = _FIRST_KEY.match(bare)
        return found[1] or found[2] if found else ""
    if known.language not in _NAMED_BY_MARKS or (known.language == "razor" and bare.startswith("<")):
        return ""  # it is declared where a pattern says so, and nowhere else
    if known.language in _TYPES_AFTER_NAMES and "(" not in head:
        head = head.partition(":")[0].rstrip("?! ")
    return _declared_name(head)


def _declared_name(head: str) -> str:
    kind = _type_in(head)
    if kind is not None:
        named = _CALLED.search(head, kind.start(1)) if kind.group().startswith("delegate") else kind
        return named[1] if named is not None else ""
    before = head.partition("(")[0].strip()
    found = _DECLARED.match(before[::-1])
    name = found[1][::-1] if found else ""
    is_call = before.startswith("await ") or "." in before.rpartition(" ")[2].partition("<")[0]
    return name if not is_call and name not in _KEYWORDS else ""


def _is_elsewhere(known: Evidence, before: OutlinePart, part: OutlinePart) -> bool:
    """Whether a part is on another page, or said much later: a passage is cited by where it begins (E19)."""
    if known.pages:
        return PAGE_BREAK in known.text[before.start : part.start]
    if known.seconds is None:
        return False
    begins = begins_at(known.text, before.start, known.seconds)
    return begins_at(known.text, part.start, known.seconds) - begins > _SAID_TOGETHER


def _at_headings(text: str, part: OutlinePart, begins: Collection[int]) -> Iterator[OutlinePart]:
    """A paragraph in two where `## Build` follows it without a blank line."""
    starts = sorted(at for at in begins if part.start < at < part.end and text[at] in "#=")
    for start, end in pairwise([part.start, *starts, part.end]):
        yield _trimmed(text, OutlinePart(start, end, end, part.inside))


def _merged_bullets(known: Evidence, parts: Sequence[OutlinePart]) -> list[OutlinePart]:
    """In prose a heading goes with the paragraphs after it as far as they are short, and a line that ends with a colon
    with its list: a paragraph alone seldom says what it is about."""
    if known.language not in PROSE:
        return list(parts)
    headings = headings_in(known.text, known.language)
    begins, ends = {one.start for one in headings}, {one.end for one in headings}
    made: list[OutlinePart] = []
    for part in (piece for whole in parts for piece in _at_headings(known.text, whole, begins)):
        if LINK_TARGETS.fullmatch(known.text, part.start, part.end):
            continue
        if made and part.start not in begins and not _is_elsewhere(known, made[-1], part):
            before = known.text[made[-1].start : made[-1].end]
            last = before.rstrip().rpartition("\n")[2].strip()
            length = part.end - made[-1].start - known.text.count("\r", made[-1].start, part.end)
            if made[-1].start + len(before.rstrip()) in ends or last.endswith(":") or length <= _WHOLE_PROSE:
                made[-1] = OutlinePart(made[-1].start, part.end, part.end, part.inside)
                continue
        made.append(part)
    return made


def open_brackets(code: str) -> int:
    """How many brackets more are opened than closed."""
    return sum((char in "([{") - (char in ")]}") for char in code)


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())
