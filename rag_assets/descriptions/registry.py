"""`DescriptionBuilderRegistry`: which builders describe which kind, and nothing more (IDX-069 §8; A40–A44, R23)."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint
from typing import Any, Self, TypeVar, cast

from rag_assets.contracts.description import DescriptionBuilder
from rag_assets.contracts.kinds import Kind, checked_kind
from rag_assets.descriptions.domain_catalog import DomainIndex
from rag_assets.entry_points import offered
from rag_assets.errors import RagAssetsError
from rag_assets.languages.csharp.ef.stored_entities import PersistedTypes
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.resource_usages import ResourceUsages
from rag_assets.languages.csharp.web.controller_actions import EndpointSymbols

T = TypeVar("T")


class ServiceError(RagAssetsError):
    """A service that is missing, given twice, or cannot be asked for; the text names who needs it."""


class ServiceContainer:
    """Services by type. A constructor asks for one by annotating a parameter with that type."""

    def __init__(self) -> None:
        self._services: dict[type, Any] = {}
        self._decorators: list[Callable[[Any], Any]] = []

    def add(self, service: object, as_type: type | None = None) -> Self:
        """Offers `service` under its own type, or under a base or protocol. Raises ServiceError when taken."""
        key = as_type or type(service)
        if key in self._services:
            raise ServiceError(f"there already is a service of type {key.__qualname__}")
        self._services[key] = service
        return self

    def decorate(self, decorator: Callable[[Any], Any]) -> Self:
        """Puts what `decorator` returns in the place of everything that `create` makes, first added innermost."""
        self._decorators.append(decorator)
        return self

    def create(self, wanted: type[T]) -> T:
        """An instance of `wanted`, its constructor parameters filled by annotated type, behind the decorators.

        A parameter with a default keeps it where no service fits. Raises ServiceError naming every parameter
        that stays open.
        """
        arguments, missing = self._arguments(wanted)
        if missing:
            raise ServiceError(f"{wanted.__qualname__} needs {'; '.join(missing)}: add it to Services")
        made = wanted(**arguments)
        for decorator in self._decorators:
            made = decorator(made)
        return made

    def _arguments(self, wanted: type) -> tuple[dict[str, Any], list[str]]:
        """(what can be filled, what cannot) of the parameters of a constructor."""
        try:
            parameters = _parameters(wanted)
        except NameError as error:
            raise ServiceError(
                f"{wanted.__qualname__}: an annotation of __init__ cannot be resolved: {error}"
            ) from error
        arguments: dict[str, Any] = {}
        missing: list[str] = []
        for parameter in parameters:
            hint = parameter.annotation
            if isinstance(hint, type) and hint in self._services:
                arguments[parameter.name] = self._services[hint]
            elif parameter.default is parameter.empty and parameter.kind not in _VARIADIC:
                label = "(no annotation)" if hint is parameter.empty else getattr(hint, "__qualname__", str(hint))
                missing.append(f"{parameter.name}: {label}")
        return arguments, missing


@cache
def _parameters(wanted: type) -> tuple[inspect.Parameter, ...]:
    """Of a constructor. Three stages of a build make every builder."""
    return tuple(inspect.signature(wanted, eval_str=True).parameters.values())


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolTable:
    """Cross-file knowledge, plain data that can be sent to other processes. Empty, it knows of no other file."""

    declared_types: TypeIndex = field(default_factory=TypeIndex)
    declared_domains: DomainIndex = field(default_factory=DomainIndex)
    resource_usages: ResourceUsages = field(default_factory=ResourceUsages)
    persisted_types: PersistedTypes = field(default_factory=PersistedTypes)
    endpoints: EndpointSymbols = field(default_factory=EndpointSymbols)

    def services(self) -> ServiceContainer:
        """Each part under its own type, as the constructors of builders ask for it."""
        made = ServiceContainer()
        parts = self.declared_types, self.declared_domains, self.resource_usages, self.persisted_types, self.endpoints
        for part in parts:
            made.add(part)
        return made


ENTRY_POINT_GROUP = "rag_assets.builders"
"""A package registers builders of its own through a function of this group that receives the registry."""


class RegistryError(RagAssetsError):
    """A registration that cannot be honoured; the text names the builder and the kind."""


class DescriptionBuilderRegistry:
    """Builder types by kind. The kind is the only key: symbols, flavors and domains are the builders' business."""

    def __init__(self, services: ServiceContainer | None = None) -> None:
        self._services = services or ServiceContainer()
        self._types: dict[Kind, list[type]] = {}
        self._fallbacks: list[type] = []
        self._packages: list[str] = []
        self._instances: dict[type, DescriptionBuilder] = {}

    def register(self, builder_type: type, kind: Kind) -> None:
        """Adds a builder type for a kind; order of registration is order of use.

        `kind` is a SubtypeKind or the name of a kind that a rule pack declares. Raises RegistryError for an exact
        pair registered before (A41, R23), for what is no builder type, and for what cannot name a kind.
        """
        _require_builder(builder_type)
        try:
            checked_kind(kind)
        except ValueError as error:
            raise RegistryError(f"{builder_type.__qualname__}: {error}") from error
        registered = self._types.setdefault(kind, [])
        if builder_type in registered:
            raise RegistryError(f"{builder_type.__qualname__} is already registered for {kind}")
        registered.append(builder_type)

    def register_fallback(self, builder_type: type) -> None:
        """Adds a builder type for symbols that no builder of their kind described: no file is silently without
        points. Raises RegistryError as `register` does."""
        _require_builder(builder_type)
        if builder_type in self._fallbacks:
            raise RegistryError(f"{builder_type.__qualname__} is already a fallback")
        self._fallbacks.append(builder_type)

    def unregister(self, builder_type: type, kind: Kind) -> None:
        """Takes a pair back, so that a package can put its own builder in the place of a built-in one."""
        if builder_type not in self._types.get(kind, ()):
            raise RegistryError(f"{builder_type.__qualname__} is not registered for {kind}")
        self._types[kind].remove(builder_type)

    def get_builders(self, kind: Kind) -> tuple[DescriptionBuilder, ...]:
        """The builders of a kind in order of registration; none is legal (A40, A44).

        One instance per type, made on first use (A42). Raises ServiceError when it cannot be made.
        """
        return tuple(self._instance(builder_type) for builder_type in self._types.get(kind, ()))

    @property
    def fallbacks(self) -> tuple[DescriptionBuilder, ...]:
        """The builders for what no builder of its kind described, in order of registration."""
        return tuple(self._instance(builder_type) for builder_type in self._fallbacks)

    def validate(self) -> None:
        """Makes every builder now. Raises RegistryError listing all that cannot be made, for a start-up to fail on."""
        problems = []
        for builder_type in dict.fromkeys([*(t for types in self._types.values() for t in types), *self._fallbacks]):
            try:
                self._instance(builder_type)
            except ServiceError as error:
                problems.append(str(error))
        if problems:
            raise RegistryError("description builders cannot be made:\n" + "\n".join(problems))

    def load_entry_points(self, points: Iterable[EntryPoint] | None = None) -> None:
        """Calls the registration functions of installed packages, in order of their names.

        Raises RegistryError naming the package whose function cannot be loaded or used.
        """
        found = offered(ENTRY_POINT_GROUP) if points is None else points
        for point in sorted(found, key=lambda point: (point.name, point.value)):
            try:
                _loaded(point)(self)
            except (AttributeError, TypeError) as error:
                raise _unusable(point, error) from error
            if point.dist is not None:
                self._packages.append(f"{point.dist.name} {point.dist.version}")

    @property
    def fingerprint(self) -> str:
        """12 hex digits over all pairs, in order, the `version` of each builder type, where it has one, and that of
        each package that registered builders.

        A part of every cache key of descriptions: another builder means another result.
        """
        digest = hashlib.sha256()
        for kind, types in [*sorted(self._types.items()), ("(fallback)", self._fallbacks)]:
            for t in types:
                digest.update(f"{kind} {t.__module__}:{t.__qualname__} {getattr(t, 'version', '')}\n".encode())
        digest.update("\n".join(self._packages).encode())
        return digest.hexdigest()[:12]

    def _instance(self, builder_type: type) -> DescriptionBuilder:
        made = self._instances.get(builder_type)
        if made is None:
            made = self._instances[builder_type] = cast(DescriptionBuilder, self._services.create(builder_type))
        return made


@cache
def import_installed_builders() -> None:
    """Makes the description types of installed packages known to this process, for a stage that only reads them.

    Raises RegistryError naming the package that cannot be imported.
    """
    for point in offered(ENTRY_POINT_GROUP):
        _loaded(point)


def _loaded(point: EntryPoint) -> Callable[[DescriptionBuilderRegistry], None]:
    try:
        return cast(Callable[[DescriptionBuilderRegistry], None], point.load())
    except (ImportError, AttributeError) as error:
        raise _unusable(point, error) from error


def _unusable(point: EntryPoint, error: Exception) -> RegistryError:
    return RegistryError(f"entry point {point.name} = {point.value} ({ENTRY_POINT_GROUP}): {error}")


def _require_builder(builder_type: type) -> None:
    if not isinstance(builder_type, type):
        raise RegistryError(f"register takes a builder type, not {builder_type!r}: instances are made here")
    missing = [name for name in ("name", "description", "build") if not hasattr(builder_type, name)]
    if missing:
        raise RegistryError(f"{builder_type.__qualname__} is no description builder: it has no {', '.join(missing)}")
