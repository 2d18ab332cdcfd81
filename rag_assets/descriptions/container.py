"""A small container: builders receive services through their constructors (A15, A42), among them what is known of the
whole label.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from rag_assets.descriptions.domain_catalog import DomainIndex
from rag_assets.errors import RagAssetsError
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.resource_usages import ResourceUsages

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
            parameters = inspect.signature(wanted, eval_str=True).parameters.values()
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


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolTable:
    """Cross-file knowledge, plain data that can be sent to other processes. Empty, it knows of no other file."""

    declared_types: TypeIndex = field(default_factory=TypeIndex)
    declared_domains: DomainIndex = field(default_factory=DomainIndex)
    resource_usages: ResourceUsages = field(default_factory=ResourceUsages)

    def services(self) -> ServiceContainer:
        """Each part under its own type, as the constructors of builders ask for it."""
        return ServiceContainer().add(self.declared_types).add(self.declared_domains).add(self.resource_usages)
