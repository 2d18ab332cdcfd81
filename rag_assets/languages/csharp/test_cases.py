"""What a test class tests, and its cases: xUnit, NUnit, MSTest, JUnit, Rust by attributes; pytest, Go, PHPUnit and
XCTest by names."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from rag_assets.contracts.segment import Member, Segment, leaves_of
from rag_assets.identifiers import identifier_words
from rag_assets.languages.csharp.binder.type_syntax import attribute_name
from rag_assets.languages.csharp.facts.masked_body import MaskedBody
from rag_assets.languages.csharp.facts.method_verbs import METHODS
from rag_assets.languages.csharp.facts.type_index import IndexedType, TypeIndex
from rag_assets.languages.csharp.facts.type_names import parse_type


@dataclass(frozen=True, slots=True)
class TestCase:
    """One case. `attribute` made it one ('' for a convention of names); `data_rows` counts the rows written at it,
    `data_sources` names where more come from."""

    __test__ = False  # for pytest, which collects what is called Test

    name: str
    attribute: str
    data_rows: int = 0
    data_sources: tuple[str, ...] = ()
    title: str = ""
    line: int = 0


PREFIX_WORDS = 2
"""A declared type is the subject by the first words of a test's name when they are as many; `Json…` is too common."""

CONSTRUCTION_WEIGHT = 2
"""Against a static call: what a test constructs is more often what it tests."""


class SubjectEvidence(StrEnum):
    """Why a type is said to be tested, strongest first."""

    ATTRIBUTE = "attribute"  # [TestOf(typeof(X))]
    NAME = "name of a declared type"
    CONSTRUCTED = "used"  # a type of the label that the test makes or calls
    CONVENTION = "name only"  # no type of that name is known
    NONE = ""


@dataclass(frozen=True, slots=True)
class TestedSubject:
    """The type under test. `symbol` is '' where no declared type was found for it."""

    __test__ = False

    name: str = ""
    symbol: str = ""
    evidence: SubjectEvidence = SubjectEvidence.NONE


def cases_of(segment: Segment) -> tuple[TestCase, ...]:
    """The cases of a class or module, those of nested classes included, in text order."""
    found = []
    by_name = _BY_NAME.get(segment.language)
    if segment.language in _TEST_CLASSES and "Test" not in "".join((segment.name, *segment.base_list)):
        by_name = None
    for leaf in leaves_of(segment.members):
        member = leaf.member
        if member.kind not in METHODS:
            continue
        attribute = next((name for a in member.attributes if _is_case(name := attribute_name(a))), "")
        if attribute or (by_name is not None and by_name.match(member.name)):
            found.append(_case(member, attribute))
    return tuple(found)


def _case(member: Member, attribute: str) -> TestCase:
    names = [attribute_name(a) for a in member.attributes]
    texts = list(zip(names, member.attributes, strict=True))
    titles = (found.group(1) for _, text in texts if (found := _TITLE.search(text)))
    return TestCase(
        name=member.name,
        attribute=attribute,
        data_rows=sum(name in _ROWS for name in names),
        data_sources=tuple(_source(text) for name, text in texts if name in _SOURCES),
        title=next(titles, ""),
        line=member.span.line_start,
    )


def _is_case(name: str) -> bool:
    """Also for attributes that projects derive: `WindowsFact`, `SkippableTheory`."""
    return name in _CASES or name.endswith(("Fact", "Theory"))


def _source(attribute: str) -> str:
    """`MemberData(nameof(Roundings))` → `Roundings`."""
    found = _ARGUMENT.search(attribute)
    return found.group(1) or found.group(2) or found.group(3) if found else attribute_name(attribute)


def tested_subject(body: MaskedBody, declared_types: TypeIndex, touched: tuple[str, ...]) -> TestedSubject:
    """The type that a test class is about. `touched` are the declared types it uses, most used first."""
    segment = body.segment
    for attribute in segment.attributes:
        if attribute_name(attribute) == "TestOf" and (found := _ARGUMENT.search(attribute)):
            return _subject(found.group(2) or found.group(1), segment, declared_types, SubjectEvidence.ATTRIBUTE)
    stem, has_suffix = _stem(segment.name)
    words = identifier_words(stem)
    for stop in range(len(words), 0, -1):  # `OrderManagerRefunds`: OrderManager
        prefix = "".join(words[:stop])
        if prefix in touched:
            return _subject(prefix, segment, declared_types, SubjectEvidence.CONSTRUCTED)
        if (stop >= PREFIX_WORDS or stop == len(words)) and _declared(prefix, segment, declared_types):
            return _subject(prefix, segment, declared_types, SubjectEvidence.NAME)
    around = _subject_of_namespace(segment)
    if around in touched:
        return _subject(around, segment, declared_types, SubjectEvidence.CONSTRUCTED)
    if around and stem.startswith(around) and _declared(around, segment, declared_types):  # OrderTests.OrderTotal
        return _subject(around, segment, declared_types, SubjectEvidence.NAME)
    alone = touched[0] if len(touched) == 1 else ""
    if alone:
        return _subject(alone, segment, declared_types, SubjectEvidence.CONSTRUCTED)
    if stem and has_suffix and segment.kind != "module":
        return TestedSubject(stem, "", SubjectEvidence.CONVENTION)
    return TestedSubject()


