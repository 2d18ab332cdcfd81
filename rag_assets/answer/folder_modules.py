"""What a folder of code holds that is called as several of a noun: the extensions of a folder `extensions`, where no
type says what it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rag_assets.answer.graph_facts import GraphFact, GraphFacts
from rag_assets.answer.plans.code_lines import facts_listed
from rag_assets.answer.plans.listing import at_first_sections
from rag_assets.answer.question_analysis import name_roots, root, root_set, roots_of
from rag_assets.contracts.graph import NodeType
from rag_assets.graph.declared_types import of_kind
from rag_assets.identifiers import word_set
from rag_assets.languages.detection import SourceType, file_stem, source_type
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_FEWEST = 3
_MOST_FOLDERS = 2  # of one name: more are parts of features, each with its own
_ENTRIES = word_set("__init__ base common index init layout main mod page route types utils")
"""Files of a folder that are none of what it holds, but what all of these need or are found by."""
_OF_FEATURES = root_set(
    "admin api apps commands component config constants controller decorators dto entity enums errors events",
    "factory forms handler hooks interfaces mapper middleware migrations model module permissions queries",
    "repository requests routes routing schema serializer service signals store tasks tests types urls",
    "validators views",
)
"""What the files of a feature are: a folder `orders` with `models` and `views` lists no orders."""


def modules_listed(
    index: LabelIndex, graph: Graph, noun: str, about: frozenset[str] = frozenset()
) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The files of code, and the folders with such, of a folder of the product whose name is several of a noun, below
    folders whose names say what it is `about`, by the roots of words; nothing where its files are the parts of a
    feature, or of several kinds."""
    wanted = [root(word) for word in noun.split()]
    folders: dict[str, dict[str, list[str]]] = {}
    languages: dict[str, Counter[str]] = {}
    for node in of_kind(graph, NodeType.FILE):
        path, language = graph.places(node)[0].path, graph.language(node)
        if source_type(language) is not SourceType.CODE or non_product_code(path) is not None:
            continue
        *around, name = path.split("/")
        for depth, folder in enumerate(around):
            called = name_roots(folder)
            is_several = folder.casefold().endswith("s") and called == wanted[-len(called) :]
            above = {*about, *wanted[: -len(called)]} if is_several and depth >= len(around) - 2 else None
            if above is not None and above <= roots_of(" ".join(around[:depth])):
                entry = file_stem(name) if depth == len(around) - 1 else around[depth + 1]
                owner = "/".join(around[: depth + 1])
                folders.setdefault(owner, {}).setdefault(entry, []).append(path)
                languages.setdefault(owner, Counter())[language] += 1
    facts = list[GraphFact]()
    held = {
        folder: entries for folder, entries in folders.items() if _are_of_one_kind(entries, wanted, languages[folder])
    }
    for entries in map(_spread, held.values()) if len(held) <= _MOST_FOLDERS else ():
        for entry, paths in sorted(entries.items()):
            if entry.casefold() not in _ENTRIES and entry[0].isalnum():  # no `[reportId]` of routes
                first = min(paths, key=lambda path: (file_stem(path).casefold() not in _ENTRIES, path))
                facts.append(GraphFact(entry, "", "", first, 1, certain=True))
    if len(facts) < _FEWEST:
        return GraphFacts(), {}
    return facts_listed(at_first_sections(facts, index), noun, index)


def _spread(entries: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """With the files of folders that are called as most beside these folders, each for itself: `useOrder` of
    `hooks/queries` is a hook as `useTheme` of `hooks` is."""
    files = [entry for entry, paths in entries.items() if len(paths) == 1 and file_stem(paths[0]) == entry]
    begins = Counter(name_roots(entry)[:1][0] for entry in files if name_roots(entry))
    first, count = begins.most_common(1)[0] if begins else ("", 0)
    if 5 * count < 4 * len(files) or count < _FEWEST:
        return {**entries}
    spread: dict[str, list[str]] = {}
    for entry, paths in entries.items():
        of_folder = {file_stem(path): [path] for path in paths if file_stem(path).casefold() not in _ENTRIES}
        alike = [stem for stem in of_folder if name_roots(stem)[:1] == [first]]
        spread |= of_folder if 5 * len(alike) >= 4 * len(of_folder) > 0 else {entry: paths}
    return spread


def _are_of_one_kind(entries: Iterable[str], noun: list[str], languages: Counter[str]) -> bool:
    """Whether few are parts of a feature: called as one, as `models`, or with the noun before something else, as
    `order_service` and `AdminTeamsPage`."""
    words, size = [name_roots(entry) for entry in entries], len(noun)
    begins = [noun in (one[at : at + size] for at in range(max(1, len(one) - size))) for one in words]
    parts = sum(said or (len(one) == 1 and one[0] in _OF_FEATURES) for said, one in zip(begins, words, strict=True))
    return 4 * parts <= len(words) and 5 * max(languages.values()) >= 4 * languages.total()
