"""The routes that a router of Django REST makes of a class: standard actions that it or its bases offer, and those of
its own."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import NodeType, symbol_key
from rag_assets.graph.extract.bases import nearest_type
from rag_assets.languages.callables import CallableIndex, simple_name
from rag_assets.languages.csharp.facts.type_index import IndexedType
from rag_assets.languages.route_mounts import ViewSet, python_imports

if TYPE_CHECKING:
    from rag_assets.languages.label_declarations import LabelDeclarations
    from rag_assets.languages.parsed_file import ParsedFile

_LANGUAGE = "python"
_STANDARD = {
    "list": ("GET", ""),
    "create": ("POST", ""),
    "retrieve": ("GET", "detail"),
    "update": ("PUT", "detail"),
    "partial_update": ("PATCH", "detail"),
    "destroy": ("DELETE", "detail"),
}
_UPDATES = ("update", "partial_update")
_OFFERED: dict[str, tuple[str, ...]] = {
    "ListModelMixin": ("list",),
    "CreateModelMixin": ("create",),
    "RetrieveModelMixin": ("retrieve",),
    "UpdateModelMixin": _UPDATES,
    "DestroyModelMixin": ("destroy",),
    "ModelViewSet": tuple(_STANDARD),
    "ReadOnlyModelViewSet": ("list", "retrieve"),
    "GenericViewSet": (),
    "ViewSet": (),
    "ViewSetMixin": (),
}
"""What the classes of the framework have, which no index has."""
_MOST_BASES = 50


def viewset_routes(written: str, file: ParsedFile, symbols: LabelDeclarations) -> list[tuple[str, str, str]]:
    """(verb, path below the registered one, what answers) of a class as a file names it; none where it, or a viewset
    that it derives from, is not in the index."""
    found = _meant(written, file, symbols)
    lineage = list(_lineage(found, symbols)) if found is not None else []
    if not lineage or None in lineage:
        return []
    keys = [_key(one.symbol, NodeType.TYPE) for one in lineage if isinstance(one, IndexedType)]
    said = [symbols.mounts.viewset(key) or ViewSet(key) for key in keys]
    lookup = f"{{{next((one.lookup for one in said if one.lookup), 'pk')}}}"
    verbs = next((one.verbs for one in said if one.verbs), ())
    routes: dict[tuple[str, str], str] = {}  # what answers a verb and a path: of the nearest class
    for action, (verb, on) in _STANDARD.items():
        declared = _declared(action, lineage, symbols)
        if declared or any(action in _OFFERED[base] for base in lineage if isinstance(base, str)):
            routes[verb, lookup if on else ""] = declared or keys[0]
    paths: dict[str, str] = {}
    for one in said:
        for method, on, verb, path in one.actions:
            if not path.startswith("="):
                paths.setdefault(method, f"{lookup}/{path}" if on else path)
            at = paths.get(path[1:]) if path.startswith("=") else paths[method]
            if at is not None:
                routes.setdefault((verb, at), _key(f"{_symbol(one.key)}.{method}", NodeType.METHOD))
    return [(verb, path, source) for (verb, path), source in routes.items() if not verbs or verb in verbs]


def _key(symbol: str, kind: NodeType) -> str:
    return symbol_key(_LANGUAGE, symbol, kind)


def _symbol(key: str) -> str:
    return key.partition(":")[2].rpartition("|")[0]


def _meant(written: str, file: ParsedFile, symbols: LabelDeclarations) -> IndexedType | None:
    """The class that a name means in a file: by its imports, else the nearest of that name."""
    first, _, rest = written.partition(".")
    modules = _imports(file.text, posixpath.dirname(file.path)).get(first, ())
    names = [".".join(filter(None, (module.replace("/", "."), rest))) for module in modules]
    namespace = file.segments[0].namespace if file.segments else ""
    for name in (*names, written):
        if found := nearest_type(symbols.declared_types.near(name, namespace, _LANGUAGE), namespace):
            return found
    return None


_imports = lru_cache(maxsize=1)(python_imports)  # a file asks for each class that it registers


def _lineage(first: IndexedType, symbols: LabelDeclarations) -> Iterator[IndexedType | str | None]:
    """A class and what it derives from, the nearest first: classes of the label, names of the framework's; None for a
    viewset that nobody here knows."""
    waiting, seen = [first], {first.symbol}
    while waiting and len(seen) <= _MOST_BASES:
        one = waiting.pop(0)
        yield one
        for base in one.base_list:
            near = symbols.declared_types.near(base, one.namespace, _LANGUAGE)
            found = nearest_type((entry for entry in near if entry.symbol != one.symbol), one.namespace)
            name = simple_name(base.partition("[")[0])
            if found is not None and found.symbol not in seen:
                seen.add(found.symbol)
                waiting.append(found)
            elif found is None and name in _OFFERED:
                yield name
            elif found is None and "ViewSet" in name:
                yield None


def _declared(action: str, lineage: Iterable[IndexedType | str | None], symbols: LabelDeclarations) -> str:
    known = {one.key for one in (symbols.calls or CallableIndex()).named(action, _LANGUAGE)}
    keys = (_key(f"{one.symbol}.{action}", NodeType.METHOD) for one in lineage if isinstance(one, IndexedType))
    return next((key for key in keys if key in known), "")
