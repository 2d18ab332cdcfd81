"""The domain catalog of a label: the domains of its configuration and those its code declares, by exact key."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from dataclasses import replace

from rag_assets.classification import path_matches
from rag_assets.contracts.result import Message
from rag_assets.contracts.segment import Segment
from rag_assets.dependency_trace import tracked
from rag_assets.descriptions.domain_index import Cluster, Domain, DomainIndex, collision

__all__ = ["GENERAL_TITLE", "Cluster", "ConfiguredDomainCatalog", "Domain"]

GENERAL_TITLE = "General"
"""What the snippets call the domain of everything that belongs to none (domain reference §3)."""


class ConfiguredDomainCatalog:
    """`IDomainCatalogService`: the configured domains first, then what the code of the label declares.

    Where several globs claim a place the first listed wins. Raises ValueError for a key configured twice.
    """

    def __init__(self, domains: Iterable[Domain] = (), declared: DomainIndex | None = None) -> None:
        self._configured = tuple(domains)
        keys = [domain.key for domain in self._configured]
        if len(set(keys)) != len(keys):
            raise ValueError(f"domain keys used twice: {', '.join(sorted({k for k in keys if keys.count(k) > 1}))}")
        self._declared = declared or DomainIndex()
        self._by_key = {domain.key: domain for domain in self._configured}
        problems: list[Message] = []
        for domain in self._declared.domains:
            known = self._by_key.get(domain.key)
            if known is None:
                self._by_key[domain.key] = domain
            elif known.title == domain.title:
                self._by_key[domain.key] = _completed(known, domain)
            else:
                problems.append(collision(known, domain))
        self.problems: tuple[Message, ...] = (*problems, *self._declared.problems)
        self._namespaces = tuple(
            tuple(re.compile(fnmatch.translate(glob)) for glob in domain.namespaces) for domain in self._configured
        )

    @property
    def domains(self) -> tuple[Domain, ...]:
        """All domains, the configured ones first, in their order."""
        return tuple(self._by_key.values())

    @tracked("catalog.domain")
    def domain(self, domain_key: str) -> Domain | None:
        """By exact key only."""
        return self._by_key.get(domain_key)

    @tracked("catalog.title")
    def title(self, domain_key: str) -> str:
        found = self._by_key.get(domain_key)
        return found.title if found else GENERAL_TITLE

    @tracked("catalog.tagline")
    def tagline(self, domain_key: str) -> str:
        found = self._by_key.get(domain_key)
        return found.tagline if found else ""

    def domain_of(self, path: str, namespace: str) -> str:
        """The key of the first domain that a path glob or a namespace glob assigns, '' for none."""
        for domain, namespaces in zip(self._configured, self._namespaces, strict=True):
            if any(path_matches(glob, path) for glob in domain.paths):
                return domain.key
            if namespace and any(pattern.match(namespace) for pattern in namespaces):
                return domain.key
        return ""

    def domain_of_segment(self, path: str, segment: Segment) -> str:
        """The key of the domain of a type, '' for none: what its `[EntityDescription]` names, where the catalog has
        it; then the place of the type; then, for a class that declares one domain, that domain."""
        if segment.attributes:
            named = self._declared.domain_named_by(segment)
            if self.domain(named) is not None:
                return named
        placed = self.domain_of(path, segment.namespace)
        if placed:
            return placed
        own = self._declared.of_type(segment.symbol)
        return own[0].key if len(own) == 1 else ""


def _completed(configured: Domain, declared: Domain) -> Domain:
    """A configured domain with what only the code says of it; the titles agree."""
    return replace(
        configured,
        tagline=configured.tagline or declared.tagline,
        description=configured.description or declared.description,
        clusters=declared.clusters,
        classes=declared.classes,
        declared_at=declared.declared_at,
    )
