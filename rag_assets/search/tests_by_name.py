"""Tests that name what changed, for languages whose calls are not in the graph: who says a rare name means it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import NodeType, file_key, key_kind
from rag_assets.contracts.identity import document_uri
from rag_assets.graph.changed_nodes import keys_at, matters, spans_of
from rag_assets.graph.csr_graph import Graph
from rag_assets.graph.impact import in_test_file
from rag_assets.graph.lookup import name_of, with_word
from rag_assets.identifiers import identifier_words
from rag_assets.languages.detection import WITHOUT_RESOLVER, detect_language
from rag_assets.search.affected_tests import CASES_ARE_CALLS

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex

_KINDS = (NodeType.TYPE, NodeType.METHOD, NodeType.PROPERTY)
_WORD = re.compile(r"[^\W\d]\w*")
_SHORTEST = 3
_MOST_DECLARED = 3
"""Of one name in code: `get` means too much."""
_DISTINCT = 2
"""Words of a name that says by itself what is meant, `refund_order`; `total` does only in a file that also names the
type or the module around it."""


@dataclass(frozen=True, slots=True)
class NamedIn:
    """A node of a test file (the smallest around the line) that says the name of `key`, a declaration that changed."""

    node: int
    key: str
    path: str
    line: int


def tests_by_name(index: LabelIndex, graph: Graph, keys: Iterable[str]) -> Iterator[NamedIn]:
    """Where tests name one of the declarations, by path and line; each node once for a declaration."""
    wanted: dict[tuple[str, str], list[str]] = {}
    for key in keys:
        name = name_of(key)
        if name.prefix in WITHOUT_RESOLVER and key_kind(key) in _KINDS and name.segments:
            word = name.segments[-1]
            if len(word) >= _SHORTEST and not word.startswith("__") and _is_rare(graph, word, name.prefix):
                wanted.setdefault((_family(name.prefix), word), []).append(key)
    if not wanted:
        return
    families, words = {family for family, _ in wanted}, {word for _, word in wanted}
    for path in _test_files(index, graph, families):
        language = detect_language(path)
        family = _family(language)
        text = index.resolve(document_uri(index.label, path))
        everything, lines = set(_WORD.findall(text)), text.split("\n")
        said = [
            (number, word)
            for number, line in enumerate(lines, 1)
            if matters(line.encode(), language)
            for word in dict.fromkeys(_WORD.findall(line))
            if word in words and (family, word) in wanted
        ]
        spans = spans_of(graph, [path]).get(path, []) if said else []
        seen: set[tuple[str, str]] = set()
        for number, word in said:
            for around in keys_at(spans, [number], path):
                node = graph.find(around)
                if key_kind(around) is NodeType.FILE and language not in CASES_ARE_CALLS:
                    continue  # an import, a constant: the cases that use it name it too
                for key in wanted[family, word]:
                    is_meant = _says_enough(key, word) or _around(key) in everything
                    if node is not None and is_meant and (around, key) not in seen and around != key:
                        seen.add((around, key))
                        yield NamedIn(node, key, path, number)


def _says_enough(key: str, word: str) -> bool:
    return key_kind(key) is not NodeType.PROPERTY and len(identifier_words(word)) >= _DISTINCT


def _around(key: str) -> str:
    """The name of the type or module that a declaration is in."""
    return next(iter(name_of(key).segments[-2:-1]), "").rpartition("/")[2]


def _family(language: str) -> str:
    """Languages that use what the other declares."""
    return "javascript" if language in ("typescript", "tsx") else language


def _is_rare(graph: Graph, word: str, prefix: str) -> bool:
    declared = [
        node
        for node in with_word(graph, word.casefold())  # none where it is gone
        if (name := name_of(graph.keys[node])).segments[-1:] == (word,)
        and _family(name.prefix) == _family(prefix)
        and not any(in_test_file(place.path) for place in graph.places(node))
    ]
    return len(declared) <= _MOST_DECLARED


def _test_files(index: LabelIndex, graph: Graph, families: set[str]) -> Iterator[str]:
    for number in range(len(graph.paths)):
        path = graph.paths[number]
        is_wanted = in_test_file(path) and _family(detect_language(path)) in families and index.may_read(path)
        if is_wanted and graph.find(file_key(path)) is not None:
            yield path
