"""What the rules may look at: the file, and the names of a segment without qualification, arguments and generics."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.contracts.segment import Member, MemberKind, Segment

_CUT = re.compile(r"[<(\[\s]")
_INTERFACE_NAME = re.compile(r"I[A-Z]")  # the .NET naming rule; base lists do not say which entry is an interface
_ATTRIBUTE_SUFFIX = "Attribute"


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The file of a segment: '/'-separated path, language name, decoded text."""

    path: str
    language: str
    contents: str = ""


@lru_cache(maxsize=16_384)
def simple_name(type_text: str) -> str:
    """`Acme.Repo<Order>` → `Repo`; `Base(x)` → `Base`; `global::System.Exception` → `Exception`."""
    head = _CUT.split(type_text.strip(), maxsplit=1)[0]
    return head.rsplit(".", 1)[-1].rsplit(":", 1)[-1]


@lru_cache(maxsize=16_384)
def attribute_name(attribute: str) -> str:
    """`Xunit.FactAttribute(Skip = "x")` → `Fact`; `return: NotNull` → `NotNull`."""
    name = simple_name(attribute.split(":", 1)[1] if _has_target(attribute) else attribute)
    return name.removesuffix(_ATTRIBUTE_SUFFIX) or name


def _has_target(attribute: str) -> bool:
    head, colon, rest = attribute.partition(":")
    return bool(colon) and not rest.startswith(":") and head.strip().isidentifier()


def is_interface_name(name: str) -> bool:
    return _INTERFACE_NAME.match(name) is not None


class SegmentFacts:
    """Derived facts of one segment. What few rules need is a method and computed only when a rule asks."""

    __slots__ = ("attributes", "bases", "file", "interfaces", "member_attributes", "member_types", "name", "segment")

    def __init__(self, segment: Segment, file: FileFacts) -> None:
        self.segment = segment
        self.file = file
        self.name = segment.name
        self.attributes = [attribute_name(attribute) for attribute in segment.attributes]
        bases = [simple_name(base) for base in segment.base_list]
        self.interfaces = [name for name in bases if is_interface_name(name)]
        """Entries of the base list that are named like interfaces."""
        self.bases = [name for name in bases if not is_interface_name(name)]
        self.member_types = [simple_name(member.type) for member in segment.members if member.type]
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

    def only_data(self) -> bool:
        """Data members and no behaviour beyond constructors and overrides; a record's parameters are data."""
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


def walk_members(members: tuple[Member, ...]) -> list[Member]:
    """Members and the members of nested types, level by level, without recursion."""
    found = list(members)
    for member in found:
        if member.members:
            found.extend(member.members)
    return found
