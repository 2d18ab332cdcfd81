"""The resource of assets that read an index: search it and ask it, with the evidence of every hit and answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dagster import ConfigurableResource, InitResourceContext
from pydantic import Field, PrivateAttr

from rag_assets.api import Index, open_index
from rag_assets.contracts.confidentiality import DEFAULT_LEVEL
from rag_assets.index.generations import Generation, GenerationError, active_generation
from rag_assets.index.layout import IndexHome, LabelError, label_named, path_slug
from rag_assets.search.index import opened_policy
from rag_assets.search.query_embedding import start_loading
from rag_assets.settings.config_file import config_path, resolve_home

if TYPE_CHECKING:
    from rag_assets.answer.results import Answer
    from rag_assets.defs.component_settings import ComponentSettings
    from rag_assets.qa.ask_options import AskOptions
    from rag_assets.search import Question, SearchResult


class RagIndexResource(ConfigurableResource):  # type: ignore[type-arg]  # dagster declares it for raw resources only
    """The index of one label, for assets that read it. It is opened by the first question, reads one generation until
    the end of the step, and stays closed where nobody asks.

    The resource of a RepositoryIndex has the settings of that component; another one needs a `label`.
    """

    label: str = Field(description="index label, or the id of a repository that has one label, such as shop@main")
    home: str = Field(default="", description="where indexes are kept; empty: found as the command line does")
    config_file: str = Field(default="", description="rag_assets.yaml to use; empty: found as the command line does")
    clearance: str = Field(default=str(DEFAULT_LEVEL), description="the highest confidentiality that is found")

    _source: ComponentSettings | None = PrivateAttr(default=None)
    _index: Index | None = PrivateAttr(default=None)

    def index(self) -> Index:
        """The open index, for all that it can do beside `search` and `ask`: `read`, `graph`, `impact`.

        Raises GenerationError or LabelError where nothing is indexed yet, with the command that does it; ConfigError.
        """
        if self._index is None:
            self._index = self._opened()
        return self._index

    def search(self, query: str | Question, **options: Any) -> SearchResult:
        """The best sections for a question or for identifiers. Each hit has its file, lines and symbol; the result has
        label, commit, generation and run. Options and errors are those of `Index.search`."""
        return self.index().search(query, **options)

    def ask(self, question: str, *, options: AskOptions | None = None, **more: Any) -> Answer:
        """An answer with checked citations, or an honest refusal: quotes, or what the model of the settings `answer`
        writes. Arguments and errors are those of `Index.ask`."""
        if options is None and self._source is not None:
            from rag_assets.qa.ask_options import options_of

            options = options_of(self._source.settings().answer)
        return self.index().ask(question, options=options, **more)

    def teardown_after_execution(self, context: InitResourceContext) -> None:
        """Closes the index; Dagster calls it."""
        if self._index is not None:
            self._index.close()
            self._index = None

    def _opened(self) -> Index:
        if self._source is None:
            config = config_path(self.config_file or None)
            home = IndexHome(resolve_home(self.home or None, config=config))
            label = label_named(home.known_labels(), self.label)
            return open_index(label, home=home.root, config=config, clearance=self.clearance)
        settings, home = self._source.settings(), self._source.index_home()
        generation = _served(self._source, home, self.label)
        return Index(
            home,
            generation,
            embedder=start_loading(generation.manifest, home, None, settings.embedder),
            clearance=self.clearance,
            policy=opened_policy(settings.search),
        )


def resource_of(source: ComponentSettings, label: str) -> RagIndexResource:
    """The resource of a component. Dagster makes a copy of a resource for each run, from its fields: what is none of
    them belongs to the class."""

    class OfComponent(RagIndexResource):
        _source: ComponentSettings | None = PrivateAttr(default_factory=lambda: source)

    OfComponent.__name__ = OfComponent.__qualname__ = RagIndexResource.__name__  # what the UI shows
    OfComponent.__module__ = RagIndexResource.__module__
    return OfComponent(label=label)


def _served(source: ComponentSettings, home: IndexHome, label: str) -> Generation:
    """What a component serves. Raises GenerationError with the next command."""
    known = home.known_labels()
    try:
        return active_generation(home, label_named(known, label))
    except LabelError as error:
        several = any(name.partition("@")[0] == path_slug(label) for name in known)
        hint = f"name the `ref` in {source.file}" if several else f"run: dg launch --job index_{source.component}"
        raise GenerationError(f"component {source.component}: {error}; {hint}") from error
    except GenerationError as error:
        raise GenerationError(f"{error}; in this project: dg launch --job index_{source.component}") from error
