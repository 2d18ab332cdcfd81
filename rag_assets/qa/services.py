"""What the actions of a pipeline get from the rest of the program: open indexes, a model server and the history.

The model is a function from a call to a result, so whoever opens the services decides which model answers. Everything
expected that can go wrong comes back as a result; a defect raises.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from rag_assets.answer.citations import cited_ids
from rag_assets.answer.context_pack import AnswerInputs, FetchRequest, fetch_evidence, graph_or_reason, read
from rag_assets.answer.graph_facts import named_nodes, points_at
from rag_assets.answer.question_analysis import QueryTerm, words_asked_of
from rag_assets.contracts.evidence import Evidence, Origin
from rag_assets.contracts.llm import ChatMessage, Profile
from rag_assets.contracts.result import InvokeResult, Message
from rag_assets.index.keyword.vocabulary import KeywordIndexError
from rag_assets.index.vectors.filters import NO_FILTERS, SearchFilters, has_wildcard
from rag_assets.search.line_references import sections_of
from rag_assets.search.query_parser import plain_question, understand

if TYPE_CHECKING:
    from rag_assets.answer.spelling import Respelled
    from rag_assets.answer.token_budget import TokenCounter
    from rag_assets.contracts.retrieval import Mode
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.graph.neighbourhood import Neighbourhood
    from rag_assets.graph.relations import WalkStep as Walk
    from rag_assets.history.conversations import ConversationHistory, NewTurn, StoredTurn, Summary
    from rag_assets.search import Question
    from rag_assets.search.index import LabelIndex, Searchable

NO_MODEL = "LLM.none"
"""Code of the result where there is no model to ask."""

_TEST_NODES = 60
_TEST_FILES = 12
"""Of one declaration. What more tests touch is what many use, and a search among all of them ranks better."""

_NAME = re.compile(r"[^\W\d]\w{2,}")
_PLACE = re.compile(r"(?<![^\s`(\[])(?P<path>[^\s:`(\[]{1,400}):(?P<start>\d{1,7})(?:-(?P<end>\d{1,7}))?\b")
_LOOKED_UP = 4
"""Neighbours that are located for each text that is wanted: some are declared nowhere, several in one section."""

_REMEMBERED = 8_000  # characters of a text whose size is: pieces come again, whole prompts never
_COUNTS = 4_096
"""Texts whose tokens are remembered: a turn counts some hundred, in every form; these are at most 32 MB."""

_AND = " + "


def label_of_all(labels: Iterable[str]) -> str:
    """Several labels that are asked as one, as a turn names them: `a@main + b@main`."""
    return _AND.join(labels)


def members_of(label: str, generation: str) -> dict[str, str]:
    """label → generation id of each that is asked as one, from what `label_of_all` and `generation` made of them."""
    return dict(zip(label.split(_AND), generation.split(_AND), strict=True))


def nobody_listens(text: str) -> None:
    """Where nobody wants to see an answer in the making."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One question to a model. `purpose` is the name of its prompt, for the log. `temperature` None is that of the
    model's settings. `on_text` is given its words as they come. `schema` is the JSON schema of the reply, as text;
    empty: free text. `asker` is the step that asks and its pipeline, in words."""

    purpose: str
    messages: tuple[ChatMessage, ...]
    profile: Profile = "balanced"
    max_tokens: int = 1_500
    temperature: float | None = None
    on_text: Callable[[str], None] = field(default=nobody_listens, repr=False, compare=False)
    schema: str = ""
    asker: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Generated:
    """What a model wrote, unparsed and untrusted, and what it took. `cost` is None where no price is known."""

    text: str
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None


class History(Protocol):
    """Where turns are kept: `history.conversations.Conversations`, or what a replay sees of them."""

    def load(self, user: str, session: str) -> ConversationHistory: ...

    def append(self, user: str, session: str, turn: NewTurn) -> StoredTurn: ...

    def find_request(self, user: str, session: str, request_id: str) -> StoredTurn | None: ...

    def save_summary(self, user: str, session: str, text: str, *, through: int, after_version: int) -> Summary: ...


class PipelineServices:
    """Safe to use from several threads. `label` is an index label (`repository@ref`), or several as `label_of_all`
    writes them. A label is opened at its first use and stays open until `close`; tenant and clearance are those that
    `open_label` was given."""

    def __init__(
        self,
        open_label: Callable[[str], Searchable],
        *,
        opened: Mapping[str, Searchable] | None = None,
        history: History | None = None,
        generate: Callable[[ModelCall], InvokeResult[Generated]] | None = None,
        count_tokens: TokenCounter | None = None,
        offline: bool = False,
    ) -> None:
        """`open_label` as `LabelIndex.open` with everything but the label given; `opened` are those of the caller,
        who closes them. Without `generate` there is no model; tokens are estimated for byte-pair vocabularies unless
        `count_tokens` knows better (R24). `offline`: there is none because the caller leaves it out."""
        self._open = open_label
        self._given = dict(opened or {})
        self._history = history
        self._generate = generate
        self.offline = offline
        self._counter = count_tokens or _estimated
        self._counted = lru_cache(maxsize=_COUNTS)(lambda text: self._counter([text])[0])
        self._lock = threading.Lock()
        self._targets: dict[str, Searchable] = {}
        self._graphs: dict[str, Graph | str] = {}

    @property
    def history(self) -> History | None:
        """Where turns are kept; None for a caller who keeps none."""
        return self._history

    def search(
        self,
        label: str,
        query: str | Question,
        mode: Mode,
        limit: int,
        filters: SearchFilters = NO_FILTERS,
        *,
        members: bool = True,
    ) -> AnswerInputs:
        """The best `limit` pieces, best first (D18), and for a Question also what declares its names and what the graph
        says of them. A text is a query that the model wrote: only words, no filters. A mode that the index cannot
        serve falls back deterministically, with a warning (D15, D17). Where there is a model to read them, pieces have
        their descriptions. Without `members` nobody asks for the lines to read first: quotes are cited at their own.
        Raises RagAssetsError where the label cannot be read."""
        target = self._target(label)
        result = target.search(query, limit=limit, mode=mode, literal=True, filters=filters, members=members)
        return read(result, target, self._graph, filters, described=self.has_model)

    def respelled(self, label: str, found: AnswerInputs) -> Respelled | None:
        """What a question means by words that are nowhere in the index and one slip away from some that are."""
        if found.absent or found.signals.planned or (not found.unknown and all(word.known for word in found.words)):
            return None
        from rag_assets.answer.spelling import respelled

        return respelled(found, self._target(label))

    def expand(
        self, label: str, entries: Mapping[str, float], *, steps: Sequence[Walk], depth: int, nodes: int
    ) -> Neighbourhood:
        """What is around graph nodes, bounded (D20). An index without a graph has an empty neighbourhood, with a
        warning. Several labels share the bound, each with its best entries."""
        from rag_assets.graph.neighbourhood import Neighbourhood, neighbourhood

        made: list[Neighbourhood] = []
        members = self._target(label).members.values()
        for index in members:
            graph = self._graph(index)
            if isinstance(graph, str):
                made.append(Neighbourhood((), (), warnings=(graph,)))
                continue
            own = {key: score for key, score in entries.items() if len(members) == 1 or graph.find(key) is not None}
            around = neighbourhood(graph, own, steps=steps, depth=depth, nodes=max(1, nodes // len(members)))
            made.append(_in_view(around, index))
        return made[0] if len(made) == 1 else _joined(made)

    def node_texts(self, label: str, keys: Sequence[str], limit: int) -> tuple[Evidence, ...]:
        """The sections that show the first `limit` of these nodes that have one, in the order of the keys (D21)."""
        target = self._target(label)
        points: dict[str, None] = {}
        for start in range(0, min(len(keys), limit * _LOOKED_UP), limit):
            for index in target.members.values():
                points |= dict.fromkeys(self._points(index, keys[start : start + limit]))
            if len(points) >= limit:
                break
        wanted = [FetchRequest(point, 1 / rank, Origin.GRAPH) for rank, point in enumerate(list(points)[:limit], 2)]
        return fetch_evidence(wanted, target.parts, target.manifests, target.scope(), described=self.has_model).evidence

    def cited_evidence(self, label: str, answer: str) -> tuple[Evidence, ...]:
        """The pieces that a kept answer cites, with the sections that were one piece with them as far as it names their
        lines. What a newer generation does not have any more is left out."""
        ids = cited_ids(answer)
        if not ids:
            return ()
        target = self._target(label)
        shard, scope = target.parts.shard(), target.scope()
        places: dict[str, list[tuple[int, int]]] = {}
        for place in _PLACE.finditer(answer):
            places.setdefault(place["path"], []).append((int(place["start"]), int(place["end"] or place["start"])))
        found = sections_of(places, shard, scope) if places else {}
        cited = {point for point in found if point.startswith(ids)}
        symbols = {(found[point]["Path"], found[point].get("Symbol")) for point in cited}
        wanted = cited | {
            point
            for point, known in found.items()
            if (known["Path"], known.get("Symbol")) in symbols
            and any(
                start <= known.get("EndLine", 0) and known.get("StartLine", 0) <= end
                for start, end in places[known["Path"]]
            )
        }
        left = tuple(one for one in ids if not any(point.startswith(one) for point in cited))
        if left:  # prose of a model seldom says where
            wanted |= {point for point in shard.ids(scope) if point.startswith(left)}
        requests = [FetchRequest(point, 1.0) for point in sorted(wanted)]
        return fetch_evidence(requests, target.parts, target.manifests, scope).evidence

    def test_files(self, label: str, name: str) -> tuple[str, ...] | None:
        """The files of the tests that the graph knows of what a name means; where it knows none of a member, of its
        type. None where nobody can tell: without a graph, for a name that it does not have, and where there are more
        files than a search is narrowed to."""
        from rag_assets.contracts.graph import NodeType, Relation
        from rag_assets.graph.relations import Direction, WalkStep

        members = self._target(label).members.values()
        graphs = [self._graph(index) for index in members]
        keys = [key for graph in graphs if not isinstance(graph, str) for key in named_nodes(graph, (name,))]
        if not keys:
            return None
        owners = [key.rpartition("|")[0].partition("(")[0].rpartition(".")[0] for key in keys]
        steps = (WalkStep(Relation.TESTS, Direction.IN),)
        paths: tuple[str, ...] = ()
        for wanted in (keys, [f"{owner}|{NodeType.TYPE.value}" for owner in owners]):
            around = self.expand(label, dict.fromkeys(wanted, 1.0), steps=steps, depth=1, nodes=_TEST_NODES)
            told = dict.fromkeys(edge.path for edge in around.edges if edge.target in wanted)
            paths = tuple(path for path in told if any(index.may_read(path) for index in members))
            if paths:
                break
        return paths if len(paths) <= _TEST_FILES and not any(map(has_wildcard, paths)) else None

    def graphs(self, label: str) -> tuple[tuple[LabelIndex, Graph | str], ...]:
        """Each index that a label means, with its graph as far as the reader sees, or why it has none."""
        return tuple((index, self._graph(index)) for index in self._target(label).members.values())

    def known_names(self, label: str, text: str) -> tuple[str, ...]:
        """The words of a text that are names of the index: written like a name that something declares, or code that
        the keyword index knows. They veto DIRECT (R12)."""
        target = self._target(label)
        if not text.strip():
            return ()
        shard, scope = target.parts.shard(), target.scope()
        code = understand(plain_question(text).text).symbols
        try:
            find = target.parts.vocabulary().find
        except KeywordIndexError:  # the search says so
            code = ()
        known = [name for name in code if find(name.rpartition(".")[2].replace("_", "").lower()) is not None]
        named = [word for word in _NAME.findall(text) if word.lower() != word or "_" in word]
        known += [name for name in dict.fromkeys(named) if shard.count(replace(scope, names=(name,)))]
        return tuple(dict.fromkeys(known))

    def asked_words(self, label: str, text: str) -> tuple[QueryTerm, ...]:
        """The telling words of a text, with how rare each is in the index."""
        return words_asked_of(self._target(label).parts, text)

    def generation(self, label: str) -> str:
        """The id of the generation that the label is read from: part of the lock of a turn."""
        return _AND.join(manifest.generation_id for manifest in self._target(label).manifests.values())

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, by the tokenizer of the model where it is known (R24)."""
        return [self._counted(text) if len(text) <= _REMEMBERED else self._counter([text])[0] for text in texts]

    @property
    def has_model(self) -> bool:
        """Whether a model can be asked; without one `generate` fails."""
        return self._generate is not None

    def generate(self, call: ModelCall) -> InvokeResult[Generated]:
        """What the model of the profile writes. Never raises for what a server or model can do (A17)."""
        if self._generate is None:
            why = "which --offline leaves out" if self.offline else "and none is configured"
            instead = "ask without --offline" if self.offline else "set answer.base_url"
            said = (
                f"{call.asker or call.purpose} needs a model, {why}; {instead}, or ask with a pipeline that needs none"
            )
            return InvokeResult.failure([Message(NO_MODEL, said)])
        return self._generate(call)

    def keep_in(self, history: History) -> None:
        """From now on turns with a session are kept there."""
        self._history = history

    def close(self) -> None:
        """Closes every index that was opened here; the history and the model belong to the caller."""
        with self._lock:
            for target in self._targets.values():
                target.close()
            self._targets.clear()
            self._graphs.clear()

    def _target(self, label: str) -> Searchable:
        if label in self._given:
            return self._given[label]
        with self._lock:
            if label not in self._targets:
                self._targets[label] = self._open(label)
            return self._targets[label]

    def _points(self, index: LabelIndex, keys: Sequence[str]) -> list[str]:
        """The points that show nodes, in the order of the keys; those of another label have none here."""
        graph = self._graph(index)
        if isinstance(graph, str):
            return []
        places = [
            (part.path, part.line_start)
            for key in keys
            if (node := graph.find(key)) is not None
            for part in graph.places(node)
            if index.may_read(part.path)
        ]
        located = points_at(places, index.parts.shard(), index.scope())
        return [located[place] for place in places if place in located]

    def _graph(self, index: LabelIndex) -> Graph | str:
        """The graph, or why there is none."""
        with self._lock:
            if index.label not in self._graphs:
                self._graphs[index.label] = graph_or_reason(index)
            return self._graphs[index.label]