def touched_types(body: MaskedBody, declared_types: TypeIndex) -> tuple[str, ...]:
    """Simple names of the declared types that the code constructs or calls statically, most used first, then as they
    come; not types of the same file, of tests, or interfaces."""
    segment = body.segment
    own = {segment.name, *(leaf.member.name for leaf in leaves_of(segment.members))}
    uses: Counter[str] = Counter()
    generic: set[str] = set()
    for match in _CONSTRUCTED.finditer(body.code):
        name = match.group(1).rpartition(".")[2]
        uses[name] += CONSTRUCTION_WEIGHT
        if match.group(2) == "<":
            generic.add(name)
    code = body.code
    for match in _STATIC.finditer(code):
        before = code[match.start() - 1 : match.start()]
        if not (before.isalnum() or before in ("_", ".")):
            uses[match.group()] += 1
    known = []
    for name in uses:
        found = [] if name in own else _declared(name, segment, declared_types)
        if any(name not in generic or "`" in entry.symbol for entry in found):  # `new List<T>` is no page named List
            known.append(name)
    return tuple(sorted(known, key=lambda name: -uses[name]))


def fixtures_of(segment: Segment) -> tuple[str, ...]:
    """Type arguments of fixture bases: `IClassFixture<ShopFactory>`, `TestBase<OrderManager>`."""
    found = (argument.name for base in segment.base_list for argument in parse_type(base).arguments)
    return tuple(dict.fromkeys(name for name in found if name and name not in segment.type_parameters))


def mocked_types(code: str) -> tuple[str, ...]:
    """What is replaced by a double: `Mock<IOrders>`, `Substitute.For<IOrders>()`, `A.Fake<IOrders>()`."""
    if not any(word in code for word in _DOUBLES):  # most tests have none, and a search for words is much faster
        return ()
    return tuple(dict.fromkeys(parse_type(match.group(1)).name for match in _MOCKED.finditer(code)))


def _subject(name: str, segment: Segment, declared: TypeIndex, evidence: SubjectEvidence) -> TestedSubject:
    simple = name.rpartition(".")[2]
    found = _declared(simple, segment, declared)
    symbols = {entry.symbol for entry in found}
    resolved = declared.resolve(name, segment.namespace, segment.usings, segment.language)
    symbol = resolved.symbol if resolved is not None else ""
    if symbol not in symbols:  # a test may be named like its subject, and then finds itself first
        symbol = symbols.pop() if len(symbols) == 1 else ""
    return TestedSubject(simple, symbol, evidence)


def _declared(name: str, segment: Segment, declared_types: TypeIndex) -> list[IndexedType]:
    """Declarations of a name that could be under test: no interfaces, enums or attributes of tests themselves."""
    found = declared_types.named(name, segment.language)
    return [
        entry
        for entry in found
        if entry.declaration.startswith(("class", "record", "struct"))
        and entry.symbol != segment.symbol
        and not _TEST_PLACE.search(entry.namespace or entry.path)
    ]


def _subject_of_namespace(segment: Segment) -> str:
    """`OrderService` where a class per method stands in the namespace `Shop.Tests.OrderServiceTests`, else ''."""
    stem, has_suffix = _stem(segment.namespace.rpartition(".")[2])
    return stem if has_suffix else ""


def _stem(name: str) -> tuple[str, bool]:
    """(name without what says that it is a test, whether something said so)."""
    words = list(identifier_words(name))
    if words and words[-1] in _SUFFIXES:
        while words and words[-1] in _SUFFIXES:
            words.pop()
        return "".join(words), True
    if len(words) > 1 and words[0] in ("Test", "When"):
        return "".join(words[1:]), True
    return name, False


_CASES_NAMES = (
    "Fact Theory Test TestCase TestCaseSource TestMethod DataTestMethod ParameterizedTest RepeatedTest Property "
    "test rstest test_case"
)
_CASES = frozenset(_CASES_NAMES.split())
_ROWS = frozenset({"InlineData", "TestCase", "DataRow"})
_SOURCES = frozenset({"MemberData", "ClassData", "TestCaseSource", "DynamicData", "MethodSource"})
_TEST_CLASSES = ("php", "ruby", "swift")
"""Languages whose cases are methods of classes that are called, or derive from what is called, a test."""
_BY_NAME = {
    "python": re.compile(r"test"),
    "go": re.compile(r"Test[A-Z_]|Benchmark[A-Z_]|Fuzz[A-Z_]"),
    **dict.fromkeys(_TEST_CLASSES, re.compile(r"test[A-Z_]")),
}
_SUFFIXES_NAMES = "Test Tests Spec Specs Should Fixture Fixtures Unit Integration Functional Facts"
_SUFFIXES = frozenset(_SUFFIXES_NAMES.split())
_TITLE = re.compile(r'(?:(?:DisplayName|TestName|Description)\s*=\s*|(?<=TestMethod\())"((?:[^"\\]|\\.)*)"')
_ARGUMENT = re.compile(r'\(\s*(?:nameof\s*\(\s*([\w.]+)|typeof\s*\(\s*([\w.]+)|"([^"]*)")')
_CONSTRUCTED = re.compile(r"new(?<!\wnew)\s+([A-Z]\w*(?:\.\w+)*)\s*(?=([<({\[]))")  # begins with a literal: fast
_STATIC = re.compile(r"[A-Z]\w++(?=\.[A-Z]\w*\s*[(<])")  # what stands before is checked behind the match: fast
_DOUBLES = ("Mock", "Substitute", "A.Fake")
_MOCKED = re.compile(
    r"\b(?:Mock|Substitute\.For|A\.Fake|Mock\.Of|MockRepository\.\w+)\s*<\s*([^;(){}]{1,200}?)\s*>\s*[({;]"
)
_TEST_PLACE = re.compile(r"(?:^|[./])\w*Tests?(?:[./]|$)|(?:^|/)tests?/")
