"""Builds the description of a test class: its cases, the type that it tests, fixtures and doubles."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.descriptions.kind_builder import Facts, Subject, TypeAwareBuilder, is_code
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.languages.csharp.facts.masked_body import masked_body_of
from rag_assets.languages.csharp.test_cases import (
    SubjectEvidence,
    TestCase,
    TestedSubject,
    cases_of,
    fixtures_of,
    mocked_types,
    tested_subject,
    touched_types,
)
from rag_assets.sections.snippet import path_words

SHOWN_TYPES = 8
"""How many of the types that a test touches its snippet names: those it uses most."""


@dataclass(kw_only=True)
class TestDescription(SymbolDescription):
    """A test class or module; also what stands beside tests (fixtures, object mothers), then without cases.

    `tested_type` is what it tests, the primary entity where a declared type is known;
    `covers` are the other declared types it makes or calls.
    """

    __test__ = False  # for pytest, which collects what is called Test

    tested_type: str = ""
    tested_symbol: str = ""
    subject_evidence: SubjectEvidence = SubjectEvidence.NONE
    cases: tuple[TestCase, ...] = ()
    covers: tuple[str, ...] = ()
    fixtures: tuple[str, ...] = ()
    mocked: tuple[str, ...] = ()

    @property
    def subtype_flavor(self) -> str:
        """`Support` for what only helps tests (A10)."""
        return "" if self.cases else "Support"

    def subjects(self) -> tuple[str, ...]:
        return (self.tested_type, *super().subjects()) if self.tested_type else super().subjects()

    def finder_facts(self) -> list[tuple[str, str]]:
        titles = [case.title for case in self.cases if case.title]
        return [
            ("Inherits", ", ".join(self.base_types)),
            ("Covers", ", ".join(self.covers[:SHOWN_TYPES])),
            ("Titles", "; ".join(titles)),
            ("Path", path_words(self.path, self.fqn)),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        evidence = f" ({self.subject_evidence})" if self.subject_evidence else ""
        subject = (f"{self.tested_symbol or self.tested_type}{evidence}",) if self.tested_type else ()
        return [
            ("Tests", subject),
            ("Cases", tuple(_case_text(case) for case in self.cases)),
            ("Covers", self.covers),
            ("Fixtures", self.fixtures),
            ("Replaces", self.mocked),
            *super().listed_facts(),
        ]


def _case_text(case: TestCase) -> str:
    rows = f" × {case.data_rows}" if case.data_rows else ""
    sources = f" from {', '.join(case.data_sources)}" if case.data_sources else ""
    title = f" ({case.title})" if case.title else ""
    return f"{case.name}{rows}{sources}{title}"


class TestBuilder(TypeAwareBuilder):
    """Describes declarations of kind Test; the cases decide the flavor (A10)."""

    __test__ = False  # for pytest, which collects what is called Test

    name = "test"
    description = (
        "Tests: cases by their attributes (xUnit, NUnit, MSTest, JUnit) or names (pytest, Go) with data counts; "
        "the subject by the name, the types that are constructed, or TestOf. The flavor Support marks helpers "
        "without cases."
    )
    describes = TestDescription
    applies = staticmethod(is_code)

    def facts(self, subject: Subject) -> Facts:
        body = masked_body_of(subject.text)
        cases = cases_of(subject.segment)
        touched = touched_types(body, self.declared_types)
        tested = tested_subject(body, self.declared_types, touched) if cases else TestedSubject()
        return {
            "tested_type": tested.name,
            "tested_symbol": tested.symbol,
            "subject_evidence": tested.evidence,
            "primary_entity": "" if tested.evidence is SubjectEvidence.CONVENTION else tested.name,
            "cases": cases,
            "covers": tuple(name for name in touched if name != tested.name),
            "fixtures": fixtures_of(subject.segment),
            "mocked": mocked_types(body.code),
        }
