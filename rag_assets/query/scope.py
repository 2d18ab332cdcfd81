"""From the filters people write to those the stores take: spellings, aliases, and what is said of them in a result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC

from rag_assets.contracts.confidentiality import levels_up_to
from rag_assets.contracts.kinds import SubtypeKind, known_kind
from rag_assets.languages import LANGUAGES, TEXT, SourceType, detect_language
from rag_assets.query.errors import WrongQuestion
from rag_assets.query.question import Question
from rag_assets.stores.filters import Narrowing, SearchFilter
from rag_assets.stores.periods import Period

_WRITTEN = {"c#": "csharp", "c++": "cpp", "f#": "fsharp", "vb.net": "vb"}
"""Names of languages that are no file extension either."""

_FIELD_NAMES = {
    "paths": "path",
    "kinds": "kind",
    "languages": "lang",
    "source_types": "source_type",
    "symbols": "symbol",
}
"""Field of `Narrowing` → what it is called in a question and in a result."""


@dataclass(frozen=True, slots=True)
class Spellings:
    """`declared_kinds` gives the kinds that rule packs have added to the index; asked where one is not built in."""

    declared_kinds: Callable[[], Iterable[str]]

    def narrowing(self, written: Narrowing) -> Narrowing:
        """With every value as the index spells it. Raises WrongQuestion for an unknown kind or source type."""
        return replace(
            written,
            kinds=tuple(self._kind(kind) for kind in written.kinds),
            languages=tuple(_language(language) for language in written.languages),
            source_types=tuple(_source_type(name) for name in written.source_types),
        )

    def _kind(self, name: str) -> str:
        built_in = {kind.lower() for kind in SubtypeKind}
        try:
            return str(known_kind(name, () if name.lower() in built_in else self.declared_kinds()))
        except ValueError as error:
            raise WrongQuestion(str(error)) from error


def narrowed(
    tenant: SearchFilter, options: Narrowing, changed: Period, question: Question, spellings: Spellings
) -> SearchFilter:
    """The scope of one search: that of the index, the options of the caller, and the filters of the question. A filter
    of a question never widens an option: both must hold. Raises QueryError, ScopeError and PeriodError."""
    option = spellings.narrowing(options)
    return replace(
        tenant,
        **{field.name: getattr(option, field.name) for field in fields(Narrowing)},
        within=spellings.narrowing(question.wanted),
        excluded=spellings.narrowing(question.excluded),
        changed=changed.within(question.changed),
    )


def said_filters(
    scope: SearchFilter, question: Question, tenant: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """What a result says of the filters: the tenant, what may be seen, and every narrowing with its alternatives."""
    said = {**tenant, "confidentiality": tuple(level.value for level in levels_up_to(scope.clearance))}
    for sign, narrowing in (("", scope.view), ("", scope), ("", scope.within), ("-", scope.excluded)):
        for field, name in _FIELD_NAMES.items():
            values = getattr(narrowing, field)
            if values:
                known = said.get(sign + name)
                said[sign + name] = values if known is None else (*known, "and", *values)
    for name, moment in (("since", scope.changed.since), ("before", scope.changed.before)):
        if moment is not None:
            said[name] = (moment.astimezone(UTC).isoformat().replace("+00:00", "Z"),)
    if question.phrases:
        said["phrase"] = question.phrases
    return said


def _language(written: str) -> str:
    """`C#`, `cs` and `csharp` are csharp; what nobody knows stays, and is then in no section."""
    name = written.strip().lower()
    if name in LANGUAGES:
        return name
    if name in _WRITTEN:
        return _WRITTEN[name]
    found = detect_language(f"a.{name.lstrip('.')}")
    return name if found == TEXT else found


def _source_type(written: str) -> str:
    try:
        return SourceType(written.strip().lower()).value
    except ValueError:
        raise WrongQuestion(f"unknown source type {written!r}; valid: {', '.join(SourceType)}") from None
