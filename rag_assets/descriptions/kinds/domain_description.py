"""`DomainDescriptorDescription`: the business domains that a class declares, their clusters and models. [L]"""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.contracts.segment import Span
from rag_assets.descriptions.domains import Domain
from rag_assets.descriptions.markdown import inline_code
from rag_assets.descriptions.node_keys import declaration_key
from rag_assets.descriptions.symbol import SymbolDescription
from rag_assets.sections import Block

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
                key = declaration_key(self.code_language, symbol, "class", "")
                blocks.append(Block(symbol, place, (_simple(symbol),), (key,), f"- {inline_code(symbol)}", CLASSES))
        return blocks


def _simple(symbol: str) -> str:
    return symbol.rpartition(".")[2]
