"""`CodeAttributeDescription`: what an attribute marks and how it is written."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.descriptions.kinds.data import DataDescription


@dataclass(kw_only=True)
class CodeAttributeDescription(DataDescription):
    """`targets` as `[AttributeUsage]` has them (`Class`, `Method`); without one an attribute may stand anywhere, once.
    `usage` is how it is written, with its constructor arguments and the properties that may be set."""

    targets: tuple[str, ...] = ()
    allow_multiple: bool = False
    inherited: bool = True
    usage: tuple[str, ...] = ()

    def kind_facts(self) -> list[tuple[str, str]]:
        return [
            ("Usage", " or ".join(self.usage)),
            ("Targets", ", ".join(self.targets)),
            ("AllowMultiple", "yes" if self.allow_multiple else ""),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        inherited = () if self.inherited else ("no",)
        multiple = ("yes",) if self.allow_multiple else ()
        return [
            ("Usage", self.usage),
            ("Targets", self.targets),
            ("Allow multiple", multiple),
            ("Inherited", inherited),
            *super().listed_facts(),
        ]
