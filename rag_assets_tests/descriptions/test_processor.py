"""The file processor (A09, A13, A14, A44, A45, R15): detect, get builders, build; failures are data."""

from __future__ import annotations

import re

import pytest

from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.contracts.result import InvokeResult, Message
from rag_assets.contracts.segment import SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.processor import DescribeOutcome
from rag_assets.descriptions.registry import DescriptionBuilderRegistry
from rag_assets.descriptions.text_description import TextDescription
from rag_assets_tests.descriptions.samples import described_file, file_context, general_registry, processor, segmented

TEXT = "interface IA { }\nenum B { X }\nclass COptions { void M() {} }\n"


class _Builder:
    """Builds by a rule of the subclass."""

    name = "test"
    description = "for tests"

    def result(self, symbol_text: SymbolText) -> InvokeResult[SummaryFacts]:
        raise NotImplementedError

    def build(
        self, context: IndexFileContext, symbol_text: SymbolText, catalog: DomainCatalog, resources: ResourceDictionary
    ) -> InvokeResult[SummaryFacts]:
        return self.result(symbol_text)


class NotApplicable(_Builder):
    def result(self, symbol_text: SymbolText) -> InvokeResult[SummaryFacts]:
        return InvokeResult.not_applicable([Message("T.skip", "not mine")])


class Failing(_Builder):
    def result(self, symbol_text: SymbolText) -> InvokeResult[SummaryFacts]:
        return InvokeResult.failure([Message("T.bad", symbol_text.segment.symbol)], [Message("T.hint", "look")])


class Raising(_Builder):
    def result(self, symbol_text: SymbolText) -> InvokeResult[SummaryFacts]:
        raise KeyError("gone")


class Echo(_Builder):
    """Shows what a builder is given."""

    def result(self, symbol_text: SymbolText) -> InvokeResult[SummaryFacts]:
        return InvokeResult.create(TextDescription(text=str(symbol_text), symbol=symbol_text.segment.symbol))


def registry_of(**builders: type) -> DescriptionBuilderRegistry:
    made = DescriptionBuilderRegistry()
    for kind, builder_type in builders.items():
        made.register(builder_type, SubtypeKind(kind))
    return made


@pytest.mark.rule("A09", "A45")
def test_every_segment_is_classified_and_described_in_order() -> None:
    """A45: the kind is supplied before the builder, which never sees another way to it (A09)."""
    found = processor(general_registry()).describe_file(file_context(TEXT), segmented(TEXT))
    assert found.path == "src/Shop/Code.cs"
    assert [outcome.outcome for outcome in found.outcomes] == [DescribeOutcome.DESCRIBED] * 3
    assert [description.kind for description in found.descriptions] == ["Interface", "Enum", "Configuration"]
    assert [outcome.classification.kind for outcome in found.outcomes] == ["Interface", "Enum", "Configuration"]


@pytest.mark.rule("A11")
def test_a_builder_gets_the_text_of_its_segment_only() -> None:
    """A11: `symbol_text` is the exact slice."""
    made = processor(registry_of(Interface=Echo, Enum=Echo))
    found = made.describe_file(file_context(TEXT), segmented(TEXT))
    texts = [d.text for d in found.descriptions if isinstance(d, TextDescription)]
    assert texts == ["interface IA { }", "enum B { X }"]


@pytest.mark.rule("A14", "A44", "R15")
def test_outcomes_are_told_apart() -> None:
    """A14, A44, R15: not applicable, no builder and failed are three things; nothing is swallowed."""
    made = processor(registry_of(Interface=NotApplicable, Configuration=Failing))
    found = made.describe_file(file_context(TEXT), segmented(TEXT))
    assert [outcome.outcome for outcome in found.outcomes] == [
        DescribeOutcome.NOT_APPLICABLE,
        DescribeOutcome.NO_BUILDER,
        DescribeOutcome.FAILED,
    ]
    assert found.descriptions == []
    assert found.not_applicable == 1
    assert [str(message) for message in found.failures[0].messages] == ["T.bad: COptions", "T.hint: look"]
    assert [str(message) for message in found.outcomes[0].messages] == ["T.skip: not mine"]


@pytest.mark.rule("A18")
def test_several_builders_of_a_kind_each_have_their_say() -> None:
    """A18: one segment, two builders, two outcomes."""
    registry = registry_of(Enum=NotApplicable)
    registry.register(Echo, SubtypeKind.ENUM)
    found = processor(registry).describe_file(file_context("enum B { X }"), segmented("enum B { X }"))
    assert [outcome.outcome for outcome in found.outcomes] == [
        DescribeOutcome.NOT_APPLICABLE,
        DescribeOutcome.DESCRIBED,
    ]
    assert [description.kind for description in found.descriptions] == ["Enum"]


@pytest.mark.rule("A13")
def test_a_builder_that_raises_costs_its_description_only() -> None:
    """A13: raising is a defect of the builder: a failure that says where; the fallback describes the symbol."""
    registry = registry_of(Enum=Raising)
    registry.register_fallback(Echo)
    found = processor(registry).describe_file(file_context("enum B { X }"), segmented("enum B { X }"))
    assert [outcome.outcome for outcome in found.outcomes] == [DescribeOutcome.FAILED, DescribeOutcome.DESCRIBED]
    (error,) = found.failures[0].errors
    assert error.code == "BUILDER.raised"
    assert re.search(r"test_processor\.py:\d+: KeyError: 'gone'", error.text)


def test_a_file_without_segments_has_no_outcomes() -> None:
    assert described_file("").outcomes == ()
