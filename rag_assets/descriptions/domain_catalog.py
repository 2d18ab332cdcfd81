"""The domain catalog from the configuration: business domains by exact key, and the domain of a path or namespace."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from dataclasses import dataclass

from rag_assets.classification import path_matches

GENERAL_TITLE = "General"
"""What the snippets call the domain of everything that belongs to none (domain reference §3)."""


@dataclass(frozen=True, slots=True)
class Domain:
    """A business domain. `paths` and `namespaces` are globs; `*` in a namespace spans dots."""

    key: str
    title: str
    tagline: str = ""
    description: str = ""
    paths: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()


class ConfiguredDomainCatalog:
    """`IDomainCatalogService` over a list of domains; where several claim a place the first listed wins."""

    def __init__(self, domains: Iterable[Domain] = ()) -> None:
        self._domains = tuple(domains)
        self._by_key = {domain.key: domain for domain in self._domains}
        if len(self._by_key) != len(self._domains):
            keys = [domain.key for domain in self._domains]
            raise ValueError(f"domain keys used twice: {', '.join(sorted({k for k in keys if keys.count(k) > 1}))}")
        self._namespaces = tuple(
            tuple(re.compile(fnmatch.translate(glob)) for glob in domain.namespaces) for domain in self._domains
        )

    def domain(self, domain_key: str) -> Domain | None:
        """By exact key only."""
        return self._by_key.get(domain_key)

    def title(self, domain_key: str) -> str:
        found = self._by_key.get(domain_key)
        return found.title if found else GENERAL_TITLE

    def tagline(self, domain_key: str) -> str:
        found = self._by_key.get(domain_key)
        return found.tagline if found else ""

    def domain_of(self, path: str, namespace: str) -> str:
        """The key of the first domain that a path glob or a namespace glob assigns, '' for none."""
        for domain, namespaces in zip(self._domains, self._namespaces, strict=True):
            if any(path_matches(glob, path) for glob in domain.paths):
                return domain.key
            if namespace and any(pattern.match(namespace) for pattern in namespaces):
                return domain.key
        return ""
