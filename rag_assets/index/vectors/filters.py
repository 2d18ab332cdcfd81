"""What a search may find: the filters of the caller (`SearchFilters`), and the scope that every search carries into
the engine (`SearchScope`: tenant, clearance and all filters; B02, R17).

Pure data. Each store compiles a scope to its own query language, so that nothing is filtered after the top k.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any

from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality, may_see, most_confidential
from rag_assets.errors import WrongQuestion, WrongUsage

_WILDCARDS = re.compile(r"[*?\[]")
_YEAR_OR_MONTH = re.compile(r"(?P<year>\d{4})(?:-(?P<month>\d{2}))?")
_CACHED_PATTERNS = 1 << 10


@dataclass(frozen=True, slots=True)
class MetadataFilter:
    """The `name` of a field of `SearchFilters` in a question and in a result, and the payload fields that hold it."""

    name: str
    keys: tuple[str, ...]


METADATA = {
    "content_types": MetadataFilter("content_type", ("ContentType",)),
    "domains": MetadataFilter("domain", ("BusinessDomainKey",)),
    "areas": MetadataFilter("area", ("BusinessDomainArea",)),
    "audiences": MetadataFilter("audience", ("Audience",)),
    "personas": MetadataFilter("persona", ("Persona",)),
    "stages": MetadataFilter("stage", ("Stage",)),
    "tags": MetadataFilter("tag", ("LabelSlugs", "LabelIds")),
    "written_in": MetadataFilter("written_in", ("Language",)),
    "systems": MetadataFilter("source_system", ("SourceSystem",)),
}
"""Fields of `SearchFilters` that name values of payload fields as they are, in any letter case."""
_VALUES = ("paths", "kinds", "languages", "source_types", "symbols", *METADATA)
_LANGUAGE_NAMES = {"c#": "csharp", "c++": "cpp", "f#": "fsharp", "vb.net": "vb"}
"""Names of languages that are not file extensions."""


class ScopeError(WrongUsage, ValueError):
    """A search without a tenant or project, or with an empty condition. It is refused, never widened."""


class PeriodError(WrongUsage, ValueError):
    """A value that is not a date, or a period that contains no moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """From `since` (inclusive) to `before` (exclusive), aware times; None is open. Raises PeriodError where no moment
    lies between them."""

    since: datetime | None = None
    before: datetime | None = None

    def __post_init__(self) -> None:
        if self.since is not None and self.before is not None and self.since >= self.before:
            raise PeriodError(f"nothing is changed since {self.since:%F %T} and before {self.before:%F %T}")

    def __bool__(self) -> bool:
        """False where both ends are open."""
        return self.since is not None or self.before is not None

    def within(self, other: Period) -> Period:
        """The intersection of both. Raises PeriodError where it is empty."""
        since = [moment for moment in (self.since, other.since) if moment is not None]
        before = [moment for moment in (self.before, other.before) if moment is not None]
        return Period(since=max(since, default=None), before=min(before, default=None))


ALWAYS = Period()


def _normalised_path(path: str) -> str:
    """A path as users type it (`./src`, `src\\Api` on Windows) in the form of the repository."""
    made = path.strip().replace("\\", "/").removeprefix("./").lstrip("/")
    if not made:
        raise _empty("paths")
    return made