def _estimated(texts: Sequence[str]) -> list[int]:
    from rag_assets.models.openai_compat.token_counting import estimate_tokens

    return estimate_tokens(texts)


def _joined(parts: Sequence[Neighbourhood]) -> Neighbourhood:
    """The neighbourhoods of several graphs as one. A key that two graphs have is one node, as a library is to both."""
    from rag_assets.graph.neighbourhood import Neighbourhood

    ranked = sorted((node for part in parts for node in part.nodes), key=lambda node: -node.score)
    nodes = {node.key: node for node in reversed(ranked)}
    return Neighbourhood(
        nodes=tuple(reversed(nodes.values())),
        edges=tuple(dict.fromkeys(edge for part in parts for edge in part.edges)),
        left_out=sum(part.left_out for part in parts),
        cut=tuple(cut for part in parts for cut in part.cut),
        unknown=(),
        warnings=tuple(dict.fromkeys(warning for part in parts for warning in part.warnings)),
    )


def _in_view(around: Neighbourhood, index: LabelIndex) -> Neighbourhood:
    """What of a neighbourhood the view of the index has: nodes with a place in it, and edges that are written in it."""
    if not index.view:
        return around
    scope, shard = index.scope(), index.parts.shard()
    paths = {place.path for node in around.nodes for place in node.places} | {edge.path for edge in around.edges}
    seen = {path for path in paths if path and shard.count(scope.narrowed(SearchFilters(paths=(path,))))}
    nodes = tuple(node for node in around.nodes if any(place.path in seen for place in node.places))
    keys = {node.key for node in nodes}
    edges = tuple(edge for edge in around.edges if edge.path in seen and {edge.source, edge.target} <= keys)
    left_out = around.left_out + len(around.nodes) - len(nodes)
    return replace(around, nodes=nodes, edges=edges, left_out=left_out)
