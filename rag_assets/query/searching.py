"""What can be searched: one index, or several as one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from rag_assets.closing import Closing
from rag_assets.query.asking import ask
from rag_assets.query.results import Mode, SearchResult
from rag_assets.stores.filters import Narrowing, SearchFilter
from rag_assets.stores.periods import Period, moment

if TYPE_CHECKING:
    from datetime import date

    from rag_assets.query.answer import Answer, AskOptions
    from rag_assets.query.index import Index
    from rag_assets.query.parts import SearchParts
    from rag_assets.query.question import Question
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

    @property
    @abstractmethod
    def members(self) -> Mapping[str, Index]:
        """The open indexes that are searched, by label."""

    @abstractmethod
    def scope(self) -> SearchFilter:
        """What may be seen of the stores."""

    def search(
        self,
        query: str | Question,
        *,
        limit: int | None = None,
        mode: Mode | str | None = None,
        path: str | Sequence[str] | None = None,
        kinds: Sequence[str] = (),
        languages: Sequence[str] = (),
        source_types: Sequence[str] = (),
        symbols: Sequence[str] = (),
        since: str | date | None = None,
        before: str | date | None = None,
        explain: bool = False,
        literal: bool = False,
    ) -> SearchResult:
        """The best `limit` sections for a question or for identifiers, within the tenant, project and clearance; those
        of several labels in one ranking.

        The query may hold filters and phrases (`query.question`), unless it is `literal`; a Question is one that was
        read before. `path` is a path, folder or
        glob, or several; `kinds` are names of kinds in any case; `languages` are values of CodeLanguage or file
        extensions, `source_types` of SourceType; `symbols` are declared names. `since` (inclusive) and `before`
        (exclusive) say when the file was changed last: `2026-01-31`, a date or a time. Options and filters must both
        hold, and all are applied before the top k (R17). `limit` and `mode` are by default those of the policy
        (settings `search`). A mode that the index cannot serve is answered by another one, and `warnings` says so, or
        refused with a QueryError (D15, D17). Raises QueryError, ScopeError, PeriodError, VectorStoreError or
        KeywordIndexError.
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
            changed=Period(
                since=None if since is None else moment(since), before=None if before is None else moment(before)
            ),
            explain=explain,
            literal=literal,
        )

    def ask(
        self,
        question: str,
        *,
        options: AskOptions | None = None,
        pipeline: str = "",
        session: str = "",
        user: str = "",
        language: str = "",
        mode: Mode | str | None = None,
        path: str | Sequence[str] | None = None,
        kinds: Sequence[str] = (),
        languages: Sequence[str] = (),
        source_types: Sequence[str] = (),
        symbols: Sequence[str] = (),
        since: str | date | None = None,
        before: str | date | None = None,
        literal: bool = False,
        on_text: Callable[[str], None] = lambda text: None,
    ) -> Answer:
        """An answer with checked citations, or an honest refusal (E19–E22): quotes of the best sections, or what the
        model of `options` makes of them. Without `options`: as the configuration says (settings `answer`).

        `pipeline` is a name or a file, by default the shipped one, with a model or without. With a `session` the
        question follows those before it, and the turn is kept; sessions are those of a `user`, by default the one of
        the system. A question in another `language` (a code such as `de`) is translated by the model, and its answer
        back. `on_text` is given the words of a model as they come. The others are the arguments of `search` that say
        where to look, and hold for every search of the turn. Raises what `search` raises, RequestError, TurnError,
        PipelineError, UnknownPipeline, LanguageError, ConversationError and ConfigError.
        """
        from dataclasses import replace

        from rag_assets.query.answer.configured import configured
        from rag_assets.query.asker import Asker
        from rag_assets.query.asking import mode_of
        from rag_assets.query.where import Where

        if options is None:
            options = configured(*next(iter(self.members.values())).parts.configuration)
        where = Where(
            path=(path,) if isinstance(path, str) else tuple(path or ()),
            kinds=tuple(kinds),
            languages=tuple(languages),
            source_types=tuple(source_types),
            symbols=tuple(symbols),
            since=since,
            before=before,
            literal=literal,
        )
        with Asker(self, replace(options, pipeline=pipeline or options.pipeline)) as asker:
            result = asker.ask(
                question,
                where=where,
                mode=None if mode is None else mode_of(mode),
                session=session,
                user=user,
                language=language,
                on_text=on_text,
            )
        assert result.response is not None  # only a request that was answered before has none
        return result.response