def _empty(name: str) -> ScopeError:
    return ScopeError(f"an empty value in {name} lets nothing through: name what it should, or leave it out")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilters:
    """Filters that a caller chooses. All fields must hold; the values of one field are alternatives.

    `paths` are exact paths, folders or globs (`src/**/*Service.cs`; `*` stays within a folder; a glob without `/`
    matches file names anywhere). `kinds` are kinds of sections, in any letter case. `languages` are values of
    CodeLanguage, names or file extensions, `source_types` values of SourceType. `symbols` are names of types and
    members that a section declares, in any letter case, plain (`CancelOrder`), qualified (`OrderService.CancelOrder`)
    or with `*`; documents declare none. `since` (inclusive) and `before` (exclusive) limit when the file was last
    changed: `2026`, `2026-01`, `2026-01-31`, a date or a time, kept as an aware time.

    `content_types` (Policy, ApiContract …), business `domains` and `areas`, `audiences`, `personas`, `stages`, `tags`
    (slugs or ids of labels), `written_in` (human languages: de, en-US) and `systems` (GitHub …) are what payloads hold,
    in any letter case.

    A list is taken too, and a single string for one value. Raises ScopeError for an empty value, and PeriodError for a
    wrong date.
    """

    paths: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    source_types: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    content_types: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    areas: tuple[str, ...] = ()
    audiences: tuple[str, ...] = ()
    personas: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    written_in: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    since: str | date | None = None
    before: str | date | None = None

    def __post_init__(self) -> None:
        for name in _VALUES:
            given = getattr(self, name)
            values = (given,) if isinstance(given, str) else tuple(given)
            if any(not isinstance(value, str) or not value.strip() for value in values):
                raise _empty(name)
            object.__setattr__(self, name, tuple(map(_normalised_path, values)) if name == "paths" else values)
        for name in ("since", "before"):
            written = getattr(self, name)
            object.__setattr__(self, name, None if written is None else moment(written))
        _ = self.changed  # refuses an empty period

    def __bool__(self) -> bool:
        """False for NO_FILTERS."""
        return self != NO_FILTERS

    @property
    def changed(self) -> Period:
        """When the file was last changed."""
        known: dict[str, Any] = {"since": self.since, "before": self.before}
        return Period(**known)

    def normalized(self, declared_kinds: Callable[[], Iterable[str]]) -> SearchFilters:
        """The same filters with every value as the stores spell it: `C#` → `csharp`, `service` → `Service`.

        `declared_kinds` returns the kinds that rule packs have added to the index; it is called only for a kind that is
        not built in. Raises WrongQuestion for an unknown kind or source type.
        """
        if not (self.kinds or self.languages or self.source_types):
            return self
        return replace(
            self,
            kinds=tuple(_kind(name, declared_kinds) for name in self.kinds),
            languages=tuple(map(_language, self.languages)),
            source_types=tuple(map(_source_type, self.source_types)),
        )


