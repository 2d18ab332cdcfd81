"""`Services` over open indexes: search, graph and the parts of an answer behind the names that actions use.

The model is a function from a call to a result, so that whoever opens a service decides who is asked.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_assets.contracts.result import InvokeResult, Message
from rag_assets.query.pipeline.services import Extract, Generated, ModelCall, Retrieved

if TYPE_CHECKING:
    from rag_assets.contracts.retrieval import Mode
    from rag_assets.graph.adjacency import Graph
    from rag_assets.graph.neighbourhood import Neighbourhood
    from rag_assets.graph.relations import Step as Walk
    from rag_assets.query.answer.evidence import Evidence
    from rag_assets.query.answer.packing import TokenCounter
    from rag_assets.query.answer.terms import AskedWord
    from rag_assets.query.index import Index
    from rag_assets.stores.conversations import Conversations

NO_MODEL = "LLM.none"
"""Code of the result where no model is configured."""

_NAME = re.compile(r"[^\W\d]\w{2,}")
_LOOKED_UP = 4
"""Neighbours that are located for each text that is wanted: some are declared nowhere, several in one section."""


class IndexServices:
    """Opens a label when it is asked for first and keeps it open until `close`. Safe to use from several threads."""

    def __init__(
        self,
        open_label: Callable[[str], Index],
        *,
        history: Conversations | None = None,
        generate: Callable[[ModelCall], InvokeResult[Generated]] | None = None,
        count_tokens: TokenCounter | None = None,
    ) -> None:
        """`open_label` as `query.open_index` with everything but the label given. Without `generate` there is no model;
        tokens are estimated for byte-pair vocabularies unless `count_tokens` knows better (R24)."""
        self._open = open_label
        self._history = history
        self._generate = generate
        self._count = count_tokens
        self._lock = threading.Lock()
        self._indexes: dict[str, Index] = {}
        self._graphs: dict[str, Graph | str] = {}

    @property
    def history(self) -> Conversations | None:
        return self._history

    @property
    def has_model(self) -> bool:
        return self._generate is not None

    def search(self, label: str, query: str, mode: Mode, limit: int) -> Retrieved:
        """What was typed is words only: a filter in it would be one of the model's making."""
        from rag_assets.query.answer.gathering import Wanted, gather
        from rag_assets.query.question import plain_question

        index = self._index(label)
        result = index.search(query, limit=limit, mode=mode, literal=True)
        wanted = [Wanted(hit.point_id, hit.score, dense=hit.scores.get("dense")) for hit in result.hits]
        gathered = gather(wanted, index.parts, index.manifests, index.scope())
        return Retrieved(
            gathered.evidence,
            result.mode,
            _strength(self._words(index, query), plain_question(query).symbols, gathered.evidence),
            (*result.warnings, *gathered.warnings),
        )

    def expand(
        self, label: str, entries: Mapping[str, float], *, steps: Sequence[Walk], depth: int, nodes: int
    ) -> Neighbourhood:
        from rag_assets.graph.neighbourhood import Neighbourhood, neighbourhood

        graph = self._graph(label)
        if isinstance(graph, str):
            return Neighbourhood((), (), warnings=(graph,))
        return _in_view(neighbourhood(graph, entries, steps=steps, depth=depth, nodes=nodes), self._index(label))

    def node_texts(self, label: str, keys: Sequence[str], limit: int) -> tuple[Evidence, ...]:
        """The sections that show the nodes: what a citation of them opens."""
        from rag_assets.query.answer.evidence import Origin
        from rag_assets.query.answer.facts import points_at
        from rag_assets.query.answer.gathering import Wanted, gather

        graph, index = self._graph(label), self._index(label)
        if isinstance(graph, str):
            return ()
        points: dict[str, None] = {}
        for start in range(0, min(len(keys), limit * _LOOKED_UP), limit):
            numbers = [node for key in keys[start : start + limit] if (node := graph.find(key)) is not None]
            places = [
                (part.path, part.line_start)
                for node in numbers
                for part in graph.places(node)
                if index.may_read(part.path)
            ]
            located = points_at(places, index.parts.shard(), index.scope())
            points |= {located[place]: None for place in places if place in located}
            if len(points) >= limit:
                break
        wanted = [Wanted(point, 1 / rank, Origin.GRAPH) for rank, point in enumerate(list(points)[:limit], 2)]
        return gather(wanted, index.parts, index.manifests, index.scope()).evidence

    def known_names(self, label: str, text: str) -> tuple[str, ...]:
        """Words written like names that something declares, and code that the keyword index knows (R12)."""
        from rag_assets.query.question import plain_question, understand

        index = self._index(label)
        if not text.strip():
            return ()
        vocabulary, shard, scope = index.parts.vocabulary(), index.parts.shard(), index.scope()
        code = understand(plain_question(text).text).symbols
        known = [name for name in code if vocabulary.find(name.rpartition(".")[2].replace("_", "").lower()) is not None]
        named = [word for word in _NAME.findall(text) if word.lower() != word or "_" in word]
        known += [name for name in dict.fromkeys(named) if shard.count(replace(scope, symbols=(name,)))]
        return tuple(dict.fromkeys(known))

    def asked_words(self, label: str, text: str) -> tuple[AskedWord, ...]:
        return self._words(self._index(label), text)

    def generation(self, label: str) -> str:
        return self._index(label).manifest.generation_id

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        if self._count is None:
            from rag_assets.models.endpoint_tokens import estimate_tokens

            self._count = estimate_tokens
        return self._count(texts)

    def generate(self, call: ModelCall) -> InvokeResult[Generated]:
        if self._generate is None:
            said = "no model is configured; set answer.base_url, or ask with a pipeline that needs none"
            return InvokeResult.failure([Message(NO_MODEL, said)])
        return self._generate(call)

    def extract(self, label: str, question: str, evidence: Sequence[Evidence]) -> Extract:
        from rag_assets.query.answer.abstention import SENTENCE, THRESHOLD
        from rag_assets.query.answer.extractive import answer_of
        from rag_assets.query.answer.facts import Facts
        from rag_assets.query.answer.intents import wish_of
        from rag_assets.query.question import plain_question

        asked = plain_question(question)
        words = self._words(self._index(label), question)
        text = answer_of(wish_of(asked), words, evidence, Facts(), {})
        if _strength(words, asked.symbols, evidence) < THRESHOLD or not text:
            return Extract(SENTENCE, abstained=True)
        return Extract(text)

    def close(self) -> None:
        """Closes every index that was opened; the history and the model belong to the caller."""
        with self._lock:
            for index in self._indexes.values():
                index.close()
            self._indexes.clear()
            self._graphs.clear()

    def _index(self, label: str) -> Index:
        with self._lock:
            if label not in self._indexes:
                self._indexes[label] = self._open(label)
            return self._indexes[label]

    def _graph(self, label: str) -> Graph | str:
        """The graph, or why there is none."""
        from rag_assets.graph.artifact import GraphError
        from rag_assets.query.graph import graph_of

        index = self._index(label)
        with self._lock:
            if label not in self._graphs:
                try:
                    self._graphs[label] = graph_of(index)
                except GraphError as error:
                    self._graphs[label] = str(error)
            return self._graphs[label]

    def _words(self, index: Index, text: str) -> tuple[AskedWord, ...]:
        from rag_assets.query.answer.terms import asked_words

        return asked_words(text, index.parts.vocabulary(), index.parts.shard().count())


def _strength(words: tuple[AskedWord, ...], names: Sequence[str], evidence: Sequence[Evidence]) -> float:
    """The confidence that abstention is decided by."""
    from rag_assets.query.answer.abstention import confidence, signals_of

    return confidence(signals_of(words, names, (), evidence)) if evidence else 0.0


def _in_view(around: Neighbourhood, index: Index) -> Neighbourhood:
    """What of a neighbourhood the view of the index has: nodes with a place in it, and edges that are written in it."""
    from rag_assets.stores.filters import UNNARROWED

    if index.view == UNNARROWED:
        return around
    scope, shard = index.scope(), index.parts.shard()
    paths = {place.path for node in around.nodes for place in node.places} | {edge.path for edge in around.edges}
    seen = {path for path in paths if path and shard.count(replace(scope, paths=(path,)))}
    nodes = tuple(node for node in around.nodes if any(place.path in seen for place in node.places))
    keys = {node.key for node in nodes}
    edges = tuple(edge for edge in around.edges if edge.path in seen and {edge.source, edge.target} <= keys)
    left_out = around.left_out + len(around.nodes) - len(nodes)
    return replace(around, nodes=nodes, edges=edges, left_out=left_out)
