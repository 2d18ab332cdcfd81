"""The public face: open an index, search it, ask it, walk its graph.

>>> import rag_assets
>>> with rag_assets.open_index("shop@main") as index:
...     hits = index.search("how are refunds limited", limit=5)
...     answer = index.ask("how are refunds limited")
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality
from rag_assets.index.vectors.filters import NO_FILTERS, SearchFilters
from rag_assets.search.federated import FederatedIndex
from rag_assets.search.index import LabelIndex, Searchable
from rag_assets.search.search import mode_of

if TYPE_CHECKING:
    from rag_assets.answer.results import Answer
    from rag_assets.contracts.retrieval import Mode
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.qa.ask_options import AskOptions
    from rag_assets.qa.log.turn_logger import KeptLogs
    from rag_assets.search.touched_nodes import ChangeImpact, Touched

_LOCK = threading.Lock()


class _Answering(Searchable):
    """What can be asked too. Its questions are logged through one connection."""

    _logs: KeptLogs | None = None

    def ask(
        self,
        question: str,
        *,
        filters: SearchFilters = NO_FILTERS,
        options: AskOptions | None = None,
        pipeline: str = "",
        session: str = "",
        user: str = "",
        language: str = "",
        mode: Mode | str | None = None,
        literal: bool = False,
        on_text: Callable[[str], None] = lambda text: None,
    ) -> Answer:
        """An answer with checked citations, or an honest refusal (E19–E22): quotes of the best sections, or what the
        model of `options` makes of them. Without `options`: as the configuration says (settings `answer`).

        `filters` hold for every search of the turn. `pipeline` is a name or a file, by default the shipped one, with a
        model or without. With a `session` the question follows the earlier ones of that session, and the turn is kept;
        sessions belong to a `user`, by default the one of the system. A question in another `language` (a code such as
        `de`) is translated by the model, and its answer back. `on_text` receives the lines of a model as they come.
        `mode` and `literal` as in `search`.

        Raises what `search` raises, and RequestError, TurnError, PipelineError, UnknownPipeline, LanguageError,
        ConversationError or ConfigError: all of them are RagAssetsError.
        """
        # start-up budget: a search answers nothing
        from rag_assets.qa.answering import QuestionAnswerer
        from rag_assets.qa.ask_options import configured
        from rag_assets.qa.log.turn_logger import KeptLogs

        with _LOCK:
            self._logs = self._logs or KeptLogs()
        if options is None:
            options = configured(*next(iter(self.members.values())).parts.configuration)
        options = replace(options, pipeline=pipeline or options.pipeline)
        with QuestionAnswerer(self, options, logs=self._logs) as answerer:
            result = answerer.ask(
                question,
                filters=filters,
                literal=literal,
                mode=None if mode is None else mode_of(mode),
                session=session,
                user=user,
                language=language,
                on_text=on_text,
            )
        assert result.response is not None  # only a request that was answered before has none
        return result.response

    def close(self) -> None:
        if self._logs is not None:
            self._logs.close()
        super().close()  # type: ignore[safe-super]  # of the index that this is laid over


class Index(_Answering, LabelIndex):
    """The active generation of one label: `search`, `ask`, `read`, `get`, `source_slice`, `description`, `graph`,
    `impact`. Safe
    to use from several threads; close it, or use it in a `with`."""

    def graph(self) -> Graph:
        """The code graph, as far as the clearance reaches. Raises GraphError where there is none or a damaged one."""
        from rag_assets.search.graph_context import graph_of  # start-up budget: a search needs no graph

        return graph_of(self)

    def impact(
        self,
        since: str,
        *,
        until: str = "",
        only: Collection[Touched | str] = (),
        depth: int = 8,
        limit: int = 50,
    ) -> ChangeImpact:
        """What the changes after the commit `since` touch: tests worth running, routes, tables, documents, code.

        Arguments and errors as of `search.change_impact.change_impact`; `dataclasses.asdict` makes plain JSON of it.
        """
        from rag_assets.search.change_impact import change_impact  # start-up budget: a search compares no commits

        return change_impact(self, since, until=until, only=only, depth=depth, limit=limit)


class IndexGroup(_Answering, FederatedIndex):
    """The active generations of several labels of one organisation, searched and asked as one index."""


def open_index(
    label: str,
    *,
    home: str | Path | None = None,
    config: str | Path | None = None,
    clearance: Confidentiality | str = DEFAULT_LEVEL,
    view: SearchFilters = NO_FILTERS,
    org_id: str | None = None,
    project_id: str | None = None,
) -> Index:
    """Opens the active generation of a label; arguments and errors as of `LabelIndex.open`."""
    return Index.open(
        label, home=home, config=config, clearance=clearance, view=view, org_id=org_id, project_id=project_id
    )


def open_indexes(
    labels: Sequence[str],
    *,
    home: str | Path | None = None,
    config: str | Path | None = None,
    clearance: Confidentiality | str = DEFAULT_LEVEL,
    view: SearchFilters = NO_FILTERS,
    org_id: str | None = None,
) -> IndexGroup:
    """Opens several labels of one organisation as one index; arguments and errors as of `FederatedIndex.open`."""
    return IndexGroup.open(labels, home=home, config=config, clearance=clearance, view=view, org_id=org_id)