NO_FILTERS = SearchFilters()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchScope:
    """The isolation boundary (organisation and project, both required), the highest confidentiality that may be seen,
    and the filters within it. A caller chooses filters; tenant and clearance come from the open index alone.

    All of `required` must hold: what the index was opened to look at, the filters of the call, those of the question.
    No section that fulfils a field of `excluded` is found. `names` are as `symbols`, but headings and files count too.
    Where `ids` is not None, only these points may be found, and where `files` is not None only sections of files with
    these exact paths; none of `masked` is, whatever else holds. `symbol_prefix` is the beginning of a symbol, a
    namespace. A point without a date is in no period. Raises ScopeError where org_id or project_id is blank,
    PeriodError where the periods of `required` have no moment in common.
    """

    org_id: str
    project_id: str
    label: str = ""
    clearance: Confidentiality = DEFAULT_LEVEL
    symbol_prefix: str = ""
    names: tuple[str, ...] = ()
    required: tuple[SearchFilters, ...] = ()
    excluded: SearchFilters = NO_FILTERS
    ids: frozenset[str] | None = None
    files: frozenset[str] | None = None
    masked: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name in ("org_id", "project_id"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise ScopeError(f"a search needs a non-empty {name}; got {value!r}")
        if not isinstance(self.clearance, Confidentiality):
            raise ScopeError(f"clearance is a Confidentiality; got {self.clearance!r}")
        if any(not isinstance(name, str) or not name.strip() for name in self.names):
            raise _empty("names")
        _ = self.changed  # refuses an empty period

    @property
    def changed(self) -> Period:
        """The period in which all of `required` hold."""
        period = ALWAYS
        for filters in self.required:
            period = period.within(filters.changed)
        return period

    def narrowed(self, *filters: SearchFilters) -> SearchScope:
        """The scope in which these filters must hold too."""
        return replace(self, required=(*self.required, *filter(None, filters)))

    def undated(self) -> SearchScope:
        """The scope without its periods."""
        return replace(self, required=tuple(replace(known, since=None, before=None) for known in self.required))


def moment(written: str | date) -> datetime:
    """The first moment of `2026`, `2026-01`, `2026-01-31` or a `date`, in UTC, or the time that is written out (ISO
    8601, UTC unless it says otherwise). Raises PeriodError."""
    if isinstance(written, datetime):
        made = written
    elif isinstance(written, date):
        made = datetime(written.year, written.month, written.day)
    else:
        made = _parsed(written.strip())
    return made if made.tzinfo is not None else made.replace(tzinfo=UTC)


def _parsed(written: str) -> datetime:
    short = _YEAR_OR_MONTH.fullmatch(written)
    try:
        return datetime(int(short["year"]), int(short["month"] or 1), 1) if short else datetime.fromisoformat(written)
    except ValueError:
        raise PeriodError(f"{written!r} is not a date; write 2026, 2026-01, 2026-01-31 or 2026-01-31T12:00") from None


def _kind(name: str, declared_kinds: Callable[[], Iterable[str]]) -> str:
    from rag_assets.contracts.kinds import SubtypeKind, known_kind  # start-up budget: most searches name no kind

    built_in = {kind.lower() for kind in SubtypeKind}
    try:
        return str(known_kind(name, () if name.lower() in built_in else declared_kinds()))
    except ValueError as error:
        raise WrongQuestion(str(error)) from error


def _language(written: str) -> str:
    """`C#`, `cs` and `csharp` are csharp; an unknown language stays as it is and is in no section."""
    # start-up budget: most searches name no language
    from rag_assets.languages.detection import LANGUAGES, TEXT, detect_language

    name = written.strip().lower()
    if name in LANGUAGES:
        return name
    if name in _LANGUAGE_NAMES:
        return _LANGUAGE_NAMES[name]
    found = detect_language(f"a.{name.lstrip('.')}")
    return name if found == TEXT else found


def _source_type(written: str) -> str:
    from rag_assets.languages.detection import SourceType  # start-up budget: most searches name no source type

    try:
        return SourceType(written.strip().lower()).value
    except ValueError:
        raise WrongQuestion(f"unknown source type {written!r}; valid: {', '.join(SourceType)}") from None


def has_wildcard(pattern: str) -> bool:
    return _WILDCARDS.search(pattern) is not None


@lru_cache(maxsize=64)  # one search asks several times, a user asks again
def matching_paths(pattern: str, paths: tuple[str, ...]) -> tuple[str, ...]:
    """The paths a glob matches, in their order."""
    matches = glob_matcher(pattern)
    return tuple(path for path in paths if matches(path))


def glob_matcher(pattern: str) -> Callable[[str], bool]:
    """A glob over repository paths: `**` as a whole segment crosses folders, `*`, `?` and `[ab]` stay within one, a
    trailing `/` means everything below, a glob without `/` is matched against the file name in any folder.

    O(segments of the pattern x segments of the path): no pattern is slow, whatever a user types.
    """
    anchored = f"{pattern}**" if pattern.endswith("/") else pattern
    if "/" not in anchored:
        anchored = f"**/{anchored}"
    segments = [None if part == "**" else re.compile(fnmatch.translate(part)) for part in anchored.split("/")]

    def matches(path: str) -> bool:
        parts = path.split("/")
        part = segment = 0
        resume: tuple[int, int] | None = None  # where to go on when the last `**` has to take one more part
        while part < len(parts):
            wanted = segments[segment] if segment < len(segments) else _NOTHING
            if wanted is None:
                resume = (part, segment + 1)
                segment += 1
            elif wanted.match(parts[part]):
                part, segment = part + 1, segment + 1
            elif resume is not None:
                resume = (resume[0] + 1, resume[1])
                part, segment = resume
            else:
                return False
        return all(rest is None for rest in segments[segment:])

    return matches


_NOTHING = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class PathClearance:
    """How confidential each file of a repository is: a pure function of its path, the same for writers and readers.

    Points carry the level, so that every query filters on it; what is not a point (documents, graph nodes, slices) is
    asked here by its path. `paths` maps paths, folders and globs to levels, in any letter case; where several match,
    the most confidential one holds. `default` is the level of everything else.
    """

    default: Confidentiality = DEFAULT_LEVEL
    paths: Mapping[str, Confidentiality] = field(default_factory=dict)

    def of(self, path: str) -> Confidentiality:
        folded = path.casefold()
        found = [level for pattern, level in self.paths.items() if _covers(pattern, folded)]
        return most_confidential(found) if found else self.default

    def visible(self, path: str, clearance: Confidentiality) -> bool:
        return may_see(clearance, self.of(path))

    @property
    def all(self) -> tuple[Confidentiality, ...]:
        """The levels that a file can have here, the lowest first."""
        there = {self.default, *self.paths.values()}
        return tuple(level for level in Confidentiality if level in there)

    @property
    def walls(self) -> str:
        """Part of the key of all that differs by level; '' where there is one level, and nothing does."""
        return json.dumps([self.default, self.paths], sort_keys=True) if len(self.all) > 1 else ""

    def reached(self, clearance: Confidentiality) -> Confidentiality | None:
        """The highest level here that a clearance reaches: two that reach the same one see the same. None where it
        reaches none."""
        return next((level for level in reversed(self.all) if may_see(clearance, level)), None)


def _covers(pattern: str, path: str) -> bool:
    folded = pattern.casefold().removeprefix("./").lstrip("/")
    below = f"{folded.removesuffix('/')}/"
    return path.startswith(below) or _matcher(folded)(path)


_matcher = lru_cache(maxsize=_CACHED_PATTERNS)(glob_matcher)
