"""From the declarations of a file to its segments, as grammars do it: types of their own, functions in a module."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from rag_assets.contracts.segment import (
    LineIndex,
    Member,
    MemberKind,
    ParseHealth,
    Segment,
    SegmentedFile,
    Span,
    type_segment,
)
from rag_assets.languages.by_pattern.comments import Masked, masked, plain_text
from rag_assets.languages.by_pattern.declarations import (
    Declaration,
    comments_between,
    declarations_in,
    merged_clauses,
    without_generics,
)
from rag_assets.languages.by_pattern.table import PATTERNS, BlockEnd, LanguagePatterns, Role
from rag_assets.languages.code_file import MAX_SIGNATURE_CHARS, CodeFile, Statement, assemble, rescue_gaps
from rag_assets.languages.detection import file_stem, without_extension
from rag_assets.languages.documents.text import segment_windows

_KINDS = {
    **dict.fromkeys(("trait", "protocol", "@protocol", "defprotocol", "fun interface"), "interface"),
    **dict.fromkeys(("mod", "module", "defmodule"), "namespace"),
    **dict.fromkeys(("object", "actor", "mixin", "exception", "deftype", "@interface"), "class"),
    **dict.fromkeys(("structure", "union", "message"), "struct"),
    **dict.fromkeys(("typealias", "typedef", "newtype", "data"), "type"),
    "@implementation": "impl",
    "enum class": "enum",
    "enum struct": "enum",
    "defrecord": "record",
}
"""The word of a language → that of the languages with a grammar, which descriptions and the graph know."""

_PARENTHESES = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_IMPLEMENTED = re.compile(r"(?:\w+ )*impl\s*([\w:]+)\s+for\b")
_DERIVES = re.compile(r"(?<!:):(?!:)|\b(?:extends|[Ii]mplements|with|[Ii]nherits)\b|<(?=\s*[A-Z:])")
_BETWEEN_BASES = re.compile(r"[,+]|\b(?:extends|with|[Ii](?:mplements|nherits))\b")
_ACCESS = re.compile(r"\b(?:public|private|protected|virtual|by)\b[^,]*?(?=\w+\s*$)|\bby\b.*")
_BASE = re.compile(r"[A-Za-z_][\w.:\\]*")
_WORD = re.compile(r"[^\W\d_]{2,}")
_FEW_WORDS = 4
_CLOSING_WORDS = 2  # `End Namespace`
_OF_C = frozenset({"c", "cpp", "objectivec"})
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp")
_LICENCE = re.compile(r"copyright|licen[sc]e|SPDX", re.IGNORECASE)


def segment_by_pattern(text: str, path: str, language: str) -> SegmentedFile:
    """The segments of a file by the lines that begin its declarations; windows where none is found."""
    rules = PATTERNS.get(language)
    if rules is None:
        return segment_windows(text, path, language)
    code = masked(text, rules.comments)
    roots = declarations_in(text, code, rules)
    if all(one.role is Role.PACKAGE for one in roots):
        return segment_windows(text, path, language)
    return _Reader(text, path, language, rules, code).segmented(roots)


class _Reader:
    def __init__(self, text: str, path: str, language: str, rules: LanguagePatterns, code: Masked) -> None:
        self.text = text
        self.path = path
        self.language = language
        self.rules = rules
        self.code = code
        self.lines = LineIndex(text)
        self.types: dict[str, str] = {}  # those that the file declares outside of others, and their documentation

    def segmented(self, roots: list[Declaration]) -> SegmentedFile:
        packages = [one for one in roots if one.role is Role.PACKAGE]
        package = packages[0].name if packages else ""
        module = without_extension(self.path)
        found = CodeFile(name=file_stem(self.path), symbol=module, namespace=package)
        self._read_header(roots[0].start, found)
        self.types = {one.name: self._doc(one) for one in roots if one.role is Role.TYPE}
        self._read_imports(found)
        found.items.extend(self._items(roots, package or (module if self.rules.by_path else ""), found))
        rescue_gaps(found, self._worth_keeping())
        return assemble(found, self.text, self.lines, self.language, ParseHealth.BY_PATTERNS)

    def _items(self, declared: Iterable[Declaration], namespace: str, found: CodeFile) -> Iterator[Segment | Member]:
        for one in merged_clauses(list(declared), clauses=self.rules.clauses):
            if one.role is Role.OWNER and one.name not in self.types:
                self._pass_over(one, found)
                yield from self._owned(one, namespace)
            elif one.role in (Role.TYPE, Role.OWNER) or (one.role is Role.CONTAINER and one.kind and _has_members(one)):
                member = self._type(one)
                yield type_segment(member, _joined(namespace, member.name), namespace, self.language)
            elif one.role is Role.PACKAGE:
                found.passed.append(Statement(one.head, one.end))
            elif one.role is Role.CONTAINER:
                self._pass_over(one, found)
                yield from self._items(one.inner, _joined(namespace, one.name), found)
            elif not self._is_prototype(one):
                yield self._member(one)

    def _is_prototype(self, one: Declaration) -> bool:
        """Whether a file of C that others do not include only says there that another one defines a function."""
        is_source = self.language in _OF_C and not self.path.endswith(_HEADERS)
        is_function = one.role is Role.FUNCTION and not self.text.startswith("#", one.head)
        return is_source and is_function and one.body < 0 and self.text.startswith(";", one.end - 1)

    def _pass_over(self, one: Declaration, found: CodeFile) -> None:
        """The first and last line of what is only around other declarations need no symbol of their own."""
        if one.body >= 0:
            self._document(found, self._doc(one), one.start, one.body)
            last = self.text.rfind("\n", one.body, one.end) + 1
            if last and len(self.text[last : one.end].split()) <= _CLOSING_WORDS:
                found.passed.append(Statement(last, one.end))

    def _document(self, found: CodeFile, doc: str, start: int, end: int) -> None:
        """Takes a comment for the documentation of the file, unless it has one or this is a licence."""
        found.passed.append(Statement(start, end))
        if doc and not found.doc and not _LICENCE.search(doc[:2_000]):
            found.doc = doc
            found.doc_range = Statement(start, end)

    def _owned(self, owner: Declaration, namespace: str) -> Iterator[Segment | Member]:
        """The members of a type that another file declares, `Type.member` as the methods of Go are; types in it."""
        for one in owner.inner:
            name = f"{owner.name}.{one.name}"
            if one.role is Role.TYPE:
                yield type_segment(self._type(one), _joined(namespace, name), namespace, self.language)
            else:
                yield replace(self._member(one, owner.name), name=name)

    def _type(self, one: Declaration) -> Member:
        return Member(
            name=one.name,
            kind=MemberKind.TYPE,
            type=_kind_of(one),
            signature=self._signature(one),
            span=self._span(one),
            doc=self._doc(one) or (self.types.get(one.name, "") if one.role is Role.OWNER else ""),
            attributes=self._attributes(one),
            base_list=self._bases(one),
            members=tuple(self._members(one)),
        )

    def _bases(self, one: Declaration) -> tuple[str, ...]:
        start = one.head if one.role is Role.OWNER else one.head_end
        head = self._without_comments(start, one.signature_end)
        if one.kind.startswith("@"):  # `: NSObject <NSCoding>` of Objective-C
            head = head.replace("<", "," if ":" in head else ":").replace(">", "")
        return _bases(head)

    def _members(self, owner: Declaration) -> Iterator[Member]:
        for one in merged_clauses(owner.inner, clauses=self.rules.clauses):
            if one.role in (Role.TYPE, Role.CONTAINER, Role.OWNER):
                yield self._type(one)
            else:
                yield self._member(one, owner.name)

    def _member(self, one: Declaration, owner: str = "") -> Member:
        return Member(
            name=one.name,
            kind=self._kind(one, owner),
            signature=self._signature(one),
            span=self._span(one),
            doc=self._doc(one),
            attributes=self._attributes(one),
        )

    def _kind(self, one: Declaration, owner: str) -> MemberKind:
        if one.role is Role.VALUE:
            return MemberKind.FIELD
        if not owner:
            return MemberKind.FUNCTION
        is_constructor = one.is_constructor or one.name in (owner, self.rules.constructors)
        return MemberKind.CONSTRUCTOR if is_constructor else MemberKind.METHOD

    def _span(self, one: Declaration) -> Span:
        return self.lines.span(one.start, one.end)

    def _signature(self, one: Declaration) -> str:
        return " ".join(self._without_comments(one.head, one.signature_end).split()).rstrip(" {;:=")[
            :MAX_SIGNATURE_CHARS
        ]

    def _without_comments(self, start: int, end: int) -> str:
        pieces = []
        for comment, after in comments_between(self.code, start, end):
            pieces.append(self.text[start:comment])
            start = after
        return " ".join((*pieces, self.text[start:end]))

    def _doc(self, one: Declaration) -> str:
        above = comments_between(self.code, one.start, one.head)
        if not above and self.rules.doc_inside and one.body >= 0:
            inside = comments_between(self.code, one.body, one.end)[:1]
            above = [place for place in inside if not self.code.code[one.body : place[0]].strip()]
        raws = [self.text[start:end] for start, end in above]
        documented = [raw for raw in raws if raw.startswith("/**")]
        return plain_text(documented[-1:] or raws)

    def _attributes(self, one: Declaration) -> tuple[str, ...]:
        found = _attributes_that(self.rules.attributes).finditer(self.code.code, one.start, one.head_end)
        spans = (span for match in found for span in self._each_of(match))
        written = (" ".join(self.text[slice(*span)].split()) for span in spans)
        return (*filter(None, written), *(("Test",) if one.is_test else ()))

    def _each_of(self, attributes: re.Match[str]) -> Iterator[tuple[int, int]]:
        span = attributes.span(attributes.lastindex or 0)
        if attributes[0].startswith("@"):
            yield span
        else:
            yield from (one.span() for one in _ONE_ATTRIBUTE.finditer(self.code.code, *span))

    def _read_imports(self, found: CodeFile) -> None:
        pattern = self.rules.pattern("imports")
        for match in pattern.finditer(self.text) if pattern else ():
            if not self.code.code[match.end("indent")].isspace():
                if match["name"]:
                    found.usings.append(match["name"])
                is_include = self.text.startswith("#", match.end("indent"))
                ends = _LINE_END if is_include else _import_end(self.rules.block, len(match["indent"]))
                stop = ends.search(self.code.code, match.end(), match.end() + _MAX_IMPORT_CHARS)
                found.passed.append(Statement(match.start(), stop.end() if stop else match.end()))

    def _read_header(self, first: int, found: CodeFile) -> None:
        """The comment that a file begins with documents it; a licence is passed over."""
        raws: list[str] = []
        last = 0
        for start, end in comments_between(self.code, 0, first):
            if self.code.code[:start].strip() or (raws and self.text.count("\n", last, start) > 1):
                break
            raws.append(self.text[start:end])
            last = end
        if raws:
            self._document(found, plain_text(raws), 0, last)

    def _worth_keeping(self) -> str:
        """The code, and the comments that say something: what no declaration covers of them is text of the file."""
        pieces = []
        position = 0
        for start, end in self.code.comments:
            if len(_WORD.findall(self.text, start, end)) >= _FEW_WORDS:
                pieces += [self.code.code[position:start], self.text[start:end]]
                position = end
        return "".join((*pieces, self.code.code[position:]))


_LINE_END = re.compile(r"(?=\n)|\Z")
_MAX_IMPORT_CHARS = 4_000


@cache
def _import_end(block: BlockEnd, indent: int) -> re.Pattern[str]:
    """With braces at `;`, or before a line that is not deeper: PowerShell ends no import with a `;`."""
    return re.compile(rf";|(?=\n[ \t]{{0,{indent}}}(?![ \t}}]))") if block is BlockEnd.BRACES else _LINE_END


_GIVEN = r"\((?:[^()]|\((?:[^()]|\([^()]{0,400}+\)){0,400}+\)){0,800}+\)"
_BRACKETED = r"#\[((?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]{0,400}+\]){0,400}+\]){1,2000}+)\]"
_ATTRIBUTES = {"#[": _BRACKETED, "[<": r"\[<(.{1,2000}?)>\]", "<": r"<([^<>\n]+)>", "@": rf"@([\w.:]+(?:{_GIVEN})?)"}
_ONE_ATTRIBUTE = re.compile(rf"(?:{_GIVEN}|[^;,])+")  # `[<Fact; Trait("a", "b")>]`


@cache
def _attributes_that(begin: str) -> re.Pattern[str]:
    """The attributes of a language, of which a line begins with this pattern."""
    written = [form for mark, form in _ATTRIBUTES.items() if re.match(begin, mark)]
    return re.compile(rf"(?:^|(?<=\s))(?:{'|'.join(written) or '(?!)'})(?=\s|$)", re.MULTILINE)


def _kind_of(one: Declaration) -> str:
    said = " ".join(one.kind.lower().split())
    return _KINDS.get(said, said) or "type"


def _joined(namespace: str, name: str) -> str:
    return ".".join(part for part in (namespace, name) if part)


def _has_members(one: Declaration) -> bool:
    return any(inner.role in (Role.FUNCTION, Role.VALUE) for inner in one.inner)


def _bases(head: str) -> tuple[str, ...]:
    """What a type derives from or implements, by what stands between its name and its body."""
    text = head
    while (less := _PARENTHESES.sub("", text)) != text:  # an annotation of a parameter has some of its own
        text = less
    text = without_generics(text)
    if trait := _IMPLEMENTED.match(text):
        return (trait[1],)
    listed = _DERIVES.split(re.split(r"\bwhere\b|\{|=", text)[0], maxsplit=1)[1:]
    words = (_ACCESS.sub("", part).strip() for part in _BETWEEN_BASES.split(listed[0])) if listed else ()
    return tuple(word for word in words if _BASE.fullmatch(word))
