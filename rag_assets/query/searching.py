"""What can be searched: one index, or several as one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rag_assets.closing import Closing
from rag_assets.query.asking import ask
from rag_assets.query.results import Mode, SearchResult
from rag_assets.stores.filters import Narrowing, SearchFilter

if TYPE_CHECKING:
    from rag_assets.query.parts import SearchParts
    from rag_assets.stores.generations import Manifest


class Searchable(Closing):
    """Generations that are searched together. Safe to use from several threads; close it, or use it in a `with`."""

    @property
    @abstractmethod
    def parts(self) -> SearchParts:
        """What a search reads."""

    @property
    @abstractmethod
    def manifests(self) -> Mapping[str, Manifest]:
        """Of the generations that are searched, by label."""

    @abstractmethod
    def scope(self) -> SearchFilter:
        """What may be seen of the stores."""

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        mode: Mode | str = Mode.HYBRID,
        path: str | Sequence[str] | None = None,
        kinds: Sequence[str] = (),
        languages: Sequence[str] = (),
        source_types: Sequence[str] = (),
        symbols: Sequence[str] = (),
        explain: bool = False,
        literal: bool = False,
    ) -> SearchResult:
        """The best `limit` sections for a question or for identifiers, within the tenant, project and clearance; those
        of several labels in one ranking.

        The query may hold filters and phrases (`query.question`), unless it is `literal`. `path` is a path, folder or
        glob, or several; `kinds` are names of kinds in any case; `languages` are values of CodeLanguage or file
        extensions, `source_types` of SourceType; `symbols` are declared names. Options and filters must both hold, and
        all are applied before the top k (R17). Where semantic search is impossible the keyword index answers alone, and
        `warnings` says so. Raises QueryError, ScopeError, VectorStoreError or KeywordIndexError.
        """
        options = Narrowing(
            paths=(path,) if isinstance(path, str) else tuple(path or ()),
            kinds=tuple(kinds),
            languages=tuple(languages),
            source_types=tuple(source_types),
            symbols=tuple(symbols),
        )
        return ask(
            query,
            self.parts,
            self.manifests,
            self.scope(),
            limit=limit,
            mode=mode,
            options=options,
            explain=explain,
            literal=literal,
        )
