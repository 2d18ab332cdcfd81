"""`Classifier`: the kind of a segment by ordered, first-match rules; the only place where kinds are decided (A09).

Rules are compiled to plain functions: a test takes the facts of a segment and returns its evidence, '' where it fails.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from os.path import commonprefix

from rag_assets.classification.rule_packs import (
    Condition,
    Rule,
    RulePack,
    built_in_fingerprint,
    glob_pattern,
    merged_packs,
    name_test,
    require_kind,
)
from rag_assets.contracts.kinds import Classification, Kind, SubtypeKind
from rag_assets.contracts.segment import Member, MemberKind, Segment, walk_members
from rag_assets.identifiers import identifier_words
from rag_assets.languages.csharp.binder.type_syntax import attribute_name, is_interface_name, simple_name
from rag_assets.languages.detection import source_type


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The file of a segment: '/'-separated path, language name, decoded text."""

    path: str
    language: str
    contents: str = ""


def _is_shown(member: Member, segment: Segment) -> bool:
    """Whether a member is a property with a type that others may read: of C# one without a modifier is private."""
    shown = segment.kind == "interface" or segment.language != "csharp" or "public" in member.modifiers
    shown |= "internal" in member.modifiers
    return member.kind is MemberKind.PROPERTY and bool(member.type) and shown


class SegmentFacts:
    """Derived facts of one segment. Facts that few rules need are methods, computed on demand."""

    __slots__ = (
        "attributes",
        "bases",
        "file",
        "interfaces",
        "member_attributes",
        "name",
        "property_types",
        "segment",
        "stored",
    )

    def __init__(self, segment: Segment, file: FileFacts, stored: str = "") -> None:
        self.segment = segment
        self.file = file
        self.stored = stored
        """What another type of the label says about how it is stored, '' for nothing."""
        self.name = segment.name
        self.attributes = [attribute_name(attribute) for attribute in segment.attributes]
        bases = [simple_name(base) for base in segment.base_list]
        self.interfaces = [name for name in bases if is_interface_name(name)]
        """Entries of the base list that are named like interfaces."""
        self.bases = [name for name in bases if not is_interface_name(name)]
        self.property_types = [simple_name(member.type) for member in segment.members if _is_shown(member, segment)]
        self.member_attributes = [
            (attribute_name(attribute), member.name)
            for member in walk_members(segment.members)
            if member.attributes
            for attribute in member.attributes
        ]
        """(attribute, member name) over members and those of nested types."""

    def namespace_parts(self) -> list[str]:
        return self.segment.namespace.split(".")

    def folders(self) -> list[str]:
        return self.file.path.split("/")[:-1]

    def extension_member(self) -> str:
        """The name of a static class's first method with a `this` parameter (or C# 14 extension block), or ''."""
        if "static" not in self.segment.modifiers:
            return ""
        for member in self.segment.members:
            if member.kind is MemberKind.EXTENSION:
                return member.name or "extension"
            if member.parameters and "this" in member.parameters[0].modifiers:
                return member.name
        return ""

    def own_interface(self) -> str:
        """The interface of its own name (`IOrderMailer` of `OrderMailer`), or ''."""
        wanted = f"I{self.name}"
        return wanted if wanted in self.interfaces else ""

    def shared_role(self) -> str:
        """The interface that ends in the same word (`IAgentTool` of `ListAgentsTool` or `AgentToolBase`), or ''."""
        words = identifier_words(self.name.removesuffix("Base"))
        ending = words[-1] if words else ""
        return next((name for name in self.interfaces if ending and identifier_words(name)[-1] == ending), "")

    def identity(self) -> str:
        """Its property `Id` or `OrderId` that can be set, or '': what is told from others of its type by a key."""
        names = ("Id", f"{self.name}Id")
        for member in self.segment.members:
            if (
                member.name in names
                and member.kind is MemberKind.PROPERTY
                and "override" not in member.modifiers
                and any(accessor.endswith(("set", "init")) for accessor in member.accessors)
            ):
                return member.name
        return ""

    def only_data(self) -> bool:
        """Whether it has data and no behaviour beyond constructors and overrides. Parameters of a record are data."""
        has_data = bool(self.segment.parameters) and self.segment.kind.startswith("record")
        for member in self.segment.members:
            if member.kind in _DATA:
                has_data = True
            elif member.kind in _METHODS and "override" in member.modifiers:
                continue
            elif member.kind not in _NEUTRAL:
                return False
        return has_data


_DATA = (MemberKind.PROPERTY, MemberKind.FIELD)
_METHODS = (MemberKind.METHOD, MemberKind.FUNCTION)
_NEUTRAL = (MemberKind.CONSTRUCTOR, MemberKind.TYPE)  # nested types add no behaviour to the type itself


HEAD_CHARS = 2_000
"""Characters of the header block of a file: enough for the front matter and first lines of any real document."""

