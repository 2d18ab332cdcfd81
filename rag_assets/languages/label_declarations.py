"""What extractors may ask about the whole label; every answer is a question of `dependency_trace`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from rag_assets.contracts.graph import DeclaredCallable
from rag_assets.dependency_trace import replay_lookups
from rag_assets.languages.csharp.binder import label_symbols as csharp
from rag_assets.languages.csharp.ef import stored_entities as ef
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.resource_usages import ResourceSymbols
from rag_assets.languages.csharp.web import controller_actions as endpoints
from rag_assets.languages.detection import WITHOUT_RESOLVER
from rag_assets.languages.documents.resx import StaticResourceDictionary
from rag_assets.languages.fingerprints import (
    OWN_FACETS,
    DeclarationFingerprints,
    Fingerprints,
    declaration_fingerprints,
    digest_of,
)
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.languages.route_mounts import (
    NO_MOUNTS,
    ROUTED_LANGUAGES,
    UNMOUNTED,
    MountDeclarations,
    MountSymbols,
    mounts_in,
)
from rag_assets.languages.sql import label_objects as sql

if TYPE_CHECKING:
    from rag_assets.languages.callables import CallableIndex


@dataclass(frozen=True, slots=True)
class FileGroupDeclarations:
    """What some files add to the symbols of their label, and the digests of it; msgspec can encode it."""

    csharp: csharp.CSharpDeclarations
    facets: DeclarationFingerprints
    sql: sql.SqlDeclarations
    ef: ef.EfDeclarations
    endpoints: endpoints.EndpointDeclarations
    mounts: MountDeclarations
    callables: tuple[DeclaredCallable, ...] = ()


FileDeclarations = tuple[
    csharp.CSharpDeclarations,
    sql.SqlDeclarations,
    ef.EfDeclarations,
    endpoints.EndpointDeclarations,
    MountDeclarations,
    tuple[DeclaredCallable, ...],
]


def declared_in(file: ParsedFile) -> FileDeclarations:
    """What a file declares, read from its segments, and from its text where segments do not say."""
    one = (file,)
    return (
        csharp.declared_in(one),
        sql.declared_in(one),
        ef.declared_in(one),
        endpoints.declared_in(one),
        _mounts_in(file),
        _callables_in(file),
    )


def _mounts_in(file: ParsedFile) -> MountDeclarations:
    if file.language == "csharp":
        if _OF_GROUPS.search(file.text) is None:
            return NO_MOUNTS
        from rag_assets.languages.csharp.web.route_groups import group_mounts  # start-up budget: of few files

        return group_mounts(file)
    routed = ROUTED_LANGUAGES.get(file.language)
    if routed == "ruby":
        from rag_assets.languages.ruby_routes import ruby_mounts  # start-up budget: not of C#

        return ruby_mounts(file.path, file.text)
    if routed == "rust":
        from rag_assets.languages.rust_mounts import rust_mounts  # start-up budget: not of C#

        return rust_mounts(file.path, file.text)
    if routed == "python" and "include(" in file.text:
        from rag_assets.languages.routes import include_prefixes  # start-up budget: not of C#

        found = mounts_in(file.path, file.text, routed, include_prefixes)
    else:
        found = mounts_in(file.path, file.text, routed) if routed else NO_MOUNTS
    if routed == "python" and any(word in file.text for word in _OF_VIEWSETS):
        from rag_assets.languages.viewsets import viewsets_in  # start-up budget: of few files

        return replace(found, viewsets=tuple(viewsets_in(file)))
    return found


_OF_GROUPS = re.compile(r"\b(?:MapGroup\s*\(|RouteGroupBuilder\b|IEndpointRouteBuilder\b)")
"""What files have that make groups of minimal APIs, or are given one."""
_OF_VIEWSETS = ("action(", "_route(", ".mapping.", "lookup_field", "lookup_url_kwarg", "http_method_names")
"""What classes of Django REST have that say something of their routes."""


def _callables_in(file: ParsedFile) -> tuple[DeclaredCallable, ...]:
    if file.language not in WITHOUT_RESOLVER:
        return ()
    from rag_assets.languages.callables import callables_in  # start-up budget: not of C#

    return tuple(callables_in(file))


def declared_together(files: Sequence[FileDeclarations]) -> FileGroupDeclarations:
    """What some files declare, in their order."""
    callables = tuple(sorted({found for one in files for found in one[5]}))
    types = csharp.CSharpDeclarations(
        tuple(found for one in files for found in one[0].types),
        tuple(found for one in files for found in one[0].usings),
        tuple(found for one in files for found in one[0].projects),
    )
    return FileGroupDeclarations(
        types,
        declaration_fingerprints(types, callables),
        sql.SqlDeclarations(tuple(sorted({found for one in files for found in one[1].objects}))),
        ef.EfDeclarations(tuple(found for one in files for found in one[2].files)),
        endpoints.EndpointDeclarations(
            tuple(found for one in files for found in one[3].controllers),
            tuple(sorted({found for one in files for found in one[3].routes})),
            tuple(sorted({found for one in files for found in one[3].constants})),
        ),
        _mounted_together(
            [one[4] for one in files if one[4].units or one[4].mounts or one[4].paths or one[4].viewsets]
        ),
        callables,
    )


def _mounted_together(files: Sequence[MountDeclarations]) -> MountDeclarations:
    if not files:
        return NO_MOUNTS
    return MountDeclarations(
        tuple(sorted({found for one in files for found in one.units})),
        tuple(found for one in files for found in one.mounts),
        tuple(sorted({found for one in files for found in one.paths})),
        tuple(found for one in files for found in one.viewsets),
    )


def _callable_index(parts: Sequence[FileGroupDeclarations]) -> CallableIndex | None:
    if not any(part.callables for part in parts):
        return None
    from rag_assets.languages.callables import CallableIndex  # start-up budget: not of C#

    return CallableIndex(found for part in parts for found in part.callables)


@dataclass(frozen=True, slots=True)
class LabelDeclarations:
    """The declarations of a label by name. Picklable."""

    csharp: csharp.CSharpSymbols
    sql: sql.SqlSymbols
    ef: ef.EfSymbols
    endpoints: endpoints.EndpointSymbols
    mounts: MountSymbols
    resource_texts: ResourceSymbols
    declared_types: TypeIndex
    calls: CallableIndex | None = None
    """None where no file declares any."""

    @classmethod
    def of(
        cls, declared: Iterable[FileGroupDeclarations], declared_types: TypeIndex, resources: StaticResourceDictionary
    ) -> Self:
        """All declarations of a label together, in any order."""
        parts = list(declared)
        types = csharp.CSharpSymbols(part.csharp for part in parts)
        return cls(
            csharp=types,
            sql=sql.SqlSymbols(part.sql for part in parts),
            ef=ef.EfSymbols((part.ef for part in parts), types),
            endpoints=endpoints.EndpointSymbols(part.endpoints for part in parts),
            mounts=MountSymbols([one.mounts for one in parts])
            if any(one.mounts.mounts or one.mounts.viewsets for one in parts)
            else UNMOUNTED,
            resource_texts=ResourceSymbols(resources),
            declared_types=declared_types,
            calls=_callable_index(parts),
        )

    def facets(self, parts: Sequence[FileGroupDeclarations], **others: str) -> Fingerprints:
        """What the answers depend on. `others`: facet → digest of what is in no declarations."""
        digests = {
            "sql": digest_of([part.sql for part in parts]),
            "ef": digest_of([[part.ef for part in parts], self.ef.everything()]),
            "endpoints": digest_of([part.endpoints for part in parts]),
            "mounts": digest_of([part.mounts for part in parts]),
        }
        answers = replay_lookups((self.ef, self.resource_texts), [(name, ()) for name in OWN_FACETS])
        digests.update((name, digest_of(answer)) for (name, _), answer in answers.items())
        return Fingerprints((part.facets for part in parts), digests | others)
