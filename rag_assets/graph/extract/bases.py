"""What types of languages without a resolver derive from, and which of several types of one name is the nearest."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import Confidence, GraphEdge, NodeType, Relation, symbol_key
from rag_assets.contracts.segment import MemberKind, leaves_of
from rag_assets.languages.csharp.facts.type_index import IndexedType

if TYPE_CHECKING:
    from rag_assets.languages.label_declarations import LabelDeclarations
    from rag_assets.languages.parsed_file import ParsedFile

_SHARED = dict.fromkeys(("c", "cpp", "objectivec"), ("c", "cpp", "objectivec"))
"""Languages that derive from types of each other: a header (`.h`) is one of C."""
_PARTS = re.compile(r"[./]")


def bases_of(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphEdge]:
    """What types of a language without a resolver say they derive from. Probable: a base is found by its
    name as it is written, the nearest of several that are called so."""
    for segment in file.segments:
        declared = [(segment.symbol, segment.kind, segment.base_list, segment.span.line_start)]
        for leaf in leaves_of(segment.members):
            one = leaf.member
            if one.kind is MemberKind.TYPE:
                declared.append((one.symbol, one.type, one.base_list, one.span.line_start))
        for symbol, kind, base_list, line in declared:
            meant = [_base(base, symbol, segment.namespace, file.language, symbols) for base in base_list]
            for found in dict.fromkeys(meant):
                if found is not None:
                    is_contract = found.declaration.startswith("interface") and not kind.startswith("interface")
                    yield GraphEdge(
                        symbol_key(file.language, symbol, NodeType.TYPE),
                        Relation.IMPLEMENTS if is_contract else Relation.INHERITS,
                        symbol_key(found.language, found.symbol, NodeType.TYPE),
                        Confidence.PROBABLE, file.path, line,
                    )  # fmt: skip


def _base(written: str, symbol: str, namespace: str, language: str, symbols: LabelDeclarations) -> IndexedType | None:
    known = (
        entry
        for one in _SHARED.get(language, (language,))
        for entry in symbols.declared_types.near(written, namespace, one)
    )
    return nearest_type((entry for entry in known if entry.symbol != symbol), namespace)


def nearest_type(candidates: Iterable[IndexedType], namespace: str) -> IndexedType | None:
    """Of types of one name that of a namespace, else the one whose own has most in common with it; None where two are
    equally near."""
    near: dict[tuple[bool, int], dict[str, IndexedType]] = {}
    for entry in candidates:
        near.setdefault((entry.namespace == namespace, words_in_common(entry, namespace)), {})[entry.symbol] = entry
    nearest = list(near[max(near)].values()) if near else []
    return nearest[0] if len(nearest) == 1 else None


def words_in_common(entry: IndexedType, namespace: str) -> int:
    """How many words of the namespace or folders of a type stand in another one, in order."""
    words = _PARTS.split(namespace)
    at = found = 0
    for part in _PARTS.split(entry.namespace):
        if part in words[at:]:
            at = words.index(part, at) + 1
            found += 1
    return found
