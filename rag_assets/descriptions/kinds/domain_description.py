"""Classes that declare business domains, with clusters and models. [L]"""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.contracts.graph import declaration_key
from rag_assets.contracts.segment import Span, first_paragraph
from rag_assets.descriptions.domain_catalog import (
    Domain,
    DomainCollector,
    DomainIndex,
    description_members,
    is_descriptor,
)
from rag_assets.descriptions.kind_builder import Facts, KindBuilder, Subject, is_csharp
from rag_assets.descriptions.symbol_description import SymbolDescription, inline_code
from rag_assets.sections.snippet import Block

CLUSTERS = "clusters"
CLASSES = "classes"


@dataclass(kw_only=True)
class DomainDescriptorDescription(SymbolDescription):
    """`domains` in the order of their properties; `places` are the spans of these properties."""

    domains: tuple[Domain, ...] = ()
    places: tuple[Span, ...] = ()

    def finder_facts(self) -> list[tuple[str, str]]:
        return [
            ("DomainKeys", ", ".join(domain.key for domain in self.domains)),
            ("DomainTitles", ", ".join(domain.title for domain in self.domains if domain.title != domain.key)),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        facts: list[tuple[str, tuple[str, ...]]] = []
        for domain in self.domains:
            told = (domain.description,) if domain.description else ()
            facts += [("Domain key", (domain.key,)), ("Domain title", (domain.title,)), ("Domain description", told)]
        return facts

    def extra_blocks(self) -> list[Block]:
        """Clusters and models of each domain, placed where the domain is declared."""
        blocks: list[Block] = []
        for domain, place in zip(self.domains, self.places, strict=True):
            for cluster in domain.clusters:
                title = (
                    f"{cluster.name} ({cluster.key})" if cluster.key and cluster.name else cluster.name or cluster.key
                )
                text = f"{title} — {cluster.description}" if cluster.description else title
                blocks.append(Block(text, place, (cluster.name,), (), f"- {text}", CLUSTERS))
            for symbol in domain.classes:
                key, name = declaration_key(self.code_language, symbol, "class", ""), symbol.rpartition(".")[2]
                blocks.append(Block(symbol, place, (name,), (key,), f"- {inline_code(symbol)}", CLASSES))
        return blocks


class DomainDescriptionBuilder(KindBuilder):
    """Describes C# classes that declare business domains. A domain whose key is not known is left out with a
    warning."""

    name = "domain-description"
    description = (
        "Classes that declare business domains: key, title, description and clusters of each domain as written in "
        "its [DomainDescription] property, and the models of the label whose [EntityDescription] names it."
    )
    describes = DomainDescriptorDescription
    applies = staticmethod(is_csharp)

    def __init__(self, declared_domains: DomainIndex) -> None:
        self._declared = declared_domains

    def facts(self, subject: Subject) -> Facts | None:
        segment = subject.segment
        if not is_descriptor(segment):
            return None
        declared = self._declared
        if not declared.of_type(segment.symbol):  # nobody read the whole label: the class alone
            collector = DomainCollector()
            collector.add(subject.path, [segment], lambda: subject.file.contents)
            declared = collector.declared()
        domains = declared.of_type(segment.symbol)
        by_line = {member.span.line_start: member.span for member in description_members(segment)}
        places = tuple(by_line.get(int(d.declared_at.rpartition(":")[2]), segment.span) for d in domains)
        described = " ".join(domain.description for domain in domains if domain.description)
        summary = " ".join(text for text in (first_paragraph(segment.doc), described) if text)
        own = f"{subject.path}:"
        for message in declared.problems:
            if message.code == "DOMAIN.unknown-key" and message.text.startswith(own):
                subject.warn(message)
        written = {"summary": summary, "documented": True} if summary else {}
        return {"domains": domains, "places": places, **written}