Test = Callable[[SegmentFacts], str]


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """One condition of a rule: `first` decides most segments, `rest` runs only if it holds."""

    rule: Rule
    pack: str
    first: Test
    rest: tuple[Test, ...]

    def classification(self, facts: SegmentFacts, found: str) -> Classification | None:
        """The classification with all evidence if the other tests hold too, else None."""
        evidence = [found]
        for test in self.rest:
            found = test(facts)
            if not found:
                return None
            evidence.append(found)
        return Classification(self.rule.kind, self.rule.reason, tuple(evidence), self.rule.name, self.pack)


def compile_rule(pack: RulePack, rule: Rule, language: str, declaration: str) -> list[CompiledRule]:
    """The conditions of a rule that segments of one language and declaration can meet.

    Both are checked here, once, so that each segment is tested only for what can still differ.
    """
    made = []
    for condition in rule.any:
        if _possible(condition, language, declaration):
            first, *rest = _tests(condition)
            made.append(CompiledRule(rule, pack.name, first, tuple(rest)))
    return made


def _possible(condition: Condition, language: str, declaration: str) -> bool:
    return (
        (condition.language_in is None or language in condition.language_in)
        and (condition.source_type_in is None or source_type(language) in condition.source_type_in)
        and (condition.declaration_in is None or declaration in condition.declaration_in)
    )


def _tests(condition: Condition) -> tuple[Test, ...]:
    """The tests of a condition, cheap and decisive ones first. The order affects only speed and evidence."""
    tests: list[Test] = []
    if condition.name_matches is not None:
        tests.append(_name(condition.name_matches))
    if condition.attribute_matches is not None:
        tests.append(_among(condition.attribute_matches, attrgetter("attributes"), "attribute"))
    if condition.attribute_any is not None:
        tests.append(_attribute_any(condition.attribute_any))
    if condition.base_matches is not None:
        tests.append(_among(condition.base_matches, attrgetter("bases"), "base type"))
    if condition.implements_matches is not None:
        tests.append(_among(condition.implements_matches, attrgetter("interfaces"), "implements"))
    if condition.has_property_of_type is not None:
        tests.append(_among(condition.has_property_of_type, attrgetter("property_types"), "property of type"))
    if condition.namespace_matches is not None:
        tests.append(_namespace(condition.namespace_matches))
    if condition.namespace_part_matches is not None:
        tests.append(_among(condition.namespace_part_matches, SegmentFacts.namespace_parts, "namespace part"))
    if condition.folder_matches is not None:
        tests.append(_among(condition.folder_matches, SegmentFacts.folders, "folder"))
    if condition.path_matches is not None:
        tests.append(_path(condition.path_matches))
    if condition.static_with_this_parameters is not None:
        label = "static class with a `this` parameter"
        tests.append(
            _found(condition.static_with_this_parameters, SegmentFacts.extension_member, label, "no extension methods")
        )
    if condition.only_data_members is not None:
        tests.append(_only_data(condition.only_data_members))
    if condition.persisted is not None:
        tests.append(_found(condition.persisted, attrgetter("stored"), "stored", "not known to be stored"))
    if condition.implements_own_interface is not None:
        tests.append(
            _found(condition.implements_own_interface, SegmentFacts.own_interface, "implements", "own contract")
        )
    if condition.shares_role_of_interface is not None:
        tests.append(
            _found(condition.shares_role_of_interface, SegmentFacts.shared_role, "implements", "role of its own")
        )
    if condition.identity_property is not None:
        tests.append(_found(condition.identity_property, SegmentFacts.identity, "key property", "no key property"))
    if condition.head_matches is not None:
        tests.append(_head(condition.head_matches))
    if condition.calls_any is not None:
        tests.append(_calls(condition.calls_any))
    if condition.declaration_in is not None:  # settled by `_possible`; here for the evidence
        tests.append(lambda facts: f"declaration: {facts.segment.kind}")
    if condition.language_in is not None:
        tests.append(lambda facts: f"language: {facts.file.language}")
    if condition.source_type_in is not None:
        tests.append(lambda facts: f"source type: {source_type(facts.file.language)}")
    if condition.unless is not None:
        tests.append(_unless(condition.unless))
    return tuple(tests)


def _name(patterns: tuple[str, ...]) -> Test:
    matches = name_test(patterns)
    return lambda facts: f"name: {facts.name}" if matches(facts.name) else ""


def _namespace(patterns: tuple[str, ...]) -> Test:
    matches = name_test(patterns)

    def test(facts: SegmentFacts) -> str:
        namespace = facts.segment.namespace
        return f"namespace: {namespace}" if matches(namespace) else ""

    return test


def _among(patterns: tuple[str, ...], names: Callable[[SegmentFacts], Sequence[str]], label: str) -> Test:
    matches = name_test(patterns)

    def test(facts: SegmentFacts) -> str:
        for name in names(facts):
            if matches(name):
                return f"{label}: {name}"
        return ""

    return test


def _attribute_any(patterns: tuple[str, ...]) -> Test:
    matches = name_test(patterns)

    def test(facts: SegmentFacts) -> str:
        for attribute in facts.attributes:
            if matches(attribute):
                return f"attribute: {attribute}"
        for attribute, member in facts.member_attributes:
            if matches(attribute):
                return f"attribute: {attribute} on {member}"
        return ""

    return test


