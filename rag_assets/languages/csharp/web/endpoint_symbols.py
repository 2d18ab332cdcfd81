"""The names of endpoints within their type: as unique as ids need them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from rag_assets.contracts.segment import Member
from rag_assets.languages.csharp.web.endpoint_model import Endpoint


def method_suffix(member: Member) -> str:
    """`GetAsync(string,CancellationToken)`: the form of the graph keys of methods. `::` would split an id (A32)."""
    types = ("".join(parameter.type.split()).replace("::", ".") for parameter in member.parameters)
    return f"{member.name}({','.join(types)})"


def with_unique_symbols(endpoints: Iterable[Endpoint]) -> tuple[Endpoint, ...]:
    """No two with one symbol, whatever their case, because ids are lower-cased (A32); later ones are numbered."""
    seen: Counter[str] = Counter()
    found = []
    for endpoint in endpoints:
        key = endpoint.symbol_suffix.lower()
        seen[key] += 1
        number = seen[key]
        found.append(endpoint if number == 1 else replace(endpoint, symbol_suffix=f"{endpoint.symbol_suffix}~{number}"))
    return tuple(found)
