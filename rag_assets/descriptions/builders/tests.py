"""`TestBuilder`: test classes and modules, and what stands beside them."""

from __future__ import annotations

from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.builders.applicability import is_code
from rag_assets.descriptions.declared_types import DeclaredTypes
from rag_assets.descriptions.describing import describe_symbol
from rag_assets.descriptions.facts.bodies import body_of
from rag_assets.descriptions.facts.test_cases import (
    SubjectEvidence,
    TestedSubject,
    cases_of,
    fixtures_of,
    mocked_types,
    tested_subject,
    touched_types,
)
from rag_assets.descriptions.kinds.tests import TestDescription


class TestBuilder:
    """Declarations of kind Test."""

    __test__ = False  # for pytest, which collects what is called Test

    version = 1

    def __init__(self, declared_types: DeclaredTypes) -> None:
        self._declared_types = declared_types

    @property
    def name(self) -> str:
        return "test"

    @property
    def description(self) -> str:
        return (
            "Tests: cases by their attributes (xUnit, NUnit, MSTest, JUnit) or names (pytest, Go) with data counts; "
            "the subject by the name, the types that are constructed, or TestOf. The flavor Support marks helpers "
            "without cases."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """A TestDescription, its flavor decided here (A10); not applicable to text without declarations."""
        segment = symbol_text.segment
        if not is_code(file_context, segment):
            return InvokeResult.not_applicable()
        body = body_of(symbol_text)
        cases = cases_of(segment)
        touched = touched_types(body, self._declared_types)
        subject = tested_subject(body, self._declared_types, touched) if cases else TestedSubject()
        description = describe_symbol(
            TestDescription,
            file_context,
            symbol_text,
            domain_catalog,
            tested_type=subject.name,
            tested_symbol=subject.symbol,
            subject_evidence=subject.evidence,
            primary_entity="" if subject.evidence is SubjectEvidence.CONVENTION else subject.name,
            cases=cases,
            covers=tuple(name for name in touched if name != subject.name),
            fixtures=fixtures_of(segment),
            mocked=mocked_types(body.code),
        )
        return InvokeResult.create(description)
