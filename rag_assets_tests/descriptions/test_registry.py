"""The builder registry (IDX-069 §8; A40–A44, R23) and the services builders are made with (A15, A42)."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.kinds import GeneralDescriptionBuilder, default_registry
from rag_assets.descriptions.registry import DescriptionBuilderRegistry, RegistryError, ServiceContainer, ServiceError


class Model:
    """A service."""


class Clock:
    """Another service."""


class _Builder:
    name = "test"
    description = "for tests"

    def build(
        self, context: IndexFileContext, symbol_text: SymbolText, catalog: DomainCatalog, resources: ResourceDictionary
    ) -> InvokeResult[SummaryFacts]:
        return InvokeResult.not_applicable()


class PlainBuilder(_Builder):
    pass


class NeedsModel(_Builder):
    def __init__(self, model: Model, limit: int = 3) -> None:
        self.model = model
        self.limit = limit


class NeedsMore(_Builder):
    def __init__(self, model: Model, clock: Clock, untyped) -> None:  # type: ignore[no-untyped-def]
        self.parts = (model, clock, untyped)


class NotABuilder:
    name = "x"


def register_more(registry: DescriptionBuilderRegistry) -> None:
    """What a third party's entry point names."""
    registry.unregister(GeneralDescriptionBuilder, SubtypeKind.ENUM)
    registry.register(PlainBuilder, SubtypeKind.ENUM)


def register_wrongly() -> None:
    """Takes no registry."""


def registry_of(
    *pairs: tuple[type, SubtypeKind], services: ServiceContainer | None = None
) -> DescriptionBuilderRegistry:
    made = DescriptionBuilderRegistry(services)
    for builder_type, kind in pairs:
        made.register(builder_type, kind)
    return made


@pytest.mark.rule("A40")
def test_builders_come_in_order_of_registration() -> None:
    """A40: 0..n builders, deterministic order, the kind is the only key."""
    services = ServiceContainer().add(Model())
    made = registry_of((NeedsModel, SubtypeKind.MODEL), (PlainBuilder, SubtypeKind.MODEL), services=services)
    assert [type(builder) for builder in made.get_builders(SubtypeKind.MODEL)] == [NeedsModel, PlainBuilder]
    assert made.get_builders(SubtypeKind.ENUM) == ()


@pytest.mark.rule("A41", "R23")
def test_the_exact_pair_twice_is_refused() -> None:
    """A41, R23: raise; the same type under another kind is fine."""
    made = registry_of((PlainBuilder, SubtypeKind.MODEL), (PlainBuilder, SubtypeKind.ENUM))
    with pytest.raises(RegistryError, match="PlainBuilder is already registered for Model"):
        made.register(PlainBuilder, SubtypeKind.MODEL)
    assert len(made.get_builders(SubtypeKind.MODEL)) == 1


@pytest.mark.rule("A15", "A42")
def test_types_are_stored_and_instances_resolved() -> None:
    """A42: nothing is made at registration; constructor parameters are filled by type, defaults kept."""
    made = registry_of((NeedsModel, SubtypeKind.MODEL))
    with pytest.raises(ServiceError, match="NeedsModel needs model: Model"):
        made.get_builders(SubtypeKind.MODEL)
    service = Model()
    made = registry_of((NeedsModel, SubtypeKind.MODEL), services=ServiceContainer().add(service))
    (builder,) = made.get_builders(SubtypeKind.MODEL)
    assert isinstance(builder, NeedsModel)
    assert builder.model is service
    assert builder.limit == 3
    assert made.get_builders(SubtypeKind.MODEL) == (builder,)


def test_start_up_lists_every_builder_that_cannot_be_made() -> None:
    made = registry_of((NeedsModel, SubtypeKind.MODEL), (NeedsMore, SubtypeKind.ENUM), (PlainBuilder, SubtypeKind.ENUM))
    with pytest.raises(RegistryError) as refused:
        made.validate()
    assert "NeedsModel needs model: Model" in str(refused.value)
    assert "NeedsMore needs model: Model; clock: Clock; untyped: (no annotation)" in str(refused.value)


def test_only_builder_types_are_taken() -> None:
    made = DescriptionBuilderRegistry()
    with pytest.raises(RegistryError, match="it has no description, build"):
        made.register(NotABuilder, SubtypeKind.MODEL)
    with pytest.raises(RegistryError, match="takes a builder type"):
        made.register(PlainBuilder(), SubtypeKind.MODEL)  # type: ignore[arg-type]


def test_unregister_needs_a_registered_pair() -> None:
    with pytest.raises(RegistryError, match="is not registered for Model"):
        DescriptionBuilderRegistry().unregister(PlainBuilder, SubtypeKind.MODEL)


def test_no_kind_is_silently_without_a_builder() -> None:
    """Domain reference §2."""
    assert [builder.name for builder in default_registry().fallbacks] == ["general"]


def entry_point(function: str, name: str = "acme") -> EntryPoint:
    return EntryPoint(name, f"rag_assets_tests.descriptions.test_registry:{function}", "rag_assets.builders")


def test_packages_add_builders_through_entry_points() -> None:
    made = registry_of((GeneralDescriptionBuilder, SubtypeKind.ENUM))
    made.load_entry_points([entry_point("register_more")])
    assert [type(builder) for builder in made.get_builders(SubtypeKind.ENUM)] == [PlainBuilder]


@pytest.mark.parametrize("function", ["register_wrongly", "does_not_exist"])
def test_an_entry_point_that_cannot_be_used_is_named(function: str) -> None:
    with pytest.raises(RegistryError, match=rf"entry point acme = .*:{function}"):
        DescriptionBuilderRegistry().load_entry_points([entry_point(function)])


def test_the_fingerprint_tells_registrations_apart() -> None:
    one = registry_of((PlainBuilder, SubtypeKind.MODEL)).fingerprint
    other = registry_of((PlainBuilder, SubtypeKind.ENUM)).fingerprint
    both = registry_of((PlainBuilder, SubtypeKind.MODEL), (PlainBuilder, SubtypeKind.ENUM)).fingerprint
    assert len({one, other, both}) == 3
    assert registry_of((PlainBuilder, SubtypeKind.MODEL)).fingerprint == one


def test_a_service_is_added_once_and_found_under_its_base() -> None:
    class Sub(Model):
        pass

    service = Sub()
    services = ServiceContainer().add(service, as_type=Model)
    assert services.create(NeedsModel).model is service
    with pytest.raises(ServiceError, match="already is a service of type Model"):
        services.add(Model())