def _path(globs: tuple[str, ...]) -> Test:
    patterns = tuple(glob_pattern(glob) for glob in globs)

    def test(facts: SegmentFacts) -> str:
        path = facts.file.path
        return f"path: {path}" if any(pattern.fullmatch(path) for pattern in patterns) else ""

    return test


def _only_data(wanted: bool) -> Test:
    label = "only data members" if wanted else "has behaviour"
    return lambda facts: label if facts.only_data() == wanted else ""


def _found(wanted: bool, find: Callable[[SegmentFacts], str], label: str, absent: str) -> Test:
    """Whether `find` has something to show, as `wanted`."""

    def test(facts: SegmentFacts) -> str:
        found = find(facts)
        if bool(found) != wanted:
            return ""
        return f"{label}: {found}" if wanted else absent

    return test


def _head(expression: str) -> Test:
    pattern = re.compile(expression, re.MULTILINE)

    def test(facts: SegmentFacts) -> str:
        found = pattern.search(facts.file.contents[:HEAD_CHARS])
        return f"header: {found.group(0).strip()}" if found else ""

    return test


def _calls(methods: tuple[str, ...]) -> Test:
    needles = tuple((method, f".{method}(") for method in methods)
    # One search rules most texts out.
    shared = commonprefix([needle for _, needle in needles])  # noqa: RUF071 - of characters, as wanted

    def test(facts: SegmentFacts) -> str:
        text, span = facts.file.contents, facts.segment.span
        if text.find(shared, span.char_start, span.char_end) < 0:
            return ""
        for method, needle in needles:
            if text.find(needle, span.char_start, span.char_end) >= 0:
                return f"calls: {method}"
        return ""

    return test


def _unless(condition: Condition) -> Test:
    tests = _tests(condition)

    def exception(facts: SegmentFacts) -> str:
        holds = _possible(condition, facts.file.language, facts.segment.kind) and all(test(facts) for test in tests)
        return "" if holds else "no exception applies"

    return exception


DEFAULT_PACKS = ("generic",)
OVERRIDE_RULE = "configured-kind"
OVERRIDE_PACK = "configuration"

_RULES_VERSION = 3
"""Raise it when compiled rules decide differently with unchanged packs."""

CLASSIFIER_VERSION = f"{_RULES_VERSION}.{built_in_fingerprint()}"
"""Changes with the code above and with every edit of a built-in pack."""


class Classifier:
    """The merged rules of some packs, and the configured kinds of paths, which beat every rule.

    `packs` are names or paths of `.yaml` files; `kinds` maps path globs to kinds, built in or declared by one of the
    packs, first match wins. Raises PackError for packs and kinds and PatternError for globs that cannot be used.
    """

    def __init__(self, packs: tuple[str, ...] = DEFAULT_PACKS, kinds: Mapping[str, Kind] | None = None) -> None:
        merged = merged_packs(packs)
        for glob, kind in (kinds or {}).items():
            require_kind(kind, merged.kinds, f"kinds: {glob!r}")
        self._rules = merged.rules
        self._overrides = tuple((glob, glob_pattern(glob), kind) for glob, kind in (kinds or {}).items())
        self._compiled: dict[tuple[str, str], tuple[tuple[Test, CompiledRule], ...]] = {}

    @property
    def fingerprint(self) -> str:
        """12 hex digits over everything that can change a decision: rules of the selected packs, configured kinds."""
        digest = hashlib.sha256(CLASSIFIER_VERSION.encode())
        for pack, rule in self._rules:
            digest.update(f"{pack.name}\0{rule.model_dump_json()}\0".encode())
        for glob, _, kind in self._overrides:
            digest.update(f"{glob}\0{kind}\0".encode())
        return digest.hexdigest()[:12]

    def classify(self, segment: Segment, file: FileFacts, stored: str = "") -> Classification:
        """The kind of one segment with reason and evidence; `Other` without a matching rule. Pure, and never fails.

        `stored` is what other types of the label say about how a type is stored (`PersistedTypes.evidence`).
        """
        for glob, pattern, kind in self._overrides:
            if pattern.fullmatch(file.path):
                evidence = (f"path glob: {glob}",)
                return Classification(kind, "set by the configuration", evidence, OVERRIDE_RULE, OVERRIDE_PACK)
        facts = SegmentFacts(segment, file, stored)
        for first, alternative in self._alternatives(file.language, segment.kind):
            holds = first(facts)
            if holds:
                found = alternative.classification(facts, holds)
                if found is not None:
                    return found
        return Classification(SubtypeKind.OTHER, "no rule matches", (f"declaration: {segment.kind}",))

    def _alternatives(self, language: str, declaration: str) -> tuple[tuple[Test, CompiledRule], ...]:
        """The rules that a segment of this language and declaration can match, in order, each after its first test."""
        key = (language, declaration)
        found = self._compiled.get(key)
        if found is None:
            compiled = [compile_rule(pack, rule, language, declaration) for pack, rule in self._rules]
            found = self._compiled[key] = tuple((made.first, made) for rule in compiled for made in rule)
        return found
