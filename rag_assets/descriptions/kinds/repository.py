"""Repositories, with the kind of storage that their text gives evidence of."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.contracts.segment import Segment
from rag_assets.descriptions.kind_builder import Facts, Subject, TypeAwareBuilder
from rag_assets.descriptions.kinds.service_like import METHODS_GROUP, BehaviourDescription, behaviour_facts
from rag_assets.languages.csharp.facts.masked_body import masked_body_of
from rag_assets.languages.csharp.facts.method_verbs import METHODS
from rag_assets.languages.csharp.facts.storage import StorageOperation, storage_of, storage_operations
from rag_assets.languages.csharp.facts.storage_catalog import StorageKind
from rag_assets.languages.csharp.facts.type_names import is_scalar, parse_type
from rag_assets.languages.members import MemberRange


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

    def group_of(self, leaf: MemberRange) -> str:
        return METHODS_GROUP if leaf.member.kind in METHODS and not leaf.owner else ""

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        operations = [f"{operation.member} → {operation.call}" for operation in self.storage_operations]
        return [
            *super().listed_facts(),
            ("Storage", (self.storage.value,)),
            ("Storage evidence", self.storage_evidence),
            ("Storage operations", tuple(dict.fromkeys(operations))),
        ]


class RepositoryBuilder(TypeAwareBuilder):
    """Describes classes of kind Repository."""

    name = "repository"
    description = (
        "Repository classes: the facts of a manager, and where they store (documents, tables, SQL, blobs, memory, "
        "another service) with the evidence: base class, what it holds, what it uses, what it imports. Unknown "
        "where nothing tells."
    )
    describes = RepositoryDescription

    def facts(self, subject: Subject) -> Facts:
        body = masked_body_of(subject.text)
        others = [(path, masked_body_of(text)) for path, text in subject.text.others]
        storage = storage_of(body, self.declared_types, [other for _, other in others])
        facts = behaviour_facts(subject.text, self.declared_types)
        return facts | {
            "storage": storage.kind,
            "storage_evidence": storage.evidence,
            "storage_operations": storage_operations(body, storage.kind, self.declared_types, others),
            "entities": stored_entities(subject.segment, facts["primary_entity"]),
        }


def stored_entities(segment: Segment, primary: str) -> tuple[str, ...]:
    """The primary entity and the type arguments of the bases that can be entities."""
    arguments = (argument for base in segment.base_list for argument in parse_type(base).arguments)
    named = [a.name for a in arguments if a.name and not is_scalar(a) and a.name not in segment.type_parameters]
    return tuple(dict.fromkeys([primary, *named] if primary else named))
