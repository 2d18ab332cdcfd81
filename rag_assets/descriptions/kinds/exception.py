"""`ExceptionDescription`: what went wrong, in the words its constructors put into the message."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.descriptions.kinds.data import DataDescription


@dataclass(kw_only=True)
class ExceptionDescription(DataDescription):
    """`messages` are the texts that constructors pass to the base, resources resolved, holes as written."""

    messages: tuple[str, ...] = ()

    def kind_facts(self) -> list[tuple[str, str]]:
        return [("Message", " | ".join(self.messages))]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        return [("Message", self.messages), *super().listed_facts()]
