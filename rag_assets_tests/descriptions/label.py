"""A whole label in memory: files with everything that builders know across files, by the real parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from rag_assets.classification.classifier import Classifier
from rag_assets.contracts.description import SummaryFacts
from rag_assets.contracts.result import Message
from rag_assets.descriptions.domain_catalog import ConfiguredDomainCatalog, Domain, DomainCollector
from rag_assets.descriptions.kinds import default_registry
from rag_assets.descriptions.processor import SourceFileProcessor
from rag_assets.descriptions.registry import SymbolTable
from rag_assets.languages.csharp.facts.type_index import TypeIndex, declared_in
from rag_assets.languages.csharp.resource_usages import usages_of
from rag_assets.languages.detection import detect_language
from rag_assets.languages.documents.resx import StaticResourceDictionary
from rag_assets_tests.descriptions.samples import file_context, segmented

SHOP = Path(__file__).parents[2] / "examples" / "shop"
PACKS = ("generic", "lagovista")


@dataclass(frozen=True)
class Label:
    """The descriptions of all files by path, what they were made with, and the messages of their builders."""

    descriptions: dict[str, list[SummaryFacts]]
    catalog: ConfiguredDomainCatalog
    resources: StaticResourceDictionary
    messages: list[Message]

    def first(self, path: str) -> SummaryFacts:
        return self.descriptions[path][0]


def label_of(files: Mapping[str, str], packs: tuple[str, ...] = PACKS, domains: tuple[Domain, ...] = ()) -> Label:
    """Describes files (path → text) as one label."""
    segments = {path: segmented(text, path) for path, text in sorted(files.items())}
    survey, resources = DomainCollector(), StaticResourceDictionary()
    for path, found in segments.items():
        if detect_language(path) == "csharp":
            survey.add(path, found.segments, files[path].__str__)
        if detect_language(path) == "resx":
            resources.add_file(path, found.segments)
    knowledge = SymbolTable(
        declared_types=TypeIndex(t for path, found in segments.items() for t in declared_in(path, found.segments)),
        declared_domains=survey.declared(),
        resource_usages=usages_of(
            ((path, text) for path, text in files.items() if detect_language(path) in ("csharp", "razor")), resources
        ),
    )
    catalog = ConfiguredDomainCatalog(domains, knowledge.declared_domains, knowledge.declared_types)
    processor = SourceFileProcessor(Classifier(packs), default_registry(knowledge.services()), catalog, resources)
    made = {path: processor.describe_file(file_context(files[path], path), found) for path, found in segments.items()}
    return Label(
        {path: found.descriptions for path, found in made.items()},
        catalog,
        resources,
        [message for found in made.values() for outcome in found.outcomes for message in outcome.messages],
    )


@cache
def expected() -> dict[str, Any]:
    """EXPECTED.yaml of the example shop."""
    found: dict[str, Any] = yaml.safe_load((SHOP / "EXPECTED.yaml").read_text(encoding="utf-8"))
    return found


@cache
def shop() -> Label:
    """The indexed text files of the example shop with its configured domains."""
    files = {}
    for entry in expected()["files"]:
        path = entry["path"]
        if entry["outcome"] == "indexed":
            named = entry.get("encoding", "utf-8-sig")
            encoding = "utf-16" if named.startswith("utf-16") else named  # takes the byte order mark away
            files[path] = (SHOP / path).read_bytes().decode(encoding, "replace")
    configured = expected()["repository"]["domains"]
    domains = tuple(
        Domain(
            one["key"],
            one["title"],
            one["tagline"],
            paths=tuple(one.get("paths", ())),
            namespaces=tuple(one.get("namespaces", ())),
        )
        for one in configured
    )
    return label_of({path: text for path, text in files.items() if text}, domains=domains)
