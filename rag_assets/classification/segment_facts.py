"""The facts that rules may test: the file, and the names of a segment without qualification, arguments and generics."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.contracts.segment import MemberKind, Segment
from rag_assets.languages.csharp.simple_names import attribute_name, is_interface_name, simple_name
from rag_assets.languages.members import walk_members


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The file of a segment: '/'-separated path, language name, decoded text."""

    path: str
    language: str
    contents: str = ""


class SegmentFacts:
    """Derived facts of one segment. Facts that few rules need are methods, computed on demand."""

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
