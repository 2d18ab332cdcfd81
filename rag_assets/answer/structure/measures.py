"""What stands out in the code of a product as a whole: the longest files, what is most called, what nothing names and
what is written twice, which folders use each other and have the most code, and which files change often or seldom."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import accumulate, chain, takewhile
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.artifact.graph_columns import NO_USE, GraphColumns, Mask
from rag_assets.answer.graph_facts import GraphFact
from rag_assets.answer.passages import DECLARATIVE
from rag_assets.answer.plans.code_lines import from_the_root, part_counted
from rag_assets.answer.structure.listed_questions import Listed
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.csr_graph import KINDS, Numbers
from rag_assets.identifiers import word_set
from rag_assets.index.keyword.terms import runs

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex

_MOST = 12  # of the first of a kind
_MOST_UNUSED = 30
_MOST_OLD = 20
_FEWEST_REPEATED, _MOST_OF_THE_SAME = 5, 4  # lines of a body, and methods that are told of one
_BODY = re.compile(r"\A(?:[^{=:]|=(?!>)|:(?!\n))*(?:\{|=>|:\n)")
"""What stands before the body of a method."""
_COMMENTED = re.compile(r"//|\*|#|/\*")
_MOST_PAIRS = 8  # of folders
_MOST_FOLDERS = 600  # whose uses are put against each other
_FEWEST_CHANGES = 2
_HAS_BASES = re.compile(r"\)?\s*:\s*\w|\b(?:extends|implements)\b|\bclass \w+\(\s*\w|<\s*[A-Z]\w*(?:::\w+)*\s*$")
_CALLED_FROM_OUTSIDE = re.compile(r"\b(?:override|operator|abstract|virtual|extern|partial|export default)\b")
_STARTS = word_set(
    "Main main Program Startup __init__ constructor init generateMetadata generateStaticParams getServerSideProps",
    "getStaticPaths getStaticProps",
)
_OF_FRAMEWORKS = re.compile(r"\.d\.ts$|\.config\.\w+$|(?:^|/)app/helpers/")
"""Files of which others need no name: declarations alone, what sets up a tool, helpers of Rails."""
_PREFIX = re.compile(r"[A-Z]?[a-z]+(?=[A-Z_])")
_IMPL = re.compile(r"^([ \t]*)(?:unsafe )?impl\b[^{;]*\{", re.MULTILINE)
_MARK = re.compile(r"\s*(?:\[\w|@\w|#\[)")
_ENDS = re.compile(r"[;{}]\s*$")
_ACCESSOR = re.compile(r"(?:get|set|is|has)[A-Z]")
_WITH_ACCESSORS = frozenset({"groovy", "java", "php"})
"""Templates, forms and what reads and writes beans find these."""


def measured(index: LabelIndex, columns: GraphColumns, listed: Listed) -> Iterator[GraphFact]:
    """The facts of one measure, the most telling first."""
    yield from _MEASURES[listed](index, columns)


def _longest_files(index: LabelIndex, columns: GraphColumns) -> Iterator[GraphFact]:
    first = _first_lines(columns)
    of = {path: len(columns.lines(path)) for path in first}
    group = "The longest files of code"
    for path in sorted(of, key=lambda path: (-of[path], path))[:_MOST]:
        yield GraphFact(path.rpartition("/")[2], "has", f"{of[path]:,} lines", path, first[path], True, group)


def _first_lines(columns: GraphColumns) -> dict[str, int]:
    """Each file of the product with code → the first line that declares something."""
    first: dict[str, int] = {}
    for node in columns.nodes(NodeType.TYPE, NodeType.METHOD).tolist():
        for place in columns.places(node):
            first[place.path] = min(first.get(place.path, place.line_start), place.line_start)
    return first


def _most_called(index: LabelIndex, columns: GraphColumns) -> Iterator[GraphFact]:
    wanted = columns.of(Relation.CALLS) & columns.product[columns.source] & columns.own[columns.target]
    of = different(columns.target[wanted], columns.source[wanted])
    yield from _highest(columns, of, "is called by", "member", "Called by the most others")


def needed_types(columns: GraphColumns) -> dict[int, int]:
    """Of each type of the product how many other types of the index it uses."""
    source, target = columns.type_of[columns.source], columns.type_of[columns.target]
    wanted = columns.own[columns.source] & ~columns.of(*NO_USE) & (source >= 0) & (target >= 0) & (source != target)
    return different(source[wanted], target[wanted])


def different(ones: Numbers, others: Numbers) -> dict[int, int]:
    """Of each of `ones` how many different `others` it stands with."""
    pairs = {*zip(ones.tolist(), others.tolist(), strict=True)}
    return dict(Counter(one for one, _ in pairs))


def _highest(columns: GraphColumns, of: Mapping[int, int], verb: str, noun: str, group: str) -> Iterator[GraphFact]:
    for node in sorted(of, key=lambda node: (-of[node], columns.graph.keys[node]))[:_MOST]:
        place = columns.place(node)
        if place is not None:
            said = f"{of[node]:,} {noun}{'' if of[node] == 1 else 's'}"
            yield GraphFact(columns.called(node), verb, said, place.path, place.line_start, True, group)


def _unused(*kinds: NodeType) -> Callable[[LabelIndex, GraphColumns], Iterator[GraphFact]]:
    def unused(index: LabelIndex, columns: GraphColumns) -> Iterator[GraphFact]:
        found = [one for one in named_nowhere(index, columns) if columns.graph.kind(one[2]) in kinds]
        group = "Nothing in this index names them; reflection, a framework or users of a library may"
        group = part_counted(group, len(found), _MOST_UNUSED)
        for path, line, node in found[:_MOST_UNUSED]:
            yield GraphFact(columns.called(node), "", "", path, line, True, group)

    return unused


def named_nowhere(index: LabelIndex, columns: GraphColumns) -> list[tuple[str, int, int]]:
    """(path, line, node) of the types and methods of the product that no edge leads to, and that no text of the index
    names but where they are declared; types first. What a framework may find, by its base or an attribute, is left
    out, and so are the methods of a type that is among them."""
    graph = columns.graph
    used = np.zeros(len(graph), bool)
    beside = columns.of(Relation.CONTAINS, Relation.MENTIONS, Relation.SYNONYM_FOR)
    own = columns.type_of[columns.source] == columns.type_of[columns.target]  # recursion, and a type by its members
    is_type = graph.kinds == KINDS.index(NodeType.TYPE.value)
    used[columns.target[~beside & ~(own & is_type[columns.target]) & (columns.source != columns.target)]] = True
    users = columns.type_of[columns.target[~beside & ~own]]
    used[users[users >= 0]] = True
    waiting = [node for node in columns.nodes(NodeType.TYPE, NodeType.METHOD).tolist() if not used[node]]
    names, declared = graph.names, Counter(graph.names[node] for node in range(len(graph)) if is_type[node])
    methods = graph.kinds == KINDS.index(NodeType.METHOD.value)
    declared.update(graph.names[node] for node in np.flatnonzero(methods).tolist())
    waiting = [node for node in waiting if names[node] not in _STARTS and _is_known_by_name(columns, node)]
    every = index.unfiltered  # what is outside of a filter may name them
    texts = {path: columns.text(path) for path in every.parts.shard().values("Path", every.scope())}
    of_type = defaultdict[int, set[str]](set)
    for node in np.flatnonzero(methods).tolist():
        of_type[int(columns.type_of[node])].add(names[node])
    # the methods of a static class may be called without its name
    members = {node: of_type[node] for node in waiting if is_type[node] and "static " in graph.signature(node)}
    files: dict[str, set[str]] = {name: set() for name in chain(map(names.__getitem__, waiting), *members.values())}
    said = Counter[str]()
    for path, text in texts.items():
        counted = Counter(run for run in runs(text) if run in files)
        said.update(counted)
        for name in counted:
            files[name].add(path)
    found: list[tuple[str, int, int]] = []
    for node in waiting:
        place, name = columns.place(node), names[node]
        if place is None or files[name] != {place.path} or _OF_FRAMEWORKS.search(place.path):
            continue
        if _is_marked(texts[place.path], place.line_start, name) or _is_of_trait(texts[place.path], place.line_start):
            continue
        if _is_built(texts[place.path], name):
            continue
        if any(files[member] != {place.path} for member in members.get(node, ())):
            continue
        inside = _within(texts[place.path], place.line_start, place.line_end)
        if said[name] == (runs(inside).count(name) if is_type[node] else declared[name]):
            found.append((place.path, place.line_start, node))
    types = {node for *_, node in found if is_type[node]}
    shown = [one for one in found if one[2] in types or int(columns.type_of[one[2]]) not in types]
    return sorted(shown, key=lambda one: (not is_type[one[2]], *from_the_root(one[0]), one[1]))


def _is_known_by_name(columns: GraphColumns, node: int) -> bool:
    """Whether who uses something has to name it: no base, and no interface, by which it may be found."""
    signature = columns.graph.signature(node)
    if _CALLED_FROM_OUTSIDE.search(signature):
        return False
    owner, name = int(columns.type_of[node]), columns.graph.names[node]
    language = columns.graph.language(node)
    if language in DECLARATIVE or (language in _WITH_ACCESSORS and _ACCESSOR.match(name)) or name.startswith("__"):
        return False
    if owner not in (-1, node) and name == columns.graph.names[owner]:  # a constructor
        return False
    bases = columns.graph.signature(owner) if owner >= 0 else ""
    is_private = re.search(r"\bprivate\b", signature) is not None
    return is_private or _HAS_BASES.search(bases.partition("where ")[0]) is None


def _is_marked(text: str, line: int, name: str) -> bool:
    """Whether a declaration has an attribute, an annotation or a decorator, by which a framework may find it."""
    lines = text.split("\n")
    for at in range(line - 1, len(lines)):
        if _MARK.match(lines[at]):
            return True
        if name in lines[at]:
            break
    above = takewhile(lambda text: text.strip() and not _ENDS.search(text), reversed(lines[: line - 1]))
    return any(_MARK.match(text) for text in above)


def _is_of_trait(text: str, line: int) -> bool:
    """Whether a line is in an `impl Trait for Type` of Rust: what uses the trait finds it."""
    before = "\n".join(text.split("\n")[: line - 1])
    opened = list(_IMPL.finditer(before))
    if not opened or re.search(rf"^{opened[-1][1]}\}}", before[opened[-1].end() :], re.MULTILINE):
        return False
    return " for " in opened[-1][0]


def _is_built(text: str, name: str) -> bool:
    """Whether code may put a name together when it runs: `'produce' . $format`, `f"visit_{kind}"`."""
    prefix = _PREFIX.match(name)
    return prefix is not None and re.search(rf"[\"'`]{prefix[0]}_?(?:[\"'`]|[$#]?\{{|%)", text) is not None


def _within(text: str, first: int, last: int) -> str:
    return "\n".join(text.split("\n")[first - 1 : last])


def _circles(index: LabelIndex, columns: GraphColumns) -> Iterator[GraphFact]:
    """The folders that use each other, those first that do it the most."""
    graph = columns.graph
    folders = sorted({path.rpartition("/")[0] for path in graph.paths})
    number_of = {folder: number for number, folder in enumerate(folders)}
    if len(folders) > _MOST_FOLDERS:
        return
    of_path = np.array([*(number_of[path.rpartition("/")[0]] for path in graph.paths), -1], np.int64)
    area = np.where(columns.own, of_path[columns.path_of], -1)
    source, target = area[columns.source], area[columns.target]
    counted = (source >= 0) & (target >= 0) & (source != target) & columns.is_seen & ~columns.of(*NO_USE)
    uses = np.zeros((len(folders), len(folders)), np.int64)
    np.add.at(uses, (source[counted], target[counted]), 1)
    both = np.minimum(uses, uses.T)
    pairs = [(one, other) for one, other in zip(*map(np.ndarray.tolist, np.nonzero(both)), strict=True) if one < other]
    pairs.sort(key=lambda pair: (-int(both[pair]), pair))
    for one, other in pairs[:_MOST_PAIRS]:
        group = f"{folders[one] or '.'} and {folders[other] or '.'} use each other"
        for begin, end in ((one, other), (other, one)):
            yield from _first_use(columns, counted & (source == begin) & (target == end), group)


def _first_use(columns: GraphColumns, wanted: Mask, group: str) -> Iterator[GraphFact]:
    for source, target, _, path, line in columns.edges(wanted)[:1]:
        yield GraphFact(columns.called(source), "uses", columns.called(target), path, line, True, group)


def _hot_spots(index: LabelIndex, columns: GraphColumns) -> Iterator[GraphFact]:
    from rag_assets.answer.plans.history import changes_by_file

    changes, commits = changes_by_file(index)
    first = _first_lines(columns)
    ranked = [path for path, count in changes.most_common() if path in first and count >= _FEWEST_CHANGES]
    group = f"Changed most often, of the last {commits:,} commits"
    for path in ranked[:_MOST]:
        said = f"{changes[path]:,} commits"
        yield GraphFact(path.rpartition("/")[2], "was changed by", said, path, first[path], True, group)


def _largest_folders(index: LabelIndex, columns: GraphColumns) -> Iterator[GraphFact]:
    """The folders right below the root, and those that hold most files themselves."""
    first = _first_lines(columns)
    yield from _largest(
        columns, first, lambda path: path.rpartition("/")[0], "The most code, without the folders below"
    )
    yield from _largest(columns, first, lambda path: path.partition("/")[0], "With all that is below")


def _largest_projects(index: LabelIndex, columns: GraphColumns) -> Iterator[GraphFact]:
    """The projects by the code below their files, or what has the most below the root where no file makes projects."""
    homes = sorted({path.rpartition("/")[0] for path in columns.projects} - {""}, key=len, reverse=True)
    beside = {one.rpartition("/")[0] for one in homes}  # where projects lie

    def home(path: str) -> str:
        """The project of a file, else the folder that lies beside projects."""
        folders = list(accumulate(path.split("/")[:-1], "{}/{}".format))
        own = next((one for one in homes if path.startswith(f"{one}/")), None)
        return own or next((one for one in reversed(folders) if one.rpartition("/")[0] in beside), "".join(folders[:1]))

    of = home if len(homes) > 1 else lambda path: path.partition("/")[0]
    yield from _largest(columns, _first_lines(columns), of, "The most code")


def _largest(
    columns: GraphColumns, first: Mapping[str, int], of: Callable[[str], str], group: str
) -> Iterator[GraphFact]:
    """What the files, each with its `first` declaration, are `of`, by their lines, where the longest file begins."""
    lengths, inside = {path: len(columns.lines(path)) for path in first}, defaultdict[str, list[str]](list)
    for path in sorted(lengths, key=lambda path: (-lengths[path], path)):
        inside[of(path)].append(path)
    lines = {name: sum(lengths[path] for path in paths) for name, paths in inside.items()}
    ranked = sorted(lines, key=lambda name: (-lines[name], name))
    group = part_counted(group, len(ranked), _MOST)
    for name in ranked[:_MOST]:
        paths = inside[name]
        said = f"{lines[name]:,} lines in {len(paths):,} file{'' if len(paths) == 1 else 's'}"
        yield GraphFact(name or ".", "has", said, paths[0], first[paths[0]], True, group)


def _oldest_files(index: LabelIndex, columns: GraphColumns) -> Iterator[GraphFact]:
    from rag_assets.answer.plans.history import changed_on

    first, changed = _first_lines(columns), changed_on(index)
    ranked = sorted((day, path) for path, day in changed.items() if day and path in first)
    group = part_counted("Not changed for the longest time, by the last commit of each", len(ranked), _MOST_OLD)
    for day, path in ranked[:_MOST_OLD]:
        yield GraphFact(path.rpartition("/")[2], "was last changed on", day, path, first[path], True, group)


def _duplicated(index: LabelIndex, columns: GraphColumns) -> Iterator[GraphFact]:
    """The methods whose bodies are the same but for blanks and comments, those first that repeat most lines."""
    same = defaultdict[str, list[tuple[str, int, int]]](list)
    for node in columns.nodes(NodeType.METHOD).tolist():
        for place in columns.places(node):
            body = _BODY.sub("", "\n".join(columns.lines_at(place)), count=1)
            lines = [
                line for text in body.split("\n") if (line := "".join(text.split())) and not _COMMENTED.match(line)
            ]
            if len(lines) >= _FEWEST_REPEATED:
                same["\n".join(lines)].append((place.path, place.line_start, node))
    repeated = sorted((sorted(set(places)), body.count("\n") + 1) for body, places in same.items())
    repeated = [(places, count) for places, count in repeated if len({place[:2] for place in places}) > 1]
    repeated.sort(key=lambda one: -one[1] * (len(one[0]) - 1))
    for places, count in repeated[:_MOST]:
        group = part_counted(f"The same {count:,} lines, {len(places):,} times", len(places), _MOST_OF_THE_SAME)
        for path, begin, node in places[:_MOST_OF_THE_SAME]:
            yield GraphFact(columns.called(node), "", "", path, begin, True, group)


def _uncaught(index: LabelIndex, columns: GraphColumns) -> Iterator[GraphFact]:
    from rag_assets.answer.plans.errors import thrown_and_uncaught

    found = thrown_and_uncaught(index, columns.graph)
    group = part_counted(
        "Thrown, and no code catches them by this name or one of their bases", len(found), _MOST_UNUSED
    )
    for name, (fact, count) in [*found.items()][:_MOST_UNUSED]:
        said = f"{name}{f' ({count:,} places do)' if count > 1 else ''}"
        yield replace(fact, target=said, group=group)


def _undocumented(*kinds: NodeType) -> Callable[[LabelIndex, GraphColumns], Iterator[GraphFact]]:
    def undocumented(index: LabelIndex, columns: GraphColumns) -> Iterator[GraphFact]:
        from rag_assets.answer.structure.comments import is_documented, is_public

        public = [node for node in columns.nodes(*kinds).tolist() if is_public(columns, node)]
        found = [node for node in public if not is_documented(columns, node)]
        places = sorted((at.path, at.line_start, node) for node in found if (at := columns.place(node)) is not None)
        documented = len(public) - len(found)
        nouns = " and ".join("types" if kind is NodeType.TYPE else "methods" for kind in kinds)
        counted = f"{documented:,} of {len(public):,} public {nouns} have a comment; these do not"
        group = part_counted(counted, len(places), _MOST_UNUSED)
        for path, line, node in places[:_MOST_UNUSED]:
            yield GraphFact(columns.called(node), "", "", path, line, True, group)

    return undocumented


_MEASURES: Mapping[Listed, Callable[[LabelIndex, GraphColumns], Iterable[GraphFact]]] = {
    Listed.LONGEST_FILES: _longest_files,
    Listed.MOST_CALLED: _most_called,
    Listed.UNUSED: _unused(NodeType.TYPE, NodeType.METHOD),
    Listed.UNUSED_TYPES: _unused(NodeType.TYPE),
    Listed.UNUSED_METHODS: _unused(NodeType.METHOD),
    Listed.CIRCLES: _circles,
    Listed.HOT_SPOTS: _hot_spots,
    Listed.LARGEST_FOLDERS: _largest_folders,
    Listed.LARGEST_PROJECTS: _largest_projects,
    Listed.OLDEST_FILES: _oldest_files,
    Listed.DUPLICATED: _duplicated,
    Listed.UNCAUGHT: _uncaught,
    Listed.UNDOCUMENTED: _undocumented(NodeType.TYPE, NodeType.METHOD),
    Listed.UNDOCUMENTED_TYPES: _undocumented(NodeType.TYPE),
    Listed.UNDOCUMENTED_METHODS: _undocumented(NodeType.METHOD),
}
