"""`RepositoryDescription`: a repository, where it stores, and what it does there."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.descriptions.facts.methods import METHODS
from rag_assets.descriptions.facts.storage import StorageOperation
from rag_assets.descriptions.facts.storage_names import StorageKind
from rag_assets.descriptions.kinds.behaviour import METHODS_GROUP, BehaviourDescription
from rag_assets.sections.tiling import Leaf


@dataclass(kw_only=True)
class RepositoryDescription(BehaviourDescription):
    """A repository class. `storage` is Unknown where nothing in the text tells; `storage_evidence` says what did.

    `entities` are the types it is or could be the repository of, as its bases and methods name them.
    """

    storage: StorageKind = StorageKind.UNKNOWN
    storage_evidence: tuple[str, ...] = ()
    storage_operations: tuple[StorageOperation, ...] = ()
    entities: tuple[str, ...] = ()

    def kind_facts(self) -> list[tuple[str, str]]:
        calls = dict.fromkeys(operation.call.removesuffix("Async") for operation in self.storage_operations)
        backend = "" if self.storage is StorageKind.UNKNOWN else self.storage.value
        return [("StorageBackend", backend), ("Operations", ", ".join(calls or self.operation_kinds()))]

    def group_of(self, leaf: Leaf) -> str:
        return METHODS_GROUP if leaf.member.kind in METHODS and not leaf.owner else ""

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        operations = [f"{operation.member} → {operation.call}" for operation in self.storage_operations]
        return [
            *super().listed_facts(),
            ("Storage", (self.storage.value,)),
            ("Storage evidence", self.storage_evidence),
            ("Storage operations", tuple(dict.fromkeys(operations))),
        ]
