"""RESX files: keys, texts, comments, cultures, and the code that uses them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from rag_assets.contracts.result import Message
from rag_assets.contracts.segment import Member, MemberKind, MemberRange
from rag_assets.descriptions.kind_builder import Facts, KindBuilder, Subject
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.languages.csharp.resource_usages import ResourceUsages
from rag_assets.languages.documents.resx import family_of, resource_class_of
from rag_assets.printable import abridged
from rag_assets.sections.snippet import Block

ENTRIES = "entries"

SHOWN_USAGES = 20
"""Places that the description lists per key; a text that is used more often is known by its count."""

RESOURCE_LANGUAGE = "resx"


@dataclass(frozen=True, slots=True)
class ResourceEntry:
    """One text: key, value, comment, culture ('' is the neutral one), the `path:line` of its usages.

    `is_text` is false for a file reference or a serialised object, whose value is not kept.
    """

    key: str
    value: str
    comment: str = ""
    culture: str = ""
    usages: tuple[str, ...] = ()
    is_text: bool = True


@dataclass(kw_only=True)
class ResourceFileDescription(SymbolDescription):
    """`cultures` are the other cultures of the resource class, `missing` the keys of the neutral file that this one
    lacks. `usages` holds the places per key, in the order of the entries, keys without usage left out."""

    resource_class: str = ""
    culture: str = ""
    cultures: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    usages: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def entries(self) -> tuple[ResourceEntry, ...]:
        """The entries of the file, in its order."""
        used = dict(self.usages)
        return tuple(
            ResourceEntry(m.name, m.value, m.doc, self.culture, used.get(m.name, ()), not m.type)
            for m in self.members
            if m.kind is MemberKind.PROPERTY
        )

    @property
    def subtype_flavor(self) -> str:
        return "Localized" if self.culture else "Neutral"

    def finder_facts(self) -> list[tuple[str, str]]:
        return [("Culture", self.culture)]  # the class is in the path and in the purpose

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        return [
            ("Resource class", (self.resource_class,)),
            ("Culture", (self.culture or "neutral",)),
            ("Other cultures", tuple(culture or "neutral" for culture in self.cultures)),
            ("Missing keys", self.missing),
            ("Not texts", tuple(entry.key for entry in self.entries if not entry.is_text)),
        ]

    def group_of(self, leaf: MemberRange) -> str:
        return ENTRIES

    def _short_purpose(self) -> str:
        return self.summary

    def _member_blocks(self, own_key: str) -> list[Block]:
        blocks = super()._member_blocks(own_key)
        used = dict(self.usages)
        return [
            replace(b, markdown=b.markdown + _usage_lines(used.get(name, ()))) for b in blocks for name in b.names[:1]
        ]


def resource_summary(resource_class: str, culture: str, members: tuple[Member, ...]) -> str:
    """`Texts of ShopMessages in de: 9 entries.`"""
    in_culture = f" in {culture}" if culture else ""
    count = len(members)
    return f"Texts of {resource_class}{in_culture}: {count} {'entry' if count == 1 else 'entries'}."


def _usage_lines(places: tuple[str, ...]) -> str:
    if not places:
        return ""
    return f"\n  Used in {abridged([f'`{place}`' for place in places], SHOWN_USAGES)}"


class ResourceFileBuilder(KindBuilder):
    """Describes RESX files; other resource formats are left to the general builder. A repeated key is a warning."""

    name = "resource-file"
    description = (
        "RESX files: each entry with key, text, comment and culture, what the file lacks of its neutral culture, "
        "and the lines of code that use a key. Entries that are files or objects are named, their data is not read."
    )
    describes = ResourceFileDescription
    applies = staticmethod(lambda subject: subject.language == RESOURCE_LANGUAGE)

    def __init__(self, usages: ResourceUsages) -> None:
        self._usages = usages

    def facts(self, subject: Subject) -> Facts:
        path, members, resources = subject.path, subject.segment.members, subject.texts.resources
        resource_class, culture = resource_class_of(path)
        family = family_of(path)
        counts = Counter(member.name for member in members if member.name)
        used = ((key, self._usages.of(family, key)) for key in counts)
        neutral = resources.keys_of(family, "") if culture else frozenset()
        for key in sorted(key for key, count in counts.items() if count > 1):
            subject.warn(Message("RESX.repeated-key", f"{path} has the key {key} more than once"))
        return {
            "summary": resource_summary(resource_class, culture, members),
            "resource_class": resource_class,
            "culture": culture,
            "cultures": tuple(other for other in resources.cultures_of(family) if other != culture),
            "missing": tuple(sorted(neutral.difference(counts))),
            "usages": tuple((key, places) for key, places in used if places),
        }
